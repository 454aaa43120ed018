//! CPU time being burnt: a thread on each CPU, and one that says how much.
//!
//! The threads run before all ordinary ones, so that what they burn is missing on their CPU however busy that is. Each burns
//! in short slices, so that nobody waits long.

use super::BurntTime;
use super::debt::BurnDebt;
use super::follow::CpuFollower;
use crate::clock;
use crate::sys::scheduler;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use sysdyno_observe::clock::thread_cpu_ns;
use sysdyno_record::squeeze::{BurnKind, BurnSpec};

/// An order ends by itself after this.
const LIMIT: Duration = Duration::from_secs(3600);

/// How often threads look whether there is something to burn.
const STEP_NS: u64 = 2_000_000;

/// Period of a burner that takes a part of all time; all of its threads begin at the same instant, so that no thread of
/// others can go to another CPU meanwhile.
const DUTY_NS: u64 = 5_000_000;

/// Longest time in one go. Unit: nanoseconds.
const MAX_SLICE_NS: u64 = 4_000_000;

/// CPU time being burnt.
pub(super) struct Burning {
    shared: Arc<BurnDebt>,
    threads: Vec<JoinHandle<()>>,
}

impl Burning {
    pub(super) fn start(spec: BurnSpec) -> Burning {
        let shared = Arc::new(BurnDebt {
            stop: AtomicBool::new(false),
            until: clock::monotonic().after(LIMIT),
            debts: spec.cpus.iter().map(|_| AtomicU64::new(0)).collect(),
            burnt: AtomicU64::new(0),
            due: AtomicU64::new(0),
        });
        let ratio = spec.ratio.clamp(0.0, 1.0);
        let is_duty = spec.kind == BurnKind::Duty;
        let mut threads = Vec::new();
        for (place, cpu) in spec.cpus.iter().copied().enumerate() {
            let shared = Arc::clone(&shared);
            threads.push(std::thread::spawn(move || {
                settle(Some(cpu));
                if is_duty { part_of_time(&shared, ratio) } else { pay(&shared, place) }
            }));
        }
        if let BurnKind::Follow(roots) = spec.kind {
            let shared = Arc::clone(&shared);
            threads.push(std::thread::spawn(move || {
                settle(None);
                CpuFollower::new(roots).follow(&shared, ratio);
            }));
        }
        Burning { shared, threads }
    }

    /// Ends it; what was burnt.
    pub(super) fn stop(self) -> BurntTime {
        self.shared.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            // There is no panic to pass on.
            let _ = thread.join();
        }
        let seconds = |time: &AtomicU64| time.load(Ordering::Relaxed) as f64 / 1e9;
        BurntTime { burnt_s: seconds(&self.shared.burnt), due_s: seconds(&self.shared.due) }
    }
}

/// Puts the calling thread on a CPU, before all ordinary threads. What that fails of shows in what is burnt.
fn settle(cpu: Option<u32>) {
    let _ = scheduler::run_first();
    if let Some(cpu) = cpu {
        let mut set = CpuSet::new();
        if (cpu as usize) < CpuSet::MAX_CPU {
            set.set(cpu as usize);
            let _ = sched_setaffinity(None, &set);
        }
    }
}

/// Burns a part of each period.
fn part_of_time(shared: &BurnDebt, ratio: f64) {
    let slice_ns = (ratio * DUTY_NS as f64) as u64;
    while shared.goes_on() {
        sleep_until_multiple(DUTY_NS);
        shared.due.fetch_add(slice_ns, Ordering::Relaxed);
        shared.burnt.fetch_add(burn(slice_ns), Ordering::Relaxed);
    }
}

/// Burns what this place owes.
fn pay(shared: &BurnDebt, place: usize) {
    let Some(debt) = shared.debts.get(place) else { return };
    while shared.goes_on() {
        sleep_until_multiple(STEP_NS);
        let slice_ns = debt.load(Ordering::Relaxed).min(MAX_SLICE_NS);
        if slice_ns > 0 {
            let burnt = burn(slice_ns);
            shared.burnt.fetch_add(burnt, Ordering::Relaxed);
            debt.fetch_sub(burnt.min(debt.load(Ordering::Relaxed)), Ordering::Relaxed);
        }
    }
}

/// Sleeps until the clock is at a multiple of this time.
fn sleep_until_multiple(nanoseconds: u64) {
    let now = clock::monotonic().0;
    std::thread::sleep(Duration::from_nanos(nanoseconds - now % nanoseconds));
}

/// Uses so much CPU time; how much it was.
fn burn(nanoseconds: u64) -> u64 {
    let begin = thread_cpu_ns();
    let mut used = 0;
    while used < nanoseconds {
        std::hint::spin_loop();
        used = thread_cpu_ns() - begin;
    }
    used
}
