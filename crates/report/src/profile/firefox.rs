//! A profile in the processed format of the Firefox Profiler, which <https://profiler.firefox.com> opens in the browser.
//!
//! Each process is one thread there. A record of a profile holds how often each stack was seen but not when, so the time axis
//! shows stacks one after another, the heaviest first, each as long as its share of the recording.
//!
//! The format has no weights in events of the CPU: there, a weight is the share of the stack in all events, times the samples.

use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, Profile as FirefoxProfile,
    ReferenceTimestamp, SamplingInterval, ThreadHandle, Timestamp, WeightType,
};
use std::collections::BTreeMap;
use std::time::Duration;
use sysdyno_record::profile::{FrameKind, Profile, ProfileKind, ProfileStack, StackWeight};
use sysdyno_record::units::WallNs;

const NS_PER_MS: u64 = 1_000_000;

/// The profile as JSON, taken at this instant. Weights are samples (on-CPU) or milliseconds (off-CPU), rounded to whole ones
/// because the library takes no others; of events of the CPU, at least one.
///
/// # Panics
/// If the profile is not sound.
pub fn firefox(profile: &Profile, taken: WallNs) -> Vec<u8> {
    let reference = ReferenceTimestamp::from_duration_since_unix_epoch(Duration::from_nanos(taken.0));
    let interval = profile.rate_hz.map_or(NS_PER_MS, |rate_hz| 1_000_000_000 / u64::from(rate_hz.max(1)));
    let product = match profile.counted_event() {
        Some(event) => format!("sysdyno ({})", event.name()),
        None => "sysdyno".to_owned(),
    };
    let mut out = FirefoxProfile::new(&product, reference, SamplingInterval::from_nanos(interval));
    out.set_os_name("Linux");
    // Functions have their names already: nothing is to be looked up by address.
    out.set_symbolicated(true);
    let categories = FrameKind::ALL.map(|kind| out.add_category(kind.name(), color(kind)));
    let mut threads: BTreeMap<u32, (ThreadHandle, u64)> = BTreeMap::new();
    let scale = Scale::of(profile);
    for stack in &profile.stacks {
        let (thread, spent_ns) =
            threads.entry(stack.process).or_insert_with(|| (thread(&mut out, profile, stack), 0));
        let frames: Vec<FrameInfo> = profile
            .frames_of(stack)
            .map(|frame| FrameInfo {
                frame: Frame::Label(out.intern_string(&frame.name)),
                category_pair: category(&categories, frame.kind).into(),
                flags: FrameFlags::empty(),
            })
            .collect();
        let stack_handle = out.intern_stack_frames(*thread, frames.into_iter());
        let at = Timestamp::from_nanos_since_reference(*spent_ns);
        let (weight, value_ns) = (scale.weight(stack), scale.value_ns(stack, interval));
        out.add_sample(*thread, at, stack_handle, CpuDelta::from_nanos(value_ns), weight);
        *spent_ns = spent_ns.saturating_add(value_ns);
    }
    serde_json::to_vec(&out).expect("a profile is JSON")
}

fn thread(out: &mut FirefoxProfile, profile: &Profile, stack: &ProfileStack) -> ThreadHandle {
    let process = profile.process_of(stack);
    let begin = Timestamp::from_nanos_since_reference(0);
    let handle = out.add_process(&process.name, process.pid, begin);
    let thread = out.add_thread(handle, process.pid, begin, true);
    out.set_thread_name(thread, &process.name);
    let weights = match profile.kind {
        ProfileKind::OnCpu => WeightType::Samples,
        ProfileKind::OffCpu => WeightType::TracingMs,
    };
    out.set_thread_samples_weight_type(thread, weights);
    thread
}

/// How weights are written.
struct Scale {
    kind: ProfileKind,
    /// Of events of the CPU: samples ÷ events.
    samples_per_event: f64,
}

