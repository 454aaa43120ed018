//! The guardian: a separate process that undoes a trial when nobody else will.
//!
//! It undoes the trial when its parent dies without having released it, when the deadline passes, when it is told to stop, and
//! when the state folder is moved, removed, or replaced. It exits silently when the journal says that the trial is over.
//! Before it reports that it is armed, it opens everything that it needs later: the folders, both journals, and the lock; the
//! intents are in memory. So it can undo the trial whatever happens to the state folder.

use crate::apply::GuardOrder;
use crate::error::TuneError;
use crate::journal::{Transaction, TrialStart, Twin};
use crate::process::start_ticks;
use crate::restore::{self, Recovery};
use crate::roots::TuneRoots;
use crate::spool;
use crate::state::StateFolder;
use crate::store::{Lock, PATIENCE, Store, StoreSection};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::inotify::{self, WatchFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What a parent writes to let go of its guardian.
pub const DETACH: u8 = b'd';

/// How often it is looked whether the journal is in its place, for what nothing else reports: mounts, links.
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// A guardian that is armed.
pub struct TrialGuard {
    twin: Twin,
    /// What the journal said when it was opened: what it takes to undo the trial.
    known: Transaction,
    state: Arc<Store>,
    roots: TuneRoots,
    deadline: OwnedFd,
    moves: OwnedFd,
}

/// How a watch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuardEnd {
    /// Somebody else ended the trial.
    Over,
    /// The guardian undid it.
    Undone(Recovery),
}

impl TrialGuard {
    /// Takes hold of a journal of the host with these roots.
    ///
    /// # Errors
    /// It is not there, cannot be read, or the deadline cannot be set.
    pub fn arm(order: &GuardOrder, roots: TuneRoots) -> Result<TrialGuard, TuneError> {
        let name = format!("{}.wal", order.id);
        let path = order.state.join(StoreSection::Open.name()).join(&name);
        let failed = |operation| {
            let path = path.clone();
            move |error: Errno| TuneError::io(operation, &path)(error.into())
        };
        let state = StateFolder::at(&order.state).hold_if_there()?;
        let state = Arc::new(state.ok_or_else(|| failed("open")(Errno::NOENT))?);
        let spool = spool::hold_if_there(&roots)?.map(Arc::new);
        let mut twin = restore::twin_of(&state, spool.as_ref(), (StoreSection::Open, &name))?;
        let known = twin.reread().ok_or_else(|| failed("understand")(Errno::ILSEQ))?;
        let moves = watch(state.section(StoreSection::Open).path()).map_err(failed("watch"))?;
        let deadline = timer(known.begin.deadline_boot_ns).map_err(failed("set the deadline of"))?;
        twin.lock()?;
        Ok(TrialGuard { twin, known, state, roots, deadline, moves })
    }

    /// Watches until the trial is over, or undoes it. `parent` is at its end when the parent dies; `stop` can be read
    /// when the guardian is told to stop.
    pub fn watch(mut self, parent: BorrowedFd<'_>, stop: BorrowedFd<'_>) -> GuardEnd {
        let mut parent = Some(parent);
        loop {
            if !self.twin.is_in_place() {
                return match self.is_over() {
                    true => GuardEnd::Over,
                    false => self.undo(),
                };
            }
            match self.wait(parent, stop) {
                Woken::Moved => drain(&self.moves),
                Woken::Parent(Some(DETACH)) => parent = None,
                Woken::Parent(Some(_)) | Woken::Again => {}
                Woken::Parent(None) | Woken::Deadline | Woken::Stop => return self.undo(),
            }
        }
    }

    /// Whether the journal says so, wherever it is now.
    fn is_over(&mut self) -> bool {
        self.twin.reread().is_some_and(|found| found.is_over())
    }

    fn wait(&self, parent: Option<BorrowedFd<'_>>, stop: BorrowedFd<'_>) -> Woken {
        let mut waits = vec![
            PollFd::new(&self.moves, PollFlags::IN),
            PollFd::from_borrowed_fd(stop, PollFlags::IN),
            PollFd::new(&self.deadline, PollFlags::IN),
        ];
        waits.extend(parent.map(|parent| PollFd::from_borrowed_fd(parent, PollFlags::IN)));
        if poll(&mut waits, Some(&LOOK_AGAIN)).is_err() {
            return Woken::Again;
        }
        let is_ready = |index: usize| waits.get(index).is_some_and(|wait| !wait.revents().is_empty());
        if is_ready(0) {
            return Woken::Moved;
        }
        if is_ready(1) {
            return Woken::Stop;
        }
        if is_ready(2) {
            return Woken::Deadline;
        }
        match parent.filter(|_| is_ready(3)) {
            Some(parent) => Woken::Parent(read_byte(parent)),
            None => Woken::Again,
        }
    }

