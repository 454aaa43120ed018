//! Tryouts on the terminal, as JSON and as HTML without a browser, compared with files in `tests/golden`.
//!
//! What a browser makes of the page is tested in `web/test/browser`.

use crate::fixture::tryout::SampleTryout;
use crate::fixture::tryouts;
use crate::golden;
use serde_json::Value;
use sysdyno_report::html::render_tryout as page;
use sysdyno_report::json::tryout_document;
use sysdyno_report::terminal::{Style, render_tryout as screen};

/// Renders at several widths, checks what holds for every screen, and compares the one at 100 columns.
fn check(name: &str, record: &SampleTryout) {
    for width_columns in [60, 80, 100] {
        let style = Style { width_columns, ..Style::default() };
        let shown = screen(&record.input(), &style);
        for line in shown.lines().filter(|line| !line.trim_start().starts_with("Report")) {
            let width = sysdyno_report::escape::width(line);
            assert!(width <= width_columns, "{name} at {width_columns}: {line}");
        }
        if width_columns == 100 {
            golden::compare(&format!("try-{name}.txt"), &shown);
        }
    }
}

#[test]
fn each_word_has_its_screen() {
    check("better", &tryouts::better());
    check("kept", &tryouts::kept());
    check("worse", &tryouts::worse());
    check("same", &tryouts::same());
    check("cannot-tell", &tryouts::cannot_tell());
}

#[test]
fn what_speaks_against_a_result_is_on_its_screen() {
    check("dropped", &tryouts::dropped());
    check("full", &tryouts::full());
}

#[test]
fn comparisons_of_commands_and_several_changes_have_their_screen() {
    check("commands", &tryouts::commands());
    check("steps", &tryouts::steps());
}

#[test]
fn an_experiment_that_came_to_nothing_has_a_screen_too() {
    let mut record = tryouts::cannot_tell();
    record.lines.clear();
    record.loads.clear();
    let conclusion = &mut record.conclusion;
    conclusion.stages.clear();
    conclusion.pairs.clear();
    conclusion.guardrails.clear();
    (conclusion.effect, conclusion.a_median, conclusion.resolution) = (None, None, None);
    let shown = screen(&record.input(), &Style::default());
    assert!(shown.contains("too few pairs") && shown.contains("? CAN'T TELL"), "{shown}");
    assert_eq!(tryout_document(&record.input())["effect"], Value::Null);
    assert!(page(&record.input()).contains("\"settled\":null"));
}

#[test]
fn without_unicode_everything_is_ascii() {
    let style = Style { has_unicode: false, width_columns: 80, ..Style::default() };
    let shown = screen(&tryouts::better().input(), &style);
    assert!(shown.is_ascii(), "{shown}");
    golden::compare("try-better-ascii-80.txt", &shown);
}

#[test]
fn colour_marks_words_that_are_there_without_it() {
    let style = Style { has_color: true, ..Style::default() };
    let colored = screen(&tryouts::worse().input(), &style);
    assert!(colored.contains("\u{1b}[1m\u{1b}[31m▼ WORSE\u{1b}[0m"), "{colored}");
    assert_eq!(golden::without_escapes(&colored), screen(&tryouts::worse().input(), &Style::default()));
}

#[test]
fn hostile_text_touches_neither_terminal_nor_page() {
    let mut record = tryouts::hostile();
    record.conclusion.headline = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}evil\r\n\u{9b}31m".into();
    record.conclusion.changes[0].key = record.conclusion.headline.clone();
    record.folder = record.conclusion.headline.clone().into();
    let shown = screen(&record.input(), &Style::default());
    let is_dangerous = |letter: &char| (letter.is_control() && *letter != '\n') || *letter == '\u{202e}';
    assert_eq!(shown.chars().find(is_dangerous), None, "{shown}");
    let (clean, hostile) = (page(&tryouts::steps().input()), page(&tryouts::hostile().input()));
    for tag in
        ["<script", "</script", "<img", "<svg", "<iframe", "<!--", "</title", "</pre", "<base", "<meta"]
    {
        let count = |page: &str| page.to_ascii_lowercase().matches(tag).count();
        assert_eq!(count(&hostile), count(&clean), "{tag}");
    }
}

#[test]
fn the_document_is_as_it_was() {
    let mut record = tryouts::better();
    // Two pairs show the form as well as ten.
    record.conclusion.pairs.truncate(2);
    let text = serde_json::to_string_pretty(&tryout_document(&record.input()));
    golden::compare("try.json", &(text.expect("serialises") + "\n"));
}

#[test]
fn the_experiment_is_embedded_whole() {
    let record = tryouts::better();
    let page = page(&record.input());
    let begin = page.find("id=\"record\">").expect("the page has a data block") + "id=\"record\">".len();
    let end = page[begin..].find("</script>").expect("the data block ends");
    let data: Value = serde_json::from_str(&page[begin..begin + end]).expect("the data block is JSON");
    assert_eq!(data["schema"], "sysdyno.report-experiment/1");
    assert_eq!(data["conclusion"]["headline"], record.conclusion.headline.as_str());
    for (name, length) in [("trials", 20), ("latencies", 20), ("metrics", 9)] {
        assert_eq!(data[name].as_array().map(Vec::len), Some(length), "{name}");
    }
    assert!(data["latencies"][0]["p99_ns"].is_u64());
    assert!(page.contains("<title>▲ BETTER – net.core.somaxconn=4096</title>"));
}
