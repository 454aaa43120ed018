//! The facts of a host, and the differences between two hosts, as terminal text and as JSON.
//!
//! Names and values are untrusted, whether they come from a kernel or from a file: each is escaped and cut to its column.

mod comparison;
mod ports;
mod sheet;
mod value;

#[cfg(test)]
mod tests;

pub use comparison::{comparison_document, differences};
pub use ports::ports;
pub use sheet::{FACTS_MAX, sheet};
pub(crate) use value::pair;

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// What fits a screen, with a count of what is left.
    Screen,
    /// Everything.
    All,
}

use crate::escape;
use crate::terminal::Style;

/// Untrusted text cut to so many columns, in characters that the terminal can show.
fn cut(text: &str, columns: usize, style: &Style) -> String {
    let shown = style.characters(&escape::terminal(text, usize::MAX));
    style.characters(&escape::terminal(&shown, columns))
}

/// The same, filled up with spaces.
fn column(text: &str, columns: usize, style: &Style) -> String {
    let shown = cut(text, columns, style);
    let padding = columns.saturating_sub(escape::width(&shown));
    format!("{shown}{:padding$}", "")
}
