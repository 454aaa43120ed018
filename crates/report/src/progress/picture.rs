//! A run in progress, in a few redrawn lines: phase and time, rate and latency by the second, who uses the CPUs; below that
//! the rates that a search has tried, or how the interval of a comparison narrows.

use super::spark::{Pieces, greatest, sparkline};
use super::{closing, phase_name, purpose_name, tried};
use crate::number;
use crate::terminal::{Style, Tone};
use std::time::Duration;
use sysdyno_record::load::TrialPurpose;
use sysdyno_record::plan::Arrival;
use sysdyno_record::progress::{CpuUses, LoadMark, RunPicture};

/// Columns of the labels.
const LABEL_COLUMNS: usize = 6;
/// Columns of the values beside them.
const VALUE_COLUMNS: usize = 11;
/// Most columns of a sparkline: a minute.
const SPARK_COLUMNS: usize = 60;
/// Columns beside a sparkline that are kept for what is said of it.
const REMARK_COLUMNS: usize = 24;

/// Height of a sparkline ÷ its greatest value.
const HEADROOM: f64 = 1.2;

/// Rows that the lines take at most. A terminal needs one more.
pub const ROWS_MAX: usize = 12;

/// The lines, each narrower than the terminal by one column at least, so that none of them wraps.
pub fn picture(view: &RunPicture, style: &Style) -> Vec<String> {
    let columns = style.width().saturating_sub(1);
    let mut lines = vec![head(view, columns)];
    if let Some(closing) = &view.closing {
        lines.extend(closing::lines(closing, columns));
    }
    lines.push(rates(view, columns, style));
    let of = |value: fn(&LoadMark) -> Option<u64>| {
        view.marks.iter().map(value).map(|ns| ns.map(|ns| ns as f64)).collect::<Vec<_>>()
    };
    let errors: Vec<Option<f64>> = view.marks.iter().map(|mark| Some(mark.errors_hz)).collect();
    if greatest(&errors) > 0.0 {
        let last = errors.last().copied().flatten().unwrap_or(0.0);
        let text = format!("{}/s", number::significant(last, 3));
        lines.push(row(("fail", &text), &errors, Pieces::default(), (columns, style)));
    }
    for (name, values) in [("p50", of(|mark| mark.p50_ns)), ("p99", of(|mark| mark.p99_ns))] {
        let last = values.iter().rev().find_map(|value| *value).map(|ns| ns as u64);
        let mut remark = Pieces::default();
        if greatest(&values) > 0.0 {
            remark.add(Tone::Quiet, format!("up to {}", number::duration_ns(greatest(&values) as u64)));
        }
        lines.push(row((name, &number::duration_or_missing(last)), &values, remark, (columns, style)));
    }
    lines.push(cpus(view));
    lines.extend(tried::lines(view, columns, style));
    lines.truncate(ROWS_MAX);
    lines.iter().map(|line| line.line(columns, style)).collect()
}

/// The current activity and its progress.
fn head(view: &RunPicture, columns: usize) -> Pieces {
    let progress = &view.progress;
    let mut pieces = Pieces::default();
    let (label, what) = match progress.purpose {
        TrialPurpose::Single => ("load", load(view)),
        TrialPurpose::Try => ("try", format!("trial {} · {}", progress.trial, load(view))),
        purpose => {
            let asked = progress
                .offered_hz
                .map_or_else(|| load(view), |hz| format!("{}/s", number::significant(hz, 4)));
            ("run", format!("trial {} · {} · {asked}", progress.trial, purpose_name(purpose)))
        }
    };
    pieces.pad(Tone::Quiet, label, LABEL_COLUMNS);
    pieces.add(Tone::Plain, what);
    let elapsed = Duration::from_nanos(progress.elapsed_ns);
    let left = progress.left_ns.filter(|left_ns| *left_ns > 0).map(Duration::from_nanos);
    let time = match (view.closing.as_ref(), left, view.goal_count) {
        (Some(closing), ..) => {
            format!("{} of {}", number::clock(elapsed), number::clock(closing.budget.duration()))
        }
        (_, Some(left), _) if progress.purpose != TrialPurpose::Single => {
            format!("{} · about {} left", number::clock(elapsed), number::clock(left))
        }
        (_, Some(left), _) => format!("{} of {}", number::clock(elapsed), number::clock(elapsed + left)),
        (_, None, Some(goal)) => format!(
            "{} of {} · {}",
            number::count(progress.done_count),
            number::count(goal),
            number::clock(elapsed)
        ),
        (_, None, None) => number::clock(elapsed),
    };
    pieces.right(Tone::Strong, &format!("▸ {}  {time}", phase_name(progress.phase)), columns);
    pieces
}

