//! Rules for file systems, disks, and writeback.

use super::{FactRule, rules};

/// The rules.
pub(super) const RULES: &[FactRule] = rules! {
    "D01" ["filesystem.*.journal_bytes"], 2 10 1,
        "size of the file system's journal",
        "a transaction may use only part of the journal; when a small journal fills up, metadata changes \
         wait for writeback",
        "fs/jbd2/journal.c; Documentation/filesystems/ext4/journal.rst; mke2fs(8), -J size";
    "D02" ["filesystem.*.kind"], 3 9 1,
        "type of the file system",
        "types differ in how they journal, allocate, look up names, and serialize changes",
        "Documentation/filesystems/";
    "D03" ["filesystem.*.options"], 3 9 1,
        "mount options",
        "atime, data=, commit=, barriers, discard, and sync decide how many writes a change causes and who \
         waits for them",
        "Documentation/admin-guide/ext4.rst; mount(8)";
    "D04" ["disk.*.write_cache"], 2 9 2,
        "volatile write cache of the disk",
        "with a write-back cache, every fsync sends a flush and waits for it",
        "Documentation/block/writeback_cache_control.rst";
    "D05" ["disk.*.is_rotational"], 3 9 4,
        "rotational or solid-state disk",
        "a seek takes milliseconds; flash takes 0.1 ms or less",
        "Documentation/ABI/stable/sysfs-block, queue/rotational";
    "D06" ["disk.*.scheduler"], 2 8 2,
        "I/O scheduler of the disk",
        "it orders, merges, and delays requests, and decides who waits when reads and writes compete",
        "Documentation/block/switching-sched.rst";
    "D07" ["disk.*.model", "disk.*.vendor", "disk.*.firmware", "disk.*.revision"], 2 7 3,
        "model and firmware of the disk",
        "disks differ by orders of magnitude in flushes per second and in latency under mixed load",
        "Documentation/ABI/stable/sysfs-block";
    "D08" ["filesystem.*.features"], 1 7 1,
        "features of the file system",
        "hashed directories, extents, fast_commit, flexible groups, and checksums change the cost of \
         metadata",
        "Documentation/filesystems/ext4/super.rst";
    "D09" ["filesystem.*.block_bytes", "filesystem.*.inode_bytes"], 1 6 1,
        "sizes of blocks and inodes",
        "small inodes have no room for extended attributes; small blocks need more metadata for the same \
         data",
        "Documentation/filesystems/ext4/super.rst; mke2fs(8), -b and -I";
    "D10" ["sysctl.vm.dirty_*", "sysctl.vm.laptop_mode"], 2 7 4,
        "writeback of dirty pages",
        "below the limits, writes run at memory speed; above them, writers wait for the disk",
        "Documentation/admin-guide/sysctl/vm.rst";
    "D11" ["disk.*.writeback_latency_us"], 1 5 2,
        "latency above which writeback is throttled",
        "throttled writeback keeps reads fast and slows down bulk writes",
        "Documentation/ABI/stable/sysfs-block, queue/wbt_lat_usec";
    "D12" ["disk.*.queue_requests", "disk.*.device_queue_requests", "disk.*.hardware_queues_count", "disk.*.max_request_kib"], 1 6 2,
        "depth and number of disk queues",
        "they limit how many requests the disk handles at once",
        "Documentation/block/blk-mq.rst; Documentation/ABI/stable/sysfs-block";
    "D13" ["disk.*.read_ahead_bytes"], 2 5 3,
        "read-ahead",
        "more speeds up sequential reads and wastes random ones",
        "Documentation/ABI/stable/sysfs-block, queue/read_ahead_kb";
    "D14" ["sysctl.vm.vfs_cache_pressure"], 1 6 3,
        "how soon cached names and inodes are evicted",
        "evicted ones have to be read from disk again",
        "Documentation/admin-guide/sysctl/vm.rst";
    "D15" ["sysctl.fs.inotify.*", "sysctl.fs.aio-max-nr", "sysctl.fs.mount-max", "sysctl.fs.lease*"], 1 3 1,
        "limits of watches, asynchronous requests, and mounts",
        "beyond them, calls fail",
        "Documentation/admin-guide/sysctl/fs.rst";
    "D16" ["filesystem.*"], 2 6 1,
        "a mounted file system",
        "the location of files decides what changing them costs",
        "mount(8)";
    "D17" ["disk.*"], 1 4 1,
        "a disk or one of its properties",
        "it may limit how much is read and written at once",
        "Documentation/ABI/stable/sysfs-block";
};
