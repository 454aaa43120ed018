//! Time that the server loses to memory management: a soft limit, huge pages that must be assembled, a cache that was
//! emptied.

use super::disks::OWN_IO_PRESSURE;
use super::memory::{DISK_WAITS, OWN_FAULTS, OWN_PRESSURE};
use super::signs::{LimitSign, SignMeasure, Signs, Touch, Whose};
use super::{Examination, Place, Rule};
use crate::format::{counted, rate};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::column;

/// E07.
pub(super) const COMPACTION: Rule = Rule {
    id: "E07",
    name: "compaction-stalls",
    meaning: "Programs had to move memory around until there was room for a huge page.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::VM_COMPACT_STALLS],
    remedy: "set /sys/kernel/mm/transparent_hugepage/defrag to defer or madvise, or keep more memory free",
    counterfactual: "without transparent huge pages the tail would be as long",
    examine: Examination::Signs(&Signs {
        title: "Programs wait for memory to be compacted",
        not: "No program waits for memory to be compacted",
        mechanism: &[LimitSign {
            quantity: column::VM_COMPACT_STALLS,
            measure: SignMeasure::Hz,
            least: Threshold::new("allocations that compacted memory first, per second", 1.0, "hz", HOUSE),
            say: |hz, _| format!("{} allocations/s compacted memory first", rate(hz)),
        }],
        given: &[],
        confirmers: &[OWN_PRESSURE],
        touch: Touch::Waits,
        whose: Whose::Host,
    }),
};

/// E10.
pub(super) const HIGH: Rule = Rule {
    id: "E10",
    name: "memory-high",
    meaning: "The server's control group is above its soft memory limit, and the kernel slows its tasks down.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::CGROUP_MEMORY_THROTTLES],
    remedy: "raise the soft limit (memory.high, MemoryHigh=), or use less: smaller pools, fewer workers",
    counterfactual: "with a higher soft limit rate and tail would be the same",
    examine: Examination::Signs(&Signs {
        title: "The server is slowed down by its soft memory limit",
        not: "The server is not slowed down by a soft memory limit",
        mechanism: &[LimitSign {
            quantity: column::CGROUP_MEMORY_THROTTLES,
            measure: SignMeasure::Hz,
            least: Threshold::new(
                "times per second that tasks were slowed down by the soft limit",
                10.0,
                "hz",
                HOUSE,
            ),
            say: |hz, _| format!("its tasks were slowed down {} times/s", rate(hz)),
        }],
        given: &[],
        confirmers: &[OWN_PRESSURE, OWN_FAULTS, DISK_WAITS],
        touch: Touch::Waits,
        whose: Whose::Host,
    }),
};

/// E11.
pub(super) const CACHE_DROPPED: Rule = Rule {
    id: "E11",
    name: "cache-dropped",
    meaning: "The page cache was emptied during the measurement, and the server had to read its files again.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::VM_CACHE_DROPS],
    remedy: "find who writes to /proc/sys/vm/drop_caches (a cron job, a monitoring agent), and stop it",
    counterfactual: "with a warm page cache the tail would be as long",
    examine: Examination::Signs(&Signs {
        title: "The page cache was emptied under load",
        not: "Nobody emptied the page cache",
        mechanism: &[LimitSign {
            quantity: column::VM_CACHE_DROPS,
            measure: SignMeasure::Events,
            least: Threshold::new(
                "times that the page cache was emptied",
                1.0,
                "count",
                "vmstat drop_pagecache",
            ),
            say: |count, _| format!("it was emptied {}", counted(count, "time")),
        }],
        given: &[],
        confirmers: &[DISK_WAITS, OWN_FAULTS, OWN_IO_PRESSURE],
        touch: Touch::Waits,
        whose: Whose::Host,
    }),
};
