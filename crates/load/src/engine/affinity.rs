//! Where generator threads run: each on its own CPU, the last CPUs first, since interrupts and services tend to use CPU 0
//! first. This process's other threads keep off these CPUs; otherwise they would make the generator late.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The greatest share that a thread of usual kind can have; see sched(7), "The nice value".
const HIGHEST_PRIORITY: i32 = -20;

/// The CPUs for so many threads; `None` for a thread that stays free to move.
pub(super) fn choose(threads: u32) -> Vec<Option<u32>> {
    let allowed = sched_getaffinity(None).map(|set| list(&set)).unwrap_or_default();
    let is_enough = threads as usize <= allowed.len();
    (0..threads as usize)
        .map(|thread| if is_enough { Some(allowed[allowed.len() - 1 - thread]) } else { None })
        .collect()
}

/// While it lives, the thread that made it, and the threads that it starts, run on none of the generator's CPUs.
#[derive(Debug)]
pub struct Aside {
    /// What was allowed before; `None` if nothing was changed.
    before: Option<CpuSet>,
}

impl Aside {
    /// Leaves the CPUs of so many generator threads to them, if there are others.
    pub fn step(threads: u32) -> Aside {
        let before = sched_getaffinity(None).ok();
        let before = before.filter(|before| {
            let mut rest = *before;
            choose(threads).into_iter().flatten().for_each(|cpu| rest.unset(cpu as usize));
            rest.count() > 0 && sched_setaffinity(None, &rest).is_ok()
        });
        Aside { before }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Without it, this thread merely stays where it is.
            let _ = sched_setaffinity(None, before);
        }
    }
}

fn list(set: &CpuSet) -> Vec<u32> {
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect()
}

/// Pins the calling thread; whether that succeeded.
pub(super) fn pin(cpu: u32) -> bool {
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    sched_setaffinity(None, &set).is_ok()
}

/// Lets nothing of usual priority take the CPU from the calling thread for long, if the user may do that; for a thread
/// whose CPU nobody else needs.
pub(super) fn prefer() {
    // Without the right to, a stray process makes it late, which the slip tells.
    let _ = rustix::process::setpriority_process(None, HIGHEST_PRIORITY);
}
