//! What processes and their threads used in a window, and how long they waited for CPUs.

use super::{Growth, Window, ratio};
use sysdyno_record::column::{self, Quantity};
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::units::MonoNs;

/// CPU time and run delay of a thread.
const THREAD: [Quantity; 2] = [column::THREAD_CPU, column::THREAD_RUN_DELAY];
/// The same of a process that has one thread.
const PROCESS: [Quantity; 2] = [column::PROCESS_CPU, column::PROCESS_RUN_DELAY];

/// Pieces in which programs that end are accounted for. Unit: seconds.
const STARTED_PIECE_S: f64 = 1.0;

/// Of the time of programs that ended, the most in one piece, where they come and go. Unit: ratio.
const STARTED_MOST: f64 = 0.35;

/// A tick of the clock that starts of processes are counted in (`USER_HZ`). Unit: nanoseconds.
const TICK_NS: u64 = 10_000_000;

impl Window<'_> {
    /// CPU time of these processes together. Unit: CPUs.
    ///
    /// `None`: none of them has readings.
    pub fn process_cpus(&self, processes: &[&WatchedProcess]) -> Option<f64> {
        self.sum_cpus(column::PROCESS_CPU, processes)
    }

    /// CPU time of programs that a process has started and waited for, as they end. Unit: CPUs. `None`: it has no readings.
    pub fn reaped_cpus(&self, process: &WatchedProcess) -> Option<f64> {
        self.sum_cpus(column::PROCESS_REAPED, &[process])
    }

    /// CPU time of programs that a process has started, and that ended before anybody could watch them; `watched`: all that were.
    /// Unit: CPUs; 0: none, or it was not read.
    pub fn started_cpus(&self, process: &WatchedProcess, watched: &[&WatchedProcess]) -> f64 {
        let Some(reaped) = self.reaped_cpus(process).filter(|reaped| *reaped > 0.0) else { return 0.0 };
        let is_child = |child: &&WatchedProcess| child.parent_pid == Some(process.pid);
        let children: Vec<&WatchedProcess> = watched.iter().copied().filter(is_child).collect();
        (reaped - self.process_cpus(&children).unwrap_or(0.0)).max(0.0)
    }

    /// The same of programs that it starts again and again. A child that lived for long is accounted for all at once when it ends:
    /// where one piece of the time has most of it, that is left out.
    pub fn steadily_started_cpus(&self, process: &WatchedProcess, watched: &[&WatchedProcess]) -> f64 {
        let started = self.started_cpus(process, watched);
        if started <= 0.0 {
            return 0.0;
        }
        let scope = process_scope(process);
        let pieces = self.pieces(column::PROCESS_REAPED, &scope, STARTED_PIECE_S);
        let grown = pieces.iter().filter_map(|piece| piece.growth(column::PROCESS_REAPED, &scope));
        let grown: Vec<f64> = grown.map(|growth| growth.amount).collect();
        let most = grown.iter().copied().fold(0.0, f64::max);
        if most <= STARTED_MOST * grown.iter().sum::<f64>() { started } else { 0.0 }
    }

    /// CPU time of these processes and of those that they start again and again. Unit: CPUs.
    ///
    /// `None`: none of them has readings.
    pub fn cpus_with_started(&self, processes: &[&WatchedProcess]) -> Option<f64> {
        let started = processes.iter().map(|process| self.steadily_started_cpus(process, processes));
        Some(self.process_cpus(processes)? + started.sum::<f64>())
    }

    /// Time in which these processes could run but had no CPU, summed over threads. Unit: CPUs.
    ///
    /// `None`: none of them has readings.
    pub fn process_run_delay(&self, processes: &[&WatchedProcess]) -> Option<f64> {
        self.sum_cpus(column::PROCESS_RUN_DELAY, processes)
    }

    /// The same as a part of the time in which they could run. Unit: ratio.
    ///
    /// `None`: none of them has readings, or they never wanted a CPU.
    pub fn run_delay_ratio(&self, processes: &[&WatchedProcess]) -> Option<f64> {
        let (waited, ran) = (self.process_run_delay(processes)?, self.process_cpus(processes)?);
        ratio(waited, waited + ran)
    }

    /// What the threads of these processes did, busiest first.
    ///
    /// A process whose threads are not listed and that has one thread stands for that thread.
    pub fn threads(&self, processes: &[&WatchedProcess]) -> Vec<ThreadShare> {
        let mut threads: Vec<ThreadShare> = Vec::new();
        let scopes = self.scopes(column::THREAD_CPU);
        for process in processes {
            let prefix = format!("thread:{}/", process.pid);
            let before = threads.len();
            for scope in scopes.iter().filter(|scope| scope.starts_with(&prefix)) {
                threads.extend(self.thread(process, scope, THREAD));
            }
            let scope = process_scope(process);
            let is_single = self.level(column::PROCESS_THREADS, &scope).is_some_and(|level| level.max <= 1.0);
            if threads.len() == before && is_single {
                threads.extend(self.thread(process, &scope, PROCESS));
            }
            self.note_awake(&mut threads[before..], &scope);
        }
        threads.sort_by(|a, b| b.busy_ratio.total_cmp(&a.busy_ratio));
        threads
    }

    /// Notes how long the busiest thread of a process was awake: as often as any of its threads was, less what the others wanted.
    fn note_awake(&self, threads: &mut [ThreadShare], scope: &str) {
        let all: f64 = threads.iter().map(ThreadShare::wanted_ratio).sum();
        let Some(first) = threads.iter_mut().max_by(|a, b| a.busy_ratio.total_cmp(&b.busy_ratio)) else {
            return;
        };
        let others = all - first.wanted_ratio();
        let running = self.level(column::PROCESS_RUNNING_THREADS, scope).map(|level| level.mean);
        first.awake_ratio = running.map(|running| (running - others).clamp(0.0, 1.0));
    }

    fn thread(&self, process: &WatchedProcess, scope: &str, times: [Quantity; 2]) -> Option<ThreadShare> {
        let [cpu, run_delay] = times;
        Some(ThreadShare {
            pid: process.pid,
            command: process.command.clone(),
            busy_ratio: self.rate_cpus(cpu, scope)?,
            run_delay_ratio: self.rate_cpus(run_delay, scope),
            awake_ratio: None,
            column: cpu.at(scope),
        })
    }

    /// Growth of a counter of microseconds of all these processes together, as a number of CPUs.
    ///
    /// Each counts for the time in which it was there: a server starts processes while it is under load, and ends them. One that was
    /// there before it was noticed did what it did then as well.
    fn sum_cpus(&self, time: Quantity, processes: &[&WatchedProcess]) -> Option<f64> {
        let grown = processes
            .iter()
            .filter_map(|process| Some((*process, self.growth(time, &process_scope(process))?)));
        let grown: Vec<(&WatchedProcess, Growth)> = grown.collect();
        let begin = grown.iter().map(|(_, growth)| growth.between[0]).min()?;
        let end = grown.iter().map(|(_, growth)| growth.between[1]).max()?;
        let amounts = grown.iter().map(|(process, growth)| {
            let started = started_at(process).max(begin);
            let unseen = growth.between[0].seconds_since(started).max(0.0);
            growth.amount * (1.0 + ratio(unseen, growth.seconds).unwrap_or(0.0))
        });
        ratio(amounts.sum(), end.seconds_since(begin)).map(|rate| rate / 1e6)
    }

    /// Growth of a counter of microseconds per second, as a number of CPUs.
    fn rate_cpus(&self, time: Quantity, scope: &str) -> Option<f64> {
        self.growth(time, scope)?.per_second().map(|rate| rate / 1e6)
    }
}

