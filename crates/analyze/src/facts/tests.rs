//! Tests of the comparison of two hosts, and of the tables behind it.

use super::*;
use std::collections::BTreeSet;

fn host(facts: &[(&str, Fact)]) -> HostFacts {
    HostFacts { facts: facts.iter().map(|(name, fact)| ((*name).to_owned(), fact.clone())).collect() }
}

fn text(text: &str) -> Fact {
    Fact::Text(text.into())
}

fn names(comparison: &FactsComparison) -> Vec<&str> {
    comparison.differences.iter().map(|difference| difference.name.as_str()).collect()
}

#[test]
fn what_matters_to_the_workload_comes_first() {
    let a = host(&[
        ("filesystem./srv.journal_bytes", Fact::Number(33_554_432.0)),
        ("sysctl.net.core.somaxconn", Fact::Number(128.0)),
        ("memory.total_bytes", Fact::Number(8e9)),
        ("strange.thing", text("x")),
        ("same", text("x")),
    ]);
    let b = host(&[
        ("filesystem./srv.journal_bytes", Fact::Number(134_217_728.0)),
        ("sysctl.net.core.somaxconn", Fact::Number(4096.0)),
        ("memory.total_bytes", Fact::Number(16e9)),
        ("strange.thing", text("y")),
        ("same", text("x")),
    ]);
    for (workload, first) in [
        (HostUse::Files, "filesystem./srv.journal_bytes"),
        (HostUse::Web, "sysctl.net.core.somaxconn"),
        (HostUse::Memory, "memory.total_bytes"),
        (HostUse::Any, "filesystem./srv.journal_bytes"),
    ] {
        let comparison = compare(&a, &b, workload);
        assert_eq!(names(&comparison)[0], first, "{workload:?}");
        assert_eq!(names(&comparison)[3], "strange.thing");
        assert_eq!(comparison.differences[3].known, None);
        assert_eq!((comparison.differences.len(), comparison.same_count), (4, 1));
    }
}

#[test]
fn what_changes_by_itself_is_left_out_with_its_reason() {
    let a = host(&[("kernel.boot_id", text("1")), ("load.1min_tasks", Fact::Number(0.5))]);
    let b = host(&[("kernel.boot_id", text("2")), ("load.1min_tasks", Fact::Number(0.7))]);
    let comparison = compare(&a, &b, HostUse::Web);
    assert_eq!(comparison.differences, []);
    let left_out: Vec<_> = comparison.left_out.iter().map(|fact| (fact.name.as_str(), fact.reason)).collect();
    assert_eq!(
        left_out,
        [("kernel.boot_id", "random at every boot"), ("load.1min_tasks", "whatever was running at the time")]
    );
}

#[test]
fn an_object_that_one_host_lacks_is_one_difference() {
    let facts = [
        ("nic.eth0.mtu_bytes", Fact::Number(1500.0)),
        ("nic.eth1.100.mtu_bytes", Fact::Number(1500.0)),
        ("nic.eth1.100.driver", text("ixgbe")),
        ("nic.eth1.100.numa_node", Fact::Unavailable("none".into())),
    ];
    let comparison = compare(&host(&facts[..1]), &host(&facts), HostUse::Web);
    assert_eq!(names(&comparison), ["nic.eth1.100"]);
    assert_eq!((&comparison.differences[0].a, &comparison.differences[0].b), (&None, &Some(text("2 facts"))));
    let turned = compare(&host(&facts), &host(&facts[..1]), HostUse::Web);
    assert_eq!(turned.differences[0].a, Some(text("2 facts")));
}

#[test]
fn what_cannot_be_read_weighs_half_and_nothing_on_both_sides() {
    let journal = |fact| host(&[("filesystem.root.journal_bytes", fact)]);
    let hidden = |reason: &str| Fact::Unavailable(reason.into());
    let weight = |a, b| {
        let comparison = compare(&journal(a), &journal(b), HostUse::Files);
        comparison.differences.first().map(|difference| difference.weight)
    };
    assert_eq!(weight(Fact::Number(1.0), Fact::Number(2.0)), Some(10));
    assert_eq!(weight(hidden("no rights"), Fact::Number(2.0)), Some(5));
    assert_eq!(weight(hidden("no rights"), hidden("no device")), None);
    let missing = compare(&host(&[]), &journal(hidden("no device")), HostUse::Files);
    assert_eq!(missing.differences, []);
}

