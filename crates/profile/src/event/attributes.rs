//! The attributes with which events are requested: what is sampled, how often, and what each record contains.
//!
//! On-CPU, `cpu-clock` interrupts each CPU at a fixed rate, also where a machine has no counters of its own, as most virtual ones
//! have none; idle CPUs are left out. It cannot interrupt code that has disabled interrupts: that is found where they are enabled
//! again. Counters of the CPU can, and the kernel changes their period all the time to keep the rate. Off-CPU, `context-switches` occurs at each switch away from a thread, while its stack is still
//! there, and a record says when the thread runs again. Both bring the records from which address spaces are known.
//! All times are those of `CLOCK_MONOTONIC`, so that they fit those of the load.

use crate::registers;
use crate::sys::bindings as abi;
use sysdyno_record::profile::SampledEvent;

/// Data of a ring. Unit: bytes. Switches of a CPU take up to some 50 MB a second, without a copy of any stack.
const OFF_CPU_BYTES: usize = 1 << 23;

/// What all copies of stacks at switches of a CPU may take between two looks at the rings, of which there are ten a second. Beyond
/// that, the kernel drops them before it copies anything: this bounds their cost. Unit: bytes.
const COPIES_BYTES: usize = 1 << 21;

/// What is copied of a program's stack at most, and what all copies of a CPU may take each second. Unit: bytes.
pub(super) const STACK_MAX: u32 = 16 << 10;
const STACKS_SECOND_MAX: u32 = 16 << 20;

/// A sample without its copy: 127 frames, registers, and header. Unit: bytes.
const CHAIN_BYTES: u32 = 1_200;

/// Smallest and largest ring of samples. Unit: bytes.
const ON_CPU_MIN: usize = 1 << 19;
const ON_CPU_MAX: usize = 1 << 24;

/// When a sample is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampleSource {
    /// When so many events have occurred that the rate is kept.
    Running(SampledEvent),
    /// At each switch away from a thread.
    Switches,
    /// At the same switches once more: nothing but this many bytes of the program's stack.
    StackCopies { stack_bytes: u32 },
}

impl SampleSource {
    /// The event of running code that is sampled; `None`: it is switches.
    pub(super) fn event(self) -> Option<SampledEvent> {
        match self {
            SampleSource::Running(event) => Some(event),
            SampleSource::Switches | SampleSource::StackCopies { .. } => None,
        }
    }
}

/// What is asked of the kernel on each CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventSpec {
    pub(super) source: SampleSource,
    pub(super) rate_hz: u32,
    /// Whether what runs in the kernel is sampled, too.
    pub(super) sees_kernel: bool,
    /// Whether the event follows the children of its thread; one of a CPU sees them anyway.
    pub(super) is_inherited: bool,
}

impl EventSpec {
    /// Its name, as perf has it.
    pub(super) fn name(&self) -> &'static str {
        match self.source {
            SampleSource::Running(event) => event.name(),
            SampleSource::Switches | SampleSource::StackCopies { .. } => "context-switches",
        }
    }

    /// A ring for the records of half a second, except of copies. Unit: bytes, a power of two.
    pub(super) fn ring_bytes(&self) -> usize {
        match self.source {
            SampleSource::Running(_) => {
                let second = self.rate_hz as usize * (stack_bytes(self.rate_hz) + CHAIN_BYTES) as usize;
                (second / 2).next_power_of_two().clamp(ON_CPU_MIN, ON_CPU_MAX)
            }
            SampleSource::Switches => OFF_CPU_BYTES,
            SampleSource::StackCopies { .. } => COPIES_BYTES,
        }
    }

    /// The attributes of an event that is disabled at first, and wakes its reader when a ring of this size is half full.
    pub(super) fn attributes(&self, ring_bytes: usize) -> abi::perf_event_attr {
        let mut asked = abi::perf_event_attr {
            clockid: libc::CLOCK_MONOTONIC,
            sample_type: u64::from(abi::PERF_SAMPLE_TID | abi::PERF_SAMPLE_TIME)
                | u64::from(abi::PERF_SAMPLE_PERIOD | abi::PERF_SAMPLE_CALLCHAIN),
            ..abi::perf_event_attr::default()
        };
        asked.set_disabled(1);
        asked.set_inherit(self.is_inherited.into());
        asked.set_exclude_kernel((!self.sees_kernel).into());
        asked.set_exclude_hv((!self.sees_kernel).into());
        asked.set_use_clockid(1);
        asked.set_sample_id_all(1);
        asked.set_watermark(1);
        asked.__bindgen_anon_2.wakeup_watermark = u32::try_from(ring_bytes / 2).unwrap_or(u32::MAX);
        if !matches!(self.source, SampleSource::StackCopies { .. }) {
            asked.set_mmap(1);
            asked.set_mmap2(1);
            asked.set_comm(1);
            asked.set_comm_exec(1);
            asked.set_task(1);
        }
        match self.source {
            SampleSource::Running(event) => {
                (asked.type_, asked.config) = number(event);
                asked.set_freq(1);
                asked.__bindgen_anon_1.sample_freq = self.rate_hz.into();
                // Counters of ARM refuse to know what idle is; what an idle CPU does has no process, and is dropped.
                asked.set_exclude_idle((!event.is_hardware()).into());
                copy_stacks(&mut asked, stack_bytes(self.rate_hz));
            }
            SampleSource::Switches => {
                asked.type_ = abi::PERF_TYPE_SOFTWARE;
                asked.config = abi::PERF_COUNT_SW_CONTEXT_SWITCHES.into();
                asked.__bindgen_anon_1.sample_period = 1;
                asked.set_context_switch(1);
            }
            SampleSource::StackCopies { stack_bytes } => {
                asked.type_ = abi::PERF_TYPE_SOFTWARE;
                asked.config = abi::PERF_COUNT_SW_CONTEXT_SWITCHES.into();
                asked.__bindgen_anon_1.sample_period = 1;
                // The other record of the switch has the chain.
                asked.set_exclude_callchain_kernel(1);
                asked.set_exclude_callchain_user(1);
                copy_stacks(&mut asked, stack_bytes);
            }
        }
        asked
    }
}

