//! Runs a sampler in its own thread, on absolute deadlines.
//!
//! The deadlines are multiples of the period after the start, so they do not drift. If a deadline passes before its sample
//! could be taken, it is skipped and counted: an overloaded host gets fewer samples, never two at once. A caller that needs
//! readings at a given instant requests them and need not wait for a deadline.

use crate::clock;
use crate::error::ObserveError;
use crate::sampler::{Sampler, SamplerPlan};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use sysdyno_record::series::SeriesLine;
use sysdyno_record::units::MonoNs;

/// Statistics of a sampling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SamplingEnd {
    /// Rows that were taken.
    pub samples: u64,
    /// Deadlines that passed without a sample.
    pub missed_ticks: u64,
    /// CPU time of the thread. Unit: nanoseconds.
    pub cpu_ns: u64,
}

/// How long to wait for a requested reading: a file of the kernel may hang.
const READ_LIMIT: Duration = Duration::from_secs(2);

/// A sampler at work.
#[derive(Debug)]
pub struct Sampling {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<SamplingEnd>>,
}

/// The requests to the sampler's thread, and its progress.
#[derive(Debug, Default)]
struct Desk {
    asked: Mutex<Asked>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Asked {
    is_stopped: bool,
    /// The number of requested readings, and how many of them have been handed on.
    readings: u64,
    handed_on: u64,
}

/// What the sampler's thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Stop,
    /// A sample is due.
    Sample,
    /// Everything is to be read, by this number of the request.
    Read(u64),
}

impl Desk {
    fn ask(&self, change: impl FnOnce(&mut Asked)) -> MutexGuard<'_, Asked> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut asked);
        self.changed.notify_all();
        asked
    }

    /// Waits for the deadline, or for an earlier request.
    fn next(&self, deadline: MonoNs) -> Task {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left_ns = deadline.since(clock::monotonic());
            match *asked {
                Asked { is_stopped: true, .. } => return Task::Stop,
                Asked { readings, handed_on, .. } if readings > handed_on => return Task::Read(readings),
                _ if left_ns == 0 => return Task::Sample,
                _ => {}
            }
            let left = Duration::from_nanos(left_ns);
            asked = self.changed.wait_timeout(asked, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Requests a reading of everything, and waits until it has been handed on.
    fn read(&self) {
        let asked = self.ask(|asked| asked.readings += 1);
        let number = asked.readings;
        let is_awaited = |asked: &mut Asked| asked.handed_on < number;
        // A reading that hangs is missing in the record, which says so itself.
        drop(self.changed.wait_timeout_while(asked, READ_LIMIT, is_awaited));
    }
}

impl Sampling {
    /// Starts sampling; `sink` gets every line, in the sampler's thread.
    ///
    /// The first sample has been handed on when this returns. *Errors*: the plan cannot be carried out, or there is no thread to be had.
    pub fn start(
        plan: SamplerPlan,
        mut sink: impl FnMut(SeriesLine) + Send + 'static,
    ) -> Result<Sampling, ObserveError> {
        let period_ns = (1e9 / plan.hz).round() as u64;
        let mut sampler = Sampler::new(plan)?;
        let desk = Arc::new(Desk::default());
        let asked = Arc::clone(&desk);
        let run = move || {
            let mut lines = Vec::new();
            let mut ticks = Ticks::new(clock::monotonic(), period_ns);
            // The first one is that which the start waits for.
            ticks.advance(clock::monotonic());
            let mut samples = 0;
            loop {
                let task = asked.next(ticks.deadline());
                match task {
                    Task::Stop => break,
                    Task::Sample => sampler.sample(&mut lines),
                    Task::Read(_) => sampler.sample_all(&mut lines),
                }
                samples += 1;
                lines.drain(..).for_each(&mut sink);
                match task {
                    Task::Read(number) => drop(asked.ask(|asked| asked.handed_on = number)),
                    Task::Sample | Task::Stop => ticks.advance(clock::monotonic()),
                }
            }
            SamplingEnd { samples, missed_ticks: ticks.missed, cpu_ns: clock::thread_cpu_ns() }
        };
        let thread = std::thread::Builder::new().name("sysdyno-observe".into()).spawn(run);
        let thread = thread.map_err(|source| ObserveError::Thread { source })?;
        desk.read();
        Ok(Sampling { desk, thread: Some(thread) })
    }

    /// Reads everything now, whatever is due; the row has been handed on when this returns.
    pub fn read(&self) {
        self.desk.read();
    }

    /// Stops at once, without waiting for the next deadline.
    ///
    /// *Panics*: if the sink panicked.
    pub fn stop(mut self) -> SamplingEnd {
        drop(self.desk.ask(|asked| asked.is_stopped = true));
        let thread = self.thread.take().expect("is taken only here and when dropped");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        drop(self.desk.ask(|asked| asked.is_stopped = true));
        if let Some(thread) = self.thread.take() {
            // A panic of the sink was printed by its thread.
            let _ = thread.join();
        }
    }
}

/// Deadlines at multiples of a period.
#[derive(Debug)]
struct Ticks {
    start: MonoNs,
    period_ns: u64,
    /// Number of the next deadline.
    next: u64,
    missed: u64,
}

impl Ticks {
    fn new(start: MonoNs, period_ns: u64) -> Ticks {
        Ticks { start, period_ns: period_ns.max(1), next: 0, missed: 0 }
    }

    fn deadline(&self) -> MonoNs {
        MonoNs(self.start.0.saturating_add(self.next.saturating_mul(self.period_ns)))
    }

    /// Goes on to the first deadline that is not before `now`.
    fn advance(&mut self, now: MonoNs) {
        let reached = now.since(self.start).div_ceil(self.period_ns).max(self.next + 1);
        self.missed += reached - (self.next + 1);
        self.next = reached;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn deadlines_do_not_drift_and_are_never_doubled() {
        let mut ticks = Ticks::new(MonoNs(1000), 100);
        let mut check = |now: u64, deadline: u64, missed: u64| {
            ticks.advance(MonoNs(now));
            assert_eq!((ticks.deadline(), ticks.missed), (MonoNs(deadline), missed), "at {now}");
        };
        check(1003, 1100, 0);
        check(1199, 1200, 0);
        check(1200, 1300, 0);
        check(1500, 1500, 1);
        check(1801, 1900, 4);
    }

    #[test]
    fn rows_come_in_order_and_neither_reading_nor_stopping_waits_for_a_deadline() {
        let (sender, receiver) = mpsc::channel();
        let plan = SamplerPlan { hz: 0.0001, ..SamplerPlan::host() };
        let sampling =
            Sampling::start(plan, move |line| sender.send(line).expect("is received")).expect("starts");
        assert!(matches!(receiver.try_recv(), Ok(SeriesLine::Header { .. })));
        assert!(
            matches!(receiver.try_recv(), Ok(SeriesLine::Row(_))),
            "it was taken before the start returned"
        );
        // The next deadline is hours away: the test ends only because neither reading nor stopping waits for it.
        sampling.read();
        assert!(matches!(receiver.try_recv(), Ok(SeriesLine::Row(_))), "it is there when the call returns");
        let end = sampling.stop();
        assert_eq!((end.samples, end.missed_ticks), (2, 0));
        assert!(end.cpu_ns > 0);
        assert!(receiver.recv().is_err());
    }
}
