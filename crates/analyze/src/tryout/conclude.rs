//! The conclusion of a tryout.

use super::course::Course;
use super::diagnose::{DiagnosedStage, diagnose};
use super::effect::{effect_of, verdict_of};
use super::guardrail;
use super::sentence::{HeadlineFacts, headline};
use sysdyno_record::effect::{ComparisonVerdict, Effect, EffectScale};
use sysdyno_record::tryout::{
    CONCLUSION_SCHEMA, Calibration, ChangeShown, GuardrailOutcome, GuardrailState, Pair, Resolution, Settled,
    Stage, StageConclusion, StageKind, StopCause, TryConclusion, TryLine, TryPlan, Variant,
};
use sysdyno_record::units::SpanNs;
use sysdyno_stats::descriptive::{median, standard_deviation};
use sysdyno_stats::sample_size::{pairs_to_end, power};
use sysdyno_stats::verdict::{Comparison, log_margin};

/// Power at which an effect counts as seen.
const POWER: f64 = 0.80;
/// Two-sided level of that.
const ALPHA: f64 = 0.05;
/// Pairs of a block.
const BLOCK_PAIRS: usize = 2;
/// Most looks that are kept of a comparison. House value.
const LOOKS_MAX: usize = 64;

/// What the conclusion says besides what follows from plan and trials.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// What B changes.
    pub changes: Vec<ChangeShown>,
    /// Whether it was kept.
    pub is_kept: bool,
    /// The last comparison of this host and workload with itself.
    pub calibration: Option<Calibration>,
    /// How long it took. Unit: nanoseconds.
    pub elapsed_ns: u64,
}

impl Course {
    /// A tryout followed again from its lines, as far as they go; `None`: nothing was settled.
    pub fn follow(plan: &TryPlan, lines: &[TryLine]) -> Option<Course> {
        let settled = lines.iter().find_map(|line| match line {
            TryLine::Settled(settled) => Some(settled),
            _ => None,
        })?;
        let mut course = Course::new(plan, settled);
        for line in lines {
            if let TryLine::Trial(trial) = line {
                course.next(SpanNs(0));
                course.record((**trial).clone());
            }
        }
        course.next(SpanNs(0));
        course.interrupt();
        Some(course)
    }
}

/// Draws every conclusion that a course supports.
pub fn conclude(plan: &TryPlan, settled: &Settled, course: &Course, around: Around) -> TryConclusion {
    let stages: Vec<StageConclusion> =
        course.stages().map(|(stage, stop)| stage_conclusion(plan, course, stage, stop)).collect();
    let proof = stages.iter().find(|stage| stage.stage.kind == StageKind::Proof);
    let number = proof.map_or(0, |proof| proof.stage.stage);
    let none = || ComparisonVerdict::cannot_tell("it was stopped before the final comparison");
    let mut verdict = proof.map_or_else(none, |proof| proof.verdict.clone());
    let improvements = course.improvements(number);
    let (diagnostics, capped) = diagnose(&DiagnosedStage {
        plan,
        course,
        stage: number,
        calibration: around.calibration.as_ref(),
        is_outlier_sensitive: verdict.is_outlier_sensitive,
        word: verdict.word,
    });
    if !capped.is_empty() {
        verdict =
            ComparisonVerdict { capped_by: capped, qualifier: None, word: Comparison::CannotTell, ..verdict };
    }
    let counted: Vec<&Pair> = course.counted(number).collect();
    let guardrails: Vec<GuardrailOutcome> =
        plan.guardrails.iter().map(|plan| guardrail::judge(plan, &counted, course.trials())).collect();
    let middle = |of: fn(&Pair) -> Option<f64>| {
        median(&counted.iter().filter_map(|pair| of(pair)).collect::<Vec<_>>())
    };
    let (a_median, b_median) = (middle(|pair| pair.a), middle(|pair| pair.b));
    let resolution = resolution(plan, settled, &improvements, around.elapsed_ns);
    let effect = effect_of(plan.metric, &improvements);
    let told = HeadlineFacts {
        metric: plan.metric,
        effect_ratio: plan.effect_ratio,
        verdict: &verdict,
        effect: effect.as_ref(),
        medians: a_median.zip(b_median).map(|(a, b)| [a, b]),
        pairs: improvements.len(),
        resolution: resolution.as_ref(),
        is_calibration: plan.is_calibration,
    };
    let holds =
        |outcome: &GuardrailOutcome| matches!(outcome.state, GuardrailState::Held | GuardrailState::Unknown);
    TryConclusion {
        schema: CONCLUSION_SCHEMA.into(),
        headline: headline(&told),
        is_proven: verdict.word == Comparison::Better && guardrails.iter().all(holds),
        metric: plan.metric,
        better: plan.metric.better(),
        effect_ratio: plan.effect_ratio,
        effect,
        a_median,
        b_median,
        guardrails,
        stages,
        pairs: course.pairs().to_vec(),
        changes: around.changes,
        is_kept: around.is_kept,
        diagnostics,
        resolution,
        calibration: around.calibration,
        elapsed_ns: around.elapsed_ns,
        verdict,
    }
}

