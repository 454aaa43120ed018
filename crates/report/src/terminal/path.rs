//! The request path: each tier of the server below its caller, with the requests in flight there and the resources it used.

use super::screen::{Rank, Screen};
use super::style::Tone;
use super::table::{self, Cell};
use crate::input::ReportInput;
use crate::number;
use sysdyno_record::path::{GaugeRange, PathTier, TierAsked, TierWait, WaitKind};

/// Cells in the order in which they stand.
const CELLS: [Cell<PathTier>; 3] = [
    Cell { rank: 1, heading: "connected", text: |tier| mean(tier.connections) },
    Cell { rank: 2, heading: "queued", text: |tier| mean(tier.queue) },
    Cell { rank: 0, heading: "CPUs", text: |tier| figure(tier.cpus) },
];

/// Tiers that are printed; there are at most as many as services on a host.
const ROWS_MAX: usize = 12;

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    let path = &input.analysis.path;
    // A server that asks nobody has no way to be shown, but a time of its own.
    if path.len() < 2 {
        if path.iter().any(|tier| tier.requests.is_some()) {
            screen.gap();
            draw_times(path, screen);
        }
        return;
    }
    screen.gap();
    let mut rows = Vec::new();
    add_below(path, None, ("", 0), &mut rows);
    table::draw(screen, Rank::Useful, "Path", &CELLS, rows.into_iter());
    draw_times(path, screen);
}

/// Of a request's time, parts that are shown of each tier, the longest ones.
const PARTS_MAX: usize = 5;

/// A part of less than this share of a tier's time is left out. Unit: ratio.
const PART_MIN_RATIO: f64 = 0.02;

/// Where the time of a request goes: `php-fpm: 344 ms queued, 40.1 ms waiting for mariadbd, 10.2 ms sleeping`.
fn draw_times(path: &[PathTier], screen: &mut Screen) {
    let mut label = "Time";
    let mut say = |text: &str| {
        screen.sentence(Rank::Useful, (Tone::Quiet, label), (Tone::Plain, text));
        label = "";
    };
    for tier in path {
        let mut parts = parts(tier, path);
        parts.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let sum: f64 = parts.iter().map(|(ns, _)| ns).sum();
        parts.retain(|(ns, _)| *ns > 0.0 && *ns >= PART_MIN_RATIO * sum);
        let texts: Vec<String> = parts
            .iter()
            .take(PARTS_MAX)
            .map(|(ns, what)| format!("{} {what}", number::duration_ns(*ns as u64)))
            .collect();
        if !texts.is_empty() {
            say(&format!("per request in {}: {}", tier.called(path), texts.join(", ")));
        }
        notes(tier, path).iter().for_each(|note| say(note));
    }
}

/// The parts of a request's time in a tier: what the kernel saw at its connections, and what its threads were seen at.
fn parts(tier: &PathTier, path: &[PathTier]) -> Vec<(f64, String)> {
    let asked: &[TierAsked] = tier.requests.as_ref().map_or(&[], |requests| &requests.asked);
    let is_outside = |asked: &TierAsked| path.get(asked.on).is_some_and(|tier| tier.is_outside);
    let is_seen_better = |wait: &TierWait| match wait.kind {
        WaitKind::Asking => asked.iter().any(|asked| Some(asked.on) == wait.on),
        WaitKind::Network => asked.iter().any(is_outside),
        _ => false,
    };
    let waits = tier.waits.iter().filter(|wait| !is_seen_better(wait));
    let mut parts: Vec<(f64, String)> = waits.filter_map(|wait| part(wait, path)).collect();
    let Some(requests) = &tier.requests else {
        parts.extend(tier.queue_time_ns.map(|ns| (ns, "queued for a worker".to_owned())));
        return parts;
    };
    parts.push((requests.unread_ns, "waiting to be read".to_owned()));
    parts.extend(requests.partial_ns.map(|ns| (ns, "until the rest of the request came".to_owned())));
    for asked in asked {
        let name = path.get(asked.on).map_or("another tier".to_owned(), |tier| tier.called(path));
        parts.push((asked.waiting_ns, format!("waiting for {name}{}", times(asked.sent_count))));
        parts.push((asked.unread_ns, format!("until an answer of {name} was read")));
    }
    parts.extend(requests.rest_ns.map(|ns| (ns, format!("in {} itself", tier.called(path)))));
    parts
}

/// ` (3.2 requests)`, where it is not one.
fn times(count: f64) -> String {
    if (count - 1.0).abs() < ABOUT_ONE {
        return String::new();
    }
    format!(" ({} requests)", number::significant(count, 2))
}

