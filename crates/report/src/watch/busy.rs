//! The busiest processes and threads, and what they wait for: as panels, and as a list over the whole screen.

use crate::escape;
use crate::progress::spark::Pieces;
use crate::terminal::Tone;
use sysdyno_record::live::{HostFrame, ProcessFrame, ThreadFrame, WaitFrame};

/// Columns of a name, of a share, and of an id in a panel.
const PANEL_COLUMNS: [usize; 3] = [12, 5, 8];

/// Columns of a name from this width of a panel on.
const WIDE: (usize, usize) = (50, 17);

/// Below this share, a further wait is not worth its room.
const WORTH_RATIO: f64 = 0.05;

/// The shortest name of who is asked, cut to its room.
const NAME_COLUMNS_MIN: usize = 4;

/// From this share of hidden threads on, the title says how they are seen.
const HIDDEN_RATIO: f64 = 0.5;

/// The title of the panel of processes.
pub(super) fn title(frame: &HostFrame) -> &'static str {
    let is_hidden = |process: &ProcessFrame| {
        let hidden = process.waits.iter().find(|wait| wait.what == "hidden");
        hidden.is_some_and(|wait| wait.threads_count >= HIDDEN_RATIO * f64::from(process.threads_count))
    };
    if frame.processes.iter().any(is_hidden) { "Processes · sudo shows hidden" } else { "Processes" }
}

/// The busiest processes, each with what its threads mostly wait for.
pub(super) fn processes(frame: &HostFrame, columns: usize) -> Vec<Pieces> {
    let line = |process: &ProcessFrame| {
        let mut line = who((&process.command, process.cpus, process.pid), columns);
        add_waits(&mut line, &process.waits, f64::from(process.threads_count), columns);
        if process.threads_count > 1 {
            line.also("  threads ", (Tone::Plain, &process.threads_count.to_string()), columns);
        }
        line
    };
    frame.processes.iter().map(line).collect()
}

/// The busiest threads of processes that have several.
pub(super) fn threads(frame: &HostFrame, columns: usize) -> Vec<Pieces> {
    let has_several =
        |pid: u32| frame.processes.iter().any(|process| process.pid == pid && process.threads_count > 1);
    let line = |thread: &ThreadFrame| {
        let mut line = who((&thread.name, thread.cpu_ratio, thread.tid), columns);
        add_waits(&mut line, &thread.waits, 1.0, columns);
        line.also("  of ", (Tone::Plain, &escape::terminal(&thread.command, 16)), columns);
        line
    };
    busy(frame).filter(|thread| has_several(thread.pid)).map(line).collect()
}

/// All of them over the whole screen, with the time that they waited for a CPU.
pub(super) fn list(frame: &HostFrame, columns: usize) -> Vec<Pieces> {
    let mut head = Pieces::default();
    head.add(
        Tone::Strong,
        format!("{:<17}{:<17}{:>8}{:>6}{:>7}  waits for", "thread", "process", "tid", "CPU", "ready"),
    );
    let percent = |ratio: f64| format!("{:.0}%", ratio * 100.0);
    let line = |thread: &ThreadFrame| {
        let mut line = Pieces::default();
        line.pad(Tone::Plain, &escape::terminal(&thread.name, 16), 17);
        line.pad(Tone::Quiet, &escape::terminal(&thread.command, 16), 17);
        line.add(Tone::Quiet, format!("{:>8}", thread.tid));
        line.add(Tone::Strong, format!("{:>6}", percent(thread.cpu_ratio)));
        line.add(Tone::Plain, format!("{:>7}  ", percent(thread.ready_ratio)));
        let asleep = thread.waits.iter().filter(|wait| !matches!(wait.what, "running" | "runnable"));
        let asleep: Vec<WaitFrame> = asleep.cloned().collect();
        add_waits(&mut line, &asleep, 1.0, columns);
        line
    };
    let mut lines: Vec<Pieces> = busy(frame).map(line).collect();
    if lines.is_empty() {
        let mut nobody = Pieces::default();
        nobody.add(Tone::Plain, "no thread was busy");
        lines.push(nobody);
    }
    std::iter::once(head).chain(lines).collect()
}

/// Threads that did anything.
fn busy(frame: &HostFrame) -> impl Iterator<Item = &ThreadFrame> {
    frame.threads.iter().filter(|thread| thread.cpu_ratio + thread.ready_ratio > 0.0)
}

fn who((name, cpus, id): (&str, f64, u32), columns: usize) -> Pieces {
    let [name_columns, share_columns, id_columns] = PANEL_COLUMNS;
    let name_columns = if columns < WIDE.0 { name_columns } else { WIDE.1 };
    let mut line = Pieces::default();
    line.pad(Tone::Plain, &escape::terminal(name, name_columns - 1), name_columns);
    line.pad(Tone::Strong, &format!("{:.0}%", cpus * 100.0), share_columns);
    line.pad(Tone::Quiet, &id.to_string(), id_columns);
    line
}

/// Adds as many waits as there is room for, the first in any case, as shares of so many threads.
fn add_waits(line: &mut Pieces, waits: &[WaitFrame], threads: f64, columns: usize) {
    for (position, wait) in waits.iter().enumerate() {
        let ratio = if threads > 0.0 { wait.threads_count / threads } else { 0.0 };
        let share = format!(" {:.0}%", ratio * 100.0);
        let gap = if position > 0 { " · " } else { "" };
        let room = columns.saturating_sub(line.width() + gap.chars().count() + share.len());
        let is_main = position == 0;
        let text = match &wait.on {
            Some(on) if room > NAME_COLUMNS_MIN + 2 => format!("→ {}", escape::terminal(on, room - 2)),
            Some(_) => "asking".to_owned(),
            None => wait.what.to_owned(),
        };
        if !is_main && (ratio < WORTH_RATIO || escape::width(&text) > room) {
            return;
        }
        line.add(Tone::Quiet, gap);
        line.add(tone(wait.what), format!("{text}{share}"));
    }
}

/// What a thread should not wait for for long stands out.
fn tone(what: &str) -> Tone {
    match what {
        "lock" | "disk" | "throttled" | "runnable" | "stopped" => Tone::Doubtful,
        "idle" | "hidden" => Tone::Quiet,
        _ => Tone::Plain,
    }
}