#[test]
fn memory_that_firmware_took_hardly_weighs() {
    let memory = |bytes| host(&[("memory.total_bytes", Fact::Number(bytes))]);
    let weight = |a, b| compare(&memory(a), &memory(b), HostUse::Memory).differences[0].weight;
    assert_eq!(weight(16_000_000_000.0, 16_100_000_000.0), 1);
    assert_eq!(weight(16_000_000_000.0, 17_000_000_000.0), 10);
}

#[test]
fn interrupts_are_compared_by_device_and_not_by_number() {
    let host_of = |number: u32, cpus: &str| {
        let names = [format!("irq.{number}.device"), format!("irq.{number}.cpus")];
        host(&[(&names[0], text("PCI-MSIX-0000:00:04.0 1-edge eth0-rx")), (&names[1], text(cpus))])
    };
    assert_eq!(compare(&host_of(41, "0"), &host_of(57, "0"), HostUse::Web).differences, []);
    assert_eq!(names(&compare(&host_of(41, "0"), &host_of(57, "1"), HostUse::Web)), ["irq.eth0-rx.cpus"]);
}

#[test]
fn each_rule_can_win_and_has_a_number_of_its_own() {
    let mut seen = BTreeSet::new();
    for rule in FACT_RULES.iter().copied().flatten() {
        let Told { id, is_complete } = told(rule);
        assert!(is_complete && seen.insert(id), "{id}");
        assert!(rule.weights.of(HostUse::Any) <= 10, "{id}");
        let wins = |pattern: &&str| {
            let name = pattern.replace('*', "x");
            rules::find(&name).is_some_and(|(_, found)| found.known.rule == id)
        };
        assert!(rule.patterns.iter().all(wins), "{id} is hidden by an earlier rule");
    }
    assert!(seen.len() > 50);
}

struct Told {
    id: &'static str,
    is_complete: bool,
}

fn told(rule: &FactRule) -> Told {
    let known = rule.known;
    let is_complete = [known.what, known.why, known.source].iter().all(|text| text.len() > 5);
    Told { id: known.rule, is_complete }
}

#[test]
fn names_and_values_of_any_kind_are_compared() {
    let odd =
        ["", ".", "irq.", "irq.1", "irq..cpus", "nic.", "nic..", "disk...", "\u{1b}[31m", "numa.\u{202e}.x"];
    let facts: Vec<(&str, Fact)> = odd.iter().map(|name| (*name, text("\u{1b}"))).collect();
    let comparison = compare(&host(&facts), &host(&[]), HostUse::Any);
    // Of the interrupts, what has no device is left out on both sides.
    assert!(comparison.differences.len() >= odd.len() - 4);
    assert_eq!(compare(&host(&facts), &host(&facts), HostUse::Any).differences, []);
}

#[test]
fn the_only_interface_is_the_same_under_another_name() {
    let host_of = |name: &str, driver: &str| {
        let names = [
            format!("nic.{name}.driver"),
            format!("nic.{name}.mtu_bytes"),
            format!("sysctl.net.ipv4.conf.{name}.rp_filter"),
            "nic.lo.mtu_bytes".to_owned(),
        ];
        let facts = [text(driver), Fact::Number(1500.0), Fact::Number(2.0), Fact::Number(65_536.0)];
        HostFacts { facts: names.into_iter().zip(facts).collect() }
    };
    let comparison = compare(&host_of("eth0", "ixgbe"), &host_of("ens3", "mlx5_core"), HostUse::Web);
    assert_eq!(names(&comparison), ["nic.eth0|ens3.driver"]);
    assert_eq!(comparison.same_count, 3);
    let mut two = host_of("ens3", "ixgbe");
    two.facts.extend(host_of("ens4", "ixgbe").facts);
    let comparison = compare(&host_of("eth0", "ixgbe"), &two, HostUse::Web);
    let found: BTreeSet<&str> = names(&comparison).into_iter().collect();
    let settings = ["ens3", "ens4", "eth0"].map(|name| format!("sysctl.net.ipv4.conf.{name}"));
    let expected =
        ["nic.ens3", "nic.ens4", "nic.eth0"].into_iter().chain(settings.iter().map(String::as_str));
    assert_eq!(found, expected.collect());
}

#[test]
fn a_disk_without_a_driver_of_its_own_is_paired_and_an_interface_without_a_device_is_not() {
    let a = host(&[("disk.sda.scheduler", text("none")), ("nic.veth1.mtu_bytes", Fact::Number(1500.0))]);
    let b = host(&[("disk.vda.scheduler", text("none")), ("nic.br0.mtu_bytes", Fact::Number(1500.0))]);
    assert_eq!(names(&compare(&a, &b, HostUse::Files)), ["nic.br0", "nic.veth1"]);
}
