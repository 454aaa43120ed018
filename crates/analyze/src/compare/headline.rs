//! The result of a comparison, in sentences.

use super::Side;
use super::change::{bound, change};
use crate::format::{list, sentence};
use std::collections::BTreeSet;
use sysdyno_record::comparison::{
    ComparedSide, GateOutcome, MetricComparison, MetricEffect, OperationComparison, Severity, SideVerdict,
};
use sysdyno_record::effect::{Comparison, ComparisonVerdict};

/// Caveat for runs that were made one after the other.
pub(super) const NOT_INTERLEAVED_LIMIT: &str = "The runs were not interleaved, so the difference includes \
                                                everything else that changed between them; `sysdyno try` can \
                                                prove a cause";

/// Caveat for a side with a single run.
pub(super) const SINGLE_LIMIT: &str = "A single run shows how steady it was, but not how much runs vary; 4 \
                                       or more runs per side give a proper interval";

/// Other metrics that a sentence names.
const OTHERS_TOLD: usize = 4;

/// The word on a side, seen from the first.
pub(super) fn side_verdict(
    sides: &[ComparedSide],
    gates: &[GateOutcome],
    operations: &[OperationComparison],
    side: usize,
) -> SideVerdict {
    let letter = &sides[side].letter;
    if sides[side].is_refused {
        let reasons = gates
            .iter()
            .filter(|gate| gate.severity == Severity::Refused && (gate.side == side || gate.side == 0));
        let mut ids: Vec<String> = reasons.map(|gate| format!("{} {}", gate.id, gate.name)).collect();
        // Both sides, and several variants, may have the same reason.
        let mut known = BTreeSet::new();
        ids.retain(|id| known.insert(id.clone()));
        let sentence = format!("A and {letter} are not comparable: {}", list(&ids));
        return without(side, ComparisonVerdict::cannot_tell(sentence.clone()), sentence);
    }
    let all = operations.iter().enumerate().flat_map(|(number, operation)| {
        operation.metrics.iter().map(move |metric| Named::new(number, operation, metric))
    });
    let effects: Vec<(Named, &MetricEffect)> = all
        .filter_map(|named| {
            let effect = named.metric.effects.iter().find(|effect| effect.side == side)?;
            Some((named, effect))
        })
        .collect();
    // The first metric that could be compared decides.
    let is_known = |effect: &MetricEffect| effect.effect.is_some() || effect.bound.is_some();
    let decisive = effects.iter().find(|(_, effect)| is_known(effect)).or(effects.first());
    let Some((Named { metric, name: decisive }, effect)) = decisive else {
        let sentence = "the runs have no metric in common".to_owned();
        return without(side, ComparisonVerdict::cannot_tell(sentence.clone()), sentence);
    };
    let named = |word: Comparison| {
        let of_word = effects.iter().filter(move |(_, effect)| effect.verdict.word == word);
        of_word.map(|(named, _)| named.name.clone()).collect::<Vec<String>>()
    };
    let (worse, better) = (named(Comparison::Worse), named(Comparison::Better));
    let others: Vec<String> =
        worse.iter().filter(|name| *name != decisive).take(OTHERS_TOLD).cloned().collect();
    let mut sentence = effect_sentence(metric, effect, letter);
    if !others.is_empty() {
        sentence.push_str(&format!("; {} got worse", list(&others)));
    }
    SideVerdict {
        side,
        metric: Some(metric.metric),
        verdict: effect.verdict.clone(),
        worse,
        better,
        sentence,
    }
}

/// A metric with the name that it has among all.
struct Named<'a> {
    metric: &'a MetricComparison,
    name: String,
}

impl<'a> Named<'a> {
    fn new(number: usize, operation: &OperationComparison, metric: &'a MetricComparison) -> Named<'a> {
        let name = match number {
            0 => metric.metric.to_owned(),
            _ => format!("{} of {}", metric.metric, operation.operation),
        };
        Named { metric, name }
    }
}

fn without(side: usize, verdict: ComparisonVerdict, sentence: String) -> SideVerdict {
    SideVerdict { side, metric: None, verdict, worse: Vec::new(), better: Vec::new(), sentence }
}

/// `capacity of B differs: 12 % lower (95 % interval 9.1–15 %)`.
fn effect_sentence(metric: &MetricComparison, effect: &MetricEffect, letter: &str) -> String {
    let title = metric.title;
    let shown = match (&effect.effect, &effect.bound) {
        (Some(numbers), _) => change(numbers, metric.better),
        (None, Some(known)) => bound(known, metric.better),
        (None, None) => {
            let reason = effect.verdict.capped_by.first().map_or("nothing to compare", String::as_str);
            return format!("{title} of {letter}: can't tell ({reason})");
        }
    };
    match effect.verdict.word {
        Comparison::Better => format!("{title} of {letter} is better: {shown}"),
        Comparison::Worse => format!("{title} of {letter} is worse: {shown}"),
        Comparison::Same => format!(
            "{title} of {letter} is the same within {}: {shown}",
            crate::format::percent(metric.margin_ratio)
        ),
        Comparison::CannotTell => {
            format!("can't tell if {title} of {letter} differs: {shown}")
        }
    }
}

/// The result of the whole comparison.
pub(super) fn headline(sides: &[ComparedSide], verdicts: &[SideVerdict]) -> String {
    match verdicts {
        [] => "Nothing was compared".to_owned(),
        [one] => sentence(&one.sentence),
        _ if sides[0].is_refused => sentence(&verdicts[0].sentence),
        many => {
            let count =
                |is_meant: fn(&SideVerdict) -> bool| many.iter().filter(|verdict| is_meant(verdict)).count();
            let refused = many.iter().filter(|verdict| sides[verdict.side].is_refused).count();
            let mut parts = vec![
                format!("{} worse", count(|verdict| verdict.verdict.word == Comparison::Worse)),
                format!("{} better", count(|verdict| verdict.verdict.word == Comparison::Better)),
                format!("{} the same", count(|verdict| verdict.verdict.word == Comparison::Same)),
            ];
            if refused > 0 {
                parts.push(format!("{refused} not comparable"));
            }
            format!("{} sides against A: {}", many.len(), list(&parts))
        }
    }
}

/// The limits of these numbers.
pub(super) fn limits(sides: &[Side], refused: &[bool]) -> Vec<String> {
    if sides.iter().zip(refused).skip(1).all(|(_, refused)| *refused) {
        return vec![
            "Both numbers are shown, but no difference, because it would not be a difference between the \
             servers"
                .to_owned(),
        ];
    }
    let mut limits = vec![NOT_INTERLEAVED_LIMIT.to_owned()];
    let has_search = sides.iter().any(|side| side.runs.iter().any(super::RunProfile::is_search));
    if has_search {
        limits.push(
            "Latency and CPU of searches are not compared: each search measured them at a different rate"
                .to_owned(),
        );
    }
    if sides.iter().any(|side| side.runs.len() == 1) {
        limits.push(SINGLE_LIMIT.to_owned());
    }
    limits
}
