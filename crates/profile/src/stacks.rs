//! Stacks with their weights, each stored once, so the size of a recording does not grow with its samples.

use crate::chain::CallChain;
use crate::frames::{Interner, RawFrame};
use crate::processes::Processes;
use std::collections::HashMap;
use sysdyno_record::profile::ProfiledProcess;

/// Most distinct stacks that are kept; more samples are counted, and that is all. With 127 frames each, some 80 MB.
const STACKS_MAX: usize = 100_000;

/// A stack of a process: who, and where, the innermost frame first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RawStack {
    pub(crate) process: u32,
    pub(crate) frames: Box<[u32]>,
    /// Whether the outermost frame is known to be where its program or thread begins, whatever its name.
    pub(crate) is_whole: bool,
}

/// How often, and how long or how many events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) count: u64,
    pub(crate) amount: u64,
}

/// All stacks of a recording.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    pub(crate) processes: Interner<ProfiledProcess>,
    pub(crate) frames: Interner<RawFrame>,
    pub(crate) weights: HashMap<RawStack, Weight>,
    pub(crate) beyond_bound_count: u64,
}

impl Stacks {
    /// Adds to the weight of a stack; one that is new beyond the bound is only counted.
    pub(crate) fn add(&mut self, stack: RawStack, amount: u64) {
        if self.weights.len() >= STACKS_MAX && !self.weights.contains_key(&stack) {
            self.beyond_bound_count += 1;
            return;
        }
        let weight = self.weights.entry(stack).or_default();
        weight.count += 1;
        weight.amount = weight.amount.saturating_add(amount);
    }

    /// The stack of a call chain, with addresses as places in files.
    pub(crate) fn stack(&mut self, pid: u32, chain: &CallChain, processes: &mut Processes) -> RawStack {
        let name = processes.name(pid).to_string();
        let process = self.processes.number(ProfiledProcess { pid, name });
        let mut frames: Vec<u32> =
            chain.kernel.iter().map(|address| self.frames.number(RawFrame::Kernel(*address))).collect();
        for (index, address) in chain.user.iter().enumerate() {
            let frame = user_frame(pid, *address, processes);
            // Where no code lies, a register was taken for a frame pointer: what follows is noise.
            if index > 0 && frame == RawFrame::Nowhere {
                break;
            }
            frames.push(self.frames.number(frame));
        }
        RawStack { process, frames: frames.into(), is_whole: chain.is_whole }
    }

    /// A stack whose thread could have run.
    pub(crate) fn preempted(&mut self, stack: &RawStack) -> RawStack {
        let innermost = self.frames.number(RawFrame::Preempted);
        let frames = std::iter::once(innermost).chain(stack.frames.iter().copied());
        RawStack { process: stack.process, frames: frames.collect(), is_whole: stack.is_whole }
    }
}

fn user_frame(pid: u32, address: u64, processes: &mut Processes) -> RawFrame {
    match processes.place(pid, address) {
        None => RawFrame::Nowhere,
        Some(place) if processes.objects.is_memory(place.object) => RawFrame::Memory { pid, address },
        Some(place) => RawFrame::File { object: place.object, file_offset: place.file_offset },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_beyond_the_bound_are_counted() {
        let mut stacks = Stacks::default();
        let stack = |process| RawStack { process, frames: Box::new([]), is_whole: false };
        for process in 0..STACKS_MAX as u32 + 3 {
            stacks.add(stack(process), 1);
        }
        stacks.add(stack(0), 1);
        assert_eq!((stacks.weights.len(), stacks.beyond_bound_count), (STACKS_MAX, 3));
        assert_eq!(stacks.weights[&stack(0)], Weight { count: 2, amount: 2 });
    }
}