fn copy_stacks(asked: &mut abi::perf_event_attr, stack_bytes: u32) {
    asked.sample_type |= u64::from(abi::PERF_SAMPLE_REGS_USER | abi::PERF_SAMPLE_STACK_USER);
    asked.sample_regs_user = registers::mask();
    asked.sample_stack_user = stack_bytes;
}

/// The type and the number of an event. Source: perf_event_open(2), `PERF_TYPE_HARDWARE`, `PERF_TYPE_SOFTWARE`.
fn number(event: SampledEvent) -> (u32, u64) {
    let hardware = |number: abi::perf_hw_id| (abi::PERF_TYPE_HARDWARE, number.into());
    match event {
        SampledEvent::CpuClock => (abi::PERF_TYPE_SOFTWARE, abi::PERF_COUNT_SW_CPU_CLOCK.into()),
        SampledEvent::Cycles => hardware(abi::PERF_COUNT_HW_CPU_CYCLES),
        SampledEvent::Instructions => hardware(abi::PERF_COUNT_HW_INSTRUCTIONS),
        SampledEvent::CacheMisses => hardware(abi::PERF_COUNT_HW_CACHE_MISSES),
        SampledEvent::BranchMisses => hardware(abi::PERF_COUNT_HW_BRANCH_MISSES),
    }
}

/// What is copied of a stack at this rate: less at high rates, so that copying takes as much as at 1,024 Hz.
fn stack_bytes(rate_hz: u32) -> u32 {
    // In whole words, as the kernel wants it.
    (STACKS_SECOND_MAX / rate_hz.max(1)).min(STACK_MAX) / 8 * 8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(source: SampleSource) -> EventSpec {
        EventSpec { source, rate_hz: 99, sees_kernel: true, is_inherited: false }
    }

    /// Source: `include/uapi/linux/perf_event.h`, `enum perf_type_id`, `enum perf_hw_id`, `enum perf_sw_ids`.
    #[test]
    fn each_event_is_requested_by_the_kernels_number_and_at_the_rate() {
        let expected = [
            (SampledEvent::CpuClock, "cpu-clock", 1, 0),
            (SampledEvent::Cycles, "cycles", 0, 0),
            (SampledEvent::Instructions, "instructions", 0, 1),
            (SampledEvent::CacheMisses, "cache-misses", 0, 3),
            (SampledEvent::BranchMisses, "branch-misses", 0, 5),
        ];
        assert_eq!(expected.map(|(event, ..)| event), SampledEvent::ALL);
        for (event, name, type_, config) in expected {
            let spec = spec(SampleSource::Running(event));
            let asked = spec.attributes(spec.ring_bytes());
            assert_eq!((spec.name(), asked.type_, asked.config), (name, type_, config));
            assert_eq!((asked.freq(), asked.exclude_kernel(), asked.inherit()), (1, 0, 0), "{name}");
            assert_eq!(asked.exclude_idle(), u64::from(event == SampledEvent::CpuClock), "{name}");
        }
    }

    #[test]
    fn copies_of_stacks_come_alone_since_everything_else_has_its_own_record() {
        let spec = spec(SampleSource::StackCopies { stack_bytes: 4096 });
        let asked = spec.attributes(spec.ring_bytes());
        assert_eq!(
            (asked.sample_stack_user, asked.context_switch(), asked.mmap2(), asked.task()),
            (4096, 0, 0, 0)
        );
        assert_eq!((asked.exclude_callchain_kernel(), asked.exclude_callchain_user()), (1, 1));
    }

    #[test]
    fn without_the_kernel_neither_it_nor_a_hypervisor_is_sampled_and_children_inherit() {
        let spec = EventSpec {
            sees_kernel: false,
            is_inherited: true,
            ..spec(SampleSource::Running(SampledEvent::Cycles))
        };
        let asked = spec.attributes(spec.ring_bytes());
        assert_eq!((asked.exclude_kernel(), asked.exclude_hv(), asked.inherit()), (1, 1, 1));
    }
}