/// When a process was started.
pub(crate) fn started_at(process: &WatchedProcess) -> MonoNs {
    MonoNs(process.start_ticks.saturating_mul(TICK_NS))
}

/// The scope of a process's columns.
pub(crate) fn process_scope(process: &WatchedProcess) -> String {
    format!("process:{}", process.pid)
}

/// What one thread did, as shares of one CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadShare {
    /// Its process.
    pub pid: u32,
    /// The process's command name. Untrusted.
    pub command: String,
    /// Time on a CPU.
    pub busy_ratio: f64,
    /// Time runnable without a CPU; `None` where the kernel does not say.
    pub run_delay_ratio: Option<f64>,
    /// Share of samples in which it was on a CPU or ready for one: on a virtual CPU that the hypervisor takes away, a thread uses no time
    /// and waits for none either. `None`: not read, or it is not the busiest thread of its process.
    pub awake_ratio: Option<f64>,
    /// Column `name@scope` that shows it.
    pub column: String,
}

impl ThreadShare {
    /// Time on a CPU or waiting for one, as far as the kernel counts it.
    pub fn counted_ratio(&self) -> f64 {
        self.busy_ratio + self.run_delay_ratio.unwrap_or(0.0)
    }

    /// The same, or how long it was seen awake, if that is longer: a few looks may meet one awake that hardly ever is.
    pub fn wanted_ratio(&self) -> f64 {
        let counted = self.counted_ratio();
        let awake = self.awake_ratio.filter(|_| counted >= AWAKE_COUNTED);
        counted.max(awake.unwrap_or(0.0))
    }
}

/// CPU that a thread uses or waits for at least, by counters, for looks at it to say more. Unit: ratio of a CPU.
const AWAKE_COUNTED: f64 = 0.4;
