//! Network receive work that is concentrated on one CPU.
//!
//! On loopback and virtual links, the sending thread does the receiver's work in its own time. Such a thread fills its CPU
//! with interrupts, too, and is then itself the bottleneck.

use super::effect::waiting_in_sockets;
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{name, percent};
use crate::readings::{CpuShare, Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column;
use sysdyno_record::event::ProcessRole;

const BUSY: Threshold = Threshold::new(
    "busy share of the CPU that handles most interrupts",
    0.85,
    "ratio",
    "netdata, CPU utilization alarm (warns at 85%, clears at 75%)",
);
const INTERRUPTS: Threshold = Threshold::new("share of its time spent in interrupts", 0.25, "ratio", HOUSE);
const PART: Threshold =
    Threshold::new("its share of all interrupt time and of all packets", 0.60, "ratio", HOUSE);
const OTHERS_BUSY: Threshold =
    Threshold::new("mean busy share of the other CPUs, at most", 0.75, "ratio", HOUSE);

const THREAD_FULL: Threshold = Threshold::new(
    "CPU of a server or generator thread that points to that thread instead",
    0.90,
    "ratio of a CPU",
    HOUSE,
);

/// N01.
pub(super) const PILE_UP: Rule = Rule {
    id: "N01",
    name: "irq-pileup",
    meaning: "One CPU receives all packets and is saturated, while others are idle.",
    thresholds: &[BUSY, INTERRUPTS, PART, OTHERS_BUSY, THREAD_FULL],
    place: Place::Server,
    needs: &[column::CPU_IDLE],
    remedy: "spread the receive work: queue interrupts across CPUs (irq.N.cpus), packets by RPS \
             (netdev.DEVICE.rx-N.rps_cpus), or more device queues",
    counterfactual: "receiving packets on all CPUs would not change the rate or the tail",
    examine: Examination::By(examine),
};

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let window = scene.focus.server_steady();
    let cpus = window.cpus();
    let hot = cpus.iter().max_by(|a, b| a.softirq_ratio.total_cmp(&b.softirq_ratio))?;
    let others = cpus.len().checked_sub(1).filter(|count| *count > 0)? as f64;
    let all: f64 = cpus.iter().map(|cpu| cpu.softirq_ratio).sum();
    let busy: f64 = cpus.iter().map(|cpu| cpu.busy_ratio).sum();
    let others_busy = (busy - hot.busy_ratio) / others;
    let text = format!(
        "CPU {} was {} busy ({} in interrupts); the other CPUs were {} busy",
        name(hot.number()),
        percent(hot.busy_ratio),
        percent(hot.softirq_ratio),
        percent(others_busy)
    );
    let seen = |role: EvidenceRole| {
        let column = column::CPU_SOFTIRQ.at(&hot.scope);
        seen_in(column, evidence(role, &window, "/proc/stat", text.clone()))
    };
    let is_piled = hot.busy_ratio >= BUSY.value
        && hot.softirq_ratio >= INTERRUPTS.value
        && others_busy <= OTHERS_BUSY.value
        && ratio(hot.softirq_ratio, all).is_some_and(|part| part >= PART.value);
    if !is_piled {
        return excluded("Receive work on one CPU is not the bottleneck", vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.extend(received(&window, hot));
    found.extend(full_thread(scene, &window));
    // What lies in the server's sockets does not wait to be received.
    let received = waiting_in_sockets(&scene.focus, &window).unwrap_or(0.0);
    let reach = Reach::used_up(&scene.focus, 1.0 - received);
    Some(Case::new(format!("Receive work on one CPU is the bottleneck: {text}"), found, reach))
}

/// A thread that fills a CPU by itself.
fn full_thread(scene: &Scene, window: &Window) -> Option<Evidence> {
    let threads = window.threads(&scene.focus.processes(ProcessRole::Target));
    let server = threads.first().map_or(0.0, |thread| thread.busy_ratio);
    let full = server.max(scene.focus.end.summary.generator.busiest_thread_ratio);
    let text = format!("a thread used {} of a CPU, including its sends", percent(full));
    let source = "/proc/PID/task/TID/schedstat";
    (full >= THREAD_FULL.value).then(|| evidence(EvidenceRole::Against, window, source, text))
}

/// Where the packets were received, by the network's own count; against, if that is spread.
fn received(window: &Window, hot: &CpuShare) -> Option<Evidence> {
    let counter = column::SOFTNET_PROCESSED;
    let count = |scope: &str| window.growth(counter, scope).map(|growth| growth.amount);
    let all: f64 = window.scopes(counter).into_iter().filter_map(count).sum();
    let part = ratio(count(&hot.scope)?, all)?;
    let role = if part >= PART.value { EvidenceRole::Confirmer } else { EvidenceRole::Against };
    let text = format!("it received {} of the packets", percent(part));
    Some(seen_in(counter.at(&hot.scope), evidence(role, window, "/proc/net/softnet_stat", text)))
}
