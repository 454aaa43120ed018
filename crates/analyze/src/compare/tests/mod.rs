//! Each gate fires and has a near miss; the words follow from intervals over runs.

mod bounds;

use super::*;
use crate::analyze;
use crate::corpus::*;
use std::collections::BTreeMap;
use sysdyno_record::analysis::{Capacity, CapacityBasis, EndedBy};
use sysdyno_record::comparison::EffectMethod;
use sysdyno_record::effect::Comparison;
use sysdyno_record::event::{Event, EventKind};
use sysdyno_record::facts::Fact;
use sysdyno_record::load::{Counts, FailureClass, LearntBody};
use sysdyno_record::manifest::{ClockPair, Manifest, RunKind, RunStatus, Tool};
use sysdyno_record::plan::{KeepAlive, Plan, StampChoice};
use sysdyno_record::session::SessionResult;
use sysdyno_record::store::Trial;
use sysdyno_record::units::{MonoNs, WallNs};
use sysdyno_record::view::RunView;
use sysdyno_record::wire::{Http2Plan, TlsPlan, TlsVersion};
use sysdyno_record::workload::OperationSummary;

const OPTIONS: CompareOptions =
    CompareOptions { margin_ratio: None, metrics: Vec::new(), allowed: Vec::new(), workload: HostUse::Web };

fn manifest(id: &str) -> Manifest {
    Manifest {
        schema: sysdyno_record::manifest::SCHEMA.into(),
        id: id.into(),
        kind: RunKind::Load,
        tool: Tool { version: "0.1.0".into(), target: "test".into() },
        started_unix_ns: WallNs(id.bytes().map(u64::from).sum()),
        ended_unix_ns: Some(WallNs(2)),
        clock: ClockPair { mono_ns: MonoNs(1), unix_ns: WallNs(1) },
        command: Vec::new(),
        pid: 1,
        pid_start_ticks: 1,
        status: RunStatus::Complete,
        reason: None,
        files: BTreeMap::new(),
        manifest_sha256: None,
    }
}

/// A closed load without a flaw: 4,000 requests per second over ten seconds.
pub(super) fn clean() -> Specimen {
    Specimen::closed(16, 4_000.0, 10.0).edit(|case| case.end.summary.learnt_body = Some(BODY))
}

const BODY: LearntBody = LearntBody { crc32: 7, body_bytes: 10_000 };

pub(super) fn profile_of(id: &str, specimen: &Specimen) -> RunProfile {
    let events = specimen.watched.iter().cloned().map(EventKind::Watched);
    let mut events: Vec<Event> = events.map(|event| Event { mono_ns: at(1.0), event }).collect();
    events.extend(specimen.events.iter().cloned());
    let plan = Plan::Load(specimen.begin.plan.clone());
    let input = RunView {
        plan: Some(&plan),
        facts: Some(&specimen.facts),
        trials: &[Trial { begin: specimen.begin.clone(), end: Some(specimen.end.clone()) }],
        intervals: &specimen.intervals,
        series: &specimen.readings.build(),
        server: None,
        events: &events,
        probe: &[],
        latency: &BTreeMap::from([(1, specimen.latency.clone())]),
        latency_windows: &BTreeMap::new(),
        proofs: &[],
    };
    RunProfile::new(&manifest(id), false, &input, analyze(&input)).expect("is a load")
}

fn side(name: &str, runs: Vec<RunProfile>) -> Side {
    Side { name: name.into(), runs, blocks: Vec::new() }
}

/// What the gates say of a run beside a clean one.
fn gates_of(run: RunProfile) -> Vec<(&'static str, Severity)> {
    let sides = [side("a", vec![profile_of("a", &clean())]), side("b", vec![run])];
    let found = compare(sides.into(), &OPTIONS);
    assert_eq!(found.is_refused, found.gates.iter().any(|gate| gate.severity == Severity::Refused));
    if found.is_refused {
        assert!(found.operations.iter().all(|op| op.metrics.iter().all(|metric| metric.effects.is_empty())));
        assert_eq!(found.verdicts[0].verdict.word, Comparison::CannotTell);
    }
    found.gates.iter().map(|gate| (gate.id, gate.severity)).collect()
}

