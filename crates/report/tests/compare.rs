//! The screen of a comparison: refused ones give no difference, and nothing leaves its columns.

#[path = "fixture/comparison.rs"]
#[allow(dead_code, reason = "the page shows more of it")]
mod comparison;

use std::path::Path;
use sysdyno_record::comparison::{RunsComparison, Severity};
use sysdyno_report::compare::render;
use sysdyno_report::escape;
use sysdyno_report::terminal::Style;

#[test]
fn two_sides_have_their_difference_beside_the_numbers() {
    let text = render(
        &comparison::comparison(2, "B is slower"),
        Some(Path::new("/tmp/page.html")),
        &Style::default(),
    );
    assert!(text.starts_with("  ▼ worse    B is slower\n             not interleaved\n"), "{text}");
    assert!(text.contains("4,000 req/s  4,000 req/s   ▼ worse      −10.0% [−12.0, −8.0]"), "{text}");
    assert!(text.ends_with("  Page       /tmp/page.html\n"), "{text}");
}

#[test]
fn lower_bounds_are_marked_and_say_what_the_difference_is_at_least() {
    let text = render(&comparison::bounded(), None, &Style::default());
    assert!(text.contains("▲ C03      5.0% of the requests of B timed out"), "{text}");
    assert!(text.contains("12.1 ms     ≥ 877 ms   ▼ worse      at least × 60\n"), "{text}");
    assert!(text.contains("? can't tell at most −21%\n"), "{text}");
    assert!(text.contains("4,012 req/s            –   ? can't tell requests timed out"), "{text}");
    let ascii = Style { width_columns: 80, has_unicode: false, has_color: false, rows: None };
    let text = render(&comparison::bounded(), None, &ascii);
    assert!(text.is_ascii() && text.contains("   >= 877 ms"), "{text}");
}

#[test]
fn what_chose_the_method_is_told_once() {
    let mut compared = comparison::comparison(4, "x");
    let scatter =
        "the runs of C form two groups, 3 lower and 5 higher; ranks within blocks limit their effect";
    compared.operations[0].metrics.iter_mut().for_each(|metric| metric.scatter = Some(scatter.into()));
    let text = render(&compared, None, &Style::default());
    assert_eq!(text.matches("Scatter    the runs of C").count(), 1, "{text}");
}

#[test]
fn what_was_refused_shows_both_numbers_and_no_difference() {
    let mut refused = comparison::comparison(2, "not the same page");
    refused.is_refused = true;
    refused.gates = vec![comparison::gate(Severity::Refused, "612 bytes and 900")];
    refused.operations[0].metrics.iter_mut().for_each(|metric| metric.effects.clear());
    let text = render(&refused, None, &Style::default());
    assert!(text.starts_with("  ✘ REFUSED  not the same page\n"), "{text}");
    assert!(text.contains("✘ C05      612 bytes and 900") && text.contains("→ serve the same"), "{text}");
    assert!(text.contains("4,000 req/s  4,000 req/s   no difference shown"), "{text}");
    assert!(!text.contains('%'), "{text}");
}

#[test]
fn one_refused_side_of_several_does_not_refuse_the_others() {
    let mut some = comparison::comparison(4, "x");
    (some.is_refused, some.sides[2].is_refused) = (true, true);
    let text = render(&some, None, &Style::default());
    assert!(text.starts_with("  ✘ PARTLY   x\n"), "{text}");
    some.sides.iter_mut().for_each(|side| side.is_refused = true);
    assert!(render(&some, None, &Style::default()).starts_with("  ✘ REFUSED  x\n"));
}

#[test]
fn runs_that_a_trend_leaves_out_are_told_once_for_each_kind() {
    let mut trend = comparison::trend();
    trend.gates = vec![comparison::gate(Severity::Refused, "612 bytes and 900"); 40];
    let text = render(&trend, None, &Style::default());
    assert_eq!(text.matches("612 bytes").count(), 1, "{text}");
    assert!(text.contains("612 bytes and 900; 39 more were excluded for the same reason"), "{text}");
    assert!(!text.contains("→"), "the remedy is for one of two runs: {text}");
}

#[test]
fn many_sides_have_letters() {
    let text = render(&comparison::comparison(4, "x"), None, &Style::default());
    assert_eq!(text.matches("4,000 req/s a").count(), 4 * 5, "{text}");
}

#[test]
fn whatever_is_compared_fits_a_screen() {
    let nasty = ["\u{1b}[2J\u{202e}".repeat(200), "漢".repeat(500), "a\nb ".repeat(100), String::new()];
    for (text, count) in nasty.iter().flat_map(|text| [1, 2, 3, 26].map(|count| (text, count))) {
        let mut compared = comparison::comparison(count, text);
        compared.gates = vec![comparison::gate(Severity::Refused, text); 20];
        if count == 3 {
            compared = comparison::with_hosts(compared, text);
        }
        check_fits(&compared, Some(24));
    }
    for text in &nasty {
        check_fits(&comparison::users(text), Some(60));
        check_fits(&comparison::users(text), None);
    }
}

