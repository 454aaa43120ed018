//! What the targets of a probe have to tell together: a summary of each, and the windows in which probes were lost.

use super::ProbeSummary;
use crate::named::named;
use crate::units::MonoNs;
use serde::{Deserialize, Serialize};

/// The schema of `probe.json`.
pub const PROBE_SCHEMA: &str = "sysdyno.probe/1";

/// The conclusion about all targets of a probe; the content of `probe.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeConclusion {
    /// [`PROBE_SCHEMA`].
    pub schema: String,
    /// Who lost how many, in one sentence.
    pub headline: String,
    /// One per target, in the order of the plan.
    pub targets: Vec<ProbedSummary>,
    /// Windows in which probes of some target were lost, in order of time; the first ones, if there are too many.
    pub windows: Vec<LossWindow>,
    /// How many windows there were.
    pub windows_count: u64,
}

/// The numbers of one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbedSummary {
    /// Its name in the plan. Untrusted.
    pub name: String,
    /// Where its operations went. Untrusted.
    pub url: String,
    /// Its numbers.
    #[serde(flatten)]
    pub summary: ProbeSummary,
    /// Windows in which it lost probes.
    pub windows_count: u64,
}

/// A span of time in which probes were lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LossWindow {
    /// Intended send of the first lost probe.
    pub begin_mono_ns: MonoNs,
    /// Intended send of the probe after the last lost one, of the same target.
    pub end_mono_ns: MonoNs,
    /// What each target saw, in the order of the plan.
    pub targets: Vec<WindowShare>,
}

/// What a target saw of a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowShare {
    /// Its probes in the window that ended: lost or received.
    pub sent_count: u64,
    /// Those of them that were lost.
    pub lost_count: u64,
    /// What follows from that.
    pub sight: WindowSight,
}

named! {
    /// Whether a target saw a window of loss.
    WindowSight {
        /// It lost probes.
        Lost "lost";
        /// It lost none. If it had lost as large a share as the worst target, that would be unlikely (below 5%).
        Clear "clear";
        /// It lost none, but sent too few for that to mean anything.
        TooFew "too_few";
    }
}

impl LossWindow {
    /// How long it lasted. Unit: nanoseconds.
    pub fn span_ns(&self) -> u64 {
        self.end_mono_ns.since(self.begin_mono_ns)
    }
}
