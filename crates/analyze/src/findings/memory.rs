//! Memory as the bottleneck: the host reclaims, swaps, rereads what it just dropped, or kills a process.
//!
//! The memory counters are those of the whole host, and a neighbor may have moved them. So only readings of the server
//! itself confirm this bottleneck: where its threads wait, and what its control group counts.

use super::signs::{LimitSign, SignMeasure, Signs, Touch, Whose};
use super::{Examination, Place, Rule};
use crate::format::{percent, rate, whole};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::column::{self, Quantity};

/// That tasks waited for memory.
pub(super) const PRESSURE: LimitSign = LimitSign {
    quantity: column::PSI_MEMORY_SOME,
    measure: SignMeasure::TimeRatio,
    least: Threshold::new("share of time in which some task waited for memory (PSI)", 0.05, "ratio", HOUSE),
    say: |share, _| format!("some task waited for memory {} of the time", percent(share)),
};

/// That pages had to be read while a program waited for them.
pub(super) const MAJOR_FAULTS: LimitSign = LimitSign {
    quantity: column::VM_MAJOR_FAULTS,
    measure: SignMeasure::Hz,
    least: Threshold::new("page faults that waited for a disk, per second", 50.0, "hz", HOUSE),
    say: |hz, _| format!("{} page faults/s waited for a disk", rate(hz)),
};

/// That the server's own threads waited for a disk, which is where they are while pages are read for them.
pub(super) const DISK_WAITS: LimitSign = LimitSign {
    quantity: column::WAITS_DISK,
    measure: SignMeasure::Mean,
    least: Threshold::new("threads of one tier that wait for a disk, on average", 0.2, "count", HOUSE),
    say: |count, tier| {
        let whose = if tier == "target" { "the server" } else { tier };
        format!("{count:.1} threads of {whose} waited for a disk at a time")
    },
};

/// That the server's control group read pages again that it had just dropped.
pub(super) const REFAULTS: LimitSign = LimitSign {
    quantity: column::CGROUP_REFAULTS,
    measure: SignMeasure::Hz,
    least: Threshold::new("pages of files read again by the control group, per second", 100.0, "hz", HOUSE),
    say: |hz, _| format!("its group read {} pages/s again soon after they had been dropped", rate(hz)),
};

/// That the server's own processes waited for pages from a disk.
pub(super) const OWN_FAULTS: LimitSign = LimitSign {
    quantity: column::PROCESS_MAJOR_FAULTS,
    measure: SignMeasure::Hz,
    least: Threshold::new(
        "page faults of the server's processes that waited for a disk, per second",
        20.0,
        "hz",
        HOUSE,
    ),
    say: |hz, _| format!("{} page faults/s of the server waited for a disk", rate(hz)),
};

/// That tasks of the server's control group waited for memory.
pub(super) const OWN_PRESSURE: LimitSign = LimitSign {
    quantity: column::CGROUP_PSI_MEMORY,
    measure: SignMeasure::TimeRatio,
    least: Threshold::new(
        "share of time in which some task of the control group waited for memory (PSI)",
        0.05,
        "ratio",
        HOUSE,
    ),
    say: |share, _| format!("some task of its group waited for memory {} of the time", percent(share)),
};

const fn stalls(quantity: Quantity) -> LimitSign {
    LimitSign {
        quantity,
        measure: SignMeasure::Hz,
        least: Threshold::new("allocations that had to reclaim memory first, per second", 1.0, "hz", HOUSE),
        say: |hz, _| format!("{} allocations/s had to free memory first", rate(hz)),
    }
}

/// E02.
pub(super) const RECLAIM: Rule = Rule {
    id: "E02",
    name: "direct-reclaim",
    meaning: "Memory ran short, and programs had to free some before they got any.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::VM_ALLOC_STALLS],
    remedy: "free memory (smaller caches and pools), raise vm.watermark_scale_factor, or add memory",
    counterfactual: "with more free memory the tail would be as long",
    examine: Examination::Signs(&Signs {
        title: "Memory is short",
        not: "Memory is not short",
        mechanism: &[stalls(column::VM_ALLOC_STALLS), stalls(column::VM_ALLOC_STALLS_MOVABLE)],
        given: &[],
        confirmers: &[DISK_WAITS, OWN_PRESSURE],
        touch: Touch::Waits,
        whose: Whose::Host,
    }),
};

