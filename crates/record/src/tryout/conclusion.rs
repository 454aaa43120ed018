//! The result of a tryout, as in `experiment.json`. It follows from the plan and the lines alone.

use super::{Metric, Pair, Stage};
use crate::effect::{Better, ComparisonVerdict, Effect};
use serde::{Deserialize, Serialize};

/// Schema of the conclusion.
pub const CONCLUSION_SCHEMA: &str = "sysdyno.experiment/1";

/// The result of a tryout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TryConclusion {
    /// [`CONCLUSION_SCHEMA`].
    pub schema: String,
    /// The result in one sentence, as terminal and report print it first.
    pub headline: String,
    /// The word on B against A.
    pub verdict: ComparisonVerdict,
    /// The primary metric.
    pub metric: Metric,
    /// Which way it gets better.
    pub better: Better,
    /// The smallest effect that matters: a ratio of A, or a difference.
    pub effect_ratio: f64,
    /// The effect on the primary metric; `None`: there are too few pairs for an interval.
    pub effect: Option<Effect>,
    /// Median of the primary metric over the counted trials of A; `None`: none was measured. Unit: the metric's.
    pub a_median: Option<f64>,
    /// The same of B.
    pub b_median: Option<f64>,
    /// What must not get worse.
    pub guardrails: Vec<GuardrailOutcome>,
    /// Whether B is better and no guardrail speaks against it: what `--keep` asks.
    pub is_proven: bool,
    /// The comparisons, in the order in which they ran; the verdict is of the one whose kind is proof.
    pub stages: Vec<StageConclusion>,
    /// All pairs in the order of time, dropped ones too.
    pub pairs: Vec<Pair>,
    /// What was changed in B, and how to undo and keep it; empty for commands and URLs.
    pub changes: Vec<ChangeShown>,
    /// Whether the change was kept.
    pub is_kept: bool,
    /// Signs of trouble with the method, and that there are none.
    pub diagnostics: Vec<Diagnostic>,
    /// What this tryout could have seen, and what more would take.
    pub resolution: Option<Resolution>,
    /// The last comparison of this host and workload with itself; `None`: there is none.
    pub calibration: Option<Calibration>,
    /// How long it took. Unit: nanoseconds.
    pub elapsed_ns: u64,
}

/// One comparison of two variants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageConclusion {
    /// Which one.
    pub stage: Stage,
    /// Names of its variants, in words.
    pub title: String,
    /// The word on its B.
    pub verdict: ComparisonVerdict,
    /// The effect; `None`: too few pairs.
    pub effect: Option<Effect>,
    /// Pairs that count.
    pub counted: u32,
    /// Pairs that were dropped.
    pub dropped: u32,
    /// Why it ended; `None`: it did not come to its end.
    pub stop: Option<StopCause>,
    /// The effect after each block of trials from the first interval on: how it closed in. Where there were many blocks
    /// some are left out, the last one never.
    #[serde(default)]
    pub looks: Vec<Effect>,
}

/// Why no more pairs were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// The 95% interval is narrower than the smallest effect that matters.
    Narrow,
    /// The whole 99% interval is beyond it.
    Decided,
    /// As many pairs as were allowed.
    Pairs,
    /// The time was up.
    Budget,
    /// Too many pairs were dropped, or mostly of one arm.
    Environment,
    /// Trials gave no number to compare.
    NoValue,
    /// Interrupted.
    Interrupted,
}

/// What became of a guardrail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuardrailOutcome {
    /// The metric.
    pub metric: Metric,
    /// By how much it may get worse: a ratio of A, or a difference.
    pub margin: f64,
    /// Its effect, in its own direction; `None`: too few pairs have it.
    pub effect: Option<Effect>,
    /// Whether it did.
    pub state: GuardrailState,
    /// The same in a sentence.
    pub sentence: String,
}

/// Whether a guarded metric got worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardrailState {
    /// Not by its margin or more.
    Held,
    /// By its margin or more.
    Broken,
    /// The interval is too wide to say.
    Open,
    /// It was not measured.
    Unknown,
}

/// A setting that B changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeShown {
    /// The setting.
    pub key: String,
    /// What it was, and is again unless it was kept. Unit: the setting's.
    pub before: String,
    /// What B made of it.
    pub after: String,
    /// Lines of shell that undo it without this program.
    pub undo: Vec<String>,
    /// The command that keeps it across reboots; `None` if no file of sysdyno's can keep it.
    pub persist: Option<String>,
    /// What to know about it, in sentences.
    pub notes: Vec<String>,
}

/// The checks of whether the method held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Which one.
    pub kind: DiagnosticKind,
    /// Whether it speaks against the verdict.
    pub is_warning: bool,
    /// What was found, in a sentence.
    pub sentence: String,
}

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosticKind {
    /// Whether it mattered which of a pair ran first.
    Order,
    /// Whether the effect changed with time.
    Drift,
    /// Trials far worse than the rest of their arm, which the estimate looks past.
    Stalls,
    /// Pairs that were dropped, and of which arm.
    Dropped,
    /// How old the last comparison of this host with itself is.
    Calibration,
    /// Whether few trials decide the verdict.
    Outliers,
    /// Of a squeeze: whether what it is made with costs anything by itself.
    Placebo,
    /// Of a squeeze: whether the CPU of all tiers comes to that of the host.
    HostCpu,
    /// Trials whose value is only a lower bound.
    Bounds,
}

/// What a tryout can see.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// Standard deviation of the pairs' differences, on their scale.
    pub pair_deviation: f64,
    /// The least effect that would be seen with a power of 80%, as a ratio of A or a difference.
    pub detectable_ratio: f64,
    /// Pairs after which the verdict is definite; `None`: more than any plan allows.
    pub pairs_needed: Option<u32>,
    /// How long those would take in all. Unit: nanoseconds.
    pub needed_ns: Option<u64>,
}

/// An earlier comparison of a host and workload with itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The run that it is in.
    pub run: String,
    /// How old it was. Unit: seconds.
    pub age_s: u64,
    /// What it resolved, as a ratio.
    pub detectable_ratio: f64,
    /// How long it took. Unit: nanoseconds.
    pub elapsed_ns: u64,
    /// What it said; anything but "the same" or "can't tell" speaks against this host.
    pub verdict: ComparisonVerdict,
    /// Whether the host was booted since, or runs another kernel.
    pub is_of_earlier_boot: bool,
}
