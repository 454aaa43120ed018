//! Settings of network devices, disks, and processes, which a host has several of.

use super::super::remedy::{Remedy, ValueStep};
use super::{NONE, change};

pub(super) const REMEDIES: &[Remedy] = &[
    Remedy {
        id: "receive-steering",
        title: "kernel: packets are received by CPUs {}",
        changes: &[change("netdev.*.rx-*.rps_cpus", ValueStep::AllCpus, "none")],
        when: &["N01", "N04", "N07"],
        why: "one CPU does the work of receiving for all",
        source: "networking/scaling.rst",
        ..NONE
    },
    Remedy {
        id: "descriptors",
        title: "processes: {} descriptors for each",
        changes: &[change("process.*.nofile", ValueStep::AtLeast(65_536), "")],
        when: &["F01", "L01: A process ran out of file descriptors"],
        why: "a process without descriptors can take no connection, and open no file",
        source: "prlimit(2)",
        ..NONE
    },
    Remedy {
        id: "read-ahead",
        title: "disk: reads {} KiB ahead",
        changes: &[change("block.*.read_ahead_kb", ValueStep::Times(4, 4096), "")],
        when: &["D03", "D09"],
        why: "a file that is read from its beginning needs fewer and longer requests",
        source: "ABI/stable/sysfs-block",
        ..NONE
    },
    Remedy {
        id: "less-read-ahead",
        title: "disk: reads {} KiB ahead",
        changes: &[change("block.*.read_ahead_kb", ValueStep::AtMost(16), "")],
        when: &["D03", "D09", "E05"],
        why: "what is read at random places and not used takes the time of the disk",
        source: "ABI/stable/sysfs-block",
        ..NONE
    },
    Remedy {
        id: "no-disk-scheduler",
        title: "disk: requests go to it in the order in which they come",
        changes: &[change("block.*.scheduler", ValueStep::To("none"), "")],
        when: &["D02", "D09"],
        why: "virtual and quick disks order requests by themselves",
        source: "block/switching-sched.rst",
        ..NONE
    },
    Remedy {
        id: "disk-deadlines",
        title: "disk: no request waits longer than its deadline",
        changes: &[change("block.*.scheduler", ValueStep::To("mq-deadline"), "")],
        when: &["D03", "D07"],
        why: "reads wait behind many writes",
        source: "block/switching-sched.rst",
        ..NONE
    },
];
