//! Resources that TCP itself ran out of: slots for connections that open or close, and memory for the data they send.

use super::delayed_ack::{ELSEWHERE, IN_MODE, PER_RESPONSE, examine};
use super::signs::{LimitSign, SignMeasure, Signs, Touch, Whose};
use super::{Examination, Place, Rule};
use crate::format::{counted, percent, whole};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::column;

const SYN_QUEUE: Threshold = Threshold::new(
    "SYN packets that found the SYN queue full",
    5.0,
    "count",
    "TcpExt.TCPReqQFullDrop; netdata warns above 1/s",
);

/// T03.
pub(super) const SYN_QUEUE_FULL: Rule = Rule {
    id: "T03",
    name: "syn-queue-full",
    meaning: "The queue of connections that are being established was full.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::SYN_QUEUE_DROPS],
    remedy: "turn net.ipv4.tcp_syncookies on, so that a flood of SYN packets takes no place in the queue, and see who sends \
             them (ss -tn state syn-recv); raise the listener's backlog, net.core.somaxconn, and net.ipv4.tcp_max_syn_backlog",
    counterfactual: "a longer backlog would not stop the slow connects",
    examine: Examination::Signs(&Signs {
        title: "The SYN queue was full",
        not: "No SYN queue was full",
        mechanism: &[
            LimitSign {
                quantity: column::SYN_QUEUE_DROPS,
                measure: SignMeasure::Events,
                least: SYN_QUEUE,
                say: |count, _| format!("{} dropped", counted(count, "SYN packet")),
            },
            LimitSign {
                quantity: column::SYN_QUEUE_COOKIES,
                measure: SignMeasure::Events,
                least: SYN_QUEUE,
                say: |count, _| format!("{} answered with SYN cookies", counted(count, "SYN packet")),
            },
            // Without cookies the last quarter of the queue is kept for clients that are known, and what is dropped for that
            // counts at no other place (`net/ipv4/tcp_input.c`, `tcp_conn_request`).
            LimitSign {
                quantity: column::LISTEN_DROPS,
                measure: SignMeasure::EventsBeyond(column::LISTEN_OVERFLOWS),
                least: Threshold::new(
                    "SYN packets that were dropped while the accept queue had room",
                    5.0,
                    "count",
                    "TcpExt.ListenDrops − TcpExt.ListenOverflows",
                ),
                say: |count, _| {
                    format!("{} dropped while the accept queue had room", counted(count, "SYN packet"))
                },
            },
        ],
        given: &[],
        confirmers: &[LimitSign::events(
            column::TCP_SYN_RETRANS,
            "retransmitted SYN packets",
            HOUSE,
            |count, _| format!("{} retransmitted", counted(count, "SYN packet")),
        )],
        touch: Touch::Connects,
        whose: Whose::Server,
    }),
};

/// T05.
pub(super) const TIME_WAIT_FULL: Rule = Rule {
    id: "T05",
    name: "time-wait-full",
    meaning: "There were more connections in TIME_WAIT than allowed, and the kernel dropped some early.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::TCP_TW_OVERFLOWS],
    remedy: "keep connections alive, or raise net.ipv4.tcp_max_tw_buckets",
    counterfactual: "more buckets would change nothing that users see",
    examine: Examination::Signs(&Signs {
        title: "The table of closed connections overflowed",
        not: "The table of closed connections did not overflow",
        mechanism: &[LimitSign::events(
            column::TCP_TW_OVERFLOWS,
            "connections that found no place in TIME_WAIT",
            "TcpExt.TCPTimeWaitOverflow",
            |count, _| format!("{} left TIME_WAIT early", counted(count, "connection")),
        )],
        given: &[],
        confirmers: &[LimitSign {
            quantity: column::SOCKSTAT_TCP_TW,
            measure: SignMeasure::Level(column::SOCKSTAT_TCP_TW_LIMIT),
            least: Threshold::new("connections in TIME_WAIT ÷ tcp_max_tw_buckets", 0.9, "ratio", HOUSE),
            say: |share, _| format!("{} of net.ipv4.tcp_max_tw_buckets is used", percent(share)),
        }],
        touch: Touch::Connects,
        whose: Whose::Server,
    }),
};

