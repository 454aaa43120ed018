//! Lines, results, and windows as they are printed.

use super::numbers::row;
use super::{ProbeInput, document, line, opening, result, statistics};
use crate::terminal::Style;
use std::collections::BTreeMap;
use sysdyno_record::load::{FailureClass, LatencySummary};
use sysdyno_record::manifest::ClockPair;
use sysdyno_record::plan::{Endpoint, Target};
use sysdyno_record::probe::{
    LossWindow, PROBE_SCHEMA, ProbeConclusion, ProbeKind, ProbeOutcome, ProbePlan, ProbeReply, ProbeSummary,
    ProbedSummary, ProbedTarget, WindowShare, WindowSight,
};
use sysdyno_record::units::{MonoNs, SpanNs, WallNs};

const CLOCK: ClockPair = ClockPair { mono_ns: MonoNs(0), unix_ns: WallNs(1_795_179_721_123_456_789) };

fn reply(outcome: ProbeOutcome) -> ProbeReply {
    ProbeReply {
        trial: 0,
        target: 0,
        sequence: 7,
        intended_mono_ns: MonoNs(1_000_000),
        sent_mono_ns: Some(MonoNs(1_001_000)),
        end_mono_ns: MonoNs(1_312_000),
        outcome,
        connect_ns: None,
        status: None,
    }
}

fn targets(names: &[&str]) -> Vec<ProbedTarget> {
    let target = |name: &&str| ProbedTarget {
        name: (*name).to_owned(),
        target: Target {
            url: "10.0.0.1".into(),
            endpoint: Endpoint::Tcp("10.0.0.1:0".parse().expect("an address")),
            host: "10.0.0.1".into(),
            path: "/".into(),
        },
        plan: ProbePlan {
            kind: ProbeKind::Icmp,
            interval: SpanNs::from_millis(100),
            timeout: SpanNs::from_secs(2),
        },
    };
    names.iter().map(target).collect()
}

#[test]
fn a_line_says_when_which_and_how_long() {
    let check = |reply: ProbeReply, expected: &str| {
        let line = line(&reply, CLOCK.unix_ns, &targets(&["a"]));
        assert_eq!(line, format!("2026-11-20T13:02:01.123Z  {expected}"));
    };
    check(reply(ProbeOutcome::Received), "seq 7  312 µs");
    let fresh =
        ProbeReply { connect_ns: Some(80_000), status: Some(200), trial: 3, ..reply(ProbeOutcome::Received) };
    check(fresh, "trial 3  seq 7  312 µs  status 200  new connection 80.0 µs");
    check(reply(ProbeOutcome::TimedOut), "seq 7  lost: no answer within 312 µs");
    check(reply(ProbeOutcome::Unsent), "seq 7  lost: not sent within 312 µs");
    check(reply(ProbeOutcome::Failed(FailureClass::Reset)), "seq 7  lost: reset after 312 µs");
    check(reply(ProbeOutcome::InFlight), "seq 7  in flight at the end, 312 µs so far");
}

#[test]
fn a_line_names_its_target_if_there_are_several() {
    let both = targets(&["a", "\u{1b}[2J"]);
    let of =
        |target: u16| line(&ProbeReply { target, ..reply(ProbeOutcome::Received) }, CLOCK.unix_ns, &both);
    assert_eq!(of(0), "2026-11-20T13:02:01.123Z  a  seq 7  312 µs");
    assert!(of(1).contains("[2J  seq 7") && !of(1).contains('\u{1b}'), "{}", of(1));
    assert_eq!(of(9), "2026-11-20T13:02:01.123Z  seq 7  312 µs");
    let opened = opening(&targets(&["a", "b"]));
    assert_eq!(
        opened,
        "a: icmp probe of 10.0.0.1, every 100ms, timeout 2s\nb: icmp probe of 10.0.0.1, every 100ms, timeout 2s"
    );
    assert_eq!(opening(&targets(&["a"])), "icmp probe of 10.0.0.1, every 100ms, timeout 2s");
}

fn summary() -> ProbeSummary {
    ProbeSummary {
        kind: ProbeKind::Http,
        interval_ns: 1_000_000_000,
        timeout_ns: 5_000_000_000,
        sent_count: 120,
        received_count: 115,
        timed_out_count: 3,
        failed_count: 1,
        in_flight_count: 1,
        unsent_count: 0,
        failures: BTreeMap::from([(FailureClass::Reset, 1)]),
        lost_ratio: Some(4.0 / 119.0),
        response_time_ns: LatencySummary {
            p50: Some(300_000),
            p90: Some(900_000),
            max: Some(5_000_000_000),
            count: 119,
            p50_interval: Some([290_000, 310_000]),
            p90_interval: Some([700_000, 5_000_000_000]),
            censored_count: 4,
            censored_min_ns: Some(900_000),
            ..LatencySummary::default()
        },
        p90_interval: Some([700_000, 5_000_000_000]),
        service_time_ns: LatencySummary::default(),
        min_ns: Some(210_000),
        mean_ns: Some(312_345.6),
        max_ns: Some(1_200_000),
        mdev_ns: Some(54_321.0),
        slip_max_ns: Some(60_000),
    }
}

fn clean() -> ProbeSummary {
    ProbeSummary {
        received_count: 120,
        timed_out_count: 0,
        failed_count: 0,
        in_flight_count: 0,
        failures: BTreeMap::new(),
        lost_ratio: Some(0.0),
        ..summary()
    }
}

