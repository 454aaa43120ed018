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
