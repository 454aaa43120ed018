//! The steps and their end in sentences: made once, here, and shown unchanged everywhere.

use crate::format::{counted, list, percent, sentence};
use crate::tryout::effect_text;
use sysdyno_record::autotune::{
    AutotuneConclusion, AutotuneEnding, StepBegan, StepKind, TriedChange, TriedWord,
};
use sysdyno_record::effect::Effect;

/// An effect with its interval.
pub fn bare_effect(effect: &Effect) -> String {
    effect_text(effect)
}

/// What a step is about to do.
pub fn step_sentence(step: &StepBegan) -> String {
    let titles: Vec<String> = step.candidates.iter().map(|candidate| candidate.title.clone()).collect();
    let count = counted(step.candidates.len() as f64, "change");
    match step.kind {
        StepKind::Look => "look: what stops the server as it is".to_owned(),
        StepKind::Race => {
            format!("round {}: {count} against the server as it is: {}", step.round, list(&titles))
        }
        StepKind::Proof => format!("proof: {}, in fresh trials", list(&titles)),
        StepKind::Ablation => format!("check: does each of {count} still earn its place?"),
        StepKind::Outcome => {
            format!("outcome: all that is kept against the server as it was found ({count})")
        }
    }
}

/// The result in one sentence.
pub(super) fn headline(conclusion: &AutotuneConclusion, effect_ratio: f64) -> String {
    let kept: Vec<String> = conclusion.kept.iter().map(|candidate| candidate.title.clone()).collect();
    let interrupted = conclusion.ending == AutotuneEnding::Interrupted;
    let metric = &conclusion.metric;
    match (&conclusion.outcome, kept.as_slice()) {
        (Some(effect), [_, ..]) if conclusion.is_proven => {
            sentence(&format!("{metric} {} with {}", effect_text(effect), list(&kept)))
        }
        (Some(effect), [_, ..]) => format!(
            "Each of the changes helped, but together they are not proven to: {metric} {} with {}",
            effect_text(effect),
            list(&kept)
        ),
        (None, [_, ..]) => format!("Kept so far: {}; the outcome was not measured", list(&kept)),
        (_, []) if interrupted => "Interrupted before anything was kept".to_owned(),
        (_, []) if conclusion.tried.is_empty() => match conclusion.not_allowed.len() {
            0 => "Nothing was tried: nothing that is known fits this server".to_owned(),
            count => {
                format!("Nothing was tried: {} would have to be allowed", counted(count as f64, "change"))
            }
        },
        (_, []) => format!(
            "Nothing helps by {} or more: {} tried, and the server is as it was",
            percent(effect_ratio),
            counted(conclusion.tried.len() as f64, "change")
        ),
    }
}

/// What came of a change.
pub(super) fn tried(change: &TriedChange) -> String {
    let title = &change.candidate.title;
    let nothing = || "too few of its trials could be used".to_owned();
    let effect = change.effect.as_ref().map_or_else(nothing, effect_text);
    match change.word {
        TriedWord::Kept => format!("{title}: kept, {effect}"),
        TriedWord::TakenBack => format!("{title}: taken back, since the others do as well without it"),
        TriedWord::NotProven => format!("{title}: ahead in the race, not proven by fresh trials: {effect}"),
        TriedWord::NoDifference => format!("{title}: makes no difference that matters: {effect}"),
        TriedWord::Worse => format!("{title}: worse: {effect}"),
        TriedWord::CannotTell => format!("{title}: {effect}"),
    }
}
