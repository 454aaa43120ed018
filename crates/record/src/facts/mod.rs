//! Facts about the measured host: processor, memory, kernel, network, limits.
//!
//! Facts are a flat table, ordered and typed by name, so that two hosts can be compared line by line. A fact that could
//! not be read holds the reason instead of a value.

mod comparison;
mod document;

pub use comparison::{FactDifference, FactsComparison, HostUse, KnownFact, LeftOutFact};
pub use document::{COMPARISON_SCHEMA, FactsDocument, SCHEMA};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All facts of one host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Facts by dotted name: `cpu.model`, `cpu.online_count`, `memory.total_bytes`, `kernel.release`, `sysctl.NAME`.
    pub facts: BTreeMap<String, Fact>,
}

/// One fact: known, or unavailable for a reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// Text as the system gives it, trimmed. Untrusted.
    Text(String),
    /// A number; its unit is the last word of the fact's name.
    Number(f64),
    /// It could not be read.
    Unavailable(String),
}

impl HostFacts {
    /// The number under `name`, if it is known and a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.facts.get(name)? {
            Fact::Number(number) => Some(*number),
            Fact::Text(_) | Fact::Unavailable(_) => None,
        }
    }

    /// The text under `name`, if it is known and text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.facts.get(name)? {
            Fact::Text(text) => Some(text),
            Fact::Number(_) | Fact::Unavailable(_) => None,
        }
    }
}