/// E03.
pub(super) const SWAPPING: Rule = Rule {
    id: "E03",
    name: "swapping",
    meaning: "Memory that programs use was swapped out, and had to be read back.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::VM_SWAPPED_IN],
    remedy: "give the server more memory or a higher limit, or make its caches and pools smaller",
    counterfactual: "without swap the responses would be as slow",
    examine: Examination::Signs(&Signs {
        title: "The host is swapping",
        not: "Nothing was read back from swap",
        mechanism: &[LimitSign {
            quantity: column::VM_SWAPPED_IN,
            measure: SignMeasure::Hz,
            least: Threshold::new("pages read from swap per second", 50.0, "hz", HOUSE),
            say: |hz, _| format!("{} pages/s were read back from swap", rate(hz)),
        }],
        given: &[],
        confirmers: &[DISK_WAITS, OWN_FAULTS, OWN_PRESSURE],
        touch: Touch::Waits,
        whose: Whose::Host,
    }),
};

/// E04.
pub(super) const OOM: Rule = Rule {
    id: "E04",
    name: "out-of-memory",
    meaning: "The kernel killed a process because memory, or its control group's limit, was used up.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::VM_OOM_KILLS],
    remedy: "raise the memory limit, or make the server use less (fewer workers, smaller buffers); look for a leak",
    counterfactual: "with a higher memory limit processes would still be killed",
    examine: Examination::Signs(&Signs {
        title: "The kernel killed processes for want of memory",
        not: "No process was killed for want of memory",
        mechanism: &[LimitSign {
            quantity: column::VM_OOM_KILLS,
            measure: SignMeasure::Events,
            least: Threshold::new(
                "processes that were killed for want of memory",
                1.0,
                "count",
                "vmstat oom_kill; netdata warns at 1",
            ),
            say: |count, _| format!("{} killed", processes(count)),
        }],
        given: &[],
        confirmers: &[LimitSign {
            quantity: column::CGROUP_OOM_KILLS,
            measure: SignMeasure::Events,
            least: Threshold::new(
                "processes of the server's control group that were killed for want of memory",
                1.0,
                "count",
                "memory.events oom_kill",
            ),
            say: |count, _| format!("{} killed in the server's control group", processes(count)),
        }],
        touch: Touch::Ends,
        whose: Whose::Server,
    }),
};

/// E05.
pub(super) const THRASHING: Rule = Rule {
    id: "E05",
    name: "cache-thrash",
    meaning: "The files that are in use do not fit into memory: what was dropped from the page cache had to be read again.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::VM_REFAULTS],
    remedy: "give the page cache more memory (a higher limit of the control group, smaller pools), or serve fewer files",
    counterfactual: "with more memory the disk would read as much",
    examine: Examination::Signs(&Signs {
        title: "The page cache is too small for the files in use",
        not: "The files in use fit into the page cache",
        mechanism: &[LimitSign {
            quantity: column::VM_REFAULTS,
            measure: SignMeasure::Hz,
            least: Threshold::new(
                "pages of files read again soon after they were dropped, per second",
                100.0,
                "hz",
                HOUSE,
            ),
            say: |hz, _| format!("{} pages/s were read again soon after they had been dropped", rate(hz)),
        }],
        // Threads that wait for a disk may wait for writes.
        given: &[LimitSign {
            quantity: column::DISK_READ,
            measure: SignMeasure::TimeRatio,
            least: Threshold::new("reads that a disk had to do at a time, on average", 0.2, "count", HOUSE),
            say: |count, disk| format!("{disk} had {count:.1} reads to do at a time"),
        }],
        confirmers: &[DISK_WAITS, OWN_FAULTS, OWN_PRESSURE],
        touch: Touch::Waits,
        whose: Whose::Host,
    }),
};

fn processes(count: f64) -> String {
    if count == 1.0 { "1 process was".into() } else { format!("{} processes were", whole(count)) }
}
