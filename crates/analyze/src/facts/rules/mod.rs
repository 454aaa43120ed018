//! Rules for facts: how much a difference matters to a workload, and why.
//!
//! The weights give an order; they measure nothing. 10: can make a factor between similar machines; 7–9: often the limit;
//! 4–6: sometimes; 1–3: rarely; 0: not known to matter. They are house values.

mod machine;
mod network;
mod storage;

use super::pattern;
use sysdyno_record::facts::{HostUse, KnownFact};

/// How much a difference matters, from 0 to 10, by workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// To a server of many connections and short requests.
    pub web: u8,
    /// To many files made, changed and removed.
    pub files: u8,
    /// To a server whose data lie in memory.
    pub memory: u8,
}

impl Weights {
    /// The weight for a workload.
    pub fn of(&self, workload: HostUse) -> u8 {
        match workload {
            HostUse::Web => self.web,
            HostUse::Files => self.files,
            HostUse::Memory => self.memory,
            HostUse::Any => self.web.max(self.files).max(self.memory),
        }
    }
}

/// One thing that is known of some facts.
#[derive(Debug)]
pub struct FactRule {
    /// Names of the facts or objects; `*` stands for any characters.
    pub patterns: &'static [&'static str],
    /// How much a difference matters.
    pub weights: Weights,
    /// Its number, what the fact is, why a difference matters, and where that is written.
    pub known: KnownFact,
}

/// A rule: number, patterns, weights (web, files, memory), what it is, why it matters, source.
macro_rules! rules {
    ($($id:literal $patterns:expr, $web:literal $files:literal $memory:literal, $what:literal, $why:literal, $source:literal;)*) => {
        &[$(crate::facts::rules::FactRule {
            patterns: &$patterns,
            weights: crate::facts::rules::Weights { web: $web, files: $files, memory: $memory },
            known: sysdyno_record::facts::KnownFact { rule: $id, what: $what, why: $why, source: $source },
        }),*]
    };
}
use rules;

/// All rules, by area. Of several that mean the same fact the first one counts; of differences of the same weight, the
/// one whose rule stands first comes first.
pub const FACT_RULES: &[&[FactRule]] = &[storage::RULES, network::RULES, machine::RULES];

/// The rule for a fact and its place in the order; `None`: no rule knows it.
pub(super) fn find(name: &str) -> Option<(usize, &'static FactRule)> {
    let mut rules = FACT_RULES.iter().copied().flatten().enumerate();
    rules.find(|(_, rule)| rule.patterns.iter().any(|pattern| pattern::matches(pattern, name)))
}
