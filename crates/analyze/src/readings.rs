//! The kernel's readings inside a span of time: differences of counters, gauges, and what they say about CPUs.
//!
//! Invariants: a column that is missing or empty gives `None`, never 0; every ratio is finite. A counter's difference
//! is the sum of its upward steps, so that a wrap-around or a restart loses one step instead of inventing a huge one.

use std::ops::Range;
use sysdyno_record::column::{self, Quantity};
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::series::{GaugeSpread, Series};
use sysdyno_record::units::MonoNs;

/// A span of the time axis with the rows of the series that lie in it.
#[derive(Clone, Debug)]
pub struct Window<'a> {
    series: &'a Series,
    rows: Range<usize>,
    /// Begin of the span.
    pub begin: MonoNs,
    /// End of the span.
    pub end: MonoNs,
}

/// How much a counter grew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Sum of the upward steps. Unit: that of the column.
    pub amount: f64,
    /// Time between the first and the last reading. Unit: seconds.
    pub seconds: f64,
    /// When these two were taken.
    pub between: [MonoNs; 2],
}

impl Growth {
    /// Growth per second; `None` if no time passed.
    pub fn per_second(&self) -> Option<f64> {
        ratio(self.amount, self.seconds)
    }
}

/// The values of a gauge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Mean of the readings.
    pub mean: f64,
    /// Greatest reading.
    pub max: f64,
    /// Last reading.
    pub last: f64,
    /// Share of the readings that were above zero.
    pub present_ratio: f64,
}

/// CPU time and run delay of a thread.
const THREAD: [Quantity; 2] = [column::THREAD_CPU, column::THREAD_RUN_DELAY];
/// The same of a process that has one thread.
const PROCESS: [Quantity; 2] = [column::PROCESS_CPU, column::PROCESS_RUN_DELAY];

/// Rows before and after a span in which the readings next to it are looked for; not every column is read in every row.
const EDGE_ROWS: usize = 50;

/// Quotient of two numbers; `None` if it is not a finite number.
pub(crate) fn ratio(part: f64, whole: f64) -> Option<f64> {
    let quotient = part / whole;
    (whole != 0.0 && quotient.is_finite()).then_some(quotient)
}

impl<'a> Window<'a> {
    /// The rows of `series` that were taken inside the span.
    pub fn new(series: &'a Series, begin: MonoNs, end: MonoNs) -> Window<'a> {
        Window { series, rows: series.rows_within(begin, end), begin, end }
    }

    /// The span in pieces that begin and end with a reading of this counter, each at least so long. Unit: seconds.
    pub fn pieces(&self, counter: Quantity, scope: &str, least: f64) -> Vec<Window<'a>> {
        let Some(values) = self.series.values(counter.name, scope) else { return Vec::new() };
        let is_read = |row: &usize| values.get(*row).is_some_and(Option::is_some);
        let mut read = self.rows.clone().filter(is_read).map(|row| self.series.windows()[row]);
        let Some([mut begin, _]) = read.next() else { return Vec::new() };
        let mut pieces = Vec::new();
        for [next, end] in read {
            if end.seconds_since(begin) >= least {
                pieces.push(Window::new(self.series, begin, end));
                begin = next;
            }
        }
        pieces
    }

    /// Length of the span. Unit: seconds.
    pub fn seconds(&self) -> f64 {
        self.end.seconds_since(self.begin)
    }

