//! Replaces addresses by names: the last step, after which no address is left.

mod kind;
mod perf_map;
mod symbols;

use crate::frames::{Interner, MappedObjects, RawFrame};
use crate::stacks::{RawStack, Stacks, Weight};
use kind::{KindWalk, is_entry, is_switch};
use std::collections::HashMap;
use symbols::Name;
pub use symbols::Symbols;
use sysdyno_record::profile::{
    FrameKind, ProfileFrame, ProfileKind, ProfileStack, ProfiledProcess, StackWeight,
};

/// Longest name that is kept: those of C++ and Rust have no bound. Unit: bytes.
const NAME_MAX: usize = 512;

/// A name that is short enough.
fn bounded(name: &str) -> String {
    let end = (0..=name.len().min(NAME_MAX)).rev().find(|end| name.is_char_boundary(*end));
    name[..end.unwrap_or(0)].to_owned()
}

/// Stacks with names, and how good they are.
#[derive(Debug, Default)]
pub(crate) struct NamedStacks {
    pub(crate) processes: Vec<ProfiledProcess>,
    pub(crate) frames: Vec<ProfileFrame>,
    pub(crate) stacks: Vec<ProfileStack>,
    pub(crate) frames_count: u64,
    pub(crate) resolved_frames_count: u64,
    pub(crate) user_stacks_count: u64,
    pub(crate) cut_stacks_count: u64,
}

/// Names all frames. Stacks that differ in addresses only become one; the heaviest stacks come first.
///
/// `weigh` says in which unit weights are. Of waits, the functions by which every thread gives its CPU away are left out: the innermost one then says what it waits for.
pub(crate) fn name(
    stacks: Stacks,
    symbols: &Symbols,
    objects: &MappedObjects,
    kind: ProfileKind,
    weigh: fn(u64) -> StackWeight,
) -> NamedStacks {
    let names = symbols.names(&stacks.frames.all, objects);
    let mut named = NamedStacks { processes: stacks.processes.all, ..NamedStacks::default() };
    let mut frames = Interner::default();
    let mut weights: HashMap<RawStack, Weight> = HashMap::new();
    for (stack, weight) in &stacks.weights {
        let mut of_stack = frames_of(stack, &stacks.frames.all, &names);
        if kind == ProfileKind::OffCpu {
            trim_switch(&mut of_stack);
        }
        named.judge(&of_stack, stack.is_whole, weight.count);
        let numbers = of_stack.into_iter().map(|frame| frames.number(frame)).collect();
        let sum =
            weights.entry(RawStack { process: stack.process, frames: numbers, is_whole: true }).or_default();
        sum.count += weight.count;
        sum.amount = sum.amount.saturating_add(weight.amount);
    }
    let finished = weights.into_iter().map(|(stack, weight)| ProfileStack {
        process: stack.process,
        frames: stack.frames.into(),
        count: weight.count,
        weight: weigh(weight.amount),
    });
    named.stacks = finished.collect();
    named.stacks.sort_by(|a, b| {
        let by_weight = b.weight.amount().cmp(&a.weight.amount());
        by_weight.then_with(|| (a.process, &a.frames).cmp(&(b.process, &b.frames)))
    });
    named.frames = frames.all;
    named
}

/// The frames of a stack, the outermost first, each of the kind that it has there.
fn frames_of(stack: &RawStack, places: &[RawFrame], names: &[Name]) -> Vec<ProfileFrame> {
    let mut walk = KindWalk::default();
    let frames = stack.frames.iter().rev().map(|number| {
        let name = &names[*number as usize];
        ProfileFrame {
            kind: walk.kind(places[*number as usize], &name.name),
            name: name.name.clone(),
            object: name.object.clone(),
            is_resolved: name.is_resolved,
        }
    });
    frames.collect()
}

/// Leaves out the innermost frames of the scheduler, but not the only one.
fn trim_switch(frames: &mut Vec<ProfileFrame>) {
    let is_of_scheduler = |frame: &ProfileFrame| frame.kind != FrameKind::User && is_switch(&frame.name);
    while frames.len() > 1 && frames.last().is_some_and(is_of_scheduler) {
        frames.pop();
    }
}

impl NamedStacks {
    fn judge(&mut self, frames: &[ProfileFrame], is_whole: bool, count: u64) {
        let resolved = frames.iter().filter(|frame| frame.is_resolved).count();
        self.frames_count += frames.len() as u64 * count;
        self.resolved_frames_count += resolved as u64 * count;
        let outermost = frames.first().filter(|frame| frame.kind == FrameKind::User);
        if let Some(outermost) = outermost {
            self.user_stacks_count += count;
            self.cut_stacks_count += if is_whole || is_entry(&outermost.name) { 0 } else { count };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_between_characters() {
        let long = "é".repeat(400);
        assert_eq!(bounded(&long).len(), NAME_MAX);
        assert_eq!(bounded("main"), "main");
    }
}
