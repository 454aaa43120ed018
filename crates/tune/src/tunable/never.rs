//! Settings that are known and never changed, with the reason.

/// What cannot be taken back.
const ONE_WAY: &str = "it can only be set in one direction until the next boot";
/// What acts and holds nothing.
const ACTS: &str = "writing it triggers an action, so there is no value to restore";
/// What drags others along.
const DRAGS: &str = "writing it changes other settings, which its old value does not restore";
/// What runs programs.
const RUNS: &str = "it names a program that the kernel runs, or controls crash handling";
/// What guards.
const GUARDS: &str = "it protects the host against attacks or data loss; it is not a performance setting";
/// What is given in part.
const PARTLY: &str = "the kernel may grant less than requested, so the old state cannot be guaranteed";
/// What is not shown.
const HIDDEN: &str = "its old value cannot be read, or must not be written down";

/// Beginnings of names, and why what begins so is never changed.
const NEVER: &[(&str, &str)] = &[
    ("kernel.modules_disabled", ONE_WAY),
    ("kernel.kexec_load_disabled", ONE_WAY),
    ("kernel.kexec_load_limit_", ONE_WAY),
    ("kernel.unprivileged_bpf_disabled", ONE_WAY),
    ("kernel.yama.ptrace_scope", ONE_WAY),
    ("kernel.tainted", ONE_WAY),
    ("kernel.bootloader_", ONE_WAY),
    ("vm.drop_caches", ACTS),
    ("vm.compact_memory", ACTS),
    ("vm.stat_refresh", ACTS),
    ("net.ipv4.route.flush", ACTS),
    ("net.ipv6.route.flush", ACTS),
    ("kernel.ns_last_pid", ACTS),
    ("net.ipv4.ip_forward", DRAGS),
    ("net.ipv4.conf.all.forwarding", DRAGS),
    ("net.ipv6.conf.all.forwarding", DRAGS),
    ("net.ipv6.conf.all.disable_ipv6", DRAGS),
    ("net.ipv6.conf.default.disable_ipv6", DRAGS),
    ("net.core.default_qdisc", DRAGS),
    ("kernel.core_pattern", RUNS),
    ("kernel.modprobe", RUNS),
    ("kernel.hotplug", RUNS),
    ("kernel.poweroff_cmd", RUNS),
    ("kernel.core_", RUNS),
    ("kernel.panic", GUARDS),
    ("kernel.randomize_va_space", GUARDS),
    ("kernel.sysrq", GUARDS),
    ("kernel.dmesg_restrict", GUARDS),
    ("fs.protected_", GUARDS),
    ("fs.suid_dumpable", GUARDS),
    ("vm.mmap_min_addr", GUARDS),
    ("vm.mmap_rnd_", GUARDS),
    ("vm.panic_on_oom", GUARDS),
    ("vm.nr_hugepages", PARTLY),
    ("kernel.perf_event_max_sample_rate", PARTLY),
    ("net.netfilter.nf_conntrack_buckets", PARTLY),
    ("net.ipv4.tcp_fastopen_key", HIDDEN),
    ("net.ipv4.fib_multipath_hash_seed", HIDDEN),
    ("kernel.random.", HIDDEN),
];

/// Why the setting of this name is never changed; `None` if nothing is known against it.
pub fn never(key: &str) -> Option<&'static str> {
    let matches = |beginning: &str| match key.strip_prefix(beginning) {
        Some(rest) => rest.is_empty() || beginning.ends_with(['_', '.']) || rest.starts_with('_'),
        None => false,
    };
    NEVER.iter().find(|(beginning, _)| matches(beginning)).map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_refused_as_a_whole_or_by_their_family() {
        assert_eq!(never("kernel.modules_disabled"), Some(ONE_WAY));
        assert_eq!(never("kernel.core_uses_pid"), Some(RUNS));
        assert_eq!(never("vm.nr_hugepages_mempolicy"), Some(PARTLY));
        assert_eq!(never("net.ipv4.ip_forward_use_pmtu"), Some(DRAGS));
        assert_eq!(never("vm.swappiness"), None);
    }
}