/// Requests for each one that are said to be one. Unit: ratio.
const ABOUT_ONE: f64 = 0.05;

/// Time that connections do not explain and that is mentioned. Unit: ratio.
const ELSEWHERE_MIN: f64 = 0.15;

/// What is to be known of these times.
fn notes(tier: &PathTier, path: &[PathTier]) -> Vec<String> {
    let Some(requests) = &tier.requests else { return vec![] };
    let (mut notes, who) = (Vec::new(), tier.called(path));
    if requests.own_ns.is_none() {
        notes.push(format!(
            "{who}: requests share connections and cannot be told apart, so its times are those of connections"
        ));
    }
    if let Some(ratio) = requests.elsewhere_ratio.filter(|ratio| ratio.abs() > ELSEWHERE_MIN) {
        let percent = number::percent(ratio.abs());
        let trip = requests.round_trip_ns.map_or(String::new(), |trip_ns| {
            format!(" (a round trip takes {})", number::duration_ns(trip_ns as u64))
        });
        notes.push(match ratio > 0.0 {
            true => format!(
                "{percent} of a request's time passed before {who} had its connection, on the network{trip}, or in the generator"
            ),
            false => format!("the times of {who} are {percent} longer than what the generator saw"),
        });
    }
    notes
}

fn part(wait: &TierWait, path: &[PathTier]) -> Option<(f64, String)> {
    let what = match wait.kind {
        WaitKind::Running => "running".to_owned(),
        WaitKind::Lock => "waiting for a lock".to_owned(),
        WaitKind::Process => "waiting for another process".to_owned(),
        WaitKind::Disk => "waiting for a disk".to_owned(),
        WaitKind::Timer => "sleeping".to_owned(),
        WaitKind::Stopped => "stopped".to_owned(),
        WaitKind::Asking => format!("waiting for {}", wait.on.and_then(|on| path.get(on))?.called(path)),
        WaitKind::Network => "waiting for another connection".to_owned(),
        WaitKind::Other => "waiting for something else".to_owned(),
    };
    Some((wait.time_ns?, what))
}

/// The tiers that this one asks, each followed by those that it asks in turn; `before`: what the lines begin with.
fn add_below<'a>(
    path: &'a [PathTier],
    asker: Option<usize>,
    (before, depth): (&str, usize),
    rows: &mut Vec<(String, &'a PathTier)>,
) {
    let asked: Vec<usize> = (0..path.len()).filter(|position| path[*position].asked_by == asker).collect();
    for position in &asked {
        let (own, below) = match asker {
            None => ("", ""),
            Some(_) if asked.last() == Some(position) => ("└─ ", "   "),
            Some(_) => ("├─ ", "│  "),
        };
        // A record may say that a tier asks itself.
        if depth < path.len() && rows.len() < ROWS_MAX {
            let tier = &path[*position];
            rows.push((format!("{before}{own}{}", label(tier, path)), tier));
            add_below(path, Some(*position), (&format!("{before}{below}"), depth + 1), rows);
        }
    }
}

/// `php-fpm (5 processes)`.
fn label(tier: &PathTier, path: &[PathTier]) -> String {
    let count = match tier.processes_count {
        _ if tier.is_outside => " (not looked into)".to_owned(),
        1 => String::new(),
        count => format!(" ({count} processes)"),
    };
    format!("{}{count}", tier.called(path))
}

fn mean(range: Option<GaugeRange>) -> String {
    figure(range.map(|range| range.mean))
}

fn figure(value: Option<f64>) -> String {
    value.map_or(number::MISSING.to_owned(), |value| number::significant(value, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tier(name: &str, asked_by: Option<usize>) -> PathTier {
        let text = serde_json::json!({ "name": name, "asked_by": asked_by, "processes_count": 1 });
        serde_json::from_value(text).expect("is a tier")
    }

    #[test]
    fn who_is_asked_last_ends_the_branch() {
        let path =
            [tier("nginx", None), tier("php-fpm", Some(0)), tier("mariadbd", Some(1)), tier("node", Some(0))];
        let mut rows = Vec::new();
        add_below(&path, None, ("", 0), &mut rows);
        let lines: Vec<_> = rows.into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, ["nginx", "├─ php-fpm", "│  └─ mariadbd", "└─ node"]);
    }

    #[test]
    fn a_tier_that_asks_itself_is_shown_a_bounded_number_of_times() {
        let path = [tier("nginx", None), tier("php-fpm", Some(1))];
        let mut rows = Vec::new();
        add_below(&path, None, ("", 0), &mut rows);
        add_below(&path, Some(1), ("", 0), &mut rows);
        assert!(rows.len() <= path.len() + 1, "{rows:?}");
    }
}