#[track_caller]
fn check_fits(compared: &RunsComparison, rows: Option<usize>) {
    for (width_columns, has_unicode) in [(60, true), (80, false), (100, true)] {
        let style = Style { width_columns, has_unicode, has_color: false, rows };
        let screen = render(compared, Some(Path::new("/x")), &style);
        for line in screen.lines() {
            assert!(escape::width(line) <= width_columns, "{width_columns}: {line}");
            assert!(!line.contains(|letter: char| letter.is_control() || letter == '\u{202e}'), "{line:?}");
            assert!(has_unicode || line.is_ascii(), "{line}");
        }
    }
}

#[test]
fn variants_of_an_experiment_are_named() {
    let experiment = comparison::experiment();
    let text = render(&experiment, None, &Style::default());
    assert!(text.contains("  Variants   A "), "{text}");
    for side in &experiment.sides {
        assert!(text.contains(&format!("{} {}", side.letter, side.name)), "{text}");
    }
}

#[test]
fn users_have_a_row_for_each_variant_and_their_scoreboards_where_there_is_room() {
    let compared = comparison::users("");
    let text = render(&compared, None, &Style::default());
    let has = |line: &str| {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        text.lines().any(|known| words(known) == line)
    };
    assert!(has("Users users planned ops/s of plan of limit"), "{text}");
    assert!(has("✔ A as it is 25 5.00 4.90 98.0% 21.2%"), "{text}");
    assert!(has("✘ D 1024, cached 200 40.0 39.2 98.0% 131%"), "{text}");
    assert!(text.contains("✘ D        Home: p90 1.31 s, over the limit of 1.00 s"), "{text}");
    assert!(has("✘ FAILED D 1024, cached: 200 users, 39.2 operations/s"), "{text}");
    assert!(has("✘ Home 1,204 26.0% 41.0 ms 1.31 s p90 1 s 3"), "{text}");
    assert!(has("✔ Buy 1,204 26.0% 41.0 ms < 2.40 s p90 1 s 3"), "{text}");
    let low = render(&compared, None, &Style { rows: Some(50), ..Style::default() });
    assert!(low.contains("✘ D 1024, cached") && !low.contains("FAILED"), "{low}");
    assert!(low.contains("and 1 more") && !low.contains("✔ Buy"), "{low}");
}

#[test]
fn machines_are_told_with_what_their_rates_are_divided_by() {
    let style = Style { width_columns: 100, has_unicode: true, has_color: false, rows: None };
    let text = render(&comparison::machines(), None, &style);
    let words = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    for part in [
        "Experiment machine-vs-machine",
        "A server/pages: x86_64, x86_64, 0.50 cores for the server, of a machine with 4 CPUs, 2.45 GHz, power by RAPL",
        "B board/pages: emulated: aarch64 on x86_64, aarch64, aarch64, unknown number of CPUs, no frequency, power by a meter",
        "per-joule 81.25/J 803.5/J ? can't tell A was read by RAPL, B by a meter",
        "1 fact differs between A and B, most important first kernel.release: A 6.18.0 · B 6.1.0: its scheduler differs",
    ] {
        assert!(words.contains(part), "{part}: {text}");
    }
}

#[test]
fn machines_that_are_comparable_by_some_variants_are_compared_partly() {
    let mut compared = comparison::machines();
    let mut other = compared.operations[0].clone();
    other.metrics.iter_mut().for_each(|metric| metric.effects.clear());
    compared.operations.push(other.clone());
    compared.is_refused = true;
    assert!(render(&compared, None, &Style::default()).contains("✘ PARTLY"));
    compared.operations = vec![other];
    assert!(render(&compared, None, &Style::default()).contains("✘ REFUSED"));
}

#[test]
fn a_lower_bound_moves_no_column() {
    let mut compared = comparison::machines();
    let wide = &mut compared.operations[0].metrics[0];
    wide.sides[0].median = Some(123_456.0);
    wide.sides[0].is_lower_bound = true;
    let style = Style { width_columns: 100, has_unicode: true, has_color: false, rows: None };
    let text = render(&compared, None, &style);
    let line = |part: &str| {
        text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {text}"))
    };
    let end = |line: &str, part: &str| {
        line[..line.find(part).expect("is there")].chars().count() + part.chars().count()
    };
    assert_eq!(end(line("≥ 123,500 req/s"), "3,611 req/s"), end(line("803.5/J"), "803.5/J"));
}

#[test]
fn what_speaks_against_comparing_is_one_line_for_each_kind() {
    let mut compared = comparison::comparison(3, "x");
    compared.gates = vec![comparison::gate(Severity::Warned, "A2 is SUSPECT"); 3];
    let text = render(&compared, None, &Style::default());
    assert!(text.contains("A2 is SUSPECT (and 2 more of this kind)"), "{text}");
    compared.gates = vec![comparison::gate(Severity::Refused, "another page"); 3];
    assert_eq!(render(&compared, None, &Style::default()).matches("another page").count(), 3);
}
