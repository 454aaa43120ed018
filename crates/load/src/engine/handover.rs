//! Windows sent from one host to another: how they are encoded, and how they are checked.
//!
//! Input from another host is hostile: a window that could not have been measured is refused before it is merged, so that
//! no assertion of the merge depends on another host's honesty.

use super::job::Job;
use super::tally::{OperationTally, PhaseTally, Tally, ThreadWindow};
use sysdyno_record::load::{Counts, FailureClass, Failures, LatencyKind};
use sysdyno_record::spread::{PartOperation, PartTally, PartWindow};
use sysdyno_record::units::MonoNs;
use sysdyno_stats::censored::LowerBounds;
use sysdyno_stats::histogram::{LatencyHistogram, MAX_VALUE_NS};

/// Greatest number of anything in one window; sums of windows stay far below 2^64.
const MAX_COUNT: u64 = 1 << 40;

/// Longest that all responses of a window lay unread together: a million of them for the whole of an hour. Unit: nanoseconds.
const MAX_UNREAD_NS: u64 = 1 << 56;

/// Values of one kind that a histogram tells apart, at most.
const MAX_STEPS: usize = 100_000;

/// Longest window. Unit: nanoseconds.
const MAX_WINDOW_NS: u64 = 3_600_000_000_000;

/// A window as sent to another host.
pub(super) fn told(thread: u32, window: &ThreadWindow) -> PartWindow {
    PartWindow {
        thread,
        index: window.index,
        begin_mono_ns: window.begin,
        end_mono_ns: window.end,
        phase: window.phase,
        tallies: window.tallies.iter().map(|item| told_tally(item.phase, &item.tally)).collect(),
        in_flight: window.in_flight,
        users: window.users,
        cpu_ns: window.cpu_ns,
        spun_ns: window.spun_ns,
    }
}

fn told_tally(phase: u32, tally: &Tally) -> PartTally {
    let kinds = LatencyKind::ALL.into_iter().filter(|kind| !tally.latency.get(*kind).is_empty());
    PartTally {
        phase,
        counts: tally.counts,
        completed: tally.completed,
        failures: tally.failures(),
        told: tally.told.clone(),
        answers: tally.answers.texts().clone(),
        statuses: tally.statuses(),
        received_bytes: tally.received_bytes,
        connections_opened: tally.connections_opened,
        connections_closed_idle: tally.connections_closed_idle,
        unread_ns: tally.unread_ns,
        cache: tally.cache,
        handshakes: tally.handshakes,
        latency: kinds.map(|kind| (kind, steps(tally.latency.get(kind)))).collect(),
        response_bounds: told_bounds(tally.response_bounds),
        service_bounds: told_bounds(tally.service_bounds),
        operations: tally.operations.iter().map(told_operation).collect(),
    }
}

fn told_operation(tally: &OperationTally) -> PartOperation {
    PartOperation {
        counts: tally.counts,
        failures: tally.failures(),
        received_bytes: tally.received_bytes,
        not_modified: tally.not_modified,
        latency: tally.latency().map_or_else(Vec::new, steps),
        bounds: told_bounds(tally.bounds),
    }
}

fn told_bounds(bounds: LowerBounds) -> Option<[u64; 2]> {
    (bounds.count > 0).then_some([bounds.count, bounds.min_ns])
}

fn steps(histogram: &LatencyHistogram) -> Vec<[u64; 2]> {
    let recorded = histogram.as_hdr().iter_recorded();
    recorded.map(|step| [step.value_iterated_to().min(MAX_VALUE_NS), step.count_at_value()]).collect()
}

/// What one thread of another host has said so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard {
    windows_count: u32,
    end: MonoNs,
    /// Sums by phase.
    counts: Vec<Counts>,
    /// The same of each operation of a mix.
    operations: Vec<Vec<Counts>>,
}

impl Heard {
    /// A window that may be merged, now being `latest` at most; the error is a sentence about the host.
    pub(super) fn window(
        &mut self,
        window: PartWindow,
        job: &Job<'_>,
        latest: MonoNs,
    ) -> Result<ThreadWindow, &'static str> {
        if window.index != self.windows_count {
            return Err("it skipped a window");
        }
        let is_in_time = window.begin_mono_ns >= self.end
            && window.end_mono_ns >= window.begin_mono_ns
            && window.end_mono_ns <= latest
            && window.end_mono_ns.since(window.begin_mono_ns) <= MAX_WINDOW_NS;
        if !is_in_time {
            return Err("it sent a window out of order, or from the future");
        }
        let phases = job.plan.phases.len() as u32 + 1;
        let is_phase = |phase: u32| phase < phases;
        let users = window.users.unwrap_or(0);
        let amounts = [window.in_flight, users, window.cpu_ns, window.spun_ns];
        let is_small = amounts.iter().all(|n| *n <= MAX_COUNT);
        if !is_phase(window.phase) || window.tallies.len() > phases as usize || !is_small {
            return Err("it sent a window that is not in the plan");
        }
        self.counts.resize(phases as usize, Counts::default());
        self.operations.resize(phases as usize, vec![Counts::default(); job.requests.operations_count]);
        let mut tallies = Vec::with_capacity(window.tallies.len());
        for told in window.tallies {
            let phase = told.phase;
            let tally = Some(&told).filter(|told| is_phase(told.phase)).and_then(believed);
            let tally = tally.ok_or("it sent impossible counts")?;
            if !self.add(phase as usize, &tally) {
                return Err("its counts do not add up");
            }
            tallies.push(PhaseTally { phase, tally: Box::new(tally) });
        }
        (self.windows_count, self.end) = (window.index + 1, window.end_mono_ns);
        Ok(ThreadWindow {
            index: window.index,
            begin: window.begin_mono_ns,
            end: window.end_mono_ns,
            phase: window.phase,
            tallies,
            in_flight: window.in_flight,
            users: window.users,
            cpu_ns: window.cpu_ns,
            spun_ns: window.spun_ns.min(window.cpu_ns),
        })
    }

    /// Adds what was counted; false if that cannot be.
    fn add(&mut self, phase: usize, tally: &Tally) -> bool {
        let (sum, operations) = (&mut self.counts[phase], &mut self.operations[phase]);
        if tally.operations.len() > operations.len() {
            return false;
        }
        sum.add(&tally.counts);
        operations.iter_mut().zip(&tally.operations).for_each(|(sum, tally)| sum.add(&tally.counts));
        is_possible(sum) && operations.iter().all(is_possible)
    }

    /// Whether no request of it vanished, now that it has ended.
    pub(super) fn is_balanced(&self) -> bool {
        self.counts.iter().chain(self.operations.iter().flatten()).all(Counts::is_balanced)
    }

    /// When it was heard of last.
    pub(super) fn end(&self) -> MonoNs {
        self.end
    }
}

