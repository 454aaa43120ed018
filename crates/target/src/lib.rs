//! The built-in target: a small fast HTTP/1.1 server with a known bottleneck.
//!
//! `sysdyno demo` runs it in a separate process, and tests measure the generator against it. Each event thread has its own
//! listener, epoll instance, connections, and counters; every request gets the same answer. The planted bottlenecks
//! ([`Bottleneck`]) are those of real servers: a worker pool that waits, a single busy thread, an accept loop that is too
//! slow, a pause, a latency distribution.
//!
//! Invariants: a request is counted before its answer is sent; answers keep the order of their requests; a client that
//! does not read or that sends garbage costs bounded memory and does not affect other clients.
//!
//! Promise: only `demo` and tests need this crate; nothing that measures depends on it.
#![forbid(unsafe_code)]

mod acceptor;
mod connection;
mod counts;
mod error;
mod event_loop;
pub mod http;
mod inbox;
mod listener;
mod pool;
mod service;
mod stall;
mod timer;

pub use counts::TargetCounts;
pub use error::TargetError;
pub use http::COUNTS_PATH;

use counts::ThreadCounts;
use event_loop::{EventLoop, ThreadSeat};
use http::Responses;
use inbox::Inbox;
use listener::Listeners;
use service::RequestService;
use stall::StallGrid;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

/// Most event threads of a target.
pub const MAX_THREADS: u32 = 1024;

/// Most workers of a pool.
pub const MAX_WORKERS: u32 = 4096;

/// Longest body of an answer. Unit: bytes.
pub const MAX_BODY_BYTES: u32 = 16 << 20;

/// Longest wait that a bottleneck may hold. Unit: milliseconds.
pub const MAX_WAIT_MS: u64 = 60_000;

/// What the target is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetPlan {
    /// Where it listens.
    pub listen: ListenOn,
    /// Event threads; a worker pool has one in any case.
    pub threads: u32,
    /// What is planted in it; `None` for nothing.
    pub bottleneck: Option<Bottleneck>,
    /// Length of the answer's body.
    pub body_bytes: u32,
}

/// Where the target listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenOn {
    /// TCP; port 0 lets the kernel choose.
    Tcp(SocketAddr),
    /// A Unix stream socket, which must not exist and is removed at the end.
    Unix(PathBuf),
}

/// What keeps the target from being faster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// One event thread hands requests to a pool of blocking workers; the CPU is idle and the pool full, as in php-fpm
    /// with a slow database. At most `workers` ÷ `hold_ms` requests per millisecond.
    WorkerPool {
        /// Workers.
        workers: u32,
        /// How long a worker holds a request, asleep.
        hold_ms: u64,
    },
    /// One event thread does all the work, the others have none.
    SingleThread {
        /// CPU time per request.
        work_us: u64,
    },
    /// Connections are accepted one by one and slowly, and the queue before that is short.
    AcceptQueue {
        /// Length of the queue, the argument of `listen`.
        backlog: u32,
        /// Time between two accepts.
        accept_delay_ms: u64,
    },
    /// The whole server freezes: it reads and answers nothing, then answers what has queued up.
    ///
    /// Stalls begin at the multiples of `every_ms` on `CLOCK_MONOTONIC`.
    Stall {
        /// From the begin of a stall to that of the next.
        every_ms: u64,
        /// How long a stall lasts.
        for_ms: u64,
    },
    /// Each answer comes after the next delay of a table.
    Latency(LatencyTable),
}

/// Delays that answers take in turn, over all connections and threads; after the last comes the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyTable {
    /// The delays, from the reading of the request. Unit: microseconds.
    pub delays_us: Vec<u32>,
}

impl LatencyTable {
    /// The delay of the request with this number, from 0.
    pub fn delay(&self, number: u64) -> Duration {
        let position = number % self.delays_us.len() as u64;
        Duration::from_micros(u64::from(self.delays_us[position as usize]))
    }
}

impl Bottleneck {
    fn check(&self) -> Result<(), &'static str> {
        let is_wait = |milliseconds: u64| milliseconds <= MAX_WAIT_MS;
        let (is_valid, rule) = match self {
            Bottleneck::WorkerPool { workers, hold_ms } => (
                (1..=MAX_WORKERS).contains(workers) && is_wait(*hold_ms),
                "a pool has 1 to 4096 workers and holds at most 60 s",
            ),
            Bottleneck::SingleThread { work_us } => (is_wait(work_us / 1000), "the work takes at most 60 s"),
            Bottleneck::AcceptQueue { accept_delay_ms, .. } => {
                (is_wait(*accept_delay_ms), "an accept takes at most 60 s")
            }
            Bottleneck::Stall { every_ms, for_ms } => (
                is_wait(*every_ms) && for_ms < every_ms && *for_ms > 0,
                "a stall is shorter than its period of at most 60 s",
            ),
            Bottleneck::Latency(table) => {
                let is_valid = |delay_us: &u32| is_wait(u64::from(*delay_us) / 1000);
                (
                    !table.delays_us.is_empty() && table.delays_us.iter().all(is_valid),
                    "a latency table has delays of at most 60 s",
                )
            }
        };
        if is_valid { Ok(()) } else { Err(rule) }
    }
}

