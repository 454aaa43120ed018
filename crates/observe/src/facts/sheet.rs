//! The table of facts, and how a file becomes a fact.

use crate::roots::Roots;
use crate::source::{decimal, read_once};
use std::path::Path;
use sysdyno_record::facts::{Fact, HostFacts};

/// A text is cut to this many characters.
const MAX_TEXT_CHARS: usize = 2000;
/// At most this many facts are kept.
const MAX_FACTS: usize = 20_000;
/// At most this many entries of a folder are looked at.
const MAX_ENTRIES: usize = 1024;

/// A value, or why there is none.
pub(super) type Answer<T> = Result<T, String>;

/// Facts being collected.
#[derive(Debug)]
pub(super) struct Sheet<'a> {
    pub(super) roots: &'a Roots,
    buffer: Vec<u8>,
    facts: HostFacts,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(roots: &'a Roots) -> Sheet<'a> {
        Sheet { roots, buffer: Vec::new(), facts: HostFacts::default() }
    }

    pub(super) fn into_facts(self) -> HostFacts {
        self.facts
    }

    /// Writes a text.
    pub(super) fn text(&mut self, name: impl Into<String>, answer: Answer<String>) {
        self.insert(name.into(), answer.map_or_else(Fact::Unavailable, |text| Fact::Text(clean(&text))));
    }

    /// Writes a number, whose unit is the last word of its name.
    pub(super) fn number(&mut self, name: impl Into<String>, answer: Answer<f64>) {
        let finite =
            answer.and_then(|number| number.is_finite().then_some(number).ok_or("it is not finite".into()));
        self.insert(name.into(), finite.map_or_else(Fact::Unavailable, Fact::Number));
    }

    /// Writes a fact whose text is one clean line.
    pub(super) fn insert(&mut self, name: String, fact: Fact) {
        if self.facts.facts.len() < MAX_FACTS {
            self.facts.facts.insert(clean(&name), fact);
        }
    }

    /// The content of a file, trimmed.
    pub(super) fn read(&mut self, path: &Path) -> Answer<String> {
        let text = read_once(path, &mut self.buffer).map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(text.trim_ascii()).into_owned())
    }

    /// The content of a file that holds one count.
    pub(super) fn read_count(&mut self, path: &Path) -> Answer<f64> {
        let text = self.read(path)?;
        let count = decimal(text.as_bytes()).ok_or_else(|| format!("'{}' holds no count", path.display()))?;
        Ok(count as f64)
    }
}

/// Names of the entries of a folder, sorted.
pub(super) fn list(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let names = entries.take(MAX_ENTRIES).flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}

/// Names of the files and folders in a folder, and whether each is a folder; links are left out.
pub(super) fn list_kinds(folder: &Path) -> Vec<(String, bool)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let kind = |entry: std::fs::DirEntry| {
        let kind = entry.file_type().ok().filter(|kind| kind.is_dir() || kind.is_file())?;
        Some((entry.file_name().into_string().ok()?, kind.is_dir()))
    };
    let mut names: Vec<(String, bool)> = entries.take(MAX_ENTRIES).flatten().filter_map(kind).collect();
    names.sort_unstable();
    names
}

/// The last part of what a link points to.
pub(super) fn link_name(path: &Path) -> Option<String> {
    let target = std::fs::read_link(path).ok()?;
    Some(target.file_name()?.to_string_lossy().into_owned())
}

/// Of `always [madvise] never`, the chosen one; a text without brackets is itself the choice.
pub(super) fn chosen(text: &str) -> String {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(text, |(choice, _)| choice).to_owned()
}

/// One line without control characters, cut to a bounded length.
fn clean(text: &str) -> String {
    let mut out = String::new();
    for word in text.split(|character: char| character.is_whitespace() || character.is_control()) {
        if !out.is_empty() && !word.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    match out.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => out[..end].to_owned(),
        None => out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_one_clean_line() {
        assert_eq!(clean("4096\t131072\n\u{1b}[31mred\0"), "4096 131072 [31mred");
        assert_eq!(clean(&"x".repeat(5000)).len(), MAX_TEXT_CHARS);
    }

    #[test]
    fn the_chosen_word_is_in_brackets() {
        assert_eq!(chosen("always [madvise] never"), "madvise");
        assert_eq!(chosen("none"), "none");
        assert_eq!(chosen("[unfinished"), "[unfinished");
    }
}
