//! Runs a sampler in its own thread, on absolute deadlines.
//!
//! The deadlines are multiples of the period after the start, so that they do not drift. A deadline that has passed
//! before its sample could be taken is skipped and counted: a late host gets fewer samples, never two at once.

use crate::clock;
use crate::error::ObserveError;
use crate::sampler::{Sampler, SamplerPlan};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use sysdyno_record::series::SeriesLine;
use sysdyno_record::units::MonoNs;

/// What a sampling did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SamplingEnd {
    /// Rows that were taken.
    pub samples: u64,
    /// Deadlines that passed without a sample.
    pub missed_ticks: u64,
    /// CPU time of the thread. Unit: nanoseconds.
    pub cpu_ns: u64,
}

/// A sampler at work.
#[derive(Debug)]
pub struct Sampling {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<SamplingEnd>>,
}

#[derive(Debug, Default)]
struct Stop {
    is_asked: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    fn ask(&self) {
        *self.is_asked.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits for the deadline; returns whether a stop was asked for instead.
    fn wait_until(&self, deadline: MonoNs) -> bool {
        let mut is_asked = self.is_asked.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left_ns = deadline.since(clock::monotonic());
            if *is_asked || left_ns == 0 {
                return *is_asked;
            }
            let left = Duration::from_nanos(left_ns);
            is_asked = self.changed.wait_timeout(is_asked, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Sampling {
    /// Starts to sample; `sink` gets every line, in the sampler's thread.
    ///
    /// The first sample is taken at once. *Errors*: the plan cannot be carried out, or there is no thread to be had.
    pub fn start(
        plan: SamplerPlan,
        mut sink: impl FnMut(SeriesLine) + Send + 'static,
    ) -> Result<Sampling, ObserveError> {
        let period_ns = (1e9 / plan.hz).round() as u64;
        let mut sampler = Sampler::new(plan)?;
        let stop = Arc::new(Stop::default());
        let asked = Arc::clone(&stop);
        let run = move || {
            let mut lines = Vec::new();
            let mut ticks = Ticks::new(clock::monotonic(), period_ns);
            let mut samples = 0;
            while !asked.wait_until(ticks.deadline()) {
                sampler.sample(&mut lines);
                samples += 1;
                lines.drain(..).for_each(&mut sink);
                ticks.advance(clock::monotonic());
            }
            SamplingEnd { samples, missed_ticks: ticks.missed, cpu_ns: clock::thread_cpu_ns() }
        };
        let thread = std::thread::Builder::new().name("sysdyno-observe".into()).spawn(run);
        let thread = thread.map_err(|source| ObserveError::Thread { source })?;
        Ok(Sampling { stop, thread: Some(thread) })
    }

    /// Stops at once, without waiting for the next deadline.
    ///
    /// *Panics*: if the sink panicked.
    pub fn stop(mut self) -> SamplingEnd {
        self.stop.ask();
        let thread = self.thread.take().expect("is taken only here and when dropped");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        self.stop.ask();
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
    fn rows_come_in_order_and_stopping_does_not_wait() {
        let (sender, receiver) = mpsc::channel();
        let plan = SamplerPlan { hz: 0.0001, ..SamplerPlan::host() };
        let sampling =
            Sampling::start(plan, move |line| sender.send(line).expect("is received")).expect("starts");
        assert!(matches!(receiver.recv(), Ok(SeriesLine::Header { .. })));
        assert!(matches!(receiver.recv(), Ok(SeriesLine::Row(_))));
        // The next deadline is hours away: the test ends only because stopping does not wait for it.
        let end = sampling.stop();
        assert_eq!((end.samples, end.missed_ticks), (1, 0));
        assert!(end.cpu_ns > 0);
        assert!(receiver.recv().is_err());
    }
}
