//! A running load as metrics: counters since the program began, and levels of the last second.
//!
//! Everything comes from intervals that the journal of the run is told once a second. What it holds does not grow with time.

use super::{ComparedMeter, HostNow};
use std::collections::BTreeMap;
use sysdyno_record::analysis::VerdictStatus;
use sysdyno_record::load::{Counts, Failures, LatencyKind, LatencySet, TrialBegin};
use sysdyno_record::metrics::{
    FamilyKind, MetricDistribution, MetricFamily, MetricLabel, MetricPoint, MetricValue,
};
use sysdyno_record::plan::PhaseKind;
use sysdyno_record::progress::LoadSecond;

/// Upper bounds of the latency histogram: 20 µs to 1 min. Unit: seconds.
const BOUNDS_SECONDS: [f64; 20] = [
    0.000_02, 0.000_05, 0.000_1, 0.000_2, 0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0,
    2.0, 5.0, 10.0, 20.0, 60.0,
];

/// What is kept of the running loads of a process.
#[derive(Clone, Debug, Default)]
pub struct RunMeter {
    /// What is run now: the folder's name and the command; `None`: nothing was yet.
    run: Option<[String; 2]>,
    trial: u32,
    counts: Counts,
    failures: Failures,
    received_bytes: u64,
    connections_opened: u64,
    latencies: BTreeMap<LatencyKind, Buckets>,
    last: Option<LoadSecond>,
    phase: Option<PhaseKind>,
    host: Option<HostNow>,
    trials: BTreeMap<VerdictStatus, u64>,
    compared: ComparedMeter,
}

#[derive(Clone, Debug, Default)]
struct Buckets {
    up_to_counts: [u64; BOUNDS_SECONDS.len()],
    count: u64,
    sum_seconds: f64,
}

impl RunMeter {
    /// A run begins. Counters go on.
    pub fn run(&mut self, run: &str, command: &str) {
        self.run = Some([run.to_owned(), command.to_owned()]);
        self.host = None;
        self.rest();
    }

    /// A trial begins.
    pub fn begin(&mut self, begin: &TrialBegin) {
        self.trial = begin.trial;
        self.rest();
    }

    /// A phase begins; `None`: no load is sent.
    pub fn phase(&mut self, phase: Option<PhaseKind>) {
        self.phase = phase;
    }

    /// About a second is over, with these latencies.
    pub fn second(&mut self, second: &LoadSecond, latency: &LatencySet) {
        self.counts.add(&second.counts);
        second.failures.iter().for_each(|(class, count)| *self.failures.entry(*class).or_default() += count);
        self.received_bytes += second.received_bytes;
        self.connections_opened += second.connections_opened;
        let buckets = self.latencies.entry(second.latency_kind).or_default();
        for step in latency.get(second.latency_kind).as_hdr().iter_recorded() {
            let seconds = step.value_iterated_to() as f64 / 1e9;
            let count = step.count_since_last_iteration();
            let reached = BOUNDS_SECONDS.partition_point(|bound| *bound < seconds);
            buckets.up_to_counts[reached..].iter_mut().for_each(|up_to| *up_to += count);
            buckets.count += count;
            buckets.sum_seconds += seconds * count as f64;
        }
        self.last = Some(second.clone());
    }

    /// What the server's host does now.
    pub fn host(&mut self, now: &HostNow) {
        self.host = Some(now.clone());
    }

    /// A trial is over, and judged.
    pub fn end(&mut self, verdict: VerdictStatus) {
        *self.trials.entry(verdict).or_default() += 1;
        self.rest();
    }

    /// The comparison that its runs and trials are of.
    pub fn compared(&mut self) -> &mut ComparedMeter {
        &mut self.compared
    }

    /// Nothing is sent: levels of the load are no longer known.
    fn rest(&mut self) {
        (self.last, self.phase) = (None, None);
    }

    /// All of it, as it is now. Families without series are left out.
    pub fn families(&self) -> Vec<MetricFamily> {
        let mut families = self.progress();
        families.extend(self.counters());
        families.extend(self.levels());
        families.extend(self.host.iter().flat_map(HostNow::families));
        families.extend(self.compared.families());
        families.retain(|family| !family.points.is_empty());
        families
    }

    fn progress(&self) -> Vec<MetricFamily> {
        let info = MetricFamily::gauge("sysdyno_run_info", "The run that is measured now.");
        let info = match &self.run {
            Some([run, command]) => info.with(&[("run", run), ("command", command)], Some(1.0)),
            None => info,
        };
        let mut phases = MetricFamily::gauge("sysdyno_phase", "Whether the load is in this phase.");
        for phase in PhaseKind::ALL {
            let is_now = self.phase == Some(phase);
            phases = phases.with(&[("phase", phase.name())], Some(f64::from(u8::from(is_now))));
        }
        let mut trials =
            MetricFamily::new(FamilyKind::Counter, "sysdyno_trials", "Trials that are over, by verdict.");
        for verdict in VerdictStatus::ALL {
            let count = self.trials.get(&verdict).copied().unwrap_or_default();
            trials = trials.with(&[("verdict", verdict.name())], Some(count as f64));
        }
        let trial = MetricFamily::gauge("sysdyno_trial", "Number of the present trial of the run.");
        vec![info, trial.with(&[], Some(f64::from(self.trial))), phases, trials]
    }

