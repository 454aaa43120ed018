//! Records that no run can have written: the analysis must not panic, and must not produce anything that is not a number.

use super::*;
use proptest::prelude::*;
use sysdyno_record::load::{LatencySummary, TrialEnd};
use sysdyno_record::probe::{ProbeKind, ProbeOutcome, ProbeReply};
use sysdyno_record::series::{Column, ReadingKind, Row, SeriesLine};
use sysdyno_record::units::MonoNs;

/// Columns that the rules read, with one of each kind of scope.
const COLUMNS: &[(&str, &str)] = &[
    ("cpu.idle_us", "cpu:0"),
    ("cpu.user_us", "cpu:0"),
    ("cpu.steal_us", "cpu:0"),
    ("process.cpu_us", "process:1000"),
    ("process.threads_count", "process:1000"),
    ("process.run_delay_us", "process:1000"),
    ("thread.cpu_us", "thread:1000/1000"),
    ("process.fds_count", "process:1000"),
    ("process.fds_limit_count", "process:1000"),
    ("listener.queue_count", "listener:x"),
    ("listener.limit_count", "listener:x"),
    ("connections.unread_count", "listener:x"),
    ("TcpExt.ListenOverflows", "netns:target"),
    ("TcpExt.TCPSynRetrans", "netns:target"),
    ("cgroup.quota_ratio", "cgroup:generator"),
    ("cgroup.periods_count", "cgroup:generator"),
    ("cgroup.throttled_count", "cgroup:generator"),
    ("cgroup.periods_count", "cgroup:target"),
    ("cgroup.throttled_count", "cgroup:target"),
    ("netdev.speed_mbps", "netdev:x"),
    ("netdev.tx_bytes", "netdev:x"),
    ("self.cpu_us", "host"),
    ("psi.cpu_some_us", "host"),
];

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(-1.0),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
        Just(f64::NAN),
        Just(f64::INFINITY),
        -10.0..1e12,
    ]
}

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), Just(1 << 48), 0u64..1_000_000]
}

fn series() -> impl Strategy<Value = Series> {
    let row = proptest::collection::vec(proptest::option::of(number()), COLUMNS.len());
    proptest::collection::vec((0u64..150, row), 0..12).prop_map(|rows| {
        let mut series = Series::default();
        let column = |(name, scope): &(&str, &str)| Column {
            name: (*name).into(),
            scope: (*scope).into(),
            unit: "count".into(),
            kind: ReadingKind::Counter,
            unavailable: None,
        };
        series.push(SeriesLine::header(COLUMNS.iter().map(column).collect()));
        for (second, values) in rows {
            let begin_mono_ns = at(second as f64);
            series.push(SeriesLine::Row(Row::sample(begin_mono_ns, begin_mono_ns, values)));
        }
        series
    })
}

fn counts() -> impl Strategy<Value = Counts> {
    proptest::collection::vec(count(), 8).prop_map(|values| Counts {
        scheduled: values[0],
        sent: values[1],
        written: values[2],
        ok: values[3],
        failed: values[4],
        timed_out: values[5],
        in_flight: values[6],
        unsent: values[7],
    })
}

fn latency() -> impl Strategy<Value = LatencySummary> {
    (proptest::collection::vec(proptest::option::of(count()), 5), count(), proptest::option::of(number()))
        .prop_map(|(values, count, mean)| LatencySummary {
            p50: values[0],
            p90: values[1],
            p99: values[2],
            p95: values[2],
            p99_9: values[3],
            max: values[4],
            count,
            mean: mean.filter(|mean| mean.is_finite()),
            ..LatencySummary::default()
        })
}

fn instant() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), 90_000_000_000u64..130_000_000_000]
}

fn reply() -> impl Strategy<Value = ProbeReply> {
    const OUTCOMES: [ProbeOutcome; 5] = [
        ProbeOutcome::Received,
        ProbeOutcome::TimedOut,
        ProbeOutcome::InFlight,
        ProbeOutcome::Unsent,
        ProbeOutcome::Failed(FailureClass::Reset),
    ];
    (count(), instant(), proptest::option::of(instant()), instant(), 0..OUTCOMES.len()).prop_map(
        |(sequence, intended, sent, end, outcome)| ProbeReply {
            trial: 1,
            target: (sequence % 3) as u16,
            sequence,
            intended_mono_ns: MonoNs(intended),
            sent_mono_ns: sent.map(MonoNs),
            end_mono_ns: MonoNs(end),
            outcome: OUTCOMES[outcome],
            connect_ns: Some(sequence),
            status: None,
        },
    )
}

