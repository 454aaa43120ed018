//! Synthetic trials for tests: a clean one of each kind, and the means to spoil it in one way at a time.

use crate::view::TrialView;
use std::collections::BTreeMap;
use sysdyno_record::event::{Event, ProcessRole, Tier, WatchedProcess};
use sysdyno_record::facts::{Fact, HostFacts};
use sysdyno_record::load::*;
use sysdyno_record::plan::*;
use sysdyno_record::probe::{ProbeKind, ProbeOutcome, ProbePlan, ProbeReply};
use sysdyno_record::remote::ClockOffset;
use sysdyno_record::series::{Column, ReadingKind, Row, Series, SeriesLine};
use sysdyno_record::spread::GeneratorShare;
use sysdyno_record::units::{MonoNs, SpanNs};
use sysdyno_stats::censored::LowerBounds;
use sysdyno_stats::histogram::LatencyHistogram;

/// When every synthetic trial begins. Unit: seconds.
pub(crate) const BEGIN: f64 = 100.0;
/// Warm-up of every synthetic trial. Unit: seconds.
pub(crate) const WARMUP: f64 = 2.0;
/// Pid of the synthetic server.
pub(crate) const TARGET: u32 = 1000;
/// Pid of the synthetic generator.
pub(crate) const GENERATOR: u32 = 2000;

pub(crate) fn at(seconds: f64) -> MonoNs {
    MonoNs((seconds * 1e9).round() as u64)
}

/// Columns with values at a fixed step.
#[derive(Clone)]
pub(crate) struct SeriesBuilder {
    start: f64,
    step: f64,
    rows: usize,
    columns: Vec<(Column, Vec<Option<f64>>)>,
}

impl SeriesBuilder {
    /// Rows every `step` seconds from 0.
    pub(crate) fn new(step: f64) -> SeriesBuilder {
        SeriesBuilder { start: 0.0, step, rows: 0, columns: Vec::new() }
    }

    /// Ten rows a second over the synthetic trial of this length.
    pub(crate) fn over_trial(seconds: f64) -> SeriesBuilder {
        let rows = ((WARMUP + seconds + 2.0) * 10.0) as usize;
        SeriesBuilder { start: BEGIN - 0.5, step: 0.1, rows, columns: Vec::new() }
    }

    pub(crate) fn set(mut self, name: &str, scope: &str, values: Vec<Option<f64>>) -> SeriesBuilder {
        self.columns.retain(|(column, _)| (column.name.as_str(), column.scope.as_str()) != (name, scope));
        self.rows = self.rows.max(values.len());
        let column = Column {
            name: name.into(),
            scope: scope.into(),
            unit: "count".into(),
            kind: ReadingKind::Counter,
            unavailable: None,
        };
        self.columns.push((column, values));
        self
    }

    pub(crate) fn column(self, name: &str, scope: &str, values: &[f64]) -> SeriesBuilder {
        self.set(name, scope, values.iter().copied().map(Some).collect())
    }

    /// A counter that grows evenly by this much per second.
    pub(crate) fn counter(self, name: &str, scope: &str, per_second: f64) -> SeriesBuilder {
        let values = (0..self.rows).map(|row| Some(1e6 + per_second * self.step * row as f64)).collect();
        self.set(name, scope, values)
    }

    /// A counter that can be read from then on only.
    pub(crate) fn counter_from(self, begin: f64, name: &str, scope: &str, per_second: f64) -> SeriesBuilder {
        let second = |row: usize| self.start + self.step * row as f64;
        let value = |row: usize| (second(row) >= begin).then_some(per_second * self.step * row as f64);
        let values = (0..self.rows).map(value).collect();
        self.set(name, scope, values)
    }

    pub(crate) fn gauge(self, name: &str, scope: &str, value: f64) -> SeriesBuilder {
        let values = vec![Some(value); self.rows];
        self.set(name, scope, values)
    }

