//! Checks in words: what can be typed, what is refused, and what comes of each.

use super::*;
use crate::analysis::nothing_recorded;
use sysdyno_record::analysis::{Analysis, Capacity, CapacityBasis, CheckOutcome, EndedBy};

/// An open load: p99 31.2 ms, 0.5 % failed, 4,000 of 5,000 req/s, two seconds of generator CPU.
fn open() -> Analysis {
    let mut analysis = nothing_recorded();
    analysis.verdict.status = sysdyno_record::analysis::VerdictStatus::Valid;
    analysis.rates.offered_hz = Some(5_000.0);
    (analysis.rates.achieved_hz, analysis.rates.goodput_hz) = (4_020.0, 4_000.0);
    (analysis.counts.sent, analysis.counts.ok) = (40_200, 40_000);
    (analysis.counts.failed, analysis.counts.timed_out) = (150, 50);
    analysis.generator.cpu_seconds = 2.0;
    let response = &mut analysis.response_time_ns;
    (response.count, response.mean) = (9_000, Some(2e6));
    (response.p50, response.p99, response.max) = (Some(1_000_000), Some(31_200_000), Some(80_000_000));
    response.p99_interval = Some([29_000_000, 33_000_000]);
    analysis.service_time_ns = *response;
    analysis.service_time_ns.p99 = Some(12_000_000);
    analysis
}

fn closed() -> Analysis {
    let mut analysis = open();
    analysis.rates.offered_hz = None;
    analysis.response_time_ns = Default::default();
    analysis.slip_ns = Default::default();
    analysis
}

#[track_caller]
fn outcome_of(text: &str, analysis: &Analysis) -> CheckOutcome {
    let check: FailIf = text.parse().expect(text);
    judge(&[check.text().to_owned()], analysis).remove(0)
}

#[track_caller]
fn check(text: &str, analysis: &Analysis, passed: bool, sentence: &str) {
    let outcome = outcome_of(text, analysis);
    assert_eq!((outcome.passed, outcome.sentence.as_str()), (passed, sentence), "{outcome:?}");
}

#[test]
fn a_failed_check_says_by_how_much() {
    check("p99>20ms", &open(), false, "p99 > 20 ms: 31.2 ms, 56% over");
    check(" p99 >= 0.04s ", &open(), true, "p99 >= 40 ms: 31.2 ms, 22% under");
    check("service.p99>20ms", &open(), true, "service.p99 > 20 ms: 12.0 ms, 40% under");
    check("errors>0.1%", &open(), false, "errors > 0.1%: 0.50%, 398% over");
    check("timeouts > 0", &open(), false, "timeouts > 0%: 0.12%");
    check("goodput<5k/s", &open(), false, "goodput < 5,000 req/s: 4,000 req/s, 20% under");
    check("rate<=4020/s", &open(), false, "rate <= 4,020 req/s: 4,020 req/s, exactly the limit");
    check("cpu>45us", &open(), false, "cpu > 45 µs: 49.8 µs, 11% over");
    check("mean>10min", &open(), true, "mean > 600 s: 2.00 ms, 100% under");
}

#[test]
fn the_outcome_holds_the_numbers() {
    let outcome = outcome_of("p99>20ms", &open());
    assert_eq!((outcome.measured, outcome.limit, outcome.unit.as_str()), (Some(31.2e6), Some(20e6), "ns"));
    assert_eq!((outcome.text.as_str(), outcome.metric.as_str()), ("p99>20ms", "response.p99"));
    assert_eq!(outcome_of("p99>20ms", &closed()).metric, "service.p99");
    assert_eq!(outcome_of("errors>1%", &open()).unit, "ratio");
    assert_eq!(outcome_of("rate<1/s", &open()).unit, "hz");
}

#[test]
fn a_limit_within_the_interval_is_told() {
    let sentence = outcome_of("p99>30ms", &open()).sentence;
    assert!(sentence.contains("the limit is within the 95% interval 29.0 ms–33.0 ms"), "{sentence}");
    assert!(!outcome_of("p99>20ms", &open()).sentence.contains("interval"));
}

#[test]
fn what_the_sample_does_not_support_cannot_be_decided_and_has_failed() {
    let outcome = outcome_of("p99.9>1s", &open());
    assert!(!outcome.passed && !outcome.decided && outcome.measured.is_none());
    check(
        "p99.9>1s",
        &open(),
        false,
        "p99.9 > 1 s: undecided: too few samples: 9,000 samples, 10,000 needed",
    );
    let sentence = outcome_of("response.p99>1s", &closed()).sentence;
    assert!(sentence.contains("a closed loop has no response time, only service.p99"), "{sentence}");
    let nothing = nothing_recorded();
    for text in ["errors>0", "cpu>1s", "p50>1s"] {
        assert!(!outcome_of(text, &nothing).decided, "{text}");
    }
}

