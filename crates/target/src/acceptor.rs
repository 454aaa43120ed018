//! A thread that accepts connections slowly, so that the accept queue overflows.

use super::error::TargetError;
use super::inbox::{Inbox, InboxMessage};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};
use std::sync::Arc;
use std::time::Duration;

/// How long a wait lasts before the order to stop is looked at.
const STOP_CHECK: rustix::time::Timespec = rustix::time::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Accepts one connection per `delay` and hands them to the event threads in turn, until `is_stopping`.
pub(super) fn run(
    listener: &OwnedFd,
    delay: Duration,
    inboxes: &[Arc<Inbox>],
    is_stopping: impl Fn() -> bool,
) -> Result<(), TargetError> {
    let mut turn = inboxes.iter().cycle();
    while !is_stopping() {
        match accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok(socket) => {
                if let Some(inbox) = turn.next() {
                    inbox.send(InboxMessage::Accepted(socket));
                }
                std::thread::sleep(delay);
            }
            Err(Errno::AGAIN) => wait(listener)?,
            // The client gave up, or there is no descriptor left: both are over after a while.
            Err(_) => std::thread::sleep(delay.max(Duration::from_millis(1))),
        }
    }
    Ok(())
}

fn wait(listener: &OwnedFd) -> Result<(), TargetError> {
    match poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&STOP_CHECK)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(TargetError::system("wait for connections")(errno)),
    }
}
