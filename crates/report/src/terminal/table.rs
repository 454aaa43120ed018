//! A table of named rows with as many cells of each as fit the screen.

use super::screen::{Rank, Screen};
use super::style::Tone;
use crate::escape;

/// Columns of a cell, and the fewest that are left for a name.
const CELL_COLUMNS: usize = 11;
const NAME_COLUMNS_MIN: usize = 14;

/// A cell: its heading and its text.
pub(super) struct Cell<T> {
    pub(super) heading: &'static str,
    pub(super) text: fn(&T) -> String,
}

/// Draws the rows below a heading; cells are given in the order in which they matter. Names are untrusted.
pub(super) fn draw<'a, T: 'a>(
    screen: &mut Screen,
    rank: Rank,
    label: &str,
    cells: &[Cell<T>],
    rows: impl Iterator<Item = (String, &'a T)>,
) {
    let columns = screen.body_columns();
    let count = (columns.saturating_sub(NAME_COLUMNS_MIN) / CELL_COLUMNS).clamp(1, cells.len());
    let name_columns = columns.saturating_sub(count * CELL_COLUMNS);
    let row = |name: &str, text: &dyn Fn(&Cell<T>) -> String| {
        let name = screen.style().characters(&escape::terminal(name, name_columns));
        let mut row = format!("{name}{}", " ".repeat(name_columns.saturating_sub(escape::width(&name))));
        for cell in &cells[..count] {
            let text = screen.style().characters(&text(cell));
            row.push_str(&" ".repeat(CELL_COLUMNS.saturating_sub(escape::width(&text))));
            row.push_str(&text);
        }
        row
    };
    let header = row("", &|cell| cell.heading.to_owned());
    let rows: Vec<String> = rows.map(|(name, item)| row(&name, &|cell| (cell.text)(item))).collect();
    screen.row(rank, (Tone::Quiet, label), &[(Tone::Quiet, &header)]);
    rows.iter().for_each(|row| screen.row(rank, (Tone::Plain, ""), &[(Tone::Plain, row)]));
}
