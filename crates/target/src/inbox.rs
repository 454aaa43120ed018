//! Messages from other threads to an event thread: a queue with an `eventfd` that wakes the thread.

use super::timer::DueAnswer;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::sync::{Mutex, PoisonError};

/// One message to an event thread.
#[derive(Debug)]
pub(super) enum InboxMessage {
    /// A connection was accepted for it.
    Accepted(OwnedFd),
    /// A worker finished.
    Done(DueAnswer),
}

/// The queue.
#[derive(Debug)]
pub(super) struct Inbox {
    messages: Mutex<Vec<InboxMessage>>,
    bell: OwnedFd,
}

impl Inbox {
    pub(super) fn new() -> Result<Inbox, Errno> {
        let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Inbox { messages: Mutex::default(), bell })
    }

    /// Adds a message and wakes the thread.
    pub(super) fn send(&self, message: InboxMessage) {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).push(message);
        // Fails only when the counter is at its maximum, and then the bell rings already.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    /// Takes all messages.
    pub(super) fn take(&self) -> Vec<InboxMessage> {
        let mut count = [0; 8];
        // Nothing to read means that somebody took the messages after the bell rang.
        let _ = rustix::io::read(&self.bell, &mut count);
        std::mem::take(&mut self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl AsFd for Inbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}
