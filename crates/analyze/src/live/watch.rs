//! A host while it is watched: its latest rows of readings, the watched processes, and what each process used.

use super::frame::frame;
use super::now::Latest;
use super::threads::ThreadLog;
use crate::findings::seen_now;
use crate::readings::ratio;
use std::collections::HashMap;
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::live::{HostFrame, ListedProcess, LiveFinding, ProcessFrame, ProcessThreads};
use sysdyno_record::plan::Endpoint;
use sysdyno_record::series::{Series, SeriesLine};
use sysdyno_record::units::{SpanNs, WallNs};

/// Rows after which the oldest are forgotten, and rows that stay then.
const ROWS_MAX: usize = 64;
const ROWS_KEPT: usize = 16;

/// Rows that findings look at.
const FINDING_ROWS: usize = 10;

/// Maximum number of processes in a frame.
const PROCESSES_MAX: usize = 32;

/// The state of a host that is kept between frames. It does not grow with time.
#[derive(Clone, Debug, Default)]
pub struct HostWatch {
    series: Series,
    watched: Vec<WatchedProcess>,
    listed: HashMap<u32, ListedProcess>,
    listed_at_seconds: Option<f64>,
    processes: Vec<ProcessFrame>,
    threads: ThreadLog,
    /// Who listens, by address.
    owners: HashMap<String, String>,
}

impl HostWatch {
    /// Takes a line of the sampler; returns whether it was a sample.
    pub fn take(&mut self, line: SeriesLine) -> bool {
        let is_row = matches!(line, SeriesLine::Row(_));
        if let SeriesLine::Header { came, .. } = &line {
            self.add(came);
        }
        self.series.push(line);
        if self.series.windows().len() > ROWS_MAX {
            self.forget();
        }
        is_row
    }

    /// Processes that are watched from now on.
    pub fn add(&mut self, came: &[WatchedProcess]) {
        for process in came {
            match self.watched.iter_mut().find(|known| known.is_same(process)) {
                Some(known) => *known = process.clone(),
                None => self.watched.push(process.clone()),
            }
        }
    }

    /// Who listens at an address; `None`: it is hidden.
    pub fn own(&mut self, address: &Endpoint, command: Option<String>) {
        self.owners.extend(command.map(|command| (crate::path::address_text(address), command)));
    }

    /// All processes of the host, and threads of the busiest, looked at at this time.
    pub fn list(&mut self, processes: Vec<ListedProcess>, threads: Vec<ProcessThreads>, at_seconds: f64) {
        self.threads.take(threads, at_seconds);
        let owners = &self.owners;
        let name = |address: &str| owners.get(address).cloned();
        let passed = self.listed_at_seconds.replace(at_seconds).map(|before| at_seconds - before);
        let used = |process: &ListedProcess| {
            let before = self.listed.get(&process.pid);
            let before = before.filter(|before| before.start_ticks == process.start_ticks)?;
            let cpus = ratio((process.cpu_seconds - before.cpu_seconds).max(0.0), passed?)?;
            let waits = self.threads.waits((process.pid, cpus), &name);
            let (pid, threads_count) = (process.pid, process.threads_count);
            Some(ProcessFrame { pid, command: process.command.clone(), cpus, threads_count, waits })
        };
        let mut frames: Vec<ProcessFrame> = processes.iter().filter_map(used).collect();
        // A process that waits for a disk uses no CPU and is worth a line all the same.
        let is_shown = |process: &ProcessFrame| {
            process.cpus > 0.0 || process.waits.iter().any(|wait| wait.what == "disk")
        };
        frames.retain(is_shown);
        frames.sort_by(|one, other| other.cpus.total_cmp(&one.cpus).then(one.pid.cmp(&other.pid)));
        frames.truncate(PROCESSES_MAX);
        self.processes = frames;
        self.listed = processes.into_iter().map(|process| (process.pid, process)).collect();
    }

    /// The host between the last two samples.
    pub fn frame(&self, at: WallNs) -> HostFrame {
        let mut frame = frame(Latest { series: &self.series, apart: SpanNs(0) }, &self.watched);
        for listener in &mut frame.listeners {
            listener.owner = self.owners.get(&listener.address).cloned();
        }
        let command = |pid: u32| self.listed.get(&pid).map(|process| process.command.clone());
        let threads = self.threads.busiest(&command, &|address| self.owners.get(address).cloned());
        HostFrame { unix_ns: at, processes: self.processes.clone(), threads, ..frame }
    }

    /// What limits it now, by the last ten samples.
    pub fn findings(&self) -> Vec<LiveFinding> {
        let windows = self.series.windows();
        let Some(last) = windows.last() else { return Vec::new() };
        let first = windows[windows.len().saturating_sub(FINDING_ROWS)];
        seen_now(&self.series, &self.watched, [first[0], last[1]])
    }

