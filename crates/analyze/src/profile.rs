//! Summarizes a profile: the share of each program, and of each function in it.
//!
//! A function's own share counts the stacks in which it is the innermost frame. Its total share counts the stacks that
//! contain it, each one once even if the function calls itself. Functions with the same name in the same object are one
//! function, whatever the kind of frame.

use std::collections::{BTreeMap, HashMap, HashSet};
use sysdyno_record::profile::{
    FrameKind, KindShare, Profile, ProfileFrame, ProfileStack, ProfileSummary, ProgramShare, SymbolShare,
};

/// Functions of a program that are kept.
const SYMBOLS_MAX: usize = 50;

/// Objects without names that are kept.
const OBJECTS_MAX: usize = 5;

/// What a sound profile says.
///
/// # Panics
/// If the profile is not sound.
pub fn summarize(profile: &Profile) -> ProfileSummary {
    let whole = whole(profile);
    let weight = profile.weight(whole);
    let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let counts = &profile.counts;
    ProfileSummary {
        weight,
        mean_count: weight.time_ns().map(|value_ns| value_ns as f64 / profile.duration_ns().max(1) as f64),
        resolved_ratio: ratio(counts.resolved_frames_count, counts.frames_count),
        cut_ratio: ratio(counts.cut_stacks_count, counts.user_stacks_count),
        uncopied_ratio: counts
            .uncopied_stacks_count
            .and_then(|uncopied_count| ratio(uncopied_count, counts.user_stacks_count)),
        kernel_unseen_ratio: weight.time_ns().and_then(|value_ns| kernel_unseen_ratio(profile, value_ns)),
        kinds: kinds(profile, whole),
        programs: programs(profile, whole),
    }
}

/// The weight of all stacks; a hostile profile has no more than can be counted.
fn whole(profile: &Profile) -> u64 {
    sum(profile.stacks.iter())
}

fn sum<'a>(stacks: impl Iterator<Item = &'a ProfileStack>) -> u64 {
    stacks.fold(0, |sum: u64, stack| sum.saturating_add(stack.weight.amount()))
}

/// What the samples do not account for of the time that the kernel counted, at least nothing: they are a random part of it.
fn kernel_unseen_ratio(profile: &Profile, value_ns: u64) -> Option<f64> {
    let cpu_ns = profile.kernel_unseen?.processes_cpu_ns.filter(|cpu_ns| *cpu_ns > 0)?;
    Some(cpu_ns.saturating_sub(value_ns) as f64 / cpu_ns as f64)
}

/// The functions of all programs together, those with the largest share of their own first.
///
/// # Panics
/// If the profile is not sound.
pub fn top_symbols(profile: &Profile) -> Vec<SymbolShare> {
    symbols(profile, &profile.stacks.iter().collect::<Vec<_>>(), whole(profile))
}

fn kinds(profile: &Profile, whole: u64) -> Vec<KindShare> {
    let of = |kind| {
        let is_of =
            |stack: &&ProfileStack| profile.frames_of(stack).last().map(|frame| frame.kind) == Some(kind);
        sum(profile.stacks.iter().filter(is_of))
    };
    let share = |kind| KindShare { kind, ratio: of(kind) as f64 / whole.max(1) as f64 };
    FrameKind::ALL.map(share).into()
}

fn programs(profile: &Profile, whole: u64) -> Vec<ProgramShare> {
    let mut by_name: BTreeMap<&str, Vec<&ProfileStack>> = BTreeMap::new();
    for stack in &profile.stacks {
        by_name.entry(&profile.process_of(stack).name).or_default().push(stack);
    }
    let program = |(name, stacks): (&str, Vec<&ProfileStack>)| {
        let pids: HashSet<u32> = stacks.iter().map(|stack| profile.process_of(stack).pid).collect();
        ProgramShare {
            name: name.to_owned(),
            processes_count: pids.len() as u32,
            ratio: sum(stacks.iter().copied()) as f64 / whole.max(1) as f64,
            symbols: symbols(profile, &stacks, whole),
            unnamed_objects: unnamed_objects(profile, &stacks),
        }
    };
    let mut programs: Vec<ProgramShare> = by_name.into_iter().map(program).collect();
    programs.sort_by(|a, b| b.ratio.total_cmp(&a.ratio).then_with(|| a.name.cmp(&b.name)));
    programs
}

