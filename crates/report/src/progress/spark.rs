//! Values over time in one row of characters, and lines of several pieces that are cut at the edge of the terminal.

use crate::escape;
use crate::terminal::{Style, Tone};

/// Heights of a cell, the least first.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The same where there is only ASCII.
const ASCII_LEVELS: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// The last `columns` values, the newest on the right; the greatest of `scale` has the full height. What is missing is a
/// space, and only what is above 0 is above the lowest level.
pub(crate) fn sparkline(values: &[Option<f64>], columns: usize, scale: f64, style: &Style) -> String {
    let levels = if style.has_unicode { LEVELS } else { ASCII_LEVELS };
    let shown = &values[values.len().saturating_sub(columns)..];
    let cell = |value: &Option<f64>| match value {
        Some(value) if value.is_finite() && *value > 0.0 && scale > 0.0 => {
            let height = (value / scale).clamp(0.0, 1.0) * (levels.len() - 1) as f64;
            levels[(height.round() as usize).max(1)]
        }
        Some(_) => levels[0],
        None => ' ',
    };
    shown.iter().map(cell).collect()
}

/// The greatest of these values; 0 where there is none.
pub(crate) fn greatest(values: &[Option<f64>]) -> f64 {
    values.iter().flatten().copied().filter(|value| value.is_finite()).fold(0.0, f64::max)
}

/// A line of pieces in their tones, from the left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces(Vec<(Tone, String)>);

impl Pieces {
    /// Adds a piece, in which nothing can touch the terminal from here on.
    pub(crate) fn add(&mut self, tone: Tone, text: impl AsRef<str>) {
        self.0.push((tone, escape::terminal(text.as_ref(), usize::MAX)));
    }

    /// Adds a piece that takes so many columns at least.
    pub(crate) fn pad(&mut self, tone: Tone, text: &str, columns: usize) {
        let safe = escape::terminal(text, usize::MAX);
        let gap = columns.saturating_sub(escape::width(&safe));
        self.add(tone, format!("{safe}{:gap$}", ""));
    }

    /// Adds the pieces of another one.
    pub(crate) fn append(&mut self, other: Pieces) {
        self.0.extend(other.0);
    }

    /// Columns that it takes.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| escape::width(text)).sum()
    }

    /// Adds a label and a value, if there is room for both.
    pub(crate) fn also(&mut self, label: &str, (tone, value): (Tone, &str), columns: usize) {
        if self.width() + escape::width(label) + escape::width(value) <= columns {
            self.add(Tone::Quiet, label);
            self.add(tone, value);
        }
    }

    /// Adds a piece that ends at this column, if there is room for it.
    pub(crate) fn right(&mut self, tone: Tone, text: &str, columns: usize) {
        let used = self.width() + escape::width(text);
        if used < columns {
            self.add(Tone::Plain, " ".repeat(columns - used));
            self.add(tone, text);
        }
    }

    /// The line, at most so many columns wide.
    pub(crate) fn line(&self, columns: usize, style: &Style) -> String {
        let (mut line, mut left) = (String::new(), columns);
        for (tone, text) in &self.0 {
            if left == 0 {
                break;
            }
            let safe = escape::terminal(&style.characters(text), left);
            left -= escape::width(&safe);
            line.push_str(&style.dress(*tone, &style.characters(&safe)));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_value_is_on_the_right_and_zero_is_not_a_little() {
        let style = Style::default();
        let values = [Some(8.0), None, Some(0.0), Some(0.01), Some(4.0), Some(8.0)];
        assert_eq!(sparkline(&values, 10, 8.0, &style), "█ ▁▂▅█");
        assert_eq!(sparkline(&values, 2, 8.0, &style), "▅█");
        let ascii = Style { has_unicode: false, ..style };
        assert_eq!(sparkline(&values, 10, 8.0, &ascii), "# _.=#");
        assert_eq!(sparkline(&[Some(0.0), Some(f64::NAN)], 10, 0.0, &style), "▁▁");
        assert_eq!(greatest(&values), 8.0);
    }

    #[test]
    fn a_line_is_cut_where_the_terminal_ends() {
        let mut pieces = Pieces::default();
        pieces.pad(Tone::Quiet, "rate", 6);
        pieces.add(Tone::Strong, "\u{1b}[31m");
        pieces.right(Tone::Plain, "end", 30);
        let style = Style::default();
        assert_eq!(pieces.line(30, &style), r"rate  \u{1b}[31m           end");
        assert_eq!(pieces.line(9, &style), r"rate  \u…");
        assert_eq!(pieces.line(0, &style), "");
    }
}