    fn counters(&self) -> Vec<MetricFamily> {
        let counter = |name, help| MetricFamily::new(FamilyKind::Counter, name, help);
        let counts = &self.counts;
        let mut requests = counter("sysdyno_requests", "Requests that are over, by result.");
        let results = [
            ("ok", counts.ok),
            ("failed", counts.failed),
            ("timed_out", counts.timed_out),
            ("unsent", counts.unsent),
        ];
        for (result, count) in results {
            requests = requests.with(&[("result", result)], Some(count as f64));
        }
        let mut failures = counter("sysdyno_failures", "Failed requests, by class.");
        for (class, count) in &self.failures {
            failures = failures.with(&[("class", class.name())], Some(*count as f64));
        }
        let received = counter("sysdyno_received_bytes", "Bytes received, heads included.");
        let opened = counter("sysdyno_connections_opened", "Connections that were established.");
        let help =
            "Latency of requests: response time from the intended send, service time from the actual one.";
        let mut latency = MetricFamily::new(FamilyKind::Histogram, "sysdyno_latency_seconds", help);
        latency.points.extend(self.latencies.iter().map(|(kind, buckets)| buckets.point(*kind)));
        vec![
            requests,
            failures,
            received.with(&[], Some(self.received_bytes as f64)),
            opened.with(&[], Some(self.connections_opened as f64)),
            latency,
        ]
    }

    fn levels(&self) -> Vec<MetricFamily> {
        let Some(last) = &self.last else { return Vec::new() };
        let level = |name, help, value| MetricFamily::gauge(name, help).with(&[], value);
        let seconds = |value: Option<u64>| value.map(|value_ns| value_ns as f64 / 1e9);
        let latency = &last.latency_ns;
        let help =
            "Latency in the last second, by percentile; those that the samples do not support are left out.";
        let mut percentiles = MetricFamily::gauge("sysdyno_last_latency_seconds", help);
        let known = [
            ("50", latency.p50),
            ("90", latency.p90),
            ("99", latency.p99),
            ("99.9", latency.p99_9),
            ("100", latency.max),
        ];
        for (percentile, value) in known {
            percentiles = percentiles.with(&[("percentile", percentile)], seconds(value));
        }
        let is_full = f64::from(u8::from(last.is_generator_full));
        vec![
            level("sysdyno_offered_rate_hz", "Arrivals per second of an open load.", last.offered_hz),
            level("sysdyno_achieved_rate_hz", "Completed requests per second.", Some(last.achieved_hz)),
            level(
                "sysdyno_goodput_rate_hz",
                "Completed and valid requests per second.",
                Some(last.goodput_hz),
            ),
            level(
                "sysdyno_in_flight_requests",
                "Requests between send and last byte.",
                Some(last.in_flight_at_end as f64),
            ),
            level("sysdyno_active_users", "Users in a session.", last.users_at_end.map(|users| users as f64)),
            percentiles,
            level(
                "sysdyno_generator_busiest_thread_ratio",
                "CPU of the busiest generator thread.",
                last.busiest_thread_ratio,
            ),
            level("sysdyno_generator_full", "Whether the generator may limit the rate.", Some(is_full)),
        ]
    }
}

impl Buckets {
    fn point(&self, kind: LatencyKind) -> MetricPoint {
        MetricPoint {
            labels: vec![MetricLabel { name: "kind", value: kind.name().to_owned() }],
            value: MetricValue::Distribution(MetricDistribution {
                bounds_seconds: &BOUNDS_SECONDS,
                up_to_counts: self.up_to_counts.to_vec(),
                count: self.count,
                sum_seconds: self.sum_seconds,
            }),
            has_ended: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::second;
    use sysdyno_record::load::Interval;
    use sysdyno_record::plan::Arrival;
    use sysdyno_record::units::MonoNs;

    fn measured() -> RunMeter {
        let mut meter = RunMeter::default();
        for begin in [1, 2] {
            let interval = Interval {
                begin_mono_ns: MonoNs(begin * 1_000_000_000),
                end_mono_ns: MonoNs((begin + 1) * 1_000_000_000),
                counts: Counts { scheduled: 3, sent: 3, ok: 3, ..Counts::default() },
                ..Interval::default()
            };
            let mut latency = LatencySet::default();
            for ns in [10_000, 1_500_000, 90_000_000_000] {
                latency.get_mut(LatencyKind::Service).record(ns);
            }
            meter.second(&second(&interval, &latency, Arrival::Closed), &latency);
        }
        meter
    }

    fn family<'a>(families: &'a [MetricFamily], name: &str) -> Option<&'a MetricFamily> {
        families.iter().find(|family| family.name == name)
    }

    #[test]
    fn counters_and_buckets_add_up_over_seconds() {
        let families = measured().families();
        let requests = family(&families, "sysdyno_requests").expect("is there");
        assert_eq!(requests.points[0].value, MetricValue::Number(6.0));
        let latency = family(&families, "sysdyno_latency_seconds").expect("is there");
        let MetricValue::Distribution(latency) = &latency.points[0].value else { panic!("no distribution") };
        assert_eq!((latency.up_to_counts[0], latency.up_to_counts[5], latency.up_to_counts[6]), (2, 2, 4));
        assert_eq!((latency.up_to_counts[19], latency.count), (4, 6));
        assert!((latency.sum_seconds - 180.0).abs() < 0.5);
    }

    #[test]
    fn what_is_not_known_has_no_series_and_levels_end_with_the_trial() {
        let mut meter = measured();
        assert!(family(&meter.families(), "sysdyno_offered_rate_hz").is_none(), "a closed load offers none");
        assert!(family(&meter.families(), "sysdyno_goodput_rate_hz").is_some());
        assert!(family(&meter.families(), "sysdyno_server_cpus").is_none(), "nothing was read");
        meter.end(VerdictStatus::Valid);
        assert!(family(&meter.families(), "sysdyno_goodput_rate_hz").is_none());
        assert!(family(&meter.families(), "sysdyno_requests").is_some());
    }
}
