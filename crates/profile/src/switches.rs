//! Puts together the records of a context switch: the call chain, and the copy of the stack, if there was room for one.
//!
//! Both are written before the record that the thread no longer runs, in any order. Of a copy, only the addresses of its functions
//! are here.

use crate::chain::CallChain;
use crate::unwind::{Walked, joined};
use std::collections::HashMap;
use sysdyno_record::units::MonoNs;

/// Most threads whose records are incomplete: as many as CPUs, unless records were lost.
const OPEN_MAX: usize = 1 << 16;

/// A switch away from a thread.
#[derive(Debug)]
pub(crate) struct SwitchSample {
    pub(crate) at: MonoNs,
    pub(crate) pid: u32,
    pub(crate) chain: CallChain,
}

/// A switch with all that is known of it.
#[derive(Debug)]
pub(crate) struct WholeSwitch {
    pub(crate) sample: SwitchSample,
    /// Whether the program's part of the chain is by frame pointers alone.
    pub(crate) is_uncopied: bool,
}

/// Switches by thread, until it is known that the thread no longer runs.
#[derive(Debug, Default)]
pub(crate) struct OpenSwitches {
    by_tid: HashMap<u32, Parts>,
    /// Switches that were given up.
    pub(crate) dropped_count: u64,
}

#[derive(Debug, Default)]
struct Parts {
    sample: Option<SwitchSample>,
    walked: Option<Walked>,
}

impl OpenSwitches {
    /// The call chain has come.
    pub(crate) fn sampled(&mut self, tid: u32, sample: SwitchSample) {
        self.parts(tid).sample = Some(sample);
    }

    /// The copy has come, and this is what it says.
    pub(crate) fn copied(&mut self, tid: u32, walked: Walked) {
        self.parts(tid).walked = Some(walked);
    }

    /// Nothing more will come of the switch of this thread; `None`: there was none.
    pub(crate) fn close(&mut self, tid: u32) -> Option<WholeSwitch> {
        let Parts { sample, walked } = self.by_tid.remove(&tid)?;
        let SwitchSample { at, pid, chain } = sample?;
        let is_uncopied = walked.is_none() && !chain.user.is_empty();
        let chain = match walked {
            Some(walked) => joined(chain, walked),
            None => chain,
        };
        Some(WholeSwitch { sample: SwitchSample { at, pid, chain }, is_uncopied })
    }

    /// The threads whose switches are open.
    pub(crate) fn tids(&self) -> Vec<u32> {
        self.by_tid.keys().copied().collect()
    }

    fn parts(&mut self, tid: u32) -> &mut Parts {
        if self.by_tid.len() >= OPEN_MAX && !self.by_tid.contains_key(&tid) {
            self.dropped_count += self.by_tid.len() as u64;
            self.by_tid.clear();
        }
        self.by_tid.entry(tid).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(user: &[u64]) -> SwitchSample {
        let chain = CallChain { kernel: vec![1], user: user.to_vec(), is_whole: false };
        SwitchSample { at: MonoNs(5), pid: 7, chain }
    }

    fn walked() -> Walked {
        Walked { user: vec![10, 20, 30], is_whole: true }
    }

    #[test]
    fn a_chain_and_its_copy_are_one_switch_in_any_order() {
        for is_copy_first in [true, false] {
            let mut open = OpenSwitches::default();
            if is_copy_first {
                open.copied(8, walked());
            }
            open.sampled(8, sample(&[10]));
            if !is_copy_first {
                open.copied(8, walked());
            }
            let WholeSwitch { sample, is_uncopied } = open.close(8).expect("has come");
            assert_eq!((sample.chain.user, sample.chain.is_whole), (vec![10, 20, 30], true));
            assert!(!is_uncopied && open.close(8).is_none());
        }
    }

    #[test]
    fn a_switch_without_a_copy_says_so_unless_it_has_no_program() {
        let mut open = OpenSwitches::default();
        for (user, expected) in [(&[10][..], true), (&[], false)] {
            open.sampled(8, sample(user));
            let whole = open.close(8).expect("has come");
            assert_eq!((whole.is_uncopied, whole.sample.chain.user), (expected, user.to_vec()));
        }
        // A copy alone is of a switch that was lost.
        open.copied(8, walked());
        assert!(open.close(8).is_none());
        open.sampled(8, sample(&[10]));
        assert!(open.close(8).is_some_and(|whole| whole.is_uncopied));
    }
}
