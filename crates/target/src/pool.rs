//! A pool of blocking workers, each of which sleeps while it holds a request.
//!
//! It imitates php-fpm with a slow database: the CPU is idle, but the pool is full. Requests that find no free worker stay
//! unread in their sockets, as in a server that bounds its queue.

use super::inbox::{Inbox, InboxMessage};
use super::timer::DueAnswer;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The side of the pool that the event thread sees.
#[derive(Debug)]
pub(super) struct Pool {
    jobs: Arc<Jobs>,
    threads: Vec<JoinHandle<()>>,
    free_count: usize,
}

#[derive(Debug, Default)]
struct Jobs {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<DueAnswer>,
    is_closed: bool,
}

impl Jobs {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole after every statement; a panic elsewhere does not change that.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next job; `None` when the pool is closed.
    fn next(&self) -> Option<DueAnswer> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(job) = state.queue.pop_front() {
                return Some(job);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Pool {
    /// Starts `workers` threads that report each finished request to `inbox`.
    pub(super) fn start(workers: u32, hold: Duration, inbox: &Arc<Inbox>) -> std::io::Result<Pool> {
        let mut pool = Pool { jobs: Arc::default(), threads: Vec::new(), free_count: workers as usize };
        for number in 0..workers {
            let (jobs, inbox) = (Arc::clone(&pool.jobs), Arc::clone(inbox));
            let work = move || {
                while let Some(job) = jobs.next() {
                    std::thread::sleep(hold);
                    inbox.send(InboxMessage::Done(job));
                }
            };
            pool.threads.push(std::thread::Builder::new().name(format!("worker-{number}")).spawn(work)?);
        }
        Ok(pool)
    }

    /// Whether a worker is free.
    pub(super) fn has_room(&self) -> bool {
        self.free_count > 0
    }

    /// Gives a request to a free worker.
    pub(super) fn submit(&mut self, job: DueAnswer) {
        debug_assert!(self.free_count > 0, "submit is called only when a worker is free");
        self.free_count -= 1;
        self.jobs.lock().queue.push_back(job);
        self.jobs.changed.notify_one();
    }

    /// Takes note that a worker reported.
    pub(super) fn finished(&mut self) {
        self.free_count += 1;
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs.lock().is_closed = true;
        self.jobs.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A worker only sleeps and sends; there is no panic to pass on.
            let _ = thread.join();
        }
    }
}
