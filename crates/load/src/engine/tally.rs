//! A thread's counts: one tally per phase and window, handed over whole when the window ends.
//!
//! A request is counted in the phase of its intended send, in the window in which its outcome became known.

use super::answers::Answers;
use sysdyno_record::load::{Counts, FailureClass, FailureClauses, Failures, LatencyKind, LatencySet};
use sysdyno_record::units::MonoNs;
use sysdyno_record::wire::{CacheCounts, HandshakeCounts};
use sysdyno_stats::censored::LowerBounds;
use sysdyno_stats::histogram::LatencyHistogram;

/// Status codes are counted from 100 to 599.
const STATUSES_COUNT: usize = 500;

/// What a client has is still good (RFC 9110, section 15.4.5).
const NOT_MODIFIED: u16 = 304;

/// Counts and histograms of one phase in one window.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    pub counts: Counts,
    /// Responses that were complete, valid or not, or at least had a status.
    pub completed: u64,
    pub cache: CacheCounts,
    pub handshakes: HandshakeCounts,
    pub failures: [u64; FailureClass::COUNT],
    /// What the server said with the first of them.
    pub told: FailureClauses,
    /// What it answered where the response was wrong.
    pub answers: Answers,
    pub statuses: [u32; STATUSES_COUNT],
    pub latency: LatencySet,
    pub received_bytes: u64,
    pub connections_opened: u64,
    pub connections_closed_idle: u64,
    pub response_bounds: LowerBounds,
    pub service_bounds: LowerBounds,
    /// How long complete responses lay unread, together.
    pub unread_ns: u64,
    /// The same by operation; empty where there is one request only.
    pub operations: Vec<OperationTally>,
    /// What users did, by operation; empty without users.
    pub session: Vec<SessionTally>,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally {
            counts: Counts::default(),
            completed: 0,
            cache: CacheCounts::default(),
            handshakes: HandshakeCounts::default(),
            failures: [0; FailureClass::COUNT],
            told: FailureClauses::default(),
            answers: Answers::default(),
            statuses: [0; STATUSES_COUNT],
            latency: LatencySet::default(),
            received_bytes: 0,
            connections_opened: 0,
            connections_closed_idle: 0,
            response_bounds: LowerBounds::NONE,
            service_bounds: LowerBounds::NONE,
            unread_ns: 0,
            operations: Vec::new(),
            session: Vec::new(),
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

    /// Sets how many responses had a status; `None`: there is no such status.
    pub(super) fn set_status(&mut self, status: u16, count: u32) -> Option<()> {
        *self.statuses.get_mut(usize::from(status).checked_sub(100)?)? = count;
        Some(())
    }

    /// Forgets everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.latency.clear();
        self.operations.iter_mut().for_each(OperationTally::clear);
        let latency = std::mem::take(&mut self.latency);
        let operations = std::mem::take(&mut self.operations);
        self.session.iter_mut().for_each(SessionTally::clear);
        let session = std::mem::take(&mut self.session);
        *self = Tally { latency, operations, session, ..Tally::default() };
    }

    pub(super) fn merge(&mut self, other: &Tally) {
        self.counts.add(&other.counts);
        self.completed += other.completed;
        self.cache.add(&other.cache);
        self.handshakes.add(&other.handshakes);
        self.failures.iter_mut().zip(&other.failures).for_each(|(mine, theirs)| *mine += theirs);
        self.told.merge(&other.told);
        self.answers.merge(&other.answers);
        let statuses = self.statuses.iter_mut().zip(&other.statuses);
        statuses.for_each(|(mine, theirs)| *mine = mine.saturating_add(*theirs));
        self.latency.merge(&other.latency);
        self.received_bytes += other.received_bytes;
        self.connections_opened += other.connections_opened;
        self.connections_closed_idle += other.connections_closed_idle;
        self.response_bounds.add(other.response_bounds);
        self.service_bounds.add(other.service_bounds);
        self.unread_ns += other.unread_ns;
        self.operations.resize_with(self.operations.len().max(other.operations.len()), Default::default);
        let pairs = self.operations.iter_mut().zip(&other.operations);
        pairs.for_each(|(mine, theirs)| mine.merge(theirs));
        self.session.resize_with(self.session.len().max(other.session.len()), Default::default);
        self.session.iter_mut().zip(&other.session).for_each(|(mine, theirs)| mine.merge(theirs));
    }

    /// The tally of an operation.
    #[inline]
    pub(super) fn operation(&mut self, operation: usize) -> &mut OperationTally {
        &mut self.operations[operation]
    }

    /// The tally of an operation of the users.
    pub(super) fn session(&mut self, operation: u16) -> &mut SessionTally {
        let operation = usize::from(operation);
        if self.session.len() <= operation {
            self.session.resize_with(operation + 1, Default::default);
        }
        &mut self.session[operation]
    }

    /// The failures that occurred, by class.
    pub(super) fn failures(&self) -> Failures {
        occurred(&self.failures)
    }

    /// The status codes that occurred.
    pub(super) fn statuses(&self) -> std::collections::BTreeMap<u16, u64> {
        let counted = (100..).zip(self.statuses.iter().map(|count| u64::from(*count)));
        counted.filter(|(_, count)| *count > 0).collect()
    }
}