/// A function, whatever the kind of its frames.
type Function<'a> = (&'a str, &'a str);

#[derive(Default)]
struct Sums<'a> {
    frame: Option<&'a ProfileFrame>,
    own: u64,
    total: u64,
}

fn symbols(profile: &Profile, stacks: &[&ProfileStack], whole: u64) -> Vec<SymbolShare> {
    let mut sums: HashMap<Function<'_>, Sums<'_>> = HashMap::new();
    for stack in stacks {
        let frames: Vec<&ProfileFrame> =
            stack.frames.iter().map(|frame| &profile.frames[*frame as usize]).collect();
        let mut seen = HashSet::new();
        for (depth, frame) in frames.iter().enumerate() {
            let function: Function<'_> = (&frame.name, &frame.object);
            let sum = sums.entry(function).or_default();
            sum.frame.get_or_insert(frame);
            let amount = |counts: bool| if counts { stack.weight.amount() } else { 0 };
            sum.total = sum.total.saturating_add(amount(seen.insert(function)));
            sum.own = sum.own.saturating_add(amount(depth + 1 == frames.len()));
        }
    }
    let share = |amount: u64| amount as f64 / whole.max(1) as f64;
    let shares = sums.into_values().filter_map(|sum| {
        Some(SymbolShare {
            frame: sum.frame?.clone(),
            self_ratio: share(sum.own),
            total_ratio: share(sum.total),
        })
    });
    let mut shares: Vec<SymbolShare> = shares.collect();
    shares.sort_by(|a, b| {
        let by_self = b.self_ratio.total_cmp(&a.self_ratio);
        let by_total = || b.total_ratio.total_cmp(&a.total_ratio);
        by_self.then_with(by_total).then_with(|| a.frame.cmp(&b.frame))
    });
    shares.truncate(SYMBOLS_MAX);
    shares
}

