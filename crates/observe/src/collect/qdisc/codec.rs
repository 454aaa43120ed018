//! Rtnetlink messages about queueing disciplines and their classes: requests and replies.
//!
//! Sources: `include/uapi/linux/{rtnetlink,pkt_sched,gen_stats}.h`.

use sysdyno_netlink::{find, text, word};

/// The type of questions for queueing disciplines.
pub(super) const RTM_GETQDISC: u16 = 38;
/// The type of questions for classes.
pub(super) const RTM_GETTCLASS: u16 = 42;

/// `struct tcmsg`. Unit: bytes.
const TRAFFIC_BYTES: usize = 20;

const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_STATS2: u16 = 7;
const TCA_STATS_QUEUE: u16 = 3;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_HTB_PARMS: u16 = 1;
const TCA_HTB_INIT: u16 = 2;
const TCA_HTB_CEIL64: u16 = 7;

/// Position of the rate in `struct tc_ratespec`. Unit: bytes.
const RATE_AT: usize = 8;
/// Position of the ceiling's rate in `struct tc_htb_opt`. Unit: bytes.
const CEILING_AT: usize = 12 + RATE_AT;
/// Position of the default class in `struct tc_htb_glob`. Unit: bytes.
const DEFAULT_AT: usize = 8;

/// The parent of what takes the packets that a device sends.
pub(super) const ROOT: u32 = 0xffff_ffff;
/// The part of a handle that is the discipline's, and not that of a class of it.
pub(super) const MAJOR: u32 = 0xffff_0000;

/// The question for the disciplines of all devices, or for the classes of one.
pub(super) fn traffic_question(device: u32) -> [u8; TRAFFIC_BYTES] {
    let mut question = [0; TRAFFIC_BYTES];
    question[4..8].copy_from_slice(&device.to_ne_bytes());
    question
}

/// A queueing discipline of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Qdisc {
    /// Number of the device.
    pub(super) device: u32,
    pub(super) handle: u32,
    /// What it is attached to.
    pub(super) parent: u32,
    pub(super) kind: QdiscKind,
    pub(super) counts: QdiscCounts,
}

/// What a discipline does, as far as it matters to its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QdiscKind {
    /// It has no queue.
    NoQueue,
    /// One discipline for each hardware queue, and nothing of its own.
    MultiQueue,
    /// A token bucket with this rate. Unit: bytes per second; `None`: it does not say.
    TokenBucket(Option<u64>),
    /// Classes with rates; unclassified packets go to the class of this handle.
    Hierarchy { default_class: u32 },
    /// Anything else.
    Other,
}

/// QdiscCounts of a discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct QdiscCounts {
    pub(super) drops_count: u64,
    pub(super) overlimits_count: u64,
    pub(super) backlog_bytes: u64,
    pub(super) backlog_packets_count: u64,
}

impl Qdisc {
    /// Reads the payload of a message; `None` if it is no discipline or has no counts.
    pub(super) fn decode(payload: &[u8]) -> Option<Qdisc> {
        let (device, handle, parent) = (word(payload, 4)?, word(payload, 8)?, word(payload, 12)?);
        let attributes = payload.get(TRAFFIC_BYTES..)?;
        let options = find(attributes, TCA_OPTIONS).unwrap_or_default();
        let kind = match find(attributes, TCA_KIND).and_then(text)? {
            "noqueue" => QdiscKind::NoQueue,
            "mq" | "mqprio" => QdiscKind::MultiQueue,
            "tbf" => QdiscKind::TokenBucket(rate(options, TCA_TBF_RATE64, TCA_TBF_PARMS, RATE_AT)),
            "htb" => {
                let minor = find(options, TCA_HTB_INIT).and_then(|init| word(init, DEFAULT_AT)).unwrap_or(0);
                QdiscKind::Hierarchy { default_class: handle & MAJOR | minor & !MAJOR }
            }
            _ => QdiscKind::Other,
        };
        let counts = find(attributes, TCA_STATS2).and_then(|stats| find(stats, TCA_STATS_QUEUE))?;
        // `struct gnet_stats_queue`: length, backlog, drops, requeues, overlimits.
        let count = |at: usize| word(counts, at).map(u64::from);
        let counts = QdiscCounts {
            backlog_packets_count: count(0)?,
            backlog_bytes: count(4)?,
            drops_count: count(8)?,
            overlimits_count: count(16)?,
        };
        Some(Qdisc { device, handle, parent, kind, counts })
    }
}

/// A class of an `htb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HierarchyClass {
    pub(super) handle: u32,
    pub(super) parent: u32,
    /// The most that it may send, with what others lend it. Unit: bytes per second.
    pub(super) ceiling: u64,
}

impl HierarchyClass {
    /// Reads the payload of a message; `None` if it is no such class.
    pub(super) fn decode(payload: &[u8]) -> Option<HierarchyClass> {
        let (handle, parent) = (word(payload, 8)?, word(payload, 12)?);
        let attributes = payload.get(TRAFFIC_BYTES..)?;
        if find(attributes, TCA_KIND).and_then(text)? != "htb" {
            return None;
        }
        let ceiling = rate(find(attributes, TCA_OPTIONS)?, TCA_HTB_CEIL64, TCA_HTB_PARMS, CEILING_AT)?;
        Some(HierarchyClass { handle, parent, ceiling })
    }
}

/// A rate among options: that of 64 bits where there is one, else that of 32 in the parameters. Unit: bytes per second.
fn rate(options: &[u8], long: u16, parameters: u16, at: usize) -> Option<u64> {
    let long = find(options, long).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok()).map(u64::from_ne_bytes);
    let short = || find(options, parameters).and_then(|bytes| word(bytes, at)).map(u64::from);
    long.or_else(short).filter(|rate| *rate > 0)
}
