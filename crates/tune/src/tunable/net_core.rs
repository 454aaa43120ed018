//! Packets before they reach a socket: queues, budgets, steering, socket buffers.

use super::{EffectTime, FLAG, INT_MAX, Scope, Tunable, int};
use crate::value::ValueKind;

const SOURCE: &str = "admin-guide/sysctl/net.rst";

const fn own(id: &'static str, kind: ValueKind, unit: &'static str, does: &'static str) -> Tunable {
    Tunable::new(id, kind, unit, does).of(Scope::Network, SOURCE)
}

const fn host(id: &'static str, kind: ValueKind, unit: &'static str, does: &'static str) -> Tunable {
    Tunable::new(id, kind, unit, does).of(Scope::InitialNetwork, SOURCE)
}

/// Least size of a socket buffer that the kernel takes. Unit: bytes.
const MIN_BUFFER: i128 = 4608;

/// The settings below `net.core.` and `net.unix.`.
pub const TABLE: &[Tunable] = &[
    own("net.core.somaxconn", int(1, INT_MAX), "connections",
        "Upper limit of every listener's accept queue, whatever backlog it asks for. When the queue is full, \
         new connections have to wait a second or more for a retransmission.")
        .felt(EffectTime::NewListeners),
    own("net.core.optmem_max", int(4096, INT_MAX), "bytes",
        "Maximum ancillary memory per socket: options, control messages, filters, zero-copy notifications. \
         With too little, such calls fail with ENOBUFS."),
    own("net.core.txrehash", FLAG, "switch",
        "Whether a socket picks another path by a new hash when it has to retransmit. It leaves a bad link of several; off keeps flows where they are.")
        .felt(EffectTime::NewSockets),
    own("net.unix.max_dgram_qlen", int(1, INT_MAX), "datagrams",
        "Maximum number of datagrams queued in a Unix socket. Above it, senders such as loggers block or \
         fail.")
        .felt(EffectTime::NewSockets).of(Scope::Network, "networking/ip-sysctl.rst"),
    host("net.core.netdev_max_backlog", int(1, INT_MAX), "packets",
        "Maximum number of received packets queued per CPU between driver and protocols, when drivers or \
         packet steering queue them there. Above it, packets are dropped and counted in softnet_stat."),
    host("net.core.netdev_budget", int(1, INT_MAX), "packets",
        "Maximum number of packets that one round of the receive softirq handles per CPU. Higher values \
         empty queues in fewer rounds and keep tasks off the CPU for longer."),
    host("net.core.netdev_budget_usecs", int(1, 1_000_000), "microseconds",
        "Maximum time of one round of the receive softirq. The rest is left for the next round and counted \
         as time_squeeze."),
    host("net.core.dev_weight", int(1, 65_536), "packets",
        "Packets taken from a CPU's backlog per turn. The receive and transmit biases multiply it."),
    host("net.core.dev_weight_rx_bias", int(1, 1024), "factor",
        "Factor by which the receive weight of the backlog differs from net.core.dev_weight. It lets receiving take more of a round than sending."),
    host("net.core.dev_weight_tx_bias", int(1, 1024), "factor",
        "Factor by which the transmit weight of queueing disciplines differs from net.core.dev_weight. It lets sending take more of a round than receiving."),
    host("net.core.rmem_default", int(MIN_BUFFER, INT_MAX), "bytes",
        "Default receive buffer of sockets other than TCP. Datagrams that do not fit are dropped and counted \
         as RcvbufErrors.")
        .felt(EffectTime::NewSockets),
    host("net.core.rmem_max", int(MIN_BUFFER, INT_MAX), "bytes",
        "Maximum receive buffer that a program can request with SO_RCVBUF. TCP's automatic buffer tuning is \
         limited by net.ipv4.tcp_rmem instead.")
        .felt(EffectTime::NewSockets),
    host("net.core.wmem_default", int(MIN_BUFFER, INT_MAX), "bytes",
        "Default send buffer of sockets other than TCP. A sender of datagrams blocks when it is full.")
        .felt(EffectTime::NewSockets),
    host("net.core.wmem_max", int(MIN_BUFFER, INT_MAX), "bytes",
        "Maximum send buffer that a program can request with SO_SNDBUF. TCP's automatic buffer tuning is \
         limited by net.ipv4.tcp_wmem instead.")
        .felt(EffectTime::NewSockets),
    host("net.core.busy_read", int(0, 1000), "microseconds",
        "How long a blocking read polls the device queue instead of sleeping. It lowers latency and costs CPU; 0 is off.")
        .felt(EffectTime::NewSockets),
    host("net.core.busy_poll", int(0, 1000), "microseconds",
        "How long poll and select poll device queues instead of sleeping. It suits a few busy sockets per thread; 0 is off."),
    host("net.core.rps_sock_flow_entries", ValueKind::PowerOfTwo { min: 1, max: 1 << 29, has_zero: true }, "flows",
        "Size of the table that records on which CPU each flow is consumed. Receive flow steering (RFS) is \
         on when this and a queue's rps_flow_cnt are not 0.")
        .of(Scope::InitialNetwork, "networking/scaling.rst"),
    host("net.core.flow_limit_table_len", ValueKind::PowerOfTwo { min: 1, max: 1 << 24, has_zero: false }, "buckets",
        "Buckets by which a CPU's backlog tells large flows from small ones when it is half full. It takes effect where a CPU is added to flow_limit_cpu_bitmap.")
        .of(Scope::InitialNetwork, "networking/scaling.rst"),
    host("net.core.gro_normal_batch", int(1, 256), "packets",
        "Packets that are handed to the protocols at once after merging. Larger batches use caches better and add a little latency."),
    host("net.core.netdev_tstamp_prequeue", FLAG, "switch",
        "Whether packets get their time stamp before they are steered to another CPU. Off moves that work to the CPU that receives them."),
    host("net.core.skb_defer_max", int(0, 65_536), "packets",
        "Packets per CPU whose memory is given back by the CPU that allocated it. It keeps allocator locks local; 0 is off."),
    host("net.core.high_order_alloc_disable", FLAG, "switch",
        "Whether the network takes single pages only. Larger ones are quicker; single ones do not stall when memory is fragmented."),
    host("net.core.message_cost", int(0, 3600), "seconds",
        "Minimum time between two warnings of the network code in the log. 0 prints all of them."),
    host("net.core.message_burst", int(0, INT_MAX), "messages",
        "Warnings of the network code that pass before net.core.message_cost limits them. Printing on a slow console holds up the CPU that does it."),
];
