//! How often something is kept that does nothing, and something that helps is found: whole autotunes of simulated servers.
//!
//! Every trial varies by 3% by itself and the host drifts by as much from block to block, as on a shared machine.

use super::course::AutotuneCourse;
use super::tests::{plan, server};
use super::{ArmTrial, arms, arms_count};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sysdyno_record::analysis::Confidence;
use sysdyno_record::autotune::{
    Allowance, AutotuneLine, AutotunePlan, CandidateChange, StepBegan, StepEnded, StepKind,
};

/// What trials vary by: standard deviation of the logarithm.
const DEVIATION: f64 = 0.03;

/// The trials of a step on a server that does `speed` times as much with some changes.
fn trials(
    plan: &AutotunePlan,
    step: &StepBegan,
    speed: fn(&[CandidateChange]) -> f64,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<ArmTrial> {
    let experiment = super::step_plan(plan, step);
    let with = |candidate: &CandidateChange| [step.kept.as_slice(), std::slice::from_ref(candidate)].concat();
    let changes = |variant: usize| match (variant, step.kind) {
        (0, _) => step.kept.clone(),
        (_, StepKind::Outcome) => step.candidates.clone(),
        (_, StepKind::Ablation) => {
            let left_out = &step.candidates[variant - 1];
            step.kept.iter().filter(|kept| *kept != left_out).cloned().collect()
        }
        _ => with(&step.candidates[variant - 1]),
    };
    // The sum of twelve uniform numbers is as good as normal here, and has variance 1.
    let mut noise = || DEVIATION * ((0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0);
    let mut all = Vec::new();
    for block in 0..experiment.blocks {
        let drift = noise();
        for variant in 0..experiment.variants.len() {
            let value = 1000.0 * speed(&changes(variant)) * (drift + noise()).exp();
            all.push(ArmTrial { variant, block, value: Some(value), failed_ratio: 0.0 });
        }
    }
    all
}

/// Goes the whole way; what is kept at the end.
fn kept(seed: u64, speed: fn(&[CandidateChange]) -> f64) -> Vec<CandidateChange> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let plan = plan(&Allowance::DEFAULT);
    let seen = server(&[("F07", Confidence::Likely)]);
    let mut lines: Vec<AutotuneLine> = Vec::new();
    while let Some(step) = AutotuneCourse::follow(&plan, &lines).next(false) {
        let measured = trials(&plan, &step, speed, &mut random);
        let (baseline, arms) = arms(&measured, arms_count(&step), plan.effect_ratio);
        let ended = StepEnded { step: step.step, baseline, arms, seen: Some(seen.clone()), elapsed_ns: 1 };
        lines.push(AutotuneLine::Began(step));
        lines.push(AutotuneLine::Ended(Box::new(ended)));
    }
    AutotuneCourse::follow(&plan, &lines).kept
}

#[test]
fn of_a_hundred_servers_on_which_nothing_helps_at_most_five_are_changed() {
    let changed = (0..100).filter(|seed| !kept(*seed, |_| 1.0).is_empty()).count();
    assert!(changed <= 5, "{changed} of 100");
}

#[test]
fn what_helps_by_a_quarter_is_found_on_ninety_five_of_a_hundred_servers() {
    let speed = |changes: &[CandidateChange]| {
        if changes.iter().any(|change| change.remedy == "php-opcache") { 1.25 } else { 1.0 }
    };
    let is_found = |seed: &u64| kept(*seed, speed).iter().any(|change| change.remedy == "php-opcache");
    let found = (0..100).filter(is_found).count();
    assert!(found >= 95, "{found} of 100");
}