    /// Scopes that have a column of this quantity.
    pub fn scopes(&self, quantity: Quantity) -> Vec<&'a str> {
        self.series.scopes(quantity.name).collect()
    }

    /// Growth of a counter between the first and the last reading of the span.
    ///
    /// `None`: no such column, or fewer than two readings.
    pub fn growth(&self, counter: Quantity, scope: &str) -> Option<Growth> {
        self.growth_in(self.rows.clone(), counter, scope)
    }

    /// How much a counter grew from the last reading before the span to the first after it, so that nothing at the edges
    /// is missed.
    ///
    /// `None`: as [`Window::growth`].
    pub fn occurrences(&self, counter: Quantity, scope: &str) -> Option<f64> {
        self.growth_around(counter, scope).map(|growth| growth.amount)
    }

    /// The same; `None` also if the counter was not read both before the span began and after it ended.
    pub fn all_occurrences(&self, counter: Quantity, scope: &str) -> Option<f64> {
        let growth = self.growth_around(counter, scope)?;
        let is_whole = growth.between[0] <= self.begin && self.end <= growth.between[1];
        is_whole.then_some(growth.amount)
    }

    fn growth_around(&self, counter: Quantity, scope: &str) -> Option<Growth> {
        let values = self.series.values(counter.name, scope)?;
        let first = self.rows.start.saturating_sub(EDGE_ROWS);
        let last = (self.rows.end + EDGE_ROWS).min(values.len());
        let before = values.get(first..self.rows.start)?.iter().rposition(Option::is_some);
        let after = values.get(self.rows.end..last)?.iter().position(Option::is_some);
        let start = before.map_or(self.rows.start, |index| first + index);
        let end = after.map_or(self.rows.end, |index| self.rows.end + index + 1);
        self.growth_in(start..end, counter, scope)
    }

    fn growth_in(&self, rows: Range<usize>, counter: Quantity, scope: &str) -> Option<Growth> {
        let values = self.series.values(counter.name, scope)?.get(rows.clone())?;
        let mut known =
            values.iter().enumerate().filter_map(|(index, value)| value.map(|value| (index, value)));
        let (first, mut previous) = known.next()?;
        let (mut last, mut amount) = (first, 0.0);
        for (index, value) in known {
            amount += (value - previous).max(0.0);
            (last, previous) = (index, value);
        }
        let between = [first, last].map(|index| self.series.windows()[rows.start + index][1]);
        let seconds = between[1].seconds_since(between[0]);
        (last > first && amount.is_finite()).then_some(Growth { amount, seconds, between })
    }

    /// Readings of a gauge inside the span.
    ///
    /// `None`: no such column or no reading.
    pub fn level(&self, gauge: Quantity, scope: &str) -> Option<Level> {
        self.level_where(gauge, scope, |_| true)
    }

    /// The same of those readings beside which there is one of the other gauge.
    pub fn level_beside(&self, gauge: Quantity, scope: &str, other: (Quantity, &str)) -> Option<Level> {
        let beside = self.series.values(other.0.name, other.1)?;
        self.level_where(gauge, scope, |row| beside.get(row).is_some_and(Option::is_some))
    }

    fn level_where(&self, gauge: Quantity, scope: &str, is_wanted: impl Fn(usize) -> bool) -> Option<Level> {
        let position = self.series.position(gauge.name, scope)?;
        let mut level: Option<Level> = None;
        let (mut sum, mut count, mut present) = (0.0, 0.0, 0.0);
        for row in self.rows.clone().filter(|row| is_wanted(*row)) {
            let Some(value) = self.series.values_at(position)[row].filter(|value| value.is_finite()) else {
                continue;
            };
            let present_ratio = f64::from(value > 0.0);
            let same = GaugeSpread { low: value, high: value, mean: value, present_ratio };
            let spread = self.series.gauge_spread(position, row).unwrap_or(same);
            let weight = f64::from(self.series.samples_counts()[row]);
            sum += spread.mean * weight;
            count += weight;
            present += spread.present_ratio * weight;
            level = Some(Level {
                mean: sum / count,
                max: level.map_or(spread.high, |so_far| so_far.max.max(spread.high)),
                last: value,
                present_ratio: present / count,
            });
        }
        level.filter(|level| level.mean.is_finite())
    }

    /// Whether a column had a reading in the span and has none in the last row in which another column of this quantity has.
    ///
    /// A row without any of them was left out by the sampler and says nothing about one of them.
    pub fn went_silent(&self, quantity: Quantity, scope: &str) -> bool {
        let name = quantity.name;
        let rows = |scope| self.series.values(name, scope).and_then(|values| values.get(self.rows.clone()));
        let last_read = |scope| rows(scope).and_then(|values| values.iter().rposition(Option::is_some));
        let last_of_any = self.series.scopes(name).filter_map(last_read).max();
        last_read(scope).is_some_and(|last| Some(last) < last_of_any)
    }

    /// What each CPU did, in the order of the columns; CPUs without readings are left out.
    pub fn cpus(&self) -> Vec<CpuShare> {
        self.scopes(column::CPU_IDLE).into_iter().filter_map(|scope| self.cpu(scope)).collect()
    }

    fn cpu(&self, scope: &str) -> Option<CpuShare> {
        let amount = |time: Quantity| self.growth(time, scope).map_or(0.0, |growth| growth.amount);
        let idle = self.growth(column::CPU_IDLE, scope)?.amount + amount(column::CPU_IOWAIT);
        let user = amount(column::CPU_USER) + amount(column::CPU_NICE);
        let system = amount(column::CPU_SYSTEM);
        let softirq = amount(column::CPU_SOFTIRQ) + amount(column::CPU_IRQ);
        let steal = amount(column::CPU_STEAL);
        let total = idle + user + system + softirq + steal;
        Some(CpuShare {
            scope: scope.to_owned(),
            busy_ratio: ratio(total - idle, total)?,
            user_ratio: ratio(user, total)?,
            system_ratio: ratio(system, total)?,
            softirq_ratio: ratio(softirq, total)?,
            steal_ratio: ratio(steal, total)?,
        })
    }

    /// The mean over all CPUs.
    ///
    /// `None`: no CPU has readings.
    pub fn machine(&self) -> Option<MachineShare> {
        let cpus = self.cpus();
        let count = cpus.len() as f64;
        let mean = |share: fn(&CpuShare) -> f64| cpus.iter().map(share).sum::<f64>() / count;
        (!cpus.is_empty()).then(|| MachineShare {
            cpus: cpus.len(),
            busy_ratio: mean(|cpu| cpu.busy_ratio),
            user_ratio: mean(|cpu| cpu.user_ratio),
            system_ratio: mean(|cpu| cpu.system_ratio),
            softirq_ratio: mean(|cpu| cpu.softirq_ratio),
            steal_ratio: mean(|cpu| cpu.steal_ratio),
        })
    }

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