/// A gate, what fires it, how much it then weighs, and what looks like it and must not fire it.
type Case = (&'static str, Severity, fn(&mut Specimen), fn(&mut Specimen));

const REFUSED: Severity = Severity::Refused;
const WARNED: Severity = Severity::Warned;

fn body(crc32: u32, body_bytes: u64) -> Option<LearntBody> {
    Some(LearntBody { crc32, body_bytes })
}

fn received(case: &mut Specimen, per_response: u64) {
    case.end.summary.measured.received_bytes = per_response * case.end.summary.measured.counts.ok;
}

fn read_from_disk(case: &mut Specimen, share: f64) {
    // 300 bytes are received for each of 4,000 responses per second.
    case.readings = case.readings.clone().counter("disk.read_bytes", "disk:sda", share * 300.0 * 4_000.0);
}

pub(super) fn fact(case: &mut Specimen, name: &str, fact: Fact) {
    case.facts.facts.insert(name.into(), fact);
}

#[expect(clippy::too_many_lines, reason = "a table, one row for each gate")]
fn cases() -> Vec<Case> {
    vec![
        (
            "C01",
            REFUSED,
            |case| *case = case.clone().fail(FailureClass::Status, 4_000),
            |case| *case = case.clone().fail(FailureClass::Status, 4),
        ),
        (
            "C02",
            WARNED,
            |case| *case = case.clone().generator(0.999).cpu(0.999, 0.0, 0.0),
            |case| *case = case.clone().generator(0.25),
        ),
        (
            "C17",
            REFUSED,
            |case| fact(case, "machine.emulator", Fact::Text("aarch64 on x86_64".into())),
            |case| fact(case, "machine.emulator", Fact::Text("none".into())),
        ),
        ("C03", REFUSED, |case| *case = case.clone().fail(FailureClass::Status, 60), |_| {}),
        ("C03", WARNED, |case| *case = case.clone().fail(FailureClass::Status, 20), |_| {}),
        (
            "C04",
            REFUSED,
            |case| {
                case.begin.plan.validators.statuses = vec![404];
                case.end.summary.measured.statuses = BTreeMap::from([(404, 40_000)]);
            },
            |case| case.end.summary.measured.statuses = BTreeMap::from([(200, 39_700), (304, 300)]),
        ),
        (
            "C05",
            REFUSED,
            |case| case.end.summary.learnt_body = body(8, 10_060),
            |case| case.end.summary.learnt_body = body(8, 10_005),
        ),
        ("C05", WARNED, |case| case.end.summary.learnt_body = body(8, 10_020), |_| {}),
        ("C06", WARNED, |case| case.end.summary.learnt_body = body(8, 10_000), |_| {}),
        ("C07", WARNED, |case| received(case, 303), |case| received(case, 301)),
        (
            "C07",
            REFUSED,
            |case| {
                case.end.summary.learnt_body = None;
                received(case, 303);
            },
            |case| case.end.summary.learnt_body = None,
        ),
        ("C08", REFUSED, |case| case.begin.plan.connections = 17, |case| case.begin.plan.seed = 99),
        ("C08", REFUSED, |case| case.begin.plan.keep_alive = KeepAlive::Requests(100), |_| {}),
        ("C08", REFUSED, |case| case.begin.plan.wire.http2 = Some(Http2Plan { streams: 1 }), |_| {}),
        ("C08", REFUSED, |case| case.begin.plan.stamps = StampChoice::User, |_| {}),
        ("C08", REFUSED, |case| case.begin.plan.request.method = "HEAD".into(), |_| {}),
        (
            "C09",
            WARNED,
            |case| case.begin.plan.target.path = "/other".into(),
            |case| {
                case.begin.plan.target.url = "http://127.0.0.1:9090/".into();
            },
        ),
        ("C09", WARNED, |case| case.begin.plan.threads = 2, |_| {}),
        ("C11", WARNED, |case| read_from_disk(case, 0.05), |case| read_from_disk(case, 0.01)),
        (
            "C12",
            REFUSED,
            |case| *case = case.clone().cpu(0.3, 0.1, 0.05),
            |case| *case = case.clone().cpu(0.11, 0.1, 0.05),
        ),
        ("C13", REFUSED, |case| steal(case, 0.015), |case| steal(case, 0.004)),
        ("C13", WARNED, |case| steal(case, 0.008), |_| {}),
        (
            "C14",
            WARNED,
            |case| fact(case, "kernel.release", Fact::Text("6.1.0".into())),
            |case| fact(case, "kernel.boot_id", Fact::Text("x".into())),
        ),
        (
            "C14",
            WARNED,
            |case| fact(case, "memory.total_bytes", Fact::Number(8e9)),
            |case| fact(case, "memory.total_bytes", Fact::Number(16.01e9)),
        ),
    ]
}

fn steal(case: &mut Specimen, share: f64) {
    for scope in ["cpu:0", "cpu:1"] {
        case.readings = case.readings.clone().counter("cpu.steal_us", scope, share * 1e6);
    }
}

fn prepared(edit: fn(&mut Specimen)) -> RunProfile {
    let mut case = clean();
    case.readings = case.readings.clone().counter("disk.read_bytes", "disk:sda", 0.0);
    edit(&mut case);
    profile_of("b", &case)
}

/// What runs differ by on a busy host is not what is assumed of a quiet one.
#[test]
fn much_load_of_others_in_both_runs_is_no_common_ground() {
    let looked = |user: fn(&mut Specimen)| {
        let found = compare(vec![side("a", vec![prepared(user)]), side("b", vec![prepared(user)])], &OPTIONS);
        found.gates.iter().find(|gate| gate.id == "C12").map(|gate| gate.severity)
    };
    assert_eq!(looked(|case| *case = case.clone().cpu(0.6, 0.1, 0.05)), Some(REFUSED));
    assert_eq!(looked(|case| *case = case.clone().cpu(0.2, 0.1, 0.05)), Some(WARNED));
}

#[test]
fn each_gate_fires_and_a_near_miss_does_not() {
    for (index, (id, severity, fires, misses)) in cases().into_iter().enumerate() {
        let reference = {
            let mut case = clean();
            case.readings = case.readings.clone().counter("disk.read_bytes", "disk:sda", 0.0);
            fact(&mut case, "memory.total_bytes", Fact::Number(16e9));
            profile_of("a", &case)
        };
        let look = |run: RunProfile| {
            let found = compare(vec![side("a", vec![reference.clone()]), side("b", vec![run])], &OPTIONS);
            found.gates.iter().map(|gate| (gate.id, gate.severity)).collect::<Vec<_>>()
        };
        let fired = look(prepared(fires));
        assert!(fired.contains(&(id, severity)), "case {index}: {id} {severity:?} is not in {fired:?}");
        let missed = look(prepared(misses));
        assert!(!missed.contains(&(id, severity)), "case {index}: {id} {severity:?} is in {missed:?}");
    }
}

#[test]
fn plans_that_differ_are_told_in_words() {
    let tls = || TlsPlan {
        server_name: "a".into(),
        version: Some(TlsVersion::Tls13),
        resume_ratio: 0.9,
        is_insecure: true,
        ca_file: Some("ca.pem".into()),
        certificate_file: None,
        key_file: None,
    };
    let other = prepared(|case| case.begin.plan.wire.http2 = Some(Http2Plan { streams: 1 }));
    let mut secured = other.clone();
    secured.load.wire.tls = Some(tls());
    secured.load.origin.churn_hz = Some(5.0);
    let found = compare(vec![side("a", vec![prepared(|_| {})]), side("b", vec![secured])], &OPTIONS);
    let gate = found.gates.iter().find(|gate| gate.id == "C08").expect("refused");
    let words = [
        "protocol (HTTP/1.1 in A, HTTP/2 with 1 stream per connection in",
        "encryption (none in A, TLS 1.3 only, 90% resumed, any certificate accepted, trusting ca.pem in",
        "origin of connections (kernel's choice in A, 5.00 reconnects per second in",
    ];
    assert!(words.iter().all(|text| gate.text.contains(text)), "{}", gate.text);
}

#[test]
fn every_gate_has_a_case() {
    let mut tested: Vec<&str> = cases().iter().map(|case| case.0).collect();
    tested.extend(["C10", "C15", "C16"]);
    for gate in COMPARABILITY {
        assert!(tested.contains(&gate.id), "{} has no case", gate.id);
        assert!(gate.meaning.ends_with('.') && !gate.remedy.ends_with('.'), "{}", gate.id);
    }
}

#[test]
fn a_server_behind_its_schedule_and_another_version_are_told() {
    let mut run = profile_of("b", &clean());
    run.work.achieved_ratio = Some(0.9);
    run.version = "0.2.0".into();
    assert_eq!(gates_of(run), [("C10", WARNED), ("C15", WARNED)]);
    let mut near = profile_of("b", &clean());
    near.work.achieved_ratio = Some(0.995);
    assert_eq!(gates_of(near), []);
}

#[test]
fn an_unchecked_body_that_changes_within_a_run_says_nothing_and_a_checked_one_refuses() {
    let mut run = profile_of("b", &clean());
    run.work.bodies = vec![LearntBody { crc32: 1, ..BODY }, LearntBody { crc32: 2, ..BODY }];
    assert_eq!(gates_of(run.clone()), []);
    run.work.bodies.truncate(1);
    run.load.validators.same_body = true;
    let mut reference = profile_of("a", &clean());
    reference.load.validators.same_body = true;
    let found = compare(vec![side("a", vec![reference]), side("b", vec![run])], &OPTIONS);
    assert_eq!(
        found.gates.iter().map(|gate| (gate.id, gate.severity)).collect::<Vec<_>>(),
        [("C06", REFUSED)]
    );
}

#[test]
fn what_the_user_allows_is_told_and_compared_but_not_what_is_not_the_servers() {
    let allow = |names: &[&str], run: RunProfile| {
        let allowed = names.iter().map(|name| (*name).to_owned()).collect();
        let sides = [side("a", vec![profile_of("a", &clean())]), side("b", vec![run])];
        compare(sides.into(), &CompareOptions { allowed, ..OPTIONS })
    };
    let other_length = || prepared(|case| case.end.summary.learnt_body = body(8, 20_000));
    assert!(allow(&[], other_length()).is_refused);
    for name in ["C05", "other-length"] {
        let found = allow(&[name], other_length());
        assert!(!found.is_refused);
        assert!(found.gates.iter().any(|gate| (gate.id, gate.severity) == ("C05", Severity::Allowed)));
        assert!(!found.operations[0].metrics[0].effects.is_empty());
    }
    let failed = || prepared(|case| *case = case.clone().fail(FailureClass::Status, 4_000));
    assert!(allow(&["C01", "C03", "invalid-run", "errors"], failed()).is_refused);
}

#[test]
fn a_reason_of_both_sides_is_said_once() {
    let failed = || prepared(|case| *case = case.clone().fail(FailureClass::Status, 4_000));
    let found = compare([side("a", vec![failed()]), side("b", vec![failed()])].into(), &OPTIONS);
    let sentence = &found.verdicts[0].sentence;
    assert_eq!(sentence.matches("C01 invalid-run").count(), 1, "{sentence}");
}

fn operation(name: &str, sent: u64, bytes_per_response: u64) -> OperationSummary {
    let histogram = spread(sent, 1e6);
    OperationSummary {
        name: name.into(),
        counts: Counts { scheduled: sent, sent, written: sent, ok: sent, ..Counts::default() },
        failures: Default::default(),
        total: Counts::default(),
        not_modified_count: 0,
        goodput_hz: sent as f64 / 10.0,
        received_bytes: sent * bytes_per_response,
        latency: summary(&histogram),
    }
}

fn mix(operations: &[(&str, u64, u64)]) -> RunProfile {
    let mut run = profile_of("b", &clean());
    run.analysis.operations =
        operations.iter().map(|(name, sent, bytes)| operation(name, *sent, *bytes)).collect();
    run
}

#[test]
fn operations_are_compared_one_by_one_if_their_mix_is_the_same() {
    let reference = || mix(&[("home", 30_000, 500), ("cart", 10_000, 900)]);
    let with = |run: RunProfile| compare(vec![side("a", vec![reference()]), side("b", vec![run])], &OPTIONS);
    let same = with(mix(&[("home", 30_100, 500), ("cart", 10_000, 902)]));
    assert_eq!(same.gates, []);
    let names: Vec<&str> = same.operations.iter().map(|operation| operation.operation.as_str()).collect();
    assert_eq!(names[1..], ["home", "cart"]);
    assert!(
        same.operations[2]
            .metrics
            .iter()
            .any(|metric| metric.metric == "p99" && metric.effects[0].effect.is_some())
    );
    assert!(same.operations[2].metrics.iter().all(|metric| metric.metric != "cpu"), "CPU is of all together");
    let gate =
        |run: RunProfile| with(run).gates.iter().map(|gate| (gate.id, gate.severity)).collect::<Vec<_>>();
    assert_eq!(gate(mix(&[("home", 30_000, 500), ("cart", 9_300, 900)])), [("C16", WARNED)]);
    assert_eq!(gate(mix(&[("home", 30_000, 500), ("cart", 8_000, 900)])), [("C16", REFUSED)]);
    assert_eq!(gate(mix(&[("home", 30_000, 500), ("cart", 10_000, 1_000)])), [("C16", REFUSED)]);
    let mut of_users = mix(&[("home", 30_000, 500), ("cart", 8_000, 1_000)]);
    of_users.analysis.session = Some(SessionResult {
        name: "shop".into(),
        users: 9,
        rate_hz: 1.0,
        planned_hz: None,
        passed: true,
        operations: Vec::new(),
        rules: Vec::new(),
    });
    assert_eq!(gate(of_users), [("C16", WARNED)], "the session has a rule on the mix");
    let worse = with({
        let mut run = mix(&[("home", 30_000, 500), ("cart", 10_000, 900)]);
        run.analysis.operations[1].latency = summary(&spread(10_000, 3e6));
        run
    });
    assert!(worse.verdicts[0].worse.contains(&"p99 of cart".to_owned()), "{:?}", worse.verdicts);
    assert!(
        worse.headline.ends_with("p99 of cart, p90 of cart, and p50 of cart got worse"),
        "{}",
        worse.headline
    );
}

#[test]
fn a_cache_that_found_more_of_its_keys_is_another_case() {
    let with = |hits: f64| {
        let mut runs = [profile_of("a", &clean()), profile_of("b", &clean())];
        runs[0].around.hit_ratio = Some(0.9);
        runs[1].around.hit_ratio = Some(hits);
        let sides = runs.map(|run| side("x", vec![run]));
        compare(sides.into(), &OPTIONS).gates.iter().map(|gate| (gate.id, gate.severity)).collect::<Vec<_>>()
    };
    assert_eq!(with(0.7), [("C11", REFUSED)]);
    assert_eq!(with(0.85), [("C11", WARNED)]);
    assert_eq!(with(0.89), []);
}

/// Runs of a closed load with these goodputs.
fn runs(name: &str, rates: &[f64]) -> Side {
    let run = |(index, rate): (usize, &f64)| {
        let case = Specimen::closed(16, *rate, 10.0).edit(|case| case.end.summary.learnt_body = Some(BODY));
        profile_of(&format!("{name}{index}"), &case)
    };
    side(name, rates.iter().enumerate().map(run).collect())
}

fn goodput(found: &RunsComparison) -> &MetricComparison {
    let metrics = &found.operations[0].metrics;
    metrics.iter().find(|metric| metric.metric == "goodput").expect("a closed load has one")
}

#[test]
fn single_runs_tell_large_differences_and_are_silent_about_small_ones() {
    let word = |rate: f64| {
        let found = compare(vec![runs("a", &[4_000.0]), runs("b", &[rate])], &OPTIONS);
        let effect = goodput(&found).effects[0].clone();
        assert!(effect.verdict.capped_by.iter().any(|reason| reason.contains("a single run")), "{effect:?}");
        assert_eq!(effect.effect.expect("has one").pairs_count, 1);
        effect.verdict.word
    };
    assert_eq!(word(4_000.0), Comparison::CannotTell, "one run each is no proof that they are the same");
    assert_eq!(word(3_800.0), Comparison::CannotTell);
    assert_eq!(word(2_800.0), Comparison::Worse);
    assert_eq!(word(5_600.0), Comparison::Better);
}

#[test]
fn several_runs_on_each_side_have_an_interval_of_their_own() {
    let a = [4_000.0, 4_010.0, 3_990.0, 4_005.0, 3_995.0];
    let shifted = |by: f64| a.map(|rate| rate * by + 0.3);
    let effect = |by: f64| {
        let found = compare(vec![runs("a", &a), runs("b", &shifted(by))], &OPTIONS);
        goodput(&found).effects[0].clone()
    };
    let same = effect(1.001);
    assert_eq!((same.verdict.word, same.method), (Comparison::Same, Some(EffectMethod::RankShift)));
    assert_eq!(same.verdict.capped_by, Vec::<String>::new());
    let worse = effect(0.95);
    assert_eq!(worse.verdict.word, Comparison::Worse);
    assert!(worse.verdict.capped_by[0].contains("not interleaved"), "{worse:?}");
    let point = worse.effect.expect("has one").point;
    assert!((point - 0.95).abs() < 0.002, "{point}");
    // Three on each side are too few for ranks.
    let found = compare(vec![runs("a", &a[..3]), runs("b", &shifted(0.9)[..3])], &OPTIONS);
    let effect = &goodput(&found).effects[0];
    assert_eq!((effect.verdict.word, effect.method), (Comparison::Worse, Some(EffectMethod::Welch)));
}

/// Sides of runs in blocks: in each block the host is faster or slower for all.
fn in_blocks(levels: &[f64], hosts: &[f64]) -> Vec<Side> {
    let scatter = |side: usize, block: usize| 1.0 + 0.004 * ((side * 7 + block * 5) % 3) as f64;
    let side = |(number, level): (usize, &f64)| {
        let rates: Vec<f64> =
            hosts.iter().enumerate().map(|(block, host)| level * host * scatter(number, block)).collect();
        Side { blocks: (0..hosts.len() as u32).collect(), ..runs(&format!("v{number}"), &rates) }
    };
    levels.iter().enumerate().map(side).collect()
}

#[test]
fn two_blocks_of_an_experiment_tell_what_two_runs_of_each_do_not() {
    let sides = in_blocks(&[4_000.0, 5_000.0, 4_010.0, 2_000.0], &[1.0, 1.3]);
    let found = compare(sides.clone(), &OPTIONS);
    let metric = goodput(&found);
    let words: Vec<Comparison> = metric.effects.iter().map(|effect| effect.verdict.word).collect();
    assert_eq!(words[0], Comparison::Better, "{metric:?}");
    assert_eq!(words[2], Comparison::Worse);
    assert!(metric.effects.iter().all(|effect| effect.method == Some(EffectMethod::Blocks)));
    assert_eq!(metric.letters[1], "a", "the best is alone: {:?}", metric.letters);
    assert!(metric.letters.iter().filter(|letters| letters.contains('a')).count() == 1);
    let apart = sides.into_iter().map(|side| Side { blocks: Vec::new(), ..side }).collect();
    let apart = compare(apart, &OPTIONS);
    let word = |found: &RunsComparison, side: usize| goodput(found).effects[side].verdict.word;
    assert_eq!(word(&apart, 0), Comparison::CannotTell, "the host's changes hide it");
}

#[test]
fn words_and_intervals_of_an_experiment_never_contradict_each_other() {
    for levels in [[4_000.0, 4_100.0, 4_300.0], [4_000.0, 4_000.0, 3_000.0], [4_000.0, 4_020.0, 8_000.0]] {
        let found = compare(in_blocks(&levels, &[1.0, 0.8, 1.1]), &OPTIONS);
        let metrics = found.operations.iter().flat_map(|one| &one.metrics);
        for (metric, effect) in
            metrics.flat_map(|metric| metric.effects.iter().map(move |effect| (metric, effect)))
        {
            let Some(shown) = effect.effect else { continue };
            let is_claim = matches!(effect.verdict.word, Comparison::Better | Comparison::Worse);
            let is_apart = shown.low > 1.0 || shown.high < 1.0;
            assert!(is_claim == is_apart || effect.verdict.word == Comparison::Same, "{effect:?}");
            let [first, other] = [&metric.letters[0], &metric.letters[effect.side]];
            let is_sharing = first.chars().any(|letter| other.contains(letter));
            assert!(!(is_claim && is_sharing), "{:?}: {effect:?}", metric.letters);
        }
    }
}

#[test]
fn a_run_far_off_is_named_and_ranks_take_over_where_there_are_enough_blocks() {
    let with_one_far_off = |blocks: usize| {
        let hosts: Vec<f64> = (0..blocks).map(|block| 1.0 + 0.1 * (block % 3) as f64).collect();
        let mut sides = in_blocks(&[4_000.0, 4_400.0, 4_000.0, 4_010.0], &hosts);
        sides[1].runs[2] = runs("x", &[900.0]).runs.remove(0);
        compare(sides, &CompareOptions { metrics: vec!["goodput".into()], ..OPTIONS })
    };
    let (few, many) = (with_one_far_off(5), with_one_far_off(9));
    let methods = |found: &RunsComparison| {
        goodput(found).effects.iter().map(|effect| effect.method).collect::<Vec<Option<EffectMethod>>>()
    };
    let scatter = |found: &RunsComparison| goodput(found).scatter.clone().expect("one lies far off");
    assert_eq!(methods(&few), [Some(EffectMethod::Blocks); 3]);
    assert!(scatter(&few).contains("that of B in block 3 by "), "{}", scatter(&few));
    assert!(scatter(&few).ends_with("but need at least 7 blocks"), "{}", scatter(&few));
    assert_eq!(goodput(&few).effects[0].verdict.word, Comparison::CannotTell);
    assert_eq!(methods(&many), [Some(EffectMethod::BlockRanks); 3]);
    assert!(scatter(&many).ends_with("ranks within blocks limit their effect"), "{}", scatter(&many));
    let point = goodput(&many).effects[0].effect.expect("both ends are known").point;
    assert!((point - 1.1).abs() < 0.02, "{point}");
    let plain = compare(in_blocks(&[4_000.0, 4_400.0, 4_000.0], &[1.0; 9]), &OPTIONS);
    assert_eq!(goodput(&plain).scatter, None);
}

#[test]
fn seconds_and_requests_within_a_run_are_no_repetitions() {
    // Ten times the requests make the interval of single runs no narrower than what runs are taken to differ by.
    let width = |seconds: f64| {
        let of = |name: &str| side(name, vec![profile_of(name, &Specimen::closed(16, 1_000.0, seconds))]);
        let found = compare(vec![of("a"), of("b")], &OPTIONS);
        let effect = goodput(&found).effects[0].effect.expect("has one");
        effect.high / effect.low
    };
    assert!((width(10.0) - width(100.0)).abs() < 1e-9);
}

#[test]
fn sides_that_cannot_be_told_apart_share_a_letter() {
    let level =
        |name: &str, rate: f64| runs(name, &[rate, rate * 1.004, rate * 0.996, rate * 1.002, rate * 0.998]);
    let sides = [level("a", 4_000.0), level("b", 4_003.0), level("c", 3_000.0)];
    let found = compare(sides.into(), &OPTIONS);
    assert_eq!(goodput(&found).letters, ["a", "a", "b"]);
    assert_eq!(found.verdicts[1].verdict.word, Comparison::Worse);
    assert!(found.headline.starts_with("2 sides against A: 1 worse"), "{}", found.headline);
}

/// A search that ended with this capacity and these ends of its interval, as ratios of it.
fn searched(rate_hz: f64, (low, high): (f64, f64), basis: CapacityBasis, is_lower_bound: bool) -> Side {
    let mut run = profile_of("x", &clean());
    run.search = Some(crate::simulated::run_plan(1));
    run.analysis.capacity = Some(Capacity {
        rate_hz: Some(rate_hz),
        low_hz: Some(rate_hz * low),
        high_hz: Some(rate_hz * high),
        basis,
        ended_by: if is_lower_bound { EndedBy::Generator } else { EndedBy::Objective },
        is_lower_bound,
        certified_hz: None,
        certified_passes: 0,
        method: String::new(),
        objective: "p99<50ms".into(),
    });
    side("x", vec![run])
}

#[test]
fn a_capacity_is_compared_with_its_interval() {
    let search = |rate_hz: f64| searched(rate_hz, (0.97, 1.03), CapacityBasis::Confidence, false);
    let found = compare(vec![search(2_000.0), search(1_300.0)], &OPTIONS);
    let names: Vec<&str> = found.operations[0].metrics.iter().map(|metric| metric.metric).collect();
    assert_eq!(names, ["capacity"], "latencies of searches are at rates of their own");
    assert_eq!(found.verdicts[0].verdict.word, Comparison::Worse);
    assert!(found.headline.contains("Capacity of B is worse: 35% lower"), "{}", found.headline);
    let enclosed = searched(1_300.0, (0.5, 1.6), CapacityBasis::Enclosure, false);
    let found = compare(vec![search(2_000.0), enclosed], &OPTIONS);
    assert_eq!(found.verdicts[0].verdict.word, Comparison::CannotTell, "it may be 2,000 as well");
}

#[test]
fn a_trend_finds_where_the_level_changed_and_none_in_noise() {
    let noise = |index: usize| 1.0 + 0.004 * ((index * 7 % 5) as f64 - 2.0);
    let series = |step_at: usize| {
        let rate = |index: usize| 4_000.0 * noise(index) * if index < step_at { 1.0 } else { 0.9 };
        let run = |index: usize| {
            let case = Specimen::closed(16, rate(index), 10.0);
            let mut run = profile_of("r", &case);
            run.id = format!("r{index}");
            run.started_unix_ns = WallNs(index as u64);
            run
        };
        // The order of the arguments does not matter.
        (0..16).rev().map(run).collect::<Vec<_>>()
    };
    let found = over_time(series(9), &OPTIONS);
    let trend = found.trend.expect("was asked for");
    let goodput = trend.metrics.iter().find(|metric| metric.metric == "goodput").expect("has one");
    assert_eq!(goodput.changes.iter().map(|change| change.index).collect::<Vec<_>>(), [9]);
    let change = &goodput.changes[0];
    assert_eq!(change.verdict.word, Comparison::Worse);
    assert!(change.permutation_p <= 0.01 && change.welch_p.is_some_and(|p| p < 1e-6), "{change:?}");
    assert!(found.headline.contains("goodput changed with r9 by −10% (worse)"), "{}", found.headline);
    let quiet = over_time(series(99), &OPTIONS).trend.expect("was asked for");
    assert!(quiet.metrics.iter().all(|metric| metric.changes.is_empty()), "{quiet:?}");
}

#[test]
fn a_trend_leaves_out_what_may_not_be_compared_with_the_newest() {
    let mut runs = vec![profile_of("a", &clean()), profile_of("b", &clean()), profile_of("c", &clean())];
    runs[1].load.connections = 99;
    let found = over_time(runs, &OPTIONS);
    assert_eq!(found.trend.expect("was asked for").runs.len(), 2);
    assert!(found.gates.iter().any(|gate| gate.text.contains("run b")), "{:?}", found.gates);
}

#[test]
fn a_trend_takes_the_newest_run_that_most_others_are_like() {
    let mut runs: Vec<RunProfile> =
        ["a", "b", "c", "d", "e"].into_iter().map(|id| profile_of(id, &clean())).collect();
    // The newest is another load: with it, nothing else would be left.
    runs[4].load.connections = 99;
    let found = over_time(runs, &OPTIONS);
    let kept: Vec<String> =
        found.trend.expect("was asked for").runs.iter().map(|run| run.id.clone()).collect();
    assert_eq!(kept, ["a", "b", "c", "d"]);
    assert!(!found.is_refused && found.limits[0].contains("compared with d"), "{:?}", found.limits);
}

#[test]
fn hostile_numbers_make_no_effect_and_no_panic() {
    for value in [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e-320] {
        let mut run = profile_of("b", &clean());
        run.analysis.rates.goodput_hz = value;
        run.around.server_cpu_ns = Some(value);
        run.work.response_bytes = Some(value);
        let found = compare(vec![side("a", vec![profile_of("a", &clean())]), side("b", vec![run])], &OPTIONS);
        let json = serde_json::to_string(&found).expect("serialises");
        assert!(!json.contains("inf"), "{json}");
    }
}
