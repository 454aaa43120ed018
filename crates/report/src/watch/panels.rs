//! The panels of the full screen: CPUs, interrupts, network, listeners, sockets, disks, memory, pressure, the request path,
//! processes, and threads.
//!
//! Kinds of CPU time are distinguished by the shading of their cells, not by color.

use super::busy;
use super::columns::short;
use super::groups::is_real_disk;
use crate::number::MISSING;
use crate::progress::spark::{Pieces, sparkline};
use crate::terminal::{Style, Tone};
use sysdyno_record::live::{CpuShares, DiskFrame, HostFrame};

/// Lines under a title.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    title: &'static str,
    lines: Vec<Pieces>,
    least: usize,
}

impl Panel {
    /// Rows without which it is left out, its title included.
    pub(super) fn needed(&self) -> usize {
        1 + self.least.min(self.lines.len())
    }

    /// Rows that it has something for.
    pub(super) fn wanted(&self) -> usize {
        1 + self.lines.len()
    }

    /// The first of its lines.
    pub(super) fn lines(self, rows: usize, columns: usize) -> Vec<Pieces> {
        let hidden = (self.lines.len() + 1).saturating_sub(rows);
        let more = if hidden > 0 { format!(" {hidden} more ") } else { String::new() };
        let mut title = Pieces::default();
        title.add(Tone::Strong, format!("{} ", self.title));
        let rule = columns.saturating_sub(title.width() + more.len());
        title.add(Tone::Quiet, format!("{}{more}", "─".repeat(rule)));
        std::iter::once(title).chain(self.lines).take(rows).collect()
    }
}

/// All panels that have something to show, the most important first.
pub(super) fn panels(frame: &HostFrame, history: &[&HostFrame], columns: usize, style: &Style) -> Vec<Panel> {
    let panel = |title, least, lines: Vec<Pieces>| Panel { title, lines, least };
    let all = [
        panel("CPU", 3, cpus(frame, history, columns, style)),
        panel("Network", 2, network(frame, columns)),
        panel("Request path", 2, path(frame, columns)),
        panel("Listeners", 2, listeners(frame, columns)),
        panel("TCP", 2, tcp(frame, columns)),
        panel("Interrupts by CPU", 2, interrupts(frame, columns)),
        panel("Memory", 2, memory(frame, columns)),
        panel("Disks", 1, disks(frame, columns)),
        panel("Pressure", 1, pressure(frame)),
        panel(busy::title(frame), 2, busy::processes(frame, columns)),
        panel("Threads", 2, busy::threads(frame, columns)),
    ];
    all.into_iter().filter(|panel| !panel.lines.is_empty()).collect()
}

fn percent(ratio: Option<f64>) -> String {
    ratio.map_or(MISSING.to_owned(), |ratio| format!("{:.0}%", ratio * 100.0))
}

fn amount(value: Option<f64>) -> String {
    value.map_or(MISSING.to_owned(), |value| short(value, 1000.0))
}

fn bytes(value: Option<f64>) -> String {
    value.map_or(MISSING.to_owned(), |value| short(value, 1024.0))
}

/// A number that should be 0.
fn loss(value: Option<f64>) -> (Tone, String) {
    match value.filter(|value| *value > 0.0) {
        Some(value) => (Tone::Doubtful, format!("▲{}", short(value, 1000.0))),
        None => (Tone::Plain, amount(value)),
    }
}

/// Adds a number that should be 0, if there is room for it.
fn add_loss(line: &mut Pieces, label: &str, value: Option<f64>, columns: usize) {
    let (tone, text) = loss(value);
    line.also(label, (tone, &text), columns);
}

/// Cells of a bar: user, system, interrupts, stolen.
const CPU_CELLS: [char; 4] = ['█', '▓', '▒', '×'];

