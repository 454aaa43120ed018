//! The lines of `experiment.jsonl`: what the pilot settled, each trial, each pair.

use super::Metric;
use crate::squeeze::{SqueezeBite, SqueezedResources};
use crate::units::{MonoNs, SpanNs};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TryLine {
    /// What a squeeze found to squeeze, before everything else.
    Resources(Box<SqueezedResources>),
    /// Before the first trial that counts.
    Settled(Settled),
    /// A comparison begins.
    Stage(Stage),
    /// A trial is over.
    Trial(Box<TryTrial>),
    /// A pair is complete.
    Pair(Pair),
}

/// What the pilot settled, for all trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// SHA-256 of `plan.json` as it was written, in lower-case hexadecimal.
    pub plan_sha256: String,
    /// Offered rate of each trial; `None`: closed, or a command. Unit: requests per second.
    pub rate_hz: Option<f64>,
    /// What the pilot's closed loop completed; `None`: there was no pilot. Unit: requests per second.
    pub pilot_hz: Option<f64>,
    /// Warm-up of each trial.
    pub warmup: SpanNs,
    /// Measured window of each trial; 0 for commands.
    pub window: SpanNs,
    /// How long a trial takes with all around it.
    pub trial: SpanNs,
}

/// One comparison of two variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// Number, from 1.
    pub stage: u32,
    /// What it is for.
    pub kind: StageKind,
    /// Variant that is A in it, as an index.
    pub a: u32,
    /// Variant that is B in it, as an index.
    pub b: u32,
}

/// What a comparison is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageKind {
    /// The only one, or the one that the verdict is of: on trials that nothing was chosen by.
    Proof,
    /// One change alone, to choose by; its effect is optimistic and proves nothing.
    Alone,
    /// All changes together, to choose by.
    Combined,
    /// The chosen changes against the same without one of them.
    Ablation,
    /// A resource with a part of it taken away, against the same with all of it.
    Squeeze,
}

/// Which of the two a trial is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialArm {
    /// As it was.
    A,
    /// With the change.
    B,
}

/// A trial of a tryout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TryTrial {
    /// Number in the tryout, from 1, in the order in which they ran.
    pub trial: u32,
    /// The comparison that it belongs to.
    pub stage: u32,
    /// Number of the pair in its stage, from 1; two trials have the same.
    pub pair: u32,
    /// Which of the two.
    pub arm: TrialArm,
    /// Its variant, as an index into the plan's.
    pub variant: u32,
    /// When it began.
    pub begin_mono_ns: MonoNs,
    /// When it was over.
    pub end_mono_ns: MonoNs,
    /// Its trials in `trials.jsonl`; empty for a command.
    pub load_trials: Vec<u32>,
    /// Its numbers; what could not be measured is left out.
    pub values: BTreeMap<Metric, f64>,
    /// Metrics whose value is only a lower bound, because requests timed out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lower_bounds: Vec<Metric>,
    /// What was around it.
    pub environment: Environment,
    /// Settings as they were read back before it began.
    pub read_back: Vec<ReadBack>,
    /// How far a squeeze bit while it lasted; empty: nothing was squeezed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bites: Vec<SqueezeBite>,
    /// Why it has no value, or was cut off; `None`: it ran to its end.
    pub failure: Option<String>,
}

/// What was around a trial, in its window: nothing that the variant can have caused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Time that the hypervisor took, of all CPU time; `None`: not known, here and below.
    pub steal_ratio: Option<f64>,
    /// CPU time of others than target, generator and the network's own work, of all CPU time.
    pub foreign_ratio: Option<f64>,
    /// Steps of the wall clock against the monotonic one. Unit: nanoseconds.
    pub clock_step_ns: Option<i64>,
    /// Lateness of the generator that is its own, 99th percentile. Unit: nanoseconds.
    pub generator_lag_ns: Option<u64>,
    /// Share of one CPU that the busiest generator thread used.
    pub generator_ratio: Option<f64>,
    /// Why the trial cannot be compared, of the environment's making; empty: nothing speaks against it.
    pub invalid: Vec<String>,
    /// What may have touched it without being reason enough.
    pub warnings: Vec<String>,
}

/// A setting as it was read back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBack {
    /// The setting.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// Two neighboring trials, one of each arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The comparison.
    pub stage: u32,
    /// Number in its stage, from 1.
    pub pair: u32,
    /// The trial of A.
    pub a_trial: u32,
    /// The trial of B.
    pub b_trial: u32,
    /// Which ran first.
    pub first: TrialArm,
    /// When the second one was over.
    pub end_mono_ns: MonoNs,
    /// The primary metric of A; `None`: it could not be measured.
    pub a: Option<f64>,
    /// The primary metric of B, likewise.
    pub b: Option<f64>,
    /// Its difference on the metric's scale, signed so that positive is an improvement: ±ln(B ÷ A), or ±(B − A). `None`:
    /// one of the two is missing.
    pub improvement: Option<f64>,
    /// Why it does not count, always of the environment's making; `None`: it counts.
    pub dropped: Option<String>,
}
