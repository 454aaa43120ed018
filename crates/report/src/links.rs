//! Aggregates of links: what each carries, where the traffic of peers goes, and what would divide it better.

use crate::escape;
use crate::number;
use crate::terminal::{Rank, Screen, Style, Tone};
use serde_json::{Value, json};
use sysdyno_record::links::{AggregateKind, LinkAggregate, LinkMember, LinkPrediction, SCHEMA};

/// Columns of a name.
const NAME_COLUMNS_MAX: usize = 40;

/// Peers that are listed.
const PEERS_MAX: usize = 32;

/// From this share of the busiest link on, as a multiple of an even share, links are not evenly used. Source: house value.
const UNEVEN: f64 = 1.25;

/// The document of `--json`.
pub fn document(found: &[LinkPrediction]) -> Value {
    json!({ "schema": SCHEMA, "aggregates": found })
}

/// The screen.
pub fn screen(found: &[LinkPrediction], style: &Style) -> String {
    let mut screen = Screen::new(*style);
    if found.is_empty() {
        let text = "this host has no bond, and no route over several next hops; --hash describes a switch";
        screen.answer((Tone::Quiet, "Links"), (Tone::Plain, text));
    }
    for (number, prediction) in found.iter().enumerate() {
        if number > 0 {
            screen.gap();
        }
        draw(&mut screen, prediction);
    }
    screen.finish()
}

fn draw(screen: &mut Screen, prediction: &LinkPrediction) {
    let LinkPrediction { aggregate, peers, ratios, .. } = prediction;
    let used: Vec<&str> = aggregate.used().map(|member| member.name.as_str()).collect();
    let name = escape::terminal(&aggregate.name, NAME_COLUMNS_MAX);
    let (label, of) = match aggregate.kind {
        AggregateKind::Bond => ("Bond", ""),
        AggregateKind::Route => ("Route", "to "),
        AggregateKind::Described => ("Switch", "traffic from "),
    };
    let (used_count, count) = (used.len(), aggregate.members.len());
    let text = format!("{of}{name}: {} · {used_count} of {count} links used", aggregate.mode);
    screen.answer((Tone::Quiet, label), (Tone::Strong, &text));
    table(screen, aggregate, ratios);
    for peer in peers.iter().take(PEERS_MAX) {
        let text = match &peer.unknown {
            Some(cause) => format!("{}: not known, {cause}", peer.peer),
            None => format!("{} → {}", peer.peer, over(&peer.ratios, &used)),
        };
        screen.row(Rank::Useful, (Tone::Quiet, ""), &[(Tone::Plain, &text)]);
    }
    if peers.len() > PEERS_MAX {
        let text = format!("and {} more: --json lists all", peers.len() - PEERS_MAX);
        screen.row(Rank::Useful, (Tone::Quiet, ""), &[(Tone::Quiet, &text)]);
    }
    advice(screen, prediction);
}

