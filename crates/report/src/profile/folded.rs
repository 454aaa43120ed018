//! Folded stacks: a line per stack, its frames joined by `;`, and its weight after the last space.
//!
//! The format of Brendan Gregg's FlameGraph scripts, which speedscope, inferno and others read too. The first frame is the name
//! of the process; functions of the kernel end in `_[k]`, as those scripts color them.

use sysdyno_record::profile::{FrameKind, Profile, ProfileFrame, ProfileKind, StackWeight};

/// All stacks, the heaviest first. The weight is in samples of CPU time, in events that the CPU counted, or in microseconds of waits.
///
/// # Panics
/// If the profile is not sound.
pub fn folded(profile: &Profile) -> String {
    let mut text = String::new();
    for stack in &profile.stacks {
        text.push_str(&plain(&profile.process_of(stack).name));
        for frame in profile.frames_of(stack) {
            text.push(';');
            text.push_str(&frame_name(frame));
        }
        let weight = match (profile.kind, stack.weight) {
            (_, StackWeight::Events(events_count)) => events_count,
            (ProfileKind::OnCpu, StackWeight::Time(_)) => stack.count,
            (ProfileKind::OffCpu, StackWeight::Time(value_ns)) => value_ns / 1_000,
        };
        text.push_str(&format!(" {weight}\n"));
    }
    text
}

fn frame_name(frame: &ProfileFrame) -> String {
    let name = plain(&frame.name);
    if frame.kind == FrameKind::User { name } else { format!("{name}_[k]") }
}

/// A name without what the format gives a meaning to.
fn plain(name: &str) -> String {
    name.chars().map(|letter| if letter == ';' || letter.is_control() { '_' } else { letter }).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use sysdyno_record::profile::{ProfileCost, ProfileCounts, ProfileStack, ProfiledProcess, SampledEvent};
    use sysdyno_record::units::MonoNs;

    /// A small profile with names that somebody hostile chose.
    pub(crate) fn sample() -> Profile {
        let frame = |name: &str, object: &str, kind| ProfileFrame {
            name: name.into(),
            object: object.into(),
            kind,
            is_resolved: !name.starts_with('['),
        };
        Profile {
            host: None,
            kind: ProfileKind::OnCpu,
            event: Some(SampledEvent::CpuClock),
            scope_pids: vec![],
            begin_mono_ns: MonoNs(1_000_000_000),
            end_mono_ns: MonoNs(11_000_000_000),
            rate_hz: Some(99),
            cpus_count: 2,
            kernel_unseen: None,
            unseen_pids: vec![],
            counts: ProfileCounts {
                samples_count: 990,
                frames_count: 3_000,
                resolved_frames_count: 2_700,
                user_stacks_count: 800,
                cut_stacks_count: 200,
                ..ProfileCounts::default()
            },
            requests_count: None,
            cost: ProfileCost { sampling_cpu_ns: 20_000_000, naming_cpu_ns: 300_000_000 },
            processes: vec![
                ProfiledProcess { pid: 7, name: "nginx".into() },
                ProfiledProcess { pid: 9, name: "ev;il\u{1b}[31m".into() },
            ],
            frames: vec![
                frame("main", "nginx", FrameKind::User),
                frame("tcp_sendmsg", "kernel", FrameKind::Kernel),
                frame("[libx.so]", "libx.so", FrameKind::User),
                frame("net_rx_action", "kernel", FrameKind::SoftIrq),
            ],
            stacks: vec![
                stack(0, &[0, 1], 700, 7_070_707_070),
                stack(1, &[2], 200, 2_020_202_020),
                stack(0, &[0, 1, 3], 90, 909_090_909),
            ],
        }
    }

    fn stack(process: u32, frames: &[u32], count: u64, value_ns: u64) -> ProfileStack {
        ProfileStack { process, frames: frames.into(), count, weight: StackWeight::Time(value_ns) }
    }

    /// The same, had the CPU's misses of caches been sampled: half of them in the stack with the fewest samples.
    pub(crate) fn counted() -> Profile {
        let mut profile = Profile { event: Some(SampledEvent::CacheMisses), ..sample() };
        for (stack, events_count) in profile.stacks.iter_mut().zip([2_000_000, 3_000_000, 5_000_000_000]) {
            stack.weight = StackWeight::Events(events_count);
        }
        profile
    }

    #[test]
    fn each_stack_is_a_line_that_no_name_can_break() {
        let expected = "nginx;main;tcp_sendmsg_[k] 700\n\
                        ev_il_[31m;[libx.so] 200\n\
                        nginx;main;tcp_sendmsg_[k];net_rx_action_[k] 90\n";
        assert_eq!(folded(&sample()), expected);
        let off = Profile { kind: ProfileKind::OffCpu, ..sample() };
        assert!(folded(&off).starts_with("nginx;main;tcp_sendmsg_[k] 7070707\n"));
        assert!(folded(&counted()).starts_with("nginx;main;tcp_sendmsg_[k] 2000000\n"));
    }
}
