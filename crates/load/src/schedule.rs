//! The schedule: the instants at which requests should be sent, fixed before the first one.
//!
//! A load of rate λ on T threads is the superposition of one process per thread, so that threads share nothing:
//!
//! - constant: arrival k of the phase is at `k / λ` after its begin and belongs to thread `k mod T`; together the
//!   threads make exactly one arrival per `1 / λ`;
//! - Poisson: each thread draws exponential gaps of mean `T / λ` from its own generator; the superposition of
//!   independent Poisson processes is a Poisson process of the summed rate;
//! - of a log: its arrivals in their order belong to the threads in turn.
//!
//! If the rate of a phase of length T changes linearly from f to g, its integral is `Λ(t) = f t + (g − f) t² / 2T`: arrival k
//! of a constant process is at the t at which `Λ(t) = k`, and a Poisson process is one of rate 1 on the scale of Λ (Çinlar,
//! Introduction to Stochastic Processes, 1975, chapter 4.7). With a = (g − f) / T, `t = 2k / (f + √(f² + 2 a k))`, which
//! loses no digits when a is small.
//!
//! Gaps come from xoshiro256++ seeded with the plan's seed and the thread's number. Instants are computed as offsets
//! from the trial's begin in double precision: 2^53 ns are 104 days, so that rounding stays below a nanosecond.

use crate::workload::log::kind_of;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;
use sysdyno_record::plan::{Arrival, PhaseEnd, PhasePlan};
use sysdyno_record::workload::{LoggedArrival, Slope};

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
    /// Offset of the last arrival within the phase (Poisson). Unit: nanoseconds; in a phase whose rate changes, arrivals
    /// that are expected until then.
    position: f64,
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
    /// Rates at its begin and its end; `None`: the same all the time.
    ends_hz: Option<[f64; 2]>,
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
            let rate_hz = phase.rate_hz.unwrap_or(0.0);
            let window = Window { begin_ns, length_ns, rate_hz, ends_hz: None, quota };
            begin_ns = begin_ns.saturating_add(length_ns);
            window
        });
        Schedule {
            arrival,
            share,
            phases: windows.collect(),
            phase: 0,
            count: 0,
            position: 0.0,
            random: Xoshiro256PlusPlus::seed_from_u64(seed ^ (u64::from(share.thread) << 32)),
            trace: Arc::default(),
        }
    }

    /// The same at the instants of a log, which the first phase holds.
    pub fn with_trace(self, trace: &Arc<[LoggedArrival]>) -> Schedule {
        Schedule { trace: Arc::clone(trace), ..self }
    }

    /// The same with phases whose rate changes.
    pub fn with_slopes(mut self, slopes: &[Slope]) -> Schedule {
        for slope in slopes {
            if let Some(window) = self.phases.get_mut(slope.phase as usize) {
                window.ends_hz = Some([slope.begin_hz, slope.end_hz]);
            }
        }
        self
    }

    /// Whether the rate of a phase changes while it lasts.
    pub fn is_sloped(&self, phase: u32) -> bool {
        self.phases.get(phase as usize).is_some_and(|window| window.ends_hz.is_some())
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
        let index = self.count as f64 * threads + f64::from(self.share.thread);
        let within_ns = match (self.arrival, window.ends_hz) {
            (Arrival::Closed | Arrival::Trace | Arrival::Sessions, _) => return None,
            (Arrival::Constant, None) => index * 1e9 / window.rate_hz,
            (Arrival::Constant, Some(ends_hz)) => window.reach_ns(ends_hz, index)?,
            (Arrival::Poisson, None) => {
                self.position += self.exponential() * 1e9 * threads / window.rate_hz;
                self.position
            }
            (Arrival::Poisson, Some(ends_hz)) => {
                self.position += self.exponential() * threads;
                window.reach_ns(ends_hz, self.position)?
            }
        };
        self.count += 1;
        let within_ns = within_ns.round() as u64;
        (within_ns < window.length_ns).then(|| window.begin_ns + within_ns)
    }

    /// A number from the exponential distribution of mean 1.
    fn exponential(&mut self) -> f64 {
        // 1 − u lies in (0, 1], so that the logarithm is finite.
        let uniform: f64 = self.random.random();
        -(1.0 - uniform).ln()
    }
}