fn cpus(frame: &HostFrame, history: &[&HostFrame], columns: usize, style: &Style) -> Vec<Pieces> {
    let busy = |cpu: &CpuShares| Some(1.0 - cpu.idle_ratio? - cpu.iowait_ratio.unwrap_or(0.0));
    let line = |cpu: &CpuShares| {
        let mut line = Pieces::default();
        line.pad(Tone::Quiet, &cpu.cpu.map_or("all".to_owned(), |cpu| cpu.to_string()), 4);
        line.add(Tone::Plain, bar(cpu, columns.saturating_sub(24)));
        line.add(Tone::Strong, format!("{:>5}", percent(busy(cpu))));
        line.add(Tone::Quiet, " softirq");
        line.add(Tone::Plain, format!("{:>5}", percent(cpu.softirq_ratio)));
        line
    };
    if frame.cpus.is_empty() {
        return Vec::new();
    }
    let values: Vec<Option<f64>> = history.iter().map(|frame| busy(&frame.cpu)).collect();
    let mut past = Pieces::default();
    past.pad(Tone::Quiet, "past", 5);
    past.add(Tone::Plain, sparkline(&values, columns.saturating_sub(6), 1.0, style));
    let mut legend = Pieces::default();
    legend.add(Tone::Quiet, "█ user ▓ system ▒ irq × stolen");
    legend.add(Tone::Quiet, format!(" wait {}", percent(frame.cpu.iowait_ratio)));
    let mut tasks = Pieces::default();
    tasks.add(Tone::Quiet, "run ");
    tasks.add(Tone::Plain, amount(frame.kernel.running_count));
    tasks.add(Tone::Quiet, " switches ");
    tasks.add(Tone::Plain, format!("{}/s", amount(frame.kernel.switches_hz)));
    tasks.add(Tone::Quiet, " forks ");
    tasks.add(Tone::Plain, format!("{}/s", amount(frame.kernel.forks_hz)));
    let mut lines = vec![line(&frame.cpu), past];
    lines.extend(frame.cpus.iter().map(line));
    lines.extend([legend, tasks]);
    lines
}

fn bar(cpu: &CpuShares, columns: usize) -> String {
    let sum = |one: Option<f64>, other: Option<f64>| one.unwrap_or(0.0) + other.unwrap_or(0.0);
    let parts = [
        cpu.user_ratio.unwrap_or(0.0),
        cpu.system_ratio.unwrap_or(0.0),
        sum(cpu.irq_ratio, cpu.softirq_ratio),
        cpu.steal_ratio.unwrap_or(0.0),
    ];
    let (mut bar, mut until) = (String::new(), 0.0);
    for (part, cell) in parts.into_iter().zip(CPU_CELLS) {
        until += part;
        let end = (until.clamp(0.0, 1.0) * columns as f64).round() as usize;
        let count = end.saturating_sub(bar.chars().count());
        bar.extend(std::iter::repeat_n(cell, count));
    }
    let left = columns.saturating_sub(bar.chars().count());
    bar.extend(std::iter::repeat_n(' ', left));
    bar
}

/// Cells of a heat strip, the coldest first.
const HEAT: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// A cell for each CPU, by its part of the line's interrupts; CPUs share a cell where there are more than columns.
fn interrupts(frame: &HostFrame, columns: usize) -> Vec<Pieces> {
    let room = columns.saturating_sub(16).max(1);
    let line = |irq: &sysdyno_record::live::IrqFrame| {
        let most = irq.by_cpu_hz.iter().copied().fold(0.0, f64::max);
        let cells = irq.by_cpu_hz.chunks(irq.by_cpu_hz.len().div_ceil(room).max(1));
        let heat = |cpus: &[f64]| {
            let hz = cpus.iter().copied().fold(0.0, f64::max);
            let level = if most > 0.0 { (hz / most * 4.0).ceil().clamp(0.0, 4.0) } else { 0.0 };
            HEAT[level as usize]
        };
        let mut line = Pieces::default();
        line.pad(Tone::Quiet, &crate::escape::terminal(&irq.line, 8), 9);
        line.pad(Tone::Strong, &format!("{}/s", short(irq.hz, 1000.0)), 7);
        line.add(Tone::Plain, cells.map(heat).collect::<String>());
        line
    };
    frame.irqs.iter().filter(|irq| irq.hz > 0.0).map(line).collect()
}

