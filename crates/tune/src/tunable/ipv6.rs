//! IPv6.

use super::ip::{host, own};
use super::{EffectTime, FLAG, INT_MAX, LONG_MAX, Risk, Tunable, int};

/// The settings below `net.ipv6.`.
pub const TABLE: &[Tunable] = &[
    own("net.ipv6.auto_flowlabels", int(0, 3), "mode",
        "Whether packets carry a flow label made of their flow: never (0), unless a socket says no (1), if it says yes (2), always (3). Links and routers spread traffic by it.")
        .felt(EffectTime::NewSockets),
    own("net.ipv6.bindv6only", FLAG, "switch",
        "Whether a socket bound to :: leaves IPv4 alone. It changes what servers that start later listen on.")
        .felt(EffectTime::NewSockets).risks(Risk::Medium),
    own("net.ipv6.fib_multipath_hash_policy", int(0, 3), "mode",
        "What spreads flows over several routes: addresses and flow label (0), also ports (1), inner packets (2), a chosen set (3). With few pairs of addresses, 0 may put all traffic on one link."),
    own("net.ipv6.ip6frag_high_thresh", int(65_536, LONG_MAX), "bytes",
        "Memory for fragments of incomplete packets. Above it, new fragments are dropped."),
    own("net.ipv6.ip6frag_time", int(1, 3600), "seconds",
        "How long a fragment waits for the rest. Shorter frees memory sooner when fragments are lost."),
    own("net.ipv6.route.max_size", int(1024, INT_MAX), "routes",
        "Maximum number of cached host routes. It has no effect on newer kernels, which keep the value but \
         do not apply it."),
    host("net.ipv6.neigh.default.gc_thresh1", int(0, INT_MAX), "entries",
        "Number of neighbors kept without garbage collection. Raise it together with the other two on \
         networks with thousands of hosts."),
    host("net.ipv6.neigh.default.gc_thresh2", int(1, INT_MAX), "entries",
        "Number of neighbors above which entries older than five seconds are collected. It must be below \
         gc_thresh3 to have an effect."),
    host("net.ipv6.neigh.default.gc_thresh3", int(128, INT_MAX), "entries",
        "Maximum number of neighbors. Above it, new hosts on the local network cannot be reached, and the \
         log says 'neighbour table overflow'.")
        .risks(Risk::Medium),
];
