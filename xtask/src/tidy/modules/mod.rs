//! Which files of a crate know each other, and which do so in a circle.
//!
//! - A module is a file here; what is in an inline module belongs to its file.
//! - A file has an edge to another file of its crate if its production code names an item that the other one defines: in a
//!   `use`, in a path in the code, in the arguments of a macro, or in a string of a `serde` attribute. A name leads to the
//!   file that defines the item, through imports, re-exports and globs, so that a child which takes a sibling's item out of
//!   its parent has an edge to the sibling. An item that a macro makes is taken to be defined where its path leads to.
//! - To import a module is not an edge; to name an item through it is one.
//! - Edges between a module and its direct parent do not count, in either direction: a parent declares its children and
//!   gives out what they make, and they share what it defines.
//! - A cycle is a set of two or more files, each of which reaches each other one by the edges that count.
//!
//! Limits: calls of methods do not count, since whose method it is depends on types; neither do names that the declarative
//! macros of the crate itself put together.

mod cycles;
mod scopes;
#[cfg(test)]
mod tests;
mod uses;

use super::Violations;
use super::ratchet::{Breaches, MODULE_CYCLE};
use super::tree::Tree;
use anyhow::{Result, bail};
use scopes::Scopes;
use std::collections::BTreeMap;

/// Counts the files in cycles of each crate.
pub fn check(tree: &Tree, found: &mut Violations) {
    let breaches = |it: Crate| {
        let number = it.cycles().iter().map(Vec::len).sum();
        let message = format!(
            "{number} files of '{}' are in cycles between modules ('cargo xtask cycles {}' shows them)",
            it.name, it.name
        );
        (it.name, Breaches { number, path: it.files[0].path.clone(), line: 1, message })
    };
    let breaches: BTreeMap<String, Breaches> = Crate::all(tree).into_iter().map(breaches).collect();
    MODULE_CYCLE.check(tree, &breaches, found);
}

/// Prints the cycles of the crates of these names, or of all: files, and for each edge what ties it.
pub fn print(tree: &Tree, names: &[&str]) -> Result<()> {
    let all = Crate::all(tree);
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|it| it.name == **name)) {
        bail!("cannot print the cycles of '{unknown}': there is no such crate");
    }
    for it in all.iter().filter(|it| names.is_empty() || names.contains(&it.name.as_str())) {
        it.report().iter().for_each(|line| println!("{line}"));
    }
    Ok(())
}

/// A crate with its modules and what ties them together.
struct Crate {
    /// Its folder below `crates/`, or `xtask`.
    name: String,
    /// Its modules.
    files: Vec<File>,
    /// From one file to another, by their places in `files`.
    edges: BTreeMap<(usize, usize), Edge>,
}

/// A module.
struct File {
    /// Relative to the root of the repository.
    path: String,
    /// The place of the module that declares it. `None`: the root of the crate.
    parent: Option<usize>,
}

/// What one file names of another one.
struct Edge {
    /// The names.
    names: Vec<String>,
    /// Where the first of them is, from 1.
    line: usize,
}

impl Crate {
    /// All crates of the workspace that have a root which can be parsed.
    fn all(tree: &Tree) -> Vec<Crate> {
        let roots = tree.parsed(&["crates/", "xtask/"]).filter_map(|(path, _)| {
            let (name, _) = path.split_once("/src/lib.rs").or_else(|| path.split_once("/src/main.rs"))?;
            Some((name.strip_prefix("crates/").unwrap_or(name), path))
        });
        roots.map(|(name, root)| Crate::read(tree, name, root)).collect()
    }

    fn read(tree: &Tree, name: &str, root: &str) -> Crate {
        let scopes = Scopes::read(tree, root);
        let mut edges = BTreeMap::new();
        for (from, file) in scopes.files.iter().enumerate() {
            for named in uses::names(&scopes, from, &tree.syntax[&file.path]) {
                let edge = edges
                    .entry((from, named.file))
                    .or_insert_with(|| Edge { names: Vec::new(), line: named.line });
                edge.line = edge.line.min(named.line);
                if !edge.names.contains(&named.name) {
                    edge.names.push(named.name);
                }
            }
        }
        Crate { name: name.to_owned(), files: scopes.files, edges }
    }
}