fn conclusion(summaries: &[(&str, ProbeSummary)]) -> ProbeConclusion {
    let share = |lost_count, sight| WindowShare { sent_count: 31, lost_count, sight };
    let window = LossWindow {
        begin_mono_ns: MonoNs(2_000_000_000),
        end_mono_ns: MonoNs(5_100_000_000),
        targets: vec![share(30, WindowSight::Lost), share(0, WindowSight::Clear)],
    };
    let target = |(name, summary): &(&str, ProbeSummary)| ProbedSummary {
        name: (*name).to_owned(),
        url: "10.0.0.1".into(),
        windows_count: u64::from(summary.timed_out_count > 0),
        summary: summary.clone(),
    };
    ProbeConclusion {
        schema: PROBE_SCHEMA.to_owned(),
        headline: "b lost 4 of 119 probes (3.4%) in 1 window that a did not see".into(),
        targets: summaries.iter().map(target).collect(),
        windows: if summaries.len() > 1 { vec![window] } else { vec![] },
        windows_count: u64::from(summaries.len() > 1),
    }
}

fn input(conclusion: &ProbeConclusion) -> ProbeInput<'_> {
    ProbeInput {
        path: None,
        tool: None,
        clock: CLOCK,
        targets: &[],
        replies: &[],
        conclusion,
        is_interrupted: false,
        damage: &[],
    }
}

#[test]
fn the_result_has_counts_times_and_what_percentiles_the_replies_support() {
    let text = result(&input(&conclusion(&[("a", summary())])), &Style::default());
    let expected = "\n120 sent, 115 received, 4 lost (3.4%), 1 in flight at the end\n\
                    min 210 µs · avg 312 µs · max 1.20 ms · mdev 54.3 µs\n\
                    p50 300 µs (290 µs–310 µs) · p90 ≥ 900 µs (700 µs–≥ 5.00 s) · p99 – (needs 1,000)\n\
                    1 × reset: The server reset the connection during a request.";
    assert_eq!(text, expected);
    let line = statistics(&targets(&["a"]), &[summary()], &Style::default());
    assert!(line.starts_with("120 sent") && line.ends_with("p50 300 µs") && !line.contains('\n'), "{line}");
    assert_eq!(row(&summary()), "p50 300 µs · p90 ≥ 900 µs · p99 – · max ≥ 5.00 s · lost 4 of 120");
}

#[test]
fn several_targets_are_a_table_and_the_windows_in_which_they_lost() {
    let both = conclusion(&[("b", summary()), ("a", clean())]);
    let style = Style { width_columns: 100, ..Style::default() };
    let text = result(&input(&both), &style);
    let expected = "
b lost 4 of 119 probes (3.4%) in 1 window that a did not see

target  kind  sent      lost  windows     min     p50      max
b       http   120  4 (3.4%)        1  210 µs  300 µs  1.20 ms
a       http   120    0 (0%)        0  210 µs  300 µs  1.20 ms

95% intervals                     p50                         p90              p99
b              300 µs (290 µs–310 µs)  ≥ 900 µs (700 µs–≥ 5.00 s)  – (needs 1,000)
a              300 µs (290 µs–310 µs)  ≥ 900 µs (700 µs–≥ 5.00 s)  – (needs 1,000)
b: 1 × reset: The server reset the connection during a request.

Loss windows (UTC)
13:02:03.123  3.10 s: lost b 30 of 31; not seen by a 0 of 31";
    assert_eq!(text, expected);
    let lines = statistics(&targets(&["b", "a"]), &[summary(), clean()], &Style::default());
    let starts: Vec<&str> = lines.lines().map(|line| line.split(" sent").next().unwrap_or("")).collect();
    assert_eq!(starts, ["b: 120", "a: 120"]);
}

#[test]
fn in_a_narrow_terminal_columns_are_left_out_and_sentences_are_wrapped() {
    let both = conclusion(&[("b", summary()), ("a", clean())]);
    for width_columns in [60, 80] {
        let text = result(&input(&both), &Style { width_columns, ..Style::default() });
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= width_columns, "{widest} of {width_columns}:\n{text}");
        assert!(!text.contains("p90") && text.contains("p99"), "{text}");
    }
}

#[test]
fn a_document_has_the_fields_of_one_target_only_if_there_is_one() {
    let one = document(&input(&conclusion(&[("a", summary())])));
    assert_eq!((&one["target"], &one["probe"]["lost_count"]), (&"10.0.0.1".into(), &4.into()));
    let both = document(&input(&conclusion(&[("b", summary()), ("a", clean())])));
    assert!(both["target"].is_null() && both["probe"].is_null(), "{both:#}");
    assert_eq!(both["probes"]["targets"][0]["lost_count"], 4, "{both:#}");
    assert_eq!(both["probes"]["windows"][0]["targets"][1]["sight"], "clear", "{both:#}");
}

#[test]
fn without_a_reply_no_time_is_made_up() {
    let none = ProbeSummary {
        received_count: 0,
        min_ns: None,
        mean_ns: None,
        max_ns: None,
        mdev_ns: None,
        lost_ratio: Some(1.0),
        response_time_ns: LatencySummary::default(),
        p90_interval: None,
        failures: BTreeMap::new(),
        ..summary()
    };
    let text = result(&input(&conclusion(&[("a", none)])), &Style::default());
    assert!(!text.contains("min") && text.contains("p50 – (needs 20) · p90 – (needs 100)"), "{text}");
}
