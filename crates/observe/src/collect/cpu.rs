//! Time of the CPUs, and a few totals of the scheduler: `/proc/stat`.

use super::file::{FileCollector, FilePlace, Format};
use super::{Collector, Table};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::stat::{self, CPU_STATES_COUNT, Stat};
use sysdyno_record::column::{self, HOST, Quantity};
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    let tick_us = tick_us();
    FileCollector::boxed(FilePlace::Proc("stat"), CpuFormat { stat: Stat::default(), cpus: vec![], tick_us })
}

/// Length of a tick of `USER_HZ`. Unit: microseconds.
pub(super) fn tick_us() -> u64 {
    1_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// Times of a CPU, in the order of the kernel.
const TIMES: [Quantity; CPU_STATES_COUNT] = [
    column::CPU_USER,
    column::CPU_NICE,
    column::CPU_SYSTEM,
    column::CPU_IDLE,
    column::CPU_IOWAIT,
    column::CPU_IRQ,
    column::CPU_SOFTIRQ,
    column::CPU_STEAL,
];

struct CpuFormat {
    stat: Stat,
    /// CPUs that have columns.
    cpus: Vec<u32>,
    tick_us: u64,
}

impl Format for CpuFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, _roots: &Roots) -> Result<(), ParseError> {
        stat::parse(text, &mut self.stat)?;
        if !self.stat.cpus.iter().map(|times| &times.cpu).eq(&self.cpus) || table.columns().is_empty() {
            self.cpus = self.stat.cpus.iter().map(|times| times.cpu).collect();
            table.replace(columns(&self.cpus));
        }
        let totals = [self.stat.context_switches_count, self.stat.forks_count, self.stat.running_count];
        for (position, total) in totals.into_iter().enumerate() {
            table.set_count(position, total);
        }
        let ticks = self.stat.cpus.iter().flat_map(|times| times.ticks);
        for (position, ticks) in ticks.enumerate() {
            table.set(totals.len() + position, ticks as f64 * self.tick_us as f64);
        }
        Ok(())
    }

    fn absent(&self) -> Vec<Column> {
        let mut all = totals();
        all.extend(TIMES.iter().map(|time| time.of("cpu:*")));
        all
    }
}

fn totals() -> Vec<Column> {
    vec![
        column::KERNEL_CONTEXT_SWITCHES.of(HOST),
        column::KERNEL_FORKS.of(HOST),
        column::KERNEL_RUNNING.of(HOST),
    ]
}

fn columns(cpus: &[u32]) -> Vec<Column> {
    let mut all = totals();
    for cpu in cpus {
        let scope = format!("cpu:{cpu}");
        all.extend(TIMES.iter().map(|time| time.of(scope.as_str())));
    }
    all
}
