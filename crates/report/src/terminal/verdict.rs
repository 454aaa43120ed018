//! The verdict: its word and shape, the headline, and every reason to doubt the numbers. Remarks that lower no verdict come later.

use super::screen::{Rank, Screen};
use super::style::Tone;
use crate::input::ReportInput;
use sysdyno_record::analysis::{Reason, VerdictStatus};
use sysdyno_record::manifest::RunStatus;
use sysdyno_record::view::FolderView;

pub(crate) fn shape(status: VerdictStatus) -> (Tone, &'static str) {
    match status {
        VerdictStatus::Valid => (Tone::Good, "✔ VALID"),
        VerdictStatus::Suspect => (Tone::Doubtful, "▲ SUSPECT"),
        VerdictStatus::Invalid => (Tone::Bad, "✘ INVALID"),
    }
}

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    let verdict = &input.analysis.verdict;
    screen.answer(shape(verdict.status), (Tone::Strong, &input.analysis.headline));
    draw_state(&input.folder, screen);
    verdict.reasons.iter().filter(|reason| !is_remark(reason)).for_each(|reason| draw_reason(reason, screen));
}

/// What else is worth knowing about the measurement.
pub(super) fn draw_remarks(input: &ReportInput<'_>, screen: &mut Screen) {
    let remarks: Vec<&Reason> =
        input.analysis.verdict.reasons.iter().filter(|reason| is_remark(reason)).collect();
    if !remarks.is_empty() {
        screen.gap();
    }
    remarks.into_iter().for_each(|reason| draw_reason(reason, screen));
}

/// Whether it lowers no verdict.
fn is_remark(reason: &Reason) -> bool {
    reason.status == VerdictStatus::Valid
}

/// Says so when the record is not whole.
pub(crate) fn draw_state(folder: &FolderView, screen: &mut Screen) {
    let manifest = folder.manifest;
    let reason = manifest.reason.as_deref().unwrap_or("no reason recorded");
    let state = match manifest.status {
        _ if folder.is_incomplete => "incomplete: sysdyno died; the results up to then are shown".to_owned(),
        RunStatus::Interrupted => format!("interrupted ({reason}); the results up to then are shown"),
        RunStatus::Failed => format!("failed ({reason}); the results up to then are shown"),
        RunStatus::Complete | RunStatus::Running => String::new(),
    };
    if !state.is_empty() {
        screen.sentence(Rank::Needed, (Tone::Doubtful, "▲ record"), (Tone::Plain, &state));
    }
    if let [first, more @ ..] = folder.damage {
        let more = if more.is_empty() { String::new() } else { format!(" (and {} more)", more.len()) };
        let text = format!("{first}{more}");
        screen.sentence(Rank::Needed, (Tone::Doubtful, "▲ damaged"), (Tone::Plain, &text));
    }
}

pub(crate) fn draw_reason(reason: &Reason, screen: &mut Screen) {
    let label = match reason.status {
        VerdictStatus::Valid => format!("· {}", reason.id),
        VerdictStatus::Suspect => format!("▲ {}", reason.id),
        VerdictStatus::Invalid => format!("✘ {}", reason.id),
    };
    let tone = match reason.status {
        VerdictStatus::Valid => Tone::Quiet,
        status => shape(status).0,
    };
    let label: String = crate::escape::terminal(&label, 9);
    let is_remark = is_remark(reason);
    let rank = if is_remark { Rank::Extra } else { Rank::Needed };
    screen.sentence(rank, (tone, &label), (Tone::Plain, &reason.text));
    if !is_remark && !reason.remedy.is_empty() {
        let remedy = format!("→ {}", reason.remedy);
        screen.sentence(Rank::Useful, (Tone::Plain, ""), (Tone::Quiet, &remedy));
    }
}
