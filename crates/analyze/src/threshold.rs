//! The thresholds of all rules: every number in a rule comes with its unit and its source.

use std::fmt;

/// A limit of a rule.
///
/// The documentation and the code read the same value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// What is compared with it, in a phrase.
    pub what: &'static str,
    /// The limit. Unit: `unit`.
    pub value: f64,
    /// Its unit: `ratio`, `ns`, `count`, `hz` …
    pub unit: &'static str,
    /// Where the number comes from.
    pub source: &'static str,
}

impl Threshold {
    /// A limit with its unit and source.
    pub const fn new(what: &'static str, value: f64, unit: &'static str, source: &'static str) -> Threshold {
        Threshold { what, value, unit, source }
    }
}

/// `busy share of all CPUs: 0.85 ratio (house value)`.
impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {} ({})", self.what, self.value, self.unit, self.source)
    }
}

/// Source of a limit that was chosen here, for want of a published one.
pub(crate) const HOUSE: &str = "house value";
