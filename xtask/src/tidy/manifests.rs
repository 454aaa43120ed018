//! Manifests: each package takes the lints and the versions of the workspace, and nothing is listed for nobody.

use super::Violations;
use super::tree::Tree;
use std::collections::BTreeSet;
use toml::Table;

const LINTS: &str = "lints";
const VERSION: &str = "dependency-version";
const UNUSED: &str = "dependency-unused";
const MANIFEST: &str = "manifest";

/// The package that lies outside the workspace, since it is built by another compiler.
const OUTSIDE: &str = "fuzz/Cargo.toml";

/// A dependency as a manifest names it.
pub struct Dependency {
    /// Name of the package.
    pub name: String,
    /// Whether only tests, benches and examples have it.
    pub is_dev: bool,
    /// Whether its version is that of the workspace.
    pub is_workspace: bool,
}

/// All manifests that can be read, with their path.
pub fn parsed(tree: &Tree) -> impl Iterator<Item = (&str, Table)> {
    let is_manifest = |path: &str| path == "Cargo.toml" || path.ends_with("/Cargo.toml");
    tree.texts
        .iter()
        .filter(move |(path, _)| is_manifest(path))
        .filter_map(|(path, text)| Some((path.as_str(), text.parse::<Table>().ok()?)))
}

/// All dependencies of a package, for every target.
pub fn dependencies(manifest: &Table) -> Vec<Dependency> {
    let mut found = Vec::new();
    collect(manifest, &mut found);
    for target in manifest
        .get("target")
        .and_then(|targets| targets.as_table())
        .into_iter()
        .flat_map(|table| table.values())
    {
        target.as_table().into_iter().for_each(|table| collect(table, &mut found));
    }
    found
}

fn collect(table: &Table, into: &mut Vec<Dependency>) {
    for (section, is_dev) in
        [("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)]
    {
        for (name, value) in table.get(section).and_then(|section| section.as_table()).into_iter().flatten() {
            let package = value.get("package").and_then(|package| package.as_str()).unwrap_or(name);
            let is_workspace = value.get("workspace").and_then(|flag| flag.as_bool()).unwrap_or(false);
            into.push(Dependency { name: package.to_owned(), is_dev, is_workspace });
        }
    }
}

/// The first line of `text` that begins with `name`, from 1; 1 if there is none.
pub fn line_of(text: &str, name: &str) -> usize {
    1 + text.lines().position(|line| line.trim_start().starts_with(name)).unwrap_or(0)
}

/// Checks all manifests.
pub fn check(tree: &Tree, found: &mut Violations) {
    let mut used = BTreeSet::new();
    for (path, manifest) in parsed(tree) {
        let dependencies = dependencies(&manifest);
        used.extend(dependencies.iter().map(|dependency| dependency.name.clone()));
        if path == OUTSIDE || !manifest.contains_key("package") {
            continue;
        }
        let takes_lints = manifest.get("lints").and_then(|lints| lints.get("workspace")?.as_bool());
        if takes_lints != Some(true) {
            found.add(path, 1, LINTS, "the package does not take the lints of the workspace");
        }
        for dependency in dependencies.iter().filter(|dependency| !dependency.is_workspace) {
            let line = line_of(&tree.texts[path], &dependency.name);
            found.add(
                path,
                line,
                VERSION,
                format!("'{}' does not take the version of the workspace", dependency.name),
            );
        }
    }
    let unread = tree
        .texts
        .iter()
        .filter(|(path, text)| path.ends_with("Cargo.toml") && text.parse::<Table>().is_err());
    unread.for_each(|(path, _)| found.add(path, 1, MANIFEST, "not valid TOML"));
    for name in workspace_dependencies(tree).iter().filter(|name| !used.contains(*name)) {
        let line = line_of(&tree.texts["Cargo.toml"], name);
        found.add("Cargo.toml", line, UNUSED, format!("no package depends on '{name}'"));
    }
}

/// Names of the dependencies that the workspace gives versions to.
pub fn workspace_dependencies(tree: &Tree) -> Vec<String> {
    let root = tree.texts.get("Cargo.toml").and_then(|text| text.parse::<Table>().ok());
    let listed = root.as_ref().and_then(|root| root.get("workspace")?.get("dependencies")?.as_table());
    listed.into_iter().flat_map(|table| table.keys().cloned()).collect()
}
