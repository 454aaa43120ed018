//! How what a server sent under load was divided over its links, and whether that is as it was predicted.

use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::column;
use sysdyno_record::event::EventKind;
use sysdyno_record::links::{LinkPrediction, LinkShare, LinkSplit};

/// Peers rarely have exactly as much traffic as each other.
pub(crate) const AS_PREDICTED: Threshold = Threshold::new(
    "difference of a link's share from the predicted one, up to which it is as predicted",
    0.05,
    "ratio",
    HOUSE,
);

/// How the traffic of a trial was divided over each aggregate of the server's host; empty: it has none.
pub(crate) fn splits_of(view: &TrialView) -> Vec<LinkSplit> {
    let told = view.events.iter().rev().find_map(|event| match &event.event {
        EventKind::Links(forecast) => Some(&forecast.aggregates),
        _ => None,
    });
    let window = view.server_steady();
    let sent = |interface: &str| {
        let growth = window.growth(column::NETDEV_TX_BYTES, &format!("netdev:{interface}"))?;
        Some(growth.amount.max(0.0) as u64)
    };
    told.into_iter().flatten().map(|prediction| split(prediction, &sent)).collect()
}

fn split(prediction: &LinkPrediction, sent: &dyn Fn(&str) -> Option<u64>) -> LinkSplit {
    let LinkPrediction { aggregate, ratios, peers, chance, .. } = prediction;
    let bytes: Vec<Option<u64>> = aggregate.used().map(|member| sent(&member.interface)).collect();
    let all: Option<u64> = bytes.iter().copied().sum();
    let share = |(place, name): (usize, String)| LinkShare {
        name,
        sent_bytes: bytes[place],
        sent_ratio: bytes[place].zip(all).and_then(|(own, all)| ratio(own as f64, all as f64)),
        predicted_ratio: ratios.get(place).copied().filter(|ratio| (0.0..=1.0).contains(ratio)),
    };
    let names = aggregate.used().map(|member| member.name.clone());
    let links: Vec<LinkShare> = names.enumerate().map(share).collect();
    let is_near = |link: &LinkShare| {
        let (sent, predicted) = link.sent_ratio.zip(link.predicted_ratio)?;
        Some((sent - predicted).abs() <= AS_PREDICTED.value)
    };
    LinkSplit {
        name: aggregate.name.clone(),
        kind: aggregate.kind,
        mode: aggregate.mode.clone(),
        peers_count: peers.iter().filter(|peer| !peer.ratios.is_empty()).count() as u64,
        is_as_predicted: links
            .iter()
            .map(is_near)
            .try_fold(true, |all, near| Some(all && near?))
            .filter(|_| !links.is_empty()),
        links,
        chance: *chance,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::links::{AggregateKind, FlowEnd, LinkAggregate, LinkMember, PeerLinks};

    fn prediction(ratios: &[f64]) -> LinkPrediction {
        let member = |number: usize| LinkMember {
            name: format!("eth{number} via 10.0.{number}.1"),
            interface: format!("eth{number}"),
            is_used: true,
            speed_mbps: None,
            sent_bytes: None,
            received_bytes: None,
        };
        LinkPrediction {
            aggregate: LinkAggregate {
                kind: AggregateKind::Route,
                name: "10.9.0.0/24".into(),
                mode: "ECMP by addresses".into(),
                policy: None,
                own: FlowEnd::default(),
                members: (0..2).map(member).collect(),
            },
            peers: vec![PeerLinks { peer: "10.9.0.1".into(), ratios: ratios.to_vec(), unknown: None }],
            ratios: ratios.to_vec(),
            policies: vec![],
            address: None,
            chance: None,
        }
    }

    #[test]
    fn shares_are_those_of_what_the_links_sent() {
        let sent = |interface: &str| Some(if interface == "eth0" { 970 } else { 30 });
        let found = split(&prediction(&[1.0, 0.0]), &sent);
        let shares: Vec<_> = found.links.iter().map(|link| (link.sent_ratio, link.predicted_ratio)).collect();
        assert_eq!(shares, [(Some(0.97), Some(1.0)), (Some(0.03), Some(0.0))]);
        assert_eq!((found.is_as_predicted, found.busiest_ratio()), (Some(true), Some(0.97)));
        assert_eq!(split(&prediction(&[0.5, 0.5]), &sent).is_as_predicted, Some(false));
    }

    #[test]
    fn what_was_not_read_or_predicted_is_not_judged() {
        let half = |interface: &str| (interface == "eth0").then_some(970);
        let found = split(&prediction(&[1.0, 0.0]), &half);
        assert_eq!((found.is_as_predicted, found.busiest_ratio()), (None, None));
        assert_eq!(split(&prediction(&[]), &|_| Some(1)).is_as_predicted, None);
        assert_eq!(split(&prediction(&[1.0, 0.0]), &|_| Some(0)).is_as_predicted, None);
    }
}
