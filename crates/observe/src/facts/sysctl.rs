//! Facts about the kernel's settings: every setting that can be read, and, for those that matter to a server's capacity,
//! also the reason why one cannot be read.
//!
//! Left out: secrets, settings that identify a machine, counters and other values that change by themselves, and files with
//! side effects on reading.

use super::sheet::{Sheet, list_kinds};
use crate::source::decimal;
use std::path::Path;

pub(super) fn read(sheet: &mut Sheet<'_>) {
    for name in NAMES {
        let path = sheet.roots.in_proc("sys").join(name.replace('.', "/"));
        read_setting(sheet, name, &path);
    }
    read_all(sheet);
}

fn read_setting(sheet: &mut Sheet<'_>, name: &str, path: &Path) {
    let answer = sheet.read(path);
    let number = answer.as_ref().ok().and_then(|text| decimal(text.as_bytes()));
    match number {
        Some(number) => sheet.number(format!("sysctl.{name}"), Ok(number as f64)),
        None => sheet.text(format!("sysctl.{name}"), answer),
    }
}

/// Folders below `/proc/sys` that are not walked through: the first may be mounted by looking into it, the others hold
/// random numbers and addresses.
const LEFT_OUT_FOLDERS: &[&str] = &["fs/binfmt_misc", "kernel/random", "lnet"];

/// Files that are left out, wherever they are: secrets, names, command lines that may hold such, values that change by
/// themselves (the second group), and what acts when it is read (`stat_refresh`).
const LEFT_OUT: &[&str] = &[
    "core_pattern",
    "domainname",
    "hostid",
    "hostname",
    "hotplug",
    "modprobe",
    "netdev_rss_key",
    "poweroff_cmd",
    "stable_secret",
    "tcp_fastopen_key",
    "aio-nr",
    "dentry-state",
    "file-nr",
    "inode-nr",
    "inode-state",
    "nf_conntrack_count",
    "nr",
    "ns_last_pid",
    "quota",
    "tainted",
    "stat_refresh",
];

/// Folders are nested at most this deep.
const MAX_DEPTH: usize = 8;
/// At most this many settings are listed.
const MAX_SETTINGS: usize = 12_000;

/// Reads whatever is there.
fn read_all(sheet: &mut Sheet<'_>) {
    let root = sheet.roots.in_proc("sys");
    let mut waiting = vec![(root.clone(), String::new(), 0)];
    let mut left = MAX_SETTINGS;
    while let Some((folder, name, depth)) = waiting.pop() {
        let is_left_out = LEFT_OUT_FOLDERS.iter().any(|left_out| folder == root.join(left_out));
        if is_left_out || depth > MAX_DEPTH {
            continue;
        }
        for (entry, is_folder) in list_kinds(&folder) {
            // As sysctl(8) writes it: a point in a name, as in `eth0.100`, becomes a slash.
            let dotted = entry.replace('.', "/");
            let full = if name.is_empty() { dotted } else { format!("{name}.{dotted}") };
            let path = folder.join(&entry);
            if is_folder {
                waiting.push((path, full, depth + 1));
            } else if left > 0 && !LEFT_OUT.contains(&entry.as_str()) {
                left -= 1;
                read_setting(sheet, &full, &path);
            }
        }
    }
}

/// Settings that are told of even where they are missing. Those of `net` are of this process's network namespace.
const NAMES: &[&str] = &[
    "fs.aio-max-nr",
    "fs.epoll.max_user_watches",
    "fs.file-max",
    "fs.inotify.max_user_watches",
    "fs.nr_open",
    "kernel.numa_balancing",
    "kernel.perf_event_paranoid",
    "kernel.pid_max",
    "kernel.randomize_va_space",
    "kernel.sched_autogroup_enabled",
    "kernel.sched_cfs_bandwidth_slice_us",
    "kernel.sched_rt_runtime_us",
    "kernel.threads-max",
    "kernel.timer_migration",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.default_qdisc",
    "net.core.dev_weight",
    "net.core.flow_limit_table_len",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_max_backlog",
    "net.core.optmem_max",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.rps_sock_flow_entries",
    "net.core.somaxconn",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.ip_forward",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_abort_on_overflow",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_fastopen",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_max_orphans",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_syn_retries",
    "net.ipv4.tcp_synack_retries",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
    "net.ipv4.udp_mem",
    "net.netfilter.nf_conntrack_buckets",
    "net.netfilter.nf_conntrack_max",
    "vm.dirty_background_bytes",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_expire_centisecs",
    "vm.dirty_ratio",
    "vm.dirty_writeback_centisecs",
    "vm.max_map_count",
    "vm.min_free_kbytes",
    "vm.nr_hugepages",
    "vm.overcommit_memory",
    "vm.overcommit_ratio",
    "vm.swappiness",
    "vm.vfs_cache_pressure",
    "vm.watermark_scale_factor",
    "vm.zone_reclaim_mode",
];
