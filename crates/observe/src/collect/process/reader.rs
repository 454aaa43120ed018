//! Reads one process.

use super::columns::{ColumnSource, PROCESS_WIDTH, ProcessValues, SOURCES, SOURCES_COUNT, THREAD_WIDTH};
use super::columns::{process_columns, thread_columns};
use super::threads::Threads;
use crate::clock;
use crate::collect::cpu::tick_us;
use crate::collect::{Beat, Table};
use crate::error::ObserveError;
use crate::roots::Roots;
use crate::source::limits::{self, Limit};
use crate::source::{KeptFile, Shape, pid_io, pid_stat};
use std::path::PathBuf;
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::series::Column;

/// Descriptors of a process are counted one by one up to this many, on kernels that do not tell their number.
const MAX_COUNTED_DESCRIPTORS: usize = 65_536;

/// The reason in the columns of a process that is gone.
const ENDED: &str = "the process has ended";

/// A process with its open files and the values of the latest pass.
#[derive(Debug)]
pub(super) struct ProcessReader {
    process: WatchedProcess,
    stat: KeptFile,
    limits: KeptFile,
    storage: KeptFile,
    descriptors: PathBuf,
    threads: Threads,
    values: ProcessValues,
    latest_cpu_us: u64,
    is_gone: bool,
    /// Whether it is a process of this host: a recorded tree has no clocks, and its folders have other sizes.
    is_live: bool,
    /// Why a source could not be read when it was last looked for.
    reasons: [Option<String>; SOURCES_COUNT],
    are_reasons_new: bool,
}