    fn forget(&mut self) {
        let columns = self.series.current().to_vec();
        let header = columns.iter().map(|position| self.series.columns()[*position].clone()).collect();
        let before = self.series.windows().len() - ROWS_KEPT;
        let rows: Vec<_> = self.series.rows(&columns).skip(before).collect();
        let mut kept = Series::default();
        kept.push(SeriesLine::header(header));
        kept.extend(rows);
        self.series = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::column::{self, HOST};
    use sysdyno_record::series::{Column, Row};
    use sysdyno_record::units::MonoNs;

    fn columns() -> Vec<Column> {
        vec![
            column::CPU_USER.of("cpu:0"),
            column::CPU_SOFTIRQ.of("cpu:0"),
            column::CPU_IDLE.of("cpu:0"),
            column::IRQ.of("irq:24/cpu:0"),
            column::MEMORY_AVAILABLE.of(HOST),
            column::SOFTNET_DROPPED.of("cpu:0"),
        ]
    }

    /// A second of a CPU that is half busy, whose line 24 interrupts 100 times, and that drops `dropped` packets in each.
    fn row(second: u64, dropped: u64) -> SeriesLine {
        let at = MonoNs(second * 1_000_000_000);
        let grown = |each: f64| Some(second as f64 * each);
        let values = vec![
            grown(300_000.0),
            grown(200_000.0),
            grown(500_000.0),
            grown(100.0),
            Some(1e9),
            grown(dropped as f64),
        ];
        SeriesLine::Row(Row::sample(at, at, values))
    }

    fn watch(seconds: u64, dropped: u64) -> HostWatch {
        let mut watch = HostWatch::default();
        watch.take(SeriesLine::header(columns()));
        (1..=seconds).for_each(|second| assert!(watch.take(row(second, dropped))));
        watch
    }

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-6)
    }

    #[test]
    fn a_frame_is_what_happened_between_the_last_two_samples() {
        let frame = watch(3, 0).frame(WallNs(7));
        assert!((frame.seconds - 1.0).abs() < 1e-9);
        assert!(near(frame.cpu.user_ratio, 0.3) && near(frame.cpus[0].softirq_ratio, 0.2), "{frame:?}");
        assert_eq!((frame.cpus[0].cpu, frame.cpu.cpu), (Some(0), None));
        assert_eq!((frame.irqs[0].line.as_str(), frame.irqs[0].by_cpu_hz.as_slice()), ("24", &[100.0][..]));
        assert!(near(frame.kernel.interrupts_hz, 100.0) && near(frame.memory.available_bytes, 1e9));
        assert_eq!(frame.kernel.switches_hz, None, "what was not read is not 0");
    }

    #[test]
    fn one_sample_has_levels_and_no_rates() {
        let frame = watch(1, 0).frame(WallNs(0));
        assert!(near(frame.memory.available_bytes, 1e9));
        assert_eq!((frame.cpu.user_ratio, frame.kernel.interrupts_hz), (None, None));
    }

    #[test]
    fn hours_take_no_more_rows_than_a_minute() {
        let watch = watch(5_000, 0);
        assert!(watch.series.windows().len() <= ROWS_MAX);
        assert!(near(watch.frame(WallNs(0)).cpu.user_ratio, 0.3));
    }

    #[test]
    fn packets_that_are_dropped_now_are_a_finding_and_those_that_are_not_are_none() {
        let findings = watch(20, 5).findings();
        assert_eq!(findings.iter().map(|finding| finding.id).collect::<Vec<_>>(), ["N04"]);
        assert!(findings[0].title.contains("on CPU 0"), "{findings:?}");
        assert!(watch(20, 0).findings().is_empty());
    }

    #[test]
    fn connections_that_wait_while_the_cpus_are_idle_are_a_full_pool() {
        let rows = |queued: f64, idle: f64| {
            let mut watch = HostWatch::default();
            let columns = vec![
                column::CPU_USER.of("cpu:0"),
                column::CPU_IDLE.of("cpu:0"),
                column::LISTENER_QUEUE.of("listener:[::]:80"),
            ];
            watch.take(SeriesLine::header(columns));
            for second in 1..=20u64 {
                let at = MonoNs(second * 1_000_000_000);
                let grown = |each: f64| Some(second as f64 * each);
                let values = vec![grown(1e6 - idle), grown(idle), Some(queued)];
                watch.take(SeriesLine::Row(Row::sample(at, at, values)));
            }
            watch.findings()
        };
        let found = rows(12.0, 900_000.0);
        assert_eq!(found.iter().map(|finding| finding.id).collect::<Vec<_>>(), ["F04"]);
        assert!(found[0].title.contains("[::]:80: 12 connections wait for a worker"), "{found:?}");
        assert!(rows(0.0, 900_000.0).is_empty());
        let full = rows(12.0, 10_000.0);
        assert!(full.iter().all(|finding| finding.id != "F04"), "the CPUs explain it: {full:?}");
    }

    #[test]
    fn a_process_is_ranked_by_what_it_used_since_it_was_listed_before() {
        let listed = |pid: u32, start_ticks: u64, cpu_seconds: f64| ListedProcess {
            pid,
            start_ticks,
            cpu_seconds,
            command: format!("p{pid}"),
            threads_count: 1,
        };
        let mut watch = HostWatch::default();
        watch.list(vec![listed(1, 1, 10.0), listed(2, 1, 5.0), listed(3, 1, 5.0)], vec![], 100.0);
        assert!(watch.frame(WallNs(0)).processes.is_empty());
        watch.list(vec![listed(1, 1, 10.5), listed(2, 1, 6.5), listed(3, 9, 50.0)], vec![], 102.0);
        let shown: Vec<_> =
            watch.frame(WallNs(0)).processes.into_iter().map(|process| (process.pid, process.cpus)).collect();
        assert_eq!(shown, [(2, 0.75), (1, 0.25)], "3 is another process than before");
    }
}
