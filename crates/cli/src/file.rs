//! Files that people write: read whole, unless they are devices, pipes, or longer than anybody would write one.

use anyhow::ensure;
use std::path::Path;

/// Longest file that is read. Unit: bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// What a file holds; the error says the cause only.
pub fn read(path: &Path) -> anyhow::Result<String> {
    let metadata = std::fs::metadata(path)?;
    ensure!(metadata.is_file() && metadata.len() <= MAX_BYTES, "it is no file, or longer than 1 MiB");
    Ok(std::fs::read_to_string(path)?)
}
