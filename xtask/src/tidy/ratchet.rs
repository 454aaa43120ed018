//! Counts that may only fall: what is there today is allowed, more is a violation, and so is an allowance that is larger
//! than the count.
//!
//! The allowances are tables of `xtask/tidy-exceptions.toml`, one for each of [`RATCHETS`].

use super::Violations;
use super::exceptions;
use super::tree::Tree;
use std::collections::BTreeMap;

/// Files in cycles between modules, by crate.
pub const MODULE_CYCLE: Ratchet = Ratchet { rule: "module-cycle", free: 0 };

/// Types of one name.
pub const TYPE_NAME: Ratchet = Ratchet { rule: "type-name", free: 1 };

/// All of them.
const RATCHETS: &[&Ratchet] = &[&MODULE_CYCLE, &TYPE_NAME];

/// A rule whose breaches are counted by name.
pub struct Ratchet {
    /// The rule, and the table of what is allowed.
    pub rule: &'static str,
    /// The count that every name may have without an allowance.
    pub free: usize,
}

/// How often the rule of a ratchet is broken under one name.
pub struct Breaches {
    /// The number of breaches.
    pub number: usize,
    /// Where a violation is reported.
    pub path: String,
    /// From 1.
    pub line: usize,
    /// What is there, and how often: a clause that ends before "N are allowed".
    pub message: String,
}

/// Finds allowances for rules that do not count anything.
pub fn check_tables(tree: &Tree, found: &mut Violations) {
    for rule in exceptions::counted_rules(tree) {
        if !RATCHETS.iter().any(|ratchet| ratchet.rule == rule) {
            let line = exceptions::line_of(tree, &format!("[count.{rule}]"));
            found.add(exceptions::PATH, line, exceptions::RULE, format!("no rule counts '{rule}'"));
        }
    }
}

impl Ratchet {
    /// Compares the counts with what the list allows.
    pub fn check(&self, tree: &Tree, counted: &BTreeMap<String, Breaches>, found: &mut Violations) {
        let allowed = exceptions::allowances(tree, self.rule);
        for (name, breaches) in counted {
            let most = allowed.get(name).copied().unwrap_or(self.free);
            if breaches.number > most {
                let message = format!("{}; {most} allowed", breaches.message);
                found.add(&breaches.path, breaches.line, self.rule, message);
            }
        }
        for (name, most) in &allowed {
            let number = counted.get(name).map_or(0, |breaches| breaches.number);
            let advice = match number {
                number if number >= *most && *most > self.free => continue,
                number if number > self.free => format!("lower it to {number}"),
                _ => "remove it".to_owned(),
            };
            let line = exceptions::line_of(tree, &format!("{name} = "));
            let message =
                format!("'{name}' is allowed {most} under '{}' and has {number}: {advice}", self.rule);
            found.add(exceptions::PATH, line, exceptions::RULE, message);
        }
    }
}
