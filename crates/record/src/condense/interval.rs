//! Merges several intervals of a load: adds counts, merges histograms, keeps extremes of what charts show.

use crate::load::{CondensedInterval, Extremes, Interval, LatencyKind, LatencySet};

/// Intervals that are becoming one.
#[derive(Debug, Default)]
pub struct IntervalCell {
    interval: Option<Interval>,
    latency: LatencySet,
}

impl IntervalCell {
    /// Whether `next` belongs to the same phase of the same trial, or the cell is empty.
    pub fn takes(&self, next: &Interval) -> bool {
        let is_same = |so_far: &Interval| {
            (so_far.trial, so_far.phase_index) == (next.trial, next.phase_index)
                && so_far.thread_cpu_ns.len() == next.thread_cpu_ns.len()
        };
        self.interval.as_ref().is_none_or(is_same)
    }

    /// Length of what it holds. Unit: nanoseconds.
    pub fn length_ns(&self) -> u64 {
        self.interval.as_ref().map_or(0, |so_far| so_far.end_mono_ns.since(so_far.begin_mono_ns))
    }

    /// Adds an interval of one second at most, with its latency.
    pub fn add(&mut self, next: &Interval, latency: &LatencySet) {
        self.latency.merge(latency);
        match &mut self.interval {
            Some(so_far) => join(so_far, next),
            None => self.interval = Some(next.clone()),
        }
    }

    /// Hands what it holds to `keep`, and is empty after that; `None`: it was empty.
    pub fn take<T>(&mut self, keep: impl FnOnce(&Interval, &LatencySet) -> T) -> Option<(Interval, T)> {
        let mut interval = self.interval.take()?;
        if interval.condensed.is_some() {
            let felt = [LatencyKind::Response, LatencyKind::Service].map(|kind| self.latency.get(kind));
            let felt = felt.into_iter().find(|histogram| !histogram.is_empty());
            interval.p50_ns = felt.and_then(|histogram| histogram.quantile(0.5));
            interval.p99_ns = felt.and_then(|histogram| histogram.quantile(0.99));
        }
        let kept = keep(&interval, &self.latency);
        self.latency.clear();
        Some((interval, kept))
    }
}

fn join(so_far: &mut Interval, next: &Interval) {
    let mut extremes = so_far.condensed.take().unwrap_or_else(|| CondensedInterval::of(so_far));
    extremes.widen(&CondensedInterval::of(next));
    so_far.condensed = Some(extremes);
    so_far.end_mono_ns = so_far.end_mono_ns.max(next.end_mono_ns);
    so_far.counts.add(&next.counts);
    for (class, count) in &next.failures {
        *so_far.failures.entry(*class).or_default() += count;
    }
    so_far.received_bytes += next.received_bytes;
    so_far.connections_opened += next.connections_opened;
    so_far.in_flight_at_end = next.in_flight_at_end;
    so_far.users_at_end = next.users_at_end;
    so_far.thread_cpu_ns.iter_mut().zip(&next.thread_cpu_ns).for_each(|(sum, cpu_ns)| *sum += cpu_ns);
}

/// Shorter intervals are the remainders of phases, and have no rate. Unit: seconds.
const RATE_SECONDS_MIN: f64 = 0.1;

impl CondensedInterval {
    /// What one interval alone is like.
    fn of(interval: &Interval) -> CondensedInterval {
        let seconds = interval.end_mono_ns.seconds_since(interval.begin_mono_ns);
        let rate =
            |amount: u64| (seconds >= RATE_SECONDS_MIN).then(|| Extremes::one(amount as f64 / seconds));
        let counts = &interval.counts;
        CondensedInterval {
            intervals_count: 1,
            scheduled_hz: rate(counts.scheduled),
            completed_hz: rate(counts.ok + counts.failed + counts.timed_out),
            errors_hz: rate(counts.failed + counts.timed_out),
            in_flight_at_end: Some(Extremes::one(interval.in_flight_at_end as f64)),
            users_at_end: interval.users_at_end.map(|users| Extremes::one(users as f64)),
            cpu_ns_per_second: rate(interval.thread_cpu_ns.iter().sum()),
            p50_ns: interval.p50_ns.map(|value| Extremes::one(value as f64)),
            p99_ns: interval.p99_ns.map(|value| Extremes::one(value as f64)),
        }
    }

