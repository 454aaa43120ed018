//! Log messages from another host: bounded as this program would have sent them, and converted to this host's clock.

use sysdyno_record::log::{LogLines, MAX_EXAMPLE_CHARS, MAX_TEMPLATE_CHARS};
use sysdyno_record::units::MonoNs;

/// Messages of one reading.
const MAX_MESSAGES: usize = 64;

/// Longest path or command name. Unit: characters.
const MAX_NAME_CHARS: usize = 256;

/// The messages as far as one reading can have them, with their instants moved by `place`.
pub(super) fn placed(mut logged: Vec<LogLines>, place: impl Fn(MonoNs) -> MonoNs) -> Vec<LogLines> {
    logged.truncate(MAX_MESSAGES);
    for lines in &mut logged {
        lines.log = bounded(&lines.log, MAX_NAME_CHARS);
        lines.command = lines.command.as_deref().map(|command| bounded(command, MAX_NAME_CHARS));
        lines.template = bounded(&lines.template, MAX_TEMPLATE_CHARS);
        lines.example = bounded(&lines.example, MAX_EXAMPLE_CHARS);
        lines.first_mono_ns = place(lines.first_mono_ns);
        lines.begin_mono_ns = place(lines.begin_mono_ns);
        lines.end_mono_ns = place(lines.end_mono_ns);
    }
    logged
}

fn bounded(text: &str, most_chars: usize) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(most_chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::log::LogSeverity;

    #[test]
    fn what_another_host_says_is_bounded_and_moved() {
        let lines = LogLines {
            log: "/var/log/\u{1b}[2Jx".into(),
            host: None,
            pid: Some(7),
            command: Some("nginx".into()),
            severity: LogSeverity::Error,
            template: "t".repeat(5000),
            example: "e\n".repeat(5000),
            new_count: 3,
            lines_count: 5,
            first_mono_ns: MonoNs(1),
            begin_mono_ns: MonoNs(2),
            end_mono_ns: MonoNs(3),
        };
        let placed = placed(vec![lines; 1000], |at| MonoNs(at.0 + 10));
        assert_eq!(placed.len(), MAX_MESSAGES);
        let lines = &placed[0];
        assert_eq!(lines.log, "/var/log/[2Jx");
        assert_eq!(lines.template.len(), MAX_TEMPLATE_CHARS);
        assert_eq!(lines.example, "e".repeat(MAX_EXAMPLE_CHARS));
        let instants = [lines.first_mono_ns, lines.begin_mono_ns, lines.end_mono_ns];
        assert_eq!(instants, [11, 12, 13].map(MonoNs));
    }
}
