//! Messages as the kernel lays them out, and those of this host.

use super::super::rtnetlink::link_name;
use super::codec::{MAJOR, QdiscCounts, ROOT};
use super::*;
use crate::collect::Beat;
use crate::roots::Roots;
use crate::watch::Watchlist;
use proptest::prelude::*;
use sysdyno_netlink::put;

/// The payload of a discipline or class: device, handle, parent, kind, options, and five counts.
fn message(words: [u32; 3], kind: &str, options: &[u8], counts: [u32; 5]) -> Vec<u8> {
    let mut out: Vec<u8> =
        [0, words[0], words[1], words[2], 0].iter().flat_map(|word| word.to_ne_bytes()).collect();
    put(&mut out, 1, format!("{kind}\0").as_bytes());
    put(&mut out, 2, options);
    let mut stats = Vec::new();
    put(&mut stats, 3, &counts.iter().flat_map(|count| count.to_ne_bytes()).collect::<Vec<u8>>());
    put(&mut out, 7, &stats);
    out
}

fn qdisc(words: [u32; 3], kind: &str, options: &[u8], counts: [u32; 5]) -> Qdisc {
    Qdisc::decode(&message(words, kind, options, counts)).expect("is one")
}

/// An attribute of words.
fn words(kind: u16, words: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, kind, &words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>());
    out
}

#[test]
fn a_token_bucket_tells_its_rate_in_32_or_64_bits() {
    let short = words(1, &[0, 0, 12_500_000, 0, 0, 0, 0, 0, 0]);
    let found = qdisc([3, 0x10000, ROOT], "tbf", &short, [5, 700, 2, 0, 9]);
    assert_eq!(found.kind, QdiscKind::TokenBucket(Some(12_500_000)));
    let counts =
        QdiscCounts { drops_count: 2, overlimits_count: 9, backlog_bytes: 700, backlog_packets_count: 5 };
    assert_eq!((found.device, found.counts), (3, counts));
    let mut long = short;
    put(&mut long, 4, &5_000_000_000u64.to_ne_bytes());
    assert_eq!(qdisc([3, 0, ROOT], "tbf", &long, [0; 5]).kind, QdiscKind::TokenBucket(Some(5_000_000_000)));
}

#[test]
fn what_is_below_the_root_counts_where_the_root_does_not_tell() {
    let all = [
        qdisc([1, 0, ROOT], "noqueue", &[], [0; 5]),
        qdisc([3, 0x80010000, ROOT], "tbf", &[], [0, 0, 7, 0, 70]),
        qdisc([3, 0x100000, 0x80010001], "fq", &[], [4, 400, 3, 0, 0]),
        // The ingress has no queue.
        qdisc([3, 0xffff0000, 0xfffffff1], "clsact", &[], [9, 9, 9, 9, 9]),
        qdisc([2, 0, ROOT], "mq", &[], [0; 5]),
        qdisc([2, 0, 1], "fq_codel", &[], [1, 100, 10, 0, 1]),
        qdisc([2, 0, 2], "fq_codel", &[], [2, 200, 20, 0, 2]),
    ];
    let counts = |drops_count, overlimits_count, backlog_bytes, backlog_packets_count| QdiscCounts {
        drops_count,
        overlimits_count,
        backlog_bytes,
        backlog_packets_count,
    };
    let found: Vec<_> = devices(&all).into_iter().map(|device| (device.index, device.counts)).collect();
    assert_eq!(found, [(2, counts(30, 3, 300, 3)), (3, counts(7, 70, 400, 4))]);
}

#[test]
fn a_hierarchy_is_limited_by_its_only_class_or_its_default_one() {
    let root = qdisc([3, 0x10000, ROOT], "htb", &words(2, &[3, 10, 0x20, 0, 0]), [0; 5]);
    assert_eq!(root.kind, QdiscKind::Hierarchy { default_class: 0x10020 });
    let class = |handle, parent, rate| {
        let options = words(1, &[0, 0, 1, 0, 0, rate, 0, 0, 0, 0, 0]);
        HierarchyClass::decode(&message([3, handle, parent], "htb", &options, [0; 5])).expect("is one")
    };
    let (one, inner, other) =
        (class(0x10010, ROOT, 100), class(0x10011, 0x10010, 50), class(0x10020, ROOT, 200));
    assert_eq!(ceiling(&[one, inner], 0x10020), Some(100));
    assert_eq!(ceiling(&[one, inner, other], 0x10020), Some(200));
    assert_eq!(ceiling(&[one, other], 0x10000 & MAJOR), None);
    assert_eq!(HierarchyClass::decode(&message([3, 1, ROOT], "hfsc", &[], [0; 5])), None);
}

#[test]
fn the_queues_of_this_host_can_be_listed() {
    let mut scene = Watchlist::new(Roots::host(), None, vec![]);
    let mut collector = QdiscCollector::default();
    let mut buffer = Vec::new();
    for beat in [Beat::Second, Beat::HalfSecond, Beat::Second] {
        collector.read(&mut Pass { scene: &mut scene, buffer: &mut buffer, beat });
        assert!(!collector.is_failing, "{:?}", collector.table.columns());
        assert!(collector.table.values().iter().all(Option::is_some), "{:?}", collector.table);
    }
}

proptest! {
    #[test]
    fn no_bytes_can_break_the_decoders(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        let _ = (Qdisc::decode(&bytes), HierarchyClass::decode(&bytes), link_name(&bytes));
        let _ = Qdisc::decode(&message([1, 2, ROOT], "htb", &bytes, [0; 5]));
        let _ = HierarchyClass::decode(&message([1, 2, ROOT], "htb", &bytes, [0; 5]));
    }
}
