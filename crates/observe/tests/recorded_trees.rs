//! The sampler on recorded trees: a new kernel, an old one, a container with half of the files, and garbage.
//!
//! What is expected stands in the files below `fixtures`; the numbers here were read off them by eye.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use sysdyno_observe::{Roots, Sampler, SamplerPlan, facts};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::facts::Fact;
use sysdyno_record::series::{Column, SeriesLine};

fn roots(tree: &str) -> Roots {
    Roots::at(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(tree))
}

fn process(pid: u32, start_ticks: u64) -> WatchedProcess {
    WatchedProcess::new(pid, start_ticks, "x", ProcessRole::Target)
}

/// The first sample of a tree: columns with their values.
struct First {
    columns: Vec<Column>,
    values: HashMap<String, Option<f64>>,
}

impl First {
    fn of(tree: &str, watch: Vec<WatchedProcess>) -> First {
        let plan = SamplerPlan { roots: roots(tree), watch, ..SamplerPlan::host() };
        let mut sampler = Sampler::new(plan).expect("a tree can be sampled");
        let mut lines = Vec::new();
        sampler.sample(&mut lines);
        sampler.sample(&mut lines);
        let mut lines = lines.into_iter();
        let (Some(SeriesLine::Header { columns, .. }), Some(SeriesLine::Row(first))) =
            (lines.next(), lines.next())
        else {
            panic!("a header and a row come first");
        };
        let second = lines.next();
        assert!(matches!(second, Some(SeriesLine::Row(_))), "nothing changed, so there is no other header");
        assert_eq!(columns.len(), first.values.len());
        assert!(first.begin_mono_ns <= first.end_mono_ns);
        let keys: Vec<String> =
            columns.iter().map(|column| format!("{}@{}", column.name, column.scope)).collect();
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len(), "no column is there twice");
        let values = keys.into_iter().zip(first.values).collect();
        First { columns, values }
    }

    fn check(&self, key: &str, expected: f64) {
        let value = self.values.get(key).unwrap_or_else(|| panic!("there is no column {key}"));
        assert_eq!(*value, Some(expected), "{key}");
    }

    /// The column is there without a value, and its reason holds `part`.
    fn check_unavailable(&self, key: &str, part: &str) {
        assert_eq!(self.values.get(key), Some(&None), "{key}");
        let is_it = |column: &&Column| format!("{}@{}", column.name, column.scope) == key;
        let reason = self.columns.iter().find(is_it).and_then(|column| column.unavailable.as_deref());
        assert!(reason.is_some_and(|reason| reason.contains(part)), "{key}: {reason:?}");
    }

    fn check_absent(&self, key: &str) {
        assert!(!self.values.contains_key(key), "{key}");
    }
}

#[test]
fn a_new_kernel_is_read_whole() {
    let first = First::of("linux-6.18-vm", vec![process(100, 356_925), process(101, 356_925)]);
    first.check("cpu.user_us@cpu:0", 1_810_670_000.0);
    first.check("cpu.softirq_us@cpu:1", 21_690_000.0);
    first.check("softnet.processed_count@cpu:1", f64::from(0x006a_8f3b));
    first.check("softnet.time_squeeze_count@cpu:0", 9.0);
    first.check("softnet.backlog_count@cpu:0", 0.0);
    first.check("softirq.net_rx_count@cpu:1", 6_735_016.0);
    first.check("TcpExt.ListenOverflows@netns:target", 209.0);
    first.check("TcpExt.TW@netns:target", 39_401.0);
    first.check("netdev.rx_packets_count@netdev:eth0", 13_879.0);
    first.check_absent("netdev.rx_packets_count@netdev:ifb0");
    first.check("disk.writes_count@disk:vda", 279_255.0);
    first.check("disk.flushes_count@disk:vda", 13_904.0);
    first.check("disk.flush_ms@disk:vda", 1_960.0);
    first.check_absent("disk.writes_count@disk:loop0");
    first.check("process.run_delay_us@process:100", 656.0);
    first.check("thread.cpu_us@thread:101/101", 2_575.0);
    first.check("process.fds_count@process:100", 7.0);
    first.check("process.running_threads_count@process:101", 0.0);
    first.check("thread.run_delay_us@thread:101/101", 8_371.0);
    first.check("cgroup.throttled_us@cgroup:target", 0.0);
    first.check_unavailable("cgroup.quota_ratio@cgroup:target", "no cgroup of the process has a quota");
    first.check("process.fds_count@process:101", 3.0);
}