    fn undo(mut self) -> GuardEnd {
        let state = Arc::clone(&self.state);
        let _lock = lock(&state, &self.known.begin);
        // What was read at the beginning has every intent; what is read now also says how far the trial came.
        let now = self.twin.reread().filter(Transaction::is_whole).unwrap_or_else(|| self.known.clone());
        let cause = self.cause();
        let recovery = restore::finish(&mut self.twin, &now, &self.roots, cause.as_deref());
        if now.is_over() { GuardEnd::Over } else { GuardEnd::Undone(recovery) }
    }

    /// Why it undoes the trial before its time; `None` if the journal is in its place.
    fn cause(&self) -> Option<String> {
        if self.twin.is_in_place() {
            return None;
        }
        let path = self.state.path().display().to_string();
        let is_folder_there = self.state.is_in_place();
        Some(match is_folder_there {
            true => format!("its journal '{}' was moved or removed", self.twin.path().display()),
            false => restore::lost(&path),
        })
    }
}

/// Takes the lock of a state folder, however long that takes; `None` if it cannot be locked at all.
///
/// Whoever holds it writes settings, so nothing is written without it. The one that can hold it for ever is the maker of
/// this trial, if it was stopped or hangs: the trial is to be undone, so the maker is not needed any more.
fn lock<'a>(state: &'a Store, begin: &TrialStart) -> Option<Lock<'a>> {
    loop {
        match state.lock("guardian", PATIENCE) {
            Ok(lock) => return Some(lock),
            // That it cannot be ended either is seen by the lock.
            Err(TuneError::Busy { .. }) => drop(end_maker(begin)),
            Err(_) => return None,
        }
    }
}

/// Kills the process that made a trial, if it is still that process.
fn end_maker(begin: &TrialStart) -> io::Result<()> {
    let pid = i32::try_from(begin.pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    // The handle is of whoever has the pid now; the start time says who that is.
    if begin.start_ticks == 0 || start_ticks(begin.pid)? != begin.start_ticks {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(pidfd_send_signal(&handle, Signal::KILL)?)
}

/// Why a wait ended.
enum Woken {
    Moved,
    Parent(Option<u8>),
    Deadline,
    Stop,
    Again,
}

/// Reports what is moved out of a folder, and the folder and those above it when they are moved or removed.
fn watch(folder: &Path) -> Result<OwnedFd, Errno> {
    let moves = inotify::init(inotify::CreateFlags::CLOEXEC)?;
    let itself = WatchFlags::MOVE_SELF | WatchFlags::DELETE_SELF;
    inotify::add_watch(&moves, folder, itself | WatchFlags::MOVED_FROM | WatchFlags::DELETE)?;
    for above in folder.ancestors().skip(1) {
        // One that only others may read is looked at from time to time.
        let _ = inotify::add_watch(&moves, above, itself);
    }
    Ok(moves)
}

fn timer(deadline_boot_ns: u64) -> Result<OwnedFd, Errno> {
    let timer = rustix::time::timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::CLOEXEC)?;
    // A deadline of 0 would disarm the timer.
    let at = deadline_boot_ns.max(1);
    let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
    let at = Timespec { tv_sec: (at / 1_000_000_000) as i64, tv_nsec: (at % 1_000_000_000) as _ };
    let once = Itimerspec { it_interval: zero, it_value: at };
    rustix::time::timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &once)?;
    Ok(timer)
}

/// One byte; `None` at the end.
fn read_byte(from: BorrowedFd<'_>) -> Option<u8> {
    let mut byte = [0u8; 1];
    match rustix::io::retry_on_intr(|| rustix::io::read(from.as_fd(), &mut byte)) {
        Ok(1) => Some(byte[0]),
        _ => None,
    }
}

/// Takes what an inotify descriptor has to say, which is looked at by other means.
fn drain(moves: &OwnedFd) {
    let mut events = [0u8; 4096];
    let _ = rustix::io::read(moves, &mut events);
}

/// Asks the kernel to kill other processes first when memory runs out; without the right to ask, nothing changes.
pub fn resist_memory_shortage() {
    let _ = std::fs::write("/proc/self/oom_score_adj", "-1000");
}

#[cfg(test)]
mod tests;
