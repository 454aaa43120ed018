//! What came of all steps.

use super::course::{AutotuneCourse, StepDone, is_proven};
use super::propose::identity;
use super::sentence;
use sysdyno_record::autotune::{
    AUTOTUNE_RESULT_SCHEMA, AutotuneConclusion, AutotuneEnding, AutotunePlan, CandidateChange, SeenServer,
    StepArm, StepKind, TriedChange, TriedWord,
};
use sysdyno_record::effect::Comparison;

/// What is known of the end besides the steps.
#[derive(Clone, Copy, Debug)]
pub struct AutotuneEnd<'a> {
    /// The metric that decides, in words, and its unit.
    pub metric: (&'a str, &'a str),
    /// Whether it was interrupted.
    pub is_interrupted: bool,
    /// Whether what is kept is in force.
    pub is_in_force: bool,
}

/// Draws every conclusion that the steps support.
pub fn conclude(
    plan: &AutotunePlan,
    course: &AutotuneCourse<'_>,
    end: AutotuneEnd<'_>,
) -> AutotuneConclusion {
    let outcome = course.steps.iter().rfind(|step| step.began.kind == StepKind::Outcome);
    let arm = outcome.and_then(|step| step.ended.arms.first());
    let given_up = given_up(&course.kept);
    let mut conclusion = AutotuneConclusion {
        schema: AUTOTUNE_RESULT_SCHEMA.into(),
        headline: String::new(),
        metric: end.metric.0.into(),
        unit: end.metric.1.into(),
        before: outcome.or(course.steps.first()).and_then(|step| step.ended.baseline),
        outcome: arm.and_then(|arm| arm.effect),
        is_proven: arm.is_some_and(|arm| arm.word == Comparison::Better),
        kept: course.kept.clone(),
        is_in_force: end.is_in_force,
        tried: tried(course),
        not_allowed: course.not_allowed(),
        given_up,
        bottlenecks: [course.seen_first.as_ref().and_then(bottleneck), bottleneck(&course.seen)],
        ending: if end.is_interrupted { AutotuneEnding::Interrupted } else { course.ending() },
        steps_count: course.steps.len() as u32,
        elapsed_ns: course.elapsed_ns(),
    };
    conclusion.headline = sentence::headline(&conclusion, plan.effect_ratio);
    conclusion
}

/// The most certain diagnosis, if it is more than possible.
fn bottleneck(seen: &SeenServer) -> Option<String> {
    let first = seen.findings.first()?;
    (first.confidence >= sysdyno_record::analysis::Confidence::Likely).then(|| first.title.clone())
}

fn given_up(kept: &[CandidateChange]) -> Vec<String> {
    let mut given: Vec<&str> =
        kept.iter().flat_map(|candidate| &candidate.needs).filter_map(|need| need.given_up()).collect();
    given.sort_unstable();
    given.dedup();
    given.into_iter().map(str::to_owned).collect()
}

/// Everything that was tried, each change once, in the order in which it was first tried.
fn tried(course: &AutotuneCourse<'_>) -> Vec<TriedChange> {
    let mut all: Vec<TriedChange> = Vec::new();
    let is_of_change = |step: &&StepDone| matches!(step.began.kind, StepKind::Race | StepKind::Proof);
    for step in course.steps.iter().filter(is_of_change) {
        for (candidate, arm) in step.began.candidates.iter().zip(&step.ended.arms) {
            let next = TriedChange {
                candidate: candidate.clone(),
                round: step.began.round,
                word: word(step, arm),
                effect: arm.effect,
                folders: vec![step.began.folder.clone()],
                sentence: String::new(),
            };
            match all.iter_mut().find(|one| identity(&one.candidate) == identity(candidate)) {
                Some(known) => {
                    let folders = [known.folders.clone(), next.folders.clone()].concat();
                    *known = TriedChange { folders, ..next };
                }
                None => all.push(next),
            }
        }
    }
    for change in &mut all {
        if course.taken_back.iter().any(|one| identity(one) == identity(&change.candidate)) {
            change.word = TriedWord::TakenBack;
        }
        change.sentence = sentence::tried(change);
    }
    all
}

fn word(step: &StepDone, arm: &StepArm) -> TriedWord {
    let is_proof = step.began.kind == StepKind::Proof;
    match arm.word {
        _ if is_proof && is_proven(arm, step.began.round) => TriedWord::Kept,
        Comparison::Worse => TriedWord::Worse,
        Comparison::Same => TriedWord::NoDifference,
        _ if is_proof => TriedWord::NotProven,
        // Ahead, and another one was further ahead.
        Comparison::Better => TriedWord::NotProven,
        Comparison::CannotTell => TriedWord::CannotTell,
    }
}
