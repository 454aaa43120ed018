//! What came of the checks that the user asked for: failed ones first, each with by how much.

use super::screen::{Rank, Screen};
use super::style::Tone;
use crate::input::ReportInput;
use crate::number;

/// Checks that are printed; the report has all of them.
const CHECKS_MAX: usize = 4;

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    let checks = &input.analysis.checks;
    let (passed, failed): (Vec<_>, Vec<_>) = checks.iter().partition(|check| check.passed);
    if checks.is_empty() {
        return;
    }
    screen.gap();
    for check in failed.iter().chain(&passed).take(CHECKS_MAX) {
        let (rank, tone, word) = match check.passed {
            true => (Rank::Extra, Tone::Good, "✔ passed"),
            false => (Rank::Needed, Tone::Bad, "✘ FAILED"),
        };
        screen.sentence(rank, (tone, word), (Tone::Plain, &check.sentence));
    }
    let hidden = checks.len().saturating_sub(CHECKS_MAX);
    if hidden > 0 {
        let hidden_failed = failed.len().saturating_sub(CHECKS_MAX);
        let text = format!(
            "and {} more in the report, {} of them failed",
            number::count(hidden as u64),
            number::count(hidden_failed as u64)
        );
        screen.row(Rank::Useful, (Tone::Plain, ""), &[(Tone::Quiet, &text)]);
    }
}
