//! Disks as the bottleneck, according to the device itself.
//!
//! A disk may be busy for a neighbor. So only readings of the server itself confirm it: where its threads wait, and the
//! time that its control group lost to I/O.

use super::memory::DISK_WAITS;
use super::neighbors::MOVED_LEAST;
use super::signs::{LimitSign, SignMeasure, Signs, Touch, Whose};
use super::{Examination, Place, Rule};
use crate::format::percent;
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::column;

/// That tasks of the server's control group waited for input or output.
pub(super) const OWN_IO_PRESSURE: LimitSign = LimitSign {
    quantity: column::CGROUP_PSI_IO,
    measure: SignMeasure::TimeRatio,
    least: Threshold::new(
        "share of time in which some task of the control group waited for a disk (PSI)",
        0.1,
        "ratio",
        HOUSE,
    ),
    say: |share, _| format!("some task of its group waited for a disk {} of the time", percent(share)),
};

/// D02.
pub(super) const FLUSHES: Rule = Rule {
    id: "D02",
    name: "flush-bound",
    meaning: "The disk spends its time on flushes: somebody waits for each write to be safe before the next one.",
    thresholds: &[MOVED_LEAST],
    place: Place::Server,
    needs: &[column::DISK_FLUSH],
    remedy: "commit several transactions with one fsync (group commit), flush less often where losing a second of data is \
             acceptable, or use a disk with a protected write cache",
    counterfactual: "with a tenth of the fsyncs the responses would take as long",
    examine: Examination::Signs(&Signs {
        title: "Flushes of a disk are the bottleneck",
        not: "Flushes take little of the disks' time",
        mechanism: &[LimitSign {
            quantity: column::DISK_FLUSH,
            measure: SignMeasure::TimeRatio,
            least: Threshold::new("share of time in which a disk was flushing", 0.5, "ratio", HOUSE),
            say: |share, disk| format!("{disk} was flushing {} of the time", percent(share.min(1.0))),
        }],
        given: &[],
        confirmers: &[DISK_WAITS, OWN_IO_PRESSURE],
        touch: Touch::Waits,
        whose: Whose::Host,
    }),
};

/// D09.
pub(super) const SATURATED: Rule = Rule {
    id: "D09",
    name: "disk-saturated",
    meaning: "A disk is busy all the time, and requests queue in front of it.",
    thresholds: &[MOVED_LEAST],
    place: Place::Server,
    needs: &[column::DISK_QUEUE],
    remedy: "read and write less (caches, fewer log lines, larger blocks), lift a limit on I/O, or use a faster disk or \
             volume class",
    counterfactual: "on a faster disk rate and tail would be the same",
    examine: Examination::Signs(&Signs {
        title: "A disk is saturated",
        not: "No disk is saturated",
        mechanism: &[LimitSign {
            quantity: column::DISK_QUEUE,
            measure: SignMeasure::TimeRatio,
            least: Threshold::new("requests in a disk's queue, on average", 4.0, "count", HOUSE),
            say: |count, disk| format!("{count:.1} requests at a time were in the queue of {disk}"),
        }],
        given: &[LimitSign {
            quantity: column::DISK_IO,
            measure: SignMeasure::TimeRatio,
            least: Threshold::new(
                "share of time in which a disk was busy",
                0.95,
                "ratio",
                "house value; netdata warns above 98%",
            ),
            say: |share, disk| format!("{disk} was busy {} of the time", percent(share.min(1.0))),
        }],
        confirmers: &[DISK_WAITS, OWN_IO_PRESSURE],
        touch: Touch::Waits,
        whose: Whose::Host,
    }),
};
