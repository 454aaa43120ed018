//! Packets that the server's host dropped, or failed to send, before they reached any socket.

use super::signs::{LimitSign, SignMeasure, Signs, Touch, Whose};
use super::{Examination, Place, Rule};
use crate::format::counted;
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::column;

const DROPPED: Threshold = Threshold::new(
    "packets dropped in a CPU's backlog",
    5.0,
    "count",
    "softnet_stat; netdata warns above 10/min",
);
const LIMITED: Threshold = Threshold::new(
    "packets dropped because one flow filled a CPU's backlog",
    5.0,
    "count",
    "softnet_stat, flow limit",
);
const BROKEN: Threshold =
    Threshold::new("packets with errors on an interface", 5.0, "count", "netdata, interface errors alarm");

const WENT_DOWN: Threshold = Threshold::new(
    "times that links lost their carrier",
    2.0,
    "count",
    "IFLA_CARRIER_DOWN_COUNT; one may be a change of configuration",
);

/// That what was dropped was sent again.
pub(super) const SENT_AGAIN: LimitSign =
    LimitSign::events(column::TCP_RETRANS_SEGS, "retransmitted TCP segments", HOUSE, |count, _| {
        format!("{} retransmitted", counted(count, "TCP segment"))
    });

/// That senders waited for answers that did not come.
pub(super) const TIMED_OUT: LimitSign =
    LimitSign::events(column::TCP_TIMEOUTS, "expired retransmission timers", HOUSE, |count, _| {
        format!("{} expired", counted(count, "retransmission timer"))
    });

/// N04.
pub(super) const BACKLOG_DROPS: Rule = Rule {
    id: "N04",
    name: "backlog-drops",
    meaning: "A CPU's queue of received packets was full, and the kernel dropped packets.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::SOFTNET_DROPPED],
    remedy: "spread the receive work over more CPUs (RPS, queue interrupts), then raise net.core.netdev_max_backlog",
    counterfactual: "a longer backlog would not stop the drops",
    examine: Examination::Signs(&Signs {
        title: "The kernel dropped received packets",
        not: "No CPU's packet backlog overflowed",
        mechanism: &[LimitSign {
            quantity: column::SOFTNET_DROPPED,
            measure: SignMeasure::Events,
            least: DROPPED,
            say: |count, cpu| {
                format!("{} dropped in the backlog, most on CPU {cpu}", counted(count, "packet"))
            },
        }],
        given: &[],
        confirmers: &[SENT_AGAIN, TIMED_OUT],
        touch: Touch::Packets,
        whose: Whose::Server,
    }),
};

/// N07.
pub(super) const FLOW_LIMIT: Rule = Rule {
    id: "N07",
    name: "flow-limit-drops",
    meaning: "One flow filled more than its part of a CPU's packet backlog, and its packets were dropped.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::SOFTNET_FLOW_LIMIT],
    remedy: "spread the flow's work, or take that CPU out of net.core.flow_limit_cpu_bitmap if the flow is legitimate",
    counterfactual: "without the flow limit as many packets would be dropped",
    examine: Examination::Signs(&Signs {
        title: "The flow limit dropped packets",
        not: "No packet was dropped by the flow limit",
        mechanism: &[LimitSign {
            quantity: column::SOFTNET_FLOW_LIMIT,
            measure: SignMeasure::Events,
            least: LIMITED,
            say: |count, cpu| format!("{} of one flow dropped, most on CPU {cpu}", counted(count, "packet")),
        }],
        given: &[],
        confirmers: &[SENT_AGAIN, TIMED_OUT],
        touch: Touch::Packets,
        whose: Whose::Server,
    }),
};

