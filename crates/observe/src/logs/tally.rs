//! Counts a log's lines by severity, and keeps each error or warning message once.
//!
//! A message is reported when it is new, then after one second, two, four, … while it repeats, and whenever readings are
//! requested, so that the reports are complete up to the end of a trial. All logs of a host share a limit on the number of
//! events.

use super::message::{harmless, without_secrets};
use super::template::template;
use sysdyno_record::log::{LogLines, LogSeverity, MAX_EXAMPLE_CHARS, OTHER_MESSAGES};
use sysdyno_record::units::MonoNs;

/// Messages of one log with a template of their own.
const MAX_MESSAGES: usize = 64;

/// Events of all logs of a host in a run.
const MAX_EVENTS: usize = 200;
/// Of these, so many are kept for messages that were not told yet.
const NEW_EVENTS: usize = 50;

/// Between two events of one message, at first and at most. Unit: nanoseconds.
const FIRST_PAUSE_NS: u64 = 1_000_000_000;
const MAX_PAUSE_NS: u64 = 64_000_000_000;

/// Events that may still be told.
#[derive(Debug)]
pub(crate) struct Allowance {
    left: usize,
}

impl Default for Allowance {
    fn default() -> Allowance {
        Allowance { left: MAX_EVENTS }
    }
}

impl Allowance {
    fn take(&mut self, is_new: bool) -> bool {
        let is_left = self.left > if is_new { 0 } else { NEW_EVENTS };
        self.left -= usize::from(is_left);
        is_left
    }
}

/// Whose log it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogOwner {
    /// Its path, or [`sysdyno_record::log::KERNEL_LOG`].
    pub(crate) log: String,
    /// A process that writes it; `None`: the kernel does.
    pub(crate) pid: Option<u32>,
    /// The command name of that process.
    pub(crate) command: Option<String>,
}

/// One look at the logs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogLook {
    /// When the look before was.
    pub(crate) before: MonoNs,
    /// When this one is.
    pub(crate) now: MonoNs,
    /// Whether somebody asked for readings of this instant.
    pub(crate) is_asked: bool,
}

/// What a log has said so far.
#[derive(Debug, Default)]
pub(crate) struct LogTally {
    /// All lines.
    pub(crate) lines_count: u64,
    /// Lines that are errors.
    pub(crate) errors_count: u64,
    /// Lines that are warnings.
    pub(crate) warnings_count: u64,
    messages: Vec<Heard>,
}

/// A message.
#[derive(Debug)]
struct Heard {
    severity: LogSeverity,
    template: String,
    example: String,
    lines_count: u64,
    told_count: u64,
    first: MonoNs,
    /// When the lines that were not told yet were written.
    window: [MonoNs; 2],
    pause_ns: u64,
    next: MonoNs,
}

impl LogTally {
    /// Counts a line that was found at this look; `severity` says how bad it is.
    pub(crate) fn note(
        &mut self,
        line: &[u8],
        look: &LogLook,
        severity: impl Fn(&str) -> Option<LogSeverity>,
    ) {
        let text = harmless(line);
        if text.is_empty() {
            return;
        }
        self.lines_count += 1;
        let Some(severity) = severity(&text) else { return };
        match severity {
            LogSeverity::Error => self.errors_count += 1,
            LogSeverity::Warning => self.warnings_count += 1,
        }
        let position = self.position(template(&text), &text, severity, look);
        let heard = &mut self.messages[position];
        if heard.lines_count == heard.told_count {
            heard.window[0] = look.before;
        }
        heard.lines_count += 1;
        heard.window[1] = look.now;
    }

    /// Where the message of this template is; it is new, or one of the others if there are too many.
    fn position(&mut self, template: String, text: &str, severity: LogSeverity, look: &LogLook) -> usize {
        let find = |messages: &[Heard], template: &str| {
            messages.iter().position(|heard| heard.severity == severity && heard.template == template)
        };
        let is_full = self.messages.len() >= MAX_MESSAGES;
        let known = find(&self.messages, &template);
        let known = known.or_else(|| is_full.then(|| find(&self.messages, OTHER_MESSAGES)).flatten());
        if let Some(position) = known {
            return position;
        }
        self.messages.push(Heard {
            severity,
            template: if is_full { OTHER_MESSAGES.to_owned() } else { template },
            example: without_secrets(text).chars().take(MAX_EXAMPLE_CHARS).collect(),
            lines_count: 0,
            told_count: 0,
            first: look.now,
            window: [look.before, look.now],
            pause_ns: FIRST_PAUSE_NS,
            next: look.now,
        });
        self.messages.len() - 1
    }

