//! Log messages within a span of time: each message of each log, with the number of its lines.
//!
//! A log event records between which two instants its lines were written: within one second or, while a message keeps
//! repeating, within one minute. If that interval extends beyond the requested span, the true count lies between two
//! bounds.

use crate::view::TrialView;
use sysdyno_record::event::{Event, EventKind};
use sysdyno_record::log::{KERNEL_LOG, LogLines};
use sysdyno_record::units::MonoNs;

/// A message of a log, and how many of its lines were written within a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedMessage<'a> {
    /// The last event about it within that time: whose log it is, severity, template, and example.
    pub lines: &'a LogLines,
    /// Lines that were certainly written within the time.
    pub least_count: u64,
    /// Lines that were written within the time, if those of an event that reaches beyond it came evenly.
    pub likely_count: u64,
    /// Lines that may have been written within the time, at most.
    pub most_count: u64,
}

impl<'a> LoggedMessage<'a> {
    /// Whether the kernel said it.
    pub fn is_of_kernel(&self) -> bool {
        self.lines.log == KERNEL_LOG
    }

    fn add(&mut self, later: &LoggedMessage<'a>) {
        self.lines = later.lines;
        self.least_count = self.least_count.saturating_add(later.least_count);
        self.likely_count = self.likely_count.saturating_add(later.likely_count);
        self.most_count = self.most_count.saturating_add(later.most_count);
    }

    fn is_same(&self, lines: &LogLines) -> bool {
        log_of(self.lines) == log_of(lines)
            && self.lines.severity == lines.severity
            && self.lines.template == lines.template
    }
}

/// What one event adds to a time that it overlaps.
fn counted(lines: &LogLines, begin: MonoNs, end: MonoNs) -> LoggedMessage<'_> {
    let is_within = lines.begin_mono_ns >= begin && lines.end_mono_ns <= end;
    let within_ns = lines.end_mono_ns.min(end).since(lines.begin_mono_ns.max(begin));
    let share = within_ns as f64 / lines.end_mono_ns.since(lines.begin_mono_ns).max(1) as f64;
    let count = lines.new_count;
    LoggedMessage {
        lines,
        least_count: if is_within { count } else { 0 },
        likely_count: if is_within { count } else { (count as f64 * share).round() as u64 },
        most_count: count,
    }
}

/// Which log it is: on which side, and its name there.
fn log_of(lines: &LogLines) -> (bool, &str) {
    (lines.host.is_some(), &lines.log)
}

/// Messages of which a line may have been written between two instants: by log in order of their first events, errors
/// first in each log, and then the most frequent.
pub fn logged_within(events: &[Event], begin: MonoNs, end: MonoNs) -> Vec<LoggedMessage<'_>> {
    let mut messages: Vec<LoggedMessage<'_>> = Vec::new();
    for event in events {
        let EventKind::LogLines(lines) = &event.event else { continue };
        if lines.end_mono_ns <= begin || lines.begin_mono_ns >= end {
            continue;
        }
        let new = counted(lines, begin, end);
        match messages.iter_mut().find(|message| message.is_same(lines)) {
            Some(message) => message.add(&new),
            None => messages.push(new),
        }
    }
    let order: Vec<(bool, &str)> = messages.iter().map(|message| log_of(message.lines)).collect();
    messages.sort_by_key(|message| {
        let place = order.iter().position(|log| *log == log_of(message.lines));
        (place, std::cmp::Reverse((message.lines.severity, message.most_count)))
    });
    messages
}

impl<'a> TrialView<'a> {
    /// What the logs of the server's host said from the measured phases to the end of the trial, as [`logged_within`] has it: lines
    /// are written, and read, a while after what they tell of.
    pub fn logged_by_server(&self) -> Vec<LoggedMessage<'a>> {
        let measured = self.measured();
        let mut messages = logged_within(self.events, measured.begin_mono_ns, self.end.end_mono_ns);
        messages.retain(|message| message.lines.host.is_some() == self.server.is_some());
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::log::LogSeverity;

    fn said(log: &str, template: &str, new_count: u64, [begin, end]: [u64; 2]) -> Event {
        let lines = LogLines {
            log: log.into(),
            host: None,
            pid: None,
            command: None,
            severity: if template == "slow" { LogSeverity::Warning } else { LogSeverity::Error },
            template: template.into(),
            example: template.into(),
            new_count,
            lines_count: new_count,
            first_mono_ns: MonoNs(begin),
            begin_mono_ns: MonoNs(begin),
            end_mono_ns: MonoNs(end),
        };
        Event { mono_ns: MonoNs(end), event: EventKind::LogLines(lines) }
    }

    #[test]
    fn lines_at_the_edges_of_a_time_may_or_may_not_be_in_it() {
        let events = [
            said("/a.log", "slow", 1000, [10, 20]),
            said("/b.log", "refused", 1, [0, 10]),
            said("/b.log", "refused", 2, [5, 15]),
            said("/b.log", "refused", 4, [15, 18]),
            said("/b.log", "refused", 8, [18, 25]),
            said("/b.log", "refused", 16, [20, 25]),
            said("/a.log", "full", 1, [11, 12]),
        ];
        let messages = logged_within(&events, MonoNs(10), MonoNs(20));
        let told: Vec<_> = messages
            .iter()
            .map(|message| {
                let counts = [message.least_count, message.likely_count, message.most_count];
                (message.lines.template.as_str(), counts)
            })
            .collect();
        // Of those between 5 and 15, and of those between 18 and 25, a part.
        let refused = ("refused", [4, 4 + 1 + 2, 4 + 2 + 8]);
        assert_eq!(told, [("full", [1; 3]), ("slow", [1000; 3]), refused]);
        assert!(logged_within(&events, MonoNs(100), MonoNs(200)).is_empty());
    }
}
