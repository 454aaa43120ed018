//! What an agent was asked to do, by whom, and what it refused: lines of JSON on its own disk.

use crate::files;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use sysdyno_run::clock;

/// Longest log; then it becomes `audit.jsonl.1`, and a new one begins. Unit: bytes.
const MAX_BYTES: u64 = 8 << 20;

/// Longest text in a line, in characters.
const MAX_TEXT: usize = 300;

/// The log.
#[derive(Debug)]
pub(crate) struct Audit {
    path: PathBuf,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AuditEvent {
    /// The agent has connected to the broker.
    Started,
    /// A controller has a session.
    SessionBegan,
    /// It is over.
    SessionEnded,
    /// A request was passed on.
    Request,
    /// A request or a session was refused.
    Refused,
}

#[derive(Serialize)]
struct Line<'a> {
    at: String,
    event: AuditEvent,
    #[serde(skip_serializing_if = "str::is_empty")]
    session: &'a str,
    /// Who it was: a key, or who it says that it is.
    #[serde(skip_serializing_if = "str::is_empty")]
    by: &'a str,
    text: String,
}

impl Audit {
    /// The log of a state folder.
    pub(crate) fn below(folder: &Path) -> Audit {
        Audit { path: folder.join("audit.jsonl") }
    }

    /// Writes a line. An agent that cannot write it works on: its administrator sees the line on standard error instead.
    pub(crate) fn note(&self, event: AuditEvent, session: &str, by: &str, text: &str) -> Result<(), String> {
        let text = text.chars().take(MAX_TEXT).collect();
        let line = Line { at: clock::wall().rfc3339_millis(), event, session, by, text };
        let written = serde_json::to_string(&line).map_err(std::io::Error::from).and_then(|line| {
            let mut file = files::open_to_append(&self.path)?;
            if file.metadata()?.len() > MAX_BYTES {
                files::rename(&self.path, &self.path.with_extension("jsonl.1"))?;
                file = files::open_to_append(&self.path)?;
            }
            file.write_all(format!("{line}\n").as_bytes())
        });
        written.map_err(|error| format!("cannot write '{}': {error}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_a_long_log_is_set_aside() {
        let folder = tempfile::tempdir().expect("a folder");
        let audit = Audit::below(folder.path());
        audit.note(AuditEvent::Request, "ab", "UX", &"x\n".repeat(10_000)).expect("writes");
        let text = std::fs::read_to_string(&audit.path).expect("reads");
        let line: serde_json::Value = serde_json::from_str(&text).expect("one line of JSON");
        assert_eq!((text.lines().count(), line["event"].as_str()), (1, Some("request")));
        assert_eq!(line["text"].as_str().map(str::len), Some(MAX_TEXT));
        std::fs::write(&audit.path, vec![b'x'; MAX_BYTES as usize + 1]).expect("writes");
        audit.note(AuditEvent::Refused, "", "", "no").expect("writes");
        assert!(std::fs::metadata(&audit.path).expect("is there").len() < 1000);
        assert!(folder.path().join("audit.jsonl.1").exists());
    }
}