    /// The same, which cannot be read any more from the middle of the trial on.
    pub(crate) fn dying(self, name: &str, scope: &str, per_second: f64) -> SeriesBuilder {
        let value = |row: usize| (row < self.rows / 2).then_some(per_second * self.step * row as f64);
        let values = (0..self.rows).map(value).collect();
        self.set(name, scope, values)
    }

    pub(crate) fn build(&self) -> Series {
        let mut series = Series::default();
        series.push(SeriesLine::header(self.columns.iter().map(|(column, _)| column.clone()).collect()));
        for row in 0..self.rows {
            let begin = self.start + self.step * row as f64;
            series.push(SeriesLine::Row(Row {
                begin_mono_ns: at(begin),
                end_mono_ns: at(begin + 0.001),
                values: self.columns.iter().map(|(_, values)| values.get(row).copied().flatten()).collect(),
                condensed: None,
                logged: vec![],
            }));
        }
        series
    }
}

/// A trial with everything around it, owned.
#[derive(Clone)]
pub(crate) struct Specimen {
    pub(crate) begin: TrialBegin,
    pub(crate) end: TrialEnd,
    pub(crate) intervals: Vec<Interval>,
    pub(crate) readings: SeriesBuilder,
    pub(crate) facts: HostFacts,
    pub(crate) watched: Vec<WatchedProcess>,
    pub(crate) latency: LatencySet,
    pub(crate) events: Vec<Event>,
    pub(crate) probe: Vec<ProbeReply>,
    series: Series,
}

impl std::fmt::Debug for Specimen {
    /// Plan and result, without the megabytes of histograms.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Specimen")
            .field("begin", &self.begin)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

/// A latency distribution with this median and a tail three times as long.
pub(crate) fn spread(count: u64, median_ns: f64) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    for index in 0..count {
        let rank = (index as f64 + 0.5) / count as f64;
        histogram.record((median_ns * (0.5 + rank + 0.02 / (1.0 - rank).max(0.005))) as u64);
    }
    histogram
}

pub(crate) fn summary(histogram: &LatencyHistogram) -> LatencySummary {
    LatencySummary::of(histogram, LowerBounds::NONE)
}

pub(crate) fn load_plan(arrival: Arrival, connections: u32, rate_hz: Option<f64>, seconds: f64) -> LoadPlan {
    let phase = |kind: PhaseKind, seconds: f64| PhasePlan {
        kind,
        rate_hz,
        end: PhaseEnd::After(SpanNs((seconds * 1e9) as u64)),
    };
    let target = Target {
        url: "http://127.0.0.1:8080/".into(),
        endpoint: Endpoint::Tcp("127.0.0.1:8080".parse().expect("an address")),
        host: "127.0.0.1:8080".into(),
        path: "/".into(),
    };
    let phases = vec![phase(PhaseKind::Warmup, WARMUP), phase(PhaseKind::Steady, seconds)];
    LoadPlan { arrival, connections, phases, ..LoadPlan::plain(target) }
}

/// The trial with a process that listens at an address and is asked by another one.
pub(crate) fn with_tier(
    mut case: Specimen,
    name: &str,
    address: &str,
    depth: u32,
    asked_by_pid: u32,
) -> Specimen {
    let address = Endpoint::Tcp(address.parse().expect("is an address"));
    let pid = TARGET + 100 * depth;
    let tier = Some(Tier { depth, address, asked_by_pid });
    case.watched.push(WatchedProcess { tier, ..process(pid, name, ProcessRole::Target) });
    case
}

fn process(pid: u32, command: &str, role: ProcessRole) -> WatchedProcess {
    WatchedProcess::new(pid, 7, command, role)
}

