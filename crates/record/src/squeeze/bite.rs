//! The proof that a squeeze bit: counters that only move where something was taken away.

use crate::named::named;
use serde::{Deserialize, Serialize};

named! {
    /// A counter that moves while a squeeze bites.
    BiteCounter {
        /// Periods in which the quota of a group was used up, of those in which it had work. Unit: count. Source: `cpu.stat:
        /// nr_throttled`, `nr_periods`.
        ThrottledPeriods "throttled_periods";
        /// CPU time that was burnt, of that which should have been. Unit: seconds. Source: the burner's own CPU clock.
        BurntCpu "burnt_cpu";
        /// What is missing to as many requests on their way as the planned connections can have, when there were most of them, of
        /// what was taken away. Unit: count. Source: the intervals of the load.
        FewerInFlight "fewer_in_flight";
        /// Packets that had to wait for the rate of their link, of all that it carried. Unit: count. Source: `RTM_GETQDISC`,
        /// overlimits of the root; packets that the interface sent.
        HeldBack "held_back";
        /// Requests or bytes of a disk, whichever came nearest to its limit, of those that were left to it. Unit: count or bytes.
        /// Source: `/proc/diskstats`.
        DiskUsed "disk_used";
    }
}

/// How far a counter moved while a trial lasted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SqueezeBite {
    /// Which one.
    pub counter: BiteCounter,
    /// By how much. Unit: the counter's.
    pub moved: f64,
    /// Of how much. Unit: the counter's.
    pub of: f64,
}
