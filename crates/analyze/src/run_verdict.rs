//! The verdict of a run: that of the trial shown, and of the trials that decided.
//!
//! A search drives the server into overload on purpose, so what the checks say about those trials says nothing about the
//! result. What counts: the trial at the greatest rate that met the objective, why the search ended, and whether the trials
//! in between were disturbed.

use crate::capacity::{RateGroup, group_by_rate, too_slow_text};
use crate::examined::Examined;
use crate::format::{counted, duration, rate};
use crate::outcome::{Judgement, TrialOutcome};
use crate::verdict::run::{
    INCOMPLETE, MOVED, MOVED_FAR, MOVING_CAPACITY, NOTHING_CARRIED, SEARCH_INTERRUPTED, UNEVEN_SHARE,
    UNEVEN_TRIALS,
};
use crate::verdict::{
    ACHIEVED_RATE, CHECKS, CONCURRENCY_BOUND, CPU_BOUND, Check, Concern, Culprit, Observation, is_about,
    is_blamed_on, verdict_of,
};
use sysdyno_record::analysis::{Capacity, EndedBy, Reason, Verdict, VerdictStatus};
use sysdyno_record::load::TrialPurpose;
use sysdyno_record::plan::RunPlan;

/// Information about a run besides its trials.
pub(crate) struct RunState<'a> {
    pub(crate) plan: &'a RunPlan,
    pub(crate) capacity: &'a Capacity,
    /// Position of the shown trial.
    pub(crate) shown: usize,
    /// Position of the trial that shows the limit.
    pub(crate) focus: usize,
    pub(crate) is_finished: bool,
    /// Whether it ended because its time was up.
    pub(crate) is_out_of_time: bool,
    pub(crate) is_connection_limited: bool,
}

/// The verdict of `run`.
pub(crate) fn verdict_of_run(examined: &Examined, state: &RunState) -> Verdict {
    let mut reasons = shown_reasons(examined, state);
    let mut add = |reason: Reason| {
        if !reasons.iter().any(|known| known.id == reason.id && known.status >= reason.status) {
            reasons.retain(|known| known.id != reason.id);
            reasons.push(reason);
        }
    };
    limit_reasons(examined, state).into_iter().for_each(&mut add);
    generator_doubts(examined, state).into_iter().for_each(&mut add);
    disturbed_reasons(examined).into_iter().for_each(&mut add);
    contradiction(examined).into_iter().for_each(&mut add);
    ending_reasons(examined, state).into_iter().for_each(&mut add);
    verdict_of(reasons)
}

/// The verdict of `load`.
pub(crate) fn verdict_of_load(examined: &Examined, shown: usize) -> Verdict {
    let mut reasons = examined.verdicts.get(shown).map(|verdict| verdict.reasons.clone()).unwrap_or_default();
    if examined.cut_off > 0 {
        reasons
            .extend(INCOMPLETE.raise(Observation::invalid("the record of the trial has no end".to_owned())));
    }
    verdict_of(reasons)
}

/// Whether the generator may have been the limit, by a check of it that fired.
pub(crate) fn is_doubted(verdict: &Verdict) -> bool {
    verdict.reasons.iter().any(is_doubt)
}

fn is_doubt(reason: &Reason) -> bool {
    CPU_BOUND.has_raised(reason) && reason.status > VerdictStatus::Valid
}

/// Whether a verdict is INVALID since the run was disturbed: it, or the capacity that it looked for, did not stay the same, or
/// somebody else used the CPUs. What others do is no disturbance to a plan that accepts a noisy host.
pub fn is_disturbed(verdict: &Verdict, is_noisy: bool) -> bool {
    let mut invalid = verdict.reasons.iter().filter(|reason| reason.status == VerdictStatus::Invalid);
    let concerns: &[Concern] =
        if is_noisy { &[Concern::Drift] } else { &[Concern::Drift, Concern::OthersCpu] };
    invalid.any(|reason| is_about(concerns, reason))
}

