//! TCP.

use super::{EffectTime, FLAG, INT_MAX, Risk, Scope, Tunable, int};
use crate::value::ValueKind;

const fn tcp(id: &'static str, kind: ValueKind, unit: &'static str, does: &'static str) -> Tunable {
    Tunable::new(id, kind, unit, does).of(Scope::Network, "networking/ip-sysctl.rst")
}

const fn rising(min: i128) -> ValueKind {
    ValueKind::Rising { count: 3, min, max: INT_MAX }
}

/// The settings below `net.ipv4.tcp_`.
pub const TABLE: &[Tunable] = &[
    tcp("net.ipv4.tcp_max_syn_backlog", int(1, INT_MAX), "requests",
        "Maximum number of half-open connections per listener. With SYN cookies on, the listener's own \
         backlog applies first.")
        .felt(EffectTime::NewListeners),
    tcp("net.ipv4.tcp_syncookies", int(0, 2), "mode",
        "SYN cookies: never (0), when the SYN queue is full (1), or always (2). Cookies keep a flooded \
         server reachable, but without timestamps they lose window scaling and SACK."),
    tcp("net.ipv4.tcp_abort_on_overflow", FLAG, "switch",
        "Whether connections that find the accept queue full are reset instead of left to retry. Clients \
         then fail immediately instead of waiting for seconds, even in bursts that would have passed.")
        .risks(Risk::Medium),
    tcp("net.ipv4.tcp_synack_retries", int(0, 255), "retransmissions",
        "How often a SYN-ACK is retransmitted. Fewer retries free the queue sooner from clients that are \
         gone."),
    tcp("net.ipv4.tcp_syn_retries", int(1, 127), "retransmissions",
        "How often this host retransmits a SYN. It decides how long connect takes to give up."),
    tcp("net.ipv4.tcp_syn_linear_timeouts", int(0, 127), "retransmissions",
        "How many of the first repeated requests are a second apart, before the waits double. It shows as ticks in the latency of connections whose request was dropped."),
    tcp("net.ipv4.tcp_retries1", int(0, 255), "retransmissions",
        "Retransmissions after which the route is suspected and looked up again. The connection goes on."),
    tcp("net.ipv4.tcp_retries2", int(3, 255), "retransmissions",
        "Retransmissions after which an established connection times out. 15 take about 15 minutes; fewer \
         free the memory of dead peers sooner.")
        .risks(Risk::Medium),
    tcp("net.ipv4.tcp_orphan_retries", int(0, 255), "retransmissions",
        "Retransmissions after which a connection that its program has closed is given up. Busy web servers lower it to free memory; 0 means 8."),
    tcp("net.ipv4.tcp_fin_timeout", int(1, 3600), "seconds",
        "How long a closed connection waits for the peer to close. It applies to FIN_WAIT_2 only, not to \
         TIME_WAIT."),
    tcp("net.ipv4.tcp_keepalive_time", int(1, 32_767), "seconds",
        "Idle time after which a connection with SO_KEEPALIVE is probed. Lower finds dead peers sooner, and keeps entries in firewalls alive."),
    tcp("net.ipv4.tcp_keepalive_intvl", int(1, 32_767), "seconds",
        "Time between two probes of an idle connection. With tcp_keepalive_probes it decides how long a dead peer is kept."),
    tcp("net.ipv4.tcp_keepalive_probes", int(1, 127), "probes",
        "Unanswered probes after which an idle connection is given up. It counts for sockets with SO_KEEPALIVE that do not set TCP_KEEPCNT."),
    tcp("net.ipv4.tcp_max_tw_buckets", int(0, INT_MAX), "sockets",
        "Maximum number of sockets in TIME_WAIT; above it, they are closed immediately with a warning. Too \
         few let old segments into new connections.")
        .risks(Risk::Medium),
    tcp("net.ipv4.tcp_tw_reuse", int(0, 2), "mode",
        "Whether outgoing connections may take over a port in TIME_WAIT: never (0), always (1), on loopback (2). It relieves clients and proxies that run out of ports; it needs time stamps."),
    tcp("net.ipv4.tcp_tw_reuse_delay", int(1, 60_000), "milliseconds",
        "Age from which a port in TIME_WAIT can be taken over. Shorter suits quick local networks."),
    tcp("net.ipv4.tcp_max_orphans", int(64, INT_MAX), "sockets",
        "Maximum number of orphaned sockets; above it, they are reset. Each may hold 64 KiB of unswappable \
         memory.")
        .of(Scope::InitialNetwork, "networking/ip-sysctl.rst").risks(Risk::Medium),
    tcp("net.ipv4.tcp_mem", rising(64), "pages",
        "Memory of all TCP sockets at which buffers are unrestricted, are held back, and may not grow. Above \
         the last, segments are dropped.")
        .of(Scope::InitialNetwork, "networking/ip-sysctl.rst").risks(Risk::High),
    tcp("net.ipv4.tcp_rmem", rising(1), "bytes",
        "Minimum, default, and maximum receive buffer of a connection. The maximum limits the window, and so \
         rate times round trip.")
        .felt(EffectTime::NewSockets).risks(Risk::Medium),
    tcp("net.ipv4.tcp_wmem", rising(1), "bytes",
        "Minimum, default, and maximum send buffer of a connection. The maximum limits the data in flight, \
         and so rate times round trip.")
        .felt(EffectTime::NewSockets).risks(Risk::Medium),
    tcp("net.ipv4.tcp_congestion_control", ValueKind::Listed { file: "/proc/sys/net/ipv4/tcp_available_congestion_control" }, "name",
        "Congestion control of new connections. Only algorithms that are already loaded can be chosen, \
         because a loaded module cannot be reliably unloaded.")
        .felt(EffectTime::NewSockets).risks(Risk::Medium),
    tcp("net.ipv4.tcp_window_scaling", FLAG, "switch",
        "Window scaling: whether windows may exceed 64 KiB. Without it, every connection is limited to 64 \
         KiB per round trip.")
        .felt(EffectTime::NewSockets).risks(Risk::Medium),
    tcp("net.ipv4.tcp_timestamps", int(0, 2), "mode",
        "Whether segments carry timestamps: no (0), with a random offset (1), or without (2). They cost 12 \
         bytes per segment, and give better round-trip times and protection from old segments.")
        .felt(EffectTime::NewSockets),
    tcp("net.ipv4.tcp_sack", FLAG, "switch",
        "Whether the receiver says which later segments it has. Off makes a connection that lost several segments much slower.")
        .felt(EffectTime::NewSockets),
    tcp("net.ipv4.tcp_dsack", FLAG, "switch",
        "Whether duplicate segments are reported to the sender. It lets the sender undo a reduction that was not needed.")
        .felt(EffectTime::NewSockets),
    tcp("net.ipv4.tcp_ecn", int(0, 2), "mode",
        "Whether congestion may be marked instead of packets dropped: no (0), asked for (1), when asked (2). It needs routers that mark.")
        .felt(EffectTime::NewSockets),
    tcp("net.ipv4.tcp_fastopen", int(0, 3), "bits",
        "Whether data may go with the connection request: as client (1), as server (2). It saves a round trip where programs ask for it.")
        .felt(EffectTime::NewSockets),
    tcp("net.ipv4.tcp_slow_start_after_idle", FLAG, "switch",
        "Whether a connection starts slowly again after it was idle. Off keeps its window, which helps connections that are kept open between requests."),
    tcp("net.ipv4.tcp_no_metrics_save", FLAG, "switch",
        "Whether nothing is remembered of finished connections to a host. Remembered values speed up the next connection, and carry one bad one over to the next."),
    tcp("net.ipv4.tcp_moderate_rcvbuf", FLAG, "switch",
        "Whether receive buffers grow with what arrives. Off leaves every connection at its first size."),
    tcp("net.ipv4.tcp_autocorking", FLAG, "switch",
        "Whether small writes are held back while earlier ones wait in the device queue. It saves packets, and can add latency to many small writes."),
    tcp("net.ipv4.tcp_limit_output_bytes", int(4096, INT_MAX), "bytes",
        "Maximum data of a connection queued in queueing discipline and device. Lower values keep queues \
         short; too low starves fast links."),
    tcp("net.ipv4.tcp_notsent_lowat", int(1, 4_294_967_295), "bytes",
        "Unsent data in a socket beyond which it does not become writable. Lower keeps less data in the kernel, and wakes the program more often."),
    tcp("net.ipv4.tcp_min_tso_segs", int(1, 128), "segments",
        "Least number of segments that are handed to the device at once. More save CPU; fewer make traffic smoother."),
    tcp("net.ipv4.tcp_tso_win_divisor", int(0, 100), "divisor",
        "Share of the window that one offloaded packet may take, as 1/n. Larger numbers make traffic smoother and cost more CPU."),
    tcp("net.ipv4.tcp_mtu_probing", int(0, 2), "mode",
        "Whether the path's packet size is found by trying: no (0), when packets vanish (1), always (2). It gets around routers that swallow packets that are too large.")
        .felt(EffectTime::NewSockets),
    tcp("net.ipv4.tcp_base_mss", int(88, 65_535), "bytes",
        "Segment size that probing of the path starts from. It counts when tcp_mtu_probing is on.")
        .felt(EffectTime::NewSockets),
    tcp("net.ipv4.tcp_early_retrans", int(0, 4), "mode",
        "Whether a probe is sent when the last segments of a flow stay unanswered (3). It recovers short responses sooner than the timer would; 0 is off."),
    tcp("net.ipv4.tcp_recovery", int(0, 7), "bits",
        "Which parts of time-based loss detection are on; 1 is the detection itself. It tolerates reordering better than counting duplicates."),
    tcp("net.ipv4.tcp_reordering", int(1, 127), "segments",
        "Reordering that is taken for normal at first. More of it delays recovery; less of it retransmits what only took another path.")
        .felt(EffectTime::NewSockets),
    tcp("net.ipv4.tcp_max_reordering", int(1, 10_000), "segments",
        "Maximum reordering that a connection learns to tolerate. It matters on paths that spread packets \
         over several links."),
    tcp("net.ipv4.tcp_frto", int(0, 2), "mode",
        "Whether a timeout is checked for having been spurious. It helps on paths whose delay jumps."),
    tcp("net.ipv4.tcp_thin_linear_timeouts", FLAG, "switch",
        "Whether flows with few packets in flight repeat at even distances instead of doubling ones. It lowers the tail of interactive flows, and sends more on a congested path."),
    tcp("net.ipv4.tcp_pacing_ss_ratio", int(10, 1000), "percent",
        "Pacing rate in slow start, against window per round trip. Lower makes bursts smaller and growth slower."),
    tcp("net.ipv4.tcp_pacing_ca_ratio", int(10, 1000), "percent",
        "Pacing rate in congestion avoidance, against window per round trip. Lower makes bursts smaller and can hold the rate down."),
    tcp("net.ipv4.tcp_comp_sack_nr", int(0, 255), "acknowledgements",
        "How many selective acknowledgements may be merged into one. Merging saves CPU on both sides; 0 is off."),
    tcp("net.ipv4.tcp_comp_sack_delay_ns", int(0, 1_000_000_000), "nanoseconds",
        "How long a selective acknowledgement may wait to be merged. Longer saves more packets, and delays recovery by as much."),
    tcp("net.ipv4.tcp_challenge_ack_limit", int(1, INT_MAX), "segments per second",
        "Maximum number of challenge acknowledgements per second, which answer suspicious segments. \
         Attackers can use a low limit to detect connections."),
    tcp("net.ipv4.tcp_rto_min_us", int(1000, 1_000_000), "microseconds",
        "Minimum retransmission timeout, unless the route sets one. Lower values recover sooner on fast \
         networks, but retransmit needlessly where acknowledgements are delayed.")
        .felt(EffectTime::NewSockets),
    tcp("net.ipv4.tcp_shrink_window", FLAG, "switch",
        "Whether the offered window may shrink when memory gets short. It keeps the receiver within its buffer; some senders do not expect it.")
        .felt(EffectTime::NewSockets),
    tcp("net.ipv4.tcp_migrate_req", FLAG, "switch",
        "Whether waiting connections move to another listener of the same port when theirs closes. It lets servers with SO_REUSEPORT reload without resets."),
    tcp("net.ipv4.tcp_early_demux", FLAG, "switch",
        "Whether a segment's socket is looked up before its route. It saves work for servers, and costs routers a lookup."),
    tcp("net.ipv4.tcp_rfc1337", FLAG, "switch",
        "Whether resets for sockets in TIME_WAIT are dropped. It keeps a stray reset from ending TIME_WAIT early."),
    tcp("net.ipv4.tcp_pingpong_thresh", int(1, 255), "exchanges",
        "Exchanges after which a connection is taken for interactive, and its acknowledgements are delayed. Higher sends more plain acknowledgements."),
    tcp("net.ipv4.tcp_retrans_collapse", FLAG, "switch",
        "Whether small segments are joined when they are sent again. It saves packets; some old receivers have had trouble with it."),
];
