//! The attributes with which events are requested: what is sampled, how often, and what each record contains.
//!
//! On-CPU, `cpu-clock` interrupts each CPU at a fixed rate, also where a machine has no counters of its own, as most virtual ones
//! have none; idle CPUs are left out. Off-CPU, `context-switches` occurs at each switch away from a thread, while its stack is still
//! there, and a record says when the thread runs again. Both bring the records from which address spaces are known.
//! All times are those of `CLOCK_MONOTONIC`, so that they fit those of the load.

use crate::registers;
use crate::sys::bindings as abi;
use sysdyno_record::profile::ProfileKind;

/// Data of a ring. Unit: bytes. Switches of a CPU take up to some 50 MB a second, without a copy of any stack.
const OFF_CPU_BYTES: usize = 1 << 23;

/// What is copied of a program's stack at most, and what all copies of a CPU may take each second. Unit: bytes.
const STACK_MAX: u32 = 16 << 10;
const STACKS_SECOND_MAX: u32 = 16 << 20;

/// A sample without its copy: 127 frames, registers, and header. Unit: bytes.
const CHAIN_BYTES: u32 = 1_200;

/// Smallest and largest ring of samples. Unit: bytes.
const ON_CPU_MIN: usize = 1 << 19;
const ON_CPU_MAX: usize = 1 << 24;

/// What is asked of the kernel on each CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventSpec {
    pub(super) kind: ProfileKind,
    pub(super) rate_hz: u32,
    /// Whether what runs in the kernel is sampled, too.
    pub(super) sees_kernel: bool,
    /// Whether the event follows the children of its thread; one of a CPU sees them anyway.
    pub(super) is_inherited: bool,
}

impl EventSpec {
    /// Its name, as perf has it.
    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            ProfileKind::OnCpu => "cpu-clock",
            ProfileKind::OffCpu => "context-switches",
        }
    }

    /// A ring for the records of half a second. Unit: bytes, a power of two.
    pub(super) fn ring_bytes(&self) -> usize {
        match self.kind {
            ProfileKind::OnCpu => {
                let second = self.rate_hz as usize * (stack_bytes(self.rate_hz) + CHAIN_BYTES) as usize;
                (second / 2).next_power_of_two().clamp(ON_CPU_MIN, ON_CPU_MAX)
            }
            ProfileKind::OffCpu => OFF_CPU_BYTES,
        }
    }

    /// The attributes of an event that is disabled at first, and wakes its reader when a ring of this size is half full.
    pub(super) fn attributes(&self, ring_bytes: usize) -> abi::perf_event_attr {
        let mut asked = abi::perf_event_attr {
            type_: abi::PERF_TYPE_SOFTWARE,
            clockid: libc::CLOCK_MONOTONIC,
            sample_type: (abi::PERF_SAMPLE_TID | abi::PERF_SAMPLE_TIME | abi::PERF_SAMPLE_CALLCHAIN).into(),
            ..abi::perf_event_attr::default()
        };
        asked.set_disabled(1);
        asked.set_inherit(self.is_inherited.into());
        asked.set_exclude_kernel((!self.sees_kernel).into());
        asked.set_exclude_hv((!self.sees_kernel).into());
        asked.set_use_clockid(1);
        asked.set_sample_id_all(1);
        asked.set_mmap(1);
        asked.set_mmap2(1);
        asked.set_comm(1);
        asked.set_comm_exec(1);
        asked.set_task(1);
        asked.set_watermark(1);
        asked.__bindgen_anon_2.wakeup_watermark = u32::try_from(ring_bytes / 2).unwrap_or(u32::MAX);
        match self.kind {
            ProfileKind::OnCpu => {
                asked.config = abi::PERF_COUNT_SW_CPU_CLOCK.into();
                asked.set_freq(1);
                asked.__bindgen_anon_1.sample_freq = self.rate_hz.into();
                asked.set_exclude_idle(1);
                asked.sample_type |= u64::from(abi::PERF_SAMPLE_REGS_USER | abi::PERF_SAMPLE_STACK_USER);
                asked.sample_regs_user = registers::mask();
                asked.sample_stack_user = stack_bytes(self.rate_hz);
            }
            ProfileKind::OffCpu => {
                asked.config = abi::PERF_COUNT_SW_CONTEXT_SWITCHES.into();
                asked.__bindgen_anon_1.sample_period = 1;
                asked.set_context_switch(1);
            }
        }
        asked
    }
}

/// What is copied of a stack at this rate: less at high rates, so that copying takes as much as at 1,024 Hz.
fn stack_bytes(rate_hz: u32) -> u32 {
    // In whole words, as the kernel wants it.
    (STACKS_SECOND_MAX / rate_hz.max(1)).min(STACK_MAX) / 8 * 8
}
