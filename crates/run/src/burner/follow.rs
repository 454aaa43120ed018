//! How much CPU time processes use, which their burnt time follows.

use super::debt::BurnDebt;
use crate::clock;
use std::collections::HashMap;
use std::time::Duration;
use sysdyno_observe::clock::process_cpu_ns;
use sysdyno_observe::descendants;
use sysdyno_record::units::MonoNs;

/// How often processes are looked at, a few of them; more of them less often.
const STEP: Duration = Duration::from_millis(2);
const PROCESSES_A_STEP: usize = 16;
const MAX_STEPS: usize = 10;

/// How often their descendants are looked for.
const SEARCH: Duration = Duration::from_millis(500);

/// Processes and their descendants.
pub(super) struct CpuFollower {
    roots: Vec<u32>,
    /// CPU time of each when it was last looked at. Unit: nanoseconds.
    used: HashMap<u32, u64>,
    next_search: MonoNs,
}

impl CpuFollower {
    pub(super) fn new(roots: Vec<u32>) -> CpuFollower {
        CpuFollower { roots, used: HashMap::new(), next_search: MonoNs(0) }
    }

    /// Adds `ratio` of what they use to the debt, as long as that is wanted.
    pub(super) fn follow(mut self, shared: &BurnDebt, ratio: f64) {
        self.search();
        while shared.goes_on() {
            let steps = self.used.len().div_ceil(PROCESSES_A_STEP).clamp(1, MAX_STEPS);
            std::thread::sleep(STEP * steps as u32);
            shared.owe((ratio * self.grown() as f64) as u64);
            if clock::monotonic() >= self.next_search {
                self.search();
            }
        }
    }

    /// CPU time since the last look. Unit: nanoseconds.
    fn grown(&mut self) -> u64 {
        let mut grown = 0;
        self.used.retain(|pid, before| {
            let now = process_cpu_ns(*pid);
            grown += now.map_or(0, |now| now.saturating_sub(*before));
            *before = now.unwrap_or(*before);
            now.is_some()
        });
        grown
    }

    /// Looks for processes that were started meanwhile.
    fn search(&mut self) {
        for pid in descendants(&self.roots) {
            if let Some(now) = process_cpu_ns(pid) {
                self.used.entry(pid).or_insert(now);
            }
        }
        self.next_search = clock::monotonic().after(SEARCH);
    }
}
