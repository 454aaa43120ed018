//! The network link as the bottleneck.

use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{bytes, list, name, percent, whole};
use crate::links::splits_of;
use crate::readings::{Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, NETNS, Quantity};
use sysdyno_record::links::{AggregateKind, LinkShare, LinkSplit};

const LINE_RATE: Threshold = Threshold::new(
    "bits sent or received ÷ speed of the link",
    0.90,
    "ratio",
    "netdata, interface speed alarm",
);
const SHAPED: Threshold =
    Threshold::new("share of readings in which packets waited for the limit of a link", 0.5, "ratio", HOUSE);
const CPU_IDLE: Threshold =
    Threshold::new("idle share of the CPUs that rules them out", 0.30, "ratio", HOUSE);
const UNEVEN: Threshold =
    Threshold::new("share of the busiest of several links ÷ an even share", 1.25, "ratio", HOUSE);
const RETRANSMITTED: Threshold = Threshold::new("retransmitted ÷ sent TCP segments", 0.01, "ratio", HOUSE);

/// N10.
pub(super) const BANDWIDTH: Rule = Rule {
    id: "N10",
    name: "bandwidth-bound",
    meaning: "A network link is saturated.",
    thresholds: &[LINE_RATE, SHAPED, CPU_IDLE, UNEVEN, RETRANSMITTED],
    place: Place::Server,
    needs: &[column::NETDEV_TX_BYTES],
    remedy: "compress or shrink responses, cache them closer to users, or add faster or more links",
    counterfactual: "halving the response size would not raise the request rate",
    examine: Examination::By(examine_bandwidth),
};

struct Link<'a> {
    device: &'a str,
    direction: &'static str,
    used_ratio: f64,
    speed_mbps: f64,
}

fn examine_bandwidth<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let window = scene.focus.server_steady();
    let links = links(&window);
    let Some(busiest) = links.iter().max_by(|a, b| a.used_ratio.total_cmp(&b.used_ratio)) else {
        let text = "the requests went over the loopback interface, which has no link speed".to_owned();
        let against = evidence(EvidenceRole::Against, &window, "the target's address", text);
        return excluded(
            "Network links are not the bottleneck",
            if scene.focus.is_loopback() { vec![against] } else { Vec::new() },
        );
    };
    let text = format!(
        "{} {} at {} of its {} Mbit/s",
        name(busiest.device),
        busiest.direction,
        percent(busiest.used_ratio),
        whole(busiest.speed_mbps)
    );
    let column = format!(
        "netdev.{}_bytes@netdev:{}",
        if busiest.direction == "sent" { "tx" } else { "rx" },
        busiest.device
    );
    let seen = |role: EvidenceRole| {
        seen_in(column.clone(), evidence(role, &window, "/proc/PID/net/dev", text.clone()))
    };
    if busiest.used_ratio < LINE_RATE.value {
        return excluded("Network links are not the bottleneck", vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.extend(confirmers(&window));
    let reach = Reach::used_up(&scene.focus, 1.0);
    let uneven = splits_of(&scene.focus).into_iter().find(is_uneven);
    let mut case = Case::new(format!("The network link is saturated: {text}"), found, reach);
    if let Some(split) = uneven {
        case.evidence.push(evidence(EvidenceRole::Confirmer, &window, "/proc/PID/net/dev", divided(&split)));
        case.remedy = Some(match split.kind {
            AggregateKind::Route => "divide traffic by connection: set net.ipv4.fib_multipath_hash_policy to 1 (IPv6: \
                                     net.ipv6.fib_multipath_hash_policy); `sysdyno links` shows who takes which link"
                .to_owned(),
            AggregateKind::Bond | AggregateKind::Described => "choose another xmit_hash_policy of the bond; \
                                                               `sysdyno links` shows who takes which link"
                .to_owned(),
        });
    }
    Some(case)
}

/// Whether one of several links has much more to carry than the others.
fn is_uneven(split: &LinkSplit) -> bool {
    let even_ratio = 1.0 / split.links.len().max(1) as f64;
    split.links.len() > 1 && split.busiest_ratio().is_some_and(|busiest| busiest > UNEVEN.value * even_ratio)
}

/// How the traffic was divided, in a sentence.
fn divided(split: &LinkSplit) -> String {
    let share = |link: &LinkShare| {
        let sent = link.sent_ratio.map_or_else(|| "an unknown share".to_owned(), percent);
        format!("{} {sent}", name(&link.name))
    };
    let shares: Vec<String> = split.links.iter().map(share).collect();
    format!("the links of {} are used unevenly ({}): {}", name(&split.name), split.mode, list(&shares))
}

/// Links with a known speed, both directions of each, and those that a queueing discipline limits, which only limits what is sent.
fn links<'a>(window: &Window<'a>) -> Vec<Link<'a>> {
    let mut links = Vec::new();
    for scope in window.scopes(column::QDISC_LIMIT) {
        let limit = window.level(column::QDISC_LIMIT, scope).filter(|limit| limit.last > 0.0);
        let sent = window.growth(column::NETDEV_TX_BYTES, scope).and_then(|growth| growth.per_second());
        let Some((limit, sent_hz)) = limit.zip(sent) else { continue };
        let waited = window.level(column::QDISC_BACKLOG, scope).map_or(0.0, |backlog| backlog.present_ratio);
        // A limit that is always waited for is used up, however much of it headers and pauses take.
        let full = if waited >= SHAPED.value { LINE_RATE.value } else { 0.0 };
        let used = ratio(sent_hz * 8.0, limit.last * 1e6).map(|used| used.max(full));
        let device = scope.trim_start_matches("netdev:");
        let shaped = |used_ratio| Link { device, direction: "sent", used_ratio, speed_mbps: limit.last };
        links.extend(used.map(shaped));
    }
    for scope in window.scopes(column::NETDEV_SPEED) {
        let Some(speed) = window.level(column::NETDEV_SPEED, scope).filter(|speed| speed.last > 0.0) else {
            continue;
        };
        for (direction, counter) in [("sent", column::NETDEV_TX_BYTES), ("received", column::NETDEV_RX_BYTES)]
        {
            let bytes_hz = window.growth(counter, scope).and_then(|growth| growth.per_second());
            let used = bytes_hz.and_then(|bytes_hz| ratio(bytes_hz * 8.0, speed.last * 1e6));
            let device = scope.trim_start_matches("netdev:");
            links.extend(used.map(|used_ratio| Link {
                device,
                direction,
                used_ratio,
                speed_mbps: speed.last,
            }));
        }
    }
    links
}