fn occurred(failures: &[u64; FailureClass::COUNT]) -> Failures {
    let counted = FailureClass::ALL.iter().copied().zip(*failures);
    counted.filter(|(_, count)| *count > 0).collect()
}

/// Counts and latency of one operation in one phase and window.
#[derive(Clone, Debug)]
pub(super) struct OperationTally {
    pub counts: Counts,
    failures: [u64; FailureClass::COUNT],
    pub received_bytes: u64,
    /// Responses that said that what the client has is still good.
    pub not_modified: u64,
    /// Response time in an open load, service time in a closed one; without memory until there is a value.
    latency: Option<Box<LatencyHistogram>>,
    pub bounds: LowerBounds,
}

impl Default for OperationTally {
    fn default() -> OperationTally {
        OperationTally {
            counts: Counts::default(),
            failures: [0; FailureClass::COUNT],
            received_bytes: 0,
            not_modified: 0,
            latency: None,
            bounds: LowerBounds::NONE,
        }
    }
}

impl OperationTally {
    #[inline]
    pub(super) fn record_ok(&mut self, felt_ns: u64, status: u16) {
        self.counts.ok += 1;
        self.not_modified += u64::from(status == NOT_MODIFIED);
        self.latency.get_or_insert_default().record(felt_ns);
    }

    /// Records a latency that is known only to be at least this.
    pub(super) fn record_bound(&mut self, felt_ns: u64) {
        self.latency.get_or_insert_default().record(felt_ns);
        self.bounds.add(LowerBounds::of(felt_ns));
    }

    pub(super) fn count_failure(&mut self, class: FailureClass) {
        self.counts.failed += 1;
        self.failures[class as usize] += 1;
    }

    /// Requests whose latency is not known.
    pub(super) fn of(counts: Counts) -> OperationTally {
        OperationTally { counts, ..OperationTally::default() }
    }

    /// With failures and latencies that were counted elsewhere.
    pub(super) fn with(
        self,
        failures: [u64; FailureClass::COUNT],
        latency: Option<LatencyHistogram>,
    ) -> OperationTally {
        OperationTally { failures, latency: latency.map(Box::new), ..self }
    }

    pub(super) fn failures(&self) -> Failures {
        occurred(&self.failures)
    }

    pub(super) fn latency(&self) -> Option<&LatencyHistogram> {
        self.latency.as_deref().filter(|latency| !latency.is_empty())
    }

    fn clear(&mut self) {
        let latency = emptied(self.latency.take());
        *self = OperationTally { latency, ..OperationTally::default() };
    }

    fn merge(&mut self, other: &OperationTally) {
        self.counts.add(&other.counts);
        self.failures.iter_mut().zip(&other.failures).for_each(|(mine, theirs)| *mine += theirs);
        self.received_bytes += other.received_bytes;
        self.not_modified += other.not_modified;
        self.bounds.add(other.bounds);
        if let Some(latency) = other.latency() {
            self.latency.get_or_insert_default().merge(latency);
        }
    }
}

/// The same memory with nothing in it.
fn emptied(latency: Option<Box<LatencyHistogram>>) -> Option<Box<LatencyHistogram>> {
    latency.map(|mut latency| {
        if !latency.is_empty() {
            latency.clear();
        }
        latency
    })
}

/// What users did of one operation in one phase and window.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionTally {
    pub started: u64,
    pub completed: u64,
    pub failed: u64,
    pub unfinished: u64,
    latency: Option<Box<LatencyHistogram>>,
    pub bounds: LowerBounds,
    pub cycles: u64,
    /// Sums. Unit: nanoseconds; of a million users for a month they fit.
    pub cycle_planned_ns: u64,
    pub cycle_actual_ns: u64,
}

impl SessionTally {
    pub(super) fn record_completed(&mut self, value_ns: u64) {
        self.completed += 1;
        self.latency.get_or_insert_default().record(value_ns);
    }

