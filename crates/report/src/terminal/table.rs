//! A table of named rows with as many cells of each as fit the screen.

use super::screen::{Rank, Screen, wrap};
use super::style::Tone;
use crate::escape;

/// Columns of a cell, and the fewest that are left for a name.
const CELL_COLUMNS: usize = 11;
const NAME_COLUMNS_MIN: usize = 14;

/// Longest name: somebody else chose it.
const NAME_COLUMNS_MAX: usize = 400;

/// A cell: its heading, its text, and how much it matters.
pub(crate) struct Cell<T> {
    /// Where there is no room for all, those of the least rank are shown.
    pub(crate) rank: u8,
    pub(crate) heading: &'static str,
    pub(crate) text: fn(&T) -> String,
}

/// Draws the rows below a heading; cells stand in the order in which they are given. Names are untrusted.
pub(crate) fn draw<'a, T: 'a>(
    screen: &mut Screen,
    rank: Rank,
    label: &str,
    cells: &[Cell<T>],
    rows: impl Iterator<Item = (String, &'a T)>,
) {
    let columns = screen.body_columns();
    let count = (columns.saturating_sub(NAME_COLUMNS_MIN) / CELL_COLUMNS).clamp(1, cells.len());
    let mut ranks: Vec<u8> = cells.iter().map(|cell| cell.rank).collect();
    ranks.sort_unstable();
    let shown: Vec<&Cell<T>> = cells.iter().filter(|cell| ranks[..count].contains(&cell.rank)).collect();
    let name_columns = columns.saturating_sub(count * CELL_COLUMNS);
    let row = |name: &str, text: &dyn Fn(&Cell<T>) -> String| {
        let padding = " ".repeat(name_columns.saturating_sub(escape::width(name)));
        let cells = shown.iter().map(|cell| {
            let text = screen.style().characters(&text(cell));
            format!("{}{text}", " ".repeat(CELL_COLUMNS.saturating_sub(escape::width(&text))))
        });
        format!("{name}{padding}{}", cells.collect::<String>())
    };
    let mut lines = vec![(Tone::Quiet, row("", &|cell| cell.heading.to_owned()))];
    for (name, item) in rows {
        let name = screen.style().characters(&escape::terminal(&name, NAME_COLUMNS_MAX));
        let is_long = escape::width(&name) > name_columns;
        // A long name has lines to itself, as far to the right as it would be.
        let (indent, words) = name.split_at(name.len() - name.trim_start().len());
        let own = if is_long { wrap(words, columns.saturating_sub(indent.len())) } else { Vec::new() };
        lines.extend(own.into_iter().map(|line| (Tone::Plain, format!("{indent}{line}"))));
        lines.push((Tone::Plain, row(if is_long { "" } else { &name }, &|cell| (cell.text)(item))));
    }
    for (number, (tone, line)) in lines.iter().enumerate() {
        let label = if number == 0 { (Tone::Quiet, label) } else { (Tone::Plain, "") };
        screen.row(rank, label, &[(*tone, line)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::style::Style;

    #[test]
    fn a_name_that_is_too_long_keeps_its_place_in_the_tree() {
        let mut screen = Screen::new(Style { width_columns: 60, ..Style::default() });
        let cells = [Cell::<u32> { rank: 0, heading: "count", text: u32::to_string }];
        let long = format!("   └─ /run/{}", "deep/".repeat(6));
        draw(&mut screen, Rank::Useful, "Path", &cells, [(long.clone(), &1)].into_iter());
        let text = screen.finish();
        let column = text.lines().find_map(|line| line.find('└'));
        assert_eq!(column, Some(13 + 3), "below the label and its own indent: {text}");
    }
}
