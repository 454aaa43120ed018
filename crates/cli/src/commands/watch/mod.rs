//! `sysdyno watch`: what a host does, sample by sample.
//!
//! The sampler is that of a run, with its budget; this command only shows what it reads.

mod screen;

use crate::args::{WatchArgs, WatchColumnOptions};
use crate::exit::Exit;
use crate::ui::{Signals, Ui};
use anyhow::{Context, bail};
use serde::Serialize;
use std::io::IsTerminal;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;
use sysdyno_analyze::live::{HostWatch, ListedProcess};
use sysdyno_observe::{
    SamplerPlan, Sampling, find_all_listeners, find_target_processes, host_process, host_processes,
};
use sysdyno_record::live::{HostFrame, LiveFinding};
use sysdyno_record::plan::Endpoint;
use sysdyno_record::series::SeriesLine;
use sysdyno_record::units::SpanNs;
use sysdyno_report::watch::{WatchColumns, WatchGroup, WatchSelection};
use sysdyno_run::clock;

/// Between two looks at the signals.
const TICK: Duration = Duration::from_millis(50);

/// Between two samples, at least and at most.
const INTERVALS: [SpanNs; 2] = [SpanNs::from_millis(100), SpanNs::from_secs(3600)];

pub fn watch(args: &WatchArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let interval = args.interval.map_or(SpanNs::from_secs(1), |interval| interval.0);
    if interval < INTERVALS[0] || interval > INTERVALS[1] {
        bail!("--interval {interval} is not in {} to {}", INTERVALS[0], INTERVALS[1]);
    }
    let signals = Signals::listen().context("cannot listen to signals")?;
    let target = args.target.as_deref().map(endpoint).transpose()?;
    let is_screen = !args.json && !args.csv && args.count.is_none() && groups(&args.columns).is_empty();
    if is_screen && std::io::stdout().is_terminal() && std::io::stdin().is_terminal() {
        let watched = WatchedHost::start(interval, target, true)?;
        return screen::show(watched, &signals, ui);
    }
    let watched = WatchedHost::start(interval, target, args.json || args.columns.top)?;
    print(args, watched, &signals, ui)
}

/// Where a server listens, as it is typed.
fn endpoint(typed: &str) -> anyhow::Result<Endpoint> {
    match typed.parse() {
        Ok(address) => Ok(Endpoint::Tcp(address)),
        Err(_) if typed.starts_with('/') => Ok(Endpoint::Unix(typed.into())),
        Err(_) => bail!("cannot watch '{typed}': it is neither ADDRESS:PORT nor the path of a socket"),
    }
}

/// Listening addresses whose queues are read, at most.
const LISTENERS_MAX: usize = 16;

/// A host that is sampled.
struct WatchedHost {
    lines: Receiver<SeriesLine>,
    host: HostWatch,
    has_processes: bool,
    /// The sampler ends with it.
    _sampling: Sampling,
}

impl WatchedHost {
    fn start(interval: SpanNs, target: Option<Endpoint>, has_processes: bool) -> anyhow::Result<WatchedHost> {
        let (sender, lines) = mpsc::channel();
        let (mut host, mut behind) = (HostWatch::default(), Vec::new());
        if has_processes {
            for listener in find_all_listeners()?.into_iter().take(LISTENERS_MAX) {
                let owner = listener.owners.first().and_then(|pid| host_process(*pid));
                host.own(&listener.address, owner.map(|owner| owner.command));
                behind.extend(match listener.address {
                    Endpoint::Tcp(address) if target.as_ref() != Some(&listener.address) => Some(address),
                    _ => None,
                });
            }
        }
        let mut plan = SamplerPlan { hz: 1.0 / interval.seconds(), behind, ..SamplerPlan::host() };
        if let Some(endpoint) = target {
            plan.watch = find_target_processes(&endpoint)?;
            host.add(&plan.watch);
            plan.target_port = Some(endpoint);
        }
        // The receiver is gone only when nobody wants to know any more.
        let sampling = Sampling::start(plan, move |line| drop(sender.send(line)))?;
        let mut watched = WatchedHost { lines, host, has_processes, _sampling: sampling };
        watched.list();
        Ok(watched)
    }

    /// The next frame; `None`: the end was asked for.
    fn next(&mut self, signals: &Signals) -> Option<HostFrame> {
        while !signals.is_interrupted() {
            match self.lines.recv_timeout(TICK) {
                Ok(line) => {
                    if self.host.take(line) {
                        return Some(self.frame());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        None
    }

    /// The next frame, if there is one already.
    fn poll(&mut self) -> Option<HostFrame> {
        while let Ok(line) = self.lines.try_recv() {
            if self.host.take(line) {
                return Some(self.frame());
            }
        }
        None
    }

    fn frame(&mut self) -> HostFrame {
        self.list();
        self.host.frame(clock::wall())
    }

    /// Lists all processes, if anybody wants to see them.
    fn list(&mut self) {
        if !self.has_processes {
            return;
        }
        let per_second = rustix::param::clock_ticks_per_second().max(1) as f64;
        let listed = host_processes().into_iter().map(|process| ListedProcess {
            pid: process.pid,
            start_ticks: process.start_ticks,
            cpu_seconds: process.cpu_ticks as f64 / per_second,
            command: process.command,
        });
        self.host.list(listed.collect(), clock::monotonic().0 as f64 / 1e9);
    }
}

/// A line of `--json`.
#[derive(Serialize)]
struct FrameDocument<'a> {
    #[serde(flatten)]
    frame: &'a HostFrame,
    findings: &'a [LiveFinding],
}

/// Prints a line for each sample until the end is asked for, or nobody reads any more.
fn print(args: &WatchArgs, mut watched: WatchedHost, signals: &Signals, ui: &Ui) -> anyhow::Result<Exit> {
    let columns = columns(&args.columns);
    let is_terminal = std::io::stdout().is_terminal();
    // The first sample has nothing to be compared with.
    if watched.next(signals).is_none() {
        return Ok(Exit::Interrupted);
    }
    if args.csv && !ui.try_print(&columns.csv_header()) {
        return Ok(Exit::Done);
    }
    let mut count = 0;
    while let Some(frame) = watched.next(signals) {
        let style = ui.style();
        let is_header_due = match style.rows {
            Some(rows) if is_terminal => count % (rows as u64).saturating_sub(3).max(1) == 0,
            _ => count == 0,
        };
        let text = if args.json {
            serde_json::to_string(&FrameDocument { frame: &frame, findings: &watched.host.findings() })?
        } else if args.csv {
            columns.csv_line(&frame)
        } else if is_header_due {
            let [titles, heads] = columns.header(&style);
            format!("{titles}\n{heads}\n{}", columns.line(&frame, &style))
        } else {
            columns.line(&frame, &style)
        };
        count += 1;
        if !ui.try_print(&text) || args.count == Some(count) {
            return Ok(Exit::Done);
        }
    }
    // Without a count there is no other end than being interrupted.
    Ok(if args.count.is_none() { Exit::Done } else { Exit::Interrupted })
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