/// Pieces in which programs that end are accounted for. Unit: seconds.
const STARTED_PIECE_S: f64 = 1.0;

/// Of the time of programs that ended, the most in one piece, where they come and go. Unit: ratio.
const STARTED_MOST: f64 = 0.35;

/// A tick of the clock that starts of processes are counted in (`USER_HZ`). Unit: nanoseconds.
const TICK_NS: u64 = 10_000_000;

/// When a process was started.
pub(crate) fn started_at(process: &WatchedProcess) -> MonoNs {
    MonoNs(process.start_ticks.saturating_mul(TICK_NS))
}

/// The scope of a process's columns.
pub(crate) fn process_scope(process: &WatchedProcess) -> String {
    format!("process:{}", process.pid)
}

/// Sum of the known values; `None` if none is known.
pub(crate) fn sum_known(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}

/// What one CPU did, as shares of its time.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuShare {
    /// `cpu:N`.
    pub scope: String,
    /// All but idle and iowait.
    pub busy_ratio: f64,
    /// User code, niced included.
    pub user_ratio: f64,
    /// Kernel code on behalf of processes.
    pub system_ratio: f64,
    /// Interrupts, hard and soft.
    pub softirq_ratio: f64,
    /// Taken by the hypervisor.
    pub steal_ratio: f64,
}

impl CpuShare {
    /// The CPU's number as it is printed.
    pub fn number(&self) -> &str {
        self.scope.trim_start_matches("cpu:")
    }
}

