//! Links: the queueing discipline of a device, and settings of the device itself.
//!
//! A setting that a device does not have is refused, with a list of those that it has. `sysdyno tune plan` shows which of
//! these a device has; it only reads.

use super::{Risk, Scope, Tunable, int};
use crate::setting::ethtool::{CHANNELS, COALESCING, DeviceGroup, OFFLOADS, RINGS};
use crate::setting::{LinkRates, Qdiscs};
use crate::value::ValueKind;

const ETHTOOL: &str = "networking/ethtool-netlink.rst";

/// What drivers reset when the number of queues changes.
const QUEUES: &[&str] = &[
    "/sys/class/net/*/queues/+/rps_cpus",
    "/sys/class/net/*/queues/+/rps_flow_cnt",
    "/sys/class/net/*/queues/+/xps_cpus",
    "/sys/class/net/*/queues/+/xps_rxqs",
    "/sys/class/net/*/queues/+/tx_maxrate",
];

/// Rates from here on have more than 32 bits of bytes per second.
const RATE_MAX_KBPS: i128 = 34_000_000;

const fn ethtool(
    id: &'static str,
    group: &'static DeviceGroup,
    kind: ValueKind,
    does: &'static str,
) -> Tunable {
    Tunable::new(id, kind, "pairs", does).of(Scope::NetworkDevice, ETHTOOL).at(group)
}

/// Settings of links.
pub const TABLE: &[Tunable] = &[
    Tunable::new("netdev.*.qdisc", ValueKind::Discipline, "discipline",
        "How packets wait until the device sends them: fq spaces out the connections of a server, fq_codel keeps waiting short, pfifo and bfifo are plain queues with a limit in packets or bytes. One that the kernel chose, or a plain one, can be put back with its parameters; trees with classes are left alone.")
        .of(Scope::NetworkDevice, "net/sched/sch_api.c").risks(Risk::Medium).at(&Qdiscs),
    Tunable::new("netdev.*.rate_kbps", int(8, RATE_MAX_KBPS), "kilobits per second",
        "How fast the token bucket (tbf) at the root of the device lets packets through; its burst and queue stay as they are. There has to be one: a link that nothing limits has no such setting. A device in a network namespace is written NAMESPACE:DEVICE.")
        .of(Scope::NetworkDevice, "net/sched/sch_tbf.c").risks(Risk::Medium).at(&LinkRates),
    ethtool("netdev.*.channels", &CHANNELS, ValueKind::Pairs,
        "Queues of the device, each with its interrupt: rx, tx, other, combined. One for each CPU spreads receive work over all of them; most drivers take the link down for a moment to change it.")
        .risks(Risk::High).resets(QUEUES),
    ethtool("netdev.*.rings", &RINGS, ValueKind::Pairs,
        "Packets that each queue of the device holds: rx, rx-mini, rx-jumbo, tx. Longer ones lose less in bursts and delay more; most drivers take the link down for a moment to change it.")
        .risks(Risk::High),
    ethtool("netdev.*.coalescing", &COALESCING, ValueKind::Pairs,
        "How long, or for how many packets, the device waits before it raises an interrupt, as in 'rx-usecs 8'. Longer saves CPU, and adds to every latency.")
        .risks(Risk::Medium),
    ethtool("netdev.*.offloads", &OFFLOADS, ValueKind::Switches,
        "What the device or the kernel does for many packets at once, such as rx-gro, tx-tcp-segmentation, rx-gro-hw. Without them every packet costs its full price in CPU; some confuse captures and routers.")
        .risks(Risk::High),
];