    fn widen(&mut self, other: &CondensedInterval) {
        self.intervals_count += other.intervals_count;
        let CondensedInterval { scheduled_hz, completed_hz, errors_hz, in_flight_at_end, .. } = other;
        widen(&mut self.scheduled_hz, *scheduled_hz);
        widen(&mut self.completed_hz, *completed_hz);
        widen(&mut self.errors_hz, *errors_hz);
        widen(&mut self.in_flight_at_end, *in_flight_at_end);
        widen(&mut self.users_at_end, other.users_at_end);
        widen(&mut self.cpu_ns_per_second, other.cpu_ns_per_second);
        widen(&mut self.p50_ns, other.p50_ns);
        widen(&mut self.p99_ns, other.p99_ns);
    }
}

fn widen(mine: &mut Option<Extremes>, other: Option<Extremes>) {
    *mine = match (*mine, other) {
        (Some(one), Some(other)) => {
            Some(Extremes { low: one.low.min(other.low), high: one.high.max(other.high) })
        }
        (one, other) => one.or(other),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Counts, Failures};
    use crate::plan::PhaseKind;
    use crate::units::MonoNs;

    fn interval(second: u64, ok: u64) -> Interval {
        Interval {
            trial: 1,
            phase_index: 0,
            phase: PhaseKind::Steady,
            begin_mono_ns: MonoNs(second * 1_000_000_000),
            end_mono_ns: MonoNs((second + 1) * 1_000_000_000),
            counts: Counts { scheduled: ok, sent: ok, written: ok, ok, ..Counts::default() },
            failures: Failures::new(),
            received_bytes: 10 * ok,
            connections_opened: 1,
            in_flight_at_end: second,
            users_at_end: Some(10 * second),
            thread_cpu_ns: vec![5, 6],
            p50_ns: Some(1_000 * second),
            p99_ns: None,
            condensed: None,
        }
    }

    fn latency(values: std::ops::Range<u64>) -> LatencySet {
        let mut set = LatencySet::default();
        values.for_each(|value| set.get_mut(LatencyKind::Service).record(value * 1_000));
        set
    }

    #[test]
    fn counts_are_added_and_percentiles_are_those_of_all_values() {
        let mut cell = IntervalCell::default();
        cell.add(&interval(1, 100), &latency(1..101));
        cell.add(&interval(2, 300), &latency(1000..1300));
        cell.add(&interval(3, 50), &latency(1..51));
        let (joined, count) =
            cell.take(|_, latency| latency.get(LatencyKind::Service).count()).expect("holds three");
        assert_eq!((joined.counts.ok, count), (450, 450));
        assert!(joined.counts.is_balanced());
        assert_eq!((joined.received_bytes, joined.in_flight_at_end), (4_500, 3));
        assert_eq!(joined.users_at_end, Some(30));
        assert_eq!(joined.thread_cpu_ns, [15, 18]);
        assert!(joined.p50_ns.is_some_and(|p50_ns| p50_ns > 1_000_000), "the median of 450, not of medians");
        let extremes = joined.condensed.expect("is condensed");
        assert_eq!(extremes.completed_hz, Some(Extremes { low: 50.0, high: 300.0 }));
        assert_eq!(extremes.users_at_end, Some(Extremes { low: 10.0, high: 30.0 }));
        assert_eq!(extremes.p50_ns, Some(Extremes { low: 1_000.0, high: 3_000.0 }));
        assert_eq!((extremes.intervals_count, extremes.p99_ns), (3, None));
        assert!(cell.take(|_, _| ()).is_none());
    }

    #[test]
    fn one_interval_is_left_as_it_is() {
        let mut cell = IntervalCell::default();
        cell.add(&interval(1, 100), &latency(1..101));
        assert_eq!(cell.take(|_, _| ()).map(|(interval, ())| interval), Some(interval(1, 100)));
    }

    #[test]
    fn a_cell_ends_where_a_phase_ends() {
        let mut cell = IntervalCell::default();
        assert!(cell.takes(&interval(1, 1)));
        cell.add(&interval(1, 1), &LatencySet::default());
        assert!(cell.takes(&interval(2, 1)));
        assert!(!cell.takes(&Interval { phase_index: 1, ..interval(2, 1) }));
        assert!(!cell.takes(&Interval { trial: 2, ..interval(2, 1) }));
    }
}