/// What all CPUs did, as shares of their time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineShare {
    /// How many there are.
    pub cpus: usize,
    /// All but idle and iowait.
    pub busy_ratio: f64,
    /// User code, niced included.
    pub user_ratio: f64,
    /// Kernel code on behalf of processes.
    pub system_ratio: f64,
    /// Interrupts, hard and soft.
    pub softirq_ratio: f64,
    /// Taken by the hypervisor.
    pub steal_ratio: f64,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{SeriesBuilder, at};
    use sysdyno_record::column::HOST;
    use sysdyno_record::event::ProcessRole;

    #[test]
    fn a_counter_that_wraps_loses_one_step() {
        let series =
            SeriesBuilder::new(1.0).column("softnet.dropped_count", "cpu:0", &[5.0, 9.0, 1.0, 3.0]).build();
        let window = Window::new(&series, MonoNs(0), MonoNs(10_000_000_000));
        let growth = window.growth(column::SOFTNET_DROPPED, "cpu:0").expect("has readings");
        assert_eq!((growth.amount, growth.seconds), (6.0, 3.0));
    }

    #[test]
    fn a_process_counts_for_the_time_in_which_it_was_there() {
        let half = [None, None, None, Some(0.0), Some(1e6)];
        let series = SeriesBuilder::new(1.0)
            .column("process.cpu_us", "process:1", &[0.0, 5e5, 1e6, 1.5e6, 2e6])
            .set("process.cpu_us", "process:2", half.to_vec())
            .build();
        let window = Window::new(&series, MonoNs(0), MonoNs(10_000_000_000));
        let process = |pid, start_ticks| WatchedProcess::new(pid, start_ticks, "x", ProcessRole::Target);
        let [one, two, three] = [(1, 1), (2, 1_000), (3, 1)].map(|(pid, start)| process(pid, start));
        assert_eq!(window.process_cpus(&[&one, &two, &three]), Some(0.75), "3 s of CPU time in 4 s");
        let known_late = process(2, 1);
        let cpus = window.process_cpus(&[&one, &known_late]).expect("was read");
        assert!((cpus - 1.5).abs() < 0.01, "it was there, and was not noticed: {cpus}");
        assert_eq!(window.process_cpus(&[&three]), None);
    }

    #[test]
    fn programs_that_a_process_starts_again_and_again_count_for_it_and_one_that_lived_for_long_does_not() {
        let cpus = |reaped: &[f64]| {
            let series = SeriesBuilder::new(1.0)
                .column("process.cpu_us", "process:1", &[0.0; 9])
                .column("process.reaped_us", "process:1", reaped)
                .build();
            let window = Window::new(&series, MonoNs(0), MonoNs(10_000_000_000));
            window.cpus_with_started(&[&WatchedProcess::new(1, 1, "postgres", ProcessRole::Target)])
        };
        let steadily: Vec<f64> = (0..9).map(|second| f64::from(second) * 5e5).collect();
        assert!(cpus(&steadily).is_some_and(|cpus| (cpus - 0.5).abs() < 0.01));
        assert_eq!(cpus(&[0.0, 0.0, 0.0, 0.0, 9e7, 9e7, 9e7, 9e7, 9e7]), Some(0.0));
        assert_eq!(cpus(&[0.0; 9]), Some(0.0));
    }

    #[test]
    fn what_is_not_there_is_none() {
        let series = SeriesBuilder::new(1.0).column("kernel.forks_count", HOST, &[1.0]).build();
        let window = Window::new(&series, MonoNs(0), MonoNs(10_000_000_000));
        assert_eq!(window.growth(column::KERNEL_FORKS, HOST), None);
        assert_eq!(window.growth(column::SELF_CPU, HOST), None);
        assert_eq!(window.level(column::KERNEL_RUNNING, HOST), None);
        assert_eq!(window.machine(), None);
        assert!(window.cpus().is_empty());
    }

    #[test]
    fn an_event_at_the_edge_is_an_occurrence() {
        let series =
            SeriesBuilder::new(1.0).column("kernel.forks_count", HOST, &[0.0, 4.0, 4.0, 4.0, 6.0]).build();
        let window = Window::new(&series, MonoNs(1_500_000_000), MonoNs(3_500_000_000));
        assert_eq!(window.growth(column::KERNEL_FORKS, HOST).map(|growth| growth.amount), Some(0.0));
        assert_eq!(window.occurrences(column::KERNEL_FORKS, HOST), Some(2.0));
    }

    #[test]
    fn the_busiest_thread_of_a_process_is_awake_as_often_as_any_of_its_threads_less_the_others() {
        let threads = |running: f64| {
            let series = SeriesBuilder::over_trial(10.0)
                .counter("thread.cpu_us", "thread:7/7", 0.6e6)
                .counter("thread.cpu_us", "thread:7/8", 0.1e6)
                .gauge("process.running_threads_count", "process:7", running)
                .build();
            let process = WatchedProcess::new(7, 1, "java", ProcessRole::Target);
            let window = Window::new(&series, at(0.0), at(1e6));
            window.threads(&[&process]).iter().map(ThreadShare::wanted_ratio).collect::<Vec<_>>()
        };
        let near = |found: &[f64], expected: [f64; 2]| {
            assert!(
                found.len() == 2 && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6),
                "{found:?}"
            );
        };
        near(&threads(1.1), [1.0, 0.1]);
        near(&threads(0.3), [0.6, 0.1]);
    }
}
