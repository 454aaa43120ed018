//! What is probed: each target with its name, and all targets of a probe that runs alone.

use super::ProbePlan;
use crate::plan::Target;
use serde::{Deserialize, Serialize};

/// A target of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbedTarget {
    /// What lines and tables call it. Untrusted.
    pub name: String,
    /// Where its operations go.
    pub target: Target,
    /// What an operation is, and when they are sent.
    #[serde(flatten)]
    pub plan: ProbePlan,
}

/// What `sysdyno probe` will do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbesPlan {
    /// The targets; replies number them from 0 in this order.
    pub targets: Vec<ProbedTarget>,
    /// Most operations of each target; `None`: until it is stopped.
    pub count: Option<u64>,
    /// What makes its echo requests its own.
    pub seed: u64,
}
