//! A new mount namespace (unshare(2)).

use rustix::io::Errno;
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Leaves the mount namespace for a copy of it, in this thread and those that it starts.
///
/// # Errors
/// `PERM`: this user may not.
pub(crate) fn leave() -> Result<(), Errno> {
    // SAFETY: only the mounts are unshared; the table of descriptors stays common to all threads.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }
}
