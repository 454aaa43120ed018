//! What the kernel does with each packet: a packet filter with many rules, or a program that captures all of them.
//!
//! A packet takes the kernel a few microseconds from the device to the socket. Where it takes many times as much, something looks
//! at each of them, and spreading the work over more CPUs only spreads that.

use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{cpus, percent, rate};
use crate::readings::{CpuShare, Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, Quantity};

const EACH: Threshold = Threshold::new(
    "interrupt time ÷ packets received, to be more than protocols take",
    25.0,
    "µs",
    "house value: TCP over loopback and veth takes 2 to 8",
);
const SPENT: Threshold = Threshold::new("CPUs that interrupts use, to matter", 0.4, "count", HOUSE);
const BUSY: Threshold =
    Threshold::new("busy share of the CPU that handles most interrupts", 0.85, "ratio", HOUSE);

const RECEIVED: Quantity = column::SOFTNET_PROCESSED;

const SOURCE: &str = "/proc/net/softnet_stat, /proc/stat";

/// N25.
pub(super) const RULE: Rule = Rule {
    id: "N25",
    name: "packet-cost",
    meaning: "The kernel spends much CPU time on each packet.",
    thresholds: &[EACH, SPENT, BUSY],
    place: Place::Server,
    needs: &[column::SOFTNET_PROCESSED, column::CPU_SOFTIRQ],
    remedy: "look for what is done with each packet: rules of a packet filter (nft list ruleset, iptables -S; one set takes the \
             place of many), filters of tc, programs that capture packets",
    counterfactual: "without these rules or programs a packet would cost as much",
    examine: Examination::By(examine),
};

/// What packets cost a host.
struct Cost {
    each_us: f64,
    /// CPUs that interrupts use.
    spent: f64,
    text: String,
}

impl Cost {
    fn of(window: &Window, shares: &[CpuShare]) -> Option<Cost> {
        let spent = shares.iter().map(|cpu| cpu.softirq_ratio).sum::<f64>();
        let received = window.scopes(RECEIVED).into_iter();
        let received = received.filter_map(|scope| window.growth(RECEIVED, scope)?.per_second());
        let received_hz: f64 = received.sum();
        let each_us = ratio(spent * 1e6, received_hz)?;
        let text = format!(
            "{each_us:.1} µs of interrupt time for each packet ({} CPUs, {} packets per second)",
            cpus(spent),
            rate(received_hz)
        );
        Some(Cost { each_us, spent, text })
    }

    fn is_high(&self) -> bool {
        self.each_us >= EACH.value && self.spent >= SPENT.value
    }
}

/// That a generator on the server's host spends its time on what is done with each packet: it sends over a link within the host, and
/// whoever sends there does the work of receiving as well. `None`: packets cost no more than usual, or it is on another host.
pub(super) fn of_sender(scene: &Scene) -> Option<Evidence> {
    let is_here = scene.focus.server.as_ref().is_none_or(|server| server.host.is_same_machine);
    let window = scene.focus.server_steady();
    let cost = Cost::of(&window, &window.cpus()).filter(|cost| is_here && cost.is_high())?;
    let text = format!("its time went into the receiving of packets: {}", cost.text);
    Some(evidence(EvidenceRole::Against, &window, SOURCE, text))
}

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let window = scene.focus.server_steady();
    let shares = window.cpus();
    let hot = shares.iter().max_by(|one, other| one.softirq_ratio.total_cmp(&other.softirq_ratio))?;
    let cost = Cost::of(&window, &shares)?;
    let seen = |role| seen_in(RECEIVED.at(&hot.scope), evidence(role, &window, SOURCE, cost.text.clone()));
    if !cost.is_high() {
        return excluded("Packets cost no more than usual", vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    if hot.busy_ratio >= BUSY.value {
        let text = format!("CPU {} was {} busy with them", hot.number(), percent(hot.softirq_ratio));
        let confirmer = evidence(EvidenceRole::Confirmer, &window, "/proc/stat", text);
        found.push(seen_in(column::CPU_SOFTIRQ.at(&hot.scope), confirmer));
    }
    let busy: f64 = shares.iter().map(|cpu| cpu.busy_ratio).sum();
    let reach = Reach::used_up(&scene.focus, ratio(cost.spent, busy).unwrap_or(0.0).min(1.0));
    Some(Case::new(format!("Each packet costs the kernel much CPU time: {}", cost.text), found, reach))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use sysdyno_record::analysis::{Confidence, Finding};

    /// Two CPUs are in interrupts for so much of their time, and so many packets come in a second.
    fn find(softirq: f64, packets_hz: f64) -> Option<Finding> {
        let case = slow().cpu(0.05, 0.05, softirq).counter("softnet.processed_count", "cpu:0", packets_hz);
        conclude(case.build()).into_iter().find(|finding| finding.id == "N25")
    }

    #[test]
    fn packets_that_cost_many_times_the_usual_are_told() {
        let finding = find(0.9, 10_000.0).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(finding.title.contains(" µs of interrupt time for each packet"), "{finding:?}");
        let excluded = |softirq, packets_hz| {
            find(softirq, packets_hz).is_some_and(|finding| finding.confidence == Confidence::Excluded)
        };
        assert!(excluded(0.9, 200_000.0), "as usual");
        assert!(excluded(0.1, 1_000.0), "hardly any");
    }
}