/// N13.
pub(super) const LINK_ERRORS: Rule = Rule {
    id: "N13",
    name: "link-errors",
    meaning: "An interface received or sent broken packets, or its ring was full.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::NETDEV_RX_ERRORS],
    remedy: "check cable, port, speed, and duplex; for a full ring, enlarge it (ethtool -G) or add queues",
    counterfactual: "another link would show the same retransmissions",
    examine: Examination::Signs(&Signs {
        title: "An interface has errors",
        not: "No interface has errors",
        mechanism: &[
            LimitSign {
                quantity: column::NETDEV_RX_ERRORS,
                measure: SignMeasure::Events,
                least: BROKEN,
                say: |count, device| format!("{} received broken on {device}", counted(count, "packet")),
            },
            LimitSign {
                quantity: column::NETDEV_TX_ERRORS,
                measure: SignMeasure::Events,
                least: BROKEN,
                say: |count, device| format!("{} could not be sent on {device}", counted(count, "packet")),
            },
            LimitSign {
                quantity: column::NETDEV_RX_FIFO,
                measure: SignMeasure::Events,
                least: BROKEN,
                say: |count, device| format!("{} found the ring of {device} full", counted(count, "packet")),
            },
        ],
        given: &[],
        confirmers: &[SENT_AGAIN, TIMED_OUT],
        touch: Touch::Packets,
        whose: Whose::Server,
    }),
};

/// N28.
pub(super) const LINK_DOWN: Rule = Rule {
    id: "N28",
    name: "link-down",
    meaning: "A network link of the server's host went down again and again.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::NETDEV_DOWNS],
    remedy: "look for what takes it down: the kernel's log (dmesg), cable, port, driver, a bond or switch that changes over, \
             or somebody at the other end",
    counterfactual: "while the link stays up requests would take as long",
    examine: Examination::Signs(&Signs {
        title: "A network link goes down now and then",
        not: "No network link went down",
        mechanism: &[LimitSign {
            quantity: column::NETDEV_DOWNS,
            measure: SignMeasure::Events,
            least: WENT_DOWN,
            say: |count, device| format!("carrier lost {}, most often on {device}", counted(count, "time")),
        }],
        given: &[],
        confirmers: &[SENT_AGAIN, TIMED_OUT],
        // All that was to go over it had to wait.
        touch: Touch::Work,
        whose: Whose::Host,
    }),
};

/// T14.
pub(super) const UDP_BUFFER: Rule = Rule {
    id: "T14",
    name: "udp-buffer-full",
    meaning: "A UDP socket's receive buffer was full, and datagrams were dropped.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::UDP_RCVBUF_ERRORS],
    remedy: "read faster (more readers), or raise SO_RCVBUF and net.core.rmem_max",
    counterfactual: "a larger receive buffer would lose as many datagrams",
    examine: Examination::Signs(&Signs {
        title: "Datagrams were dropped at a full socket",
        not: "No UDP socket's buffer was full",
        mechanism: &[LimitSign {
            quantity: column::UDP_RCVBUF_ERRORS,
            measure: SignMeasure::Events,
            least: Threshold::new(
                "datagrams dropped because a socket's buffer was full",
                10.0,
                "count",
                "netdata, UDP receive buffer errors alarm",
            ),
            say: |count, _| format!("{} dropped", counted(count, "datagram")),
        }],
        given: &[],
        confirmers: &[],
        touch: Touch::Packets,
        whose: Whose::Server,
    }),
};

/// N14.
pub(super) const QUEUE_DROPS: Rule = Rule {
    id: "N14",
    name: "queue-drops",
    meaning: "The queue in front of an interface was full, and packets to be sent were dropped.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::QDISC_DROPS],
    remedy: "a longer queue (limit, txqueuelen) for bursts; a faster link or less to send if it is full all the time",
    counterfactual: "with a longer queue as many packets would be dropped",
    examine: Examination::Signs(&Signs {
        title: "Packets were dropped before they were sent",
        not: "No packet was dropped before it was sent",
        mechanism: &[LimitSign::events(
            column::QDISC_DROPS,
            "packets dropped in front of an interface",
            "netdata, qdisc drops alarm",
            |count, device| format!("{} dropped in the queue of {device}", counted(count, "packet")),
        )],
        given: &[],
        confirmers: &[SENT_AGAIN, TIMED_OUT],
        touch: Touch::Packets,
        whose: Whose::Server,
    }),
};