    pub(super) fn record_unfinished(&mut self, value_ns: u64) {
        self.unfinished += 1;
        self.latency.get_or_insert_default().record(value_ns);
        self.bounds.add(LowerBounds::of(value_ns));
    }

    pub(super) fn record_cycle(&mut self, planned_ns: u64, actual_ns: u64) {
        self.cycles += 1;
        self.cycle_planned_ns += planned_ns;
        self.cycle_actual_ns += actual_ns;
    }

    pub(super) fn latency(&self) -> Option<&LatencyHistogram> {
        self.latency.as_deref().filter(|latency| !latency.is_empty())
    }

    /// Whether no operation vanished.
    pub(super) fn is_balanced(&self) -> bool {
        self.started == self.completed + self.failed + self.unfinished
    }

    fn clear(&mut self) {
        let latency = emptied(self.latency.take());
        *self = SessionTally { latency, ..SessionTally::default() };
    }

    fn merge(&mut self, other: &SessionTally) {
        self.started += other.started;
        self.completed += other.completed;
        self.failed += other.failed;
        self.unfinished += other.unfinished;
        self.bounds.add(other.bounds);
        self.cycles += other.cycles;
        self.cycle_planned_ns += other.cycle_planned_ns;
        self.cycle_actual_ns += other.cycle_actual_ns;
        if let Some(latency) = other.latency() {
            self.latency.get_or_insert_default().merge(latency);
        }
    }
}

/// Windows that wait to be used: the next one, and that of the phase before, which still completes.
const SPARES_MAX: usize = 2;

/// The tallies of all phases of one thread in the current window.
#[derive(Debug)]
pub(super) struct Tallies {
    by_phase: Vec<Option<Box<Tally>>>,
    /// Made ready outside of the hot path.
    #[expect(clippy::vec_box, reason = "tallies travel as boxes; unboxing would copy two megabytes")]
    spare: Vec<Box<Tally>>,
    operations_count: usize,
}

impl Tallies {
    pub(super) fn new(phases: usize, is_open: bool, operations_count: usize) -> Tallies {
        let kinds = if is_open { OPEN_KINDS } else { CLOSED_KINDS };
        let ready = || {
            let mut tally = empty(operations_count);
            tally.latency = LatencySet::with_memory(kinds);
            tally
        };
        let spare = (0..SPARES_MAX).map(|_| ready()).collect();
        Tallies { by_phase: (0..phases).map(|_| None).collect(), spare, operations_count }
    }

    /// The tally of a phase.
    #[inline]
    pub(super) fn of(&mut self, phase: u32) -> &mut Tally {
        let Tallies { by_phase, spare, operations_count } = self;
        by_phase[phase as usize]
            .get_or_insert_with(|| spare.pop().unwrap_or_else(|| empty(*operations_count)))
    }

    /// Hands over all tallies that something was counted in, and takes up spares.
    pub(super) fn take(&mut self) -> Vec<PhaseTally> {
        let taken = self.by_phase.iter_mut().enumerate();
        let taken = taken
            .filter_map(|(phase, tally)| tally.take().map(|tally| PhaseTally { phase: phase as u32, tally }));
        taken.collect()
    }

    /// Adds an empty tally for a later window. After a pause of the merging thread there are more than are needed again.
    pub(super) fn add_spare(&mut self, tally: Box<Tally>) {
        if self.spare.len() < SPARES_MAX {
            self.spare.push(tally);
        }
    }
}

fn empty(operations_count: usize) -> Box<Tally> {
    let operations = vec![OperationTally::default(); operations_count];
    Box::new(Tally { operations, ..Tally::default() })
}

/// A tally with the phase that it is of.
#[derive(Debug)]
pub(super) struct PhaseTally {
    pub phase: u32,
    pub tally: Box<Tally>,
}

/// What a thread hands over when a window ends.
#[derive(Debug)]
pub(super) struct ThreadWindow {
    /// Number of the window in the trial; the same for all threads.
    pub index: u32,
    pub begin: MonoNs,
    pub end: MonoNs,
    /// Phase of the window.
    pub phase: u32,
    pub tallies: Vec<PhaseTally>,
    pub in_flight: u64,
    /// Users in a session; `None`: the load has no users.
    pub users: Option<u64>,
    /// CPU time of the thread.
    pub cpu_ns: u64,
    /// Of that, the part that was spent spinning.
    pub spun_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_a_pause_left_over_are_given_back() {
        let mut tallies = Tallies::new(1, true, 0);
        (0..20).for_each(|_| tallies.add_spare(empty(0)));
        assert_eq!(tallies.spare.len(), SPARES_MAX);
    }
}
