//! Tables of the kernel that are full: tracked connections, neighbors, and tasks of the host.

use super::signs::{LimitSign, SignMeasure, Signs, Touch, Whose};
use super::{Examination, Place, Rule};
use crate::format::{counted, percent};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::column;

/// T12.
pub(super) const CONNECTIONS: Rule = Rule {
    id: "T12",
    name: "conntrack-full",
    meaning: "The firewall's table of connections was full, and packets of new connections were dropped.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::CONNTRACK_DROPS],
    remedy: "raise net.netfilter.nf_conntrack_max together with the number of buckets, shorten the timeouts \
             (nf_conntrack_tcp_timeout_time_wait), or exempt this port from tracking (NOTRACK)",
    counterfactual: "with a larger table as many connects would be slow",
    examine: Examination::Signs(&Signs {
        title: "The table of tracked connections is full",
        not: "The table of tracked connections is not full",
        mechanism: &[
            LimitSign::events(
                column::CONNTRACK_DROPS,
                "packets dropped because a connection could not be tracked",
                "conntrack statistics, drop",
                |count, _| format!("{} dropped", counted(count, "packet")),
            ),
            LimitSign::events(
                column::CONNTRACK_EARLY_DROPS,
                "tracked connections given up to make room for new ones",
                "conntrack statistics, early_drop",
                |count, _| format!("{} given up to make room", counted(count, "tracked connection")),
            ),
        ],
        given: &[],
        confirmers: &[LimitSign {
            quantity: column::CONNTRACK_ENTRIES,
            measure: SignMeasure::Level(column::CONNTRACK_LIMIT),
            least: Threshold::new(
                "tracked connections ÷ nf_conntrack_max",
                0.9,
                "ratio",
                "netdata, conntrack alarm (warns at 90%)",
            ),
            say: |share, _| format!("{} of net.netfilter.nf_conntrack_max is used", percent(share)),
        }],
        touch: Touch::Connects,
        whose: Whose::Server,
    }),
};

/// T17.
pub(super) const NEIGHBORS: Rule = Rule {
    id: "T17",
    name: "neighbor-table-full",
    meaning: "The host knows more neighbors on its networks than the ARP table may hold, and packets to new ones are dropped.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::NEIGHBORS_FULL],
    remedy: "raise net.ipv4.neigh.default.gc_thresh3 (and gc_thresh1 and gc_thresh2 with it), or split the network",
    counterfactual: "with a larger table as many packets would be lost",
    examine: Examination::Signs(&Signs {
        title: "The ARP table is full",
        not: "The ARP table is not full",
        mechanism: &[LimitSign::events(
            column::NEIGHBORS_FULL,
            "times that a neighbor found no place in the ARP table",
            "arp_cache, table_fulls",
            |count, _| format!("it was full {}", counted(count, "time")),
        )],
        given: &[],
        confirmers: &[LimitSign {
            quantity: column::NEIGHBORS,
            measure: SignMeasure::Level(column::NEIGHBORS_LIMIT),
            least: Threshold::new("entries of the ARP table ÷ gc_thresh3", 0.9, "ratio", HOUSE),
            say: |share, _| format!("{} of net.ipv4.neigh.default.gc_thresh3 is used", percent(share)),
        }],
        touch: Touch::Packets,
        whose: Whose::Server,
    }),
};

/// F15.
pub(super) const TASKS: Rule = Rule {
    id: "F15",
    name: "task-table-full",
    meaning: "The host has nearly as many processes and threads as it allows, and new ones are refused.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::TASKS],
    remedy: "find who starts them (`ps -eLf`), or raise kernel.pid_max and kernel.threads-max",
    counterfactual: "with higher limits as many requests would fail",
    examine: Examination::Signs(&Signs {
        title: "The host is out of tasks",
        not: "The host may start more tasks",
        mechanism: &[LimitSign {
            quantity: column::TASKS,
            measure: SignMeasure::Level(column::TASKS_LIMIT),
            least: Threshold::new(
                "processes and threads of the host ÷ the lower one of kernel.pid_max and kernel.threads-max",
                0.9,
                "ratio",
                "netdata, active processes alarm (critical)",
            ),
            say: |share, _| format!("{} of the tasks that it allows exist", percent(share)),
        }],
        given: &[],
        confirmers: &[],
        touch: Touch::Work,
        whose: Whose::Server,
    }),
};
