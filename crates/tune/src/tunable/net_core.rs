//! Packets before they are anybody's: queues, budgets, steering, socket buffers.

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
        "Upper limit of the accept queue of every listener, whatever backlog it asks for. When the queue is full new connections wait for retransmissions of a second and more.")
        .felt(EffectTime::NewListeners),
    own("net.core.optmem_max", int(4096, INT_MAX), "bytes",
        "Most ancillary memory of a socket: options, control messages, filters, notifications of zero-copy sends. Too little fails such calls with ENOBUFS."),
    own("net.core.txrehash", FLAG, "switch",
        "Whether a socket picks another path by a new hash when it has to retransmit. It leaves a bad link of several; off keeps flows where they are.")
        .felt(EffectTime::NewSockets),
    own("net.unix.max_dgram_qlen", int(1, INT_MAX), "datagrams",
        "Most datagrams that wait in a Unix socket. Senders, such as loggers, block or fail beyond it.")
        .felt(EffectTime::NewSockets).of(Scope::Network, "networking/ip-sysctl.rst"),
    host("net.core.netdev_max_backlog", int(1, INT_MAX), "packets",
        "Packets that may wait on a CPU between the driver and the protocols, when drivers or steering queue them there. Beyond it packets are dropped and counted in softnet_stat."),
    host("net.core.netdev_budget", int(1, INT_MAX), "packets",
        "Most packets that one round of the receive softirq takes from all queues of a CPU. Higher empties queues in fewer rounds and keeps tasks from the CPU for longer."),
    host("net.core.netdev_budget_usecs", int(1, 1_000_000), "microseconds",
        "Longest time of one round of the receive softirq. What is left over is done in the next round, and counted as time_squeeze."),
    host("net.core.dev_weight", int(1, 65_536), "packets",
        "Packets that are taken from the backlog of a CPU in one turn. The receive and transmit biases multiply it."),
    host("net.core.dev_weight_rx_bias", int(1, 1024), "factor",
        "Factor by which the receive weight of the backlog differs from net.core.dev_weight. It lets receiving take more of a round than sending."),
    host("net.core.dev_weight_tx_bias", int(1, 1024), "factor",
        "Factor by which the transmit weight of queueing disciplines differs from net.core.dev_weight. It lets sending take more of a round than receiving."),
    host("net.core.rmem_default", int(MIN_BUFFER, INT_MAX), "bytes",
        "Receive buffer that a socket starts with, but for TCP. Datagrams that do not fit are dropped and counted as RcvbufErrors.")
        .felt(EffectTime::NewSockets),
    host("net.core.rmem_max", int(MIN_BUFFER, INT_MAX), "bytes",
        "Largest receive buffer that a program can ask for by SO_RCVBUF. TCP's own tuning of its buffers has its limit in net.ipv4.tcp_rmem.")
        .felt(EffectTime::NewSockets),
    host("net.core.wmem_default", int(MIN_BUFFER, INT_MAX), "bytes",
        "Send buffer that a socket starts with, but for TCP. A sender of datagrams blocks when it is full.")
        .felt(EffectTime::NewSockets),
    host("net.core.wmem_max", int(MIN_BUFFER, INT_MAX), "bytes",
        "Largest send buffer that a program can ask for by SO_SNDBUF. TCP's own tuning of its buffers has its limit in net.ipv4.tcp_wmem.")
        .felt(EffectTime::NewSockets),
    host("net.core.busy_read", int(0, 1000), "microseconds",
        "How long a blocking read polls the device queue instead of sleeping. It lowers latency and costs CPU; 0 is off.")
        .felt(EffectTime::NewSockets),
    host("net.core.busy_poll", int(0, 1000), "microseconds",
        "How long poll and select poll device queues instead of sleeping. It suits a few busy sockets per thread; 0 is off."),
    host("net.core.rps_sock_flow_entries", ValueKind::PowerOfTwo { min: 1, max: 1 << 29, has_zero: true }, "flows",
        "Size of the table that remembers on which CPU each flow is consumed. Receive flow steering is on when it and the rps_flow_cnt of a queue are not 0.")
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
        "Least time between two warnings of the network code in the log. 0 prints them all."),
    host("net.core.message_burst", int(0, INT_MAX), "messages",
        "Warnings of the network code that pass before net.core.message_cost limits them. Printing on a slow console holds up the CPU that does it."),
];
