//! Results of the user's checks: failed ones first, each with its margin.

use super::screen::{Rank, Screen};
use super::style::Tone;
use crate::input::ReportInput;

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    let checks = &input.analysis.checks;
    let (passed, failed): (Vec<_>, Vec<_>) = checks.iter().partition(|check| check.passed);
    if checks.is_empty() {
        return;
    }
    screen.gap();
    for check in failed.iter().chain(&passed) {
        let (rank, tone, word) = match check.passed {
            true => (Rank::Extra, Tone::Good, "✔ passed"),
            false => (Rank::Needed, Tone::Bad, "✘ FAILED"),
        };
        screen.sentence(rank, (tone, word), (Tone::Plain, &check.sentence));
    }
}
