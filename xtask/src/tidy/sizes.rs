//! Sizes: no file over 800 lines of production code, no function over 70 lines.
//!
//! Blank lines and comments count in a file, since they are read, and not in a function, as clippy counts
//! (`too_many_lines`). A function that is a table says so with `#[expect(clippy::too_many_lines, reason = …)]`.

use super::Violations;
use super::source::{Function, Source};
use super::tree::{FileRole, Tree};

/// Most lines of a file, tests apart.
const FILE_LINES: usize = 800;

/// Most lines between the braces of a function.
const FUNCTION_LINES: usize = 70;

/// Checks every Rust file; the size of a file only where it is production code.
pub fn check(tree: &Tree, found: &mut Violations) {
    for (path, file) in &tree.rust {
        let lines = file.source.production_lines().count();
        if file.role == FileRole::Production && lines > FILE_LINES {
            found.add(
                path,
                1,
                "file-size",
                format!("{lines} lines without tests, at most {FILE_LINES} are allowed"),
            );
        }
        for function in &file.source.functions {
            if function.body_lines > FUNCTION_LINES && !is_expected(&file.source, function) {
                let message = format!(
                    "'{}' has {} lines, at most {FUNCTION_LINES} are allowed",
                    function.name, function.body_lines
                );
                found.add(path, function.line, "function-size", message);
            }
        }
    }
}

/// Whether an attribute right above the function expects its size and says why.
fn is_expected(source: &Source, function: &Function) -> bool {
    let above = source.lines[..function.line - 1].iter().rev();
    let mut attributes = above.take_while(|line| {
        let code = line.code.trim();
        code.is_empty() || code.starts_with('#') || code.ends_with(',') || code == ")]"
    });
    attributes.any(|line| line.code.contains("expect(clippy::too_many_lines") && line.code.contains("reason"))
}