    /// The messages that are to be told now.
    pub(crate) fn due(
        &mut self,
        owner: &LogOwner,
        look: &LogLook,
        allowance: &mut Allowance,
    ) -> Vec<LogLines> {
        let mut due = Vec::new();
        for heard in &mut self.messages {
            let has_new = heard.lines_count > heard.told_count;
            let is_due = look.is_asked || look.now >= heard.next;
            if has_new && is_due && allowance.take(heard.told_count == 0) {
                due.push(heard.tell(owner, look.now));
            }
        }
        due
    }
}

impl Heard {
    fn tell(&mut self, owner: &LogOwner, now: MonoNs) -> LogLines {
        let new_count = self.lines_count - self.told_count;
        self.told_count = self.lines_count;
        self.next = MonoNs(now.0.saturating_add(self.pause_ns));
        self.pause_ns = self.pause_ns.saturating_mul(2).min(MAX_PAUSE_NS);
        LogLines {
            log: owner.log.clone(),
            host: None,
            pid: owner.pid,
            command: owner.command.clone(),
            severity: self.severity,
            template: self.template.clone(),
            example: self.example.clone(),
            new_count,
            lines_count: self.lines_count,
            first_mono_ns: self.first,
            begin_mono_ns: self.window[0],
            end_mono_ns: self.window[1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn look(second: u64) -> LogLook {
        let now = MonoNs(second * SECOND_NS);
        LogLook { before: MonoNs(now.0.saturating_sub(SECOND_NS)), now, is_asked: false }
    }

    fn owner() -> LogOwner {
        LogOwner { log: "/var/log/x".into(), pid: Some(7), command: Some("x".into()) }
    }

    fn error(_: &str) -> Option<LogSeverity> {
        Some(LogSeverity::Error)
    }

    #[test]
    fn a_message_that_goes_on_is_told_less_and_less_often_and_no_line_twice() {
        let (mut tally, mut allowance) = (LogTally::default(), Allowance::default());
        let mut told = Vec::new();
        for second in 1..=40 {
            tally.note(format!("failed {second} times").as_bytes(), &look(second), error);
            told.extend(tally.due(&owner(), &look(second), &mut allowance));
        }
        let ends: Vec<u64> = told.iter().map(|lines| lines.end_mono_ns.0 / SECOND_NS).collect();
        assert_eq!(ends, [1, 2, 4, 8, 16, 32]);
        assert_eq!(told.iter().map(|lines| lines.new_count).sum::<u64>(), 32);
        assert_eq!(told[5].begin_mono_ns, MonoNs(16 * SECOND_NS));
        let asked = LogLook { is_asked: true, ..look(41) };
        let last = tally.due(&owner(), &asked, &mut allowance);
        assert_eq!((last.len(), last[0].new_count, last[0].lines_count), (1, 8, 40));
        assert_eq!(last[0].end_mono_ns, MonoNs(40 * SECOND_NS), "when it was last said");
        assert!(tally.due(&owner(), &asked, &mut allowance).is_empty(), "nothing is new");
    }

    #[test]
    fn the_number_of_messages_and_of_events_is_bounded() {
        let (mut tally, mut allowance) = (LogTally::default(), Allowance::default());
        let word = |number: usize| -> String {
            number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
        };
        for number in 0..1000 {
            tally.note(format!("failed {}", word(number)).as_bytes(), &look(1), error);
        }
        let told = tally.due(&owner(), &look(1), &mut allowance);
        assert_eq!(told.len(), MAX_MESSAGES + 1);
        let other = told.last().expect("the others");
        assert_eq!((other.template.as_str(), other.new_count), (OTHER_MESSAGES, 1000 - MAX_MESSAGES as u64));
        assert_eq!(tally.errors_count, 1000);
        let mut count = told.len();
        for second in 2..1000 {
            tally.note(b"failed a", &look(second), error);
            tally.note(b"failed b", &look(second), error);
            let asked = LogLook { is_asked: true, ..look(second) };
            count += tally.due(&owner(), &asked, &mut allowance).len();
        }
        assert_eq!(count, MAX_EVENTS - NEW_EVENTS);
        let mut new = LogTally::default();
        new.note(b"out of memory", &look(1000), error);
        assert_eq!(new.due(&owner(), &look(1000), &mut allowance).len(), 1, "what is new has its place");
    }

    #[test]
    fn lines_without_severity_are_only_counted() {
        let (mut tally, mut allowance) = (LogTally::default(), Allowance::default());
        tally.note(b"GET /", &look(1), |_| None);
        tally.note(b"", &look(1), error);
        tally.note(b"\xff\xfe\x00", &look(1), |_| Some(LogSeverity::Warning));
        assert_eq!((tally.lines_count, tally.errors_count, tally.warnings_count), (2, 0, 1));
        let told = tally.due(&owner(), &look(1), &mut allowance);
        assert_eq!((told.len(), told[0].severity), (1, LogSeverity::Warning));
        assert!(!told[0].example.contains(char::is_control));
    }
}
