//! Names: types, modules and files say what they are, not that they are of some use.

use super::Violations;
use super::tree::Tree;

const RULE: &str = "name";

/// Words that say nothing about what a thing is.
const EMPTY_WORDS: &[&str] = &["manager", "helper", "helpers", "handler", "util", "utils", "misc", "common"];

/// What introduces a name.
const INTRODUCERS: &[&str] = &["struct ", "enum ", "trait ", "union ", "type ", "mod "];

/// Checks the names of all source files, and of the types and modules in Rust files.
pub fn check(tree: &Tree, found: &mut Violations) {
    for path in &tree.files {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.split('.').next().unwrap_or(name);
        if let Some(word) = empty_word(stem) {
            found.add(path, 1, RULE, format!("'{word}' in the name of a file says nothing about it"));
        }
    }
    for (path, file) in &tree.rust {
        for (index, line) in file.source.lines.iter().enumerate() {
            let Some(name) = introduced(&line.code) else { continue };
            if let Some(word) = empty_word(name) {
                found.add(path, index + 1, RULE, format!("'{word}' in '{name}' says nothing about it"));
            }
        }
    }
}

/// The type or module that this line of code introduces.
fn introduced(code: &str) -> Option<&str> {
    let mut rest = code.trim_start();
    if let Some(after) = rest.strip_prefix("pub") {
        rest = after.trim_start();
        if rest.starts_with('(') {
            rest = rest.split_once(')')?.1.trim_start();
        }
    }
    let rest = INTRODUCERS.iter().find_map(|introducer| rest.strip_prefix(introducer))?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    Some(&rest[..end])
}

/// The empty word that is part of `name`, written in either case.
fn empty_word(name: &str) -> Option<String> {
    let mut words = vec![String::new()];
    for letter in name.chars() {
        if letter.is_uppercase() || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric() {
            words.last_mut()?.extend(letter.to_lowercase());
        }
    }
    words.into_iter().find(|word| EMPTY_WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_empty() {
        for name in ["ConnectionManager", "signal_handler", "http-utils", "Misc", "CommonCase"] {
            assert!(empty_word(name).is_some(), "{name}");
        }
        for name in ["Utilization", "Commons", "Manage", "Handle", "miscount"] {
            assert_eq!(empty_word(name), None, "{name}");
        }
    }
}
