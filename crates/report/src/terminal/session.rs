//! Results of a load of users: the outcome of each operation, and the rules that were not met.

use super::screen::{Rank, Screen};
use super::style::Tone;
use super::table::{self, Cell};
use crate::number;
use sysdyno_record::session::{SessionOperationResult, SessionResult};

/// Cells in the order in which they stand.
const CELLS: [Cell<SessionOperationResult>; 6] = [
    Cell { rank: 0, heading: "ops/s", text: |operation| number::significant(operation.measured.rate_hz, 3) },
    Cell { rank: 1, heading: "time", text: time },
    Cell { rank: 2, heading: "limit", text: limit },
    Cell { rank: 3, heading: "mix", text: |operation| share(operation.mix_ratio) },
    Cell { rank: 4, heading: "target", text: |operation| share(Some(operation.mix_target_ratio)) },
    Cell { rank: 5, heading: "failed", text: |operation| number::count(operation.measured.failed_count) },
];

pub(super) fn draw(session: &SessionResult, screen: &mut Screen) {
    screen.gap();
    let (word, tone) = if session.passed { ("✔ PASSED", Tone::Good) } else { ("✘ FAILED", Tone::Bad) };
    let met = session.rules.iter().filter(|rule| rule.passed).count();
    let users = match session.users {
        0 => "arriving sessions".to_owned(),
        1 => "1 user".to_owned(),
        users => format!("{} users", number::count(users.into())),
    };
    let text = format!(
        "{} with {users}: {} of {} rules met · {} operations/s",
        session.name,
        number::count(met as u64),
        number::count(session.rules.len() as u64),
        number::significant(session.rate_hz, 4)
    );
    screen.sentence(Rank::Needed, (tone, word), (Tone::Strong, &text));
    let broken: Vec<_> = session.rules.iter().filter(|rule| !rule.passed).collect();
    for rule in broken.iter() {
        screen.sentence(Rank::Needed, (Tone::Bad, "✘"), (Tone::Plain, &rule.sentence));
    }
    draw_operations(session, screen);
}

fn draw_operations(session: &SessionResult, screen: &mut Screen) {
    let operations = session.operations.iter();
    let rows = operations.map(|operation| (operation.measured.name.clone(), operation));
    table::draw(screen, Rank::Needed, "Operations", &CELLS, rows);
}

/// The percentile that is limited, or the median; the longest, marked as such, where there are too few for it.
fn time(operation: &SessionOperationResult) -> String {
    let latency = &operation.measured.latency;
    let ratio = operation.limit.map_or(0.9, |limit| limit.percentile_ratio);
    match (latency.percentile(ratio), latency.max) {
        (Some(value_ns), _) => number::duration_ns(value_ns),
        (None, Some(max_ns)) => format!("< {}", number::duration_ns(max_ns)),
        (None, None) => number::MISSING.to_owned(),
    }
}

fn limit(operation: &SessionOperationResult) -> String {
    let Some(limit) = operation.limit else { return number::MISSING.to_owned() };
    format!("p{} {}", limit.percentile_ratio * 100.0, number::span(limit.limit.duration()))
}

fn share(ratio: Option<f64>) -> String {
    ratio.map_or(number::MISSING.to_owned(), number::percent)
}