/// How requests arrive.
fn load(view: &RunPicture) -> String {
    let progress = &view.progress;
    let connections = match progress.clients_count.map_or(view.connections_count, |clients| clients) {
        1 => "1 connection".to_owned(),
        count => format!("{} connections", number::count(u64::from(count))),
    };
    match (view.arrival, progress.offered_hz) {
        (Arrival::Closed, _) | (_, None) => format!("closed, {connections}"),
        (Arrival::Sessions, Some(_)) => format!("sessions, {connections}"),
        (_, Some(offered_hz)) => format!("open, {}/s, {connections}", number::significant(offered_hz, 4)),
    }
}

/// Completed requests by the second, and what went wrong.
fn rates(view: &RunPicture, columns: usize, style: &Style) -> Pieces {
    let values: Vec<Option<f64>> = view.marks.iter().map(|mark| Some(mark.ok_hz)).collect();
    let last = values.last().copied().flatten();
    let text = last.map_or(number::MISSING.to_owned(), |hz| format!("{}/s", number::significant(hz, 4)));
    let mut remark = Pieces::default();
    match view.progress.errors_count {
        0 => remark.add(Tone::Quiet, "no errors"),
        1 => remark.add(Tone::Doubtful, "1 error"),
        count => remark.add(Tone::Doubtful, format!("{} errors", number::count(count))),
    }
    row(("rate", &text), &values, remark, (columns, style))
}

/// A label, the last value, the values of the last minute, and a remark.
fn row(
    (label, value): (&str, &str),
    values: &[Option<f64>],
    remark: Pieces,
    (columns, style): (usize, &Style),
) -> Pieces {
    let room = columns.saturating_sub(LABEL_COLUMNS + VALUE_COLUMNS + REMARK_COLUMNS).min(SPARK_COLUMNS);
    let mut pieces = Pieces::default();
    pieces.pad(Tone::Quiet, label, LABEL_COLUMNS);
    pieces.pad(Tone::Strong, value, VALUE_COLUMNS);
    // A little above the greatest value that is seen, so that what is steady does not look like a limit.
    let scale = HEADROOM * greatest(&values[values.len().saturating_sub(room)..]);
    pieces.pad(Tone::Plain, &sparkline(values, room, scale, style), room);
    pieces.add(Tone::Plain, "  ");
    pieces.append(remark);
    pieces
}

/// Who uses the CPUs, in percent of one.
fn cpus(view: &RunPicture) -> Pieces {
    let mut pieces = Pieces::default();
    pieces.pad(Tone::Quiet, "CPU", LABEL_COLUMNS);
    let percent = |cpus: f64| format!("{:.0}%", cpus * 100.0);
    let none = CpuUses::default();
    let uses = view.uses.as_ref().unwrap_or(&none);
    for tier in &uses.tiers {
        pieces.add(Tone::Plain, format!("{} ", tier.name));
        pieces.add(Tone::Strong, format!("{}  ", percent(tier.cpus)));
    }
    for (name, cpus) in [("others", uses.other_cpus), ("generator", uses.generator_cpus)] {
        let Some(cpus) = cpus else { continue };
        pieces.add(Tone::Quiet, format!("{name} "));
        pieces.add(Tone::Plain, format!("{}  ", percent(cpus)));
    }
    match (view.busiest_thread_ratio.filter(|_| view.is_generator_full), uses.host_cpus_count) {
        (Some(busy), _) => pieces.add(Tone::Doubtful, format!("▲ its thread {}", percent(busy))),
        (None, Some(count)) => pieces.add(Tone::Quiet, format!("of {}%", u64::from(count) * 100)),
        (None, None) => {}
    }
    pieces
}
