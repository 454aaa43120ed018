//! A time limit for a child's message: when it is over, the child is killed by its ID, which ends the wait.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::io;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

/// A limit that ends a child unless this is dropped before.
pub struct Watchdog {
    has_ended_it: Arc<AtomicBool>,
    _dropped: Sender<()>,
}

impl Watchdog {
    /// Kills a child when `limit` is over.
    ///
    /// # Errors
    /// The child cannot be taken hold of.
    pub fn over(child: &Child, limit: Duration) -> io::Result<Watchdog> {
        let handle = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
        let (dropped, is_dropped) = mpsc::channel::<()>();
        let has_ended_it = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&has_ended_it);
        std::thread::spawn(move || {
            if is_dropped.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                told.store(true, Ordering::Release);
                // It may have ended meanwhile.
                let _ = pidfd_send_signal(&handle, Signal::KILL);
            }
        });
        Ok(Watchdog { has_ended_it, _dropped: dropped })
    }

    /// What came of waiting: the error that says that it took too long, if that is what ended it.
    ///
    /// # Errors
    /// That of the waiting, or `TimedOut`.
    pub fn judge<T>(&self, waited: io::Result<T>, limit: Duration) -> io::Result<T> {
        match self.has_ended_it.load(Ordering::Acquire) {
            true => {
                let cause = format!("it did not answer within {} s and was killed", limit.as_secs());
                Err(io::Error::new(io::ErrorKind::TimedOut, cause))
            }
            false => waited,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn waiting_for_a_word_that_does_not_come_ends() {
        let mut child = Command::new("sleep").arg("600").stdout(Stdio::piped()).spawn().expect("starts");
        let limit = Duration::from_millis(50);
        let watchdog = Watchdog::over(&child, limit).expect("watches");
        let said = io::read_to_string(child.stdout.take().expect("is piped"));
        let told = watchdog.judge(said, limit).expect_err("took too long");
        assert_eq!(told.kind(), io::ErrorKind::TimedOut);
        assert!(!child.wait().expect("has ended").success());
    }

    #[test]
    fn whoever_answers_in_time_lives_on() {
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("starts");
        let watchdog = Watchdog::over(&child, Duration::from_millis(20)).expect("watches");
        assert_eq!(watchdog.judge(Ok(7), Duration::from_millis(20)).expect("in time"), 7);
        drop(watchdog);
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(child.try_wait().expect("can be asked"), None);
        drop(child.stdin.take());
        assert!(child.wait().expect("ends").success());
    }
}
