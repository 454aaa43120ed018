//! Several changes: each alone, then all together, then the winner proved on fresh trials, then the winner without each
//! change.
//!
//! With one change there is nothing to choose and the proof is the only stage. What the choice was made by is optimistic
//! (the greatest of several noisy effects is noisy upwards), so only the proof's trials count for the verdict.

use sysdyno_record::change::SettingChange;
use sysdyno_record::squeeze::Contrast;
use sysdyno_record::tryout::{Action, PairCaps, Stage, StageKind, TryPlan, Variant};

/// Pairs of a stage that only helps to choose: two blocks.
const CHOOSING_PAIRS: u32 = 4;

/// Most pairs of an ablation.
const ABLATION_PAIRS: u32 = 16;

/// The variants of a plan that changes settings: A, each change alone, all, and all but each.
pub fn variants_of(changes: &[SettingChange]) -> Vec<Variant> {
    let variant =
        |name: String, changes: Vec<SettingChange>| Variant { name, action: Action::Settings(changes) };
    let mut variants = vec![Variant { name: "A".into(), action: Action::AsItIs }];
    if let [one] = changes {
        variants.push(variant("B".into(), vec![one.clone()]));
        return variants;
    }
    for (number, change) in (1..).zip(changes) {
        variants.push(variant(format!("B{number}"), vec![change.clone()]));
    }
    variants.push(variant("B".into(), changes.to_vec()));
    // Of two changes, all but one is the other alone.
    if changes.len() > 2 {
        for without in 0..changes.len() {
            let mut rest = changes.to_vec();
            rest.remove(without);
            variants.push(variant(format!("B-{}", without + 1), rest));
        }
    }
    variants
}

/// How many changes a plan chooses from; 1 where there is nothing to choose.
fn choices(plan: &TryPlan) -> u32 {
    plan.variants.iter().filter(|variant| is_single(variant)).count().max(1) as u32
}

fn is_single(variant: &Variant) -> bool {
    matches!(&variant.action, Action::Settings(changes) if changes.len() == 1)
}

/// What a finished stage says for the choice of the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finished {
    pub(super) stage: Stage,
    /// Estimated improvement; `None`: nothing was measured.
    pub(super) improvement: Option<f64>,
    /// Whether it is better.
    pub(super) is_better: bool,
    /// Whether the 95% interval of the improvement lies on one side of 0.
    pub(super) is_clear: bool,
}

/// The stage after those that are finished; `None`: there is none.
pub(super) fn next_stage(plan: &TryPlan, finished: &[Finished]) -> Option<Stage> {
    let number = finished.len() as u32 + 1;
    let stage = |kind, a, b| Some(Stage { stage: number, kind, a, b });
    if !plan.contrasts.is_empty() {
        let next = plan.contrasts.iter().find(|contrast| is_due(plan, contrast, finished))?;
        return stage(StageKind::Squeeze, next.a, next.b);
    }
    let changes = choices(plan);
    if changes == 1 {
        return if finished.is_empty() { stage(StageKind::Proof, 0, 1) } else { None };
    }
    if number <= changes {
        return stage(StageKind::Alone, 0, number);
    }
    let all = changes + 1;
    if number == all {
        return stage(StageKind::Combined, 0, all);
    }
    let proof = finished.iter().find(|finished| finished.stage.kind == StageKind::Proof);
    let Some(proof) = proof else { return stage(StageKind::Proof, 0, chosen(finished)?) };
    if proof.stage.b != all || !proof.is_better {
        return None;
    }
    // All without one against all: what the one adds.
    let without = number - all - 1;
    (1..=changes).contains(&without).then_some(())?;
    let rest = if changes == 2 { 3 - without } else { all + without };
    stage(StageKind::Ablation, rest, all)
}

/// Whether a comparison of a squeeze is still to be made: nobody made it, and what it depends on showed an effect.
fn is_due(plan: &TryPlan, contrast: &Contrast, finished: &[Finished]) -> bool {
    let made = |contrast: &Contrast| finished.iter().find(|one| is_of(contrast, one.stage));
    let shown =
        |after: u32| plan.contrasts.get(after as usize).and_then(made).is_some_and(|one| one.is_clear);
    made(contrast).is_none() && contrast.after.is_none_or(shown)
}

/// Whether a stage is this comparison.
fn is_of(contrast: &Contrast, stage: Stage) -> bool {
    (contrast.a, contrast.b) == (stage.a, stage.b)
}

/// The smallest effect that matters in a stage.
pub(super) fn effect_ratio(plan: &TryPlan, stage: Stage) -> f64 {
    let contrast = plan.contrasts.iter().find(|contrast| is_of(contrast, stage));
    contrast.map_or(plan.effect_ratio, |contrast| contrast.effect_ratio)
}

/// The variant with the greatest improvement; of equals the one with fewer changes.
fn chosen(finished: &[Finished]) -> Option<u32> {
    let known = finished.iter().filter_map(|finished| Some((finished.stage.b, finished.improvement?)));
    let best = known.reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.map(|(variant, _)| variant)
}

/// How many pairs a stage has.
pub(super) fn caps(plan: &TryPlan, kind: StageKind) -> PairCaps {
    let most = |max_count: u32| PairCaps {
        min_count: plan.pairs.min_count.min(max_count),
        max_count: max_count.min(plan.pairs.max_count),
    };
    match kind {
        StageKind::Proof | StageKind::Squeeze => plan.pairs,
        StageKind::Alone | StageKind::Combined => most(CHOOSING_PAIRS),
        StageKind::Ablation => most(ABLATION_PAIRS.max(plan.pairs.min_count)),
    }
}

/// Stages that come at most, and the fewest pairs of each in order.
pub(super) fn expected_pairs(plan: &TryPlan) -> Vec<PairCaps> {
    if !plan.contrasts.is_empty() {
        return vec![plan.pairs; plan.contrasts.len()];
    }
    let changes = choices(plan) as usize;
    let choosing = if changes == 1 { 0 } else { changes + 1 };
    let kinds = std::iter::repeat_n(StageKind::Alone, choosing).chain([StageKind::Proof]);
    let ablation = if changes == 1 { 0 } else { changes };
    kinds.chain(std::iter::repeat_n(StageKind::Ablation, ablation)).map(|kind| caps(plan, kind)).collect()
}
