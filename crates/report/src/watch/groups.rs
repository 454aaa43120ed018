//! The groups of columns: their names, and the part of a frame that each one shows. Letters and headings are those of
//! dstat.

use super::selection::{WatchGroup, WatchSelection};
use sysdyno_record::live::{CpuShares, DiskFrame, HostFrame, NetdevFrame};

/// How a value is written, and in how many columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellForm {
    /// A share as a whole percentage.
    Percent,
    /// A count or rate in five places: `123`, `4.1k`, `52M`.
    Count,
    /// The same of bytes, by 1,024.
    Bytes,
    /// What should not happen: as a count, and marked where it is not 0.
    Loss,
    /// A word.
    Text(usize),
}

impl CellForm {
    /// Columns that it takes.
    pub(super) fn columns(self) -> usize {
        match self {
            CellForm::Percent => 3,
            CellForm::Count | CellForm::Bytes | CellForm::Loss => 5,
            CellForm::Text(columns) => columns,
        }
    }
}

/// What a cell shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CellValue {
    Number(Option<f64>),
    Text(String),
}

type Read = Box<dyn Fn(&HostFrame) -> CellValue>;

/// A column.
pub(super) struct WatchColumn {
    /// What is above it.
    pub(super) head: String,
    pub(super) form: CellForm,
    pub(super) read: Read,
}

/// Columns with a common title.
pub(super) struct WatchSection {
    pub(super) title: String,
    pub(super) columns: Vec<WatchColumn>,
}

fn number(head: &str, form: CellForm, read: impl Fn(&HostFrame) -> Option<f64> + 'static) -> WatchColumn {
    WatchColumn { head: head.to_owned(), form, read: Box::new(move |frame| CellValue::Number(read(frame))) }
}

fn text(head: &str, columns: usize, read: impl Fn(&HostFrame) -> String + 'static) -> WatchColumn {
    let form = CellForm::Text(columns);
    WatchColumn { head: head.to_owned(), form, read: Box::new(move |frame| CellValue::Text(read(frame))) }
}

fn section(title: impl Into<String>, columns: Vec<WatchColumn>) -> WatchSection {
    WatchSection { title: title.into(), columns }
}

/// The sections of a group, of what is selected.
pub(super) fn sections(group: WatchGroup, selection: &WatchSelection) -> Vec<WatchSection> {
    let of = |names: &[String], make: fn(String) -> WatchSection| {
        let total = ["total".to_owned()];
        let names = if names.is_empty() { total.as_slice() } else { names };
        names.iter().cloned().map(make).collect()
    };
    match group {
        WatchGroup::Time => vec![section("system", vec![text("time", 8, clock)])],
        WatchGroup::Cpu => of(&selection.cpus, cpu),
        WatchGroup::Disk => of(&selection.disks, disk),
        WatchGroup::Net => of(&selection.netdevs, net),
        WatchGroup::Irq => vec![irq(&selection.irqs)],
        WatchGroup::Top => vec![section("most expensive", vec![text("cpu process", 22, top)])],
        _ => vec![plain(group)],
    }
}

/// Groups that are of the whole host.
fn plain(group: WatchGroup) -> WatchSection {
    use CellForm::{Bytes, Count, Loss, Percent};
    match group {
        WatchGroup::Paging => section(
            "paging",
            vec![
                number("in", Bytes, |frame| frame.memory.swapped_in_bytes_hz),
                number("out", Bytes, |frame| frame.memory.swapped_out_bytes_hz),
            ],
        ),
        WatchGroup::System => section(
            "system",
            vec![
                number("int", Count, |frame| frame.kernel.interrupts_hz),
                number("csw", Count, |frame| frame.kernel.switches_hz),
            ],
        ),
        WatchGroup::Memory => section(
            "memory usage",
            vec![
                number("avail", Bytes, |frame| frame.memory.available_bytes),
                number("free", Bytes, |frame| frame.memory.free_bytes),
                number("cach", Bytes, |frame| frame.memory.cached_bytes),
                number("dirty", Bytes, |frame| frame.memory.dirty_bytes),
            ],
        ),
        WatchGroup::Processes => section(
            "procs",
            vec![
                number("run", Count, |frame| frame.kernel.running_count),
                number("new", Count, |frame| frame.kernel.forks_hz),
                number("tasks", Count, |frame| frame.kernel.tasks_count),
            ],
        ),
        WatchGroup::Tcp => section(
            "tcp sockets",
            vec![
                number("act", Count, |frame| frame.tcp.established_count),
                number("tim", Count, |frame| frame.tcp.time_wait_count),
                number("new", Count, |frame| frame.tcp.accepted_hz),
                number("rexmt", Loss, |frame| frame.tcp.retransmitted_hz),
                number("drop", Loss, |frame| frame.tcp.listen_drops_hz),
            ],
        ),
        WatchGroup::Softnet => section(
            "softnet",
            vec![
                number("pkts", Count, |frame| frame.softnet.processed_hz),
                number("squez", Loss, |frame| frame.softnet.squeezed_hz),
                number("drop", Loss, |frame| frame.softnet.dropped_hz),
            ],
        ),
        _ => section(
            "pressure",
            vec![
                number("cpu", Percent, |frame| frame.pressure.cpu_some_ratio),
                number("mem", Percent, |frame| frame.pressure.memory_some_ratio),
                number("io", Percent, |frame| frame.pressure.io_some_ratio),
            ],
        ),
    }
}

