//! TCP segments that reached the server's host but got no further: a full socket queue, a bad checksum, or a segment that
//! TCP considered old.

use super::receive::{SENT_AGAIN, TIMED_OUT};
use super::signs::{LimitSign, Signs, Touch, Whose};
use super::sockets::{COLLAPSED, PRUNED};
use super::{Examination, Place, Rule};
use crate::format::counted;
use sysdyno_record::column;

/// T19.
pub(super) const OLD_TIMESTAMPS: Rule = Rule {
    id: "T19",
    name: "old-timestamps",
    meaning: "TCP dropped segments because their timestamps ran backwards, which happens if several clients share one address.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::PAWS_DROPS],
    remedy: "let the NAT or load balancer use separate ports for each client; to prove it, turn off \
             net.ipv4.tcp_timestamps on the server",
    counterfactual: "without TCP timestamps as many segments would be dropped",
    examine: Examination::Signs(&Signs {
        title: "TCP dropped segments with old timestamps",
        not: "No segment had an old timestamp",
        mechanism: &[LimitSign::events(
            column::PAWS_DROPS,
            "segments dropped because their timestamp was older than the last one",
            "TcpExt.PAWSEstab, RFC 7323 section 5",
            |count, _| format!("{} dropped", counted(count, "segment")),
        )],
        given: &[],
        confirmers: &[SENT_AGAIN, TIMED_OUT],
        touch: Touch::Packets,
        whose: Whose::Server,
    }),
};

/// T20.
pub(super) const PORTS_REUSED: Rule = Rule {
    id: "T20",
    name: "ports-reused",
    meaning: "Clients open connections from ports on which the server still has an open connection.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::TCP_SYN_CHALLENGES],
    remedy: "more addresses or ports on the NAT or load balancer, longer timeouts there than on the server, or keep-alive \
             connections",
    counterfactual: "with more client ports as many connects would be slow",
    examine: Examination::Signs(&Signs {
        title: "New connections reuse ports of open ones",
        not: "No connection reuses the port of an open one",
        mechanism: &[LimitSign::events(
            column::TCP_SYN_CHALLENGES,
            "SYN packets for connections that are open",
            "TcpExt.TCPSYNChallenge, RFC 5961 section 4",
            |count, _| format!("{} met an open connection", counted(count, "SYN packet")),
        )],
        given: &[],
        confirmers: &[LimitSign::events(
            column::TCP_SYN_RETRANS,
            "retransmitted SYN packets",
            "TcpExt.TCPSynRetrans",
            |count, _| format!("{} retransmitted", counted(count, "SYN packet")),
        )],
        touch: Touch::Connects,
        whose: Whose::Server,
    }),
};

/// T21.
pub(super) const RECEIVE_QUEUE: Rule = Rule {
    id: "T21",
    name: "receive-queue-drops",
    meaning: "A socket had no room for data that the client was allowed to send, and TCP dropped it.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::TCP_RECEIVE_QUEUE_DROPS],
    remedy: "read faster (more workers), let the kernel size the buffer (no SO_RCVBUF), and raise net.ipv4.tcp_rmem",
    counterfactual: "with a larger receive buffer as many segments would be dropped",
    examine: Examination::Signs(&Signs {
        title: "TCP dropped data at full sockets",
        not: "No socket was too full to take data",
        mechanism: &[
            LimitSign::events(
                column::TCP_RECEIVE_QUEUE_DROPS,
                "segments dropped because the receive queue was full",
                "TcpExt.TCPRcvQDrop",
                |count, _| format!("{} found no room in the receive queue", counted(count, "segment")),
            ),
            LimitSign::events(
                column::TCP_OUT_OF_ORDER_DROPS,
                "segments dropped because the out-of-order queue was full",
                "TcpExt.TCPOFODrop",
                |count, _| format!("{} found no room in the out-of-order queue", counted(count, "segment")),
            ),
            LimitSign::events(
                column::RECEIVE_PRUNED,
                "segments dropped because a receive queue could not be made smaller",
                "TcpExt.RcvPruned",
                |count, _| format!("{} dropped from receive queues", counted(count, "segment")),
            ),
            LimitSign::events(
                column::TCP_ZERO_WINDOW_DROPS,
                "segments dropped because the receive window was closed",
                "TcpExt.TCPZeroWindowDrop",
                |count, _| format!("{} came while the receive window was closed", counted(count, "segment")),
            ),
        ],
        given: &[],
        confirmers: &[PRUNED, COLLAPSED, SENT_AGAIN],
        touch: Touch::Packets,
        whose: Whose::Server,
    }),
};

/// T22.
pub(super) const SOCKET_BACKLOG: Rule = Rule {
    id: "T22",
    name: "socket-backlog-drops",
    meaning: "Segments came faster than a thread could take them off one socket, and the kernel dropped some.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::TCP_BACKLOG_DROPS],
    remedy: "spread the load over more connections, give the receiving thread a CPU without interrupts, or raise \
             net.ipv4.tcp_rmem",
    counterfactual: "over twice as many connections as many segments would be dropped",
    examine: Examination::Signs(&Signs {
        title: "A busy socket dropped segments",
        not: "No socket was too busy to take segments",
        mechanism: &[LimitSign::events(
            column::TCP_BACKLOG_DROPS,
            "segments dropped because a socket's backlog was full",
            "TcpExt.TCPBacklogDrop",
            |count, _| format!("{} found the backlog of its socket full", counted(count, "segment")),
        )],
        given: &[],
        confirmers: &[SENT_AGAIN, TIMED_OUT],
        touch: Touch::Packets,
        whose: Whose::Server,
    }),
};

/// T23.
pub(super) const CHECKSUMS: Rule = Rule {
    id: "T23",
    name: "checksum-errors",
    meaning: "TCP segments arrived damaged, and the kernel dropped them.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::TCP_CHECKSUM_ERRORS],
    remedy: "turn off the checksum offload of the interface (ethtool -K DEVICE rx off) to see whether it is to blame; then \
             check the network card, its driver, and the switches on the way",
    counterfactual: "over another network card as many segments would be damaged",
    examine: Examination::Signs(&Signs {
        title: "Segments arrived damaged",
        not: "No segment arrived damaged",
        mechanism: &[LimitSign::events(
            column::TCP_CHECKSUM_ERRORS,
            "TCP segments with a wrong checksum",
            "Tcp.InCsumErrors",
            |count, _| format!("{} had a wrong checksum", counted(count, "segment")),
        )],
        given: &[],
        confirmers: &[SENT_AGAIN, TIMED_OUT],
        touch: Touch::Packets,
        whose: Whose::Server,
    }),
};
