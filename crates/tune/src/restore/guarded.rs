//! Undoes a trial whose state folder is unusable: read-only, failing, or no longer trustworthy.
//!
//! The second copy serves as far as possible. If the trial's guardian is alive, it is told to stop, which makes it undo the
//! trial: it holds open everything that it needs.

use super::{Recovery, intents, recover_lost};
use crate::error::TuneError;
use crate::journal::JournalFile;
use crate::roots::TuneRoots;
use crate::spool;
use crate::state::StateFolder;
use crate::store::{PATIENCE, Store, StoreSection};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked whether the guardian is done.
const AGAIN: Duration = Duration::from_millis(10);

/// What guardians are called in lists of processes.
pub const GUARDIAN: &CStr = c"tune-guardian";

/// Undoes a trial of this state folder by its second copy or its guardian; `None` if there is no such trial.
///
/// # Errors
/// The second copies cannot be used either, or the guardian is not done in time.
pub(super) fn undo(
    state: &StateFolder,
    roots: &TuneRoots,
    id: Option<&str>,
) -> Result<Option<Recovery>, TuneError> {
    let Some(spool) = spool::hold_if_there(roots)?.map(Arc::new) else { return Ok(None) };
    let is_meant = |found: &str| id.is_none_or(|id| id == found);
    let (mut waited, mut seen): (_, Option<String>) = (Duration::ZERO, None);
    loop {
        // Those without a guardian; it may have died just now.
        let lost = recover_lost(&spool, roots)?.into_iter().find(|recovery| is_meant(&recovery.id));
        if lost.is_some() {
            return Ok(lost);
        }
        let Some(open) = copy(&spool, StoreSection::Open, state, is_meant)? else {
            // It may have been done before anybody asked.
            let done =
                copy(&spool, StoreSection::Done, state, is_meant)?.map(|copy| format!("{}.wal", copy.id()));
            return Ok(seen.or(done).map(|name| told(&spool, &name)));
        };
        if seen.is_none() {
            // Whoever cannot be told is waited for all the same: it may be at it.
            let _ = stop_guardian(&open);
            seen = Some(format!("{}.wal", open.id()));
        }
        if waited >= PATIENCE {
            let cause = io::Error::other("its guardian is not done yet");
            return Err(TuneError::io("undo the trial of", &open.path())(cause));
        }
        std::thread::sleep(AGAIN);
        waited += AGAIN;
    }
}

/// The newest second copy in a section of a trial of this state folder. Those that are done are there until their journal
/// can be closed.
fn copy(
    spool: &Arc<Store>,
    section: StoreSection,
    state: &StateFolder,
    is_meant: impl Fn(&str) -> bool,
) -> Result<Option<JournalFile>, TuneError> {
    let real = fs::canonicalize(state.path()).unwrap_or_else(|_| state.path().to_owned());
    for name in spool.journals(section)?.into_iter().rev() {
        let Ok((copy, Some(found))) = JournalFile::open(spool, section, &name) else { continue };
        let of_it = found.begin.state.as_deref().map(Path::new);
        if is_meant(copy.id()) && (of_it == Some(&real) || of_it == Some(state.path())) {
            return Ok(Some(copy));
        }
    }
    Ok(None)
}

/// What a guardian has left word of.
fn told(spool: &Arc<Store>, name: &str) -> Recovery {
    let id = name.trim_end_matches(".wal").to_owned();
    match JournalFile::open(spool, StoreSection::Done, name).ok().and_then(|(_, told)| told) {
        Some(told) => {
            Recovery { id, restored: intents::told(&told), cause: told.cause, ..Recovery::default() }
        }
        // Then its journal says it.
        None => Recovery { id, ..Recovery::default() },
    }
}

/// Tells the guardian that holds a copy to stop, which is to undo the trial.
fn stop_guardian(copy: &JournalFile) -> Option<()> {
    let path = copy.path();
    let guardian = holder(&path)?;
    let handle = pidfd_open(guardian, PidfdFlags::empty()).ok()?;
    // The handle is of whoever has the pid now; the lock says who that is.
    (holder(&path) == Some(guardian)).then(|| pidfd_send_signal(handle, Signal::TERM).ok()).flatten()
}

/// The guardian that holds the lock of a file. Source: `/proc/locks`, proc(5).
fn holder(path: &Path) -> Option<Pid> {
    let found = fs::metadata(path).ok()?;
    let device = (rustix::fs::major(found.dev()), rustix::fs::minor(found.dev()));
    let list = fs::read_to_string("/proc/locks").ok()?;
    let pid = list.lines().find_map(|line| locker(line, device, found.ino()))?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    (name.trim().as_bytes() == GUARDIAN.to_bytes()).then(|| Pid::from_raw(pid)).flatten()
}

/// Who has the lock of a line, if it is one of this file: `1: FLOCK ADVISORY WRITE 4711 fe:00:5350496 0 EOF`.
fn locker(line: &str, (major, minor): (u32, u32), inode: u64) -> Option<i32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, _, pid, file, ..] = words[..] else { return None };
    let mut parts = file.split(':');
    let mut part = || parts.next();
    let is_device =
        u32::from_str_radix(part()?, 16) == Ok(major) && u32::from_str_radix(part()?, 16) == Ok(minor);
    (is_device && part()?.parse() == Ok(inode)).then(|| pid.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_the_lock_of_a_file_is_found_among_all_locks() {
        let line = "12: FLOCK  ADVISORY  WRITE 27077 fe:00:5350496 0 EOF";
        assert_eq!(locker(line, (0xfe, 0), 5_350_496), Some(27_077));
        for (device, inode) in [((0xfe, 1), 5_350_496), ((0xfd, 0), 5_350_496), ((0xfe, 0), 5_350_497)] {
            assert_eq!(locker(line, device, inode), None);
        }
        // Who waits for it does not have it.
        assert_eq!(
            locker("12: -> FLOCK  ADVISORY  WRITE 30277 fe:00:5350496 0 EOF", (0xfe, 0), 5_350_496),
            None
        );
        assert_eq!(locker("", (0, 0), 0), None);
    }

    #[test]
    fn only_a_guardian_is_told_to_stop() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        file.as_file().lock().expect("locks");
        assert_eq!(holder(file.path()), None, "this process is none");
    }
}
