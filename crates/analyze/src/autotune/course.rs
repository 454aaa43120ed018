//! Which step comes next: a pure function of the plan and of the steps that are over, so that a run can be gone on with.
//!
//! ```text
//! look ─► { race of the candidates ─► proof of the best ─► kept, or tried }* ─► ablation ─► outcome
//! ```
//! The best of several looks better than it is. So only fresh trials decide whether it is kept, at a level that is shared out
//! over the rounds: round r has 0.05 × 6 ÷ (π r)², which sums to 0.05.

use super::propose::{identity, is_allowed, propose};
use std::collections::BTreeSet;
use std::f64::consts::PI;
use sysdyno_record::autotune::{
    AutotuneEnding, AutotuneLine, AutotunePlan, CandidateChange, SeenServer, StepArm, StepBegan, StepEnded,
    StepKind,
};
use sysdyno_record::effect::Comparison;

/// Probability that anything is kept that does nothing, over all rounds.
const ALPHA: f64 = 0.05;

/// A step that is over, with what it was.
#[derive(Clone, Debug)]
pub(super) struct StepDone {
    pub(super) began: StepBegan,
    pub(super) ended: StepEnded,
}

/// The steps so far.
#[derive(Clone, Debug)]
pub struct AutotuneCourse<'a> {
    plan: &'a AutotunePlan,
    pub(super) steps: Vec<StepDone>,
    /// What is in force in the first variant of the next step.
    pub(super) kept: Vec<CandidateChange>,
    /// What was taken back again.
    pub(super) taken_back: Vec<CandidateChange>,
    pub(super) seen: SeenServer,
    /// What was seen at first.
    pub(super) seen_first: Option<SeenServer>,
    tried: BTreeSet<String>,
    round: u32,
    has_ablated: bool,
}

