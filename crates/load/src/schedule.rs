//! The schedule: at which instants requests are meant to be sent, decided before any is.
//!
//! A load of rate λ on T threads is the superposition of one process per thread, so that threads share nothing:
//!
//! - constant: arrival k of the phase is at `k / λ` after its begin and belongs to thread `k mod T`; together the
//!   threads make exactly one arrival per `1 / λ`;
//! - Poisson: each thread draws exponential gaps of mean `T / λ` from its own generator; the superposition of
//!   independent Poisson processes is a Poisson process of the summed rate;
//! - of a log: its arrivals in their order belong to the threads in turn.
//!
//! Gaps come from xoshiro256++ seeded with the plan's seed and the thread's number. Instants are computed as offsets
//! from the trial's begin in double precision: 2^53 ns are 104 days, so that rounding stays below a nanosecond.

use crate::workload::log::kind_of;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;
use sysdyno_record::plan::{Arrival, PhaseEnd, PhasePlan};
use sysdyno_record::workload::LoggedArrival;

/// An arrival of an open process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Intended send, after the trial's begin. Unit: nanoseconds.
    pub offset_ns: u64,
    /// Position of the phase in the plan.
    pub phase: u32,
    /// The kind of request, where the process says it; `None`: it is drawn.
    pub kind: Option<u32>,
}

/// One thread's share of an open arrival process, over all phases of a plan.
#[derive(Clone, Debug)]
pub struct Schedule {
    arrival: Arrival,
    share: Share,
    phases: Vec<Window>,
    phase: usize,
    /// Arrivals of the current phase that this thread has had.
    count: u64,
    /// Offset of the last arrival within the phase (Poisson). Unit: nanoseconds.
    position_ns: f64,
    random: Xoshiro256PlusPlus,
    /// The arrivals of a log, of which this thread has every n-th.
    trace: Arc<[LoggedArrival]>,
}

/// Which share of a load a thread has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Number of the thread, from 0.
    pub thread: u32,
    /// Number of threads.
    pub threads: u32,
}

impl Share {
    /// This thread's part of a total that is split as evenly as it can be.
    pub fn of(self, total: u64) -> u64 {
        let (threads, thread) = (u64::from(self.threads), u64::from(self.thread));
        total / threads + u64::from(thread < total % threads)
    }

    /// What the threads before this one have of it together.
    pub fn before(self, total: u64) -> u64 {
        let (threads, thread) = (u64::from(self.threads), u64::from(self.thread));
        total / threads * thread + thread.min(total % threads)
    }
}

#[derive(Clone, Copy, Debug)]
struct Window {
    begin_ns: u64,
    /// Length; `u64::MAX` if only the number of requests ends it.
    length_ns: u64,
    rate_hz: f64,
    /// This thread's arrivals in the phase; `u64::MAX` if only time ends it.
    quota: u64,
}

impl Schedule {
    /// The share of `share.thread` in the open process of `phases`.
    ///
    /// Phases follow each other without a gap; a phase that ends by its number of requests must be the last.
    pub fn new(arrival: Arrival, phases: &[PhasePlan], share: Share, seed: u64) -> Schedule {
        let mut begin_ns = 0u64;
        let windows = phases.iter().map(|phase| {
            let (length_ns, quota) = match phase.end {
                PhaseEnd::After(span) => (span.0, u64::MAX),
                PhaseEnd::Requests(count) => (u64::MAX, share.of(count)),
            };
            let window = Window { begin_ns, length_ns, rate_hz: phase.rate_hz.unwrap_or(0.0), quota };
            begin_ns = begin_ns.saturating_add(length_ns);
            window
        });
        Schedule {
            arrival,
            share,
            phases: windows.collect(),
            phase: 0,
            count: 0,
            position_ns: 0.0,
            random: Xoshiro256PlusPlus::seed_from_u64(seed ^ (u64::from(share.thread) << 32)),
            trace: Arc::default(),
        }
    }

    /// The same at the instants of a log, which the first phase holds.
    pub fn with_trace(self, trace: &Arc<[LoggedArrival]>) -> Schedule {
        Schedule { trace: Arc::clone(trace), ..self }
    }