fn confirmers(window: &Window) -> Vec<Evidence> {
    let mut found = Vec::new();
    if let Some(machine) = window.machine().filter(|machine| 1.0 - machine.busy_ratio > CPU_IDLE.value) {
        let text = format!("the CPUs were {} idle", percent(1.0 - machine.busy_ratio));
        found.push(evidence(EvidenceRole::Confirmer, window, "/proc/stat", text));
    }
    let waiting = |scope: &&str| {
        window.level(column::QDISC_BACKLOG, scope).map_or(0.0, |backlog| backlog.present_ratio)
    };
    let queued =
        window.scopes(column::QDISC_BACKLOG).into_iter().max_by(|a, b| waiting(a).total_cmp(&waiting(b)));
    if let Some(scope) = queued.filter(|scope| waiting(scope) >= SHAPED.value) {
        let backlog = window.level(column::QDISC_BACKLOG, scope).map_or(0.0, |backlog| backlog.mean);
        let text = format!("{} waited to be sent, on average", bytes(backlog));
        let seen = evidence(EvidenceRole::Confirmer, window, "RTM_GETQDISC, backlog", text);
        found.push(seen_in(column::QDISC_BACKLOG.at(scope), seen));
    }
    let count = |counter: Quantity| window.growth(counter, NETNS).map(|growth| growth.amount);
    let again = count(column::TCP_RETRANS_SEGS)
        .zip(count(column::TCP_OUT_SEGS))
        .and_then(|(again, sent)| ratio(again, sent));
    if let Some(share) = again.filter(|share| *share > RETRANSMITTED.value) {
        let text = format!("{} of TCP segments were retransmitted", percent(share));
        let seen = evidence(EvidenceRole::Confirmer, window, "/proc/PID/net/snmp Tcp RetransSegs", text);
        found.push(seen_in(column::TCP_RETRANS_SEGS.at(NETNS), seen));
    }
    found
}
