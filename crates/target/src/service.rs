//! Decides when a request is answered: at once, after work, after a delay, or when a worker is done.

use super::inbox::Inbox;
use super::pool::Pool;
use super::timer::{DueAnswer, Timer};
use super::{Bottleneck, LatencyTable};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sysdyno_observe::clock::{monotonic, thread_cpu_ns};

/// How an event thread serves.
#[derive(Debug)]
pub(super) enum RequestService<'a> {
    /// At once.
    Immediate,
    /// After burning this much CPU time.
    Burn { work_ns: u64 },
    /// After the next delay of a table that all threads share.
    Delay { table: &'a LatencyTable, next: &'a AtomicU64 },
    /// When a worker is done.
    Pool(Pool),
}

/// Whether an answer is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Now,
    Later,
}

impl<'a> RequestService<'a> {
    /// What `bottleneck` makes of an event thread; `next` is the position in the latency table.
    pub(super) fn new(
        bottleneck: Option<&'a Bottleneck>,
        next: &'a AtomicU64,
        inbox: &Arc<Inbox>,
    ) -> std::io::Result<RequestService<'a>> {
        Ok(match bottleneck {
            Some(Bottleneck::SingleThread { work_us }) => RequestService::Burn { work_ns: work_us * 1000 },
            Some(Bottleneck::Latency(table)) => RequestService::Delay { table, next },
            Some(Bottleneck::WorkerPool { workers, hold_ms }) => {
                RequestService::Pool(Pool::start(*workers, Duration::from_millis(*hold_ms), inbox)?)
            }
            Some(Bottleneck::Stall { .. } | Bottleneck::AcceptQueue { .. }) | None => {
                RequestService::Immediate
            }
        })
    }

    /// Whether answers are given after a known delay.
    pub(super) fn is_delay(&self) -> bool {
        matches!(self, RequestService::Delay { .. })
    }

    /// Whether another request can be taken.
    pub(super) fn has_room(&self) -> bool {
        match self {
            RequestService::Pool(pool) => pool.has_room(),
            _ => true,
        }
    }

    /// Serves one request.
    pub(super) fn serve(&mut self, answer: DueAnswer, timer: &mut Timer) -> Readiness {
        match self {
            RequestService::Immediate => Readiness::Now,
            RequestService::Burn { work_ns } => {
                burn(*work_ns);
                Readiness::Now
            }
            RequestService::Delay { table, next } => {
                let delay = table.delay(next.fetch_add(1, Ordering::Relaxed));
                timer.add(monotonic().after(delay), answer);
                Readiness::Later
            }
            RequestService::Pool(pool) => {
                pool.submit(answer);
                Readiness::Later
            }
        }
    }

    /// Takes note that a worker reported.
    pub(super) fn worker_finished(&mut self) {
        if let RequestService::Pool(pool) = self {
            pool.finished();
        }
    }
}

/// Steps of arithmetic between two looks at the clock: some microseconds. Looking is a system call, and too many of them
/// would make the work look like the kernel's.
const BURN_STEPS: u64 = 4096;

/// Uses CPU time in user mode; time in which the thread does not run does not count.
fn burn(work_ns: u64) {
    let end_ns = thread_cpu_ns() + work_ns;
    while thread_cpu_ns() < end_ns {
        (0..BURN_STEPS).for_each(|step| {
            std::hint::black_box(step);
        });
    }
}
