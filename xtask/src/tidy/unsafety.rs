//! Unsafe code: only in the folders of system calls, and each block says why it is sound.

use super::Violations;
use super::source::{Source, has_word};
use super::tree::Tree;

/// Where unsafe code may be.
const PLACES: &[&str] = &[
    "crates/lab/src/sys/",
    "crates/load/src/sys/",
    "crates/netlink/src/sys/",
    "crates/observe/src/sys/",
    "crates/profile/src/sys/",
    "crates/run/src/sys/",
    "crates/tune/src/sys/",
];

/// Checks every Rust file, tests included.
pub fn check(tree: &Tree, found: &mut Violations) {
    for (path, file) in &tree.rust {
        let is_allowed = PLACES.iter().any(|place| path.starts_with(place));
        for (index, line) in file.source.lines.iter().enumerate() {
            if !has_word(&line.code, "unsafe") {
                continue;
            }
            if !is_allowed {
                found.add(
                    path,
                    index + 1,
                    "unsafe-place",
                    format!("unsafe code outside {}", PLACES.join(" and ")),
                );
            }
            if needs_reason(&line.code) && !has_reason(&file.source, index) {
                found.add(path, index + 1, "unsafe-reason", "no 'SAFETY:' comment above this unsafe code");
            }
        }
    }
}

/// Declarations of unsafe functions and foreign blocks document a duty; blocks and impls discharge one.
fn needs_reason(code: &str) -> bool {
    let after = code.split("unsafe").nth(1).unwrap_or("").trim_start();
    !after.starts_with("fn") && !after.starts_with("extern")
}

/// Looks on the line itself and upwards to the begin of the statement and the comment above it.
fn has_reason(source: &Source, index: usize) -> bool {
    let lines = source.lines[..=index].iter().rev();
    let mut is_first = true;
    for line in lines {
        if line.comment.contains("SAFETY:") {
            return true;
        }
        let code = line.code.trim_end();
        let ends_statement = code.ends_with([';', '{', '}']) && !is_first;
        if ends_statement || (code.is_empty() && line.comment.is_empty()) {
            return false;
        }
        is_first = false;
    }
    false
}
