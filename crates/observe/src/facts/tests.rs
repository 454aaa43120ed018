//! Facts of the live host and of a host that has nothing.

use super::*;
use sysdyno_record::facts::Fact;

#[test]
fn the_live_host_is_described() {
    let facts = facts(&Roots::host());
    assert!(facts.number("cpu.online_count").is_some_and(|count| count >= 1.0));
    assert!(facts.number("memory.total_bytes").is_some_and(|bytes| bytes > 1e6));
    assert!(facts.number("sysctl.net.core.somaxconn").is_some_and(|count| count >= 1.0));
    assert!(facts.text("kernel.release").is_some_and(|release| release.contains('.')));
    assert!(facts.text("sysctl.net.ipv4.ip_local_port_range").is_some_and(|range| range.contains(' ')));
    for name in ["sysctl.kernel.hostname", "kernel.hostname", "machine.serial"] {
        assert!(!facts.facts.contains_key(name), "{name}");
    }
}

#[test]
fn what_is_missing_has_a_reason() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let facts = facts(&Roots::at(folder.path()));
    assert!(facts.facts.len() > 80);
    let own = ["memory.page_bytes"];
    for (name, fact) in facts.facts.iter().filter(|(name, _)| !own.contains(&name.as_str())) {
        assert!(matches!(fact, Fact::Unavailable(reason) if !reason.is_empty()), "{name}: {fact:?}");
    }
}
