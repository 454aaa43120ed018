//! A run folder of a long load, written through the real writer in virtual time.

use std::path::{Path, PathBuf};
use sysdyno_record::facts::HostFacts;
use sysdyno_record::load::{
    Counts, Failures, Interval, LatencyKind, LatencySet, TrialBegin, TrialEnd, TrialPurpose,
};
use sysdyno_record::manifest::{ClockPair, RunKind, RunStatus, Tool};
use sysdyno_record::plan::{PhaseEnd, PhaseKind, Plan};
use sysdyno_record::series::{Column, ReadingKind, Row, SeriesLine};
use sysdyno_record::store::{NewRun, RunWriter};
use sysdyno_record::units::{MonoNs, SpanNs, WallNs};

/// How long the load is, and how closely it is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its length.
    pub seconds: u64,
    /// From one sample of the kernel to the next.
    pub sample_ns: u64,
    /// Length of an interval of the load.
    pub interval_s: u64,
    /// Columns of the series.
    pub columns: usize,
    /// Requests per second.
    pub rate_hz: u64,
}

const SECOND_NS: u64 = 1_000_000_000;
const BEGIN: MonoNs = MonoNs(50_000 * SECOND_NS);

/// Writes the folder into `runs`; where it is.
pub fn write(runs: &Path, shape: Shape) -> PathBuf {
    let mut writer = RunWriter::create(runs, new_run(shape)).expect("the folder can be made");
    let mut plan: Plan = serde_json::from_str(include_str!("plan.json")).expect("is a plan");
    let Plan::Load(load) = &mut plan else { panic!("the plan is one of a load") };
    load.phases[0].end = PhaseEnd::After(SpanNs::from_secs(shape.seconds));
    let begin =
        TrialBegin { trial: 1, purpose: TrialPurpose::Single, begin_mono_ns: BEGIN, plan: load.clone() };
    writer.plan(&plan).expect("writes");
    writer.facts(&HostFacts::default()).expect("writes");
    writer.series(&SeriesLine::header(columns(shape.columns))).expect("writes");
    writer.expect(SpanNs::from_secs(shape.seconds));
    writer.trial_begin(&begin).expect("writes");
    writer.boundary(BEGIN);
    go_on(&mut writer, shape);
    writer.boundary(MonoNs(BEGIN.0 + shape.seconds * SECOND_NS));
    writer.close_interval().expect("writes");
    writer.trial_end(&trial_end(shape)).expect("writes");
    let path = writer.path().to_owned();
    let ended = WallNs(started().unix_ns.0 + (shape.seconds + 1) * SECOND_NS);
    writer.finish(RunStatus::Complete, None, ended).expect("finishes");
    path
}

fn started() -> ClockPair {
    ClockPair { mono_ns: BEGIN, unix_ns: WallNs(1_795_000_000 * SECOND_NS) }
}

fn new_run(shape: Shape) -> NewRun {
    NewRun {
        kind: RunKind::Load,
        tool: Tool { version: env!("CARGO_PKG_VERSION").into(), target: "any".into() },
        clock: started(),
        command: vec!["sysdyno".into(), "load".into()],
        pid: 1,
        pid_start_ticks: 1,
        suffix: shape.seconds as u32,
    }
}

/// Seconds of load with the samples that were taken meanwhile.
fn go_on(writer: &mut RunWriter, shape: Shape) {
    let mut random = 1;
    let mut counters = vec![0.0; shape.columns];
    for interval in 0..shape.seconds / shape.interval_s {
        let begin = BEGIN.0 + interval * shape.interval_s * SECOND_NS;
        let samples = shape.interval_s * SECOND_NS / shape.sample_ns;
        for sample in 0..samples {
            let at = MonoNs(begin + sample * shape.sample_ns + 1_000);
            let values = sampled(&mut counters, &mut random);
            let row = Row::sample(at, MonoNs(at.0 + 500_000), values);
            writer.series(&SeriesLine::Row(row)).expect("writes");
        }
        let (seconds, latency) = load(shape, begin, &mut random);
        writer.interval(&seconds, &latency).expect("writes");
    }
}

