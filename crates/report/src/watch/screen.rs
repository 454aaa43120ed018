//! A host on the full terminal: panels in columns, findings below them, and how old the displayed data is.
//!
//! Each panel has the lines that matter most first. What does not fit is left out from the end of the panels, then panel by
//! panel from the last one, so that 80 by 24 shows the same as a large terminal, only less of it.

use super::busy;
use super::panels::{Panel, panels};
use crate::escape;
use crate::number;
use crate::progress::spark::Pieces;
use crate::terminal::{Style, Tone, wrap};
use std::time::Duration;
use sysdyno_record::live::{HostFrame, LiveFinding};

/// A sample that is kept for scrolling back.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchedSample {
    /// The activity of the host.
    pub frame: HostFrame,
    /// What limited it.
    pub findings: Vec<LiveFinding>,
}

/// What is seen, and of what.
#[derive(Clone, Copy, Debug)]
pub struct WatchScreen<'a> {
    /// The host; `None`: this one. Untrusted.
    pub host: Option<&'a str>,
    /// Hosts that are watched.
    pub hosts_count: usize,
    /// Why nothing more comes from it; `None`: it is there.
    pub lost: Option<&'a str>,
    /// The samples that are kept, the oldest first.
    pub samples: &'a [WatchedSample],
    /// Position of the one that is seen.
    pub shown: usize,
    /// Whether it stays when another one comes.
    pub is_held: bool,
    /// Position of the finding that is chosen.
    pub chosen: usize,
    /// What is shown instead of panels.
    pub overlay: WatchOverlay,
}

/// What lies over the panels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WatchOverlay {
    /// Nothing.
    #[default]
    Panels,
    /// What the keys do.
    Keys,
    /// The meaning of the chosen finding.
    Finding,
    /// The busiest threads.
    Threads,
}

/// Least size of a terminal that anything can be seen on.
pub const LEAST_COLUMNS: usize = 60;
/// The same for its rows.
pub const LEAST_ROWS: usize = 12;

/// Columns of a panel, at least.
const PANEL_COLUMNS: usize = 39;
/// Longest name of a host.
const HOST_COLUMNS_MAX: usize = 24;
/// Most findings that are listed.
const FINDINGS_MAX: usize = 4;

const KEYS: &[(&str, &str)] = &[
    ("q, Ctrl-C", "quit"),
    ("← →", "one sample back, one forward"),
    ("PgUp PgDn", "a minute back, a minute forward"),
    ("End", "back to the present"),
    ("p, Space", "hold the picture, or go on"),
    ("↑ ↓", "choose a finding"),
    ("e, Enter", "explain the chosen finding"),
    ("t", "the busiest threads, and what they wait for"),
    ("Tab", "the next host, if several are watched"),
    ("?", "show or hide these keys"),
];

/// The lines of the screen, as many as the terminal has rows; none is wider than it.
pub fn screen(view: &WatchScreen<'_>, style: &Style) -> Vec<String> {
    let (columns, rows) = (style.width(), style.rows.unwrap_or(24));
    let Some(sample) = view.samples.get(view.shown).or(view.samples.last()) else {
        let text = view.lost.unwrap_or("the first sample takes a moment …");
        return fill(wrap(&escape::terminal(text, usize::MAX), columns), rows);
    };
    if style.width_columns < LEAST_COLUMNS || rows < LEAST_ROWS {
        let text = format!("this needs {LEAST_COLUMNS} columns and {LEAST_ROWS} rows");
        return fill(vec![escape::terminal(&text, style.width_columns)], rows);
    }
    let findings = findings(view, sample, style);
    let body_rows = rows - 1 - findings.len();
    let mut lines = vec![head(view, sample).line(columns, style)];
    lines.extend(match view.overlay {
        WatchOverlay::Panels => body(view, sample, (columns, body_rows), style),
        WatchOverlay::Keys => keys(style),
        WatchOverlay::Finding => explanation(view, sample, style),
        WatchOverlay::Threads => {
            let lines = busy::list(&sample.frame, columns);
            lines.iter().map(|line| line.line(columns, style)).collect()
        }
    });
    lines.truncate(1 + body_rows);
    let mut lines = fill(lines, 1 + body_rows);
    lines.extend(findings);
    lines
}

fn fill(mut lines: Vec<String>, rows: usize) -> Vec<String> {
    lines.resize(rows, String::new());
    lines
}

