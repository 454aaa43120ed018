//! Totals for a device's queueing disciplines: those of its root, plus the content of the queues below it.

use super::codec::{HierarchyClass, MAJOR, Qdisc, QdiscCounts, QdiscKind, ROOT};

/// A device with a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Device {
    /// Its number.
    pub(super) index: u32,
    pub(super) counts: QdiscCounts,
    pub(super) kind: QdiscKind,
}

/// The devices that have a queue, by their numbers.
pub(super) fn devices(all: &[Qdisc]) -> Vec<Device> {
    let is_queue = |qdisc: &&Qdisc| qdisc.parent == ROOT && qdisc.kind != QdiscKind::NoQueue;
    let mut devices: Vec<Device> = all.iter().filter(is_queue).map(|root| device(root, all)).collect();
    devices.sort_unstable_by_key(|device| device.index);
    devices.dedup_by_key(|device| device.index);
    devices
}

fn device(root: &Qdisc, all: &[Qdisc]) -> Device {
    let is_child = |qdisc: &&Qdisc| {
        let is_below = qdisc.parent & MAJOR == root.handle & MAJOR && qdisc.parent != root.parent;
        qdisc.device == root.device && is_below
    };
    let sum = all.iter().filter(is_child).fold(QdiscCounts::default(), |sum, child| QdiscCounts {
        drops_count: sum.drops_count + child.counts.drops_count,
        overlimits_count: sum.overlimits_count + child.counts.overlimits_count,
        backlog_bytes: sum.backlog_bytes + child.counts.backlog_bytes,
        backlog_packets_count: sum.backlog_packets_count + child.counts.backlog_packets_count,
    });
    let own = root.counts;
    let is_sum = root.kind == QdiscKind::MultiQueue;
    // Kernels that sum up themselves tell the same sum.
    let counter = |own: u64, sum: u64| if is_sum { own.max(sum) } else { own };
    let counts = QdiscCounts {
        drops_count: counter(own.drops_count, sum.drops_count),
        overlimits_count: counter(own.overlimits_count, sum.overlimits_count),
        backlog_bytes: own.backlog_bytes.max(sum.backlog_bytes),
        backlog_packets_count: own.backlog_packets_count.max(sum.backlog_packets_count),
    };
    Device { index: root.device, counts, kind: root.kind }
}

/// The rate that all packets of an `htb` are limited to: of its only class at the top, or of the default one among several.
///
/// Unit: bytes per second. `None`: there is no such class.
pub(super) fn ceiling(classes: &[HierarchyClass], default_class: u32) -> Option<u64> {
    let top: Vec<&HierarchyClass> = classes.iter().filter(|class| class.parent == ROOT).collect();
    let chosen = match top[..] {
        [only] => Some(only),
        _ => top.into_iter().find(|class| class.handle == default_class),
    };
    chosen.map(|class| class.ceiling)
}
