//! Memory: page cache, writeback, reclaim, overcommit.

use super::{EffectTime, FLAG, INT_MAX, LONG_MAX, Risk, Scope, Tunable, int};
use crate::value::ValueKind;

const fn vm(id: &'static str, kind: ValueKind, unit: &'static str, does: &'static str) -> Tunable {
    Tunable::new(id, kind, unit, does).of(Scope::Host, "admin-guide/sysctl/vm.rst")
}

/// The settings below `vm.`.
pub const TABLE: &[Tunable] = &[
    vm("vm.swappiness", int(0, 200), "weight",
        "How readily anonymous memory is swapped out rather than page cache dropped. 100 takes both to cost the same; low values suit servers whose swap is slower than their files."),
    vm("vm.vfs_cache_pressure", int(0, 10_000), "percent",
        "How readily cached directory entries and inodes are reclaimed, against page cache. Lower keeps metadata of many files in memory; 0 never reclaims it and can exhaust memory.")
        .risks(Risk::Medium),
    vm("vm.dirty_ratio", int(1, 100), "percent of available memory",
        "Share of memory that may be dirty before writers have to write back themselves. Lower makes stalls shorter and more frequent; setting it takes vm.dirty_bytes out of force.")
        .zeroes("vm.dirty_bytes").risks(Risk::Medium),
    vm("vm.dirty_bytes", int(8192, LONG_MAX), "bytes",
        "Dirty memory at which writers have to write back themselves, as a size. Setting it takes vm.dirty_ratio out of force.")
        .zeroes("vm.dirty_ratio").risks(Risk::Medium),
    vm("vm.dirty_background_ratio", int(1, 100), "percent of available memory",
        "Share of memory that may be dirty before the kernel begins to write back in the background. Setting it takes vm.dirty_background_bytes out of force.")
        .zeroes("vm.dirty_background_bytes"),
    vm("vm.dirty_background_bytes", int(1, LONG_MAX), "bytes",
        "Dirty memory at which background writeback begins, as a size. Setting it takes vm.dirty_background_ratio out of force.")
        .zeroes("vm.dirty_background_ratio"),
    vm("vm.dirty_expire_centisecs", int(0, INT_MAX), "centiseconds",
        "Age at which dirty data has to be written back. Lower spreads writes in time; what is rewritten often is then written more often."),
    vm("vm.dirty_writeback_centisecs", int(0, INT_MAX), "centiseconds",
        "How often the background writers wake up. 0 turns periodic writeback off, so that data is written under pressure or by fsync only.")
        .risks(Risk::Medium),
    vm("vm.dirtytime_expire_seconds", int(0, INT_MAX), "seconds",
        "How long a changed access time may stay unwritten under the lazytime mount option. Lower writes inodes more often."),
    vm("vm.min_free_kbytes", int(1024, 8 * 1024 * 1024), "KiB",
        "Memory that reclaim tries to keep free, for allocations that cannot wait such as packets. Too little fails them under load; too much is memory that nobody can use.")
        .risks(Risk::High),
    vm("vm.watermark_scale_factor", int(1, 1000), "1/10,000 of memory",
        "Distance between the marks at which background reclaim starts and stops. A larger one wakes it earlier, so that fewer allocations have to reclaim themselves."),
    vm("vm.watermark_boost_factor", int(0, INT_MAX), "1/10,000 of the high mark",
        "How far the marks are raised for a while when memory is fragmented. 0 turns it off, which avoids bursts of reclaim."),
    vm("vm.overcommit_memory", int(0, 2), "mode",
        "Whether memory may be promised that is not there: by guess (0), always (1), never beyond a limit (2). With 2 large processes can no longer fork or map, and programs that do not expect it die.")
        .risks(Risk::High),
    vm("vm.overcommit_ratio", int(0, 10_000), "percent of memory",
        "Share of memory that may be promised when vm.overcommit_memory is 2. Setting it takes vm.overcommit_kbytes out of force.")
        .zeroes("vm.overcommit_kbytes").risks(Risk::Medium),
    vm("vm.overcommit_kbytes", int(1024, LONG_MAX), "KiB",
        "Memory that may be promised when vm.overcommit_memory is 2, as a size. Setting it takes vm.overcommit_ratio out of force.")
        .zeroes("vm.overcommit_ratio").risks(Risk::Medium),
    vm("vm.max_map_count", int(1024, INT_MAX), "mappings",
        "Most memory mappings of a process. Databases and search engines that map many files fail with ENOMEM beyond it.")
        .risks(Risk::Medium),
    vm("vm.page-cluster", int(0, 16), "log2 of pages",
        "How many pages are read from swap at once, as a power of two. 0 reads single pages, which suits swap on memory or flash."),
    vm("vm.zone_reclaim_mode", int(0, 7), "bits",
        "Whether a node reclaims its own memory before it takes another node's. On a file server or database it makes page cache small and reclaim frequent; 0 is off.")
        .risks(Risk::Medium),
    vm("vm.compaction_proactiveness", int(0, 100), "level",
        "How much memory is compacted in advance, for huge pages. Higher costs CPU in the background and shortens stalls; 0 is off."),
    vm("vm.compact_unevictable_allowed", FLAG, "switch",
        "Whether locked pages may be moved by compaction. Moving one makes its user fault, which real-time programs do not want."),
    vm("vm.extfrag_threshold", int(0, 1000), "index",
        "Fragmentation from which a failed large allocation leads to compaction rather than reclaim. Lower compacts more often."),
    vm("vm.stat_interval", int(1, 3600), "seconds",
        "How often the CPUs fold their memory counters into the global ones. Longer disturbs isolated CPUs less often, and makes counters older."),
    vm("vm.admin_reserve_kbytes", int(1024, LONG_MAX), "KiB",
        "Memory kept for privileged users, so that they can log in and clean up when memory is promised away. It counts when vm.overcommit_memory is 2.")
        .risks(Risk::Medium),
    vm("vm.user_reserve_kbytes", int(0, LONG_MAX), "KiB",
        "Memory that a single process cannot take for itself when vm.overcommit_memory is 2. It lets a user recover from a process that takes everything."),
    vm("vm.page_lock_unfairness", int(0, INT_MAX), "rounds",
        "How often a waiter for a page lock may be overtaken before it is handed the lock. 0 is strictly fair, which is slower under contention.")
        .felt(EffectTime::AtOnce),
    vm("vm.min_unmapped_ratio", int(0, 100), "percent of the node",
        "Share of unmapped page cache that a node keeps when vm.zone_reclaim_mode is on. It has no effect on hosts with one node."),
    vm("vm.nr_overcommit_hugepages", int(0, 1 << 30), "huge pages",
        "Huge pages that may be made on demand beyond the reserved ones. They are taken from free memory when asked for, and given back."),
    vm("vm.oom_kill_allocating_task", FLAG, "switch",
        "Whether the task that ran out of memory is killed, rather than the largest one. It saves a scan of all tasks, and may kill the wrong one.")
        .risks(Risk::Medium),
    vm("vm.oom_dump_tasks", FLAG, "switch",
        "Whether a list of all tasks is logged when one is killed for memory. On hosts with tens of thousands of tasks it takes long."),
    vm("vm.laptop_mode", int(0, 3600), "seconds",
        "How long after disk activity all dirty data is written. Meant to let disks sleep; on a server it makes writes burst."),
];