impl<'a> AutotuneCourse<'a> {
    /// The course that these lines tell. A step that was not ended is not part of it.
    pub fn follow(plan: &'a AutotunePlan, lines: &[AutotuneLine]) -> AutotuneCourse<'a> {
        let mut course = AutotuneCourse {
            plan,
            steps: Vec::new(),
            kept: Vec::new(),
            taken_back: Vec::new(),
            seen: SeenServer::default(),
            seen_first: None,
            tried: BTreeSet::new(),
            round: 1,
            has_ablated: false,
        };
        for line in lines {
            let AutotuneLine::Ended(ended) = line else { continue };
            let began = lines.iter().find_map(|line| match line {
                AutotuneLine::Began(began) if began.step == ended.step => Some(began),
                _ => None,
            });
            if let Some(began) = began {
                course.record(began.clone(), (**ended).clone());
            }
        }
        course
    }

    /// The next step; `None`: it is over. `is_spent`: no further round fits the budget.
    pub fn next(&self, is_spent: bool) -> Option<StepBegan> {
        let (kind, candidates) = self.what_next(is_spent)?;
        let step = self.steps.len() as u32 + 1;
        let folder = format!("{step:02}-{}", kind.name());
        // The outcome compares with the server as it was found.
        let kept = if kind == StepKind::Outcome { Vec::new() } else { self.kept.clone() };
        Some(StepBegan { step, round: self.round, kind, candidates, kept, folder })
    }

    fn what_next(&self, is_spent: bool) -> Option<(StepKind, Vec<CandidateChange>)> {
        let Some(last) = self.steps.last() else { return Some((StepKind::Look, Vec::new())) };
        match last.began.kind {
            StepKind::Outcome => return None,
            StepKind::Race if !is_spent => {
                if let Some(best) = self.best(last) {
                    return Some((StepKind::Proof, vec![best]));
                }
            }
            StepKind::Look | StepKind::Race | StepKind::Proof | StepKind::Ablation => {}
        }
        if !self.has_ablated
            && let Ok(candidates) = self.candidates(is_spent)
        {
            return Some((StepKind::Race, candidates));
        }
        if self.kept.is_empty() {
            return None;
        }
        if self.kept.len() > 1 && !self.has_ablated && !is_spent {
            return Some((StepKind::Ablation, self.kept.clone()));
        }
        Some((StepKind::Outcome, self.kept.clone()))
    }

    /// The candidates of the next round, or why there is none.
    fn candidates(&self, is_spent: bool) -> Result<Vec<CandidateChange>, AutotuneEnding> {
        let all = propose(&self.seen, &self.kept, &self.tried);
        let count = all.len();
        let allowed = all.into_iter().filter(|candidate| is_allowed(candidate, &self.plan.allow));
        let allowed: Vec<CandidateChange> = allowed.take(self.plan.candidates as usize).collect();
        match () {
            () if allowed.is_empty() && count > 0 => Err(AutotuneEnding::NotAllowed),
            () if allowed.is_empty() => Err(AutotuneEnding::Exhausted),
            () if is_spent => Err(AutotuneEnding::Budget),
            () if self.round > self.plan.rounds => Err(AutotuneEnding::Rounds),
            () => Ok(allowed),
        }
    }

    /// Why no further round was made.
    pub(super) fn ending(&self) -> AutotuneEnding {
        // What is left could have been tried.
        self.candidates(false).err().unwrap_or(AutotuneEnding::Budget)
    }

    /// What would be suggested now if more were allowed.
    pub(super) fn not_allowed(&self) -> Vec<CandidateChange> {
        let all = propose(&self.seen, &self.kept, &self.tried);
        all.into_iter().filter(|candidate| !is_allowed(candidate, &self.plan.allow)).collect()
    }

    /// The candidate of a race that came out best, if that may be more than chance.
    fn best(&self, race: &StepDone) -> Option<CandidateChange> {
        let arms = race.began.candidates.iter().zip(&race.ended.arms);
        let ahead = arms.filter(|(_, arm)| is_promising(arm, self.plan.effect_ratio));
        let point = |arm: &StepArm| arm.effect.map_or(1.0, |effect| effect.point);
        ahead.max_by(|one, other| point(one.1).total_cmp(&point(other.1))).map(|(best, _)| best.clone())
    }

    /// Takes a step that is over.
    pub fn record(&mut self, began: StepBegan, ended: StepEnded) {
        if let Some(seen) = &ended.seen {
            // Settings are looked for once: later they are as a trial left them.
            let settings = if self.seen.settings.is_empty() {
                seen.settings.clone()
            } else {
                std::mem::take(&mut self.seen.settings)
            };
            self.seen = SeenServer { settings, ..seen.clone() };
            self.seen_first.get_or_insert_with(|| self.seen.clone());
        }
        match began.kind {
            StepKind::Look | StepKind::Outcome => {}
            StepKind::Race => {
                let is_ahead = |arm: &StepArm| is_promising(arm, self.plan.effect_ratio);
                for (candidate, arm) in began.candidates.iter().zip(&ended.arms) {
                    // What was ahead and not the best gets its chance beside the best.
                    if !is_ahead(arm) {
                        self.tried.insert(identity(candidate));
                    }
                }
                if !ended.arms.iter().any(is_ahead) {
                    self.round += 1;
                }
            }
            StepKind::Proof => {
                for (candidate, arm) in began.candidates.iter().zip(&ended.arms) {
                    self.tried.insert(identity(candidate));
                    if is_proven(arm, began.round) {
                        self.kept.push(candidate.clone());
                        self.reopen();
                    }
                }
                self.round += 1;
            }
            StepKind::Ablation => {
                self.has_ablated = true;
                let useless = began.candidates.iter().zip(&ended.arms).filter(|(_, arm)| is_useless(arm));
                // One at a time: two that do the same would both seem useless.
                let best = useless.max_by(|one, other| point(one.1).total_cmp(&point(other.1)));
                if let Some((candidate, _)) = best {
                    self.kept.retain(|kept| kept != candidate);
                    self.taken_back.push(candidate.clone());
                }
            }
        }
        self.steps.push(StepDone { began, ended });
    }

    /// With another bottleneck, what did nothing may help: all but what was kept may be tried once more.
    fn reopen(&mut self) {
        let kept: BTreeSet<String> = self.kept.iter().map(identity).collect();
        let mut tried = std::mem::take(&mut self.tried);
        tried.retain(|tried| kept.contains(tried) || self.has_failed_twice(tried));
        self.tried = tried;
    }

    /// Whether two races have found nothing in it.
    fn has_failed_twice(&self, tried: &str) -> bool {
        let races = self.steps.iter().filter(|step| step.began.kind == StepKind::Race);
        let of_it = races.flat_map(|race| &race.began.candidates).filter(|one| identity(one) == tried);
        of_it.count() >= 2
    }

    /// How much of the budget is spent. Unit: nanoseconds.
    pub fn elapsed_ns(&self) -> u64 {
        self.steps.iter().map(|step| step.ended.elapsed_ns).fold(0, u64::saturating_add)
    }
}

fn point(arm: &StepArm) -> f64 {
    arm.effect.map_or(0.0, |effect| effect.point)
}

/// Whether an arm of a race is worth a proof: better, or ahead by what matters while its interval is too wide.
fn is_promising(arm: &StepArm, effect_ratio: f64) -> bool {
    match arm.word {
        Comparison::Better => arm.worse.is_empty(),
        Comparison::CannotTell => point(arm) >= 1.0 + effect_ratio && arm.worse.is_empty(),
        Comparison::Same | Comparison::Worse => false,
    }
}

/// Whether fresh trials show that an arm is better, at the level of its round, and that nothing else got worse.
pub(super) fn is_proven(arm: &StepArm, round: u32) -> bool {
    arm.word == Comparison::Better && arm.worse.is_empty() && arm.p.is_some_and(|p| p <= alpha(round))
}

/// The level of a round.
pub(super) fn alpha(round: u32) -> f64 {
    let round = f64::from(round.max(1));
    ALPHA * 6.0 / (PI * round).powi(2)
}

/// Whether the server does as well without a change.
pub(super) fn is_useless(arm: &StepArm) -> bool {
    matches!(arm.word, Comparison::Same | Comparison::Better)
}
