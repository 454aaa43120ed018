//! Merging what several hosts say: honest ones, one that is lost, and some that lie.

use super::{Kept, operation, plan_of};
use crate::engine::{Control, Generators, Part, Said, SpreadHost, clock, spread};
use std::collections::VecDeque;
use sysdyno_record::load::{Counts, LatencyKind, TrialEnding};
use sysdyno_record::plan::{Arrival, LoadPlan, PhaseEnd, PhaseKind, PhasePlan};
use sysdyno_record::remote::ClockOffset;
use sysdyno_record::spread::{
    PartEnd, PartFinish, PartOperation, PartReady, PartReport, PartTally, PartWindow,
};
use sysdyno_record::units::{MonoNs, SpanNs};

/// Hosts that say what was written for them.
struct Script {
    lines: VecDeque<(usize, Said)>,
    refused: Vec<(usize, String)>,
}

impl Generators for Script {
    fn next(&mut self) -> Option<(usize, Said)> {
        let gone = || (0, Said::Lost("the script is over".into()));
        Some(self.lines.pop_front().unwrap_or_else(|| {
            self.lines.push_back((1, Said::Lost("the script is over".into())));
            gone()
        }))
    }

    fn refuse(&mut self, host: usize, cause: &str) {
        self.refused.push((host, cause.to_owned()));
    }
}

fn plan() -> LoadPlan {
    let phase = PhasePlan {
        kind: PhaseKind::Steady,
        rate_hz: Some(20.0),
        end: PhaseEnd::After(SpanNs::from_secs(1)),
    };
    LoadPlan { threads: 2, arrival: Arrival::Constant, phases: vec![phase], ..plan_of("http://127.0.0.1:1/") }
}

fn host(name: &str) -> SpreadHost {
    let clock = ClockOffset {
        offset_ns: 0,
        uncertainty_ns: 5,
        round_trip_ns: 10,
        exchanges_count: 1,
        is_same_clock: false,
    };
    SpreadHost { name: name.into(), clock, ready: PartReady { cpus: vec![None], ..PartReady::default() } }
}

/// A thread's window with so many requests, all but the open ones answered after a millisecond.
fn window(thread: u32, index: u32, requests: u64, open: u64) -> PartWindow {
    let begin = clock::now().0 - 10_000_000_000 + u64::from(index) * 1_000_000_000;
    let ok = requests - open;
    let counts = Counts { scheduled: requests, sent: requests, written: requests, ok, ..Counts::default() };
    let latency = [(LatencyKind::Response, vec![[1_000_000, ok]])].into_iter().collect();
    PartWindow {
        thread,
        index,
        begin_mono_ns: MonoNs(begin),
        end_mono_ns: MonoNs(begin + 1_000_000_000),
        phase: 0,
        tallies: vec![PartTally { phase: 0, counts, completed: ok, latency, ..PartTally::default() }],
        in_flight: open,
        users: None,
        cpu_ns: 1_000,
        spun_ns: 0,
    }
}

fn said(report: PartReport) -> Said {
    Said::Report(report)
}

fn finished(thread: u32) -> Said {
    let end = clock::now();
    said(PartReport::Finished(PartFinish {
        thread,
        gaps: Vec::new(),
        backlog_max: 0,
        spin_ended: None,
        end_mono_ns: end,
    }))
}

fn over() -> Said {
    said(PartReport::Over(PartEnd::default()))
}

fn told(window: PartWindow) -> Said {
    said(PartReport::Window(Box::new(window)))
}

/// What comes of these lines of two hosts, and which of the two was refused.
fn merged(lines: Vec<(usize, Said)>) -> (crate::engine::LoadOutcome, Kept, Vec<usize>) {
    merged_of(&plan(), lines)
}

fn merged_of(plan: &LoadPlan, lines: Vec<(usize, Said)>) -> (crate::engine::LoadOutcome, Kept, Vec<usize>) {
    merged_with_least(plan, usize::MAX, lines)
}

/// The same, where the load goes on while at least so many hosts are left.
fn merged_with_least(
    plan: &LoadPlan,
    least: usize,
    lines: Vec<(usize, Said)>,
) -> (crate::engine::LoadOutcome, Kept, Vec<usize>) {
    let (control, mut kept) = (Control::new(), Kept::default());
    let mut script = Script { lines: lines.into(), refused: Vec::new() };
    let hosts = vec![host("a"), host("b")];
    let outcome = spread(plan, 1, &control, (hosts, least), &mut script, &mut kept).expect("the plan is one");
    (outcome, kept, script.refused.into_iter().map(|(host, _)| host).collect())
}