/// The time of day, in UTC.
fn clock(frame: &HostFrame) -> String {
    let seconds = frame.unix_ns.0 / 1_000_000_000 % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn cpu(name: String) -> WatchSection {
    let title = if name == "total" { "total cpu usage".to_owned() } else { format!("cpu{name} usage") };
    let share = move |head: &str, share: fn(&CpuShares) -> Option<f64>| {
        let name = name.clone();
        number(head, CellForm::Percent, move |frame| match name.parse::<u32>() {
            Ok(cpu) => share(frame.cpus.iter().find(|known| known.cpu == Some(cpu))?),
            Err(_) => share(&frame.cpu),
        })
    };
    let columns = vec![
        share("usr", |cpu| cpu.user_ratio),
        share("sys", |cpu| cpu.system_ratio),
        share("idl", |cpu| cpu.idle_ratio),
        share("wai", |cpu| cpu.iowait_ratio),
        share("hiq", |cpu| cpu.irq_ratio),
        share("siq", |cpu| cpu.softirq_ratio),
        share("stl", |cpu| cpu.steal_ratio),
    ];
    section(title, columns)
}

/// The sum of the known values of those that are meant.
fn sum<T>(all: &[T], is_meant: impl Fn(&T) -> bool, value: fn(&T) -> Option<f64>) -> Option<f64> {
    let values = all.iter().filter(|one| is_meant(one)).filter_map(value);
    values.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}

fn disk(name: String) -> WatchSection {
    let title = format!("dsk/{name}");
    let of = move |head: &str, value: fn(&DiskFrame) -> Option<f64>| {
        let name = name.clone();
        number(head, CellForm::Bytes, move |frame| {
            sum(&frame.disks, |disk| disk.name == name || name == "total" && is_real_disk(&disk.name), value)
        })
    };
    section(title, vec![of("read", |disk| disk.read_bytes_hz), of("writ", |disk| disk.written_bytes_hz)])
}

/// What is done by a device of devices is counted at these.
pub(super) fn is_real_disk(name: &str) -> bool {
    !["loop", "ram", "dm-", "md", "zram"].iter().any(|prefix| name.starts_with(prefix))
}

fn net(name: String) -> WatchSection {
    let title = format!("net/{name}");
    let of = move |head: &str, value: fn(&NetdevFrame) -> Option<f64>| {
        let name = name.clone();
        number(head, CellForm::Bytes, move |frame| {
            sum(&frame.netdevs, |netdev| netdev.name == name || name == "total" && netdev.name != "lo", value)
        })
    };
    section(
        title,
        vec![of("recv", |netdev| netdev.received_bytes_hz), of("send", |netdev| netdev.sent_bytes_hz)],
    )
}

fn irq(lines: &[String]) -> WatchSection {
    let of = |line: &String| {
        let name = line.clone();
        number(line, CellForm::Count, move |frame| {
            frame.irqs.iter().find(|irq| irq.line == name).map(|irq| irq.hz)
        })
    };
    section("interrupts", lines.iter().map(of).collect())
}

fn top(frame: &HostFrame) -> String {
    let Some(first) = frame.processes.first() else { return String::new() };
    format!("{:.15} {:.0}%", first.command, first.cpus * 100.0)
}