/// What the checks say about the shown trial.
///
/// It met the objective: that the generator was near its limit too does not take that away, and whether the generator
/// ended the search is told apart.
fn shown_reasons(examined: &Examined, state: &RunState) -> Vec<Reason> {
    let mut reasons =
        examined.verdicts.get(state.shown).map(|verdict| verdict.reasons.clone()).unwrap_or_default();
    let is_passed =
        examined.outcomes.get(state.shown).is_some_and(|outcome| outcome.judgement == Judgement::Pass);
    for reason in &mut reasons {
        let is_generator = is_blamed_on(Culprit::Generator, reason);
        if is_passed && is_generator && reason.status == VerdictStatus::Invalid {
            reason.status = VerdictStatus::Suspect;
        }
    }
    if !is_passed {
        // The pilot or an overloaded trial is shown for want of a better one: only what concerns the responses counts.
        reasons.retain(|reason| reason.id.starts_with('M') || reason.status == VerdictStatus::Valid);
    }
    reasons
}

/// Why the number is only a lower bound, if it is.
fn limit_reasons(examined: &Examined, state: &RunState) -> Vec<Reason> {
    let at_least = state
        .capacity
        .rate_hz
        .map_or(String::new(), |hz| format!(": the server can carry at least {} req/s", rate(hz)));
    match state.capacity.ended_by {
        EndedBy::Generator if state.is_connection_limited => {
            let text = "all connections were busy while the server answered as fast as at low load";
            let observation = Observation::invalid(format!("{text}{at_least}"));
            CONCURRENCY_BOUND.raise(observation).into_iter().collect()
        }
        EndedBy::Generator => {
            let verdict = examined.verdicts.get(state.focus);
            let reasons = verdict.map(|verdict| verdict.reasons.as_slice()).unwrap_or_default();
            let mut reasons: Vec<Reason> =
                reasons.iter().filter(|reason| is_generator_limit(reason)).cloned().collect();
            // In a closed loop the checks say it themselves.
            let is_sweep = examined.outcomes.get(state.focus).is_some_and(|focus| focus.offered_hz.is_none());
            for reason in reasons.iter_mut().filter(|_| !is_sweep) {
                reason.text.push_str(&at_least);
            }
            reasons
        }
        EndedBy::NothingCarried => nothing_reasons(examined, state),
        _ => Vec::new(),
    }
}

/// That the generator may have ended the search: it was as busy in the trial that shows the limit as one that is the limit.
fn generator_doubts(examined: &Examined, state: &RunState) -> Vec<Reason> {
    let verdict = examined.verdicts.get(state.focus);
    let reasons = verdict.map(|verdict| verdict.reasons.as_slice()).unwrap_or_default().iter();
    let doubts = reasons.filter(|reason| is_doubt(reason));
    doubts.map(|reason| Reason { status: VerdictStatus::Suspect, ..reason.clone() }).collect()
}

fn is_generator_limit(reason: &Reason) -> bool {
    let is_limit = is_blamed_on(Culprit::Generator, reason) || ACHIEVED_RATE.has_raised(reason);
    is_limit && reason.status == VerdictStatus::Invalid
}

fn nothing_reasons(examined: &Examined, state: &RunState) -> Vec<Reason> {
    let verdict = examined.verdicts.get(state.focus);
    let invalid = verdict.map(|verdict| verdict.reasons.as_slice()).unwrap_or_default().iter();
    let mut reasons: Vec<Reason> =
        invalid.filter(|reason| reason.status == VerdictStatus::Invalid).cloned().collect();
    let text = too_slow_text(&examined.outcomes, state.plan).unwrap_or_else(|| {
        format!("none of {} met the objective", counted(examined.outcomes.len() as f64, "trial"))
    });
    reasons.extend(NOTHING_CARRIED.raise(Observation::invalid(text)));
    reasons
}

/// Trials that must agree on a fail before it contradicts anything.
const AGREEING_FAILS: usize = 2;

