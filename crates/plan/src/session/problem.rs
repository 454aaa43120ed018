//! An error in a session, with its place in the file.

use std::ops::Range;

/// Something wrong in the file.
#[derive(Debug)]
pub(super) struct SessionProblem {
    span: Range<usize>,
    cause: String,
}

impl SessionProblem {
    pub(super) fn at(span: Range<usize>, cause: impl Into<String>) -> SessionProblem {
        SessionProblem { span, cause: cause.into() }
    }

    /// The problem with its line, as errors of the TOML parser have it.
    pub(super) fn told(self, text: &str) -> anyhow::Error {
        let start = self.span.start.min(text.len());
        let before = text.get(..start).unwrap_or("");
        let number = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|letter| *letter != '\n').count();
        let line: String = text.lines().nth(number - 1).unwrap_or("").chars().take(200).collect();
        let length =
            text.get(self.span.clone()).map_or(1, |part| part.lines().next().unwrap_or("").chars().count());
        let marks = "^".repeat(length.clamp(1, 200 - column.min(199)));
        let (cause, hint) = self.cause.split_once("\nhint:").unwrap_or((&self.cause, ""));
        let hint = if hint.is_empty() { String::new() } else { format!("\nhint:{hint}") };
        anyhow::anyhow!("line {number}: {cause}\n  {line}\n  {}{marks}{hint}", " ".repeat(column))
    }
}