#[test]
fn an_old_kernel_is_read_by_name_and_says_what_it_lacks() {
    let first = First::of("linux-4.18-server", vec![process(900, 5900), process(901, 5901)]);
    first.check("cpu.idle_us@cpu:3", 455_000_000.0);
    first.check_absent("cpu.idle_us@cpu:2");
    first.check("kernel.running_count@host", 3.0);
    first.check("softnet.dropped_count@cpu:0", 17.0);
    first.check("softnet.received_rps_count@cpu:3", 7000.0);
    first.check("softnet.flow_limit_count@cpu:3", 2.0);
    first.check_unavailable("softnet.backlog_count@cpu:0", "does not have it");
    first.check("irq.count@irq:64/cpu:0", 5_000_000.0);
    first.check("irq.count@irq:65/cpu:1", 4_000_000.0);
    first.check("irq.count@irq:LOC/cpu:3", 900_000.0);
    first.check_absent("irq.count@irq:64/cpu:1");
    first.check("softirq.net_rx_count@cpu:3", 1000.0);
    first.check_absent("softirq.net_rx_count@cpu:2");
    first.check("Tcp.RetransSegs@netns:target", 77.0);
    first.check("Tcp.CurrEstab@netns:target", 12.0);
    first.check_absent("Tcp.MaxConn@netns:target");
    first.check("TcpExt.ListenDrops@netns:target", 33.0);
    first.check("TcpExt.TCPSynRetrans@netns:target", 64.0);
    first.check("IpExt.InOctets@netns:target", 249_105_296.0);
    first.check("sockstat.tcp_tw_count@netns:target", 230.0);
    first.check("netdev.tx_dropped_count@netdev:eth0", 5.0);
    first.check("netdev.rx_fifo_count@netdev:eth0", 3.0);
    first.check("disk.read_bytes@disk:dm-0", 790_000.0 * 512.0);
    first.check("disk.in_flight_count@disk:sda", 2.0);
    first.check_absent("disk.read_bytes@disk:sda1");
    first.check_unavailable("disk.flushes_count@disk:sda", "does not have it");
    first.check("vmstat.allocstall_normal@host", 25.0);
    first.check_unavailable("vmstat.workingset_refault_file@host", "does not have it");
    first.check_unavailable("psi.cpu_some_us@host", "No such file");
    first.check("memory.available_bytes@host", 9_000_000.0 * 1024.0);
    first.check("files.limit_count@host", 1_600_000.0);
}

#[test]
fn processes_of_an_old_kernel_are_summed_over_their_threads() {
    let first = First::of("linux-4.18-server", vec![process(900, 5900), process(901, 5901)]);
    first.check("process.cpu_us@process:900", 750_000.0);
    first.check("process.user_us@process:900", 500_000.0);
    first.check("process.cpu_us@process:901", 7_250_000.0);
    first.check("process.run_delay_us@process:901", 2000.0 + 4000.0 + 6000.0);
    first.check("process.threads_count@process:901", 3.0);
    first.check("process.running_threads_count@process:901", 1.0);
    first.check("process.uninterruptible_threads_count@process:901", 1.0);
    first.check("process.voluntary_switches_count@process:901", 600.0);
    first.check("process.involuntary_switches_count@process:901", 60.0);
    first.check("process.fds_count@process:901", 5.0);
    first.check("process.fds_limit_count@process:901", 1024.0);
    first.check("thread.cpu_us@thread:901/911", 3000.0);
    first.check("cgroup.throttled_count@cgroup:target", 40.0);
    first.check("cgroup.throttled_us@cgroup:target", 7_000_000.0);
    first.check("cgroup.quota_ratio@cgroup:target", 1.5);
}

