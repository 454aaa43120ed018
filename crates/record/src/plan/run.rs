//! The plan of a search for the capacity.

use super::load::LoadPlan;
use super::objective::Objective;
use crate::allowance::Allowance;
use crate::units::SpanNs;
use crate::workload::NeedPlan;
use serde::{Deserialize, Serialize};

/// The plan of a whole `run`: how capacity is looked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// What is common to all trials; its phases are those of one trial at an unspecified rate.
    pub load: LoadPlan,
    /// What a rate must meet to count as carried.
    pub objective: Objective,
    /// How the search goes.
    pub search: SearchPlan,
    /// Processes to watch besides the generator; empty means those that own the target's listening socket.
    pub watch_pids: Vec<u32>,
    /// Samples of the kernel per second.
    pub sampling_hz: f64,
    /// Seed of the search's random orders; each trial's own seed is derived from it.
    pub seed: u64,
    /// Checks of the result, as typed (`p99>20ms`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<String>,
    /// Real traffic that the capacity is held against; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<Box<NeedPlan>>,
    /// How the findings are tried afterwards; `None`: they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prove: Option<ProvePlan>,
}

/// How findings are tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProvePlan {
    /// How long all of it may take.
    pub budget: SpanNs,
    /// What may be touched.
    pub allow: Vec<Allowance>,
    /// Whether trials that others disturbed count, at the price of a wider interval.
    pub is_noisy: bool,
}

/// How capacity is looked for: the procedure and its budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchPlan {
    /// The curve that is measured.
    pub method: SearchMethod,
    /// Length of a probing window (pilot and bracket).
    pub probe: SpanNs,
    /// Length of a measured window (grid and certification).
    pub window: SpanNs,
    /// Warm-up before each window.
    pub warmup: SpanNs,
    /// Rates in the replicated grid.
    pub grid_rates: u32,
    /// Trials at each rate of the grid.
    pub grid_replicates: u32,
    /// Fresh passes at the certified rate; 0 leaves certification out.
    pub certify_passes: u32,
    /// No rate above this is tried; `None` for no ceiling. Unit: requests per second.
    pub max_rate_hz: Option<f64>,
    /// No trial is begun that could end later than this after the begin of the first; `None`: the search takes the time that
    /// it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<SpanNs>,
}

/// The curve that is measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMethod {
    /// Open loop: the highest offered rate that meets the objective.
    OfferedRate,
    /// Closed loop: completions against these numbers of connections.
    Connections(Vec<u32>),
}