impl Specimen {
    /// A clean open-loop trial: 1 ms median, nobody busy.
    pub(crate) fn open(rate_hz: f64, seconds: f64) -> Specimen {
        let count = (rate_hz * seconds) as u64;
        let mut case =
            Specimen::bare(load_plan(Arrival::Poisson, 64, Some(rate_hz), seconds), count, seconds);
        case.fill(LatencyKind::Response, spread(count, 1e6));
        case.fill(LatencyKind::Service, spread(count, 0.9e6));
        case.fill(LatencyKind::LoopSlip, spread(count, 8e3));
        case.fill(LatencyKind::PoolSlip, spread(count, 1e3));
        case.fill(LatencyKind::Slip, spread(count, 9e3));
        case
    }

    /// A clean closed-loop trial that obeys Little's law.
    pub(crate) fn closed(connections: u32, rate_hz: f64, seconds: f64) -> Specimen {
        let count = (rate_hz * seconds) as u64;
        let mut case = Specimen::bare(load_plan(Arrival::Closed, connections, None, seconds), count, seconds);
        let mean_ns = f64::from(connections) / rate_hz * 1e9;
        let shape = spread(count, 1e6);
        case.fill(LatencyKind::Service, spread(count, 1e6 * 0.99 * mean_ns / shape.mean().expect("filled")));
        case
    }

    fn bare(plan: LoadPlan, count: u64, seconds: f64) -> Specimen {
        let rate_hz = plan.phases[1].rate_hz;
        let counts = Counts { scheduled: count, sent: count, written: count, ok: count, ..Counts::default() };
        let (begin, end) = (at(BEGIN + WARMUP), at(BEGIN + WARMUP + seconds));
        let measured = PhaseSummary {
            kind: PhaseKind::Steady,
            begin_mono_ns: begin,
            end_mono_ns: end,
            counts,
            offered_hz: rate_hz,
            achieved_hz: count as f64 / seconds,
            goodput_hz: count as f64 / seconds,
            received_bytes: 300 * count,
            statuses: BTreeMap::from([(200, count)]),
            ..PhaseSummary::default()
        };
        let generator = GeneratorSummary {
            threads: 1,
            cpus: vec![Some(1)],
            cpu_seconds: 0.2 * seconds,
            busiest_thread_ratio: 0.2,
            timer_error: TimerError { p50_ns: 5_000, p99_ns: 20_000, count: 100 },
            io: "io_uring".into(),
            ..GeneratorSummary::default()
        };
        let phases = vec![measured.clone()];
        let summary = TrialSummary { measured, phases, total: counts, generator, ..TrialSummary::default() };
        let trial_end = at(BEGIN + WARMUP + seconds + 0.2);
        let mut case = Specimen {
            begin: TrialBegin { trial: 1, purpose: TrialPurpose::Single, begin_mono_ns: at(BEGIN), plan },
            end: TrialEnd { trial: 1, end_mono_ns: trial_end, ending: TrialEnding::Complete, summary },
            intervals: Vec::new(),
            readings: SeriesBuilder::over_trial(seconds),
            facts: HostFacts::default(),
            watched: vec![
                process(TARGET, "nginx", ProcessRole::Target),
                process(GENERATOR, "sysdyno", ProcessRole::Generator),
            ],
            latency: LatencySet::default(),
            events: Vec::new(),
            probe: Vec::new(),
            series: Series::default(),
        };
        case.set_intervals(|_| (count as f64 / seconds, 1_000_000, 1));
        case.facts.facts.insert("kernel.release".into(), Fact::Text("6.18.0".into()));
        case.cpu(0.1, 0.1, 0.05).server(0.2).generator(0.2)
    }

