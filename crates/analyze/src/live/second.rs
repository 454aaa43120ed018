//! One interval of a load in the numbers shown live: rates, and percentiles as far as the samples support them.

use crate::verdict::is_generator_full;
use sysdyno_record::load::{Interval, LatencyKind, LatencySet};
use sysdyno_record::plan::Arrival;
use sysdyno_record::progress::{LoadSecond, SecondLatency};

/// Shortest interval that a rate is told of; those that a phase cuts off may be shorter. Unit: seconds.
const SECONDS_MIN: f64 = 0.001;

/// What an interval was like. Arrivals of a closed process are no offered rate.
pub fn second(interval: &Interval, latency: &LatencySet, arrival: Arrival) -> LoadSecond {
    let seconds = interval.end_mono_ns.seconds_since(interval.begin_mono_ns);
    let hz = |count: u64| if seconds < SECONDS_MIN { 0.0 } else { count as f64 / seconds };
    let counts = interval.counts;
    let busiest_ns = interval.thread_cpu_ns.iter().copied().max();
    let busiest = busiest_ns.filter(|_| seconds >= SECONDS_MIN).map(|cpu_ns| cpu_ns as f64 / 1e9 / seconds);
    let kind = felt(latency, arrival);
    LoadSecond {
        trial: interval.trial,
        phase_index: interval.phase_index,
        phase: interval.phase,
        begin_mono_ns: interval.begin_mono_ns,
        end_mono_ns: interval.end_mono_ns,
        offered_hz: arrival.is_open().then(|| hz(counts.scheduled)),
        achieved_hz: hz(counts.ok + counts.failed),
        goodput_hz: hz(counts.ok),
        errors_hz: hz(counts.failed + counts.timed_out),
        counts,
        failures: interval.failures.clone(),
        latency_kind: kind,
        latency_ns: SecondLatency {
            count: latency.get(kind).count(),
            p50: latency.quantile(kind, 0.5),
            p90: latency.quantile(kind, 0.9),
            p99: latency.quantile(kind, 0.99),
            p99_9: latency.quantile(kind, 0.999),
            max: latency.get(kind).max(),
        },
        in_flight_at_end: interval.in_flight_at_end,
        users_at_end: interval.users_at_end,
        received_bytes: interval.received_bytes,
        connections_opened: interval.connections_opened,
        busiest_thread_ratio: busiest,
        is_generator_full: busiest.is_some_and(is_generator_full),
    }
}

/// The latency that a client felt: response time where requests had an intended send, else service time.
fn felt(latency: &LatencySet, arrival: Arrival) -> LatencyKind {
    let has_response = !latency.get(LatencyKind::Response).is_empty();
    if has_response || arrival.is_open() { LatencyKind::Response } else { LatencyKind::Service }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::load::Counts;
    use sysdyno_record::units::MonoNs;

    fn half_a_second(arrival: Arrival) -> LoadSecond {
        let interval = Interval {
            begin_mono_ns: MonoNs(1_000_000_000),
            end_mono_ns: MonoNs(1_500_000_000),
            counts: Counts {
                scheduled: 100,
                sent: 100,
                ok: 90,
                failed: 6,
                timed_out: 4,
                ..Counts::default()
            },
            thread_cpu_ns: vec![100_000_000, 495_000_000],
            ..Interval::default()
        };
        let kind = if arrival == Arrival::Closed { LatencyKind::Service } else { LatencyKind::Response };
        let mut latency = LatencySet::default();
        (1..=100).for_each(|ms| latency.get_mut(kind).record(ms * 1_000_000));
        second(&interval, &latency, arrival)
    }

    #[test]
    fn rates_are_per_second_and_arrivals_of_a_closed_process_are_none() {
        let open = half_a_second(Arrival::Poisson);
        assert_eq!((open.offered_hz, open.achieved_hz, open.goodput_hz), (Some(200.0), 192.0, 180.0));
        assert_eq!((open.errors_hz, open.latency_kind), (20.0, LatencyKind::Response));
        assert!(open.is_generator_full && open.busiest_thread_ratio.is_some_and(|ratio| ratio > 0.98));
        let closed = half_a_second(Arrival::Closed);
        assert_eq!((closed.offered_hz, closed.latency_kind), (None, LatencyKind::Service));
    }

    #[test]
    fn a_percentile_that_the_samples_do_not_support_is_none() {
        let latency = half_a_second(Arrival::Poisson).latency_ns;
        assert_eq!((latency.count, latency.p99, latency.p99_9), (100, None, None));
        assert!(latency.p50.is_some_and(|p50| p50.abs_diff(50_000_000) < 1_000_000), "{latency:?}");
        assert!(latency.p90.is_some() && latency.max.is_some_and(|max| max >= 99_000_000));
    }
}
