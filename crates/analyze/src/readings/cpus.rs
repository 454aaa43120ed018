//! What CPUs did in a window, each and all of them.

use super::{Window, ratio};
use sysdyno_record::column::{self, Quantity};

impl Window<'_> {
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
