//! Words that have no place in the repository: paths of things outside it, and promises without an issue.

use super::Violations;
use super::tree::Tree;

/// Text that names what a reader of the repository does not have.
const OUTSIDE: &[&str] = &[concat!("../", "shared"), concat!("resea", "rch/")];

/// Marks of unfinished work, which need an issue: `TODO(#12)`.
const MARKS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME")];

/// Macros that stand for code that is not there.
const ABSENT: &[&str] = &[concat!("to", "do!"), concat!("unimple", "mented!")];

/// Checks all text files.
pub fn check(tree: &Tree, found: &mut Violations) {
    for (path, text) in &tree.texts {
        for (index, line) in text.lines().enumerate() {
            let mut add = |rule, message: String| found.add(path, index + 1, rule, message);
            if let Some(word) = OUTSIDE.iter().find(|word| line.contains(*word)) {
                add("outside-reference", format!("'{word}' names something that is not in the repository"));
            }
            if let Some(mark) = MARKS.iter().find(|mark| has_mark_without_issue(line, mark)) {
                add("unfinished", format!("'{mark}' without the number of an issue, as in '{mark}(#12)'"));
            }
            if let Some(name) = ABSENT.iter().find(|name| line.contains(*name)) {
                add("unfinished", format!("'{name}' stands for code that is not there"));
            }
        }
    }
}

fn has_mark_without_issue(line: &str, mark: &str) -> bool {
    line.match_indices(mark).any(|(at, _)| {
        let before =
            line[..at].chars().next_back().is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        let rest = &line[at + mark.len()..];
        let after = rest.chars().next().is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        let issue = rest
            .strip_prefix("(#")
            .is_some_and(|number| number.starts_with(|digit: char| digit.is_ascii_digit()));
        !before && !after && !issue
    })
}
