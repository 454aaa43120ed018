//! Packets that the network path or IP itself drops, delays, or mixes up.

use super::receive::{SENT_AGAIN, TIMED_OUT};
use super::signs::{LimitSign, SignMeasure, Signs, Touch, Whose};
use super::{Examination, Place, Rule};
use crate::format::{counted, percent, rate, whole};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::column::{self, Quantity};

const DROPPED: Threshold = Threshold::new(
    "dropped ÷ all packets of an interface",
    0.02,
    "ratio",
    "netdata, interface packet drops alarm",
);
const REORDERED: Threshold =
    Threshold::new("times per request that packets were found to be out of order", 0.05, "ratio", HOUSE);

/// N06.
pub(super) const INTERFACE_DROPS: Rule = Rule {
    id: "N06",
    name: "interface-drops",
    meaning: "An interface or its driver dropped packets, most times because nobody took them off its ring in time.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::NETDEV_RX_DROPPED],
    remedy: "enlarge the ring (ethtool -G), spread the queues over more CPUs, or raise net.core.netdev_budget; `ethtool -S` \
             names the reason",
    counterfactual: "with a larger ring as many packets would be dropped",
    examine: Examination::Signs(&Signs {
        title: "An interface dropped packets",
        not: "No interface dropped more than a few packets",
        mechanism: &[
            LimitSign {
                quantity: column::NETDEV_RX_DROPPED,
                measure: SignMeasure::Part(column::NETDEV_RX_PACKETS),
                least: DROPPED,
                say: |share, device| format!("{} of what {device} received", percent(share)),
            },
            LimitSign {
                quantity: column::NETDEV_TX_DROPPED,
                measure: SignMeasure::Part(column::NETDEV_TX_PACKETS),
                least: DROPPED,
                say: |share, device| format!("{} of what {device} had to send", percent(share)),
            },
        ],
        given: &[],
        confirmers: &[SENT_AGAIN, TIMED_OUT],
        touch: Touch::Packets,
        whose: Whose::Server,
    }),
};

/// N05.
pub(super) const SQUEEZED: Rule = Rule {
    id: "N05",
    name: "receive-budget",
    meaning: "The kernel stopped receiving before all packets were taken, again and again, and packets queued on a CPU.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::SOFTNET_TIME_SQUEEZE],
    remedy: "spread the receive work over more CPUs, then raise net.core.netdev_budget and netdev_budget_usecs together",
    counterfactual: "with a budget twice as large the tail would be as long",
    examine: Examination::Signs(&Signs {
        title: "Receive work is cut short",
        not: "Receive work is not cut short",
        mechanism: &[LimitSign {
            quantity: column::SOFTNET_TIME_SQUEEZE,
            measure: SignMeasure::Hz,
            least: Threshold::new(
                "times per second that the receive budget was used up",
                10.0,
                "hz",
                "house value; netdata silenced its alarm, since the counter alone says nothing",
            ),
            say: |hz, cpu| format!("the budget was used up {} times/s, most on CPU {cpu}", rate(hz)),
        }],
        given: &[LimitSign {
            quantity: column::CPU_SOFTIRQ,
            measure: SignMeasure::TimeRatio,
            least: Threshold::new("share of a CPU's time spent in software interrupts", 0.2, "ratio", HOUSE),
            say: |share, cpu| format!("CPU {cpu} spent {} of its time in interrupts", percent(share)),
        }],
        confirmers: &[LimitSign {
            quantity: column::SOFTNET_BACKLOG,
            measure: SignMeasure::Mean,
            least: Threshold::new("packets that wait in a CPU's backlog, on average", 32.0, "count", HOUSE),
            say: |count, cpu| format!("{} packets waited in the backlog of CPU {cpu}", whole(count)),
        }],
        touch: Touch::Waits,
        whose: Whose::Server,
    }),
};

