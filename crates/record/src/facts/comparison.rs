//! Differences between two hosts, those most likely to matter first.

use super::Fact;
use serde::Serialize;

/// What a host is used for; decides what is likely to matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HostUse {
    /// A server of many connections and short requests.
    Web,
    /// Many files made, changed and removed.
    Files,
    /// A server whose data lie in memory.
    Memory,
    /// Any of these.
    Any,
}

/// All differences between the facts of two hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactsComparison {
    /// For which workload they are ranked.
    pub workload: HostUse,
    /// Those most likely to matter first.
    pub differences: Vec<FactDifference>,
    /// Facts that are the same.
    pub same_count: u64,
    /// Facts that differ and say nothing about the hosts.
    pub left_out: Vec<LeftOutFact>,
}

/// One difference: of a fact, or of a whole object (an interface, a disk, a file system) that only one host has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactDifference {
    /// Name of the fact or of the object. Untrusted.
    pub name: String,
    /// What the first host has; `None`: it has no such fact or object.
    pub a: Option<Fact>,
    /// What the second host has; `None`: it has no such fact or object.
    pub b: Option<Fact>,
    /// From 0, which does not matter to this workload as far as is known, to 10.
    pub weight: u8,
    /// What is known about it; `None`: no rule knows it.
    pub known: Option<KnownFact>,
}

/// What a rule knows of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct KnownFact {
    /// Number of the rule, such as `D01`.
    pub rule: &'static str,
    /// What the fact is.
    pub what: &'static str,
    /// Why a difference matters.
    pub why: &'static str,
    /// Where that is written.
    pub source: &'static str,
}

/// A fact that differs and says nothing about the hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOutFact {
    /// Its name. Untrusted.
    pub name: String,
    /// Why it says nothing.
    pub reason: &'static str,
}
