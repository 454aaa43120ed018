//! Progress of a run: one line if output is kept (a log), several redrawn lines on a terminal.

mod closing;
mod picture;
pub(crate) mod spark;
mod tried;

pub use picture::{ROWS_MAX, picture};

use crate::escape;
use crate::number;
use crate::terminal::{Style, Tone};
use std::time::Duration;
use sysdyno_record::load::TrialPurpose;
use sysdyno_record::plan::PhaseKind;
use sysdyno_record::progress::RunProgress;

/// The line, without a newline, at most `style.width_columns` wide.
///
/// What does not fit is left out, in this order: elapsed time, phase, offered rate, errors.
pub fn line(view: &RunProgress, style: &Style) -> String {
    let mut fields = fields(view);
    let width = style.width_columns;
    let mut plain = join(&fields, style);
    while escape::width(&plain) > width && fields.iter().any(|field| field.rank > 0) {
        let worst = fields.iter().map(|field| field.rank).max().unwrap_or(0);
        fields.retain(|field| field.rank != worst);
        plain = join(&fields, style);
    }
    if escape::width(&plain) > width || !style.has_color {
        return escape::terminal(&plain, width);
    }
    let parts = fields.iter().map(|field| style.dress(field.tone, &style.characters(&field.text)));
    parts.collect::<Vec<_>>().join("  ")
}

struct Field {
    /// 0 stays; the greatest goes first.
    rank: u8,
    tone: Tone,
    text: String,
}

fn join(fields: &[Field], style: &Style) -> String {
    let texts: Vec<String> = fields.iter().map(|field| style.characters(&field.text)).collect();
    texts.join("  ")
}

fn fields(view: &RunProgress) -> Vec<Field> {
    let field = |rank: u8, tone: Tone, text: String| Field { rank, tone, text };
    let trial = match view.purpose {
        TrialPurpose::Single => None,
        purpose => Some(field(0, Tone::Strong, format!("trial {} {}", view.trial, purpose_name(purpose)))),
    };
    let phase = field(if trial.is_some() { 3 } else { 0 }, Tone::Quiet, phase_name(view.phase).to_owned());
    let mut fields: Vec<Field> = trial.into_iter().collect();
    fields.push(phase);
    if let Some(offered_hz) = view.offered_hz {
        fields.push(field(2, Tone::Plain, format!("offered {}/s", number::significant(offered_hz, 4))));
    }
    if let Some(count) = view.clients_count {
        fields.push(field(2, Tone::Plain, format!("{} clients", number::count(u64::from(count)))));
    }
    let achieved =
        view.achieved_hz.map_or(number::MISSING.to_owned(), |rate_hz| number::significant(rate_hz, 4));
    fields.push(field(0, Tone::Plain, format!("achieved {achieved}/s")));
    fields.push(field(0, Tone::Plain, format!("p99 {}", number::duration_or_missing(view.p99_ns))));
    if view.errors_count > 0 {
        fields.push(field(1, Tone::Doubtful, format!("errors {}", number::count(view.errors_count))));
    }
    fields.push(field(
        4,
        Tone::Quiet,
        format!("{} elapsed", number::clock(Duration::from_nanos(view.elapsed_ns))),
    ));
    if let Some(left_ns) = view.left_ns {
        let left = number::clock(Duration::from_nanos(left_ns));
        fields.push(field(0, Tone::Quiet, format!("{left} left")));
    }
    fields
}

/// A line that fits the terminal.
pub fn cut(line: &str, style: &Style) -> String {
    style.characters(&escape::terminal(line, style.width().saturating_sub(1)))
}

/// The purpose of a trial, in a word or two.
pub fn purpose_name(purpose: TrialPurpose) -> &'static str {
    match purpose {
        TrialPurpose::Single => "load",
        TrialPurpose::Pilot => "pilot",
        TrialPurpose::Bracket => "bracket",
        TrialPurpose::Grid => "grid",
        TrialPurpose::Certify => "certify",
        TrialPurpose::Sweep => "sweep",
        TrialPurpose::Try => "pair",
    }
}

fn phase_name(phase: PhaseKind) -> &'static str {
    match phase {
        PhaseKind::Warmup => "warm-up",
        PhaseKind::Step => "step",
        PhaseKind::Steady => "steady",
        PhaseKind::Drain => "drain",
        PhaseKind::RampDown => "ramp-down",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> RunProgress {
        RunProgress {
            trial: 7,
            purpose: TrialPurpose::Grid,
            phase: PhaseKind::Steady,
            offered_hz: Some(4_000.0),
            clients_count: None,
            achieved_hz: Some(3_998.2),
            p99_ns: Some(12_340_000),
            errors_count: 12,
            done_count: 8_000,
            elapsed_ns: 95_000_000_000,
            left_ns: Some(162_000_000_000),
        }
    }

    fn check(view: &RunProgress, width_columns: usize, expected: &str) {
        let style = Style { width_columns, ..Style::default() };
        let text = line(view, &style);
        assert_eq!(text, expected);
        assert!(escape::width(&text) <= width_columns);
    }

    #[test]
    fn what_matters_least_is_left_out_first() {
        let whole = "trial 7 grid  steady  offered 4,000/s  achieved 3,998/s  p99 12.3 ms  errors 12  1:35 elapsed  2:42 left";
        check(&view(), 120, whole);
        check(
            &view(),
            100,
            "trial 7 grid  steady  offered 4,000/s  achieved 3,998/s  p99 12.3 ms  errors 12  2:42 left",
        );
        check(&view(), 70, "trial 7 grid  achieved 3,998/s  p99 12.3 ms  errors 12  2:42 left");
        check(&view(), 30, "trial 7 grid  achieved 3,998/…");
    }

    #[test]
    fn a_run_without_samples_has_no_numbers() {
        let view = RunProgress {
            purpose: TrialPurpose::Single,
            phase: PhaseKind::Warmup,
            offered_hz: None,
            achieved_hz: None,
            p99_ns: None,
            errors_count: 0,
            left_ns: None,
            ..view()
        };
        check(&view, 100, "warm-up  achieved –/s  p99 –  1:35 elapsed");
    }

    #[test]
    fn colour_does_not_change_the_text() {
        let style = Style { has_color: true, ..Style::default() };
        let text = line(&view(), &style);
        let mut plain = String::new();
        let mut rest = text.as_str();
        while let Some(begin) = rest.find('\u{1b}') {
            plain.push_str(&rest[..begin]);
            rest = rest[begin..].split_once('m').map_or("", |(_, after)| after);
        }
        plain.push_str(rest);
        assert_eq!(plain, line(&view(), &Style::default()));
        assert_ne!(text, plain);
    }
}
