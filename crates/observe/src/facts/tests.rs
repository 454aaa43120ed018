//! Tests of facts: those of the live host, and those of a host that has nothing.

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
fn all_settings_are_listed_but_for_secrets_and_what_acts_when_read() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join("proc/sys").join(path);
        std::fs::create_dir_all(path.parent().expect("has one")).expect("makes a folder");
        std::fs::write(path, text).expect("writes");
    };
    write("vm/swappiness", "60\n");
    write("vm/stat_refresh", "");
    write("net/ipv4/conf/eth0.100/rp_filter", "2\n");
    write("net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
    for secret in [
        "kernel/random/uuid",
        "kernel/hostname",
        "kernel/core_pattern",
        "net/ipv4/tcp_fastopen_key",
        "net/core/netdev_rss_key",
        "net/ipv6/conf/eth0/stable_secret",
        "fs/binfmt_misc/status",
    ] {
        write(secret, "canary\n");
    }
    let facts = facts(&Roots::at(folder.path()));
    assert_eq!(facts.number("sysctl.vm.swappiness"), Some(60.0));
    assert_eq!(facts.number("sysctl.net.ipv4.conf.eth0/100.rp_filter"), Some(2.0));
    assert_eq!(facts.text("sysctl.net.ipv4.tcp_rmem"), Some("4096 131072 6291456"));
    assert!(!facts.facts.contains_key("sysctl.vm.stat_refresh"));
    let told = told_by(&facts);
    assert!(!told.contains("canary"), "{told}");
}

/// All values, one after the other.
fn told_by(facts: &HostFacts) -> String {
    let values = facts.facts.iter().map(|(name, fact)| format!("{name}={fact:?}\n"));
    values.collect()
}

#[test]
fn a_recorded_host_tells_its_limits_and_file_systems() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let own = folder.path().join("proc/self");
    std::fs::create_dir_all(&own).expect("makes a folder");
    let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
        Max locked memory         8388608              unlimited            bytes     \n\
        Max open files            1024                 524288               files     \n";
    std::fs::write(own.join("limits"), limits).expect("writes");
    let mounts = "22 1 8:1 / / rw - xfs /dev/sda1 rw,logbsize=32k\n23 22 8:2 / /srv/svn rw - ext3 /dev/sda2 rw,data=ordered\n";
    std::fs::write(own.join("mountinfo"), mounts).expect("writes");
    let facts = facts(&Roots::at(folder.path()));
    assert_eq!(facts.number("limits.open_files_hard_count"), Some(524_288.0));
    assert_eq!(facts.number("limits.locked_memory_soft_bytes"), Some(8_388_608.0));
    assert_eq!(facts.text("limits.locked_memory_hard_bytes"), Some("unlimited"));
    assert_eq!(facts.text("filesystem.root.options"), Some("rw,logbsize=32k"));
    assert_eq!(facts.text("filesystem./srv/svn.kind"), Some("ext3"));
    let journal = facts.facts.get("filesystem./srv/svn.journal_bytes");
    assert_eq!(journal, Some(&Fact::Unavailable("a recorded tree does not have the device".into())));
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
