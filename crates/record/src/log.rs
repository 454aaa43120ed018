//! Errors and warnings from the server's own logs and the kernel's during a run, each message once.
//!
//! Lines that differ only in variable parts (times, numbers, addresses, quoted text) are one message with one template. The
//! columns `log.*` have the total number of lines.

use crate::units::MonoNs;
use serde::{Deserialize, Serialize};

/// The log of the kernel, as [`LogLines::log`] names it; files have a path.
pub const KERNEL_LOG: &str = "kernel";

/// Longest example of a line. Unit: characters.
pub const MAX_EXAMPLE_CHARS: usize = 400;

/// Longest template of a message. Unit: characters.
pub const MAX_TEMPLATE_CHARS: usize = 300;

/// The template for messages without their own, if a log has too many different messages.
pub const OTHER_MESSAGES: &str = "(other messages)";

/// How bad a line of a log is, by its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogSeverity {
    /// A warning.
    Warning,
    /// An error, or worse.
    Error,
}

/// Lines of one message that a log said between two instants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLines {
    /// The file, as the process that writes it sees it, or [`KERNEL_LOG`]. Its columns have the scope `log:` and this name.
    /// Untrusted text.
    pub log: String,
    /// The server's host, as it was typed, where that is another one; `None`: the measuring host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// A process that has the file open for writing; `None`: the kernel's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The command name of that process. Untrusted text. `None`: the kernel's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How bad it is.
    pub severity: LogSeverity,
    /// The message with `#` and `*` for what varies, or [`OTHER_MESSAGES`]. Names the message within its log. Untrusted text.
    pub template: String,
    /// The first line of the message, without what may be secret. Untrusted text.
    pub example: String,
    /// Lines of the message between `begin_mono_ns` and `end_mono_ns`. No line is in two events.
    pub new_count: u64,
    /// Lines of the message so far, these included.
    pub lines_count: u64,
    /// When the first line of the message was read.
    pub first_mono_ns: MonoNs,
    /// The new lines were written after this instant …
    pub begin_mono_ns: MonoNs,
    /// … and before this one.
    pub end_mono_ns: MonoNs,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventKind;

    #[test]
    fn an_event_of_a_log_is_read_back_as_it_was_written() {
        let lines = LogLines {
            log: KERNEL_LOG.into(),
            host: None,
            pid: None,
            command: None,
            severity: LogSeverity::Error,
            template: "Out of memory: Killed process # (x)".into(),
            example: "Out of memory: Killed process 7 (x)".into(),
            new_count: 1,
            lines_count: 2,
            first_mono_ns: MonoNs(3),
            begin_mono_ns: MonoNs(4),
            end_mono_ns: MonoNs(5),
        };
        let event = EventKind::LogLines(lines);
        let json = serde_json::to_string(&event).expect("serialises");
        assert!(
            json.starts_with(r#"{"kind":"log_lines","log":"kernel","severity":"error","template":"#),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<EventKind>(&json).expect("parses"), event);
    }
}
