//! Turns context switches into waits: a thread that was switched out waits until it runs again.
//!
//! A wait counts for the stack at its beginning, with its whole duration: a long one weighs more than many short ones. A
//! wait still open when sampling ends counts up to there. A thread that never ran during sampling has no stack and does not
//! appear.

use crate::stacks::{RawStack, Stacks};
use std::collections::{HashMap, HashSet};
use sysdyno_record::units::MonoNs;

/// Most threads that can wait at once, and that are remembered as ended: more than there are ids.
const THREADS_MAX: usize = 1 << 22;

/// Threads that wait now.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    waiting: HashMap<u32, Wait>,
    /// Threads that are being taken down: they are switched away from once more, and never run again.
    ended: HashSet<u32>,
    /// Waits whose beginning or end was not seen, since records were lost.
    pub(crate) unpaired_count: u64,
}

#[derive(Debug)]
struct Wait {
    since: MonoNs,
    stack: RawStack,
    is_preempted: bool,
}

impl Waits {
    /// A thread no longer runs, and this is its stack.
    pub(crate) fn begin(&mut self, tid: u32, since: MonoNs, stack: RawStack) {
        if self.ended.contains(&tid) {
            return;
        }
        let wait = Wait { since, stack, is_preempted: false };
        if self.waiting.len() >= THREADS_MAX || self.waiting.insert(tid, wait).is_some() {
            self.unpaired_count += 1;
        }
    }

    /// The thread could have run on: it lost its CPU.
    pub(crate) fn preempted(&mut self, tid: u32) {
        if let Some(wait) = self.waiting.get_mut(&tid) {
            wait.is_preempted = true;
        }
    }

    /// The thread runs again. What it waited for since before the recording is not known.
    pub(crate) fn end(&mut self, tid: u32, at: MonoNs, stacks: &mut Stacks) {
        if let Some(wait) = self.waiting.remove(&tid) {
            wait.add(at, stacks);
        }
    }

    /// The thread is new; another one may have had its id.
    pub(crate) fn born(&mut self, tid: u32) {
        self.ended.remove(&tid);
    }

    /// The thread ends.
    pub(crate) fn gone(&mut self, tid: u32) {
        self.waiting.remove(&tid);
        if self.ended.len() < THREADS_MAX {
            self.ended.insert(tid);
        }
    }

    /// The recording ends.
    pub(crate) fn finish(&mut self, at: MonoNs, stacks: &mut Stacks) {
        self.waiting.drain().for_each(|(_, wait)| wait.add(at, stacks));
    }
}

impl Wait {
    fn add(self, until: MonoNs, stacks: &mut Stacks) {
        let stack = if self.is_preempted { stacks.preempted(&self.stack) } else { self.stack };
        stacks.add(stack, until.since(self.since));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::Weight;

    #[test]
    fn a_wait_weighs_as_long_as_it_took_and_the_last_one_up_to_the_end() {
        let (mut waits, mut stacks) = (Waits::default(), Stacks::default());
        let stack = || RawStack { process: 0, frames: Box::new([7]), is_whole: false };
        waits.begin(10, MonoNs(1_000), stack());
        waits.end(10, MonoNs(4_000), &mut stacks);
        waits.begin(10, MonoNs(5_000), stack());
        waits.begin(11, MonoNs(6_000), stack());
        waits.end(99, MonoNs(6_500), &mut stacks);
        waits.gone(11);
        // Its last switch: it is dead, and does not wait.
        waits.begin(11, MonoNs(6_600), stack());
        waits.finish(MonoNs(9_000), &mut stacks);
        assert_eq!(stacks.weights[&stack()], Weight { count: 2, amount: 7_000 });
        assert_eq!((stacks.weights.len(), waits.unpaired_count), (1, 0));
    }

    #[test]
    fn who_lost_a_cpu_is_told_from_who_waited() {
        let (mut waits, mut stacks) = (Waits::default(), Stacks::default());
        let stack = || RawStack { process: 0, frames: Box::new([]), is_whole: false };
        waits.begin(10, MonoNs(0), stack());
        waits.preempted(10);
        waits.end(10, MonoNs(5), &mut stacks);
        waits.begin(10, MonoNs(10), stack());
        waits.end(10, MonoNs(11), &mut stacks);
        assert_eq!(stacks.weights[&stack()].amount, 1);
        assert_eq!(stacks.weights.len(), 2);
    }
}