/// Whether requests may have gone these ways so far; what has no outcome yet may get one.
fn is_possible(counts: &Counts) -> bool {
    counts.scheduled >= counts.sent + counts.unsent
        && counts.sent >= counts.ok + counts.failed + counts.timed_out + counts.in_flight
}

/// A tally, if it can have been counted.
fn believed(told: &PartTally) -> Option<Tally> {
    let connections = [told.connections_opened, told.connections_closed_idle];
    let bytes = [told.received_bytes, told.cache.hits, told.cache.misses, told.cache.stored];
    let handshakes = [told.handshakes.full, told.handshakes.resumed];
    let all = [&numbers(&told.counts)[..], &[told.completed], &connections, &bytes, &handshakes];
    if !all.into_iter().all(is_small) || told.unread_ns > MAX_UNREAD_NS {
        return None;
    }
    let mut tally = Tally {
        counts: told.counts,
        completed: told.completed,
        received_bytes: told.received_bytes,
        connections_opened: told.connections_opened,
        connections_closed_idle: told.connections_closed_idle,
        unread_ns: told.unread_ns,
        cache: told.cache,
        handshakes: told.handshakes,
        response_bounds: bounds(told.response_bounds),
        service_bounds: bounds(told.service_bounds),
        failures: failures(&told.failures, told.counts.failed)?,
        operations: told.operations.iter().map(believed_operation).collect::<Option<_>>()?,
        ..Tally::default()
    };
    // Bounded and cleaned as what a server says to this host is.
    tally.told.merge(&told.told);
    tally.answers.add(&told.answers);
    for (kind, steps) in &told.latency {
        *tally.latency.get_mut(*kind) = histogram(steps)?;
    }
    for (status, count) in &told.statuses {
        tally.set_status(*status, u32::try_from(*count).ok()?)?;
    }
    Some(tally)
}

fn believed_operation(told: &PartOperation) -> Option<OperationTally> {
    let all = [&numbers(&told.counts)[..], &[told.received_bytes, told.not_modified]];
    if !all.into_iter().all(is_small) {
        return None;
    }
    let mut tally = OperationTally::of(told.counts);
    (tally.received_bytes, tally.not_modified) = (told.received_bytes, told.not_modified);
    tally.bounds = bounds(told.bounds);
    // An empty histogram takes much memory, and there may be thousands of operations.
    let latency = if told.latency.is_empty() { None } else { Some(histogram(&told.latency)?) };
    Some(tally.with(failures(&told.failures, told.counts.failed)?, latency))
}

fn numbers(counts: &Counts) -> [u64; 8] {
    let Counts { scheduled, sent, written, ok, failed, timed_out, in_flight, unsent } = *counts;
    [scheduled, sent, written, ok, failed, timed_out, in_flight, unsent]
}

fn is_small(numbers: &[u64]) -> bool {
    numbers.iter().all(|number| *number <= MAX_COUNT)
}

fn bounds(told: Option<[u64; 2]>) -> LowerBounds {
    told.map_or(LowerBounds::NONE, |[count, min_ns]| LowerBounds { count: count.min(MAX_COUNT), min_ns })
}

/// Failures by class, if there are as many as failed.
fn failures(told: &Failures, failed: u64) -> Option<[u64; FailureClass::COUNT]> {
    let mut failures = [0; FailureClass::COUNT];
    told.iter().for_each(|(class, count)| failures[*class as usize] = *count);
    let sum = told.values().try_fold(0u64, |sum, count| sum.checked_add(*count))?;
    (sum == failed).then_some(failures)
}

fn histogram(steps: &[[u64; 2]]) -> Option<LatencyHistogram> {
    let is_one = |[value_ns, count]: &[u64; 2]| *value_ns <= MAX_VALUE_NS && *count <= MAX_COUNT;
    if steps.len() > MAX_STEPS || !steps.iter().all(is_one) {
        return None;
    }
    let mut histogram = LatencyHistogram::default();
    steps.iter().for_each(|[value_ns, count]| histogram.record_many(*value_ns, *count));
    Some(histogram)
}
