//! `sysdyno watch`: what hosts do, sample by sample.
//!
//! The sampler is that of a run, with its budget; this command only shows what it reads, and records it if that is wanted.

mod host;
mod recording;
mod screen;

use crate::args::{WatchArgs, WatchColumnOptions};
use crate::exit::Exit;
use crate::ui::{Signals, Ui};
use anyhow::{Context, bail};
use host::{WatchOrder, WatchedHost};
use recording::RecordedWatch;
use serde::Serialize;
use std::io::IsTerminal;
use std::time::Duration;
use sysdyno_plan::options::Typed;
use sysdyno_record::live::{HostFrame, LiveFinding};
use sysdyno_record::place::HostPlace;
use sysdyno_record::plan::Endpoint;
use sysdyno_record::units::SpanNs;
use sysdyno_report::watch::{WatchColumns, WatchGroup, WatchSelection};
use sysdyno_run::execute::RunJournal;

/// Between two looks at samples and signals.
const TICK: Duration = Duration::from_millis(50);

/// Between two samples, at least and at most.
const INTERVALS: [SpanNs; 2] = [SpanNs::from_millis(100), SpanNs::from_secs(3600)];

pub fn watch(args: &WatchArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let interval = args.interval.map_or(SpanNs::from_secs(1), |interval| interval.0);
    if interval < INTERVALS[0] || interval > INTERVALS[1] {
        bail!("--interval {interval} is not in {} to {}", INTERVALS[0], INTERVALS[1]);
    }
    let target = args.target.as_deref().map(endpoint).transpose()?;
    let is_screen = !args.json && !args.csv && args.count.is_none() && groups(&args.columns).is_empty();
    let is_screen = is_screen && std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    let has_processes = is_screen || args.json || args.columns.top;
    let order = WatchOrder { interval, target, has_processes, is_recorded: args.record };
    let recording = args.record.then(|| RecordedWatch::new(args, &order)).transpose()?;
    let signals = Signals::listen().context("cannot listen to signals")?;
    let mut hosts = hosts(args, ui)?;
    let mut show = |journal: Option<&mut RunJournal<'_>>| {
        let mut journal = journal;
        for host in &mut hosts {
            host.begin(&order, journal.as_deref_mut())?;
        }
        let watching = Watching { hosts: std::mem::take(&mut hosts), signals: &signals, ui };
        if is_screen { screen::show(watching, journal) } else { print(args, watching, journal) }
    };
    match recording {
        None => show(None),
        Some(recording) => recording.carry_out(&signals, ui, |journal| show(Some(journal))),
    }
}

/// Hosts on the screen, or as lines.
struct Watching<'a> {
    hosts: Vec<WatchedHost>,
    signals: &'a Signals,
    ui: &'a Ui,
}

/// The hosts that were named, or this one.
fn hosts(args: &WatchArgs, ui: &Ui) -> anyhow::Result<Vec<WatchedHost>> {
    if args.hosts.is_empty() {
        return Ok(vec![WatchedHost::here()]);
    }
    let ways = (&args.ssh, &args.broker);
    let there = |place: &Typed<HostPlace>| WatchedHost::there(&place.0, ways, args.sudo, ui);
    args.hosts.iter().map(there).collect()
}

/// Where a server listens, as it is typed.
fn endpoint(typed: &str) -> anyhow::Result<Endpoint> {
    match typed.parse() {
        Ok(address) => Ok(Endpoint::Tcp(address)),
        Err(_) if typed.starts_with('/') => Ok(Endpoint::Unix(typed.into())),
        Err(_) => bail!("cannot watch '{typed}': it is neither ADDRESS:PORT nor the path of a socket"),
    }
}

/// Whether a record cannot be written any more.
fn is_full(journal: Option<&RunJournal<'_>>) -> bool {
    journal.is_some_and(|journal| journal.failure().is_some())
}

/// A line of `--json`.
#[derive(Serialize)]
struct FrameDocument<'a> {
    /// As it was typed; absent: this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    #[serde(flatten)]
    frame: &'a HostFrame,
    findings: &'a [LiveFinding],
}

/// Lines on their way out.
struct Printing<'a> {
    args: &'a WatchArgs,
    columns: WatchColumns,
    ui: &'a Ui,
    lines_count: u64,
    is_terminal: bool,
}

