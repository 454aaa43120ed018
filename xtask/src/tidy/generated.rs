//! Generated documents are what the program would write now.
//!
//! Enforced once `docs/cli.md` exists; then every file that the program writes must be there and be the same.

use super::Violations;
use super::tree::Tree;
use crate::docs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const RULE: &str = "generated-docs";

/// Generates the documents and compares.
pub fn check(tree: &Tree, found: &mut Violations) {
    if !tree.files.contains(docs::INDEX) {
        return;
    }
    match docs::generate(&tree.root) {
        Ok(documents) => compare(tree, &documents, found),
        Err(error) => found.add(docs::INDEX, 1, RULE, format!("{error:#}")),
    }
}

/// Compares the repository with what the program writes.
pub fn compare(tree: &Tree, documents: &BTreeMap<PathBuf, String>, found: &mut Violations) {
    for (path, expected) in documents {
        let path = path.to_string_lossy();
        let actual = std::fs::read_to_string(tree.root.join(&*path)).unwrap_or_default();
        if actual == *expected {
            continue;
        }
        let same =
            actual.lines().zip(expected.lines()).take_while(|(actual, expected)| actual == expected).count();
        found.add(&path, same + 1, RULE, "not what the program writes; run 'cargo xtask docs'");
    }
    for path in
        tree.files.iter().filter(|path| docs::OWN_FOLDERS.iter().any(|folder| path.starts_with(folder)))
    {
        if !documents.contains_key(Path::new(path)) {
            found.add(path, 1, RULE, "the program does not write this file any more");
        }
    }
}
