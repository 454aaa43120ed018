//! Objections to comparing the sides.

use crate::number;
use crate::terminal::{Rank, Screen, Tone};
use sysdyno_record::comparison::{GateOutcome, RunsComparison, Severity};

/// Kinds of gates that are printed; the page has all of them.
const GATES_MAX: usize = 5;

/// The first gate of each kind that does not refuse, with how many there are of it, and each that does: on a trend a refusal
/// only leaves a run out, so that those are told by their kind, too.
fn kinds(gates: &[GateOutcome], is_trend: bool) -> Vec<(&GateOutcome, usize)> {
    let mut kinds: Vec<(&GateOutcome, usize)> = Vec::new();
    for gate in gates {
        let is_like = |(first, _): &&mut (&GateOutcome, usize)| {
            (is_trend || gate.severity != Severity::Refused)
                && (first.severity, &first.id) == (gate.severity, &gate.id)
        };
        match kinds.iter_mut().find(is_like) {
            Some((_, count)) => *count += 1,
            None => kinds.push((gate, 1)),
        }
    }
    kinds
}

pub(super) fn draw(comparison: &RunsComparison, screen: &mut Screen) {
    let is_trend = comparison.trend.is_some();
    let kinds = kinds(&comparison.gates, is_trend);
    let shown = if screen.is_endless() { kinds.len() } else { GATES_MAX };
    for (gate, count) in kinds.iter().take(shown) {
        let (tone, shape, rank) = match gate.severity {
            Severity::Refused => (Tone::Bad, "✘", Rank::Needed),
            Severity::Bounded => (Tone::Doubtful, "▲", Rank::Needed),
            Severity::Allowed => (Tone::Doubtful, "▲", Rank::Useful),
            Severity::Warned => (Tone::Doubtful, "▲", Rank::Useful),
        };
        let allowed = if gate.severity == Severity::Allowed { "allowed: " } else { "" };
        let label = format!("{shape} {}", gate.id);
        let others = number::count(*count as u64 - 1);
        let more = match (*count, gate.severity) {
            (1, _) => String::new(),
            (_, Severity::Refused) => format!("; {others} more were excluded for the same reason"),
            _ => format!(" (and {others} more of this kind)"),
        };
        screen.sentence(rank, (tone, &label), (Tone::Plain, &format!("{allowed}{}{more}", gate.text)));
        if gate.severity == Severity::Refused && *count == 1 {
            screen.sentence(Rank::Useful, (Tone::Plain, ""), (Tone::Quiet, &format!("→ {}", gate.remedy)));
        }
    }
    let hidden = kinds.len().saturating_sub(shown);
    if hidden > 0 {
        let text = format!("and {} more in the report", number::count(hidden as u64));
        screen.row(Rank::Extra, (Tone::Plain, ""), &[(Tone::Quiet, &text)]);
    }
    screen.gap();
}
