//! Windows of loss as text: when, how long, who lost how many, and who did not.

use super::TABLE_NAME_COLUMNS;
use crate::escape;
use crate::number;
use crate::terminal::{Style, wrap};
use sysdyno_record::manifest::ClockPair;
use sysdyno_record::probe::{LossWindow, ProbeConclusion, ProbedSummary, WindowSight};

/// Windows that a screen lists.
const LISTED_MAX: usize = 20;

/// Columns before the text of a window.
const INDENT_COLUMNS: usize = 14;

/// The windows of a probe, with what each target saw; empty without any.
pub(super) fn lines(conclusion: &ProbeConclusion, clock: ClockPair, style: &Style) -> Vec<String> {
    let windows = &conclusion.windows;
    if windows.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), "Loss windows (UTC)".to_owned()];
    for window in windows.iter().take(LISTED_MAX) {
        let at = clock.wall(window.begin_mono_ns).rfc3339_millis();
        let at = at.get(11..23).unwrap_or(&at);
        let text = sentence(window, &conclusion.targets);
        let columns = style.width().saturating_sub(INDENT_COLUMNS);
        for (number, part) in wrap(&text, columns).iter().enumerate() {
            let lead = if number == 0 { at } else { "" };
            lines.push(format!("{lead:<INDENT_COLUMNS$}{part}"));
        }
    }
    let more = conclusion.windows_count.saturating_sub(windows.len().min(LISTED_MAX) as u64);
    if more > 0 {
        lines.push(format!("{:INDENT_COLUMNS$}and {} more", "", number::count(more)));
    }
    lines
}

/// How long a window was, and what each target saw of it.
pub(crate) fn sentence(window: &LossWindow, targets: &[ProbedSummary]) -> String {
    let seen = |sight: WindowSight| {
        let shares = targets.iter().zip(&window.targets).filter(move |(_, share)| share.sight == sight);
        let each = |(target, share): (&ProbedSummary, &sysdyno_record::probe::WindowShare)| {
            let name = escape::terminal(&target.name, TABLE_NAME_COLUMNS);
            format!("{name} {} of {}", number::count(share.lost_count), number::count(share.sent_count))
        };
        shares.map(each).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!("{}: lost {}", number::duration_ns(window.span_ns()), seen(WindowSight::Lost));
    for (sight, words) in [(WindowSight::Clear, "not seen by"), (WindowSight::TooFew, "can't tell")] {
        let names = seen(sight);
        if !names.is_empty() {
            text.push_str(&format!("; {words} {names}"));
        }
    }
    text
}
