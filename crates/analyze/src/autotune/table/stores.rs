//! Databases, caches, and the file systems of a lab.

use super::super::remedy::{Remedy, ValueStep};
use super::{CONNECTIONS, NONE, ONE_CPU, change};
use sysdyno_record::allowance::Allowance;

pub(super) const REMEDIES: &[Remedy] = &[
    Remedy {
        id: "memcached-threads",
        title: "memcached: {} threads",
        changes: &[change("memcached.threads", ValueStep::Cpus, "4")],
        when: ONE_CPU,
        why: "a thread uses one CPU, and there are more",
        source: "memcached(1)",
        ..NONE
    },
    Remedy {
        id: "memcached-connections",
        title: "memcached: {} connections",
        changes: &[change("memcached.max_connections", ValueStep::Times(4, 65_536), "1024")],
        when: CONNECTIONS,
        why: "memcached stops accepting at its limit",
        source: "memcached(1)",
        ..NONE
    },
    Remedy {
        id: "mariadb-connections",
        title: "MariaDB: {} connections",
        changes: &[change("mariadb.max_connections", ValueStep::Times(2, 4096), "151")],
        when: &["L01: The database refuses connections", "L03", "A14"],
        why: "clients beyond it are refused",
        source: "mariadb.com/kb/en/server-system-variables/#max_connections",
        ..NONE
    },
    Remedy {
        id: "mariadb-memory",
        title: "MariaDB: {} MiB for pages",
        changes: &[change("mariadb.buffer_pool_mib", ValueStep::InMemory(4, 1 << 20), "128")],
        when: &["D03", "D09", "E05", "A05"],
        why: "pages that do not fit are read from disk again",
        source: "mariadb.com/kb/en/innodb-buffer-pool",
        ..NONE
    },
    Remedy {
        id: "mariadb-commits",
        title: "MariaDB: commits do not wait for the disk",
        changes: &[change("mariadb.flush", ValueStep::To("system"), "commit")],
        when: &["D02", "D03", "F07"],
        gives_up: Some(Allowance::Durability),
        why: "every commit waits until its log is on the disk",
        source: "mariadb.com/kb/en/innodb-system-variables/#innodb_flush_log_at_trx_commit",
        ..NONE
    },
    Remedy {
        id: "journal",
        title: "file system: a journal of {} MiB",
        changes: &[change("file-system.journal_mib", ValueStep::Times(4, 1024), "64")],
        when: &["D02", "D03", "D09", "F07"],
        why: "a full journal stops all changes of the file system until the disk has caught up",
        source: "ext4(5); filesystems/ext4/journal.rst",
        ..NONE
    },
];