    /// One-second intervals with completions, median and requests in flight of each.
    pub(crate) fn set_intervals(&mut self, of: impl Fn(usize) -> (f64, u64, u64)) {
        let measured = &self.end.summary.measured;
        let seconds = measured.end_mono_ns.seconds_since(measured.begin_mono_ns).round() as usize;
        let interval = |index: usize| {
            let (rate, p50_ns, in_flight) = of(index);
            let count = rate.round() as u64;
            let begin = at(BEGIN + WARMUP + index as f64);
            Interval {
                trial: self.begin.trial,
                phase_index: 1,
                phase: PhaseKind::Steady,
                begin_mono_ns: begin,
                end_mono_ns: MonoNs(begin.0 + 1_000_000_000),
                counts: Counts {
                    scheduled: count,
                    sent: count,
                    written: count,
                    ok: count,
                    ..Counts::default()
                },
                in_flight_at_end: in_flight,
                users_at_end: None,
                thread_cpu_ns: vec![200_000_000],
                p50_ns: Some(p50_ns),
                p99_ns: Some(3 * p50_ns),
                ..Interval::default()
            }
        };
        self.intervals = (0..seconds).map(interval).collect();
    }

    /// Replaces the values of a kind.
    pub(crate) fn fill(&mut self, kind: LatencyKind, histogram: LatencyHistogram) {
        self.end.summary.measured.latency.insert(kind, summary(&histogram));
        *self.latency.get_mut(kind) = histogram;
    }

    /// Turns this many of the ok requests into failures of a class.
    pub(crate) fn fail(mut self, class: FailureClass, count: u64) -> Specimen {
        let summary = &mut self.end.summary;
        for counts in [&mut summary.measured.counts, &mut summary.total] {
            counts.ok -= count;
            counts.failed += count;
        }
        *summary.measured.failures.entry(class).or_default() += count;
        self
    }

    /// A probe of this kind, ten times a second, whose operations are answered so long after they were sent.
    pub(crate) fn probed(mut self, kind: ProbeKind, answers: &[Option<f64>]) -> Specimen {
        let plan = ProbePlan { kind, interval: SpanNs::from_millis(100), timeout: SpanNs::from_secs(5) };
        self.begin.plan.probe = Some(plan);
        let reply = |(sequence, answer): (u64, &Option<f64>)| {
            let intended = at(BEGIN + WARMUP + 0.1 * sequence as f64);
            let waited = answer.map_or(plan.timeout.duration(), std::time::Duration::from_secs_f64);
            ProbeReply {
                trial: 1,
                target: 0,
                sequence: sequence + 1,
                intended_mono_ns: intended,
                sent_mono_ns: Some(intended),
                end_mono_ns: intended.after(waited),
                outcome: if answer.is_some() { ProbeOutcome::Received } else { ProbeOutcome::TimedOut },
                connect_ns: None,
                status: None,
            }
        };
        self.probe = (0..).zip(answers).map(reply).collect();
        self
    }

    pub(crate) fn time_out(mut self, count: u64) -> Specimen {
        for counts in [&mut self.end.summary.measured.counts, &mut self.end.summary.total] {
            counts.ok -= count;
            counts.timed_out += count;
        }
        self
    }

    /// Two CPUs, each with these shares.
    pub(crate) fn cpu(mut self, user: f64, system: f64, softirq: f64) -> Specimen {
        for scope in ["cpu:0", "cpu:1"] {
            let idle = (1.0 - user - system - softirq).max(0.0);
            let shares =
                [("user", user), ("system", system), ("softirq", softirq), ("idle", idle), ("steal", 0.0)];
            for (name, share) in shares {
                self.readings = self.readings.counter(&format!("cpu.{name}_us"), scope, share * 1e6);
            }
        }
        self
    }

    /// The server: one process with one thread that uses this many CPUs.
    pub(crate) fn server(self, cpus: f64) -> Specimen {
        let scope = format!("process:{TARGET}");
        self.counter("process.cpu_us", &scope, cpus * 1e6)
            .gauge("process.threads_count", &scope, 1.0)
            .counter("thread.cpu_us", &format!("thread:{TARGET}/{TARGET}"), cpus * 1e6)
    }