/// A number that follows no pattern.
fn next(random: &mut u64) -> u64 {
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *random >> 33
}

/// A third of the columns moves: counters, each tenth a gauge, which is read in each fifth row.
fn sampled(counters: &mut [f64], random: &mut u64) -> Vec<Option<f64>> {
    let value = |(position, counter): (usize, &mut f64)| match position % 30 {
        0..=8 => {
            *counter += (next(random) % 1_000) as f64;
            Some(*counter)
        }
        9 => next(random).is_multiple_of(5).then(|| (next(random) % 64) as f64),
        _ => Some(17.0),
    };
    counters.iter_mut().enumerate().map(value).collect()
}

fn columns(count: usize) -> Vec<Column> {
    let column = |position: usize| {
        let is_gauge = position % 30 == 9;
        Column {
            name: format!("TcpExt.TCPSomething{position}"),
            scope: "netns:target".into(),
            unit: "count".into(),
            kind: if is_gauge { ReadingKind::Gauge } else { ReadingKind::Counter },
            unavailable: None,
        }
    };
    (0..count).map(column).collect()
}

/// An interval with response times from 60 µs to 60 ms.
fn load(shape: Shape, begin: u64, random: &mut u64) -> (Interval, LatencySet) {
    let count = shape.rate_hz * shape.interval_s;
    let mut latency = LatencySet::default();
    for _ in 0..count {
        let slow = if next(random).is_multiple_of(100) { 100 } else { 1 };
        let service_ns = 60_000 + next(random) % 500_000 * slow;
        let slip_ns = 20_000 + next(random) % 60_000;
        latency.get_mut(LatencyKind::Service).record(service_ns);
        latency.get_mut(LatencyKind::FirstByte).record(service_ns);
        latency.get_mut(LatencyKind::Slip).record(slip_ns);
        latency.get_mut(LatencyKind::LoopSlip).record(slip_ns);
        latency.get_mut(LatencyKind::PoolSlip).record(800 + next(random) % 3_000);
        latency.get_mut(LatencyKind::Response).record(service_ns + slip_ns);
    }
    let counts = Counts { scheduled: count, sent: count, written: count, ok: count, ..Counts::default() };
    let interval = Interval {
        trial: 1,
        phase_index: 0,
        phase: PhaseKind::Steady,
        begin_mono_ns: MonoNs(begin),
        end_mono_ns: MonoNs(begin + shape.interval_s * SECOND_NS),
        counts,
        failures: Failures::new(),
        received_bytes: count * 1_263,
        connections_opened: 0,
        in_flight_at_end: next(random) % 3,
        users_at_end: None,
        thread_cpu_ns: vec![20_000_000 + next(random) % 1_000_000],
        p50_ns: latency.get(LatencyKind::Response).quantile(0.5),
        p99_ns: latency.get(LatencyKind::Response).quantile(0.99),
        condensed: None,
    };
    (interval, latency)
}

/// The end of a short trial, with times and counts of this one.
fn trial_end(shape: Shape) -> TrialEnd {
    let mut end: TrialEnd =
        serde_json::from_str(include_str!("trial_end.json")).expect("is the end of a trial");
    let count = shape.seconds / shape.interval_s * shape.interval_s * shape.rate_hz;
    let counts = Counts { scheduled: count, sent: count, written: count, ok: count, ..Counts::default() };
    let last = MonoNs(BEGIN.0 + shape.seconds * SECOND_NS);
    end.end_mono_ns = last;
    end.summary.total = counts;
    end.summary.generator.cpu_seconds = shape.seconds as f64 / 50.0;
    for phase in end.summary.phases.iter_mut().chain([&mut end.summary.measured]) {
        (phase.begin_mono_ns, phase.end_mono_ns, phase.counts) = (BEGIN, last, counts);
        phase.received_bytes = count * 1_263;
        phase.statuses = [(200, count)].into();
        phase.latency.values_mut().for_each(|summary| summary.count = count);
    }
    end
}
