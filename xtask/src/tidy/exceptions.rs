//! What is let pass, and why: `xtask/tidy-exceptions.toml`.
//!
//! An exception covers one rule in one file. One that covers nothing is a violation, as is one without a reason. The tables
//! of allowed counts are read here and compared by [`super::ratchet`].

use super::tree::Tree;
use super::{Violation, Violations};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Where the list lies.
pub const PATH: &str = "xtask/tidy-exceptions.toml";

/// The rule that the list itself breaks where it allows more than is needed.
pub const RULE: &str = "exception";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    exception: Vec<Exception>,
    /// What is allowed of each name, by rule.
    #[serde(default)]
    count: BTreeMap<String, BTreeMap<String, usize>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    rule: String,
    path: String,
    reason: String,
}

/// How much the rule of a ratchet allows of each name. Empty if the list cannot be read, which [`apply`] reports.
pub fn allowances(tree: &Tree, rule: &str) -> BTreeMap<String, usize> {
    read(tree).ok().and_then(|mut list| list.count.remove(rule)).unwrap_or_default()
}

/// The rules that the list allows counts for.
pub fn counted_rules(tree: &Tree) -> Vec<String> {
    read(tree).map_or_else(|_| Vec::new(), |list| list.count.into_keys().collect())
}

/// The line of the list that begins like this, from 1; 1 if there is none.
pub fn line_of(tree: &Tree, begin: &str) -> usize {
    let text = tree.texts.get(PATH).map_or("", String::as_str);
    1 + text.lines().position(|line| line.starts_with(begin)).unwrap_or(0)
}

fn read(tree: &Tree) -> Result<List> {
    let text = tree.texts.get(PATH).map_or("", String::as_str);
    toml::from_str(text).with_context(|| format!("cannot read '{PATH}'"))
}

/// The violations that no exception covers, and those that the list itself commits.
pub fn apply(tree: &Tree, found: Vec<Violation>) -> Result<Vec<Violation>> {
    let text = tree.texts.get(PATH).map_or("", String::as_str);
    let list = read(tree)?;
    let mut own = Violations::default();
    for exception in &list.exception {
        let line = 1 + text.lines().position(|line| line.contains(&exception.path)).unwrap_or(0);
        let Exception { rule, path, reason } = exception;
        if reason.trim().is_empty() {
            own.add(PATH, line, RULE, format!("the exception of '{path}' from '{rule}' gives no reason"));
        }
        if !found.iter().any(|violation| exception.covers(violation)) {
            own.add(
                PATH,
                line,
                RULE,
                format!("'{path}' no longer needs its exception from '{rule}': remove it"),
            );
        }
    }
    let uncovered =
        |violation: &Violation| !list.exception.iter().any(|exception| exception.covers(violation));
    Ok(found.into_iter().filter(uncovered).chain(own.0).collect())
}

impl Exception {
    fn covers(&self, violation: &Violation) -> bool {
        self.rule == violation.rule && self.path == violation.path
    }
}