/// T06.
pub(super) const TCP_MEMORY: Rule = Rule {
    id: "T06",
    name: "tcp-memory-full",
    meaning: "TCP sockets together used more memory than allowed, so that the kernel shrank or ended connections.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::TCP_MEMORY_PRESSURES],
    remedy: "fewer connections or smaller buffers; if memory is free, raise net.ipv4.tcp_mem",
    counterfactual: "a higher net.ipv4.tcp_mem would not change rate or failures",
    examine: Examination::Signs(&Signs {
        title: "TCP is short of memory",
        not: "TCP has enough memory",
        mechanism: &[
            LimitSign {
                quantity: column::TCP_MEMORY_PRESSURES,
                measure: SignMeasure::Events,
                least: Threshold::new(
                    "times that TCP came under memory pressure",
                    1.0,
                    "count",
                    "TcpExt.TCPMemoryPressures; bpftune acts on it",
                ),
                say: |count, _| format!("it came under memory pressure {}", counted(count, "time")),
            },
            LimitSign {
                quantity: column::TCP_ABORTS_ON_MEMORY,
                measure: SignMeasure::Events,
                least: Threshold::new(
                    "connections ended for want of memory",
                    1.0,
                    "count",
                    "TcpExt.TCPAbortOnMemory",
                ),
                say: |count, _| format!("{} ended for want of memory", counted(count, "connection")),
            },
        ],
        given: &[],
        confirmers: &[
            LimitSign {
                quantity: column::SOCKSTAT_TCP_MEM,
                measure: SignMeasure::Level(column::SOCKSTAT_TCP_MEM_PRESSURE),
                least: Threshold::new(
                    "memory of TCP sockets ÷ where pressure begins",
                    0.9,
                    "ratio",
                    "netdata, TCP memory alarm",
                ),
                say: |share, _| format!("its sockets use {} of where pressure begins", percent(share)),
            },
            PRUNED,
            COLLAPSED,
        ],
        touch: Touch::Work,
        whose: Whose::Server,
    }),
};

/// T07.
pub(super) const RECEIVE_BUFFER: Rule = Rule {
    id: "T07",
    name: "receive-buffer-full",
    meaning: "Receive buffers were full, and senders had to stop until the receiver read.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::TCP_ZERO_WINDOWS],
    remedy: "read faster; let the kernel size the buffer (no SO_RCVBUF), and raise net.ipv4.tcp_rmem",
    counterfactual: "a larger receive buffer would not change rate or tail",
    examine: Examination::Signs(&Signs {
        title: "Receive buffers were full",
        not: "Receive buffers were not full",
        mechanism: &[LimitSign {
            quantity: column::TCP_ZERO_WINDOWS,
            measure: SignMeasure::EventsPerRequest,
            least: Threshold::new("closed receive windows per request", 0.05, "ratio", HOUSE),
            say: |share, _| format!("{} closed receive windows per 100 requests", whole(share * 100.0)),
        }],
        given: &[],
        confirmers: &[PRUNED, COLLAPSED],
        touch: Touch::Waits,
        whose: Whose::Server,
    }),
};

/// T11.
pub(super) const DELAYED_ACK: Rule = Rule {
    id: "T11",
    name: "nagle-delayed-ack",
    meaning: "The server sends a response in pieces and waits, between them, for an acknowledgement that the client delays \
              by 40 ms.",
    thresholds: &[IN_MODE, PER_RESPONSE, ELSEWHERE],
    place: Place::Server,
    needs: &[column::DELAYED_ACKS],
    remedy: "set TCP_NODELAY, or write head and body in one call (writev, tcp_nopush)",
    counterfactual: "with TCP_NODELAY responses would still take 40 ms",
    examine: Examination::By(examine),
};

pub(super) const PRUNED: LimitSign =
    LimitSign::events(column::PRUNE_CALLED, "receive queues that were pruned", HOUSE, |count, _| {
        format!("{} pruned", counted(count, "receive queue"))
    });

pub(super) const COLLAPSED: LimitSign = LimitSign::events(
    column::TCP_COLLAPSED,
    "packets merged in receive queues to save memory",
    HOUSE,
    |count, _| format!("{} merged in receive queues", counted(count, "packet")),
);

/// T09.
pub(super) const ORPHANS: Rule = Rule {
    id: "T09",
    name: "orphans",
    meaning: "Many connections were closed by the server and not by their clients; beyond the limit the kernel resets them.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::SOCKSTAT_TCP_ORPHAN],
    remedy: "lower net.ipv4.tcp_orphan_retries and tcp_fin_timeout, let the server wait for the client to close, or raise \
             net.ipv4.tcp_max_orphans",
    counterfactual: "with a higher limit as many connections would be reset",
    examine: Examination::Signs(&Signs {
        title: "Too many connections are closed by one side only",
        not: "Few connections are closed by one side only",
        mechanism: &[LimitSign {
            quantity: column::SOCKSTAT_TCP_ORPHAN,
            measure: SignMeasure::Level(column::SOCKSTAT_TCP_ORPHAN_LIMIT),
            least: Threshold::new(
                "orphaned connections ÷ tcp_max_orphans",
                0.5,
                "ratio",
                "netdata, TCP orphans alarm (critical)",
            ),
            say: |share, _| format!("{} of net.ipv4.tcp_max_orphans is used", percent(share)),
        }],
        given: &[],
        confirmers: &[],
        touch: Touch::Ends,
        whose: Whose::Server,
    }),
};
