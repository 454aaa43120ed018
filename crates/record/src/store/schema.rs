//! Schemas of documents, `NAME/NUMBER`: detects a document of another kind or from a newer program.

use crate::RecordError;
use serde::Deserialize;
use std::path::Path;

/// The schema of a document is not the one that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OtherSchema {
    /// A newer program wrote it. The text is untrusted, bounded and escaped.
    Newer(String),
    /// It is something else. The text is untrusted, bounded and escaped.
    Other(String),
}

impl OtherSchema {
    /// As an error about a folder, or about the file in it.
    pub(super) fn error(self, path: &Path, known: &'static str, written_by: Option<&str>) -> RecordError {
        let path = path.to_owned();
        match self {
            OtherSchema::Newer(found) => {
                let version = written_by.map_or("a newer sysdyno".to_owned(), |version| {
                    format!("sysdyno {} or newer", shown(version))
                });
                RecordError::NewerFormat { path, found, known, opener: version }
            }
            OtherSchema::Other(found) => {
                RecordError::NotARun { path, cause: format!("its schema is '{found}', not '{known}'") }
            }
        }
    }
}

/// Compares a schema with the one that is read.
pub(super) fn check(found: &str, known: &'static str) -> Result<(), OtherSchema> {
    if found == known {
        return Ok(());
    }
    let parts = |schema: &str| {
        let (name, number) = schema.split_once('/')?;
        Some((name.to_owned(), number.parse::<u64>().ok()?))
    };
    let is_newer = match (parts(found), parts(known)) {
        (Some((name, number)), Some((own, least))) => name == own && number > least,
        _ => false,
    };
    Err(if is_newer { OtherSchema::Newer(shown(found)) } else { OtherSchema::Other(shown(found)) })
}

/// The schema that a JSON document says it has, whatever else is in it; `None`: it says none.
pub(super) fn of_document(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Versioned {
        schema: String,
    }
    serde_json::from_slice::<Versioned>(bytes).ok().map(|document| document.schema)
}

fn shown(text: &str) -> String {
    text.chars().take(40).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greater_number_of_the_same_name_is_newer_and_nothing_else() {
        assert_eq!(check("sysdyno.run/1", "sysdyno.run/1"), Ok(()));
        assert_eq!(check("sysdyno.run/2", "sysdyno.run/1"), Err(OtherSchema::Newer("sysdyno.run/2".into())));
        for other in ["sysdyno.run/0", "sysdyno.matrix/2", "sysdyno.run/", "sysdyno.run/x", "", "2"] {
            assert_eq!(check(other, "sysdyno.run/1"), Err(OtherSchema::Other(other.into())), "{other}");
        }
        let hostile = format!("\u{1b}[31m{}", "x".repeat(100));
        let Err(OtherSchema::Other(shown)) = check(&hostile, "sysdyno.run/1") else { panic!("is other") };
        assert!(shown.starts_with("\\u{1b}[31m") && shown.len() < 60, "{shown}");
    }
}
