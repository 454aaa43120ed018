//! Connections from one tier to the next that nobody answers at first: their SYN packets are lost, and sent again after a second.
//!
//! Where the next tier's accept queue is full, that is why (T01). Where it is not, they are dropped before they come to it.

use super::accept::{is_full_at, own_syns};
use super::effect::{EVENTS, Slow};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{counted, name};
use crate::path::{called, path_of, scope_of};
use crate::readings::Level;
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::column::{self, NETNS};
use sysdyno_record::path::PathTier;

const CONNECTING: Threshold =
    Threshold::new("connections to the next tier that are being made, on average", 1.0, "count", HOUSE);
const LASTING: Threshold = Threshold::new("share of readings in which there are some", 0.5, "ratio", HOUSE);

/// N26.
pub(super) const RULE: Rule = Rule {
    id: "N26",
    name: "tier-connect",
    meaning: "Connections from one tier of the server to the next are not answered at once: their first packets are lost.",
    thresholds: &[CONNECTING, LASTING, EVENTS],
    place: Place::Server,
    needs: &[column::ASKED_CONNECTING, column::TCP_SYN_RETRANS],
    remedy: "find what drops them on the way: rules of a packet filter (nft list ruleset, iptables -S: connlimit, ct count), a full \
             connection tracking table, lost packets (ip -s link); and keep connections to it open",
    counterfactual: "with connections that are kept open the responses would take as long",
    examine: Examination::By(examine),
};

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_steady();
    let path = path_of(view);
    let edges = window.scopes(column::ASKED_CONNECTING).into_iter().filter_map(|scope| {
        let level = window.level(column::ASKED_CONNECTING, scope)?;
        Some((scope, level, edge(&path, scope)?))
    });
    let (scope, level, (from, to)) =
        edges.max_by(|(_, one, _), (_, other, _)| one.mean.total_cmp(&other.mean))?;
    let (from, at) = (called(&path, from), name(&to.called(&path)));
    let text = format!("{:.1} connections of {from} to {at} are being made at a time", level.mean);
    let seen = |role| {
        seen_in(
            column::ASKED_CONNECTING.at(scope),
            evidence(role, &window, "sock_diag, SYN_SENT", text.clone()),
        )
    };
    if !is_lasting(level) || is_full_at(&window, to) {
        return excluded("Tiers get their connections to each other", vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    let own = own_syns(view)?;
    if own >= EVENTS.value {
        let text = format!("the server sent {} again", counted(own, "SYN packet"));
        let confirmer = evidence(
            EvidenceRole::Confirmer,
            &view.server_whole(),
            "/proc/PID/net/netstat TcpExt TCPSynRetrans",
            text,
        );
        found.push(seen_in(column::TCP_SYN_RETRANS.at(NETNS), confirmer));
    }
    let slow = Slow::Delayed { count: own, most_ns: f64::INFINITY };
    // Who gives up after some of them has failed for that.
    let reach = Reach { failures: own, slow, events: Some(own) };
    let title = format!("Connections from {from} to {at} get no answer at first: {text}");
    Some(Case::new(title, found, reach))
}

fn is_lasting(level: Level) -> bool {
    level.mean >= CONNECTING.value && level.present_ratio >= LASTING.value
}

/// The tiers at both ends; `None`: the further one is none of the server's.
fn edge<'a>(path: &'a [PathTier], scope: &str) -> Option<(&'a PathTier, &'a PathTier)> {
    let (from, to) = scope.split_once('>')?;
    let from = path.iter().find(|tier| scope_of(tier) == from)?;
    let to = path.iter().find(|tier| tier.address.as_deref() == Some(to) && !tier.is_outside)?;
    Some((from, to))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{TARGET, with_tier};
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::column::NETNS;

    /// nginx makes so many connections to python at a time, whose accept queue of 128 has so many; some SYN packets are sent again.
    fn find(connecting: f64, queued: f64) -> Option<Finding> {
        let back = "10.1.2.3:7000";
        let case = with_tier(slow(), "python", back, 1, TARGET)
            .cpu(0.05, 0.05, 0.01)
            .server(0.05)
            .gauge("asked.connecting_count", &format!("tier:target>{back}"), connecting)
            .gauge("listener.queue_count", &format!("listener:{back}"), queued)
            .gauge("listener.limit_count", &format!("listener:{back}"), 128.0)
            .counter("TcpExt.TCPSynRetrans", NETNS, 2_000.0);
        conclude(case.build()).into_iter().find(|finding| finding.id == "N26")
    }

    #[test]
    fn connects_that_get_no_answer_are_told_where_no_queue_is_full() {
        let finding = find(30.0, 0.0).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(
            finding.title.starts_with("Connections from nginx to python get no answer at first: "),
            "{finding:?}"
        );
        let excluded =
            |found: Option<Finding>| found.is_some_and(|found| found.confidence == Confidence::Excluded);
        assert!(excluded(find(0.1, 0.0)), "hardly any");
        assert!(excluded(find(30.0, 129.0)), "its queue is full");
    }
}
