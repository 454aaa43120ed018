//! Each host's share of a load that several hosts generate together.

use super::screen::{Rank, Screen};
use super::style::Tone;
use super::table::{self, Cell};
use crate::input::ReportInput;
use crate::number;
use sysdyno_record::load::LatencyKind;
use sysdyno_record::spread::GeneratorShare;

/// Hosts that are printed on a terminal; a pipe and the report get all of them.
const ROWS_MAX: usize = 6;

/// Cells in the order in which they stand.
const CELLS: [Cell<GeneratorShare>; 5] = [
    Cell { rank: 0, heading: "requests", text: |share| number::count(share.measured.counts.sent) },
    Cell { rank: 1, heading: "not ok", text: |share| number::count(share.not_ok_count()) },
    Cell { rank: 2, heading: "late p99", text: late },
    Cell { rank: 3, heading: "busiest", text: |share| number::percent(share.generator.busiest_thread_ratio) },
    Cell { rank: 4, heading: "clock ±", text: |share| number::duration_ns(share.clock.uncertainty_ns) },
];

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    let shares = input.shares();
    if shares.is_empty() {
        return;
    }
    screen.gap();
    let shown = if shares.len() > ROWS_MAX && !screen.is_endless() { ROWS_MAX - 1 } else { shares.len() };
    let rows = shares.iter().take(shown).map(|share| (share.name.clone(), share));
    table::draw(screen, Rank::Useful, "Hosts", &CELLS, rows);
    if shares.len() > shown {
        let rest = format!("and {} more in the report", shares.len() - shown);
        screen.row(Rank::Extra, (Tone::Plain, ""), &[(Tone::Quiet, &rest)]);
    }
}

fn late(share: &GeneratorShare) -> String {
    let slip = share.measured.latency.get(&LatencyKind::LoopSlip);
    slip.and_then(|slip| slip.p99.or(slip.max)).map_or(number::MISSING.to_owned(), number::duration_ns)
}
