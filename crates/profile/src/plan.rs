//! What a recording is asked for.

use sysdyno_record::profile::ProfileKind;

/// What is to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfilePlan {
    /// CPU time or waits.
    pub kind: ProfileKind,
    /// Samples of each CPU. Unit: per second. Off-CPU, every switch is recorded.
    pub rate_hz: u32,
    /// Processes that were asked for; empty: the whole host.
    pub scope_pids: Vec<u32>,
    /// These and their descendants as they are now; what they start is added.
    pub tree_pids: Vec<u32>,
}
