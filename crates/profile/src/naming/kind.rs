//! Which kind of code a frame belongs to, and where programs and threads begin.

use crate::frames::RawFrame;
use sysdyno_record::profile::FrameKind;

/// Functions of the kernel that run softirqs. Source: `kernel/softirq.c`; the name changed with Linux 6.10.
const SOFTIRQ: [&str; 3] = ["handle_softirqs", "__do_softirq", "__softirqentry_text_start"];

/// Functions through which interrupts come. Source: `arch/x86/include/asm/idtentry.h`, `arch/arm64/kernel/entry.S`.
const IRQ: [&str; 6] =
    ["asm_common_interrupt", "common_interrupt", "el0t_64_irq", "el1h_64_irq", "asm_sysvec_", "sysvec_"];

/// Functions in which user stacks begin: those of programs, of threads, and of goroutines.
const ENTRIES: [&str; 12] = [
    "_start",
    "_dl_start_user",
    "__libc_start_main",
    "__libc_start_call_main",
    "clone",
    "__clone",
    "clone3",
    "__clone3",
    "start_thread",
    "thread_start",
    "runtime.goexit",
    "runtime.mstart",
];

/// Functions by which a thread gives its CPU away, whatever for. Source: `kernel/sched/core.c`, `kernel/time/sleep_timeout.c`.
const SWITCH: [&str; 10] = [
    "schedule",
    "__schedule",
    "schedule_idle",
    "schedule_preempt_disabled",
    "schedule_timeout",
    "schedule_hrtimeout",
    "schedule_hrtimeout_range",
    "schedule_hrtimeout_range_clock",
    "io_schedule",
    "io_schedule_timeout",
];

/// Whether a function of the kernel only gives the CPU away.
pub(super) fn is_switch(name: &str) -> bool {
    SWITCH.contains(&name)
}

/// Follows a stack from its outermost frame.
#[derive(Debug, Default)]
pub(super) struct KindWalk {
    inside: Option<FrameKind>,
}

impl KindWalk {
    /// The kind of the next frame.
    pub(super) fn kind(&mut self, place: RawFrame, name: &str) -> FrameKind {
        match place {
            RawFrame::Kernel(_) => {}
            RawFrame::Preempted => return FrameKind::Kernel,
            RawFrame::File { .. } | RawFrame::Memory { .. } | RawFrame::Nowhere => return FrameKind::User,
        }
        if SOFTIRQ.contains(&name) {
            self.inside = Some(FrameKind::SoftIrq);
        } else if IRQ.iter().any(|irq| name == *irq || (irq.ends_with('_') && name.starts_with(irq))) {
            self.inside = Some(FrameKind::Irq);
        }
        self.inside.unwrap_or(FrameKind::Kernel)
    }
}

/// Whether a user stack that begins with this function is whole. Versions as in `__libc_start_main@@GLIBC_2.34` are skipped.
pub(super) fn is_entry(name: &str) -> bool {
    let plain = name.split('@').next().unwrap_or(name);
    let plain = plain.strip_suffix("_impl").unwrap_or(plain);
    ENTRIES.contains(&plain) || plain.starts_with("runtime.goexit") || plain.starts_with("runtime.mstart")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_in_a_softirq_is_no_longer_on_the_account_of_the_program() {
        let stack = [
            (RawFrame::Nowhere, "main", FrameKind::User),
            (RawFrame::Kernel(1), "do_syscall_64", FrameKind::Kernel),
            (RawFrame::Kernel(2), "asm_sysvec_apic_timer_interrupt", FrameKind::Irq),
            (RawFrame::Kernel(3), "irq_exit_rcu", FrameKind::Irq),
            (RawFrame::Kernel(4), "handle_softirqs", FrameKind::SoftIrq),
            (RawFrame::Kernel(5), "net_rx_action", FrameKind::SoftIrq),
        ];
        let mut walk = KindWalk::default();
        for (place, name, expected) in stack {
            assert_eq!(walk.kind(place, name), expected, "{name}");
        }
    }

    #[test]
    fn stacks_begin_where_programs_and_threads_do() {
        for name in
            ["_start", "__libc_start_main@@GLIBC_2.34", "__libc_start_main_impl", "runtime.goexit.abi0"]
        {
            assert!(is_entry(name), "{name}");
        }
        for name in ["main", "[libc.so.6]", "start"] {
            assert!(!is_entry(name), "{name}");
        }
    }
}
