//! The guardian: a process of its own that undoes a trial when nobody else will.
//!
//! It reads only the journal. It undoes when its parent dies before it has let go of it, when the deadline passes, or
//! when it is told to stop; it ends without a word when the journal leaves `open/`, for then somebody has undone or kept
//! the trial. All that it needs later is opened before it says that it is armed.

use crate::apply::GuardOrder;
use crate::error::TuneError;
use crate::journal::Journal;
use crate::restore::{self, Recovery};
use crate::roots::Roots;
use crate::state::StateFolder;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::inotify;
use rustix::io::Errno;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use std::path::PathBuf;

/// What a parent writes to let go of its guardian.
pub const DETACH: u8 = b'd';

/// A guardian that is armed.
pub struct Guard {
    journal: Journal,
    path: PathBuf,
    state: StateFolder,
    roots: Roots,
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

impl Guard {
    /// Takes hold of a journal of the host with these roots.
    ///
    /// # Errors
    /// It is not there, cannot be read, or the deadline cannot be set.
    pub fn arm(order: &GuardOrder, roots: Roots) -> Result<Guard, TuneError> {
        let state = StateFolder::at(&order.state);
        let path = state.open().join(format!("{}.wal", order.id));
        let failed = |operation| {
            let path = path.clone();
            move |error: Errno| TuneError::io(operation, &path)(error.into())
        };
        let (journal, transaction) = Journal::open(&path)?;
        let transaction = transaction.ok_or_else(|| failed("understand")(Errno::ILSEQ))?;
        let moves = inotify::init(inotify::CreateFlags::CLOEXEC).map_err(failed("watch"))?;
        inotify::add_watch(
            &moves,
            state.open(),
            inotify::WatchFlags::MOVED_FROM | inotify::WatchFlags::DELETE,
        )
        .map_err(failed("watch"))?;
        let deadline = timer(transaction.begin.deadline_boot_ns).map_err(failed("set the deadline of"))?;
        journal.file().lock().map_err(TuneError::io("lock", &path))?;
        Ok(Guard { journal, path, state, roots, deadline, moves })
    }

    /// Watches until the trial is over, or undoes it. `parent` is at its end when the parent dies; `stop` can be read
    /// when the guardian is told to stop.
    ///
    /// # Errors
    /// The trial cannot be undone because the journal cannot be used.
    pub fn watch(self, parent: BorrowedFd<'_>, stop: BorrowedFd<'_>) -> Result<GuardEnd, TuneError> {
        let mut parent = Some(parent);
        loop {
            match self.wait(parent, stop) {
                Woken::Moved if self.path.exists() => drain(&self.moves),
                Woken::Moved => return Ok(GuardEnd::Over),
                Woken::Parent(Some(DETACH)) => parent = None,
                Woken::Parent(Some(_)) | Woken::Again => {}
                Woken::Parent(None) | Woken::Deadline | Woken::Stop => return self.undo(),
            }
        }
    }

    fn wait(&self, parent: Option<BorrowedFd<'_>>, stop: BorrowedFd<'_>) -> Woken {
        let mut waits = vec![
            PollFd::new(&self.moves, PollFlags::IN),
            PollFd::from_borrowed_fd(stop, PollFlags::IN),
            PollFd::new(&self.deadline, PollFlags::IN),
        ];
        waits.extend(parent.map(|parent| PollFd::from_borrowed_fd(parent, PollFlags::IN)));
        if poll(&mut waits, None).is_err() {
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

    fn undo(self) -> Result<GuardEnd, TuneError> {
        let _lock = self.state.lock()?;
        if !self.path.exists() {
            return Ok(GuardEnd::Over);
        }
        drop(self.journal);
        restore::recover_one(&self.path, &self.state, &self.roots).map(GuardEnd::Undone)
    }
}

/// Why a wait ended.
enum Woken {
    Moved,
    Parent(Option<u8>),
    Deadline,
    Stop,
    Again,
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
