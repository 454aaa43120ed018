//! Memory: page cache, writeback, reclaim, overcommit.

use super::{EffectTime, FLAG, INT_MAX, LONG_MAX, Risk, Scope, Tunable, int};
use crate::value::ValueKind;

const fn vm(id: &'static str, kind: ValueKind, unit: &'static str, does: &'static str) -> Tunable {
    Tunable::new(id, kind, unit, does).of(Scope::Host, "admin-guide/sysctl/vm.rst")
}

/// The settings below `vm.`.
pub const TABLE: &[Tunable] = &[
    vm("vm.swappiness", int(0, 200), "weight",
        "How readily the kernel swaps out anonymous memory instead of dropping page cache. At 100, both are \
         treated as equally expensive; low values suit servers whose swap is slower than their files."),
    vm("vm.vfs_cache_pressure", int(0, 10_000), "percent",
        "How readily cached directory entries and inodes are reclaimed, relative to page cache. Lower values \
         keep the metadata of many files in memory; 0 never reclaims it and can exhaust memory.")
        .risks(Risk::Medium),
    vm("vm.dirty_ratio", int(1, 100), "percent of available memory",
        "Share of memory that may be dirty before writers have to write back themselves. Lower values make \
         stalls shorter and more frequent; setting it disables vm.dirty_bytes.")
        .zeroes("vm.dirty_bytes").risks(Risk::Medium),
    vm("vm.dirty_bytes", int(8192, LONG_MAX), "bytes",
        "Dirty memory at which writers have to write back themselves, as a size. Setting it disables \
         vm.dirty_ratio.")
        .zeroes("vm.dirty_ratio").risks(Risk::Medium),
    vm("vm.dirty_background_ratio", int(1, 100), "percent of available memory",
        "Share of memory that may be dirty before background writeback starts. Setting it disables \
         vm.dirty_background_bytes.")
        .zeroes("vm.dirty_background_bytes"),
    vm("vm.dirty_background_bytes", int(1, LONG_MAX), "bytes",
        "Dirty memory at which background writeback starts, as a size. Setting it disables \
         vm.dirty_background_ratio.")
        .zeroes("vm.dirty_background_ratio"),
    vm("vm.dirty_expire_centisecs", int(0, INT_MAX), "centiseconds",
        "Age at which dirty data is written back. Lower values spread writes over time, but write frequently \
         changed data more often."),
    vm("vm.dirty_writeback_centisecs", int(0, INT_MAX), "centiseconds",
        "How often the background writers wake up. 0 disables periodic writeback, so data is only written \
         under memory pressure or by fsync.")
        .risks(Risk::Medium),
    vm("vm.dirtytime_expire_seconds", int(0, INT_MAX), "seconds",
        "How long a changed access time may stay unwritten with the lazytime mount option. Lower values \
         write inodes more often."),
    vm("vm.min_free_kbytes", int(1024, 8 * 1024 * 1024), "KiB",
        "Memory that the kernel tries to keep free for allocations that cannot wait, such as packets. Too \
         little makes them fail under load; too much wastes memory.")
        .risks(Risk::High),
    vm("vm.watermark_scale_factor", int(1, 1000), "1/10,000 of memory",
        "Distance between the watermarks at which background reclaim starts and stops. A larger distance \
         starts it earlier, so fewer allocations have to reclaim memory themselves."),
    vm("vm.watermark_boost_factor", int(0, INT_MAX), "1/10,000 of the high mark",
        "How far the watermarks are temporarily raised when memory is fragmented. 0 turns it off, which \
         avoids bursts of reclaim."),
    vm("vm.overcommit_memory", int(0, 2), "mode",
        "Memory overcommit: heuristic (0), always (1), or never above a limit (2). With 2, large processes \
         may fail to fork or map memory, and programs that do not expect this die.")
        .risks(Risk::High),
    vm("vm.overcommit_ratio", int(0, 10_000), "percent of memory",
        "Share of memory that may be committed when vm.overcommit_memory is 2. Setting it disables \
         vm.overcommit_kbytes.")
        .zeroes("vm.overcommit_kbytes").risks(Risk::Medium),
    vm("vm.overcommit_kbytes", int(1024, LONG_MAX), "KiB",
        "Memory that may be committed when vm.overcommit_memory is 2, as a size. Setting it disables \
         vm.overcommit_ratio.")
        .zeroes("vm.overcommit_ratio").risks(Risk::Medium),
    vm("vm.max_map_count", int(1024, INT_MAX), "mappings",
        "Maximum number of memory mappings per process. Above it, databases and search engines that map many \
         files fail with ENOMEM.")
        .risks(Risk::Medium),
    vm("vm.page-cluster", int(0, 16), "log2 of pages",
        "How many pages are read from swap at once, as a power of two. 0 reads single pages, which suits swap on memory or flash."),
    vm("vm.zone_reclaim_mode", int(0, 7), "bits",
        "Whether a NUMA node reclaims its own memory before it uses another node's. On file servers and \
         databases, it makes the page cache small and reclaim frequent; 0 is off.")
        .risks(Risk::Medium),
    vm("vm.compaction_proactiveness", int(0, 100), "level",
        "How aggressively memory is compacted in advance for huge pages. Higher values cost background CPU \
         and shorten stalls; 0 is off."),
    vm("vm.compact_unevictable_allowed", FLAG, "switch",
        "Whether compaction may move locked pages. Moving one causes a page fault in its process, which \
         real-time programs do not want."),
    vm("vm.extfrag_threshold", int(0, 1000), "index",
        "Fragmentation above which a failed large allocation triggers compaction instead of reclaim. Lower \
         values compact more often."),
    vm("vm.stat_interval", int(1, 3600), "seconds",
        "How often CPUs update the global memory counters. Longer intervals disturb isolated CPUs less and \
         make the counters less current."),
    vm("vm.admin_reserve_kbytes", int(1024, LONG_MAX), "KiB",
        "Memory reserved for privileged users, so that they can log in and clean up when all memory is \
         committed. It only applies when vm.overcommit_memory is 2.")
        .risks(Risk::Medium),
    vm("vm.user_reserve_kbytes", int(0, LONG_MAX), "KiB",
        "Memory that no single process can take when vm.overcommit_memory is 2. It lets a user recover from \
         a process that takes everything."),
    vm("vm.page_lock_unfairness", int(0, INT_MAX), "rounds",
        "How often a waiter for a page lock may be overtaken before it is handed the lock. 0 is strictly fair, which is slower under contention.")
        .felt(EffectTime::AtOnce),
    vm("vm.min_unmapped_ratio", int(0, 100), "percent of the node",
        "Share of unmapped page cache that a node keeps when vm.zone_reclaim_mode is on. It has no effect on \
         hosts with a single node."),
    vm("vm.nr_overcommit_hugepages", int(0, 1 << 30), "huge pages",
        "Huge pages that may be allocated on demand in addition to the reserved ones. They come from free \
         memory and are returned after use."),
    vm("vm.oom_kill_allocating_task", FLAG, "switch",
        "Whether the OOM killer kills the task that triggered it instead of the largest one. It saves a scan \
         of all tasks, but may kill the wrong one.")
        .risks(Risk::Medium),
    vm("vm.oom_dump_tasks", FLAG, "switch",
        "Whether the OOM killer logs a list of all tasks. On hosts with tens of thousands of tasks, this \
         takes long."),
    vm("vm.laptop_mode", int(0, 3600), "seconds",
        "Delay after disk activity before all dirty data is written (laptop mode). It lets disks sleep; on a \
         server, it makes writes bursty."),
];