#[test]
fn a_container_shows_what_it_has() {
    let first = First::of("linux-5.15-container", vec![process(7, 4000)]);
    first.check("cpu.steal_us@cpu:0", 20_000.0);
    first.check("softnet.backlog_count@cpu:0", 5.0);
    first.check("psi.cpu_some_us@host", 777.0);
    first.check("Tcp.CurrEstab@netns:target", 4.0);
    first.check("cgroup.throttled_us@cgroup:target", 4321.0);
    first.check("cgroup.quota_ratio@cgroup:target", 0.25);
    first.check("process.cpu_us@process:7", 50_000.0);
    first.check("process.running_threads_count@process:7", 1.0);
    first.check_unavailable("process.run_delay_us@process:7", "schedstat");
    first.check_unavailable("process.fds_limit_count@process:7", "limits");
    first.check_unavailable("irq.count@irq:*/cpu:*", "interrupts");
    first.check_unavailable("softirq.*@cpu:*", "softirqs");
    first.check_unavailable("TcpExt.*@netns:target", "netstat");
    first.check_unavailable("disk.reads_count@disk:*", "diskstats");
    first.check_unavailable("vmstat.oom_kill@host", "vmstat");
    first.check_unavailable("memory.available_bytes@host", "does not have it");
}

#[test]
fn garbage_becomes_no_value_and_a_reason() {
    let first = First::of("garbage", vec![process(66, 1)]);
    let own = "self.cpu_us@host";
    for (key, value) in first.values.iter().filter(|(key, _)| *key != own) {
        assert_eq!(*value, None, "{key}");
    }
    for column in first.columns.iter().filter(|column| column.name != "self.cpu_us") {
        assert!(column.unavailable.as_ref().is_some_and(|reason| !reason.is_empty()), "{column:?}");
    }
    for family in ["cpu.user_us", "softnet.dropped_count", "TcpExt.*", "process.cpu_us", "psi.io_some_us"] {
        assert!(first.columns.iter().any(|column| column.name == family), "{family}");
    }
}

#[test]
fn a_process_with_another_start_is_another_process() {
    let first = First::of("linux-4.18-server", vec![process(900, 1)]);
    first.check_unavailable("process.cpu_us@process:900", "has ended");
    first.check_unavailable("process.fds_count@process:900", "has ended");
}

#[test]
fn facts_come_from_the_tree() {
    let old = facts(&roots("linux-4.18-server"));
    assert_eq!(old.text("cpu.model"), Some("Intel(R) Xeon(R) CPU E5-2650 v4 @ 2.20GHz"));
    assert_eq!(old.number("cpu.online_count"), Some(3.0));
    assert_eq!(old.number("cpu.possible_count"), Some(4.0));
    assert_eq!(old.text("cpu.is_virtual"), Some("no"));
    assert_eq!(old.text("cgroup.version"), Some("1"));
    assert_eq!(old.text("disk.sda.scheduler"), Some("deadline"));
    assert_eq!(old.number("nic.eth0.speed_mbps"), Some(10_000.0));
    assert_eq!(old.text("irq.64.device"), Some("IR-PCI-MSI 1048576-edge eth0-TxRx-0"));
    let root = "BOOT_IMAGE=«redacted» root=«redacted» ro isolcpus=2 nosmt";
    assert_eq!(old.text("kernel.cmdline"), Some(root));
    assert!(matches!(old.facts["kernel.pressure"], Fact::Unavailable(_)));
    let new = facts(&roots("linux-6.18-vm"));
    assert_eq!(new.text("cpu.is_virtual"), Some("yes"));
    assert_eq!(new.text("filesystem.root.kind"), Some("ext4"));
    assert_eq!(new.text("filesystem.root.options"), Some("rw,relatime,discard,resuid"));
    assert_eq!(new.number("limits.open_files_soft_count"), Some(20_000.0));
    let journal = &new.facts["filesystem.root.journal_bytes"];
    assert_eq!(journal, &Fact::Unavailable("a recorded tree does not have the device".into()));
    let garbage = facts(&roots("garbage"));
    for name in
        ["cpu.online_count", "cpu.model", "kernel.uptime_seconds", "load.1min_tasks", "nic.eth0.mtu_bytes"]
    {
        assert!(matches!(garbage.facts[name], Fact::Unavailable(_)), "{name}: {:?}", garbage.facts[name]);
    }
}
