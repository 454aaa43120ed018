//! Answers that a thread must send at a later time, in a heap behind one `timerfd`.
//!
//! `rustix` rounds the timeout of `epoll_wait` up to milliseconds, so a `timerfd` is used instead; it is also not subject to
//! the thread's timer slack.

use super::connection::Token;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use sysdyno_record::units::MonoNs;

/// One answer of one connection: `sequence` counts the answers of that connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DueAnswer {
    pub(super) token: Token,
    pub(super) sequence: u64,
}

/// Answers in the order in which they become due, and the timer that rings for the next instant.
#[derive(Debug)]
pub(super) struct Timer {
    fd: OwnedFd,
    armed_for: Option<MonoNs>,
    due: BinaryHeap<Reverse<(MonoNs, DueAnswer)>>,
}

impl Timer {
    pub(super) fn new() -> Result<Timer, Errno> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Timer { fd, armed_for: None, due: BinaryHeap::new() })
    }

    /// Adds an answer that is due at an instant.
    pub(super) fn add(&mut self, at: MonoNs, answer: DueAnswer) {
        self.due.push(Reverse((at, answer)));
    }

    /// Whether no answer is to come.
    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// Takes the next answer that is due at `now`.
    pub(super) fn take_due(&mut self, now: MonoNs) -> Option<DueAnswer> {
        let is_due = self.due.peek().is_some_and(|Reverse((at, _))| *at <= now);
        if !is_due {
            return None;
        }
        self.due.pop().map(|Reverse((_, answer))| answer)
    }

    /// Makes the timer ring at the next due answer, or at `other` if that is earlier.
    pub(super) fn arm(&mut self, other: Option<MonoNs>) -> Result<(), Errno> {
        let due = self.due.peek().map(|Reverse((at, _))| *at);
        let next = [due, other].into_iter().flatten().min();
        if next == self.armed_for {
            return Ok(());
        }
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        // A value of zero would disarm it; nothing is due at the host's boot.
        let at = next.map_or(zero, |at| timespec(MonoNs(at.0.max(1))));
        let value = Itimerspec { it_interval: zero, it_value: at };
        timerfd_settime(&self.fd, TimerfdTimerFlags::ABSTIME, &value)?;
        self.armed_for = next;
        Ok(())
    }

    /// Takes note that the timer rang.
    pub(super) fn acknowledge(&mut self) {
        let mut count = [0; 8];
        // Whether it rang or was set again meanwhile: what counts is which answers are due now.
        let _ = rustix::io::read(&self.fd, &mut count);
        self.armed_for = None;
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The instant as the kernel takes it.
pub(super) fn timespec(at: MonoNs) -> Timespec {
    Timespec { tv_sec: (at.0 / 1_000_000_000) as i64, tv_nsec: (at.0 % 1_000_000_000) as i64 }
}
