//! The files of the repository that are checked, read once.
//!
//! Invariants: paths are relative with forward slashes and sorted; links are not followed; what git ignores is not
//! read ([`IGNORED_FOLDERS`] repeats `.gitignore`, so that a tree without git can be checked too).

use super::source::Source;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Folders that hold nothing of ours.
const IGNORED_FOLDERS: &[&str] = &[
    "target",
    ".git",
    "web/node_modules",
    "web/dist",
    "fuzz/target",
    "fuzz/corpus",
    "fuzz/artifacts",
    "bench/results",
    "docs/reference/man",
    "docs/reference/completions",
];

/// Endings (or whole names) of the files that are read as text; everything else is only listed.
const TEXT_ENDINGS: &[&str] = &[
    ".rs", ".md", ".toml", ".sh", ".py", ".ts", ".tsx", ".js", ".mjs", ".css", ".html", ".yml", ".yaml",
    "Makefile",
];

/// Files without an ending that are scripts.
const SCRIPT_FOLDERS: &[&str] = &["scripts/", ".ci/", "bench/"];

/// The repository.
pub struct Tree {
    /// Every file, relative to the root.
    pub files: BTreeSet<String>,
    /// Text of the text files.
    pub texts: BTreeMap<String, String>,
    /// The Rust files, taken apart.
    pub rust: BTreeMap<String, RustFile>,
    /// The Rust files of the product as their parser sees them.
    pub syntax: BTreeMap<String, syn::Result<syn::File>>,
}

/// A Rust file and what it is for.
pub struct RustFile {
    /// Its lines, strings and functions.
    pub source: Source,
    /// What it is for.
    pub role: FileRole,
}

/// What a Rust file is for; rules differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRole {
    /// Part of the product.
    Production,
    /// Compiled for tests, benches and fuzzing only.
    Test,
    /// An example program.
    Example,
    /// A build script.
    Build,
}

impl Tree {
    /// Reads all files below `root`.
    pub fn read(root: &Path) -> Result<Tree> {
        let mut files = BTreeSet::new();
        list(root, "", &mut files)?;
        let mut texts = BTreeMap::new();
        for path in files.iter().filter(|path| is_text(path)) {
            let text = fs::read(root.join(path)).with_context(|| format!("cannot read '{path}'"))?;
            texts.insert(path.clone(), String::from_utf8_lossy(&text).into_owned());
        }
        let mut rust = BTreeMap::new();
        for (path, text) in texts.iter().filter(|(path, _)| path.ends_with(".rs")) {
            rust.insert(path.clone(), RustFile { source: Source::parse(text), role: role_by_path(path) });
        }
        let test_modules = find_test_modules(&rust);
        for (path, file) in &mut rust {
            let is_test = test_modules.iter().any(|stem| is_module_at(path, stem));
            if is_test && file.role == FileRole::Production {
                file.role = FileRole::Test;
            }
        }
        let production = rust.iter().filter(|(_, file)| file.role == FileRole::Production);
        let syntax = production.map(|(path, _)| (path.clone(), syn::parse_file(&texts[path]))).collect();
        Ok(Tree { files, texts, rust, syntax })
    }

    /// What the parser made of the Rust files of the product below one of `folders`.
    pub fn parsed(&self, folders: &[&str]) -> impl Iterator<Item = (&str, &syn::File)> {
        let is_below = move |path: &str| folders.iter().any(|folder| path.starts_with(folder));
        let parsed = self.syntax.iter().filter(move |(path, _)| is_below(path));
        parsed.filter_map(|(path, file)| Some((path.as_str(), file.as_ref().ok()?)))
    }

    /// The Rust files of the product below one of `folders`; all of them if there is none.
    pub fn production(&self, folders: &[&str]) -> impl Iterator<Item = (&str, &Source)> {
        self.rust
            .iter()
            .filter(|(_, file)| file.role == FileRole::Production)
            .filter(move |(path, _)| {
                folders.is_empty() || folders.iter().any(|folder| path.starts_with(folder))
            })
            .map(|(path, file)| (path.as_str(), &file.source))
    }
}

fn list(root: &Path, relative: &str, into: &mut BTreeSet<String>) -> Result<()> {
    let folder = root.join(relative);
    let context = || format!("cannot read '{}'", folder.display());
    for entry in fs::read_dir(&folder).with_context(context)? {
        let entry = entry.with_context(context)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if relative.is_empty() { name } else { format!("{relative}/{name}") };
        let kind = entry.file_type().with_context(context)?;
        if kind.is_dir() {
            if !IGNORED_FOLDERS.contains(&path.as_str()) {
                list(root, &path, into)?;
            }
        } else if kind.is_file() {
            into.insert(path);
        }
    }
    Ok(())
}

fn is_text(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    TEXT_ENDINGS.iter().any(|ending| path.ends_with(ending))
        || (!name.contains('.') && SCRIPT_FOLDERS.iter().any(|folder| path.starts_with(folder)))
}

fn role_by_path(path: &str) -> FileRole {
    let has_folder = |name: &str| path.split('/').rev().skip(1).any(|folder| folder == name);
    if has_folder("tests")
        || has_folder("benches")
        || path.ends_with("/tests.rs")
        || path.starts_with("fuzz/")
    {
        FileRole::Test
    } else if has_folder("examples") {
        FileRole::Example
    } else if path.ends_with("/build.rs") {
        FileRole::Build
    } else {
        FileRole::Production
    }
}

/// Modules that are declared with `#[cfg(test)] mod NAME;`, as path without `.rs`.
fn find_test_modules(rust: &BTreeMap<String, RustFile>) -> Vec<String> {
    let mut found = Vec::new();
    for (path, file) in rust {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = name.trim_end_matches(".rs");
        let base = if ["mod", "lib", "main"].contains(&stem) {
            folder.to_owned()
        } else {
            format!("{folder}/{stem}")
        };
        for line in file.source.lines.iter().filter(|line| line.is_test) {
            let declaration = line.code.trim().strip_suffix(';').and_then(|code| code.split_once("mod "));
            if let Some((_, module)) = declaration {
                found.push(format!("{base}/{}", module.trim()));
            }
        }
    }
    found
}

fn is_module_at(path: &str, stem: &str) -> bool {
    path.strip_prefix(stem).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}