fn network(frame: &HostFrame, columns: usize) -> Vec<Pieces> {
    let mut lines = Vec::new();
    for netdev in &frame.netdevs {
        let mut line = Pieces::default();
        line.pad(Tone::Quiet, &crate::escape::terminal(&netdev.name, 9), 10);
        line.add(Tone::Quiet, "in ");
        line.pad(Tone::Strong, &bytes(netdev.received_bytes_hz), 6);
        line.add(Tone::Quiet, "out ");
        line.pad(Tone::Strong, &bytes(netdev.sent_bytes_hz), 5);
        add_loss(&mut line, " lost ", netdev.lost_hz, columns);
        line.also("  queue ", (Tone::Plain, &bytes(netdev.backlog_bytes)), columns);
        let packets = netdev.received_hz.zip(netdev.sent_hz).map(|(received, sent)| received + sent);
        line.also("  packets ", (Tone::Plain, &format!("{}/s", amount(packets))), columns);
        lines.push(line);
    }
    let mut receive = Pieces::default();
    receive.pad(Tone::Quiet, "softnet", 10);
    receive.add(Tone::Plain, format!("{}/s", amount(frame.softnet.processed_hz)));
    add_loss(&mut receive, " dropped ", frame.softnet.dropped_hz, columns);
    add_loss(&mut receive, " squeezed ", frame.softnet.squeezed_hz, columns);
    lines.insert(lines.len().min(1), receive);
    lines
}

fn listeners(frame: &HostFrame, columns: usize) -> Vec<Pieces> {
    let line = |listener: &sysdyno_record::live::ListenerFrame| {
        let mut line = Pieces::default();
        let is_full =
            listener.queue_count.zip(listener.limit_count).is_some_and(|(queue, limit)| queue > limit);
        line.pad(Tone::Quiet, &crate::escape::terminal(&listener.address, 20), 21);
        let tone = if is_full { Tone::Doubtful } else { Tone::Strong };
        let mark = if is_full { "▲" } else { "" };
        line.add(tone, format!("{mark}{}", amount(listener.queue_count)));
        line.add(Tone::Quiet, format!(" of {}", amount(listener.limit_count)));
        if let Some(owner) = &listener.owner {
            line.also("  ", (Tone::Plain, &crate::escape::terminal(owner, 15)), columns);
        }
        if listener.established_count.is_some() {
            line.also("  open ", (Tone::Plain, &amount(listener.established_count)), columns);
        }
        line
    };
    frame.listeners.iter().map(line).collect()
}

fn tcp(frame: &HostFrame, columns: usize) -> Vec<Pieces> {
    let tcp = &frame.tcp;
    if tcp.established_count.or(tcp.in_use_count).is_none() {
        return Vec::new();
    }
    let mut sockets = Pieces::default();
    sockets.add(Tone::Quiet, "open ");
    sockets.add(Tone::Strong, amount(tcp.established_count));
    sockets.also("  TIME_WAIT ", (Tone::Strong, &amount(tcp.time_wait_count)), columns);
    sockets.also("  orphans ", (Tone::Plain, &amount(tcp.orphan_count)), columns);
    sockets.also("  in use ", (Tone::Plain, &amount(tcp.in_use_count)), columns);
    let mut events = Pieces::default();
    events.add(Tone::Quiet, "accepted ");
    events.add(Tone::Strong, format!("{}/s", amount(tcp.accepted_hz)));
    add_loss(&mut events, " resent ", tcp.retransmitted_hz, columns);
    add_loss(&mut events, " dropped ", tcp.listen_drops_hz, columns);
    vec![sockets, events]
}