impl Scale {
    fn of(profile: &Profile) -> Scale {
        let sum = |amount: fn(&ProfileStack) -> u64| {
            profile.stacks.iter().fold(0, |sum: u64, stack| sum.saturating_add(amount(stack)))
        };
        let (samples, whole) = (sum(|stack| stack.count), sum(|stack| stack.weight.amount()));
        Scale { kind: profile.kind, samples_per_event: samples as f64 / whole.max(1) as f64 }
    }

    fn weight(&self, stack: &ProfileStack) -> i32 {
        let weight = match (self.kind, stack.weight) {
            (_, StackWeight::Events(_)) => self.samples(stack),
            (ProfileKind::OnCpu, StackWeight::Time(_)) => stack.count,
            (ProfileKind::OffCpu, StackWeight::Time(value_ns)) => {
                value_ns.saturating_add(NS_PER_MS / 2) / NS_PER_MS
            }
        };
        i32::try_from(weight).unwrap_or(i32::MAX)
    }

    /// How long the stack lasts on the time axis. Unit: nanoseconds.
    fn value_ns(&self, stack: &ProfileStack, interval_ns: u64) -> u64 {
        stack.weight.time_ns().unwrap_or_else(|| self.samples(stack).saturating_mul(interval_ns))
    }

    fn samples(&self, stack: &ProfileStack) -> u64 {
        // As a float, it saturates at the end of the type.
        (stack.weight.amount() as f64 * self.samples_per_event).round().max(1.0) as u64
    }
}

fn category(categories: &[CategoryHandle], kind: FrameKind) -> CategoryHandle {
    let position = FrameKind::ALL.iter().position(|other| *other == kind);
    position.map_or(CategoryHandle::OTHER, |position| categories[position])
}

fn color(kind: FrameKind) -> CategoryColor {
    match kind {
        FrameKind::User => CategoryColor::Blue,
        FrameKind::Kernel => CategoryColor::Orange,
        FrameKind::SoftIrq => CategoryColor::Purple,
        FrameKind::Irq => CategoryColor::Red,
    }
}

#[cfg(test)]
mod tests {
    use super::super::folded::tests::{counted, sample};
    use super::*;
    use serde_json::Value;

    fn written(profile: &Profile) -> Value {
        let taken = WallNs(1_790_000_000_000_000_000);
        serde_json::from_slice(&firefox(profile, taken)).expect("is JSON")
    }

    #[test]
    fn each_process_is_a_thread_and_each_stack_a_sample_with_its_weight() {
        let document = written(&sample());
        assert_eq!(document["meta"]["product"], "sysdyno");
        assert_eq!(document["meta"]["symbolicated"], true);
        let threads = document["threads"].as_array().expect("is a list");
        let nginx = threads.iter().find(|thread| thread["name"] == "nginx").expect("is there");
        assert_eq!((threads.len(), &nginx["pid"]), (2, &Value::from("7")));
        assert_eq!(nginx["samples"]["weight"], serde_json::json!([700, 90]));
        assert_eq!(nginx["samples"]["weightType"], "samples");
        let names = nginx["stringArray"].to_string();
        assert!(names.contains("tcp_sendmsg") && names.contains("net_rx_action"), "{names}");
        assert!(!names.contains("libx"), "the function of another process");
    }

    #[test]
    fn events_of_the_cpu_are_named_and_weigh_their_share_of_the_samples() {
        let document = written(&counted());
        assert_eq!(document["meta"]["product"], "sysdyno (cache-misses)");
        let threads = document["threads"].as_array().expect("is a list");
        let nginx = threads.iter().find(|thread| thread["name"] == "nginx").expect("is there");
        assert_eq!(nginx["samples"]["weight"], serde_json::json!([1, 989]));
    }

    #[test]
    fn waits_weigh_what_they_lasted() {
        let document = written(&Profile { kind: ProfileKind::OffCpu, ..sample() });
        let samples = &document["threads"][0]["samples"];
        assert_eq!(
            (&samples["weight"][0], &samples["weightType"]),
            (&Value::from(7071), &Value::from("tracing-ms"))
        );
    }
}
