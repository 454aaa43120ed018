//! The events requested from the kernel: one per CPU, for all processes, with its ring.
//!
//! On-CPU, `cpu-clock` interrupts each CPU at a fixed rate, also where a machine has no counters of its own, as most virtual ones
//! have none; idle CPUs are left out. Off-CPU, `context-switches` occurs at each switch away from a thread, while its stack is still
//! there, and a record says when the thread runs again. Both bring the records from which address spaces are known.
//! All times are those of `CLOCK_MONOTONIC`, so that they fit those of the load.

use crate::ProfileError;
use crate::registers;
use crate::sys::{self, PerfRing, bindings as abi};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
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

/// An event of one CPU and its ring.
pub(crate) struct CpuEvent {
    cpu: u32,
    name: &'static str,
    fd: OwnedFd,
    ring: PerfRing,
}

impl CpuEvent {
    /// Opens the event of a kind, without starting it.
    pub(crate) fn open(kind: ProfileKind, rate_hz: u32, cpu: u32) -> Result<CpuEvent, ProfileError> {
        let (name, data_bytes) = match kind {
            ProfileKind::OnCpu => ("cpu-clock", on_cpu_bytes(rate_hz)),
            ProfileKind::OffCpu => ("context-switches", OFF_CPU_BYTES),
        };
        let fd =
            sys::open_on_cpu(&attributes(kind, rate_hz), cpu).map_err(|source| refused(source, name, cpu))?;
        let pages = (data_bytes / rustix::param::page_size()).max(1);
        let ring = PerfRing::map(fd.as_fd(), pages).map_err(event_error("map", name, cpu))?;
        Ok(CpuEvent { cpu, name, fd, ring })
    }

    /// Starts it.
    pub(crate) fn start(&self) -> Result<(), ProfileError> {
        sys::enable(self.fd.as_fd()).map_err(event_error("start", self.name, self.cpu))
    }

    /// Stops it; what it has written can still be read.
    pub(crate) fn stop(&self) {
        // It may be gone, with its CPU; then it writes no more.
        let _ = sys::disable(self.fd.as_fd());
    }

    /// Appends what it has written.
    pub(crate) fn drain(&mut self, bytes: &mut Vec<u8>) {
        self.ring.drain(bytes);
    }
}

/// Waits until a ring is half full, at most for this long.
pub(crate) fn wait(events: &[CpuEvent], timeout: Duration) {
    let mut polled: Vec<PollFd<'_>> =
        events.iter().map(|event| PollFd::new(&event.fd, PollFlags::IN)).collect();
    let timeout = Timespec::try_from(timeout).ok();
    // A signal ends the wait, and so does any error: whoever waits looks at the rings anyway.
    let _ = poll(&mut polled, timeout.as_ref());
}

fn attributes(kind: ProfileKind, rate_hz: u32) -> abi::perf_event_attr {
    let mut asked = abi::perf_event_attr {
        type_: abi::PERF_TYPE_SOFTWARE,
        clockid: libc::CLOCK_MONOTONIC,
        sample_type: (abi::PERF_SAMPLE_TID | abi::PERF_SAMPLE_TIME | abi::PERF_SAMPLE_CALLCHAIN).into(),
        ..abi::perf_event_attr::default()
    };
    asked.set_disabled(1);
    asked.set_use_clockid(1);
    asked.set_sample_id_all(1);
    asked.set_mmap(1);
    asked.set_mmap2(1);
    asked.set_comm(1);
    asked.set_comm_exec(1);
    asked.set_task(1);
    asked.set_watermark(1);
    match kind {
        ProfileKind::OnCpu => {
            asked.config = abi::PERF_COUNT_SW_CPU_CLOCK.into();
            asked.set_freq(1);
            asked.__bindgen_anon_1.sample_freq = rate_hz.into();
            asked.set_exclude_idle(1);
            asked.__bindgen_anon_2.wakeup_watermark = (on_cpu_bytes(rate_hz) / 2) as u32;
            asked.sample_type |= u64::from(abi::PERF_SAMPLE_REGS_USER | abi::PERF_SAMPLE_STACK_USER);
            asked.sample_regs_user = registers::mask();
            asked.sample_stack_user = stack_bytes(rate_hz);
        }
        ProfileKind::OffCpu => {
            asked.config = abi::PERF_COUNT_SW_CONTEXT_SWITCHES.into();
            asked.__bindgen_anon_1.sample_period = 1;
            asked.set_context_switch(1);
            asked.__bindgen_anon_2.wakeup_watermark = (OFF_CPU_BYTES / 2) as u32;
        }
    }
    asked
}

/// What is copied of a stack at this rate: less at high rates, so that copying takes as much as at 1,024 Hz.
fn stack_bytes(rate_hz: u32) -> u32 {
    // In whole words, as the kernel wants it.
    (STACKS_SECOND_MAX / rate_hz.max(1)).min(STACK_MAX) / 8 * 8
}

/// A ring for the samples of half a second.
fn on_cpu_bytes(rate_hz: u32) -> usize {
    let second = rate_hz as usize * (stack_bytes(rate_hz) + CHAIN_BYTES) as usize;
    (second / 2).next_power_of_two().clamp(ON_CPU_MIN, ON_CPU_MAX)
}

fn refused(source: io::Error, event: &'static str, cpu: u32) -> ProfileError {
    match source.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
            let paranoid = paranoid.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned());
            ProfileError::NotAllowed { paranoid, source }
        }
        Some(libc::ENOSYS) => ProfileError::NoPerfEvents,
        _ => ProfileError::Event { operation: "open", event, cpu, source },
    }
}

fn event_error(
    operation: &'static str,
    event: &'static str,
    cpu: u32,
) -> impl FnOnce(io::Error) -> ProfileError {
    move |source| ProfileError::Event { operation, event, cpu, source }
}
