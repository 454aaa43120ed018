//! Checks in words: what a user asks of the numbers of a run, as in `p99>20ms` or `errors>0.1%`.
//!
//! A check names what must *not* be; it fails when its comparison holds. The grammar, spaces free between the parts:
//!
//! ```text
//! check    = metric operator limit
//! metric   = statistic | kind "." statistic | one of METRICS | status
//! kind     = one of KINDS             response service slip connect first_byte
//! statistic= one of STATISTICS        p50 p90 p95 p99 p99.9 max mean
//! status   = a code, or a class      404 5xx; counted, or a share where the limit is one
//! operator = ">" | ">=" | "<" | "<="
//! limit    = number unit              20ms  0.1%  5k/s; 0 needs no unit
//! ```
//!
//! Parser, evaluation and the texts of help and errors work by the same tables ([`metric`], [`limit`]). Invariants: a
//! check whose measure is not known, or is only a lower bound on the harmless side of the limit, cannot be decided and
//! has failed, with that said. What is compared is a number of the analysis; nothing is measured here.

mod judge;
mod limit;
mod metric;

#[cfg(test)]
mod tests;

pub use judge::judge;
pub use limit::Dimension;
pub use metric::{KINDS, METRICS, STATISTICS};

use metric::Measure;
use std::fmt;
use std::str::FromStr;

/// Longest text of a check. Unit: bytes.
const TEXT_MAX_BYTES: usize = 100;

/// Checks that a plan may hold at most.
pub const CHECKS_MAX: usize = 100;

/// One check, read.
#[derive(Clone, Debug, PartialEq)]
pub struct FailIf {
    text: String,
    measure: Measure,
    operator: Operator,
    /// In the unit of the measure's dimension.
    limit: f64,
}

impl FailIf {
    /// The check as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether only a search for capacity can answer it.
    pub fn needs_search(&self) -> bool {
        matches!(self.measure, Measure::Number(metric) if metric.needs_search)
    }
}

/// How a measure is compared with the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// Operators as they are written; the longer of two with the same beginning first.
const OPERATORS: [(&str, Operator); 4] =
    [(">=", Operator::AtLeast), ("<=", Operator::AtMost), (">", Operator::Above), ("<", Operator::Below)];

impl Operator {
    fn name(self) -> &'static str {
        OPERATORS.iter().find(|(_, operator)| *operator == self).map_or("", |(name, _)| name)
    }

    fn holds(self, measured: f64, limit: f64) -> bool {
        match self {
            Operator::Above => measured > limit,
            Operator::AtLeast => measured >= limit,
            Operator::Below => measured < limit,
            Operator::AtMost => measured <= limit,
        }
    }

    /// Whether greater values are the bad ones.
    fn is_ceiling(self) -> bool {
        matches!(self, Operator::Above | Operator::AtLeast)
    }
}

/// A text that is not a check.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailIfError {
    /// There is no operator in it.
    #[error("cannot read check '{text}': it has no '>', '>=', '<', or '<='\nhint: {}", Hint)]
    Operator {
        /// The user's input, shortened.
        text: String,
    },
    /// What stands before the operator is not a metric.
    #[error("cannot read check '{text}': '{token}' is not a metric\nhint: {}", Hint)]
    Metric {
        /// The user's input, shortened.
        text: String,
        /// The part that is not understood.
        token: String,
    },
    /// What stands behind the operator is not a limit of this metric.
    #[error("cannot read check '{text}': '{token}' is not a limit: {expected}\nhint: {}", Hint)]
    Limit {
        /// The user's input, shortened.
        text: String,
        /// The part that is not understood.
        token: String,
        /// What a limit of this metric looks like.
        expected: &'static str,
    },
}

/// The accepted input, in two sentences.
struct Hint;

impl fmt::Display for Hint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statistics: Vec<&str> = STATISTICS.iter().map(|statistic| statistic.name).collect();
        let kinds: Vec<String> = KINDS.iter().map(|kind| format!("{}.", kind.name)).collect();
        let metrics: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        write!(
            out,
            "write METRIC OP LIMIT, such as 'p99>20ms' or 'errors>0.1%', with OP >, >=, <, or <=; metrics: \
             {} (optionally with a prefix: {}), {}, a status code (404) or class (5xx)",
            statistics.join(" "),
            kinds.join(" "),
            metrics.join(" ")
        )
    }
}

impl FromStr for FailIf {
    type Err = FailIfError;

    fn from_str(text: &str) -> Result<FailIf, FailIfError> {
        let typed = text.trim();
        let shown = || shorten(typed);
        let found = typed.find(['>', '<']).filter(|_| typed.len() <= TEXT_MAX_BYTES);
        let at = found.ok_or_else(|| FailIfError::Operator { text: shown() })?;
        let (left, rest) = typed.split_at(at);
        let (name, operator) = OPERATORS
            .into_iter()
            .find(|(name, _)| rest.starts_with(name))
            .ok_or_else(|| FailIfError::Operator { text: shown() })?;
        let (left, right) = (left.trim(), rest[name.len()..].trim());
        let measure = Measure::named(left)
            .ok_or_else(|| FailIfError::Metric { text: shown(), token: shorten(left) })?
            .in_unit_of(right);
        let dimension = measure.dimension();
        let limit = dimension.parse(right).ok_or_else(|| FailIfError::Limit {
            text: shown(),
            token: shorten(right),
            expected: dimension.expected(),
        })?;
        Ok(FailIf { text: typed.to_owned(), measure, operator, limit })
    }
}

/// A text as it is quoted: bounded, without control characters.
fn shorten(text: &str) -> String {
    crate::format::name(text)
}

/// Whether these texts are checks that a run of this kind can answer.
///
/// # Errors
/// The first that is not, in words.
pub fn validate<'a>(texts: impl IntoIterator<Item = &'a str>, has_search: bool) -> Result<(), String> {
    for (index, text) in texts.into_iter().enumerate() {
        let check: FailIf = text.parse().map_err(|error: FailIfError| error.to_string())?;
        if check.needs_search() && !has_search {
            return Err(format!(
                "cannot check '{}': only `sysdyno run` measures capacity\nhint: check rate or goodput \
                 instead",
                check.text()
            ));
        }
        if index >= CHECKS_MAX {
            return Err(format!("cannot make more than {CHECKS_MAX} checks"));
        }
    }
    Ok(())
}
