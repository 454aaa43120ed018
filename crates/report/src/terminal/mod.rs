//! The result on one screen of a terminal: the verdict, then what it allows to be said.
//!
//! At most [`SCREEN_LINES`] lines, whatever the record holds: where whole sentences do not fit they are cut to a line,
//! and then lines go that matter least.
//! The order never changes: verdict and reasons, capacity and limit, latency, operations, hosts, counts, where the report is.

mod answer;
mod checks;
mod experiment;
mod hosts;
mod latency;
mod operations;
mod screen;
mod services;
mod session;
mod settings;
mod style;
mod table;
mod verdict;
mod work;

pub(crate) use answer::ending;
pub use experiment::render_experiment;
pub(crate) use screen::{Detail, Rank, Screen, wrap};
pub use style::{Style, Tone};
pub(crate) use verdict::{draw_reason, draw_state, shape};

use crate::input::ReportInput;

/// Lines of the screen that a result has to fit.
pub const SCREEN_LINES: usize = 24;

/// The result of a run, as `run`, `load` and `show` print it; ends with a newline.
pub fn render(input: &ReportInput<'_>, style: &Style) -> String {
    let draw = |detail: Detail| {
        let mut screen = Screen::new(*style, detail);
        verdict::draw(input, &mut screen);
        checks::draw(input, &mut screen);
        answer::draw(input, &mut screen);
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
        work::draw(input, &mut screen);
        screen
    };
    fit(draw, SCREEN_LINES)
}

/// A screen with as much detail as so many lines hold.
fn fit(draw: impl Fn(Detail) -> Screen, lines_max: usize) -> String {
    let mut screen = draw(Detail::MOST);
    for detail in Detail::LESS {
        if screen.lines_without_air() <= lines_max {
            break;
        }
        screen = draw(detail);
    }
    screen.finish(lines_max)
}

#[cfg(test)]
mod tests {
    use super::screen::wrap;

    #[test]
    fn text_is_wrapped_at_words_and_cut_after_the_last_line() {
        let lines = wrap("one two three four five six", 9, 2);
        assert_eq!(lines, ["one two", "three fo…"]);
        assert_eq!(wrap("one two three", 9, 2), ["one two", "three"]);
        assert_eq!(wrap("at most 50 ms.", 12, 2), ["at most", "50 ms."]);
        assert_eq!(wrap("about 97 % of", 8, 3), ["about", "97 % of"]);
        assert_eq!(wrap("", 9, 2), Vec::<String>::new());
        assert_eq!(wrap(&"x".repeat(12), 5, 3), ["xxxxx", "xxxxx", "xx"]);
    }
}