#[test]
fn windows_of_all_hosts_are_merged_and_each_host_keeps_its_own() {
    let lines = vec![
        (0, told(window(0, 0, 10, 0))),
        (0, finished(0)),
        (1, told(window(1, 0, 9, 0))),
        (0, over()),
        (1, finished(1)),
        (1, over()),
    ];
    let (outcome, kept, refused) = merged(lines);
    assert!(refused.is_empty() && outcome.ending == TrialEnding::Complete);
    let summary = &outcome.summary;
    assert_eq!((summary.total.ok, summary.measured.latency[&LatencyKind::Response].count), (19, 19));
    let own: Vec<_> = summary.generators.iter().map(|share| (share.name.as_str(), share.total.ok)).collect();
    assert_eq!(own, [("a", 10), ("b", 9)]);
    assert_eq!(kept.intervals.iter().map(|interval| interval.counts.ok).sum::<u64>(), 19);
}

#[test]
fn the_cpu_of_a_thread_is_a_share_of_the_windows_it_was_used_in() {
    let mut plan = plan();
    (plan.arrival, plan.phases[0].end) = (Arrival::Closed, PhaseEnd::Requests(19));
    let busy =
        |thread: u32, requests: u64| PartWindow { cpu_ns: 400_000_000, ..window(thread, 0, requests, 0) };
    // The last response came after a tenth of the window.
    let last = MonoNs(busy(0, 10).begin_mono_ns.0 + 100_000_000);
    let finished = |thread: u32| {
        let Said::Report(PartReport::Finished(finish)) = finished(thread) else { panic!("it is one") };
        said(PartReport::Finished(PartFinish { end_mono_ns: last, ..finish }))
    };
    let lines = vec![
        (0, told(busy(0, 10))),
        (0, finished(0)),
        (1, told(busy(1, 9))),
        (0, over()),
        (1, finished(1)),
        (1, over()),
    ];
    let (outcome, _, refused) = merged_of(&plan, lines);
    assert!(refused.is_empty(), "{refused:?}");
    let busiest = outcome.summary.generator.busiest_thread_ratio;
    assert!((busiest - 0.4).abs() < 0.01, "{busiest}");
}

#[test]
fn what_a_lost_host_had_open_is_in_flight_and_nothing_vanishes() {
    let lines = vec![
        (1, told(window(1, 0, 10, 3))),
        (1, Said::Lost("its process ended".into())),
        (0, told(window(0, 0, 10, 0))),
        (0, finished(0)),
        (0, over()),
    ];
    let (outcome, kept, _) = merged(lines);
    let total = outcome.summary.total;
    assert!(total.is_balanced() && outcome.ending == TrialEnding::Interrupted, "{total:?}");
    assert_eq!((total.scheduled, total.ok, total.in_flight), (20, 17, 3));
    assert_eq!(outcome.summary.generators[1].lost.as_deref(), Some("its process ended"));
    assert_eq!(kept.intervals.iter().map(|interval| interval.counts.in_flight).sum::<u64>(), 3);
}

#[test]
fn a_load_goes_on_without_a_lost_host_while_enough_are_left() {
    let lines = || {
        vec![
            (1, told(window(1, 0, 10, 3))),
            (1, Said::Lost("its process ended".into())),
            (0, told(window(0, 0, 10, 0))),
            (0, finished(0)),
            (0, over()),
        ]
    };
    let ending = |least| merged_with_least(&plan(), least, lines()).0.ending;
    assert_eq!((ending(1), ending(2)), (TrialEnding::Complete, TrialEnding::Interrupted));
}

