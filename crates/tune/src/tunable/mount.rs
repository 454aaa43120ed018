//! Mounts: options that can be changed while the file system is in use.

use super::{Risk, Scope, Tunable};
use crate::setting::Mounts;
use crate::value::ValueKind;

/// Settings of mounts.
pub const TABLE: &[Tunable] = &[
    Tunable::new("mount:*", ValueKind::MountOptions, "options",
        "When times of access are kept (noatime, relatime, strictatime, nodiratime, on any file system), and on ext3 and ext4 how often and how safely the journal is written (commit=SECONDS, barrier, nobarrier, lazytime, discard, auto_da_alloc, max_batch_time, min_batch_time). Without barriers a power cut can destroy the file system, unless its disk keeps what it was given; lines of /etc/fstab decide again at the next boot.")
        .of(Scope::Mount, "admin-guide/ext4.rst").risks(Risk::High).at(&Mounts),
];