impl TargetPlan {
    fn check(&self) -> Result<(), TargetError> {
        let refuse = |cause: &str| Err(TargetError::Plan { cause: cause.into() });
        if !(1..=MAX_THREADS).contains(&self.threads) {
            return refuse("it has 1 to 1024 threads");
        }
        if self.body_bytes > MAX_BODY_BYTES {
            return refuse("its answers have at most 16 MiB");
        }
        self.bottleneck.as_ref().map_or(Ok(()), Bottleneck::check).or_else(refuse)
    }

    /// Event threads, and those of them that have a listener.
    fn thread_counts(&self) -> (usize, usize) {
        let threads = self.threads as usize;
        match self.bottleneck {
            Some(Bottleneck::WorkerPool { .. }) => (1, 1),
            Some(Bottleneck::SingleThread { .. }) => (threads, 1),
            Some(Bottleneck::AcceptQueue { .. }) => (threads, 0),
            Some(Bottleneck::Stall { .. } | Bottleneck::Latency(_)) | None => (threads, threads),
        }
    }
}

/// What all threads of a target see.
#[derive(Debug)]
struct Shared<'a> {
    responses: Responses,
    counts: &'a [ThreadCounts],
    next_delay: AtomicU64,
    stop: &'a AtomicBool,
    /// Set when a thread ends for whatever reason: the others then end too.
    is_over: AtomicBool,
}

impl Shared<'_> {
    fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.is_over.load(Ordering::Relaxed)
    }
}

/// Ends all threads when one ends, be it by a panic.
struct OverOnDrop<'a>(&'a AtomicBool);

impl Drop for OverOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs the target until `stop` is true, which it looks at 20 times a second, and says what it served.
///
/// `ready` is called once, with the address, when clients can connect. Each connection takes a descriptor: the caller raises
/// the limit of the process. Connections that are open at the end are closed without an answer to what is on them; workers of
/// a pool first finish what they hold.
///
/// Errors: the plan is impossible, the address is taken, or the system lacks a resource at the start.
pub fn serve(
    plan: &TargetPlan,
    stop: &AtomicBool,
    ready: impl FnOnce(&ListenOn),
) -> Result<TargetCounts, TargetError> {
    plan.check()?;
    let (thread_count, listener_count) = plan.thread_counts();
    let backlog = match plan.bottleneck {
        Some(Bottleneck::AcceptQueue { backlog, .. }) => Some(backlog),
        _ => None,
    };
    let mut listeners = Listeners::open(&plan.listen, listener_count.max(1), backlog)?;
    let counts: Vec<ThreadCounts> = (0..thread_count).map(|_| ThreadCounts::default()).collect();
    let shared = Shared {
        responses: Responses::new(plan.body_bytes as usize),
        counts: &counts,
        next_delay: AtomicU64::new(0),
        stop,
        is_over: AtomicBool::new(false),
    };
    let mut inboxes = Vec::new();
    for _ in 0..thread_count {
        inboxes.push(Arc::new(Inbox::new().map_err(TargetError::system("make an eventfd"))?));
    }
    let mut loops = Vec::new();
    for (number, inbox) in inboxes.iter().enumerate() {
        let listener = if number < listener_count { listeners.sockets.pop() } else { None };
        loops.push(EventLoop::new(&shared, seat(plan, &shared, number, listener, inbox)?)?);
    }
    ready(&listeners.address);
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (number, event_loop) in loops.into_iter().enumerate() {
            threads.push(spawn(scope, format!("event-{number}"), &shared, move || event_loop.run())?);
        }
        if let Some(Bottleneck::AcceptQueue { accept_delay_ms, .. }) = plan.bottleneck {
            let (delay, listeners, inboxes) =
                (Duration::from_millis(accept_delay_ms), &listeners.sockets, &inboxes);
            let shared = &shared;
            let accept = move || match listeners.first() {
                Some(listener) => acceptor::run(listener, delay, inboxes, || shared.is_stopping()),
                None => Ok(()),
            };
            threads.push(spawn(scope, "accept".into(), shared, accept)?);
        }
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.collect::<Vec<_>>().into_iter().collect::<Result<(), TargetError>>()
    })?;
    Ok(counts::sum(&counts))
}

fn seat<'a>(
    plan: &'a TargetPlan,
    shared: &'a Shared<'a>,
    number: usize,
    listener: Option<rustix::fd::OwnedFd>,
    inbox: &Arc<Inbox>,
) -> Result<ThreadSeat<'a>, TargetError> {
    let stall = match plan.bottleneck {
        Some(Bottleneck::Stall { every_ms, for_ms }) => {
            Some(StallGrid { every_ns: every_ms * 1_000_000, for_ns: for_ms * 1_000_000 })
        }
        _ => None,
    };
    let service = RequestService::new(plan.bottleneck.as_ref(), &shared.next_delay, inbox)
        .map_err(|source| TargetError::System { operation: "start a worker".into(), source })?;
    Ok(ThreadSeat { number, listener, inbox: Arc::clone(inbox), service, stall })
}

fn spawn<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    name: String,
    shared: &'scope Shared<'_>,
    work: impl FnOnce() -> Result<(), TargetError> + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, Result<(), TargetError>>, TargetError> {
    let guarded = move || {
        let _over = OverOnDrop(&shared.is_over);
        work()
    };
    std::thread::Builder::new().name(name).spawn_scoped(scope, guarded).map_err(|source| {
        shared.is_over.store(true, Ordering::Relaxed);
        TargetError::System { operation: "start a thread".into(), source }
    })
}

#[cfg(test)]
mod tests;