fn stage_conclusion(
    plan: &TryPlan,
    course: &Course,
    stage: Stage,
    stop: Option<StopCause>,
) -> StageConclusion {
    let improvements = course.improvements(stage.stage);
    let verdict = match (stage.kind, stop) {
        (_, None | Some(StopCause::Interrupted)) => ComparisonVerdict::cannot_tell("it was interrupted"),
        (StageKind::Alone | StageKind::Combined, _) => {
            ComparisonVerdict::cannot_tell("measured only to pick a candidate; proves nothing")
        }
        (_, Some(StopCause::NoValue)) => ComparisonVerdict::cannot_tell(
            "no trial produced a number to \
                                                                         compare",
        ),
        _ => verdict_of(&improvements, plan.effect_ratio, plan.pairs.min_count),
    };
    StageConclusion {
        stage,
        title: title(plan, stage),
        verdict,
        effect: effect_of(plan.metric, &improvements),
        counted: improvements.len() as u32,
        dropped: course.pairs_of(stage.stage).filter(|pair| pair.dropped.is_some()).count() as u32,
        stop,
        looks: looks(plan, course, stage.stage),
    }
}

/// The effect after each block, at most [`LOOKS_MAX`] times and always after the last one.
fn looks(plan: &TryPlan, course: &Course, stage: u32) -> Vec<Effect> {
    let pairs: Vec<&Pair> = course.pairs_of(stage).collect();
    let blocks = pairs.chunks(BLOCK_PAIRS);
    let (last, every) = (blocks.len().saturating_sub(1), blocks.len().div_ceil(LOOKS_MAX).max(1));
    let mut improvements = Vec::new();
    let mut looks = Vec::new();
    for (number, block) in blocks.enumerate() {
        let counted = block.iter().filter(|pair| pair.dropped.is_none());
        improvements.extend(counted.filter_map(|pair| pair.improvement));
        if (last - number).is_multiple_of(every) {
            looks.extend(effect_of(plan.metric, &improvements));
        }
    }
    looks
}

/// A comparison in words.
fn title(plan: &TryPlan, stage: Stage) -> String {
    let name =
        |index: u32| plan.variants.get(index as usize).map_or("?", |variant: &Variant| variant.name.as_str());
    format!("{} against {}", name(stage.b), name(stage.a))
}

/// What the trials so far can see; `None`: too few of them, or a metric without ratios.
fn resolution(
    plan: &TryPlan,
    settled: &Settled,
    improvements: &[f64],
    elapsed_ns: u64,
) -> Option<Resolution> {
    let deviation = standard_deviation(improvements).filter(|deviation| *deviation > 0.0)?;
    let margin = log_margin(plan.effect_ratio)?;
    let pairs = improvements.len() as u64;
    let shift = detectable(deviation, pairs)?;
    let pairs_needed = pairs_to_end(deviation / margin, ALPHA).and_then(|pairs| u32::try_from(pairs).ok());
    let more = |needed: u32| 2 * settled.trial.0 * u64::from(needed).saturating_sub(pairs);
    Some(Resolution {
        pair_deviation: deviation,
        detectable_ratio: if plan.metric.scale() == EffectScale::Ratio { shift.exp_m1() } else { shift },
        pairs_needed,
        needed_ns: pairs_needed.map(|needed| elapsed_ns.saturating_add(more(needed))),
    })
}

/// The shift that so many pairs of this deviation see with a power of 80 %.
fn detectable(deviation: f64, pairs: u64) -> Option<f64> {
    let is_seen = |shift: f64| Some(power(pairs, deviation / shift, ALPHA)? >= POWER);
    // A power of 80 % needs between a hundredth of the deviation and a hundred of it, from two pairs on.
    let (mut low, mut high) = (deviation / 100.0, deviation * 100.0);
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if is_seen(middle)? { high = middle } else { low = middle }
    }
    Some(high)
}