fn disks(frame: &HostFrame, columns: usize) -> Vec<Pieces> {
    let line = |disk: &sysdyno_record::live::DiskFrame| {
        let mut line = Pieces::default();
        line.pad(Tone::Quiet, &crate::escape::terminal(&disk.name, 9), 10);
        line.pad(Tone::Strong, &percent(disk.busy_ratio), 5);
        line.add(Tone::Quiet, "read ");
        line.pad(Tone::Plain, &bytes(disk.read_bytes_hz), 5);
        line.add(Tone::Quiet, "write ");
        line.pad(Tone::Plain, &bytes(disk.written_bytes_hz), 4);
        line.also(" flush ", (Tone::Plain, &format!("{}/s", amount(disk.flushes_hz))), columns);
        let queue = disk.queue_count.map_or(MISSING.to_owned(), |count| format!("{count:.1}"));
        line.also("  queue ", (Tone::Plain, &queue), columns);
        line
    };
    // Loop devices and such come in dozens, and most of them do nothing.
    let is_idle = |disk: &DiskFrame| disk.reads_hz.unwrap_or(0.0) + disk.writes_hz.unwrap_or(0.0) == 0.0;
    let is_shown = |disk: &&DiskFrame| is_real_disk(&disk.name) || !is_idle(disk);
    frame.disks.iter().filter(is_shown).map(line).collect()
}

fn memory(frame: &HostFrame, columns: usize) -> Vec<Pieces> {
    let memory = &frame.memory;
    if memory.total_bytes.is_none() {
        return Vec::new();
    }
    let mut all = Pieces::default();
    all.add(Tone::Quiet, "available ");
    all.add(Tone::Strong, bytes(memory.available_bytes));
    all.add(Tone::Quiet, format!(" of {}", bytes(memory.total_bytes)));
    all.also("  dirty ", (Tone::Plain, &bytes(memory.dirty_bytes)), columns);
    all.also("  cached ", (Tone::Plain, &bytes(memory.cached_bytes)), columns);
    let mut swap = Pieces::default();
    swap.add(Tone::Quiet, "swap used ");
    swap.add(Tone::Plain, bytes(memory.swap_used_bytes));
    add_loss(&mut swap, "  in ", memory.swapped_in_bytes_hz, columns);
    add_loss(&mut swap, "  out ", memory.swapped_out_bytes_hz, columns);
    vec![all, swap]
}

fn pressure(frame: &HostFrame) -> Vec<Pieces> {
    let pressure = &frame.pressure;
    let known = [
        ("CPU", pressure.cpu_some_ratio),
        ("memory", pressure.memory_some_ratio),
        ("disks", pressure.io_some_ratio),
    ];
    if known.iter().all(|(_, ratio)| ratio.is_none()) {
        return Vec::new();
    }
    let mut line = Pieces::default();
    line.add(Tone::Quiet, "waiting for");
    for (label, ratio) in known {
        line.add(Tone::Quiet, format!(" {label} "));
        line.add(Tone::Strong, percent(ratio));
    }
    vec![line]
}

fn path(frame: &HostFrame, columns: usize) -> Vec<Pieces> {
    let mut lines = Vec::new();
    for tier in &frame.tiers {
        let mut line = Pieces::default();
        let indent = " ".repeat(tier.depth.min(4) as usize * 2);
        line.pad(Tone::Strong, &format!("{indent}{}", crate::escape::terminal(&tier.name, 11)), 12);
        line.add(Tone::Plain, format!("{:>5} ", percent(tier.cpus)));
        line.add(Tone::Quiet, "CPU");
        line.also(" open ", (Tone::Plain, &amount(tier.connections_count)), columns);
        line.also(" queue ", (Tone::Plain, &amount(tier.queue_count)), columns);
        line.also("  processes ", (Tone::Plain, &tier.processes_count.to_string()), columns);
        lines.push(line);
        if !tier.waits.is_empty() {
            let wait = |wait: &sysdyno_record::live::WaitFrame| {
                format!("{} {}", wait.what, short(wait.threads_count, 1000.0))
            };
            let mut line = Pieces::default();
            line.add(Tone::Quiet, format!("{indent}  threads: "));
            line.add(Tone::Plain, tier.waits.iter().map(wait).collect::<Vec<String>>().join(" · "));
            lines.push(line);
        }
    }
    lines
}
