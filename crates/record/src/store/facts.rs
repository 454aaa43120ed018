//! Reads facts of a host back, from a run folder or from a separate file, trusting neither.

use super::folder::Folder;
use super::run::read_manifest;
use super::schema::{self, OtherSchema};
use super::{FACTS, MAX_FACTS_BYTES};
use crate::RecordError;
use crate::facts::{Fact, HostFacts, SCHEMA};
use rustix::fs::{FileType, Mode, OFlags};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// More facts are refused.
const MAX_FACTS: usize = 20_000;
/// Longer names and texts are refused. Unit: bytes.
const MAX_TEXT_BYTES: usize = 16 << 10;

/// A document as it is read; `facts.json` of a run folder has no schema of its own.
#[derive(Deserialize)]
struct Document {
    facts: BTreeMap<String, Fact>,
}

/// Reads the facts in a run folder, and nothing else of it but its manifest.
///
/// Errors: this is not a run, or one of a newer format; it holds no facts, or they cannot be read.
pub fn read_run_facts(folder: &Path) -> Result<HostFacts, RecordError> {
    let folder = Folder::open(folder)?;
    read_manifest(&folder)?;
    let path = folder.path_of(FACTS);
    let bytes = folder.read_whole(FACTS, MAX_FACTS_BYTES)?;
    parse(&path, &bytes.ok_or_else(|| not_facts(&path, "the run has none"))?)
}

/// Reads a file of facts. The path may be a link: the user chose it.
///
/// Errors: it is not a regular file, is too long, of a newer format, or holds no facts.
pub fn read_facts(path: &Path) -> Result<HostFacts, RecordError> {
    let failed = |errno: rustix::io::Errno| RecordError::io("open", path)(errno.into());
    // Without blocking, so that a pipe is refused and not waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(failed)?;
    let stat = rustix::fs::fstat(&file).map_err(failed)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(not_facts(path, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::from(file)
        .take(MAX_FACTS_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(RecordError::io("read", path))?;
    if bytes.len() as u64 > MAX_FACTS_BYTES {
        return Err(not_facts(path, &format!("it is longer than {MAX_FACTS_BYTES} bytes")));
    }
    parse(path, &bytes)
}

fn parse(path: &Path, bytes: &[u8]) -> Result<HostFacts, RecordError> {
    // First, since the rest of a newer one may be anything.
    if let Some(found) = schema::of_document(bytes) {
        schema::check(&found, SCHEMA).map_err(|other| match other {
            OtherSchema::Newer(_) => other.error(path, SCHEMA, None),
            OtherSchema::Other(found) => not_facts(path, &format!("its schema is '{found}', not '{SCHEMA}'")),
        })?;
    }
    let document: Document =
        serde_json::from_slice(bytes).map_err(|error| not_facts(path, &error.to_string()))?;
    let facts = document.facts;
    if facts.len() > MAX_FACTS {
        return Err(not_facts(path, &format!("it has more than {MAX_FACTS} facts")));
    }
    let is_long = |text: &String| text.len() > MAX_TEXT_BYTES;
    let is_any_long = facts.iter().any(|(name, fact)| match fact {
        Fact::Text(text) | Fact::Unavailable(text) => is_long(name) || is_long(text),
        Fact::Number(_) => is_long(name),
    });
    if is_any_long {
        return Err(not_facts(path, &format!("it has a text of more than {MAX_TEXT_BYTES} bytes")));
    }
    Ok(HostFacts { facts })
}

fn not_facts(path: &Path, cause: &str) -> RecordError {
    let mut escaped = String::new();
    for letter in cause.chars().take(200) {
        match letter {
            ' '..='~' => escaped.push(letter),
            _ => escaped.extend(letter.escape_default()),
        }
    }
    RecordError::NotFacts { path: path.to_owned(), cause: escaped }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::FactsDocument;
    use crate::manifest::Tool;
    use crate::units::WallNs;

    fn refused(text: &str) -> String {
        parse(Path::new("f"), text.as_bytes()).expect_err("is refused").to_string()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let facts = [
            ("cpu.model".to_owned(), Fact::Text("A".into())),
            ("memory.total_bytes".to_owned(), Fact::Number(0.1 + 0.2)),
            ("cpu.smt".to_owned(), Fact::Unavailable("there is none".into())),
        ];
        let facts = HostFacts { facts: facts.into() };
        let tool = Tool { version: "0.1.0".into(), target: "test".into() };
        let document = FactsDocument::new(facts.clone(), tool, WallNs(1));
        let text = serde_json::to_string(&document).expect("serialises");
        assert!(text.starts_with("{\"schema\":\"sysdyno.facts/1\""), "{text}");
        let folder = tempfile::tempdir().expect("makes a folder");
        let path = folder.path().join("facts");
        std::fs::write(&path, text).expect("writes");
        assert_eq!(read_facts(&path).expect("reads"), facts);
    }

    #[test]
    fn what_is_not_facts_is_refused_with_its_cause() {
        assert_eq!(
            refused("{\"schema\":\"sysdyno.facts/2\",\"facts\":{}}"),
            "cannot open 'f': its format is 'sysdyno.facts/2', but this program reads 'sysdyno.facts/1'\nhint: open it with a newer sysdyno"
        );
        assert!(refused("{\"schema\":\"\\u001b[31m\",\"facts\":{}}").contains("u{1b}[31m"));
        assert!(refused("{}").contains("missing field `facts`"));
        assert!(refused("{\"facts\":{\"a\":{\"number\":1e999}}}").contains("out of range"));
        assert!(refused("{\"facts\":{\"a\":{\"\\u001b\":1}}}").contains("u{1b}"));
        assert!(refused(&"[".repeat(100_000)).len() < 300);
        let long = "x".repeat(MAX_TEXT_BYTES + 1);
        assert!(
            refused(&format!("{{\"facts\":{{\"a\":{{\"text\":\"{long}\"}}}}}}")).contains("a text of more")
        );
        let many: Vec<String> =
            (0..=MAX_FACTS).map(|number| format!("\"{number}\":{{\"number\":1}}")).collect();
        assert!(refused(&format!("{{\"facts\":{{{}}}}}", many.join(","))).contains("more than 20000 facts"));
    }

    #[test]
    fn only_regular_files_of_bounded_length_are_read() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let error = read_facts(folder.path()).expect_err("is a folder");
        assert!(error.to_string().ends_with("it is not a regular file"), "{error}");
        let path = folder.path().join("long");
        File::create(&path).and_then(|file| file.set_len(MAX_FACTS_BYTES + 1)).expect("makes it");
        assert!(read_facts(&path).expect_err("is long").to_string().contains("longer than"));
        assert!(read_facts(&folder.path().join("none")).is_err());
    }
}