    /// The next arrival of the log within the first phase.
    fn next_of_trace(&mut self) -> Option<Due> {
        let window = *self.phases.first()?;
        let index = self.count * u64::from(self.share.threads) + u64::from(self.share.thread);
        let arrival = self.trace.get(index as usize)?;
        self.count += 1;
        let is_within = arrival.offset_ns < window.length_ns;
        is_within.then(|| Due { offset_ns: arrival.offset_ns, phase: 0, kind: Some(kind_of(arrival)) })
    }

    fn next_in_phase(&mut self, window: Window) -> Option<u64> {
        if self.count >= window.quota || window.rate_hz <= 0.0 {
            return None;
        }
        let threads = f64::from(self.share.threads);
        let within_ns = match self.arrival {
            Arrival::Closed | Arrival::Trace | Arrival::Sessions => return None,
            Arrival::Constant => {
                let index = self.count as f64 * threads + f64::from(self.share.thread);
                index * 1e9 / window.rate_hz
            }
            Arrival::Poisson => {
                // 1 − u lies in (0, 1], so that the logarithm is finite.
                let uniform: f64 = self.random.random();
                self.position_ns += -(1.0 - uniform).ln() * 1e9 * threads / window.rate_hz;
                self.position_ns
            }
        };
        self.count += 1;
        let within_ns = within_ns.round() as u64;
        (within_ns < window.length_ns).then(|| window.begin_ns + within_ns)
    }
}

impl Iterator for Schedule {
    type Item = Due;

    fn next(&mut self) -> Option<Due> {
        if self.arrival == Arrival::Trace {
            return self.next_of_trace();
        }
        while let Some(window) = self.phases.get(self.phase).copied() {
            if let Some(offset_ns) = self.next_in_phase(window) {
                return Some(Due { offset_ns, phase: self.phase as u32, kind: None });
            }
            self.phase += 1;
            self.count = 0;
            self.position_ns = 0.0;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::plan::PhaseKind;
    use sysdyno_record::units::SpanNs;

    fn phase(rate_hz: f64, end: PhaseEnd) -> PhasePlan {
        PhasePlan { kind: PhaseKind::Steady, rate_hz: Some(rate_hz), end }
    }

    fn merged(arrival: Arrival, phases: &[PhasePlan], threads: u32) -> Vec<u64> {
        let mut all: Vec<u64> = (0..threads)
            .flat_map(|thread| Schedule::new(arrival, phases, Share { thread, threads }, 7))
            .map(|due| due.offset_ns)
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn constant_arrivals_are_exact_to_the_nanosecond_on_any_number_of_threads() {
        let phases = [phase(3000.0, PhaseEnd::After(SpanNs::from_secs(2)))];
        let expected: Vec<u64> = (0..6000).map(|k| (f64::from(k) * 1e9 / 3000.0).round() as u64).collect();
        for threads in [1, 2, 3, 7] {
            assert_eq!(merged(Arrival::Constant, &phases, threads), expected, "{threads} threads");
        }
    }

    #[test]
    fn phases_follow_each_other_at_their_own_rates() {
        let second = PhaseEnd::After(SpanNs::from_secs(1));
        let all = merged(Arrival::Constant, &[phase(10.0, second), phase(1000.0, second)], 2);
        assert_eq!(all.len(), 1010);
        assert_eq!(all[10], 1_000_000_000);
        assert_eq!(all[11], 1_001_000_000);
    }

    #[test]
    fn a_number_of_requests_is_split_exactly() {
        for threads in [1, 2, 3] {
            let all = merged(Arrival::Poisson, &[phase(500.0, PhaseEnd::Requests(1000))], threads);
            assert_eq!(all.len(), 1000, "{threads} threads");
        }
    }

    #[test]
    fn poisson_arrivals_have_their_rate_and_repeat_with_the_seed() {
        let phases = [phase(10_000.0, PhaseEnd::After(SpanNs::from_secs(10)))];
        let all = merged(Arrival::Poisson, &phases, 3);
        // 100,000 expected, standard deviation 316.
        assert!((98_700..101_300).contains(&all.len()), "{}", all.len());
        assert_eq!(all, merged(Arrival::Poisson, &phases, 3));
        let gaps: Vec<f64> = all.windows(2).step_by(100).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let fit = sysdyno_stats::goodness::anderson_darling_exponential(&gaps).expect("enough gaps");
        assert!(fit.a_squared_star < 1.959, "A²* = {}", fit.a_squared_star);
    }
}