    pub(crate) fn generator(mut self, cpus: f64) -> Specimen {
        self.end.summary.generator.busiest_thread_ratio = cpus;
        let seconds =
            self.end.summary.measured.end_mono_ns.seconds_since(self.end.summary.measured.begin_mono_ns);
        self.end.summary.generator.cpu_seconds = cpus * seconds;
        self.counter("process.cpu_us", &format!("process:{GENERATOR}"), cpus * 1e6).counter(
            "thread.cpu_us",
            &format!("thread:{GENERATOR}/{GENERATOR}"),
            cpus * 1e6,
        )
    }

    pub(crate) fn counter(mut self, name: &str, scope: &str, per_second: f64) -> Specimen {
        self.readings = self.readings.counter(name, scope, per_second);
        self
    }

    /// Counters of a scope that each request of the load adds so much to.
    pub(crate) fn per_request(self, scope: &str, counters: &[(&str, f64)]) -> Specimen {
        let rate_hz = self.end.summary.measured.achieved_hz;
        counters.iter().fold(self, |case, (name, each)| case.counter(name, scope, each * rate_hz))
    }

    /// What the kernel sees of requests at a tier, each of which is unread and inside for so long. Unit: nanoseconds.
    pub(crate) fn requests(self, tier: &str, [unread_ns, inside_ns]: [f64; 2]) -> Specimen {
        let counts = [("requests.read_count", 1.0), ("requests.merged_count", 0.0)];
        let times = [("requests.unread_ns", unread_ns), ("requests.inside_ns", inside_ns)];
        self.per_request(tier, &counts).per_request(tier, &times)
    }

    pub(crate) fn gauge(mut self, name: &str, scope: &str, value: f64) -> Specimen {
        self.readings = self.readings.gauge(name, scope, value);
        self
    }

    /// A gauge that has this value in one of so many rows, and is 0 otherwise.
    pub(crate) fn bursts(mut self, name: &str, scope: &str, value: f64, one_of: usize) -> Specimen {
        let values = (0..self.readings.rows).map(|row| if row % one_of == 0 { value } else { 0.0 });
        let values: Vec<f64> = values.collect();
        self.readings = self.readings.column(name, scope, &values);
        self
    }

    pub(crate) fn edit(mut self, change: impl FnOnce(&mut Specimen)) -> Specimen {
        change(&mut self);
        self
    }

    /// The trial, ready to be looked at.
    pub(crate) fn build(mut self) -> Specimen {
        self.series = self.readings.build();
        self
    }

    pub(crate) fn view(&self) -> TrialView<'_> {
        TrialView {
            begin: &self.begin,
            end: &self.end,
            intervals: &self.intervals,
            series: &self.series,
            facts: &self.facts,
            server: None,
            watched: &self.watched,
            latency: &self.latency,
            events: &self.events,
            probe: &self.probe,
        }
    }
}

/// The trial as hosts of these names had it together, each the same part of it; the last one is then edited.
pub(crate) fn shared(mut case: Specimen, names: &[&str], edit: fn(&mut GeneratorShare)) -> Specimen {
    let summary = &mut case.end.summary;
    let share = |name: &&str| {
        let mut measured = summary.measured.clone();
        measured.counts.ok /= names.len() as u64;
        GeneratorShare {
            name: (*name).into(),
            connections: u64::from(case.begin.plan.connections) / names.len() as u64,
            measured,
            total: summary.total,
            generator: summary.generator.clone(),
            clock: ClockOffset {
                offset_ns: 0,
                uncertainty_ns: 20_000,
                round_trip_ns: 40_000,
                exchanges_count: 32,
                is_same_clock: false,
            },
            learnt_body: Some(LearntBody { crc32: 1, body_bytes: 5 }),
            lost: None,
        }
    };
    let mut shares: Vec<GeneratorShare> = names.iter().map(share).collect();
    shares.last_mut().into_iter().for_each(edit);
    summary.generators = shares;
    case
}
