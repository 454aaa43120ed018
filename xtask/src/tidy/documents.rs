//! Documents in step with the code: module headers, reasons of dependencies, failure classes, links.

use super::tree::Tree;
use super::{Violations, manifests};
use std::collections::BTreeSet;

/// Where each direct dependency gives its reason.
const REASONS: &str = "CONTRIBUTING.md";

/// Where each failure class is explained.
const CLASSES: &str = "docs/reference/failures.md";

/// Where the failure classes are defined.
const FAILURE_CLASSES: &str = "crates/record/src/failure.rs";

/// Every Rust file begins with what it is for.
pub fn check_module_headers(tree: &Tree, found: &mut Violations) {
    for (path, file) in &tree.rust {
        let first = file.source.lines.first();
        let is_header = first
            .is_some_and(|line| line.comment.strip_prefix("//!").is_some_and(|text| !text.trim().is_empty()));
        if !is_header {
            found.add(path, 1, "module-header", "the file does not begin with '//!' and what it is for");
        } else if first.is_some_and(|line| line.comment.contains("placeholder")) {
            found.add(path, 1, "module-header", "a placeholder does not say what the file is for");
        }
    }
}

/// Every direct dependency has a line in `CONTRIBUTING.md`.
pub fn check_dependency_reasons(tree: &Tree, found: &mut Violations) {
    let Some(text) = tree.texts.get(REASONS) else {
        found.add(REASONS, 1, "dependency-reason", "the file is missing");
        return;
    };
    let mut names: BTreeSet<String> = manifests::workspace_dependencies(tree).into_iter().collect();
    for (_, manifest) in manifests::parsed(tree) {
        names.extend(manifests::dependencies(&manifest).into_iter().map(|dependency| dependency.name));
    }
    for name in names.iter().filter(|name| !name.starts_with("sysdyno-")) {
        if !text.contains(&format!("`{name}`")) {
            found.add(REASONS, 1, "dependency-reason", format!("no line says why we depend on `{name}`"));
        }
    }
}

/// Every failure class is explained in the reference.
pub fn check_failure_classes(tree: &Tree, found: &mut Violations) {
    let Some(source) = tree.texts.get(FAILURE_CLASSES) else { return };
    let explained = tree.texts.get(CLASSES).map_or("", String::as_str);
    for (line, class) in failure_classes(source) {
        if !explained.contains(&format!("`{class}`")) {
            found.add(
                FAILURE_CLASSES,
                line,
                "failure-class",
                format!("`{class}` is not explained in {CLASSES}"),
            );
        }
    }
}

/// The names in the table that the macro `failure_classes!` is called with, with their lines from 1.
fn failure_classes(source: &str) -> Vec<(usize, String)> {
    let lines = source.lines().enumerate();
    let table = lines.skip_while(|(_, line)| line.trim() != "failure_classes! {").skip(1);
    let is_class = |line: &str| !line.trim_start().starts_with('"');
    table
        .take_while(|(_, line)| line.trim() != "}")
        // Below a class may stand what to try.
        .filter(|(_, line)| is_class(line))
        .filter_map(|(index, line)| Some((index + 1, line.split('"').nth(1)?.to_owned())))
        .collect()
}

/// Every relative link in a Markdown file leads to a file, and to a heading in it if it names one.
pub fn check_links(tree: &Tree, found: &mut Violations) {
    for (path, text) in tree.texts.iter().filter(|(path, _)| path.ends_with(".md")) {
        for (line, target) in links(text) {
            let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
            if is_elsewhere {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let resolved = if file.is_empty() { Some(path.clone()) } else { resolve(path, file) };
            let Some(resolved) = resolved.filter(|resolved| exists(tree, resolved)) else {
                found.add(path, line, "link", format!("'{target}' leads nowhere"));
                continue;
            };
            let document =
                tree.texts.get(&resolved).filter(|_| resolved.ends_with(".md") && !heading.is_empty());
            if document.is_some_and(|document| !headings(document).contains(heading)) {
                found.add(path, line, "link", format!("'{resolved}' has no heading '#{heading}'"));
            }
        }
    }
}

fn exists(tree: &Tree, path: &str) -> bool {
    let folder = format!("{}/", path.trim_end_matches('/'));
    tree.files.contains(path) || path.is_empty() || tree.files.iter().any(|file| file.starts_with(&folder))
}

/// Lines of a Markdown text outside of fenced code, from 1, with inline code taken out.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            return None;
        }
        (!is_code).then(|| (index + 1, line.split('`').step_by(2).collect::<Vec<_>>().join("`")))
    })
}

/// Targets of `[text](target)` and `![text](target "title")`, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        for part in line.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or("").split_whitespace().next().unwrap_or("");
            found.push((number, target.trim_matches(['<', '>']).to_owned()));
        }
    }
    found
}

/// Anchors of a Markdown text as its hosts make them: lower case, blanks to hyphens, punctuation dropped.
fn headings(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let is_heading = |line: &&str| {
        is_code ^= line.trim_start().starts_with("```");
        !is_code && line.starts_with('#')
    };
    let anchor = |line: &str| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept =
            words.chars().filter(|letter| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    };
    text.lines().filter(is_heading).map(anchor).collect()
}

/// The path that `relative` means in a file at `from`; `None` if it leaves the repository.
fn resolve(from: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_stay_in_the_repository() {
        assert_eq!(
            resolve("docs/guide/ci.md", "../reference/ramp.md").as_deref(),
            Some("docs/reference/ramp.md")
        );
        assert_eq!(resolve("README.md", "docs/").as_deref(), Some("docs"));
        assert_eq!(resolve("README.md", "../elsewhere"), None);
    }

    #[test]
    fn code_holds_no_links() {
        let found = links("[a](b.md) `[c](d)` ![e](f.png \"title\")\n```\n[g](h)\n```\n[i](<j k>)");
        assert_eq!(found, [(1, "b.md".to_owned()), (1, "f.png".to_owned()), (5, "j".to_owned())]);
    }

    #[test]
    fn headings_become_anchors() {
        assert!(headings("# Names and permissions\n## `load`: an engine").contains("load-an-engine"));
        assert!(!headings("```\n# not a heading\n```").contains("not-a-heading"));
    }
}