/// N19.
pub(super) const REASSEMBLY: Rule = Rule {
    id: "N19",
    name: "reassembly-failures",
    meaning: "Packets arrived in fragments that could not be put together again.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::IP_REASSEMBLY_FAILURES],
    remedy: "make the MTU the same along the path (tunnels and VPNs lower it) and let path MTU discovery through; if memory \
             for fragments is short, raise net.ipv4.ipfrag_high_thresh",
    counterfactual: "with the same MTU along the path as many fragments would be lost",
    examine: Examination::Signs(&Signs {
        title: "Fragments could not be put together",
        not: "All fragments could be put together",
        mechanism: &[LimitSign::events(
            column::IP_REASSEMBLY_FAILURES,
            "packets whose fragments could not be put together",
            "Ip.ReasmFails",
            |count, _| format!("{} lost", counted(count, "packet")),
        )],
        given: &[],
        confirmers: &[SENT_AGAIN, TIMED_OUT],
        touch: Touch::Packets,
        whose: Whose::Server,
    }),
};

const fn reordered(quantity: Quantity) -> LimitSign {
    LimitSign {
        quantity,
        measure: SignMeasure::EventsPerRequest,
        least: REORDERED,
        say: |share, _| format!("{} times per 100 requests", whole(share * 100.0)),
    }
}

const fn in_vain(quantity: Quantity, what: &'static str, say: fn(f64, &str) -> String) -> LimitSign {
    LimitSign {
        quantity,
        measure: SignMeasure::Events,
        least: Threshold::new(what, 5.0, "count", HOUSE),
        say,
    }
}

/// N20.
pub(super) const REORDERING: Rule = Rule {
    id: "N20",
    name: "reordering",
    meaning: "Packets overtake each other on the way, and TCP takes the late ones for lost.",
    thresholds: &[],
    place: Place::Elsewhere,
    needs: &[column::TCP_SACK_REORDERS],
    remedy: "keep each flow on one path: a bond's xmit_hash_policy, per-flow ECMP, and one receive queue for each flow",
    counterfactual: "over a single path as many segments would be sent again",
    examine: Examination::Signs(&Signs {
        title: "Packets arrive out of order",
        not: "Packets arrive in order",
        mechanism: &[reordered(column::TCP_SACK_REORDERS), reordered(column::TCP_TIMESTAMP_REORDERS)],
        given: &[],
        confirmers: &[
            in_vain(column::TCP_DSACKS, "segments that the peer received twice", |count, _| {
                format!("{} reached the client twice", counted(count, "segment"))
            }),
            in_vain(
                column::TCP_SPURIOUS_TIMEOUTS,
                "retransmission timers that expired too early",
                |count, _| format!("{} expired too early", counted(count, "retransmission timer")),
            ),
        ],
        touch: Touch::Packets,
        whose: Whose::Server,
    }),
};

/// N21.
pub(super) const REVERSE_PATH: Rule = Rule {
    id: "N21",
    name: "reverse-path-filter",
    meaning: "The kernel dropped packets because it would not answer over the interface that they came in on.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::REVERSE_PATH_DROPS],
    remedy: "make the route back symmetric (policy routing), or set net.ipv4.conf.DEVICE.rp_filter=2",
    counterfactual: "with a loose reverse path filter as many packets would be dropped",
    examine: Examination::Signs(&Signs {
        title: "The reverse path filter dropped packets",
        not: "The reverse path filter dropped no packets",
        mechanism: &[LimitSign::events(
            column::REVERSE_PATH_DROPS,
            "packets that the reverse path filter dropped",
            "TcpExt.IPReversePathFilter",
            |count, _| format!("{} dropped", counted(count, "packet")),
        )],
        given: &[],
        confirmers: &[in_vain(column::TCP_SYN_RETRANS, "retransmitted SYN packets", |count, _| {
            format!("{} retransmitted", counted(count, "SYN packet"))
        })],
        touch: Touch::Connects,
        whose: Whose::Server,
    }),
};