/// Files whose functions have no names, those of most samples first.
fn unnamed_objects(profile: &Profile, stacks: &[&ProfileStack]) -> Vec<String> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for stack in stacks {
        let unnamed = profile.frames_of(stack).filter(|frame| !frame.is_resolved && !frame.object.is_empty());
        unnamed.for_each(|frame| *counts.entry(&frame.object).or_default() += stack.count);
    }
    let mut objects: Vec<(&str, u64)> = counts.into_iter().collect();
    objects.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    objects.into_iter().take(OBJECTS_MAX).map(|(object, _)| object.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::profile::{
        KernelUnseen, ProfileCost, ProfileCounts, ProfileKind, ProfiledProcess, SampledEvent, StackWeight,
    };
    use sysdyno_record::units::MonoNs;

    fn frame(name: &str, kind: FrameKind) -> ProfileFrame {
        ProfileFrame { name: name.into(), object: "x".into(), kind, is_resolved: !name.starts_with('[') }
    }

    fn profile() -> Profile {
        let process = |pid, name: &str| ProfiledProcess { pid, name: name.into() };
        let stack = |process, frames: &[u32], count| ProfileStack {
            process,
            frames: frames.into(),
            count,
            weight: StackWeight::Time(count * 10_000_000),
        };
        Profile {
            host: None,
            kind: ProfileKind::OnCpu,
            event: Some(SampledEvent::CpuClock),
            scope_pids: vec![],
            begin_mono_ns: MonoNs(0),
            end_mono_ns: MonoNs(1_000_000_000),
            rate_hz: Some(100),
            cpus_count: 2,
            kernel_unseen: None,
            unseen_pids: vec![],
            counts: ProfileCounts {
                samples_count: 100,
                frames_count: 250,
                resolved_frames_count: 200,
                user_stacks_count: 80,
                cut_stacks_count: 20,
                ..ProfileCounts::default()
            },
            requests_count: None,
            cost: ProfileCost::default(),
            processes: vec![process(1, "web"), process(2, "web"), process(3, "db")],
            frames: vec![
                frame("main", FrameKind::User),
                frame("parse", FrameKind::User),
                frame("read", FrameKind::Kernel),
                frame("[libx.so]", FrameKind::User),
                frame("net_rx_action", FrameKind::SoftIrq),
            ],
            stacks: vec![
                stack(0, &[0, 1, 1], 40),
                stack(1, &[0, 1, 2], 30),
                stack(2, &[3], 20),
                stack(0, &[2, 4], 10),
            ],
        }
    }

    #[test]
    fn shares_are_of_the_whole_and_recursion_counts_once() {
        let summary = summarize(&profile());
        assert_eq!(summary.mean_count, Some(1.0));
        assert_eq!(summary.resolved_ratio, Some(0.8));
        assert_eq!(summary.cut_ratio, Some(0.25));
        let names: Vec<_> =
            summary.programs.iter().map(|program| (&*program.name, program.processes_count)).collect();
        assert_eq!(names, [("web", 2), ("db", 1)]);
        let web = &summary.programs[0];
        let of = |name: &str| {
            let found = web.symbols.iter().find(|symbol| symbol.frame.name == name).expect("is there");
            (found.self_ratio, found.total_ratio)
        };
        assert_eq!(of("parse"), (0.4, 0.7));
        assert_eq!(of("main"), (0.0, 0.7));
        assert_eq!(of("read"), (0.3, 0.4));
        assert_eq!(web.symbols[0].frame.name, "parse");
        assert_eq!(summary.programs[1].unnamed_objects, ["x"]);
    }

    #[test]
    fn kinds_are_those_of_the_innermost_frame() {
        let summary = summarize(&profile());
        let of = |kind| summary.kinds.iter().find(|share| share.kind == kind).map(|share| share.ratio);
        assert_eq!(of(FrameKind::User), Some(0.6));
        assert_eq!(of(FrameKind::Kernel), Some(0.3));
        assert_eq!(of(FrameKind::SoftIrq), Some(0.1));
        assert_eq!(of(FrameKind::Irq), Some(0.0));
    }

    #[test]
    fn what_the_kernel_took_unseen_is_what_no_sample_stands_for() {
        let ratio = |processes_cpu_ns| {
            let kernel_unseen = Some(KernelUnseen { perf_event_paranoid: Some(2), processes_cpu_ns });
            summarize(&Profile { kernel_unseen, ..profile() }).kernel_unseen_ratio
        };
        assert_eq!(ratio(Some(1_600_000_000)), Some(0.375));
        assert_eq!(ratio(Some(900_000_000)), Some(0.0));
        assert_eq!((ratio(Some(0)), ratio(None)), (None, None));
        assert_eq!(summarize(&profile()).kernel_unseen_ratio, None);
    }

    #[test]
    fn shares_of_counted_events_are_shares_of_events_and_say_nothing_of_time() {
        let mut counted = Profile { event: Some(SampledEvent::CacheMisses), ..profile() };
        for (stack, events_count) in counted.stacks.iter_mut().zip([100, 700, 150, 50]) {
            stack.weight = StackWeight::Events(events_count);
        }
        assert!(
            counted.is_sound()
                && !Profile { event: Some(SampledEvent::CpuClock), ..counted.clone() }.is_sound()
        );
        let summary = summarize(&counted);
        assert_eq!((summary.weight, summary.mean_count), (StackWeight::Events(1_000), None));
        let names: Vec<_> = summary.programs.iter().map(|program| (&*program.name, program.ratio)).collect();
        assert_eq!(names, [("web", 0.85), ("db", 0.15)]);
    }

    #[test]
    fn an_empty_profile_has_no_ratios() {
        let empty = Profile { stacks: vec![], counts: ProfileCounts::default(), ..profile() };
        let summary = summarize(&empty);
        assert_eq!((summary.resolved_ratio, summary.cut_ratio), (None, None));
        assert_eq!(summary.weight, StackWeight::Time(0));
        assert!(summary.programs.is_empty());
    }
}
