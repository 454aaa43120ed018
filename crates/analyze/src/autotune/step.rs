//! A step as an experiment: the plan's server with other variants.

use super::propose::identity;
use sysdyno_record::autotune::{AutotunePlan, CandidateChange, StepBegan, StepKind};
use sysdyno_record::change::SettingChange;
use sysdyno_record::experiment::{ExperimentPlan, ExperimentVariant, ServiceChange};
use sysdyno_record::plan::Plan;

/// Longest name of a variant. Unit: characters.
const NAME_MAX: usize = 60;

/// What is measured in a step.
pub fn step_plan(plan: &AutotunePlan, step: &StepBegan) -> ExperimentPlan {
    let base = &plan.base.variants[0];
    let mut variants = vec![variant(base, &first_name(step), &step.kept)];
    match step.kind {
        StepKind::Look => {}
        StepKind::Race | StepKind::Proof => {
            let with = |candidate: &CandidateChange| {
                let changes = [step.kept.as_slice(), std::slice::from_ref(candidate)].concat();
                variant(base, &candidate.title, &changes)
            };
            variants.extend(step.candidates.iter().map(with));
        }
        StepKind::Ablation => {
            let without = |candidate: &CandidateChange| {
                let is_other = |kept: &&CandidateChange| identity(kept) != identity(candidate);
                let others: Vec<CandidateChange> = step.kept.iter().filter(is_other).cloned().collect();
                variant(base, &format!("without {}", candidate.title), &others)
            };
            variants.extend(step.candidates.iter().map(without));
        }
        StepKind::Outcome => variants.push(variant(base, "all that is kept", &step.candidates)),
    }
    for one in &mut variants {
        // Fresh trials have other requests than those before them.
        match &mut one.plan {
            Plan::Run(run) => run.load.seed = run.load.seed.wrapping_add(1000 * u64::from(step.step)),
            Plan::Load(load) => load.seed = load.seed.wrapping_add(1000 * u64::from(step.step)),
            _ => {}
        }
    }
    ExperimentPlan {
        name: format!("{}-{}", plan.base.name, step.folder),
        variants,
        blocks: match step.kind {
            StepKind::Look => 1,
            StepKind::Race => plan.race_blocks,
            StepKind::Proof | StepKind::Ablation | StepKind::Outcome => plan.proof_blocks,
        },
        until_decided: matches!(step.kind, StepKind::Race),
        seed: plan.base.seed.wrapping_add(u64::from(step.step)),
        budget: None,
        effect_ratio: Some(plan.effect_ratio),
        ..plan.base.clone()
    }
}

/// What `step_plan` has for each candidate of a step, without the first: the number of variants that it compares.
pub fn arms_count(step: &StepBegan) -> usize {
    match step.kind {
        StepKind::Look => 0,
        StepKind::Race | StepKind::Proof | StepKind::Ablation => step.candidates.len(),
        StepKind::Outcome => 1,
    }
}

fn first_name(step: &StepBegan) -> String {
    match step.kept.len() {
        0 => "as it was found".to_owned(),
        1 => "with the change that is kept".to_owned(),
        count => format!("with {count} changes that are kept"),
    }
}

/// The server with these changes, of which a later one of a setting wins.
fn variant(base: &ExperimentVariant, name: &str, changes: &[CandidateChange]) -> ExperimentVariant {
    let mut settings: Vec<SettingChange> = base.settings.clone();
    for change in changes.iter().flat_map(|candidate| &candidate.settings) {
        settings.retain(|known| known.key != change.key);
        settings.push(change.clone());
    }
    let mut services: Vec<ServiceChange> = base.services.clone();
    for change in changes.iter().flat_map(|candidate| &candidate.services) {
        services.retain(|known| (&known.service, &known.key) != (&change.service, &change.key));
        services.push(change.clone());
    }
    let name = name.chars().take(NAME_MAX).collect();
    ExperimentVariant { name, settings, services, ..base.clone() }
}
