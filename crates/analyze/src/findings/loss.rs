//! Packets lost on the way: each delays a response until it is retransmitted.

use super::accept::drops;
use super::effect::{Slow, slower_than};
use super::retransmit::Lost;
use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{counted, percent, whole};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::column::{self, NETNS, Quantity};

const LOST: Threshold = Threshold::new(
    "retransmitted ÷ sent TCP segments, without SYNs and what an accept queue dropped, of either host",
    0.01,
    "ratio",
    "house value; bpftune takes a path with 1.5% for lossy",
);
const SLOW: Threshold = Threshold::new(
    "requests that took longer than a retransmission timer ÷ retransmitted segments",
    0.1,
    "ratio",
    HOUSE,
);
const DOUBLED: Threshold = Threshold::new(
    "segments of which the receiver said that it had them already (DSACK) ÷ retransmitted segments, at most",
    0.5,
    "ratio",
    "RFC 2883; tail loss probes repeat what is only acknowledged late",
);
/// Least retransmission timeout of Linux (`TCP_RTO_MIN`, `include/net/tcp.h`). Unit: nanoseconds.
const RETRY_NS: f64 = 0.2e9;

/// N17.
pub(super) const LOSS: Rule = Rule {
    id: "N17",
    name: "packet-loss",
    meaning: "Packets are lost between the hosts, and TCP has to send them again.",
    thresholds: &[LOST, SLOW, DOUBLED],
    place: Place::Elsewhere,
    needs: &[column::TCP_RETRANS_SEGS],
    remedy: "find where they are lost (errors and drops of interfaces, full queues, a firewall); until then a loss-tolerant \
             congestion control (net.ipv4.tcp_congestion_control=bbr) costs less",
    counterfactual: "on another path as many segments would be sent again",
    examine: Examination::By(examine),
};

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let windows = [view.whole(), view.server_whole()];
    let Lost { count: again, share } = Lost::of(view)?;
    let most = |counter: Quantity| {
        windows.iter().filter_map(|window| window.occurrences(counter, NETNS)).fold(0.0, f64::max)
    };
    let mut text = format!(
        "{} of TCP segments were retransmitted, {} in all",
        percent(share),
        counted(again, "segment")
    );
    if let Some(refused) = drops(&windows[1]).filter(|count| *count > 0.0) {
        text += &format!(
            ", apart from {} for connections that a full accept queue dropped",
            counted(refused, "segment")
        );
    }
    let window = &windows[1];
    let column = column::TCP_RETRANS_SEGS.at(NETNS);
    let seen = |role| {
        let source = "/proc/PID/net/snmp Tcp RetransSegs, OutSegs";
        seen_in(column.clone(), evidence(role, window, source, text.clone()))
    };
    if share < LOST.value {
        return excluded("Packets are not lost", vec![seen(EvidenceRole::Against)]);
    }
    let doubled = most(column::TCP_DSACKS);
    if doubled >= DOUBLED.value * again {
        text += &format!(", of which {} had arrived before", whole(doubled.min(again)));
        let source = "/proc/PID/net/netstat TcpExt TCPDSACKRecv";
        let seen = seen_in(
            column::TCP_DSACKS.at(NETNS),
            evidence(EvidenceRole::Against, window, source, text.clone()),
        );
        return excluded("Packets are not lost", vec![seen]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    let timers = most(column::TCP_TIMEOUTS);
    let fast = most(column::TCP_FAST_RETRANS);
    let slow = slower_than(view, RETRY_NS);
    let waited = Reach::used_up(view, 1.0).failures;
    // A timer of TCP is slower than any of these requests: what was sent again belonged to none of them, such as the end of a
    // connection.
    if timers > 0.0 && fast + slow + waited < SLOW.value * again {
        return excluded("No request waited for what was sent again", vec![seen(EvidenceRole::Against)]);
    }
    if timers + fast > 0.0 {
        let text = format!(
            "{} expired, and {} were sent again when later ones arrived",
            counted(timers, "retransmission timer"),
            whole(fast)
        );
        found.push(evidence(
            EvidenceRole::Confirmer,
            window,
            "/proc/PID/net/netstat TcpExt TCPTimeouts, TCPFastRetrans",
            text,
        ));
    }
    if slow >= SLOW.value * again {
        let text = format!("{} took more than the 0.2 s of such a timer", counted(slow, "request"));
        found.push(evidence(EvidenceRole::Confirmer, &view.steady(), ENGINE, text));
    }
    let reach = Reach {
        failures: waited.min(again),
        slow: Slow::Delayed { count: again, most_ns: f64::INFINITY },
        events: Some(again),
    };
    Some(Case::new(format!("Packets are lost on the way: {text}"), found, reach))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{Specimen, spread};
    use sysdyno_record::analysis::Confidence;
    use sysdyno_record::column::NETNS;
    use sysdyno_record::load::LatencyKind;

    fn lossy(again_hz: f64) -> Specimen {
        slow()
            .edit(|case| case.fill(LatencyKind::Response, spread(20_000, 300e6)))
            .counter("Tcp.OutSegs", NETNS, 10_000.0)
            .counter("Tcp.RetransSegs", NETNS, again_hz)
            .counter("TcpExt.TCPTimeouts", NETNS, again_hz / 2.0)
    }

    fn confidence(case: Specimen) -> Option<Confidence> {
        conclude(case).into_iter().find(|finding| finding.id == "N17").map(|finding| finding.confidence)
    }

    #[test]
    fn what_a_full_accept_queue_dropped_is_not_lost_on_the_way() {
        let with_drops = |drops_hz: f64| {
            lossy(2_000.0).counter("TcpExt.ListenOverflows", NETNS, drops_hz).counter(
                "TcpExt.ListenDrops",
                NETNS,
                drops_hz,
            )
        };
        assert_eq!(
            confidence(with_drops(2_000.0)),
            Some(Confidence::Excluded),
            "each drop is sent again once"
        );
        assert!(confidence(with_drops(500.0)) >= Some(Confidence::Likely), "most were not dropped there");
    }

    #[test]
    fn loss_is_what_happened_if_so_many_requests_met_it() {
        assert!(confidence(lossy(2_000.0)) >= Some(Confidence::Likely));
        let doubled = lossy(2_000.0).counter("TcpExt.TCPDSACKRecv", NETNS, 1_900.0);
        assert_eq!(confidence(doubled), Some(Confidence::Excluded), "it had arrived before");
        assert_eq!(confidence(lossy(150.0)), Some(Confidence::Possible), "it touched one request in ten");
        assert_eq!(confidence(lossy(50.0)), Some(Confidence::Excluded));
        assert_eq!(confidence(slow()), None, "nobody counted");
        let quick = |case: Specimen| case.edit(|case| case.fill(LatencyKind::Response, spread(20_000, 1e6)));
        assert_eq!(
            confidence(quick(lossy(2_000.0))),
            Some(Confidence::Excluded),
            "no request waited for a timer"
        );
    }
}
