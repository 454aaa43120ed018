//! Files that people write: read whole, unless they are devices, pipes, or longer than anybody would write one.

use anyhow::ensure;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Longest file that is read. Unit: bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// What a file holds; the error says the cause only.
pub fn read(path: &Path) -> anyhow::Result<String> {
    let metadata = std::fs::metadata(path)?;
    ensure!(metadata.is_file() && metadata.len() <= MAX_BYTES, "not a regular file, or longer than 1 MiB");
    Ok(std::fs::read_to_string(path)?)
}

/// The same of a file that is read without being named, unless somebody else could have written it: then it is an error. The
/// owner of the file, and of a link to it, must be root, who runs this, or who became root by sudo; `None`: there is none.
pub fn read_own(path: &Path) -> anyhow::Result<Option<String>> {
    let link = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    let mut file = match File::options().read(true).custom_flags(nonblocking()).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let metadata = file.metadata()?;
    ensure!(metadata.is_file() && metadata.len() <= MAX_BYTES, "not a regular file, or longer than 1 MiB");
    for owner in [link.uid(), metadata.uid()] {
        ensure!(is_own(owner), "it belongs to another user (uid {owner})");
    }
    ensure!(metadata.mode() & 0o002 == 0, "it is world-writable\nhint: chmod o-w '{}'", path.display());
    let mut text = String::new();
    file.by_ref().take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Opening a pipe does not wait for who writes.
fn nonblocking() -> i32 {
    rustix::fs::OFlags::NONBLOCK.bits() as i32
}

/// Whether files of a user are this one's to trust.
fn is_own(owner: u32) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let caller = || std::env::var("SUDO_UID").ok()?.parse::<u32>().ok();
    owner == 0 || owner == own || own == 0 && caller() == Some(owner)
}

/// Values that are of another kind, too large, or out of any range.
#[cfg(test)]
const WRONG_VALUES: [&str; 13] = [
    "''",
    "'{{\u{e9}\u{2026}'",
    "'-1s'",
    "'18446744073709551616h'",
    "-1",
    "0",
    "1e308",
    "nan",
    "9223372036854775807",
    "true",
    "[]",
    "[[]]",
    "{}",
];

/// A TOML text with one damage at a time: a line is missing, twice there, or the last one and torn; a value is another one.
#[cfg(test)]
pub fn damaged(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let with =
        |place: usize, others: &[&str]| [&lines[..place], others, &lines[place + 1..]].concat().join("\n");
    let mut texts = Vec::new();
    for (place, line) in
        lines.iter().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    {
        let half = line.chars().take(line.chars().count() / 2).collect::<String>();
        texts.extend([with(place, &[]), with(place, &[line, line])]);
        texts.push([&lines[..place], &[half.as_str()]].concat().join("\n"));
        if let Some((key, _)) = line.split_once(" = ") {
            texts.extend(WRONG_VALUES.map(|value| with(place, &[&format!("{key} = {value}")])));
        }
    }
    texts
}