#[test]
fn a_host_that_says_what_cannot_be_is_refused_and_breaks_no_assertion() {
    let spoilt = |edit: fn(&mut PartWindow)| {
        let mut window = window(1, 0, 10, 0);
        edit(&mut window);
        told(window)
    };
    let lies = [
        spoilt(|window| window.thread = 0),
        spoilt(|window| window.thread = 9),
        spoilt(|window| window.index = 1),
        spoilt(|window| window.phase = 9),
        spoilt(|window| window.end_mono_ns = MonoNs(u64::MAX)),
        spoilt(|window| window.cpu_ns = u64::MAX),
        spoilt(|window| window.tallies[0].phase = 7),
        spoilt(|window| window.tallies[0].counts.ok = 11),
        spoilt(|window| window.tallies[0].counts.failed = u64::MAX),
        spoilt(|window| window.tallies[0].received_bytes = u64::MAX),
        spoilt(|window| {
            window.tallies[0].statuses.insert(7, 1);
        }),
        spoilt(|window| {
            window.tallies[0].latency.insert(LatencyKind::Service, vec![[u64::MAX, 1]]);
        }),
        finished(0),
        over(),
        said(PartReport::Connected),
    ];
    for lie in lies {
        let text = format!("{lie:?}");
        let lines = vec![(1, lie), (0, told(window(0, 0, 10, 0))), (0, finished(0)), (0, over())];
        let (outcome, _, refused) = merged(lines);
        assert_eq!(refused, [1], "{text}");
        assert!(
            outcome.summary.total.is_balanced() && outcome.summary.generators[1].lost.is_some(),
            "{text}"
        );
    }
    let open = vec![(1, told(window(1, 0, 10, 3))), (1, finished(1)), (0, finished(0)), (0, over())];
    assert_eq!(merged(open).2, [1], "it ended with requests that have no outcome");
}

fn mix() -> LoadPlan {
    let mut plan = plan();
    plan.workload.operations = vec![operation("/a", 1.0), operation("/b", 2.0)];
    plan
}

/// As [`window`], so many of the requests being the first operation, of which all open ones are.
fn window_of_mix(thread: u32, requests: u64, first: u64, open: u64) -> PartWindow {
    let mut window = window(thread, 0, requests, open);
    let counts = |scheduled: u64, open: u64| {
        let ok = scheduled - open;
        let counts = Counts { scheduled, sent: scheduled, written: scheduled, ok, ..Counts::default() };
        PartOperation { counts, latency: vec![[1_000_000, ok]], ..PartOperation::default() }
    };
    window.tallies[0].operations = vec![counts(first, open), counts(requests - first, 0)];
    window
}

#[test]
fn operations_of_all_hosts_are_merged_and_what_a_lost_one_had_open_is_in_flight() {
    let lines = vec![
        (0, told(window_of_mix(0, 10, 4, 0))),
        (1, told(window_of_mix(1, 9, 3, 2))),
        (1, Said::Lost("its process ended".into())),
        (0, finished(0)),
        (0, over()),
    ];
    let (outcome, _, refused) = merged_of(&mix(), lines);
    assert!(refused.is_empty());
    let of = |number: usize| {
        let operation = &outcome.summary.operations[number];
        (operation.name.as_str(), operation.total.ok, operation.total.in_flight, operation.latency.count)
    };
    assert_eq!((of(0), of(1)), (("/a", 5, 2, 5), ("/b", 12, 0, 12)));
}

#[test]
fn operations_that_cannot_be_are_refused() {
    let lies: [fn(&mut Vec<PartOperation>); 5] = [
        |operations| operations.push(PartOperation::default()),
        |operations| operations[0].counts.ok = 5,
        |operations| operations[0].counts.scheduled = u64::MAX,
        |operations| operations[1].counts.failed = 1,
        |operations| operations[1].latency = vec![[u64::MAX, 1]],
    ];
    for (number, lie) in lies.into_iter().enumerate() {
        let mut window = window_of_mix(1, 10, 4, 0);
        lie(&mut window.tallies[0].operations);
        let lines =
            vec![(1, told(window)), (0, told(window_of_mix(0, 10, 4, 0))), (0, finished(0)), (0, over())];
        assert_eq!(merged_of(&mix(), lines).2, [1], "lie {number}");
    }
}

#[test]
fn every_thread_of_a_load_is_one_hosts() {
    for (threads, hosts) in [(2, 2), (6, 3), (5, 2), (1, 1)] {
        let plan = LoadPlan { threads, ..plan() };
        let part = |host| Part { host, hosts, threads_before: 0, machine_threads: threads };
        let mut all: Vec<u32> = (0..hosts).flat_map(|host| part(host).threads(&plan)).collect();
        all.sort_unstable();
        assert_eq!(all, (0..threads).collect::<Vec<_>>(), "{threads} over {hosts}");
    }
}
