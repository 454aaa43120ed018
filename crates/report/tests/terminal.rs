//! The terminal screen of stored records, compared with files in `tests/golden`.
//!
//! `UPDATE_EXPECT=1 cargo test -p sysdyno-report` writes the files anew; look at them before they are committed.

use crate::fixture::{SampleRecord, lab, variants};
use crate::golden;
use sysdyno_record::manifest::RunStatus;
use sysdyno_report::terminal::{Style, render};

/// Renders at several widths, checks what holds for every screen, and compares the one at 100 columns.
fn check(name: &str, record: &SampleRecord) {
    for width_columns in [60, 80, 100] {
        let low = Style { width_columns, rows: Some(24), ..Style::default() };
        golden::check_low(name, &render(&record.input(), &low), &record.analysis.limit);
        let style = Style { width_columns, ..Style::default() };
        let screen = render(&record.input(), &style);
        golden::check_whole(name, &screen, &record.analysis.headline);
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

#[test]
fn a_valid_run_shows_capacity_limit_and_latency() {
    check("run-valid", &SampleRecord::run());
}

#[test]
fn a_generator_bound_run_is_at_best_a_lower_bound() {
    check("run-generator-bound", &variants::generator_bound());
}

#[test]
fn a_run_of_wrong_content_has_no_capacity() {
    let record = variants::wrong_content();
    check("run-wrong-content", &record);
    let screen = render(&record.input(), &Style::default());
    assert!(!screen.contains("4,12"), "the estimate must not be shown:\n{screen}");
}

#[test]
fn a_screen_with_too_much_on_it_keeps_what_matters() {
    check("run-full", &variants::full_screen());
}

#[test]
fn a_closed_load_has_no_response_time() {
    check("load-closed", &variants::closed_load());
}

#[test]
fn operations_are_shown_by_their_number_of_requests() {
    check("load-operations", &variants::operations());
}

#[test]
fn handshakes_and_streams_are_told() {
    check("load-streams", &variants::streams());
}

#[test]
fn keys_that_were_found_are_told() {
    check("load-cache", &variants::cache());
}

#[test]
fn settings_that_were_held_are_told_with_their_hosts() {
    check("load-lab", &lab::load());
}

#[test]
fn what_outsiders_saw_and_how_links_were_used_is_told() {
    check("load-probes", &variants::probed());
}

#[test]
fn users_are_judged_rule_by_rule() {
    check("load-session", &variants::session());
}

#[test]
fn a_capacity_is_said_in_times_of_real_traffic() {
    check("run-headroom", &variants::headroom());
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
    let screen = render(&variants::full_screen().input(), &style);
    assert!(screen.is_ascii(), "{screen}");
    golden::compare("run-full-ascii-80.txt", &screen);
}

#[test]
fn colour_marks_words_that_are_there_without_it() {
    let style = Style { has_color: true, ..Style::default() };
    let colored = render(&variants::full_screen().input(), &style);
    let plain = render(&variants::full_screen().input(), &Style::default());
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
}
