//! Lines of comparisons while they last: which side or variant each load is of, and what has come of it so far.

use serde::Serialize;
use sysdyno_record::change::SettingChange;
use sysdyno_record::effect::{Better, ComparisonVerdict, Effect};
use sysdyno_record::experiment::{ExperimentPlan, ExperimentVariant};
use sysdyno_record::manifest::{ClockPair, RunStatus};
use sysdyno_record::tryout::{ChangeShown, Metric, StageKind, TrialArm, TryConclusion, TryPlan, Variant};
use sysdyno_record::units::MonoNs;

/// What a tryout compares.
#[derive(Clone, Debug, Serialize)]
pub struct TryBegins<'a> {
    /// The metric that decides.
    pub metric: Metric,
    /// Its unit.
    pub unit: &'static str,
    /// Which way it gets better.
    pub better: Better,
    /// The smallest effect that matters: a ratio of A, or a difference.
    pub effect_ratio: f64,
    /// What is compared; the first is A.
    pub variants: &'a [Variant],
    /// Seed of the order of trials and of their loads.
    pub seed: u64,
}

impl<'a> TryBegins<'a> {
    /// That of this plan.
    pub fn of(plan: &'a TryPlan) -> TryBegins<'a> {
        TryBegins {
            metric: plan.metric,
            unit: plan.metric.unit(),
            better: plan.metric.better(),
            effect_ratio: plan.effect_ratio,
            variants: &plan.variants,
            seed: plan.seed,
        }
    }
}

/// A comparison of two variants begins.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StageBegins<'a> {
    /// Its number, from 1.
    pub stage: u32,
    /// What it is for.
    pub kind: StageKind,
    /// Name of the variant that is A in it.
    pub a: &'a str,
    /// Name of the variant that is B in it.
    pub b: &'a str,
}

/// A trial of one side begins: its settings are changed after this line, and its loads follow.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SideBegins<'a> {
    /// Its number in the tryout, from 1.
    pub trial: u32,
    /// The comparison.
    pub stage: u32,
    /// Number of its pair in the comparison, from 1.
    pub pair: u32,
    /// Which side.
    pub arm: TrialArm,
    /// Position of its variant.
    pub variant: u32,
    /// Name of its variant.
    pub name: &'a str,
    /// When.
    pub mono_ns: MonoNs,
}

/// A comparison so far, after a pair.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StandingLine<'a> {
    /// The comparison.
    pub stage: u32,
    /// Pairs that count.
    pub counted: u32,
    /// Pairs that were dropped.
    pub dropped: u32,
    /// The effect so far; `None`: too few pairs.
    pub effect: Option<&'a Effect>,
    /// The same in a sentence.
    pub sentence: &'a str,
}

/// The result of a tryout.
#[derive(Clone, Debug, Serialize)]
pub struct TryConcluded<'a> {
    /// The word on B against A.
    pub verdict: &'a ComparisonVerdict,
    /// The result in one sentence.
    pub headline: &'a str,
    /// The effect; `None`: too few pairs.
    pub effect: Option<&'a Effect>,
    /// Whether B is better, and every guardrail held.
    pub is_proven: bool,
    /// Whether the change stays.
    pub is_kept: bool,
    /// What was changed in B.
    pub changes: &'a [ChangeShown],
}

impl<'a> TryConcluded<'a> {
    /// That of this conclusion.
    pub fn of(conclusion: &'a TryConclusion) -> TryConcluded<'a> {
        TryConcluded {
            verdict: &conclusion.verdict,
            headline: &conclusion.headline,
            effect: conclusion.effect.as_ref(),
            is_proven: conclusion.is_proven,
            is_kept: conclusion.is_kept,
            changes: &conclusion.changes,
        }
    }
}

/// The first line of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct ExperimentBegins<'a> {
    /// Always [`super::SCHEMA`].
    pub schema: &'static str,
    /// Path of its folder. Untrusted.
    pub folder: String,
    /// Its name. Untrusted.
    pub name: &'a str,
    /// What is compared; the others are seen from the first.
    pub variants: Vec<VariantLine<'a>>,
    /// How often every variant is measured; the most, if it is measured only until it is decided.
    pub blocks: u32,
    /// Trials that are still to be made.
    pub trials_count: u64,
    /// Both clocks, read together.
    pub clock: ClockPair,
}

/// A variant of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct VariantLine<'a> {
    /// Its name. Untrusted.
    pub name: &'a str,
    /// Factor and level; empty where it stands for itself.
    pub levels: &'a [[String; 2]],
    /// Settings of the host during its trials.
    pub settings: &'a [SettingChange],
}

impl<'a> VariantLine<'a> {
    /// Those of this plan.
    pub fn all(plan: &'a ExperimentPlan) -> Vec<VariantLine<'a>> {
        let line = |variant: &'a ExperimentVariant| VariantLine {
            name: &variant.name,
            levels: &variant.levels,
            settings: &variant.settings,
        };
        plan.variants.iter().map(line).collect()
    }
}

/// A trial of an experiment begins; the lines of its run follow.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ExperimentTrialBegins<'a> {
    /// Its number in the experiment, from 1.
    pub trial: u32,
    /// Its block, from 0.
    pub block: u32,
    /// Position of its variant.
    pub variant: u32,
    /// Name of its variant. Untrusted.
    pub name: &'a str,
    /// When.
    pub mono_ns: MonoNs,
}

/// The last line of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct ExperimentEnds<'a> {
    /// Path of its folder. Untrusted.
    pub folder: String,
    /// How far it got.
    pub status: RunStatus,
    /// Why it did not get further; `None`: it did.
    pub reason: Option<&'a str>,
    /// The result in one sentence; `None`: there is nothing to compare.
    pub headline: Option<&'a str>,
    /// When.
    pub end_mono_ns: MonoNs,
    /// Lines that were left out, all in all.
    pub dropped_count: u64,
}
