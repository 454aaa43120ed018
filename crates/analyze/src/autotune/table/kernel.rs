//! Settings of the kernel that have one value for the host, or for its network namespace.

use super::super::remedy::{Remedy, ValueStep};
use super::{NONE, change};

pub(super) const REMEDIES: &[Remedy] = &[
    Remedy {
        id: "accept-queue",
        title: "kernel: {} connections may wait for the server",
        changes: &[
            change("listener.*.backlog", ValueStep::AtLeast(4096), ""),
            change("net.core.somaxconn", ValueStep::OfFirst(1), ""),
        ],
        when: &["T01", "T03", "T04"],
        why: "a full accept queue drops connections, which come again after a second; half-open ones are limited by its length, too",
        source: "listen(2); admin-guide/sysctl/net.rst",
        ..NONE
    },
    Remedy {
        id: "syn-queue",
        title: "kernel: {} half-open connections",
        changes: &[change("net.ipv4.tcp_max_syn_backlog", ValueStep::AtLeast(8192), "")],
        when: &["T03", "T04"],
        why: "a full queue of half-open connections drops new ones, or answers them by cookies",
        source: "networking/ip-sysctl.rst",
        ..NONE
    },
    Remedy {
        id: "receive-backlog",
        title: "kernel: {} packets may wait for each CPU",
        changes: &[change("net.core.netdev_max_backlog", ValueStep::AtLeast(10_000), "")],
        when: &["N04", "N07"],
        why: "packets beyond it are dropped before TCP sees them",
        source: "admin-guide/sysctl/net.rst",
        ..NONE
    },
    Remedy {
        id: "receive-budget",
        title: "kernel: {} packets in one round of receiving",
        changes: &[
            change("net.core.netdev_budget", ValueStep::Times(2, 1200), ""),
            change("net.core.netdev_budget_usecs", ValueStep::AtLeast(16_000), ""),
        ],
        when: &["N05"],
        why: "rounds end before the queue of the card is empty",
        source: "admin-guide/sysctl/net.rst",
        ..NONE
    },
    Remedy {
        id: "time-wait",
        title: "kernel: {} sockets in TIME-WAIT",
        changes: &[change("net.ipv4.tcp_max_tw_buckets", ValueStep::Times(4, 1 << 21), "")],
        when: &["T05"],
        why: "sockets beyond it are closed at once, and late packets meet the wrong connection",
        source: "networking/ip-sysctl.rst",
        ..NONE
    },
    Remedy {
        id: "descriptors-of-host",
        title: "kernel: {} open files on the host",
        changes: &[change("fs.file-max", ValueStep::Times(4, 1 << 30), "")],
        when: &["F02", "L01: The host ran out of file descriptors"],
        why: "no process can open another file or connection",
        source: "admin-guide/sysctl/fs.rst",
        ..NONE
    },
    Remedy {
        id: "swapping",
        title: "kernel: swaps as late as it can",
        changes: &[change("vm.swappiness", ValueStep::AtMost(1), "")],
        when: &["E03"],
        why: "pages of the server are written to disk and read again",
        source: "admin-guide/sysctl/vm.rst",
        ..NONE
    },
    Remedy {
        id: "connection-tracking",
        title: "kernel: {} connections can be tracked",
        changes: &[change("net.netfilter.nf_conntrack_max", ValueStep::Times(4, 1 << 22), "")],
        when: &["T12", "L02: The table of tracked connections"],
        why: "packets of new connections are dropped when the table is full",
        source: "networking/nf_conntrack-sysctl.rst",
        ..NONE
    },
    Remedy {
        id: "neighbors",
        title: "kernel: {} neighbors can be known",
        changes: &[change("net.ipv4.neigh.default.gc_thresh3", ValueStep::Times(4, 1 << 18), "")],
        when: &["T17", "L02: The table of neighbors"],
        why: "packets to a neighbor that finds no place in the table are dropped",
        source: "networking/ip-sysctl.rst",
        ..NONE
    },
    Remedy {
        id: "tasks-of-host",
        title: "kernel: {} processes and threads on the host",
        changes: &[
            change("kernel.pid_max", ValueStep::Times(4, 1 << 22), ""),
            change("kernel.threads-max", ValueStep::OfFirst(1), ""),
        ],
        when: &["F15"],
        why: "no process can start another one, or a thread",
        source: "admin-guide/sysctl/kernel.rst",
        ..NONE
    },
    Remedy {
        id: "orphans",
        title: "kernel: {} connections that only the server has closed",
        changes: &[change("net.ipv4.tcp_max_orphans", ValueStep::Times(4, 1 << 20), "")],
        when: &["T09", "L02: Too many connections were closed by one side"],
        why: "connections beyond it are reset while the last data is still on the way",
        source: "networking/ip-sysctl.rst",
        ..NONE
    },
    Remedy {
        id: "local-ports",
        title: "kernel: all ports for outgoing connections",
        changes: &[change("net.ipv4.ip_local_port_range", ValueStep::To("1024 65535"), "")],
        when: &["L01: All ports to a back end"],
        why: "a proxy without a free port cannot connect to its backend",
        source: "networking/ip-sysctl.rst",
        ..NONE
    },
    Remedy {
        id: "time-wait-ports",
        title: "kernel: ports in TIME-WAIT are used again",
        changes: &[change("net.ipv4.tcp_tw_reuse", ValueStep::To("1"), "")],
        when: &["L01: All ports to a back end"],
        why: "each connection that a proxy closed keeps its port for a minute",
        source: "networking/ip-sysctl.rst",
        ..NONE
    },
    Remedy {
        id: "idle-window",
        title: "kernel: connections that paused send as fast as before",
        changes: &[change("net.ipv4.tcp_slow_start_after_idle", ValueStep::To("0"), "")],
        when: &["N22"],
        why: "after a pause each response takes more round trips",
        source: "networking/ip-sysctl.rst",
        ..NONE
    },
    Remedy {
        id: "early-writeback",
        title: "kernel: writes to disks early and in small parts",
        changes: &[
            change("vm.dirty_background_ratio", ValueStep::AtMost(1), ""),
            change("vm.dirty_writeback_centisecs", ValueStep::AtMost(100), ""),
        ],
        when: &["D07", "E06"],
        why: "what has collected for many seconds is written at once, and readers wait behind it",
        source: "admin-guide/sysctl/vm.rst",
        ..NONE
    },
];
