//! What one thread counts: one tally per phase and window, handed over whole when the window ends.
//!
//! A request is counted in the phase of its intended send, in the window in which its outcome became known.

use sysdyno_record::load::{Counts, FailureClass, Failures, LatencyKind, LatencySet};
use sysdyno_record::units::MonoNs;
use sysdyno_stats::censored::LowerBounds;

/// Status codes are counted from 100 to 599.
const STATUSES_COUNT: usize = 500;

/// Counts and histograms of one phase in one window.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    pub counts: Counts,
    pub failures: [u64; FailureClass::COUNT],
    pub statuses: [u32; STATUSES_COUNT],
    pub latency: LatencySet,
    pub received_bytes: u64,
    pub connections_opened: u64,
    pub connections_closed_idle: u64,
    pub response_bounds: LowerBounds,
    pub service_bounds: LowerBounds,
    /// How long complete responses lay unread, together.
    pub unread_ns: u64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally {
            counts: Counts::default(),
            failures: [0; FailureClass::COUNT],
            statuses: [0; STATUSES_COUNT],
            latency: LatencySet::default(),
            received_bytes: 0,
            connections_opened: 0,
            connections_closed_idle: 0,
            response_bounds: LowerBounds::NONE,
            service_bounds: LowerBounds::NONE,
            unread_ns: 0,
        }
    }
}

/// What is recorded of every request in a closed process, and in an open one.
const CLOSED_KINDS: &[LatencyKind] = &[LatencyKind::Service, LatencyKind::FirstByte, LatencyKind::Connect];
const OPEN_KINDS: &[LatencyKind] = &[
    LatencyKind::Response,
    LatencyKind::Service,
    LatencyKind::FirstByte,
    LatencyKind::Connect,
    LatencyKind::LoopSlip,
    LatencyKind::PoolSlip,
    LatencyKind::Slip,
];

impl Tally {
    #[inline]
    pub(super) fn record(&mut self, kind: LatencyKind, value_ns: u64) {
        self.latency.get_mut(kind).record(value_ns);
    }

    /// Records a response time that is known only to be at least this.
    pub(super) fn record_response_bound(&mut self, value_ns: u64) {
        self.record(LatencyKind::Response, value_ns);
        self.response_bounds.add(LowerBounds::of(value_ns));
    }

    /// Records a service time that is known only to be at least this.
    pub(super) fn record_service_bound(&mut self, value_ns: u64) {
        self.record(LatencyKind::Service, value_ns);
        self.service_bounds.add(LowerBounds::of(value_ns));
    }

    pub(super) fn count_status(&mut self, status: u16) {
        if let Some(count) = self.statuses.get_mut(usize::from(status).wrapping_sub(100)) {
            *count += 1;
        }
    }

    /// Forgets everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.latency.clear();
        let latency = std::mem::take(&mut self.latency);
        *self = Tally { latency, ..Tally::default() };
    }

    pub(super) fn merge(&mut self, other: &Tally) {
        self.counts.add(&other.counts);
        self.failures.iter_mut().zip(&other.failures).for_each(|(mine, theirs)| *mine += theirs);
        self.statuses.iter_mut().zip(&other.statuses).for_each(|(mine, theirs)| *mine += theirs);
        self.latency.merge(&other.latency);
        self.received_bytes += other.received_bytes;
        self.connections_opened += other.connections_opened;
        self.connections_closed_idle += other.connections_closed_idle;
        self.response_bounds.add(other.response_bounds);
        self.service_bounds.add(other.service_bounds);
        self.unread_ns += other.unread_ns;
    }

    /// The failures that occurred, by class.
    pub(super) fn failures(&self) -> Failures {
        let counted = FailureClass::ALL.iter().copied().zip(self.failures);
        counted.filter(|(_, count)| *count > 0).collect()
    }

    /// The status codes that occurred.
    pub(super) fn statuses(&self) -> std::collections::BTreeMap<u16, u64> {
        let counted = (100..).zip(self.statuses.iter().map(|count| u64::from(*count)));
        counted.filter(|(_, count)| *count > 0).collect()
    }
}

/// The tallies of all phases of one thread in the current window.
#[derive(Debug)]
pub(super) struct Tallies {
    by_phase: Vec<Option<Box<Tally>>>,
    /// Made ready outside of the hot path.
    #[expect(clippy::vec_box, reason = "tallies travel as boxes; unboxing would copy two megabytes")]
    spare: Vec<Box<Tally>>,
}

impl Tallies {
    pub(super) fn new(phases: usize, is_open: bool) -> Tallies {
        let kinds = if is_open { OPEN_KINDS } else { CLOSED_KINDS };
        let ready = || Box::new(Tally { latency: LatencySet::with_memory(kinds), ..Tally::default() });
        Tallies { by_phase: (0..phases).map(|_| None).collect(), spare: (0..2).map(|_| ready()).collect() }
    }

    /// The tally of a phase.
    #[inline]
    pub(super) fn of(&mut self, phase: u32) -> &mut Tally {
        let spare = &mut self.spare;
        self.by_phase[phase as usize].get_or_insert_with(|| spare.pop().unwrap_or_default())
    }

    /// Hands over all tallies that something was counted in, and takes up spares.
    pub(super) fn take(&mut self) -> Vec<PhaseTally> {
        let taken = self.by_phase.iter_mut().enumerate();
        let taken = taken
            .filter_map(|(phase, tally)| tally.take().map(|tally| PhaseTally { phase: phase as u32, tally }));
        taken.collect()
    }

    /// Adds an empty tally for a later window.
    pub(super) fn add_spare(&mut self, tally: Box<Tally>) {
        self.spare.push(tally);
    }
}

/// A tally with the phase that it is of.
#[derive(Debug)]
pub(super) struct PhaseTally {
    pub phase: u32,
    pub tally: Box<Tally>,
}

/// What a thread hands over when a window ends.
#[derive(Debug)]
pub(super) struct Window {
    /// Number of the window in the trial; the same for all threads.
    pub index: u32,
    pub begin: MonoNs,
    pub end: MonoNs,
    /// Phase that the window lies in.
    pub phase: u32,
    pub tallies: Vec<PhaseTally>,
    pub in_flight: u64,
    /// CPU time of the thread.
    pub cpu_ns: u64,
    /// Of that, the part that was spent spinning.
    pub spun_ns: u64,
}
