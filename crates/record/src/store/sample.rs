//! A small run with something in every file, for the tests of the store.

use super::{NewRun, RunWriter};
use crate::analysis::*;
use crate::event::{Event, EventKind, ProcessRole, Tier, WatchedProcess};
use crate::facts::{Fact, HostFacts};
use crate::load::*;
use crate::manifest::{ClockPair, RunKind, Tool};
use crate::plan::*;
use crate::probe::{ProbeOutcome, ProbeReply};
use crate::series::{Column, ReadingKind, Row, SeriesLine};
use crate::units::{Bytes, MonoNs, SpanNs, WallNs};
use std::path::Path;

pub(super) const STARTED: WallNs = WallNs(1_790_000_000_500_000_000);

pub(super) fn new_run(suffix: u32) -> NewRun {
    NewRun {
        kind: RunKind::Load,
        tool: Tool { version: "0.1.0".into(), target: "x86_64-unknown-linux-gnu".into() },
        clock: ClockPair { mono_ns: MonoNs(5_000_000_000), unix_ns: STARTED },
        command: vec![
            "sysdyno".into(),
            "load".into(),
            "-H".into(),
            "Cookie: canary".into(),
            "http://h/".into(),
        ],
        pid: 4242,
        pid_start_ticks: 777,
        suffix,
    }
}

pub(crate) fn load_plan() -> LoadPlan {
    let target = Target {
        url: "http://127.0.0.1:8080/".into(),
        endpoint: Endpoint::Tcp("127.0.0.1:8080".parse().expect("an address")),
        host: "127.0.0.1:8080".into(),
        path: "/".into(),
    };
    LoadPlan {
        request: RequestSpec {
            method: "GET".into(),
            headers: vec![
                HeaderField { name: "Authorization".into(), value: "Bearer canary".into() },
                HeaderField { name: "Accept".into(), value: "*/*".into() },
            ],
            body: Default::default(),
            body_bytes: 0,
        },
        arrival: Arrival::Poisson,
        connections: 4,
        phases: vec![PhasePlan {
            kind: PhaseKind::Steady,
            rate_hz: Some(100.0),
            end: PhaseEnd::After(SpanNs::from_secs(2)),
        }],
        hard_stops: HardStops { connect_failures_in_a_row: Some(50), failure_ratio: None },
        max_body: Bytes(10 << 20),
        seed: 7,
        fail_if: vec!["p99>20ms".into()],
        ..LoadPlan::plain(target)
    }
}

pub(super) fn facts() -> HostFacts {
    let mut facts = HostFacts::default();
    facts.facts.insert("cpu.online_count".into(), Fact::Number(2.0));
    facts.facts.insert("cpu.model".into(), Fact::Text("«name»".into()));
    facts.facts.insert("memory.speed_mhz".into(), Fact::Unavailable("needs root".into()));
    facts
}

pub(super) fn trial_begin(trial: u32) -> TrialBegin {
    let begin_mono_ns = MonoNs(u64::from(trial) * 6_000_000_000);
    TrialBegin { trial, purpose: TrialPurpose::Single, begin_mono_ns, plan: load_plan() }
}

pub(super) fn counts(ok: u64) -> Counts {
    Counts { scheduled: ok, sent: ok, written: ok, ok, ..Counts::default() }
}

pub(super) fn phase_summary(ok: u64) -> PhaseSummary {
    PhaseSummary {
        kind: PhaseKind::Steady,
        begin_mono_ns: MonoNs(6_000_000_000),
        end_mono_ns: MonoNs(8_000_000_000),
        counts: counts(ok),
        offered_hz: Some(100.0),
        achieved_hz: 100.0,
        goodput_hz: 100.0,
        received_bytes: 20_000,
        connections_opened: 4,
        statuses: [(200, 200)].into(),
        latency: [(LatencyKind::Response, LatencySummary::default())].into(),
        ..PhaseSummary::default()
    }
}

pub(super) fn trial_end(trial: u32) -> TrialEnd {
    TrialEnd {
        trial,
        end_mono_ns: MonoNs(u64::from(trial) * 6_000_000_000 + 2_000_000_000),
        ending: TrialEnding::Complete,
        summary: TrialSummary {
            measured: phase_summary(200),
            phases: vec![phase_summary(200)],
            total: counts(200),
            generator: GeneratorSummary {
                threads: 1,
                cpus: vec![Some(0)],
                cpu_seconds: 0.25,
                busiest_thread_ratio: 0.125,
                io: "io_uring".into(),
                gap_sample_ns: vec![1, 2, 3],
                arrival_gaps: vec![GapSample { phase_index: 1, arrivals_count: 1, gaps_ns: vec![1, 2, 3] }],
                ..GeneratorSummary::default()
            },
            ..TrialSummary::default()
        },
    }
}

pub(super) fn interval(trial: u32, second: u64) -> Interval {
    let begin = u64::from(trial) * 6_000_000_000 + second * 1_000_000_000;
    Interval {
        trial,
        phase_index: 0,
        phase: PhaseKind::Steady,
        begin_mono_ns: MonoNs(begin),
        end_mono_ns: MonoNs(begin + 1_000_000_000),
        counts: counts(100),
        received_bytes: 10_000,
        connections_opened: 2,
        thread_cpu_ns: vec![100_000_000],
        p50_ns: Some(1000),
        ..Interval::default()
    }
}

/// A hundred response times and service times that differ from second to second.
pub(super) fn latency(trial: u32, second: u64) -> LatencySet {
    let mut set = LatencySet::default();
    for number in 0..100 {
        let value = 100_000 * u64::from(trial) + 10_000 * second + 37 * number;
        set.get_mut(LatencyKind::Response).record(value + 500);
        set.get_mut(LatencyKind::Service).record(value);
    }
    set
}

