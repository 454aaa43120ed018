//! The result on one screen of a terminal: the verdict, then the statements that it permits.
//!
//! Sentences are whole: where a terminal is too low, those go that matter least, and where that is not enough the screen
//! ends with the verdict and the limit, which it began with.
//! The order never changes: verdict and reasons, capacity and bottleneck with what to change, what was tried, request path, latency, operations, hosts, remarks,
//! counts, where the report is.

mod answer;
mod autotune;
mod checks;
mod explain;
mod hosts;
mod judged;
mod latency;
mod links;
mod operations;
mod path;
mod probes;
mod proofs;
mod scoreboard;
mod screen;
mod services;
mod session;
mod settings;
mod squeeze;
mod style;
mod table;
mod tryout;
mod verdict;
mod work;

pub(crate) use answer::ending;
pub use autotune::render_autotune;
pub use explain::{Diagnosis, render_diagnoses, render_diagnosis, render_explanation};
pub use judged::render_judged;
pub(crate) use scoreboard::draw as draw_scoreboard;
pub use screen::wrap;
pub(crate) use screen::{Rank, Screen};
pub use squeeze::render_squeeze;
pub use style::{Style, Tone};
pub(crate) use table::{Cell, draw as draw_table};
pub use tryout::render_tryout;
pub(crate) use tryout::{EffectMeasure, Strip};
pub(crate) use verdict::{draw_reason, draw_state, shape};

use crate::input::ReportInput;

/// The result of a run, as `run`, `load` and `show` print it; ends with a newline.
pub fn render(input: &ReportInput<'_>, style: &Style) -> String {
    let mut screen = Screen::new(*style);
    verdict::draw(input, &mut screen);
    checks::draw(input, &mut screen);
    answer::draw(input, &mut screen);
    proofs::draw(input, &mut screen);
    path::draw(input, &mut screen);
    links::draw(input, &mut screen);
    match &input.analysis.session {
        // The time of an operation is that of all its requests: what single requests took is in the report.
        Some(result) => session::draw(result, &mut screen),
        None => {
            latency::draw(input, &mut screen);
            operations::draw(input, &mut screen);
        }
    }
    hosts::draw(input, &mut screen);
    settings::draw(input, &mut screen);
    services::draw(input, &mut screen);
    verdict::draw_remarks(input, &mut screen);
    work::draw(input, &mut screen);
    screen.finish()
}

#[cfg(test)]
mod tests {
    use super::screen::{Rank, Screen, wrap};
    use super::style::{Style, Tone};

    #[test]
    fn text_is_wrapped_at_words_and_never_cut() {
        assert_eq!(wrap("one two three four five six", 9), ["one two", "three", "four five", "six"]);
        assert_eq!(wrap("at most 50 ms.", 12), ["at most", "50 ms."]);
        assert_eq!(wrap("about 97 ms of", 8), ["about", "97 ms of"]);
        assert_eq!(wrap("type `a b c` here", 11), ["type", "`a b c`", "here"]);
        assert_eq!(wrap("", 9), Vec::<String>::new());
        assert_eq!(wrap(&"x".repeat(12), 5), ["xxxxx", "xxxxx", "xx"]);
    }

    fn drawn(rows: Option<usize>, extras: usize) -> String {
        let mut screen = Screen::new(Style { rows, width_columns: 60, ..Style::default() });
        screen.answer((Tone::Good, "VALID"), (Tone::Strong, "the answer"));
        let long = format!("{}the end", "a remedy ".repeat(12));
        (0..extras).for_each(|_| screen.sentence(Rank::Extra, (Tone::Plain, ""), (Tone::Plain, &long)));
        (0..4).for_each(|_| screen.sentence(Rank::Needed, (Tone::Plain, ""), (Tone::Plain, "a fact")));
        screen.answer((Tone::Quiet, "Bottleneck"), (Tone::Strong, "the cause"));
        screen.finish()
    }

    #[test]
    fn a_sentence_is_whole_or_not_there() {
        for rows in 1..40 {
            let text = drawn(Some(rows), 3);
            let begun = text.matches("             a remedy a remedy").count();
            assert!(!text.contains('…'), "{text}");
            assert_eq!(
                text.matches("the end").count() * 3,
                begun + text.matches("the end").count() * 2,
                "{rows}: {text}"
            );
        }
        assert_eq!(drawn(None, 50).matches("the end").count(), 50, "a pipe takes all of it");
    }

    #[test]
    fn a_path_takes_the_rows_into_which_the_terminal_breaks_it() {
        let drawn = |rows: usize| {
            let mut screen = Screen::new(Style { rows: Some(rows), width_columns: 60, ..Style::default() });
            screen.answer((Tone::Good, "VALID"), (Tone::Strong, "the answer"));
            screen.sentence(Rank::Useful, (Tone::Plain, ""), (Tone::Plain, "a fact"));
            screen.path("Report", &"x".repeat(100));
            screen.finish()
        };
        assert!(drawn(5).contains("a fact"), "four rows and the prompt");
        assert!(!drawn(4).contains("a fact"), "the answer, the path in two rows, and the prompt");
    }

    #[test]
    fn what_does_not_fit_a_low_terminal_ends_with_the_answer() {
        let text = drawn(Some(7), 3);
        assert_eq!(text.lines().count(), 6, "{text}");
        let low = drawn(Some(6), 3);
        assert!(low.ends_with("\n\n  VALID      the answer\n  Bottleneck the cause\n"), "{low}");
    }
}