prop_compose! {
    fn spoilt()(
        is_open in any::<bool>(),
        counts in counts(),
        total in counts(),
        latency in proptest::collection::vec(latency(), LatencyKind::ALL.len()),
        rates in proptest::collection::vec(number(), 5),
        class in 0..FailureClass::COUNT,
        failed in count(),
        instants in proptest::collection::vec(instant(), 4),
        p50_ns in count(),
        replies in proptest::collection::vec(reply(), 0..60),
        is_stopped in any::<bool>(),
    ) -> Specimen {
        let specimen = if is_open { Specimen::open(100.0, 10.0) } else { Specimen::closed(4, 100.0, 10.0) };
        let specimen = specimen.probed(ProbeKind::Http, &[]);
        specimen.edit(|specimen| {
            let summary = &mut specimen.end.summary;
            (summary.total, summary.measured.counts) = (total, counts);
            summary.measured.latency = LatencyKind::ALL.into_iter().zip(latency).collect();
            summary.measured.failures.insert(FailureClass::ALL[class], failed);
            summary.measured.offered_hz = Some(rates[0]);
            (summary.measured.achieved_hz, summary.measured.goodput_hz) = (rates[1], rates[2]);
            summary.generator.busiest_thread_ratio = rates[3];
            summary.generator.cpu_seconds = rates[4];
            summary.measured.connections_opened = failed;
            summary.generator.arrival_gaps = vec![sysdyno_record::load::GapSample {
                phase_index: (failed % 3) as u32,
                arrivals_count: (failed % 5) as u32,
                gaps_ns: vec![failed; 200],
            }];
            (summary.measured.begin_mono_ns, summary.measured.end_mono_ns) = (MonoNs(instants[0]), MonoNs(instants[1]));
            if is_stopped {
                let warmup = PhaseSummary { kind: PhaseKind::Warmup, counts: total, ..summary.measured.clone() };
                summary.phases.insert(0, warmup);
                specimen.end.ending = TrialEnding::HardStop("x".into());
            }
            (specimen.begin.begin_mono_ns, specimen.end.end_mono_ns) = (MonoNs(instants[2]), MonoNs(instants[3]));
            specimen.probe = replies.clone();
            for phase in &mut specimen.begin.plan.phases {
                phase.rate_hz = phase.rate_hz.and(Some(rates[0]));
            }
            for interval in &mut specimen.intervals {
                interval.p50_ns = Some(p50_ns);
                interval.in_flight_at_end = failed;
                interval.counts = counts;
            }
        })
    }
}

/// The numbers that `GeneratorSummary` copies from the record as they are.
fn without_copies(mut analysis: Analysis) -> Analysis {
    (analysis.generator.cpu_seconds, analysis.generator.busiest_thread_ratio) = (0.0, 0.0);
    analysis
}

fn assert_sound(analysis: Analysis) {
    let analysis = without_copies(analysis);
    let json = serde_json::to_string(&analysis).expect("serialises");
    let back: Analysis = serde_json::from_str(&json).expect("holds only numbers");
    assert_eq!(back.verdict, analysis.verdict);
    let texts = analysis.verdict.reasons.iter().map(|reason| &reason.text);
    let texts = texts.chain(analysis.findings.iter().map(|finding| &finding.title));
    for text in texts.chain([&analysis.headline, &analysis.limit]) {
        assert!(!text.contains("NaN") && !text.contains("inf ") && text.len() < 1000, "{text}");
    }
}

fn input<'a>(plan: &'a Plan, trials: &'a [Trial], specimen: &'a Specimen, series: &'a Series) -> RunView<'a> {
    RunView {
        plan: Some(plan),
        facts: Some(&specimen.facts),
        trials,
        intervals: &specimen.intervals,
        series,
        server: None,
        events: &[],
        probe: &specimen.probe,
        latency: EMPTY.get_or_init(BTreeMap::new),
        latency_windows: const { &BTreeMap::new() },
    }
}

static EMPTY: std::sync::OnceLock<BTreeMap<u32, LatencySet>> = std::sync::OnceLock::new();

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_spoilt_load_is_analysed_without_a_panic(specimen in spoilt(), series in series()) {
        let trials = [Trial { begin: specimen.begin.clone(), end: Some(specimen.end.clone()) }];
        let plan = Plan::Load(specimen.begin.plan.clone());
        assert_sound(analyze(&input(&plan, &trials, &specimen, &series)));
    }

    #[test]
    fn a_spoilt_run_is_analysed_without_a_panic(
        specimens in proptest::collection::vec((spoilt(), 0..6usize), 0..8),
        series in series(),
        grid in prop_oneof![Just(u32::MAX), 0u32..8],
    ) {
        const PURPOSES: [TrialPurpose; 6] = [
            TrialPurpose::Single,
            TrialPurpose::Pilot,
            TrialPurpose::Bracket,
            TrialPurpose::Grid,
            TrialPurpose::Certify,
            TrialPurpose::Sweep,
        ];
        let trial = |(index, (specimen, purpose)): (usize, &(Specimen, usize))| {
            let (mut begin, mut end): (_, TrialEnd) = (specimen.begin.clone(), specimen.end.clone());
            (begin.trial, end.trial) = (index as u32 + 1, index as u32 + 1);
            begin.purpose = PURPOSES[*purpose];
            Trial { begin, end: Some(end) }
        };
        let trials: Vec<Trial> = specimens.iter().enumerate().map(trial).collect();
        let mut plan = run_plan(1);
        (plan.search.grid_rates, plan.search.grid_replicates, plan.search.certify_passes) = (grid, grid, grid);
        let quiet = Specimen::open(100.0, 10.0);
        assert_sound(analyze(&input(&Plan::Run(plan.clone()), &trials, &quiet, &series)));
        plan.search.method = SearchMethod::Connections(vec![4, 0, u32::MAX]);
        assert_sound(analyze(&input(&Plan::Run(plan), &trials, &quiet, &series)));
    }
}
