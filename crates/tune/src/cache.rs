//! Writes back and drops the host's page cache, so that the next reads come from storage.
//!
//! This is an action, not a setting (`vm.drop_caches` is on the list of refused settings): there is no old value to restore,
//! and nothing is lost, since only clean pages are dropped (`fs/drop_caches.c`). But every process on the host reads from
//! storage again for a while, so users must agree explicitly.

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