/// Prints a line for each sample until the end is asked for, or nobody reads any more. Of several hosts, those that are lost are
/// left out from then on.
fn print(
    args: &WatchArgs,
    Watching { mut hosts, signals, ui }: Watching<'_>,
    mut journal: Option<&mut RunJournal<'_>>,
) -> anyhow::Result<Exit> {
    let names: Vec<String> = hosts.iter().filter_map(|host| host.name.clone()).collect();
    let columns = columns(&args.columns).of_hosts(&names);
    let mut printing =
        Printing { args, columns, ui, lines_count: 0, is_terminal: std::io::stdout().is_terminal() };
    let mut left = hosts.iter().map(|_| args.count.unwrap_or(u64::MAX)).collect::<Vec<u64>>();
    let mut is_any_lost = false;
    while !signals.is_interrupted() && left.iter().any(|left| *left > 0) {
        for (host, left) in hosts.iter_mut().zip(&mut left).filter(|(_, left)| **left > 0) {
            match host.poll(journal.as_deref_mut()) {
                Ok(None) => {}
                Ok(Some(frame)) if printing.print(host, &frame)? => *left -= 1,
                Ok(Some(_)) => return Ok(Exit::Done),
                Err(error) if names.len() < 2 => return Err(error),
                Err(error) => {
                    ui.note(&format!("{error:#}"));
                    (*left, is_any_lost) = (0, true);
                }
            }
        }
        if is_full(journal.as_deref()) {
            return Ok(Exit::Untrusted);
        }
        std::thread::sleep(TICK);
    }
    if is_any_lost {
        return Ok(Exit::Untrusted);
    }
    // Without a count there is no other end than being interrupted.
    let is_whole = args.count.is_none_or(|_| left.iter().all(|left| *left == 0));
    Ok(if is_whole && printing.lines_count > 0 { Exit::Done } else { Exit::Interrupted })
}

impl Printing<'_> {
    /// Prints a sample; returns whether anybody reads it.
    fn print(&mut self, host: &WatchedHost, frame: &HostFrame) -> anyhow::Result<bool> {
        let Printing { args, columns, ui, lines_count, is_terminal } = self;
        let style = ui.style();
        let name = host.name.as_deref();
        let is_header_due = match style.rows {
            Some(rows) if *is_terminal => *lines_count % (rows as u64).saturating_sub(3).max(1) == 0,
            _ => *lines_count == 0,
        };
        *lines_count += 1;
        let line = if args.json {
            serde_json::to_string(&FrameDocument { host: name, frame, findings: &host.host.findings() })?
        } else if args.csv {
            columns.csv_line(name, frame)
        } else {
            columns.line(name, frame, &style)
        };
        let header = match (args.json, args.csv) {
            (false, true) if *lines_count == 1 => Some(columns.csv_header()),
            (false, false) if is_header_due => Some(columns.header(&style).join("\n")),
            _ => None,
        };
        Ok(header.is_none_or(|header| ui.try_print(&header)) && ui.try_print(&line))
    }
}

/// The columns that were asked for, or those that dstat has by default.
fn columns(asked: &WatchColumnOptions) -> WatchColumns {
    let mut groups = groups(asked);
    if groups.is_empty() {
        groups =
            vec![WatchGroup::Cpu, WatchGroup::Disk, WatchGroup::Net, WatchGroup::Paging, WatchGroup::System];
    }
    let selection = WatchSelection {
        cpus: asked.cpus.clone(),
        disks: asked.disks.clone(),
        netdevs: asked.nets.clone(),
        irqs: asked.irqs.clone(),
    };
    WatchColumns::new(&groups, &selection)
}

/// The groups of columns that were asked for, in the order in which they are shown.
fn groups(asked: &WatchColumnOptions) -> Vec<WatchGroup> {
    let all = [
        (asked.time, WatchGroup::Time),
        (asked.cpu || !asked.cpus.is_empty(), WatchGroup::Cpu),
        (asked.disk || !asked.disks.is_empty(), WatchGroup::Disk),
        (asked.net || !asked.nets.is_empty(), WatchGroup::Net),
        (asked.paging, WatchGroup::Paging),
        (asked.sys, WatchGroup::System),
        (!asked.irqs.is_empty(), WatchGroup::Irq),
        (asked.mem, WatchGroup::Memory),
        (asked.procs, WatchGroup::Processes),
        (asked.tcp, WatchGroup::Tcp),
        (asked.softnet, WatchGroup::Softnet),
        (asked.pressure, WatchGroup::Pressure),
        (asked.top, WatchGroup::Top),
    ];
    all.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, group)| group).collect()
}
