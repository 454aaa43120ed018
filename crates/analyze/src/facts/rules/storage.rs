//! Rules of file systems, disks and writing back.

use super::{FactRule, rules};

/// The rules.
pub(super) const RULES: &[FactRule] = rules! {
    "D01" ["filesystem.*.journal_bytes"], 2 10 1,
        "length of the file system's journal",
        "one transaction gets a part of the journal only; a small one fills, and whoever changes metadata waits until it is written back",
        "fs/jbd2/journal.c; Documentation/filesystems/ext4/journal.rst; mke2fs(8), -J size";
    "D02" ["filesystem.*.kind"], 3 9 1,
        "kind of the file system",
        "kinds differ in how they journal, allocate, look up names and serialize changes",
        "Documentation/filesystems/";
    "D03" ["filesystem.*.options"], 3 9 1,
        "options that the file system is mounted with",
        "atime, data=, commit=, barriers, discard and sync decide how many writes a change costs and who waits for them",
        "Documentation/admin-guide/ext4.rst; mount(8)";
    "D04" ["disk.*.write_cache"], 2 9 2,
        "whether the disk has a volatile write cache",
        "with a write-back cache each fsync sends a flush and waits for it; without one it does not",
        "Documentation/block/writeback_cache_control.rst";
    "D05" ["disk.*.is_rotational"], 3 9 4,
        "whether the disk turns",
        "a seek takes milliseconds where flash takes a tenth of one or less",
        "Documentation/ABI/stable/sysfs-block, queue/rotational";
    "D06" ["disk.*.scheduler"], 2 8 2,
        "scheduler of the disk's queue",
        "it orders, merges and delays requests, and decides who waits when reads and writes compete",
        "Documentation/block/switching-sched.rst";
    "D07" ["disk.*.model", "disk.*.vendor", "disk.*.firmware", "disk.*.revision"], 2 7 3,
        "model and firmware of the disk",
        "disks differ by orders of magnitude in flushes per second and in latency under mixed load",
        "Documentation/ABI/stable/sysfs-block";
    "D08" ["filesystem.*.features"], 1 7 1,
        "features that the file system was made with",
        "hashed directories, extents, fast_commit, flexible groups and checksums change the cost of metadata",
        "Documentation/filesystems/ext4/super.rst";
    "D09" ["filesystem.*.block_bytes", "filesystem.*.inode_bytes"], 1 6 1,
        "sizes of blocks and inodes",
        "small inodes have no room for extended attributes; small blocks make more metadata of the same data",
        "Documentation/filesystems/ext4/super.rst; mke2fs(8), -b and -I";
    "D10" ["sysctl.vm.dirty_*", "sysctl.vm.laptop_mode"], 2 7 4,
        "when changed pages are written back",
        "below the limits writing goes on at the speed of memory; above them the writer waits for the disk",
        "Documentation/admin-guide/sysctl/vm.rst";
    "D11" ["disk.*.writeback_latency_us"], 1 5 2,
        "latency above which writing back is throttled",
        "throttled writing back keeps reads quick and makes bulk writing slower",
        "Documentation/ABI/stable/sysfs-block, queue/wbt_lat_usec";
    "D12" ["disk.*.queue_requests", "disk.*.device_queue_requests", "disk.*.hardware_queues_count", "disk.*.max_request_kib"], 1 6 2,
        "depth and number of the disk's queues",
        "they bound how many requests the disk works on at once",
        "Documentation/block/blk-mq.rst; Documentation/ABI/stable/sysfs-block";
    "D13" ["disk.*.read_ahead_bytes"], 2 5 3,
        "how far is read ahead",
        "more is quicker for long reads, and wasted for short ones at random places",
        "Documentation/ABI/stable/sysfs-block, queue/read_ahead_kb";
    "D14" ["sysctl.vm.vfs_cache_pressure"], 1 6 3,
        "how soon cached names and inodes are given up",
        "what was given up is read from the disk again",
        "Documentation/admin-guide/sysctl/vm.rst";
    "D15" ["sysctl.fs.inotify.*", "sysctl.fs.aio-max-nr", "sysctl.fs.mount-max", "sysctl.fs.lease*"], 1 3 1,
        "limits of watches, asynchronous requests and mounts",
        "beyond them calls fail",
        "Documentation/admin-guide/sysctl/fs.rst";
    "D16" ["filesystem.*"], 2 6 1,
        "a mounted file system",
        "where files lie decides what a change of them costs",
        "mount(8)";
    "D17" ["disk.*"], 1 4 1,
        "a disk or a property of one",
        "it may bound how much is read and written at once",
        "Documentation/ABI/stable/sysfs-block";
};
