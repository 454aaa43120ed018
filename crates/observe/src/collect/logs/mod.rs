//! Reads the logs of the server (its tiers included) and of the kernel. Columns hold the number of lines; the text of
//! errors and warnings is recorded next to the row.
//!
//! It looks once a second. While no file has grown, a look takes one system call per file; a flood of lines is read only as
//! far as the CPU limit allows, and the rest is skipped and counted.

mod service;

use super::{Collector, Pass, Table};
use crate::clock;
use crate::logs::{Allowance, KernelLog, LogLook, LogOwner, LogTally, kernel_severity};
use crate::watch::Watchlist;
use service::ServerLog;
use std::collections::HashMap;
use sysdyno_record::column::{self, Quantity, log_scope};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::log::KERNEL_LOG;
use sysdyno_record::series::Column;
use sysdyno_record::units::MonoNs;

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(LogCollector::default())
}

/// CPU time of one look after which no more is read: 0.3% of a core. Unit: nanoseconds.
const LOOK_CPU_NS: u64 = 3_000_000;

/// Of it, for finding logs. Unit: nanoseconds.
const SEARCH_CPU_NS: u64 = 1_000_000;

/// Between two searches for the logs of one process. Unit: nanoseconds.
const SEARCH_INTERVAL_NS: u64 = 10_000_000_000;

/// Columns of the log of the kernel, which does not say how much it forgot before it was read.
const OF_KERNEL: [Quantity; 3] = [column::LOG_LINES, column::LOG_ERRORS, column::LOG_WARNINGS];

/// Columns of each file.
const OF_FILE: [Quantity; 4] =
    [column::LOG_LINES, column::LOG_ERRORS, column::LOG_WARNINGS, column::LOG_SKIPPED];

#[derive(Default)]
struct LogCollector {
    table: Table,
    logs: Vec<ServerLog>,
    kernel: Option<KernelLog>,
    kernel_tally: LogTally,
    /// When each process was searched for logs last, by pid and start.
    searched: HashMap<(u32, u64), MonoNs>,
    allowance: Allowance,
    looked: Option<MonoNs>,
    /// Whose log is read first in the next look, so that a flood of one does not hide the others.
    first: usize,
    /// Whether the next look tells everything.
    is_asked: bool,
}

impl LogCollector {
    fn look(&mut self, pass: &mut Pass<'_>) {
        let (now, cpu_ns) = (clock::monotonic(), clock::thread_cpu_ns());
        let look =
            LogLook { before: self.looked.unwrap_or(now), now, is_asked: std::mem::take(&mut self.is_asked) };
        self.looked = Some(now);
        let kernel = self.kernel.get_or_insert_with(KernelLog::open);
        let tally = &mut self.kernel_tally;
        kernel.read(pass.buffer, |line| tally.note(line, &look, kernel_severity));
        for index in 0..self.logs.len() {
            let position = (self.first + index) % self.logs.len();
            self.logs[position].read(pass.buffer, cpu_ns.saturating_add(LOOK_CPU_NS), &look);
        }
        self.first = self.first.wrapping_add(1);
        let has_new = self.search(pass.scene, pass.buffer, &look);
        if has_new || self.table.columns().is_empty() {
            self.table.replace(self.columns());
        }
        self.write();
        self.tell(pass.scene, &look);
    }

    /// Looks for logs of processes that were not searched for long. Returns whether there are others than before.
    fn search(&mut self, scene: &Watchlist, buffer: &mut Vec<u8>, look: &LogLook) -> bool {
        let until_cpu_ns = clock::thread_cpu_ns().saturating_add(SEARCH_CPU_NS);
        let key = |process: &WatchedProcess| (process.pid, process.start_ticks);
        let searched = &mut self.searched;
        searched.retain(|known, _| scene.living(ProcessRole::Target).any(|process| key(process) == *known));
        let mut has_new = false;
        for process in scene.living(ProcessRole::Target) {
            let last = searched.get(&key(process));
            let is_due = last.is_none_or(|last| look.now.since(*last) >= SEARCH_INTERVAL_NS);
            if is_due && clock::thread_cpu_ns() < until_cpu_ns {
                searched.insert(key(process), look.now);
                has_new |= service::take_up(&mut self.logs, process, &scene.roots, (buffer, look));
            }
        }
        has_new
    }

    fn columns(&self) -> Vec<Column> {
        let of = |quantities: &[Quantity], name: &str| -> Vec<Column> {
            quantities.iter().map(|quantity| quantity.of(log_scope(name))).collect()
        };
        let files = self.logs.iter().flat_map(|log| of(&OF_FILE, &log.owner.log));
        of(&OF_KERNEL, KERNEL_LOG).into_iter().chain(files).collect()
    }

    /// The columns of the kernel's log come first, then those of each file.
    fn write(&mut self) {
        let reason = self.kernel.as_ref().and_then(KernelLog::unavailable);
        write(&mut self.table, 0, &counts(&self.kernel_tally), reason);
        for (index, log) in self.logs.iter().enumerate() {
            let position = OF_KERNEL.len() + index * OF_FILE.len();
            let [lines, errors, warnings] = counts(&log.tally);
            let values = [lines, errors, warnings, log.skipped_bytes()];
            write(&mut self.table, position, &values, log.unavailable());
        }
    }

    fn tell(&mut self, scene: &mut Watchlist, look: &LogLook) {
        let kernel = LogOwner { log: KERNEL_LOG.into(), pid: None, command: None };
        let mut due = self.kernel_tally.due(&kernel, look, &mut self.allowance);
        for log in &mut self.logs {
            due.extend(log.tally.due(&log.owner, look, &mut self.allowance));
        }
        scene.note_logged(due);
    }
}

fn counts(tally: &LogTally) -> [Option<u64>; OF_KERNEL.len()] {
    [tally.lines_count, tally.errors_count, tally.warnings_count].map(Some)
}

fn write(table: &mut Table, position: usize, values: &[Option<u64>], reason: Option<&str>) {
    for (offset, value) in values.iter().enumerate() {
        table.set_count(position + offset, value.filter(|_| reason.is_none()));
        table.explain(position + offset, reason);
    }
}

impl Collector for LogCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        self.table.clear();
        if pass.scene.roots.is_host() && pass.is_look() {
            self.look(pass);
        }
    }

    fn hasten(&mut self) {
        self.is_asked = true;
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}
