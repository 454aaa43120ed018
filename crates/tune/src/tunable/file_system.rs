//! File systems: settings that can be changed only while unmounted.

use super::{EffectTime, Risk, Scope, Tunable, int};
use crate::setting::ExtJournals;

/// Most MiB of a journal: e2fsprogs makes none of more than 10,240,000 blocks, which are of 4 KiB mostly.
const MAX_MIB: i128 = 40_000;

/// Settings of file systems.
pub const TABLE: &[Tunable] = &[
    Tunable::new("ext4:*:journal_mib", int(1, MAX_MIB), "MiB",
        "Size of the journal of an ext3 or ext4 file system, named by its block device or image, which must be unmounted and clean. tune2fs removes the journal and creates a new one, with e2fsck -fn before and after; that takes minutes on large disks. Where many small files are made or removed, a small journal makes them wait for its checkpoints; a large one costs its space, and more to be replayed after a crash. What comes back is the size and all else that e2fsck looks at: the journal may lie elsewhere on the disk, and is empty. It is undone only while the file system is not mounted, and without a journal in between, after a death, until then.")
        .of(Scope::FileSystem, "filesystems/ext4/journal.rst; tune2fs(8)")
        .felt(EffectTime::Mounted)
        .risks(Risk::High)
        .at(&ExtJournals),
];