impl ProcessReader {
    pub(super) fn new(roots: &Roots, process: &WatchedProcess) -> ProcessReader {
        let folder = roots.in_proc(&process.pid.to_string());
        ProcessReader {
            process: process.clone(),
            stat: KeptFile::new(folder.join("stat"), Shape::Whole),
            limits: KeptFile::new(folder.join("limits"), Shape::Whole),
            storage: KeptFile::new(folder.join("io"), Shape::Whole),
            descriptors: folder.join("fd"),
            threads: Threads::new(folder.join("task")),
            values: ProcessValues::default(),
            latest_cpu_us: 0,
            is_gone: false,
            is_live: roots.is_host(),
            reasons: Default::default(),
            are_reasons_new: false,
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
        self.limits.keep(threads_count > 0);
        self.storage.keep(threads_count > 0);
        self.threads.keep_open(threads_count);
    }

    /// Columns of the process and its threads.
    pub(super) fn columns(&self) -> Vec<Column> {
        let pid = self.process.pid;
        let explain = |(column, source): (Column, ColumnSource)| {
            let reason = if self.is_gone {
                &self.reasons[ColumnSource::Stat as usize]
            } else {
                &self.reasons[source as usize]
            };
            Column { unavailable: reason.clone(), ..column }
        };
        let own = process_columns(&format!("process:{pid}")).into_iter().zip(SOURCES);
        let of_threads = self.threads.ids().flat_map(|id| thread_columns(&format!("thread:{pid}/{id}")));
        own.chain(of_threads.map(|column| (column, ColumnSource::Schedule))).map(explain).collect()
    }

    /// Whether the reasons in the columns changed since this was last asked.
    pub(super) fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.are_reasons_new)
    }

    /// Number of those columns.
    pub(super) fn width(&self) -> usize {
        PROCESS_WIDTH + THREAD_WIDTH * self.threads_count()
    }

    /// Reads it; afterwards it may be gone. Twice a second also its threads' states and descriptors; once a second what
    /// costs most, and the reasons of what failed.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>, beat: Beat) {
        self.values = ProcessValues::default();
        if self.is_gone {
            return;
        }
        self.threads.read(buffer);
        if beat >= Beat::HalfSecond {
            let sampler = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
            self.threads.read_states(buffer, sampler);
        }
        let stat = self.read_stat(buffer);
        if beat == Beat::Second || self.is_gone {
            self.explain(ColumnSource::Stat, stat.err());
            self.explain(ColumnSource::Schedule, self.threads.failure().map(str::to_owned));
        }
        if self.is_gone {
            return;
        }
        self.values.run_delay_us = self.threads.run_delay_ns().map(|delay_ns| delay_ns / 1000);
        if beat >= Beat::HalfSecond {
            self.values.fds_count = self.descriptors_size();
        }
        if beat == Beat::Second {
            self.read_slow(buffer);
        }
    }

    /// Reads what costs most.
    fn read_slow(&mut self, buffer: &mut Vec<u8>) {
        if self.values.fds_count.is_none() {
            let counted = self.count_descriptors();
            self.values.fds_count = counted.as_ref().ok().copied();
            self.explain(ColumnSource::Descriptors, counted.err());
        }
        let limit = self.read_limit(buffer);
        self.values.fds_limit_count = limit.as_ref().ok().copied();
        self.explain(ColumnSource::Limits, limit.err());
        let switches = self.threads.read_switches(buffer);
        let [voluntary, involuntary] = switches.as_ref().map_or([None; 2], |counts| counts.map(Some));
        (self.values.voluntary_switches_count, self.values.involuntary_switches_count) =
            (voluntary, involuntary);
        self.explain(ColumnSource::Switches, switches.err());
        let storage = self.read_storage(buffer);
        let [read, written] = storage.as_ref().map_or([None; 2], |bytes| bytes.map(Some));
        (self.values.read_bytes, self.values.written_bytes) = (read, written);
        self.explain(ColumnSource::Storage, storage.err());
    }

    fn explain(&mut self, source: ColumnSource, reason: Option<String>) {
        let place = &mut self.reasons[source as usize];
        self.are_reasons_new |= *place != reason;
        *place = reason;
    }

    /// Reads `stat`, or finds that the process is gone.
    fn read_stat(&mut self, buffer: &mut Vec<u8>) -> Result<(), String> {
        let text = match self.stat.read(buffer) {
            Ok(text) => text,
            Err(error) => {
                self.is_gone = !self.stat.path().exists();
                return Err(if self.is_gone { ENDED.to_owned() } else { error.to_string() });
            }
        };
        let stat = pid_stat::parse(text);
        let stat = stat.map_err(|error| ObserveError::malformed(self.stat.path())(error).to_string())?;
        if stat.start_ticks != self.process.start_ticks || stat.is_dead() {
            self.is_gone = true;
            return Err(ENDED.to_owned());
        }
        let values = &mut self.values;
        let to_us = |ticks: u64| ticks.saturating_mul(tick_us());
        let (user_us, system_us) = (to_us(stat.user_ticks), to_us(stat.system_ticks));
        (values.user_us, values.system_us) = (Some(user_us), Some(system_us));
        values.reaped_us = Some(to_us(stat.reaped_ticks));
        values.rss_bytes = Some(stat.rss_pages.saturating_mul(rustix::param::page_size() as u64));
        values.major_faults_count = Some(stat.major_faults_count);
        values.threads_count = Some(stat.threads_count);
        let of_only = |state| (stat.threads_count == 1).then_some(u64::from(stat.state == state));
        values.running_threads_count = self.threads.count_in_state(b'R').or(of_only(b'R'));
        values.uninterruptible_threads_count = self.threads.count_in_state(b'D').or(of_only(b'D'));
        let clock_ns = if self.is_live { clock::process_cpu_ns(self.process.pid) } else { None };
        let cpu_us = clock_ns.map_or(user_us.saturating_add(system_us), |cpu_ns| cpu_ns / 1000);
        // The two sources differ by some ticks; the counter does not fall when one takes the other's place.
        self.latest_cpu_us = cpu_us.max(self.latest_cpu_us);
        values.cpu_us = Some(self.latest_cpu_us);
        Ok(())
    }

    /// Open descriptors as the size of their folder; `None`: a kernel before 6.2 does not tell it.
    fn descriptors_size(&self) -> Option<u64> {
        let size = rustix::fs::stat(&self.descriptors).ok().filter(|_| self.is_live)?.st_size;
        u64::try_from(size).ok().filter(|size| *size > 0)
    }

    /// Open descriptors, counted one by one.
    fn count_descriptors(&self) -> Result<u64, String> {
        let listed = std::fs::read_dir(&self.descriptors);
        let listed =
            listed.map_err(|error| ObserveError::io("list", &self.descriptors)(error).to_string())?;
        Ok(listed.take(MAX_COUNTED_DESCRIPTORS).count() as u64)
    }

    fn read_limit(&mut self, buffer: &mut Vec<u8>) -> Result<u64, String> {
        let text = self.limits.read(buffer).map_err(|error| error.to_string())?;
        let limits = limits::parse_open_files(text);
        match limits.map_err(|error| ObserveError::malformed(self.limits.path())(error).to_string())?.soft {
            Limit::At(count) => Ok(count),
            Limit::Unlimited => Err("the process has no limit".to_owned()),
        }
    }

    /// Bytes read from and written to storage.
    fn read_storage(&mut self, buffer: &mut Vec<u8>) -> Result<[u64; 2], String> {
        let text = self.storage.read(buffer).map_err(|error| error.to_string())?;
        let usage = pid_io::parse(text);
        let usage = usage.map_err(|error| ObserveError::malformed(self.storage.path())(error).to_string())?;
        Ok([usage.read_bytes, usage.written_bytes])
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