fn contradiction(examined: &Examined) -> Option<Reason> {
    let open: Vec<&TrialOutcome> = examined.outcomes.iter().filter(|outcome| outcome.is_sound()).collect();
    let groups = group_by_rate(&open);
    let passes = |group: &RateGroup| {
        group.outcomes.iter().filter(|outcome| outcome.judgement == Judgement::Pass).count()
    };
    let carried = groups.iter().rev().find(|group| 2 * passes(group) > group.outcomes.len())?;
    let failed = groups.iter().find(|group| {
        let count = group.outcomes.len();
        count - passes(group) >= AGREEING_FAILS && 2 * passes(group) < count
    })?;
    let ratio = carried.rate_hz / failed.rate_hz;
    let of = |group: &RateGroup, is_pass: bool| {
        let fits = |outcome: &&&TrialOutcome| (outcome.judgement == Judgement::Pass) == is_pass;
        group.outcomes.iter().find(fits).map_or(0, |outcome| outcome.trial)
    };
    let text = format!(
        "{} req/s met the objective in trial {}, but {} req/s missed it in trial {}",
        rate(carried.rate_hz),
        of(carried, true),
        rate(failed.rate_hz),
        of(failed, false)
    );
    let observation = match ratio {
        ratio if ratio >= MOVED_FAR.value => Observation::invalid(text),
        ratio if ratio >= MOVED.value => Observation::suspect(text),
        _ => None,
    };
    MOVING_CAPACITY.raise(observation)
}

/// Trials of the search that were disturbed.
fn disturbed_reasons(examined: &Examined) -> Vec<Reason> {
    let all = examined.outcomes.len() as f64;
    let unsound = examined
        .outcomes
        .iter()
        .filter(|outcome| outcome.judgement == Judgement::Unsound && !outcome.is_interrupted);
    let unsound = unsound.count() as f64;
    let mut reasons = Vec::new();
    if unsound > UNEVEN_SHARE.value * all {
        let text = format!("{} were discarded ({} in all)", counted(unsound, "trial"), counted(all, "trial"));
        reasons.extend(UNEVEN_TRIALS.raise(Observation::suspect(text)));
    }
    let deciding: Vec<usize> = (0..examined.outcomes.len())
        .filter(|index| {
            examined.outcomes[*index].purpose == TrialPurpose::Grid && examined.outcomes[*index].is_sound()
        })
        .collect();
    let of_host = [Concern::OthersCpu, Concern::SharedHost];
    let is_of_host = |check: &&&Check| check.concerns.iter().any(|concern| of_host.contains(concern));
    for check in CHECKS.iter().filter(is_of_host) {
        let fired: Vec<&Reason> = deciding
            .iter()
            .flat_map(|index| &examined.verdicts[*index].reasons)
            .filter(|reason| check.has_raised(reason) && reason.status >= VerdictStatus::Suspect)
            .collect();
        let Some(first) = fired.first() else { continue };
        if fired.len() as f64 > UNEVEN_SHARE.value * deciding.len() as f64 {
            let text = format!(
                "in {} of the {} that decided; for example, {}",
                fired.len(),
                counted(deciding.len() as f64, "trial"),
                first.text
            );
            reasons.push(Reason { text, status: VerdictStatus::Suspect, ..(*first).clone() });
        }
    }
    reasons
}

fn ending_reasons(examined: &Examined, state: &RunState) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if examined.cut_off > 0 {
        let text = format!(
            "{} incomplete in the record",
            if examined.cut_off == 1 { "one trial is" } else { "some trials are" }
        );
        let observation = if examined.outcomes.is_empty() {
            Observation::invalid(text)
        } else {
            Observation::suspect(text)
        };
        reasons.extend(INCOMPLETE.raise(observation));
    }
    let is_cut_short = !state.is_finished || state.is_out_of_time;
    if is_cut_short && state.capacity.ended_by != EndedBy::NothingCarried {
        let trials = counted(examined.outcomes.len() as f64, "trial");
        let text = match state.plan.search.limit.filter(|_| state.is_out_of_time) {
            Some(limit) => {
                format!("the search ran out of time after {trials}: {}", duration(limit.0 as f64))
            }
            None => format!("the search was stopped after {trials}"),
        };
        reasons.extend(SEARCH_INTERRUPTED.raise(Observation::suspect(text)));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{FOREIGN_LOAD, NON_STATIONARY};

    #[test]
    fn what_others_do_disturbs_only_plans_that_do_not_accept_it() {
        let invalid = |check: &Check| {
            let reason = check.raise(Observation::invalid("it was".into()));
            verdict_of(reason.into_iter().collect())
        };
        let (others, drift) = (invalid(&FOREIGN_LOAD), invalid(&NON_STATIONARY));
        assert_eq!([false, true].map(|is_noisy| is_disturbed(&others, is_noisy)), [true, false]);
        assert_eq!([false, true].map(|is_noisy| is_disturbed(&drift, is_noisy)), [true, true]);
    }
}
