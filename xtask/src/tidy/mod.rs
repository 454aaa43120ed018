//! The rules of the house as a program: dependency edges, sizes, places for unsafe code, names, documents in step.
//!
//! What is checked:
//! - [`CHECKS`] is the complete list; each check is one file, a pure function from the [`Tree`] to violations;
//! - a violation is `path:line: rule: message`, all of them are printed, sorted;
//! - `xtask/tidy-exceptions.toml` lists what is let pass, each with its reason; an exception that is not needed is
//!   itself a violation, so that the list only shrinks.
//!
//! Rust files are read twice: by a small lexer ([`source`]), which knows comments, strings, braces and test regions, for
//! rules about text; and by the parser `syn` ([`syntax`]) for rules about names and what they refer to.

mod clocks;
mod documents;
mod edges;
mod exceptions;
mod generated;
mod manifests;
mod modules;
mod names;
mod places;
mod ratchet;
mod sizes;
mod source;
mod syntax;
#[cfg(test)]
mod tests;
mod tree;
mod type_names;
mod unsafety;
mod words;

use crate::docs;
use anyhow::Result;
use std::fmt;
use std::path::Path;
use std::process::ExitCode;
use tree::Tree;

/// One rule or a family of related rules: reads the tree, adds what is wrong.
type Check = fn(&Tree, &mut Violations);

/// Every check, in the order of the house rules.
const CHECKS: &[Check] = &[
    edges::check,
    modules::check,
    manifests::check,
    syntax::check,
    documents::check_module_headers,
    sizes::check,
    unsafety::check,
    names::check,
    type_names::check,
    words::check,
    places::check,
    clocks::check,
    documents::check_dependency_reasons,
    documents::check_failure_classes,
    documents::check_links,
    ratchet::check_tables,
];

/// One breach of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    /// Relative to the root, with forward slashes.
    path: String,
    /// From 1; 1 also where the whole file is meant.
    line: usize,
    rule: &'static str,
    message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}: {}", self.path, self.line, self.rule, self.message)
    }
}

/// What the checks have found so far.
#[derive(Default)]
struct Violations(Vec<Violation>);

impl Violations {
    fn add(&mut self, path: &str, line: usize, rule: &'static str, message: impl Into<String>) {
        self.0.push(Violation { path: path.to_owned(), line, rule, message: message.into() });
    }
}

/// Runs all checks on the repository at `root` and prints what they found.
pub fn run(root: &Path) -> Result<ExitCode> {
    let mut tree = Tree::read(root)?;
    generated::add(&mut tree, docs::generate(root)?);
    let violations = inspect(&tree)?;
    for violation in &violations {
        println!("{violation}");
    }
    let outcome = match violations.len() {
        0 => "ok".to_owned(),
        count => format!("{count} violations"),
    };
    println!("tidy: {} checks, {} files, {outcome}", CHECKS.len(), tree.files.len());
    Ok(if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Prints the cycles between the modules of the crates of these names, or of all crates.
pub fn print_cycles(root: &Path, names: &[&str]) -> Result<ExitCode> {
    modules::print(&Tree::read(root)?, names)?;
    Ok(ExitCode::SUCCESS)
}

/// All violations that no exception covers, sorted.
fn inspect(tree: &Tree) -> Result<Vec<Violation>> {
    let mut found = Violations::default();
    for check in CHECKS {
        check(tree, &mut found);
    }
    let mut left = exceptions::apply(tree, found.0)?;
    left.sort();
    left.dedup();
    Ok(left)
}
