//! A path that loses large packets without a word: a hop with a smaller MTU whose ICMP messages do not come back. Handshakes and
//! short responses pass, and a long response ends before its first full segment, which the server sends again and again.

use super::effect::Slow;
use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{counted, percent, whole};
use crate::readings::ratio;
use crate::threshold::Threshold;
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::column::{self, NETNS};

const STUCK: Threshold = Threshold::new(
    "connections that send their first segment in vain ÷ connections with anything to send, at the same time",
    0.8,
    "ratio",
    "house value; where packets are lost by chance, most get through the second time",
);
const SEGMENT: Threshold = Threshold::new(
    "bytes of a good response that show that full segments arrive",
    1500.0,
    "bytes",
    "MTU of Ethernet",
);

/// N16.
pub(super) const RULE: Rule = Rule {
    id: "N16",
    name: "mtu-black-hole",
    meaning: "Large packets vanish on the way, and small ones arrive: path MTU discovery does not work.",
    thresholds: &[STUCK, SEGMENT],
    place: Place::Elsewhere,
    needs: &[column::CONNECTIONS_STUCK],
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
        "{} of the connections with a response to send ({} of {}) repeat its first segment in vain",
        percent(share),
        whole(stuck),
        whole(sending)
    );
    let seen = |role| {
        let seen = evidence(role, &window, "sock_diag, idiag_retrans", text.clone());
        seen_in(column::CONNECTIONS_STUCK.at(scope), seen)
    };
    let counts = view.counts();
    let good_bytes = ratio(view.measured().received_bytes as f64, counts.ok as f64).unwrap_or(0.0);
    if share < STUCK.value || stuck < 0.5 || good_bytes > SEGMENT.value {
        return excluded("Large packets arrive", vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    if let Some(timers) =
        view.server_whole().occurrences(column::TCP_TIMEOUTS, NETNS).filter(|count| *count > 0.0)
    {
        let text = format!("{} expired", counted(timers, "retransmission timer"));
        let source = "/proc/PID/net/netstat TcpExt TCPTimeouts";
        found.push(seen_in(
            column::TCP_TIMEOUTS.at(NETNS),
            evidence(EvidenceRole::Confirmer, &window, source, text),
        ));
    }
    let arrived = match counts.ok {
        0 => "connections are made, and requests arrive".to_owned(),
        ok => {
            format!(
                "{} arrived, of {} bytes on average",
                counted(ok as f64, "short response"),
                whole(good_bytes)
            )
        }
    };
    found.push(evidence(EvidenceRole::Confirmer, &view.steady(), ENGINE, arrived));
    let failures = counts.failed as f64 + counts.timed_out as f64;
    let reach = Reach { failures, slow: Slow::Share(share), events: None };
    Some(Case::new(format!("Large packets vanish on the way to the client: {text}"), found, reach))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LISTENER, conclude, slow};
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::column::NETNS;

    fn find(stuck: f64, sending: f64, received_bytes: u64) -> Finding {
        let case = slow()
            .cpu(0.05, 0.05, 0.01)
            .server(0.05)
            .gauge("connections.stuck_count", LISTENER, stuck)
            .gauge("connections.unsent_count", LISTENER, sending)
            .counter("TcpExt.TCPTimeouts", NETNS, 5.0)
            .edit(|case| case.end.summary.measured.received_bytes = received_bytes);
        conclude(case).into_iter().find(|finding| finding.id == "N16").expect("a finding")
    }

    #[test]
    fn responses_that_never_get_beyond_their_first_segment_are_the_mark_of_a_black_hole() {
        let found = find(8.0, 8.0, 0);
        assert_eq!(found.confidence, Confidence::Likely, "{found:?}");
        assert!(
            found.title.contains("100% of the connections with a response to send (8 of 8)"),
            "{found:?}"
        );
        assert_eq!(find(0.2, 8.0, 0).confidence, Confidence::Excluded, "a loss now and then");
        assert_eq!(find(8.0, 8.0, u64::MAX / 2).confidence, Confidence::Excluded, "long responses arrive");
    }
}
