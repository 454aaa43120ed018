//! Reads one process.

use super::columns::{PROCESS_WIDTH, ProcessValues, THREAD_WIDTH, process_columns, thread_columns};
use super::threads::Threads;
use crate::collect::Table;
use crate::collect::cpu::tick_us;
use crate::roots::Roots;
use crate::source::limits::{self, Limit};
use crate::source::{KeptFile, pid_stat, read_once};
use std::path::PathBuf;
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::series::Column;

/// Descriptors of a process are counted one by one up to this many, on kernels that do not tell their number.
const MAX_COUNTED_DESCRIPTORS: usize = 65_536;

/// A process with its open files and the values of the latest pass.
#[derive(Debug)]
pub(super) struct ProcessReader {
    process: WatchedProcess,
    stat: KeptFile,
    limits: PathBuf,
    descriptors: PathBuf,
    threads: Threads,
    values: ProcessValues,
    latest_cpu_us: u64,
    is_gone: bool,
}

impl ProcessReader {
    pub(super) fn new(roots: &Roots, process: &WatchedProcess) -> ProcessReader {
        let folder = roots.in_proc(&process.pid.to_string());
        ProcessReader {
            process: process.clone(),
            stat: KeptFile::new(folder.join("stat")),
            limits: folder.join("limits"),
            descriptors: folder.join("fd"),
            threads: Threads::new(folder.join("task")),
            values: ProcessValues::default(),
            latest_cpu_us: 0,
            is_gone: false,
        }
    }

    pub(super) fn is_of(&self, process: &WatchedProcess) -> bool {
        self.process.pid == process.pid && self.process.start_ticks == process.start_ticks
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.pid
    }

    pub(super) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Takes up threads that came, `room` of them at most. Returns whether the columns changed.
    pub(super) fn look(&mut self, room: usize) -> bool {
        !self.is_gone && self.threads.look(self.values.threads_count, room)
    }

    /// Threads that are followed.
    pub(super) fn threads_count(&self) -> usize {
        self.threads.ids().count()
    }

    /// Lets the files of this many threads stay open; the others are opened at each reading.
    pub(super) fn keep_open(&mut self, threads_count: usize) {
        self.stat.keep(threads_count > 0);
        self.threads.keep_open(threads_count);
    }

    /// Columns of the process and its threads.
    pub(super) fn columns(&self) -> Vec<Column> {
        let pid = self.process.pid;
        let mut all = process_columns(&format!("process:{pid}")).to_vec();
        all.extend(self.threads.ids().flat_map(|id| thread_columns(&format!("thread:{pid}/{id}"))));
        all
    }

    /// Number of those columns.
    pub(super) fn width(&self) -> usize {
        PROCESS_WIDTH + THREAD_WIDTH * self.threads_count()
    }

    /// Reads it; afterwards it may be gone.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>, is_look: bool) {
        self.values = ProcessValues::default();
        if self.is_gone {
            return;
        }
        let sampler = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
        self.threads.read(buffer, sampler);
        if self.read_stat(buffer).is_none() {
            self.is_gone = true;
            self.values = ProcessValues::default();
            return;
        }
        self.values.run_delay_us = self.threads.run_delay_ns().map(|delay_ns| delay_ns / 1000);
        self.values.fds_count = self.count_descriptors(is_look);
        if is_look {
            self.values.fds_limit_count = self.read_limit(buffer);
            let switches = self.threads.read_switches(buffer);
            self.values.voluntary_switches_count = switches.map(|[voluntary, _]| voluntary);
            self.values.involuntary_switches_count = switches.map(|[_, involuntary]| involuntary);
        }
    }

    /// `None`: the process is gone, or another one has its id.
    fn read_stat(&mut self, buffer: &mut Vec<u8>) -> Option<()> {
        let stat = pid_stat::parse(self.stat.read(buffer).ok()?).ok()?;
        if stat.start_ticks != self.process.start_ticks || stat.is_dead() {
            return None;
        }
        let values = &mut self.values;
        let (user_us, system_us) = (stat.user_ticks * tick_us(), stat.system_ticks * tick_us());
        (values.user_us, values.system_us) = (Some(user_us), Some(system_us));
        values.rss_bytes = Some(stat.rss_pages * rustix::param::page_size() as u64);
        values.threads_count = Some(stat.threads_count);
        let of_only = |state| (stat.threads_count == 1).then_some(u64::from(stat.state == state));
        values.running_threads_count = self.threads.count_in_state(b'R').or(of_only(b'R'));
        values.uninterruptible_threads_count = self.threads.count_in_state(b'D').or(of_only(b'D'));
        let only_us =
            self.threads.only_cpu_ns().filter(|_| stat.threads_count == 1).map(|cpu_ns| cpu_ns / 1000);
        // The two sources differ by some ticks; the counter does not fall when a process becomes multi-threaded.
        self.latest_cpu_us = only_us.unwrap_or(user_us + system_us).max(self.latest_cpu_us);
        values.cpu_us = Some(self.latest_cpu_us);
        Some(())
    }

    /// Open descriptors: the folder's size since kernel 6.2, else counted one by one, once a second.
    fn count_descriptors(&self, is_look: bool) -> Option<u64> {
        let size = rustix::fs::stat(&self.descriptors).ok()?.st_size;
        match u64::try_from(size) {
            Ok(0) | Err(_) if is_look => {
                let listed = std::fs::read_dir(&self.descriptors).ok()?;
                Some(listed.take(MAX_COUNTED_DESCRIPTORS).count() as u64)
            }
            Ok(0) | Err(_) => None,
            Ok(size) => Some(size),
        }
    }

    fn read_limit(&self, buffer: &mut Vec<u8>) -> Option<u64> {
        let limits = limits::parse_open_files(read_once(&self.limits, buffer).ok()?).ok()?;
        match limits.soft {
            Limit::At(count) => Some(count),
            Limit::Unlimited => None,
        }
    }

    /// Writes the values of this pass under the columns that begin at `position`.
    pub(super) fn write(&self, table: &mut Table, position: usize) {
        for (offset, value) in self.values.in_order().into_iter().enumerate() {
            table.set_count(position + offset, value);
        }
        let first = position + PROCESS_WIDTH;
        for (index, reading) in self.threads.readings().enumerate().filter(|_| !self.is_gone) {
            let at = first + index * THREAD_WIDTH;
            table.set_count(at, reading.map(|reading| reading.cpu_ns / 1000));
            table.set_count(at + 1, reading.map(|reading| reading.run_delay_ns / 1000));
        }
    }
}
