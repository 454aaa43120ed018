//! The terminal screen of stored records, compared with files in `tests/golden`.
//!
//! `UPDATE_EXPECT=1 cargo test -p sysdyno-report` writes the files anew; look at them before they are committed.

mod fixture;
mod golden;

use fixture::SampleRecord;
use sysdyno_record::analysis::{EndedBy, Reason, VerdictStatus};
use sysdyno_record::load::{FailureClass, LatencySummary};
use sysdyno_record::manifest::RunStatus;
use sysdyno_report::terminal::{SCREEN_LINES, Style, render};

/// Renders at several widths, checks what holds for every screen, and compares the one at 100 columns.
fn check(name: &str, record: &SampleRecord) {
    for width_columns in [60, 80, 100] {
        let style = Style { width_columns, ..Style::default() };
        let screen = render(&record.input(), &style);
        assert!(screen.lines().count() <= SCREEN_LINES, "{name} at {width_columns}:\n{screen}");
        for line in screen.lines().filter(|line| !line.trim_start().starts_with("Report")) {
            assert!(
                sysdyno_report::escape::width(line) <= width_columns,
                "{name} at {width_columns}: {line}"
            );
        }
        if width_columns == 100 {
            golden::compare(&format!("{name}.txt"), &screen);
        }
    }
}

fn reason(id: &str, name: &str, status: VerdictStatus, text: &str, remedy: &str) -> Reason {
    Reason { id: id.into(), name: name.into(), status, text: text.into(), remedy: remedy.into() }
}

fn generator_bound() -> SampleRecord {
    let mut record = SampleRecord::run();
    let analysis = &mut record.analysis;
    analysis.verdict.status = VerdictStatus::Invalid;
    analysis.verdict.reasons = vec![
        reason(
            "M01",
            "gen-cpu-bound",
            VerdictStatus::Invalid,
            "The generator was its own limit: its busiest thread used 99 % of the 0.2 CPUs that its cgroup allows.",
            "Raise the generator's CPU quota or send from another host.",
        ),
        reason(
            "M15",
            "co-located",
            VerdictStatus::Suspect,
            "Generator and server share CPUs 0 and 1, which were 92 % busy.",
            "Run the generator on other CPUs (taskset) or on another host.",
        ),
    ];
    analysis.headline =
        "The server takes at least 820 requests per second; the generator could not send more.".into();
    analysis.limit = "The generator: its cgroup allows 0.2 CPUs.".into();
    analysis.findings.clear();
    if let Some(capacity) = &mut analysis.capacity {
        capacity.rate_hz = Some(820.4);
        capacity.low_hz = Some(820.4);
        capacity.high_hz = None;
        capacity.certified_hz = None;
        capacity.is_lower_bound = true;
        capacity.ended_by = EndedBy::Generator;
    }
    record
}

fn wrong_content() -> SampleRecord {
    let mut record = SampleRecord::run();
    let analysis = &mut record.analysis;
    analysis.verdict.status = VerdictStatus::Invalid;
    analysis.verdict.reasons = vec![reason(
        "M04",
        "errors-as-throughput",
        VerdictStatus::Invalid,
        "Every response is a 404: 15,992 of 15,992 requests failed by their status.",
        "Check the path of the URL, or accept the status with --expect-status 404.",
    )];
    analysis.headline = "The run says nothing about the server: every request failed.".into();
    analysis.limit = "Not known: no valid response came.".into();
    analysis.findings.clear();
    analysis.counts.failed += analysis.counts.ok;
    analysis.counts.ok = 0;
    analysis.failures = [(FailureClass::Status, analysis.counts.failed)].into();
    analysis.rates.goodput_hz = 0.0;
    analysis.response_time_ns = LatencySummary::default();
    analysis.service_time_ns = LatencySummary::default();
    record
}

