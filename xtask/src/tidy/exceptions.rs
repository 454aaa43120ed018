//! What is let pass, and why: `xtask/tidy-exceptions.toml`.
//!
//! An exception covers one rule in one file. One that covers nothing is a violation, as is one without a reason.

use super::tree::Tree;
use super::{Violation, Violations};
use anyhow::{Context, Result};
use serde::Deserialize;

/// Where the list lies.
pub const PATH: &str = "xtask/tidy-exceptions.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    exception: Vec<Exception>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    rule: String,
    path: String,
    reason: String,
}

/// The violations that no exception covers, and those that the list itself commits.
pub fn apply(tree: &Tree, found: Vec<Violation>) -> Result<Vec<Violation>> {
    let text = tree.texts.get(PATH).map_or("", String::as_str);
    let list: List = toml::from_str(text).with_context(|| format!("cannot read '{PATH}'"))?;
    let mut own = Violations::default();
    for exception in &list.exception {
        let line = 1 + text.lines().position(|line| line.contains(&exception.path)).unwrap_or(0);
        let Exception { rule, path, reason } = exception;
        if reason.trim().is_empty() {
            own.add(
                PATH,
                line,
                "exception",
                format!("the exception of '{path}' from '{rule}' gives no reason"),
            );
        }
        if !found.iter().any(|violation| exception.covers(violation)) {
            own.add(
                PATH,
                line,
                "exception",
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
