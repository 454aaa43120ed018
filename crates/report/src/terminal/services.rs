//! Metrics that a lab's services reported about themselves in the trial shown: how much counters grew, and the states at
//! its end.

use super::screen::{Rank, Screen};
use super::style::Tone;
use crate::escape;
use crate::input::ReportInput;
use crate::number;
use sysdyno_record::event::EventKind;
use sysdyno_record::service::{MetricKind, Moment, ServiceReading, ServiceValue};

/// Longest name, cause or unit. Unit: characters.
const MAX_CHARS: usize = 400;

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    let told = |moment: Moment| -> Vec<&ServiceReading> {
        let events = input.run.events.iter().filter_map(|event| match &event.event {
            EventKind::Service { trial, moment: when, reading } => {
                (*trial == input.analysis.shown_trial && *when == moment).then_some(reading)
            }
            _ => None,
        });
        events.collect()
    };
    let (begin, end) = (told(Moment::Begin), told(Moment::End));
    for (position, reading) in end.iter().enumerate() {
        let before = begin.iter().find(|before| before.service == reading.service);
        let label = if position == 0 { "Services" } else { "" };
        let text =
            format!("{} ({}): {}", shown(&reading.service), shown(&reading.recipe), sum(before, reading));
        screen.row(Rank::Extra, (Tone::Plain, label), &[(Tone::Plain, &text)]);
    }
}

fn sum(before: Option<&&ServiceReading>, reading: &ServiceReading) -> String {
    if let Some(cause) = &reading.cause {
        return shown(cause);
    }
    let change = |value: &ServiceValue| {
        let now = value.value?;
        let first = before?.values.iter().find(|known| known.name == value.name)?.value?;
        Some(match value.kind {
            MetricKind::Counter => now - first,
            MetricKind::Gauge => now,
        })
    };
    let known = reading.values.iter().filter_map(|value| Some((value, change(value)?)));
    // What did not happen says little, and takes room.
    let happened = known.filter(|(_, number)| *number != 0.0);
    let parts: Vec<String> = happened
        .map(|(value, number)| {
            format!("{} {}", shown(&value.name), number::trimmed(&number::significant(number, 6)))
        })
        .collect();
    if parts.is_empty() { "no activity".to_owned() } else { parts.join(", ") }
}

fn shown(text: &str) -> String {
    escape::terminal(text, MAX_CHARS)
}
