//! An error in lab.toml, reported with line and column.

use std::ops::Range;
use toml::Spanned;

/// Longest line that is shown. Unit: characters.
const MAX_SHOWN: usize = 200;

/// Something wrong, and where.
#[derive(Debug)]
pub(super) struct FileProblem {
    span: Range<usize>,
    cause: String,
}

impl FileProblem {
    /// Something wrong with a value.
    pub(super) fn with<T>(value: &Spanned<T>, cause: impl Into<String>) -> FileProblem {
        FileProblem { span: value.span(), cause: cause.into() }
    }

    /// The problem with its place, as errors of the TOML parser have it.
    pub(super) fn told(&self, text: &str) -> String {
        let start = self.span.start.min(text.len());
        let before = text.get(..start).unwrap_or("");
        let number = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|letter| *letter != '\n').count();
        let line: String = text.lines().nth(number - 1).unwrap_or("").chars().take(MAX_SHOWN).collect();
        let marked = text.get(self.span.clone()).and_then(|part| part.lines().next()).unwrap_or("");
        let marks = "^".repeat(marked.chars().count().clamp(1, MAX_SHOWN - column.min(MAX_SHOWN - 1)));
        let blanks = " ".repeat(column.min(MAX_SHOWN));
        format!("line {number}, column {}: {}\n  {line}\n  {blanks}{marks}", column + 1, self.cause)
    }
}
