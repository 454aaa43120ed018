//! IPv4 other than TCP: ports, fragments, UDP, ICMP, neighbors, connection tracking.

use super::{EffectTime, FLAG, INT_MAX, LONG_MAX, Risk, Scope, Tunable, int};
use crate::value::ValueKind;

const IP: &str = "networking/ip-sysctl.rst";
const CONNTRACK: &str = "networking/nf_conntrack-sysctl.rst";

/// A setting of each network namespace.
pub(super) const fn own(
    id: &'static str,
    kind: ValueKind,
    unit: &'static str,
    does: &'static str,
) -> Tunable {
    Tunable::new(id, kind, unit, does).of(Scope::Network, IP)
}

/// A setting of the namespace that the host was booted with.
pub(super) const fn host(
    id: &'static str,
    kind: ValueKind,
    unit: &'static str,
    does: &'static str,
) -> Tunable {
    Tunable::new(id, kind, unit, does).of(Scope::InitialNetwork, IP)
}

/// The settings below `net.ipv4.` that are not TCP's, and those of connection tracking.
pub const TABLE: &[Tunable] = &[
    own("net.ipv4.ip_local_port_range", ValueKind::Rising { count: 2, min: 1024, max: 65_535 }, "ports",
        "First and last local port for outgoing connections. A client or proxy can have that many \
         connections to one address and port, including those in TIME_WAIT.")
        .felt(EffectTime::NewSockets),
    own("net.ipv4.ip_default_ttl", int(1, 255), "hops",
        "Hops that a packet of this host may take. Too few make distant hosts unreachable.")
        .risks(Risk::Medium),
    own("net.ipv4.ip_no_pmtu_disc", int(0, 3), "mode",
        "Whether the packet size of a path is left undiscovered (1, 2), or trusted only when protected (3). Without discovery packets are smaller than they could be, or fragmented.")
        .felt(EffectTime::NewSockets).risks(Risk::Medium),
    own("net.ipv4.ip_early_demux", FLAG, "switch",
        "Whether a packet's socket is looked up before its route. It saves work for servers, and costs routers a lookup."),
    own("net.ipv4.ip_nonlocal_bind", FLAG, "switch",
        "Whether a program may bind to an address that the host does not have. Needed by servers that start before a shared address moves to them.")
        .felt(EffectTime::NewSockets),
    own("net.ipv4.ip_autobind_reuse", FLAG, "switch",
        "Whether ports may be shared by sockets that are bound automatically with SO_REUSEADDR. It relieves hosts that run out of ports; such a connect can then fail later.")
        .felt(EffectTime::NewSockets),
    own("net.ipv4.ipfrag_high_thresh", int(65_536, LONG_MAX), "bytes",
        "Memory for fragments of incomplete packets. Above it, new fragments are dropped."),
    own("net.ipv4.ipfrag_time", int(1, 3600), "seconds",
        "How long a fragment waits for the rest. Shorter frees memory sooner when fragments are lost."),
    own("net.ipv4.fib_multipath_hash_policy", int(0, 3), "mode",
        "What spreads flows over several routes: addresses (0), also ports (1), inner packets (2), a chosen set (3). With few pairs of addresses, 0 puts all traffic on one link."),
    own("net.ipv4.udp_early_demux", FLAG, "switch",
        "Whether a datagram's socket is looked up before its route. It helps connected sockets, and costs others a lookup."),
    own("net.ipv4.udp_rmem_min", int(4096, INT_MAX), "bytes",
        "Receive buffer that every UDP socket may use even when UDP memory is short. Above it, datagrams are \
         then dropped."),
    own("net.ipv4.udp_wmem_min", int(4096, INT_MAX), "bytes",
        "Send buffer that every UDP socket may use even when UDP memory is short. Above it, senders then \
         wait."),
    host("net.ipv4.udp_mem", ValueKind::Rising { count: 3, min: 64, max: INT_MAX }, "pages",
        "Memory of all UDP sockets at which it is unrestricted, is held back, and may not grow. Above the \
         last, datagrams are dropped.")
        .risks(Risk::High),
    host("net.ipv4.neigh.default.gc_thresh1", int(0, INT_MAX), "entries",
        "Number of neighbors kept without garbage collection. Raise it together with the other two on \
         networks with thousands of hosts."),
    host("net.ipv4.neigh.default.gc_thresh2", int(1, INT_MAX), "entries",
        "Number of neighbors above which entries older than five seconds are collected. It must be below \
         gc_thresh3 to have an effect."),
    host("net.ipv4.neigh.default.gc_thresh3", int(128, INT_MAX), "entries",
        "Maximum number of neighbors. Above it, new hosts on the local network cannot be reached, and the \
         log says 'neighbour table overflow'.")
        .risks(Risk::Medium),
    own("net.netfilter.nf_conntrack_tcp_timeout_established", int(60, INT_MAX), "seconds",
        "How long an idle established connection stays in the tracking table. Days by default, so that lost connections fill the table.")
        .of(Scope::Network, CONNTRACK).risks(Risk::Medium),
    own("net.netfilter.nf_conntrack_tcp_timeout_time_wait", int(1, 3600), "seconds",
        "How long a closed connection stays in the tracking table. Shorter empties the table of a server with many short connections.")
        .of(Scope::Network, CONNTRACK),
    host("net.netfilter.nf_conntrack_max", int(1024, INT_MAX), "connections",
        "Maximum number of tracked connections. Above it, packets of new connections are dropped, and the \
         log says 'table full, dropping packet'.")
        .of(Scope::InitialNetwork, CONNTRACK).risks(Risk::Medium),
];
