//! The page cache of the host, written back and dropped, so that what is read next is read from storage.
//!
//! This is an act and no setting (`vm.drop_caches` is on the list of those that are refused): nothing is changed that could
//! be put back, and nothing is lost, since only clean pages are dropped (`fs/drop_caches.c`). But everybody on the host
//! reads from storage again for a while, so whoever asks for it must say that this is wanted.

use crate::error::TuneError;
use std::path::PathBuf;

/// Page cache, and entries of folders and inodes.
const ALL: &str = "3\n";

/// Writes back what is dirty and drops what is clean, for the whole host.
///
/// # Errors
/// This is not root, or the kernel's file is not there or read-only, as in a container.
pub fn drop_caches() -> Result<(), TuneError> {
    rustix::fs::sync();
    let path = PathBuf::from("/proc/sys/vm/drop_caches");
    std::fs::write(&path, ALL).map_err(|source| TuneError::DropCaches { path, source })
}
