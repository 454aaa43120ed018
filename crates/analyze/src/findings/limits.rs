//! Counted limits of the host and of control groups: files, tasks, space, memory.

use super::disks::OWN_IO_PRESSURE;
use super::memory::{DISK_WAITS, MAJOR_FAULTS, OWN_FAULTS, OWN_PRESSURE, PRESSURE, REFAULTS};
use super::signs::{LimitSign, SignMeasure, Signs, Touch, Whose};
use super::{Examination, Place, Rule};
use crate::format::{counted, percent, rate};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::column;

/// F02.
pub(super) const FILES: Rule = Rule {
    id: "F02",
    name: "file-max",
    meaning: "The host has nearly as many open files as it allows.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::FILES_ALLOCATED],
    remedy: "find who holds them, or raise fs.file-max",
    counterfactual: "with a higher fs.file-max as many requests would fail",
    examine: Examination::Signs(&Signs {
        title: "The host is out of file descriptors",
        not: "The host has file descriptors left",
        mechanism: &[LimitSign {
            quantity: column::FILES_ALLOCATED,
            measure: SignMeasure::Level(column::FILES_LIMIT),
            least: Threshold::new(
                "open files of the host ÷ fs.file-max",
                0.9,
                "ratio",
                "netdata, file descriptors alarm",
            ),
            say: |share, _| format!("{} of fs.file-max is used", percent(share)),
        }],
        given: &[],
        confirmers: &[],
        touch: Touch::Work,
        whose: Whose::Server,
    }),
};

/// F06.
pub(super) const TASKS: Rule = Rule {
    id: "F06",
    name: "task-limit",
    meaning: "The server's control group may not have more processes and threads, and new ones are refused.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::CGROUP_PIDS_FAILURES],
    remedy: "raise pids.max (TasksMax=, the container's --pids-limit), or run fewer workers",
    counterfactual: "with a higher limit the server would start no more tasks",
    examine: Examination::Signs(&Signs {
        title: "The server may not start more tasks",
        not: "The server may start more tasks",
        mechanism: &[LimitSign {
            quantity: column::CGROUP_PIDS_FAILURES,
            measure: SignMeasure::Events,
            least: Threshold::new("tasks that were refused", 1.0, "count", "pids.events, max"),
            say: |count, _| format!("{} refused", counted(count, "task")),
        }],
        given: &[],
        confirmers: &[LimitSign {
            quantity: column::CGROUP_PIDS,
            measure: SignMeasure::Level(column::CGROUP_PIDS_LIMIT),
            least: Threshold::new(
                "tasks of the control group ÷ its limit, at their most",
                0.9,
                "ratio",
                HOUSE,
            ),
            say: |share, _| format!("its tasks reached {} of the limit", percent(share)),
        }],
        touch: Touch::Work,
        whose: Whose::Server,
    }),
};

/// F09.
pub(super) const SPACE: Rule = Rule {
    id: "F09",
    name: "file-system-full",
    meaning: "A file system that the server may write to has no space or no inodes left.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::FS_FREE],
    remedy: "free space or inodes (old logs, caches, sessions), or enlarge the file system",
    counterfactual: "with free space as many requests would fail",
    examine: Examination::Signs(&Signs {
        title: "A file system is full",
        not: "No file system is full",
        mechanism: &[
            LimitSign {
                quantity: column::FS_FREE,
                measure: SignMeasure::Used(column::FS_SIZE),
                least: Threshold::new(
                    "used space of a file system",
                    0.98,
                    "ratio",
                    "netdata, disk space alarm (critical)",
                ),
                say: |share, place| format!("{} of the space of {place} is used", percent(share)),
            },
            LimitSign {
                quantity: column::FS_FREE_INODES,
                measure: SignMeasure::Used(column::FS_INODES),
                least: Threshold::new(
                    "used inodes of a file system",
                    0.98,
                    "ratio",
                    "netdata, disk inodes alarm (critical)",
                ),
                say: |share, place| format!("{} of the inodes of {place} are used", percent(share)),
            },
        ],
        given: &[],
        confirmers: &[],
        touch: Touch::Work,
        whose: Whose::Server,
    }),
};

/// E06.
pub(super) const DIRTY: Rule = Rule {
    id: "E06",
    name: "dirty-throttled",
    meaning: "Programs wrote faster than the disk, and the kernel stops them until it has caught up.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::MEMORY_DIRTY_LIMIT],
    remedy: "write less (logs, temporary files), or use a faster disk; a higher vm.dirty_bytes only moves the stalls",
    counterfactual: "with half of the writes the tail would be as long",
    examine: Examination::Signs(&Signs {
        title: "Writers are stopped until the disk has caught up",
        not: "Writers are not stopped for the disk",
        mechanism: &[LimitSign {
            quantity: column::MEMORY_DIRTY,
            measure: SignMeasure::Level(column::MEMORY_DIRTY_LIMIT),
            least: Threshold::new(
                "memory that waits to be written ÷ where the kernel stops writers",
                0.8,
                "ratio",
                "house value; the kernel begins to slow writers down half-way between its two limits",
            ),
            say: |share, _| format!("what waits to be written reached {} of the limit", percent(share)),
        }],
        given: &[],
        confirmers: &[DISK_WAITS, OWN_IO_PRESSURE],
        touch: Touch::Waits,
        whose: Whose::Host,
    }),
};

/// E08.
pub(super) const MEMORY: Rule = Rule {
    id: "E08",
    name: "memory-limit",
    meaning: "The server's control group is at its memory limit, and every page that it needs has to be freed elsewhere first.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::CGROUP_MEMORY_FAILURES],
    remedy: "raise the limit (memory.max, MemoryMax=, the container's --memory), or use less: smaller pools, fewer workers",
    counterfactual: "with a higher limit rate and tail would be the same",
    examine: Examination::Signs(&Signs {
        title: "The server is at its memory limit",
        not: "The server is not at its memory limit",
        mechanism: &[LimitSign {
            quantity: column::CGROUP_MEMORY_FAILURES,
            measure: SignMeasure::Hz,
            least: Threshold::new("times per second that the limit was hit", 10.0, "hz", HOUSE),
            say: |hz, _| format!("it hit the limit {} times/s", rate(hz)),
        }],
        given: &[],
        confirmers: &[REFAULTS, DISK_WAITS, OWN_FAULTS, OWN_PRESSURE, PRESSURE, MAJOR_FAULTS],
        touch: Touch::Waits,
        whose: Whose::Server,
    }),
};

/// F03.
pub(super) const LOG_FLOOD: Rule = Rule {
    id: "F03",
    name: "log-flood",
    meaning: "The server writes many lines into its logs for each request, access logs aside.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::LOG_LINES],
    remedy: "lower the log level, fix what is reported again and again, or buffer the log",
    counterfactual: "without these lines rate and tail would be the same",
    examine: Examination::Signs(&Signs {
        title: "The server floods its logs",
        not: "The server writes few lines into its logs",
        mechanism: &[LimitSign {
            quantity: column::LOG_LINES,
            measure: SignMeasure::EventsPerRequest,
            least: Threshold::new("lines in logs per request", 3.0, "ratio", HOUSE),
            say: |count, _| format!("{} lines per request", rate(count)),
        }],
        given: &[],
        confirmers: &[DISK_WAITS, OWN_IO_PRESSURE],
        touch: Touch::Waits,
        whose: Whose::Server,
    }),
};