fn full_screen() -> SampleRecord {
    let mut record = SampleRecord::run();
    let analysis = &mut record.analysis;
    analysis.verdict.status = VerdictStatus::Suspect;
    let long = "the rate of completions fell by 7 % within the measured window, which is more than the 5 % that are allowed, and it did so twice";
    analysis.verdict.reasons = (1..=7)
        .map(|number| {
            let remedy = "Let the server warm up for longer, e.g. with --warmup 30s.";
            reason(&format!("M{number:02}"), "non-stationary", VerdictStatus::Suspect, long, remedy)
        })
        .collect();
    analysis.response_time_ns.censored_count = 40;
    analysis.response_time_ns.censored_min_ns = analysis.response_time_ns.p99;
    analysis.service_time_ns.p99_9 = None;
    analysis.counts.unsent = 12;
    analysis.failures =
        FailureClass::ALL.iter().enumerate().map(|(index, class)| (*class, index as u64)).collect();
    record.manifest.status = RunStatus::Interrupted;
    record.manifest.reason = Some("SIGINT".into());
    record.damage = vec!["series.jsonl: the last line was cut off".into(), "events.jsonl: 1 line".into()];
    record
}

#[test]
fn a_valid_run_shows_capacity_limit_and_latency() {
    check("run-valid", &SampleRecord::run());
}

#[test]
fn a_generator_bound_run_is_at_best_a_lower_bound() {
    check("run-generator-bound", &generator_bound());
}

#[test]
fn a_run_of_wrong_content_has_no_capacity() {
    let record = wrong_content();
    check("run-wrong-content", &record);
    let screen = render(&record.input(), &Style::default());
    assert!(!screen.contains("4,12"), "the estimate must not be shown:\n{screen}");
}

#[test]
fn a_screen_with_too_much_on_it_keeps_what_matters() {
    check("run-full", &full_screen());
}

#[test]
fn a_closed_load_has_no_response_time() {
    let mut record = SampleRecord::run();
    let analysis = &mut record.analysis;
    analysis.capacity = None;
    analysis.limit = String::new();
    analysis.findings.clear();
    analysis.verdict.reasons.clear();
    analysis.shown_trial = 1;
    analysis.headline = "64 connections completed 4,420 requests per second.".into();
    analysis.rates.offered_hz = None;
    analysis.response_time_ns = LatencySummary::default();
    analysis.slip_ns = LatencySummary::default();
    check("load-closed", &record);
}

#[test]
fn an_incomplete_record_says_so() {
    let mut record = SampleRecord::run();
    record.is_incomplete = true;
    record.manifest.status = RunStatus::Running;
    record.manifest.ended_unix_ns = None;
    check("run-incomplete", &record);
}

#[test]
fn without_unicode_everything_is_ascii() {
    let style = Style { has_unicode: false, width_columns: 80, ..Style::default() };
    let screen = render(&full_screen().input(), &style);
    assert!(screen.is_ascii(), "{screen}");
    golden::compare("run-full-ascii-80.txt", &screen);
}

#[test]
fn colour_marks_words_that_are_there_without_it() {
    let style = Style { has_color: true, ..Style::default() };
    let colored = render(&full_screen().input(), &style);
    let plain = render(&full_screen().input(), &Style::default());
    assert!(colored.contains("\u{1b}[1m\u{1b}[33m▲ SUSPECT\u{1b}[0m"), "{colored}");
    assert_eq!(golden::without_escapes(&colored), plain);
}

#[test]
fn hostile_text_cannot_touch_the_terminal() {
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}evil\r\n\u{9b}31m</script>";
    let mut record = SampleRecord::run();
    record.analysis.headline = hostile.into();
    record.analysis.limit = hostile.into();
    record.analysis.findings[0].evidence[0].text = hostile.into();
    record.analysis.verdict.reasons[0].id = hostile.into();
    record.analysis.verdict.reasons[0].text = hostile.into();
    record.analysis.capacity.as_mut().expect("the sample has one").objective = hostile.into();
    record.load_mut().target.url = hostile.into();
    record.folder = hostile.into();
    record.damage = vec![hostile.into()];
    let screen = render(&record.input(), &Style::default());
    let is_dangerous = |letter: &char| (letter.is_control() && *letter != '\n') || *letter == '\u{202e}';
    assert_eq!(screen.chars().find(is_dangerous), None, "{screen}");
    assert!(screen.lines().count() <= SCREEN_LINES);
}