impl Window {
    /// When so many arrivals are expected, after the begin of the phase; `None`: never. Unit: nanoseconds.
    fn reach_ns(&self, [begin_hz, end_hz]: [f64; 2], arrivals: f64) -> Option<f64> {
        let change = (end_hz - begin_hz) / (self.length_ns as f64 / 1e9);
        let root = (begin_hz * begin_hz + 2.0 * change * arrivals).sqrt();
        let reached_ns = if arrivals == 0.0 { 0.0 } else { 2e9 * arrivals / (begin_hz + root) };
        // Neither where a falling rate has come to nothing, nor where there is none at all.
        reached_ns.is_finite().then_some(reached_ns)
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
            self.position = 0.0;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::plan::PhaseKind;
    use sysdyno_record::units::SpanNs;
    use sysdyno_stats::goodness::{CRITICAL_KNOWN_1_PERCENT, anderson_darling_uniform, gamma_share};

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
    fn a_rate_that_changes_evenly_has_the_integral_that_it_should() {
        let phases = [phase(2_550.0, PhaseEnd::After(SpanNs::from_secs(60))); 2];
        let slopes = [
            Slope { phase: 0, begin_hz: 100.0, end_hz: 5_000.0 },
            Slope { phase: 1, begin_hz: 5_000.0, end_hz: 100.0 },
        ];
        let all = |arrival: Arrival, threads: u32| {
            let share = |thread| Schedule::new(arrival, &phases, Share { thread, threads }, 7);
            let dues = (0..threads).flat_map(|thread| share(thread).with_slopes(&slopes));
            let mut all: Vec<u64> = dues.map(|due| due.offset_ns).collect();
            all.sort_unstable();
            all
        };
        let expected = |second: f64| match second {
            ..=60.0 => 100.0 * second + 4_900.0 * second * second / 120.0,
            _ => 306_000.0 - (100.0 * (120.0 - second) + 4_900.0 * (120.0 - second).powi(2) / 120.0),
        };
        let constant = all(Arrival::Constant, 1);
        assert_eq!(constant.len(), 306_000);
        assert_eq!(constant, all(Arrival::Constant, 3));
        // Arrival k comes when k are expected, within a nanosecond's worth of arrivals.
        for (k, at) in (0u32..153_000).zip(&constant) {
            assert!((expected(*at as f64 / 1e9) - f64::from(k)).abs() < 1e-5, "{k}: {at}");
        }
        let poisson = all(Arrival::Poisson, 2);
        for second in [1.0, 10.0, 30.0, 59.0, 61.0, 90.0, 119.0] {
            let count = poisson.partition_point(|at| (*at as f64) < second * 1e9) as f64;
            // Five standard deviations.
            let mean: f64 = expected(second);
            assert!((count - mean).abs() < 5.0 * mean.sqrt(), "{second} s: {count} for {mean}");
        }
    }

    #[test]
    fn a_rate_may_begin_and_end_with_nothing() {
        let phases = [phase(50.0, PhaseEnd::After(SpanNs::from_secs(10))); 2];
        let slopes = [
            Slope { phase: 0, begin_hz: 0.0, end_hz: 100.0 },
            Slope { phase: 1, begin_hz: 100.0, end_hz: 0.0 },
        ];
        for arrival in [Arrival::Constant, Arrival::Poisson] {
            let share = Share { thread: 0, threads: 1 };
            let all: Vec<Due> = Schedule::new(arrival, &phases, share, 7).with_slopes(&slopes).collect();
            let first = all.iter().filter(|due| due.phase == 0).count();
            let counts = [first, all.len() - first];
            // 500 each, exactly or with a standard deviation of 22.
            let room = if arrival == Arrival::Constant { 0 } else { 110 };
            assert!(counts.iter().all(|count| count.abs_diff(500) <= room), "{arrival:?}: {counts:?}");
            assert!(all.is_sorted_by_key(|due| due.offset_ns), "{arrival:?}");
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
        let shares: Option<Vec<f64>> = gaps.iter().map(|gap| gamma_share(*gap, 1, 100_000.0)).collect();
        let statistic = anderson_darling_uniform(&shares.expect("gaps are positive")).expect("enough gaps");
        assert!(statistic < CRITICAL_KNOWN_1_PERCENT, "A² = {statistic}");
    }
}