/// When this was, and how far back.
fn head(view: &WatchScreen<'_>, sample: &WatchedSample) -> Pieces {
    let mut pieces = Pieces::default();
    let seconds = sample.frame.unix_ns.0 / 1_000_000_000 % 86_400;
    let host = view.host.map(|host| format!(" {}", escape::terminal(host, HOST_COLUMNS_MAX)));
    pieces.add(Tone::Strong, format!("sysdyno watch{}", host.unwrap_or_default()));
    let clock = format!("  {:02}:{:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60, seconds % 60);
    pieces.add(Tone::Plain, clock);
    let last = view.samples.last().map_or(sample.frame.mono_ns, |last| last.frame.mono_ns);
    let back = number::clock(Duration::from_nanos(last.since(sample.frame.mono_ns)));
    match (view.lost, view.is_held) {
        (Some(lost), _) => pieces.add(Tone::Bad, format!("  ▸ {}", escape::terminal(lost, usize::MAX))),
        (None, true) => pieces.add(Tone::Doubtful, format!("  ▸ held, {back} back")),
        (None, false) => pieces.add(Tone::Quiet, "  ▸ live"),
    }
    pieces.add(Tone::Quiet, "  ? keys");
    if view.hosts_count > 1 {
        pieces.add(Tone::Quiet, format!("  Tab: {} hosts", view.hosts_count));
    }
    // Last, because a narrow terminal cuts it off.
    pieces.add(Tone::Quiet, format!("  every {} s", number::significant(sample.frame.seconds, 2)));
    if let Some(us) = sample.frame.sampler_us {
        pieces.add(Tone::Quiet, format!("  sampler {}% of a CPU", number::significant(us / 1e4, 2)));
    }
    pieces
}

/// The panels in as many columns as there is room for.
fn body(
    view: &WatchScreen<'_>,
    sample: &WatchedSample,
    (columns, rows): (usize, usize),
    style: &Style,
) -> Vec<String> {
    let count = ((columns + 1) / (PANEL_COLUMNS + 1)).clamp(1, 3);
    let width = (columns + 1) / count - 1;
    let history: Vec<&HostFrame> =
        view.samples[..=view.shown.min(view.samples.len() - 1)].iter().map(|sample| &sample.frame).collect();
    let panels = panels(&sample.frame, &history, width, style);
    let sides = spread(panels, count, rows);
    let lines: Vec<Vec<Pieces>> = sides.into_iter().map(|side| fit(side, rows, width)).collect();
    let row = |row: usize| {
        let cells = lines.iter().map(|side| match side.get(row) {
            Some(line) => {
                let text = line.line(width, style);
                let gap = width.saturating_sub(line.width().min(width));
                format!("{text}{:gap$}", "")
            }
            None => " ".repeat(width),
        });
        cells.collect::<Vec<String>>().join(" ").trim_end().to_owned()
    };
    (0..rows).map(row).collect()
}

/// The panels by column: each goes to the column that has the fewest lines so far.
fn spread(panels: Vec<Panel>, count: usize, rows: usize) -> Vec<Vec<Panel>> {
    let mut sides: Vec<Vec<Panel>> = (0..count).map(|_| Vec::new()).collect();
    for panel in panels {
        let used = |side: &Vec<Panel>| side.iter().map(|panel| panel.needed()).sum::<usize>();
        let side = sides.iter_mut().min_by_key(|side| used(side).min(rows));
        side.into_iter().for_each(|side| side.push(panel.clone()));
    }
    sides
}

/// The lines of a column: first what each panel needs, then more of each in turn.
fn fit(mut panels: Vec<Panel>, rows: usize, width: usize) -> Vec<Pieces> {
    while panels.len() > 1 && panels.iter().map(Panel::needed).sum::<usize>() > rows {
        panels.pop();
    }
    let mut given: Vec<usize> = panels.iter().map(Panel::needed).collect();
    let mut left = rows.saturating_sub(given.iter().sum());
    while left > 0 {
        let wanting = (0..panels.len()).filter(|at| given[*at] < panels[*at].wanted());
        let Some(least) = wanting.min_by_key(|at| given[*at]) else { break };
        given[least] += 1;
        left -= 1;
    }
    let lines = panels.into_iter().zip(given).flat_map(|(panel, given)| panel.lines(given, width));
    lines.collect()
}

/// What limits the host, at the bottom.
fn findings(view: &WatchScreen<'_>, sample: &WatchedSample, style: &Style) -> Vec<String> {
    let columns = style.width();
    let mut lines = Vec::new();
    if sample.findings.is_empty() {
        let mut line = Pieces::default();
        line.add(Tone::Quiet, "Findings  ");
        line.add(Tone::Plain, "nothing is at its limit");
        lines.push(line);
    }
    for (position, finding) in sample.findings.iter().take(FINDINGS_MAX).enumerate() {
        let mut line = Pieces::default();
        let is_chosen = position == view.chosen.min(sample.findings.len() - 1);
        line.add(Tone::Strong, if is_chosen { "► " } else { "  " });
        line.add(Tone::Doubtful, format!("▲ {}", finding.title));
        line.add(Tone::Quiet, format!(" ({}, {})", finding.name, finding.id));
        if is_chosen {
            line.add(Tone::Quiet, "  e explain");
        }
        lines.push(line);
    }
    lines.iter().map(|line| line.line(columns, style)).collect()
}

fn keys(style: &Style) -> Vec<String> {
    let line = |(key, what): &(&str, &str)| {
        let mut line = Pieces::default();
        line.add(Tone::Plain, "  ");
        line.pad(Tone::Strong, key, 12);
        line.add(Tone::Plain, *what);
        line.line(style.width(), style)
    };
    std::iter::once(String::new()).chain(KEYS.iter().map(line)).collect()
}

/// What the chosen finding means, and what could be changed.
fn explanation(view: &WatchScreen<'_>, sample: &WatchedSample, style: &Style) -> Vec<String> {
    let chosen = view.chosen.min(sample.findings.len().saturating_sub(1));
    let Some(finding) = sample.findings.get(chosen) else {
        return vec![String::new(), "  There is no finding now.".to_owned()];
    };
    let more = format!("`sysdyno explain {}` says which readings and limits it rests on.", finding.id);
    let parts = [
        (Tone::Strong, finding.title.as_str()),
        (Tone::Plain, finding.meaning),
        (Tone::Plain, finding.remedy),
        (Tone::Quiet, more.as_str()),
    ];
    let mut lines = Vec::new();
    for (tone, text) in parts {
        lines.push(String::new());
        for part in wrap(text, style.width() - 4) {
            let mut line = Pieces::default();
            line.add(tone, format!("  {part}"));
            lines.push(line.line(style.width(), style));
        }
    }
    lines
}
