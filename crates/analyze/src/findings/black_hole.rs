//! A path that loses large packets without a word: a hop with a smaller MTU whose ICMP messages do not come back. Handshakes and
//! short responses pass, and a long response ends before its first full segment, which the server sends again and again.

use super::effect::Slow;
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_by_generator, seen_in};
use crate::format::{counted, whole};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, NETNS};
use sysdyno_record::load::PhaseSummary;

const STUCK: Threshold = Threshold::new(
    "connections that send their first segment in vain ÷ connections with anything to send, at the same time",
    0.8,
    "ratio",
    "house value; where packets are lost by chance, most get through the second time",
);
const STUCK_COUNT: Threshold =
    Threshold::new("connections that send their first segment in vain, on average", 0.5, "count", HOUSE);
const SEGMENT: Threshold = Threshold::new(
    "bytes of a good response, on average, that show that full segments arrive",
    1220.0,
    "bytes",
    "RFC 8200, section 5: what every path carries, 1,280 bytes, without the heads of IPv6 and TCP",
);

/// N16.
pub(super) const RULE: Rule = Rule {
    id: "N16",
    name: "mtu-black-hole",
    meaning: "Large packets vanish on the way, and small ones arrive: path MTU discovery does not work.",
    thresholds: &[STUCK, STUCK_COUNT, SEGMENT],
    place: Place::Elsewhere,
    needs: &[column::CONNECTIONS_STUCK, column::TCP_SYN_RETRANS],
    remedy: "find the hop with the smaller MTU (`tracepath CLIENT` on the server) and let its ICMP messages through, or clamp the \
             MSS there; net.ipv4.tcp_mtu_probing=1 on the server works around it",
    counterfactual: "with an MTU of 1,280 on the server's interface as many responses would fail",
    examine: Examination::By(examine),
};

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_steady();
    let level = |quantity, scope: &str| Some(window.level(quantity, scope)?.mean);
    let scopes = window.scopes(column::CONNECTIONS_STUCK).into_iter();
    let stuck = scopes.filter_map(|scope| Some((scope, level(column::CONNECTIONS_STUCK, scope)?)));
    let (scope, stuck) = stuck.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let sending = level(column::CONNECTIONS_UNSENT, scope)?;
    let share = ratio(stuck, sending).unwrap_or(0.0).min(1.0);
    let text = format!(
        "{} of {} connections with a response to send are stuck on its first segment",
        whole(stuck),
        whole(sending)
    );
    let seen = |role| {
        let seen = evidence(role, &window, "sock_diag, idiag_retrans", text.clone());
        seen_in(column::CONNECTIONS_STUCK.at(scope), seen)
    };
    if share < STUCK.value || stuck < STUCK_COUNT.value || good_bytes(view) > SEGMENT.value {
        return excluded("Large packets arrive", vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.extend(timers(view));
    found.extend(small_packets(view));
    let counts = view.counts();
    let failures = counts.failed as f64 + counts.timed_out as f64;
    let reach = Reach { failures, slow: Slow::Share(share), events: None };
    Some(Case::new(format!("Large packets do not reach the client: {text}"), found, reach))
}

/// Mean size of a good response, of the whole trial: on a path that broke meanwhile, large ones came before. Unit: bytes.
fn good_bytes(view: &TrialView) -> f64 {
    let phases = &view.end.summary.phases;
    let sum = |of: fn(&PhaseSummary) -> u64| phases.iter().map(of).sum::<u64>() as f64;
    ratio(sum(|phase| phase.received_bytes), sum(|phase| phase.counts.ok)).unwrap_or(0.0)
}

fn timers(view: &TrialView) -> Option<Evidence> {
    let window = view.server_whole();
    let count = window.occurrences(column::TCP_TIMEOUTS, NETNS).filter(|count| *count > 0.0)?;
    let text = format!("{} expired", counted(count, "retransmission timer"));
    let source = "/proc/PID/net/netstat TcpExt TCPTimeouts";
    Some(seen_in(column::TCP_TIMEOUTS.at(NETNS), evidence(EvidenceRole::Confirmer, &window, source, text)))
}

/// Whether small packets arrive: those that begin connections. A path that loses them too is broken for all.
fn small_packets(view: &TrialView) -> Option<Evidence> {
    let window = view.whole();
    let repeated = window.occurrences(column::TCP_SYN_RETRANS, NETNS)?;
    let text = format!("{} retransmitted", counted(repeated, "SYN packet"));
    let role = if repeated > 0.0 { EvidenceRole::Against } else { EvidenceRole::Confirmer };
    let source = "/proc/PID/net/netstat TcpExt TCPSynRetrans";
    Some(seen_by_generator(view, &column::TCP_SYN_RETRANS.at(NETNS), evidence(role, &window, source, text)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LISTENER, conclude, slow};
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::column::NETNS;

    fn find(stuck: f64, sending: f64, response_bytes: u64, repeated: f64) -> Finding {
        let case = slow()
            .cpu(0.05, 0.05, 0.01)
            .server(0.05)
            .gauge("connections.stuck_count", LISTENER, stuck)
            .gauge("connections.unsent_count", LISTENER, sending)
            .counter("TcpExt.TCPTimeouts", NETNS, 5.0)
            .counter("TcpExt.TCPSynRetrans", NETNS, repeated)
            .edit(|case| {
                let phases = case.end.summary.phases.iter_mut();
                phases.for_each(|phase| phase.received_bytes = phase.counts.ok * response_bytes);
            });
        conclude(case).into_iter().find(|finding| finding.id == "N16").expect("a finding")
    }

    #[test]
    fn responses_that_never_get_beyond_their_first_segment_are_the_mark_of_a_black_hole() {
        let found = find(8.0, 8.0, 237, 0.0);
        assert_eq!(found.confidence, Confidence::Likely, "{found:?}");
        assert!(found.title.contains("8 of 8 connections with a response to send are stuck"), "{found:?}");
        assert_eq!(find(0.2, 8.0, 237, 0.0).confidence, Confidence::Excluded, "a loss now and then");
        assert_eq!(find(8.0, 8.0, 1300, 0.0).confidence, Confidence::Excluded, "long responses came");
        assert_eq!(
            find(8.0, 8.0, 237, 3.0).confidence,
            Confidence::Possible,
            "small packets are lost as well"
        );
    }
}
