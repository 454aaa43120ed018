//! What is tuned, how far, and what may be touched.

use crate::experiment::ExperimentPlan;
use crate::named::named;
use crate::units::SpanNs;
use serde::{Deserialize, Serialize};

/// Schema of the plan.
pub const AUTOTUNE_SCHEMA: &str = "sysdyno.autotune/1";

/// What is tuned, before it begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutotunePlan {
    /// [`AUTOTUNE_SCHEMA`].
    pub schema: String,
    /// The server as it is: one variant, with what a trial of it is. Every step is this with other variants.
    pub base: ExperimentPlan,
    /// What may be touched.
    pub allow: Vec<Allowance>,
    /// No step is begun that would end later, apart from the comparison at the end.
    pub budget: SpanNs,
    /// Most rounds of suggestions.
    pub rounds: u32,
    /// Most candidates of a round.
    pub candidates: u32,
    /// Most blocks in which candidates are compared with each other.
    pub race_blocks: u32,
    /// Most blocks in which the best of them is measured once more, and the end against the beginning.
    pub proof_blocks: u32,
    /// The smallest effect that is worth keeping a change for. Unit: ratio.
    pub effect_ratio: f64,
    /// Whether what was kept stays in force at the end.
    pub keeps: bool,
}

named! {
    /// Something that may be touched.
    Allowance {
        /// Settings of the kernel, which are undone at once.
        Kernel "kernel";
        /// Configuration files of services.
        ServiceConfig "service-config";
        /// Services read their files again while they run.
        ServiceReload "service-reload";
        /// Services are stopped and started.
        Restart "restart";
        /// What was confirmed may be lost in a power cut.
        Durability "durability";
        /// One response may be served to several users.
        SharedCache "shared-cache";
    }
}

impl Allowance {
    /// What is allowed unless something else is said: nothing that stops a service or gives anything up.
    pub const DEFAULT: [Allowance; 3] =
        [Allowance::Kernel, Allowance::ServiceConfig, Allowance::ServiceReload];

    /// What is given up where this is made use of; `None`: nothing.
    pub fn given_up(self) -> Option<&'static str> {
        match self {
            Allowance::Durability => Some("a power cut can lose what was confirmed in the last second"),
            Allowance::SharedCache => Some("one response is served to several users for a while"),
            Allowance::Kernel | Allowance::ServiceConfig | Allowance::ServiceReload | Allowance::Restart => {
                None
            }
        }
    }
}
