//! What a recording is asked for.

use sysdyno_record::profile::{ProfileKind, SampledEvent};

/// What is to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfilePlan {
    /// CPU time or waits.
    pub kind: ProfileKind,
    /// When code is sampled; `None`: by cycles, or by `cpu-clock` on a machine that does not count those. Off-CPU, it has no meaning.
    pub event: Option<SampledEvent>,
    /// Samples of each CPU. Unit: per second. Off-CPU, every switch is recorded.
    pub rate_hz: u32,
    /// Processes that were asked for; empty: the whole host.
    pub scope_pids: Vec<u32>,
    /// These and their descendants as they are now; what they start is added.
    pub tree_pids: Vec<u32>,
}
