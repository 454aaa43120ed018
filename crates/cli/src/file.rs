//! Files that are read without being named: only what this user, or root, has written is believed.

use anyhow::ensure;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use sysdyno_plan::MAX_FILE_BYTES;

/// What a file holds; one that somebody else could have written is an error. The
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
    ensure!(
        metadata.is_file() && metadata.len() <= MAX_FILE_BYTES,
        "not a regular file, or longer than 1 MiB"
    );
    for owner in [link.uid(), metadata.uid()] {
        ensure!(is_own(owner), "it belongs to another user (uid {owner})");
    }
    ensure!(metadata.mode() & 0o002 == 0, "it is world-writable\nhint: chmod o-w '{}'", path.display());
    let mut text = String::new();
    file.by_ref().take(MAX_FILE_BYTES).read_to_string(&mut text)?;
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