#[test]
fn a_lower_bound_decides_only_what_more_could_not_change() {
    let mut analysis = open();
    analysis.response_time_ns.censored_count = 200;
    analysis.response_time_ns.censored_min_ns = Some(30_000_000);
    check("p99>20ms", &analysis, false, "p99 > 20 ms: at least 31.2 ms, 56% over");
    check("p99>40ms", &analysis, false, "p99 > 40 ms: undecided: at least 31.2 ms");
    check("p99<20ms", &analysis, true, "p99 < 20 ms: at least 31.2 ms, 56% over");
    check("p99<40ms", &analysis, false, "p99 < 40 ms: undecided: at least 31.2 ms");
    assert!(outcome_of("p50>40ms", &analysis).passed, "the median lies below all bounds");
}

#[test]
fn capacity_is_that_of_a_search() {
    let mut analysis = open();
    check("capacity<5k", &analysis, false, "capacity < 5,000 req/s: undecided: no capacity search was run");
    analysis.capacity = Some(Capacity {
        rate_hz: Some(4_000.0),
        low_hz: Some(3_900.0),
        high_hz: Some(4_100.0),
        basis: CapacityBasis::Confidence,
        ended_by: EndedBy::Objective,
        is_lower_bound: false,
        certified_hz: None,
        certified_passes: 0,
        method: String::new(),
        objective: String::new(),
    });
    check("capacity<5k", &analysis, false, "capacity < 5,000 req/s: 4,000 req/s, 20% under");
    analysis.capacity.as_mut().expect("there").is_lower_bound = true;
    assert!(!outcome_of("capacity<5k", &analysis).decided);
    assert!(outcome_of("capacity<3k", &analysis).passed);
    assert!(validate(["capacity<5k"], true).is_ok());
    assert!(validate(["p99>1s", "capacity<5k"], false).is_err());
}

#[test]
fn what_is_not_a_check_is_refused_with_the_part_that_is_not_understood() {
    let check = |text: &str, token: &str| {
        let error = text.parse::<FailIf>().expect_err(text).to_string();
        assert!(error.contains(token), "{text}: {error}");
        assert!(error.contains("hint: ") && error.contains("p99.9") && error.contains("goodput"), "{error}");
    };
    check("", "it has no '>'");
    check("p99", "it has no '>'");
    check("p99=20ms", "it has no '>'");
    check("p97>20ms", "'p97' is not a metric");
    check("wall.p99>20ms", "'wall.p99' is not a metric");
    check("service.errors>1%", "'service.errors' is not a metric");
    check(">20ms", "'' is not a metric");
    check("p99>", "'' is not a limit");
    check("p99>20", "'20' is not a limit");
    check("p99>20%", "'20%' is not a limit");
    check("p99>=>20ms", "'>20ms' is not a limit");
    check("p99>-20ms", "'-20ms' is not a limit");
    check("p99>1e3ms", "'1e3ms' is not a limit");
    check("p99>nanms", "'nanms' is not a limit");
    check("errors>0.1", "'0.1' is not a limit");
    check("errors>10ms", "'10ms' is not a limit");
    check("rate<5ms", "'5ms' is not a limit");
    check(&format!("p99>{}ms", "1".repeat(200)), "it has no '>'");
}

#[test]
fn every_metric_that_is_listed_can_be_typed() {
    let kinds = KINDS
        .iter()
        .flat_map(|kind| STATISTICS.iter().map(move |known| format!("{}.{}", kind.name, known.name)));
    let names = kinds.chain(METRICS.iter().map(|metric| metric.name.to_owned()));
    for name in names {
        let check: FailIf = format!("{name}>0").parse().expect("a metric of the list");
        assert_eq!(check.measure.typed(), name);
    }
}

#[test]
fn a_broken_record_holds_no_check_that_passes() {
    let texts = vec!["\u{1b}[31m>x".to_owned(); 2 * CHECKS_MAX];
    let outcomes = judge(&texts, &open());
    assert_eq!(outcomes.len(), CHECKS_MAX);
    assert!(outcomes.iter().all(|outcome| !outcome.passed && !outcome.sentence.contains('\u{1b}')));
}

#[test]
fn bytes_and_status_codes_are_checked_by_name() {
    let mut analysis = open();
    analysis.received_bytes_hz = Some(3.0 * 1024.0 * 1024.0);
    analysis.statuses = [(200, 990), (404, 8), (503, 2)].into();
    let sentence = |text: &str| {
        let outcome = judge(&[text.to_owned()], &analysis).remove(0);
        (outcome.passed, outcome.decided, outcome.sentence)
    };
    let check = |text: &str, passed: bool, said: &str| {
        assert_eq!(sentence(text), (passed, true, said.to_owned()), "{text}");
    };
    check("bytes<10MiB/s", false, "bytes < 10 MiB/s: 3.0 MiB/s, 70% under");
    check("404>0", false, "404 > 0: 8");
    check("404>1%", true, "404 > 1%: 0.80%, 20% under");
    check("5xx>1", false, "5xx > 1: 2, 100% over");
    check("418>0", true, "418 > 0: 0, exactly the limit");
    for wrong in ["99>0", "600>0", "6xx>0", "404>x", "bytes>5req/s", "0404>1", "40x>1"] {
        assert!(wrong.parse::<FailIf>().is_err(), "{wrong}");
    }
}
