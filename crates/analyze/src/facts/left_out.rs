//! Facts to leave out of a comparison: those that differ between two readings of the same host, and those implied by
//! another fact.

use super::pattern;

/// Which facts say nothing when they differ.
#[derive(Debug)]
pub struct LeftOut {
    /// Names of the facts; `*` stands for any characters.
    pub pattern: &'static str,
    /// Why they say nothing, in a phrase.
    pub reason: &'static str,
}

const fn left_out(pattern: &'static str, reason: &'static str) -> LeftOut {
    LeftOut { pattern, reason }
}

/// All of them.
pub const LEFT_OUT: &[LeftOut] = &[
    left_out("kernel.boot_id", "random at every boot"),
    left_out("kernel.uptime_seconds", "grows over time"),
    left_out("nic.*.irqs", "numbered at every boot"),
    left_out("nic.*.pci_slot", "where the card is plugged in"),
    left_out("load.*", "whatever was running at the time"),
    left_out("sysctl.kernel.arch", "reported as kernel.architecture"),
    left_out("sysctl.kernel.osrelease", "reported as kernel.release"),
    left_out("sysctl.kernel.version", "reported as kernel.version"),
    left_out("sysctl.kernel.perf_event_max_sample_rate", "the kernel lowers it on demand"),
    left_out("sysctl.kernel.hung_task_detect_count", "a counter"),
    left_out("sysctl.kernel.hung_task_warnings", "a countdown of the kernel"),
    left_out("sysctl.kernel.cad_pid", "a process"),
    left_out("sysctl.kernel.*_next_id", "the most recent one"),
    left_out("sysctl.kernel.sched_domain.*", "the kernel adjusts it"),
    left_out("sysctl.debug.*", "state, not a setting"),
    left_out("sysctl.fs.quota.*", "counters"),
    left_out("sysctl.fs.xfs.stats_clear", "an action, not a setting"),
    left_out("sysctl.net.ipv4.route.flush", "an action, not a setting"),
    left_out("sysctl.net.ipv6.route.flush", "an action, not a setting"),
];

/// Why a fact says nothing; `None`: it says something.
pub fn reason(name: &str) -> Option<&'static str> {
    LEFT_OUT.iter().find(|entry| pattern::matches(entry.pattern, name)).map(|entry| entry.reason)
}