pub(super) fn series_header() -> SeriesLine {
    let column = |name: &str, unavailable: Option<&str>| Column {
        name: name.into(),
        scope: "host".into(),
        unit: "count".into(),
        kind: ReadingKind::Counter,
        unavailable: unavailable.map(Into::into),
    };
    SeriesLine::header(vec![column("a_count", None), column("b_count", Some("not there"))])
}

pub(super) fn series_row(number: u64) -> SeriesLine {
    let begin = 6_000_000_000 + number * 100_000_000;
    SeriesLine::Row(Row {
        begin_mono_ns: MonoNs(begin),
        end_mono_ns: MonoNs(begin + 50_000),
        values: vec![Some(number as f64 * 1.5), None],
        condensed: None,
        logged: vec![],
    })
}

pub(super) fn event(number: u64) -> Event {
    let event = if number == 0 {
        EventKind::Watched(WatchedProcess {
            pid: 99,
            start_ticks: 1,
            command: "nginx\u{1b}[31m".into(),
            role: ProcessRole::Target,
            cpus: Some(vec![0]),
            parent_pid: Some(1),
            tier: Some(Tier { depth: 1, address: Endpoint::Unix("/run/a.sock".into()), asked_by_pid: 98 }),
            unit: Some("nginx.service".into()),
            is_log_reader: false,
            tracer: Some("strace".into()),
            holds_lock: false,
        })
    } else {
        EventKind::Warning { text: format!("warning {number}") }
    };
    Event { mono_ns: MonoNs(6_000_000_000 + number), event }
}

pub(super) fn analysis() -> Analysis {
    let summary =
        LatencySummary { p50: Some(1000), count: 200, mean: Some(1000.5), ..LatencySummary::default() };
    Analysis {
        schema: "sysdyno.analysis/1".into(),
        verdict: Verdict {
            status: VerdictStatus::Suspect,
            reasons: vec![Reason {
                id: "M09".into(),
                name: "short-run".into(),
                status: VerdictStatus::Suspect,
                text: "2 s were measured".into(),
                remedy: "measure longer".into(),
            }],
        },
        headline: "at least 100 requests per second".into(),
        limit: "no limit was found".into(),
        shown_trial: 1,
        counts: counts(200),
        rates: Rates { offered_hz: Some(100.0), achieved_hz: 100.0, goodput_hz: 100.0 },
        response_time_ns: summary,
        service_time_ns: summary,
        slip_ns: summary,
        loop_slip_ns: summary,
        pool_slip_ns: summary,
        connect_time_ns: summary,
        first_byte_time_ns: summary,
        generator: trial_end(1).summary.generator,
        findings: vec![excluded_finding()],
        distribution: vec![QuantilePoint { ratio: 0.5, value_ns: 1000 }],
        checks: vec![CheckOutcome {
            text: "p99>20ms".into(),
            passed: false,
            decided: false,
            metric: "response.p99".into(),
            operator: ">".into(),
            measured: None,
            is_lower_bound: false,
            limit: Some(20e6),
            unit: "ns".into(),
            sentence: "p99 > 20 ms: cannot be decided: not supported by 200 samples, 1,000 are needed".into(),
        }],
        ..Analysis::default()
    }
}

fn excluded_finding() -> Finding {
    Finding {
        id: "T01".into(),
        name: "accept-overflow".into(),
        host: None,
        confidence: Confidence::Excluded,
        title: "the accept queue never overflowed".into(),
        evidence: vec![Evidence {
            role: EvidenceRole::Mechanism,
            text: "ListenOverflows did not grow".into(),
            source: "/proc/net/netstat".into(),
            column: Some("TcpExt.ListenOverflows@netns:target".into()),
            begin_mono_ns: MonoNs(6_000_000_000),
            end_mono_ns: MonoNs(8_000_000_000),
        }],
        remedy: None,
        counterfactual: "growth of ListenOverflows".into(),
        explained_ratio: None,
    }
}

pub(super) fn probe_reply(sequence: u64) -> ProbeReply {
    let intended = MonoNs(6_000_000_000 + 100_000_000 * sequence);
    ProbeReply {
        trial: 1,
        target: 0,
        sequence,
        intended_mono_ns: intended,
        sent_mono_ns: Some(MonoNs(intended.0 + 60_000)),
        end_mono_ns: MonoNs(intended.0 + 1_060_000),
        outcome: ProbeOutcome::Received,
        connect_ns: (sequence == 1).then_some(200_000),
        status: Some(200),
    }
}

/// Writes the whole run, two trials of two seconds, without ending it.
pub(super) fn write_run(runs_dir: &Path, suffix: u32) -> RunWriter {
    let mut writer = RunWriter::create(runs_dir, new_run(suffix)).expect("creates");
    writer.plan(&Plan::Load(load_plan())).expect("writes");
    writer.facts(&facts()).expect("writes");
    writer.series(&series_header()).expect("writes");
    (0..5).for_each(|number| writer.series(&series_row(number)).expect("writes"));
    (0..3).for_each(|number| writer.event(&event(number)).expect("writes"));
    (1..4).for_each(|sequence| writer.probe(&probe_reply(sequence)).expect("writes"));
    for trial in [1, 2] {
        writer.trial_begin(&trial_begin(trial)).expect("writes");
        for second in [0, 1] {
            writer.interval(&interval(trial, second), &latency(trial, second)).expect("writes");
        }
        writer.trial_end(&trial_end(trial)).expect("writes");
    }
    writer.analysis(&analysis()).expect("writes");
    writer
}