/// A line for each link, with its shares of what all have carried, and of what is predicted.
fn table(screen: &mut Screen, aggregate: &LinkAggregate, ratios: &[f64]) {
    let shown = |member: &LinkMember| escape::terminal(&member.name, NAME_COLUMNS_MAX);
    let columns = aggregate.members.iter().map(|member| escape::width(&shown(member))).max().unwrap_or(0);
    let share = |word: &str, bytes: fn(&LinkMember) -> Option<u64>, member: &LinkMember| {
        let all: u64 = aggregate.members.iter().filter_map(bytes).sum();
        let own = bytes(member).filter(|_| all > 0)?;
        Some(format!("{word} {}", number::percent(own as f64 / all as f64)))
    };
    let mut predicted = ratios.iter().copied();
    for member in &aggregate.members {
        let ratio = if member.is_used { predicted.next() } else { None };
        let parts = [
            (!member.is_used).then(|| "not used".to_owned()),
            member.speed_mbps.map(speed),
            share("sent", |member| member.sent_bytes, member),
            share("received", |member| member.received_bytes, member),
            ratio.map(|ratio| format!("predicted {}", number::percent(ratio))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let text = format!("{:<columns$}  {}", shown(member), parts.join(" · "));
        screen.row(Rank::Needed, (Tone::Quiet, ""), &[(Tone::Plain, text.trim_end())]);
    }
}

fn speed(mbps: f64) -> String {
    if mbps >= 1000.0 { format!("{} Gbit/s", mbps / 1000.0) } else { format!("{mbps} Mbit/s") }
}

/// The link of a peer, or its shares of several.
fn over(ratios: &[f64], links: &[&str]) -> String {
    let shares = ratios.iter().zip(links).filter(|(ratio, _)| **ratio > 0.0);
    let shares: Vec<(f64, &str)> = shares.map(|(ratio, link)| (*ratio, *link)).collect();
    match shares[..] {
        [(_, link)] => escape::terminal(link, NAME_COLUMNS_MAX),
        _ => {
            let each = |(ratio, link): &(f64, &str)| {
                format!("{} {}", number::percent(*ratio), escape::terminal(link, NAME_COLUMNS_MAX))
            };
            let all: Vec<String> = shares.iter().map(each).collect();
            format!("{}, by connection", all.join(", "))
        }
    }
}

fn advice(screen: &mut Screen, prediction: &LinkPrediction) {
    let LinkPrediction { aggregate, ratios, policies, address, chance, .. } = prediction;
    let busiest = ratios.iter().copied().fold(0.0, f64::max);
    let is_uneven = busiest * ratios.len() as f64 > UNEVEN;
    if is_uneven {
        let now = format!(
            "the busiest link carries {} if all peers have as much traffic",
            number::percent(busiest)
        );
        screen.row(Rank::Needed, (Tone::Doubtful, "Uneven"), &[(Tone::Plain, &now)]);
        let better = policies.first().filter(|split| split.busiest_ratio < busiest - 0.01);
        let better = better.map(|split| {
            let percent = number::percent(split.busiest_ratio);
            format!("policy {}: {percent} on the busiest link", split.policy.name())
        });
        let address = address.as_ref().map(|(peer, byte)| {
            let peer = escape::terminal(peer, NAME_COLUMNS_MAX);
            format!("or give {peer} an address whose last byte is {byte} ({byte:#04x})")
        });
        let all: Vec<String> = better.into_iter().chain(address).collect();
        if !all.is_empty() {
            let text = all.join(", ");
            let text = text.strip_prefix("or ").unwrap_or(&text);
            screen.row(Rank::Needed, (Tone::Quiet, "Better"), &[(Tone::Plain, text)]);
        }
    }
    if let Some(chance) = chance {
        let text = format!(
            "{} random peers all land on the same one of {} links {} of the time; on average, the busiest link carries {}",
            chance.peers_count,
            chance.links_count,
            number::percent(chance.one_link_ratio),
            number::percent(chance.busiest_mean_ratio)
        );
        screen.row(Rank::Useful, (Tone::Quiet, "By chance"), &[(Tone::Plain, &text)]);
    }
    if !ratios.is_empty() {
        let text = match aggregate.kind {
            AggregateKind::Described => "the other end decides over which link the other direction goes",
            AggregateKind::Bond | AggregateKind::Route => {
                "this is what the host sends; the other end decides over which link it receives"
            }
        };
        screen.row(Rank::Extra, (Tone::Quiet, ""), &[(Tone::Quiet, text)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::links::{FlowEnd, HashPolicy, PeerLinks, PolicySplit};

    #[test]
    fn a_bond_is_a_table_its_peers_and_what_would_help() {
        let member = |name: &str, is_used, sent_bytes| LinkMember {
            name: name.into(),
            interface: name.into(),
            is_used,
            speed_mbps: Some(1000.0),
            sent_bytes: Some(sent_bytes),
            received_bytes: Some(0),
        };
        let aggregate = LinkAggregate {
            kind: AggregateKind::Bond,
            name: "bond0\u{1b}[2J".into(),
            mode: "802.3ad, layer2".into(),
            policy: Some(HashPolicy::Layer2),
            own: FlowEnd::default(),
            members: vec![member("eth0", true, 0), member("eth1", true, 900), member("eth2", false, 100)],
        };
        let peer = |name: &str| PeerLinks { peer: name.into(), ratios: vec![0.0, 1.0], unknown: None };
        let unknown = PeerLinks { peer: "c".into(), ratios: vec![], unknown: Some("why".into()) };
        let prediction = LinkPrediction {
            aggregate,
            peers: vec![peer("a"), peer("b"), unknown],
            ratios: vec![0.0, 1.0],
            policies: vec![PolicySplit { policy: HashPolicy::Layer34, busiest_ratio: 0.5 }],
            address: None,
            chance: None,
        };
        let text = screen(&[prediction], &Style::default());
        for line in [
            "Bond       bond0",
            "eth1  1 Gbit/s · sent 90.0% · predicted 100%",
            "eth2  not used · 1 Gbit/s · sent 10.0%",
            "a → eth1",
            "c: not known, why",
            "Better     policy layer3+4: 50.0% on the busiest link",
        ] {
            assert!(text.contains(line), "'{line}' is missing:\n{text}");
        }
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}
