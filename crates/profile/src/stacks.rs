//! Stacks with their weights, each kept once: what a recording holds does not grow with its samples.

use crate::frames::{Interner, RawFrame};
use crate::processes::Processes;
use crate::sys::bindings as abi;
use std::collections::HashMap;
use sysdyno_record::profile::ProfiledProcess;

/// Most distinct stacks that are kept; more samples are counted, and that is all. With 127 frames each, some 80 MB.
const STACKS_MAX: usize = 100_000;

/// A stack of a process: who, and where, the innermost frame first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RawStack {
    pub(crate) process: u32,
    pub(crate) frames: Box<[u32]>,
}

/// How often, and how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) count: u64,
    pub(crate) value_ns: u64,
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
    pub(crate) fn add(&mut self, stack: RawStack, value_ns: u64) {
        if self.weights.len() >= STACKS_MAX && !self.weights.contains_key(&stack) {
            self.beyond_bound_count += 1;
            return;
        }
        let weight = self.weights.entry(stack).or_default();
        weight.count += 1;
        weight.value_ns = weight.value_ns.saturating_add(value_ns);
    }

    /// The stack of a call chain, with addresses as places in files.
    pub(crate) fn stack(&mut self, pid: u32, chain: &[u64], processes: &mut Processes) -> RawStack {
        let name = processes.name(pid).to_string();
        let process = self.processes.number(ProfiledProcess { pid, name });
        let mut frames = Vec::with_capacity(chain.len());
        let mut has_user = false;
        for (mode, address) in places(chain) {
            let frame = match mode {
                Mode::Kernel => RawFrame::Kernel(address),
                Mode::User => user_frame(pid, address, processes),
            };
            // Where no code lies, a register was taken for a frame pointer: what follows is noise.
            if has_user && frame == RawFrame::Nowhere {
                break;
            }
            has_user |= mode == Mode::User;
            frames.push(self.frames.number(frame));
        }
        RawStack { process, frames: frames.into() }
    }

    /// A stack whose thread could have run.
    pub(crate) fn preempted(&mut self, stack: &RawStack) -> RawStack {
        let innermost = self.frames.number(RawFrame::Preempted);
        let frames = std::iter::once(innermost).chain(stack.frames.iter().copied());
        RawStack { process: stack.process, frames: frames.collect() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Kernel,
    User,
}

/// The addresses of a call chain, each with the mode that the mark before it names. Marks are from `PERF_CONTEXT_MAX` on.
///
/// All but the first of a mode are where a call returns to, which may already be the next function: one less is the call.
fn places(chain: &[u64]) -> impl Iterator<Item = (Mode, u64)> {
    let (mut mode, mut is_first) = (None, true);
    chain.iter().filter_map(move |word| {
        if *word >= abi::PERF_CONTEXT_MAX {
            mode = match *word {
                abi::PERF_CONTEXT_KERNEL => Some(Mode::Kernel),
                abi::PERF_CONTEXT_USER => Some(Mode::User),
                _ => None,
            };
            is_first = true;
            return None;
        }
        let address = if is_first { *word } else { word.saturating_sub(1) };
        is_first = false;
        Some((mode?, address))
    })
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
    fn return_addresses_are_taken_for_their_calls_in_each_mode() {
        let chain = [
            abi::PERF_CONTEXT_KERNEL,
            0xffff_ffff_8100_0010,
            0xffff_ffff_8100_0100,
            abi::PERF_CONTEXT_USER,
            0x5000,
            0x6000,
        ];
        let found: Vec<_> = places(&chain).collect();
        assert_eq!(
            found,
            [
                (Mode::Kernel, 0xffff_ffff_8100_0010),
                (Mode::Kernel, 0xffff_ffff_8100_00ff),
                (Mode::User, 0x5000),
                (Mode::User, 0x5fff)
            ]
        );
    }

    #[test]
    fn an_address_without_a_known_mode_is_left_out() {
        assert_eq!(places(&[0x5000, abi::PERF_CONTEXT_GUEST, 0x6000]).count(), 0);
    }

    #[test]
    fn samples_beyond_the_bound_are_counted() {
        let mut stacks = Stacks::default();
        let stack = |process| RawStack { process, frames: Box::new([]) };
        for process in 0..STACKS_MAX as u32 + 3 {
            stacks.add(stack(process), 1);
        }
        stacks.add(stack(0), 1);
        assert_eq!((stacks.weights.len(), stacks.beyond_bound_count), (STACKS_MAX, 3));
        assert_eq!(stacks.weights[&stack(0)], Weight { count: 2, value_ns: 2 });
    }
}
