//! How a finding is tried: by the changes that answer it, or by taking away what it says is short.
//!
//! A change that helps confirms the finding, since nothing else was changed. One that does nothing speaks against it, but only
//! once all that answers it was tried: the first may have been too small. Where no change is known, what is short is squeezed,
//! CPU time, a link, or a disk: if that costs goodput, it was short.

use crate::autotune::{bare_effect, is_allowed, propose, remedies};
use crate::tryout::metric_value;
use sysdyno_record::allowance::Allowance;
use sysdyno_record::analysis::{Analysis, CurvePoint, EndedBy, VerdictStatus};
use sysdyno_record::autotune::{CandidateChange, SeenFinding, SeenServer};
use sysdyno_record::effect::{Comparison, ComparisonVerdict};
use sysdyno_record::plan::Objective;
use sysdyno_record::proof::ProofOutcome;
use sysdyno_record::squeeze::{ResourceKind, RowWord, SqueezeConclusion, SqueezeRow};
use sysdyno_record::tryout::{Metric, TryConclusion};

/// Most findings that are tried, the most certain first.
const MAX_FINDINGS: usize = 3;

/// The percentile that tryouts measure. Unit: ratio.
const P99_RATIO: f64 = 0.99;

/// Diagnoses that say that something is short which can be squeezed.
const SHORT: [(&str, ResourceKind); 6] = [
    ("C02", ResourceKind::Cpu),
    ("C13", ResourceKind::Cpu),
    ("F05", ResourceKind::Cpu),
    ("N10", ResourceKind::Link),
    ("D03", ResourceKind::Disk),
    ("D09", ResourceKind::Disk),
];

/// What can be done about one finding.
#[derive(Clone, Debug, PartialEq)]
pub struct ProofPlan {
    /// The finding.
    pub finding: SeenFinding,
    /// Changes that answer it, the most pressing first, each tried until one helps.
    pub changes: Vec<CandidateChange>,
    /// What shows it when it is taken away, where no change is known; `None`: nothing.
    pub squeezed: Option<ResourceKind>,
    /// Changes that answer it and are not allowed.
    pub not_allowed: Vec<CandidateChange>,
}

/// What a change has to make better: what stopped the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProofQuestion {
    /// The metric.
    pub metric: Metric,
    /// The rate at which it is measured; `None`: a closed load. Unit: requests per second.
    pub rate_hz: Option<f64>,
}

/// Where a percentile was over its limit, that is asked for at the lowest such rate; else how much the server can do at all.
pub fn proof_question(objective: &Objective, analysis: &Analysis) -> ProofQuestion {
    let goodput = ProofQuestion { metric: Metric::Goodput, rate_hz: None };
    let Some(capacity) = analysis.capacity.as_ref().filter(|found| found.ended_by == EndedBy::Objective)
    else {
        return goodput;
    };
    let metric = (objective.percentile_ratio == P99_RATIO).then_some(Metric::P99);
    let is_missed = |point: &&CurvePoint| point.met == Some(false) && point.status < VerdictStatus::Invalid;
    let missed = analysis.curve.iter().filter(is_missed).filter_map(|point| point.offered_hz);
    let above = missed.filter(|rate_hz| capacity.rate_hz.is_none_or(|carried_hz| *rate_hz >= carried_hz));
    match (metric, above.min_by(f64::total_cmp)) {
        (Some(metric), Some(rate_hz)) => ProofQuestion { metric, rate_hz: Some(rate_hz) },
        _ => goodput,
    }
}

/// What is tried for the findings of a server, in this order; those of the generator are none of the server's.
pub fn proof_plans(seen: &SeenServer, allow: &[Allowance]) -> Vec<ProofPlan> {
    let of_server = seen.findings.iter().filter(|finding| !finding.id.starts_with('G'));
    of_server.take(MAX_FINDINGS).map(|finding| proof_plan(seen, finding, allow)).collect()
}

fn proof_plan(seen: &SeenServer, finding: &SeenFinding, allow: &[Allowance]) -> ProofPlan {
    let alone = SeenServer { findings: vec![finding.clone()], ..seen.clone() };
    let answers = propose(&alone, &[], &std::collections::BTreeSet::new()).into_iter();
    let answers = answers.filter(|change| is_answer(change, finding) && change.services.is_empty());
    let (changes, not_allowed): (Vec<_>, Vec<_>) = answers.partition(|change| is_allowed(change, allow));
    let short = SHORT.iter().find(|(id, _)| *id == finding.id).map(|(_, kind)| *kind);
    let squeezed = short.filter(|_| changes.is_empty());
    ProofPlan { finding: finding.clone(), changes, squeezed, not_allowed }
}

fn is_answer(change: &CandidateChange, finding: &SeenFinding) -> bool {
    remedies().any(|remedy| remedy.id == change.remedy && remedy.answers(finding))
}

/// What came of a change says this of the finding that it answers. A metric that gets better while something else gets worse, such
/// as the p99 of a server that fails more, says nothing.
pub fn outcome_of_change(verdict: &ComparisonVerdict, is_proven: bool) -> ProofOutcome {
    match verdict.word {
        _ if !verdict.capped_by.is_empty() => ProofOutcome::Undecided,
        Comparison::Better if is_proven => ProofOutcome::Confirmed,
        Comparison::Better | Comparison::CannotTell => ProofOutcome::Undecided,
        Comparison::Same | Comparison::Worse => ProofOutcome::Refuted,
    }
}

/// What came of a change, in a sentence.
pub fn sentence_of_change(title: &str, conclusion: &TryConclusion) -> String {
    // Why there is no answer matters more than half of one.
    let Some(effect) = conclusion.effect.as_ref().filter(|_| conclusion.verdict.capped_by.is_empty()) else {
        return format!("{title}: {}", conclusion.headline);
    };
    let medians = conclusion.a_median.zip(conclusion.b_median);
    let metric = conclusion.metric;
    let value = |value: f64| metric_value(metric, value);
    let medians = medians.map(|(a, b)| format!(", from {} to {}", value(a), value(b)));
    format!(
        "{} {}{} with this change: {title}",
        metric.title(),
        bare_effect(effect),
        medians.unwrap_or_default()
    )
}

/// What a squeeze says of a finding that resources of this kind are short, and the resource that says it.
pub fn outcome_of_squeeze(
    squeeze: &SqueezeConclusion,
    kind: ResourceKind,
) -> (ProofOutcome, Option<&SqueezeRow>) {
    let row = squeeze.rows.iter().find(|row| row.kind == kind);
    let outcome = match row.map(|row| row.word) {
        _ if !squeeze.void.is_empty() => ProofOutcome::Undecided,
        Some(RowWord::Limits | RowWord::Matters) => ProofOutcome::Confirmed,
        Some(RowWord::Spare) => ProofOutcome::Refuted,
        Some(RowWord::CannotTell | RowWord::Void) | None => ProofOutcome::Undecided,
    };
    (outcome, row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::analysis::{Capacity, CapacityBasis, Confidence};
    use sysdyno_record::autotune::SeenSetting;
    use sysdyno_record::load::TrialPurpose;
    use sysdyno_record::units::MonoNs;

    fn finding(id: &str) -> SeenFinding {
        SeenFinding { id: id.into(), title: id.into(), confidence: Confidence::Likely }
    }

    fn server(findings: &[&str]) -> SeenServer {
        let backlog = SeenSetting {
            id: "listener.*.backlog".into(),
            key: "listener.80.backlog".into(),
            value: Some("128".into()),
            is_parameter: false,
        };
        SeenServer {
            findings: findings.iter().map(|id| finding(id)).collect(),
            commands: Vec::new(),
            settings: vec![backlog],
            cpus_count: Some(2.0),
            memory_bytes: Some(1e9),
        }
    }

    #[test]
    fn a_finding_is_tried_by_what_answers_it_and_nothing_else() {
        let plans = proof_plans(&server(&["G01", "T01", "F05", "N17"]), &Allowance::DEFAULT);
        let ids: Vec<&str> = plans.iter().map(|plan| plan.finding.id.as_str()).collect();
        assert_eq!(ids, ["T01", "F05", "N17"], "the generator is not the server");
        assert_eq!(plans[0].changes[0].settings[0].key, "listener.80.backlog");
        assert_eq!(plans[0].squeezed, None);
        assert!(plans[1].changes.is_empty() && plans[1].squeezed == Some(ResourceKind::Cpu));
        assert!(plans[2].changes.is_empty() && plans[2].squeezed.is_none());
        let link = proof_plans(&server(&["N10"]), &Allowance::DEFAULT);
        assert_eq!(link[0].squeezed, Some(ResourceKind::Link));
    }

    #[test]
    fn what_is_not_allowed_is_told_and_not_tried() {
        let plans = proof_plans(&server(&["T01"]), &[Allowance::ServiceConfig]);
        assert!(plans[0].changes.is_empty() && !plans[0].not_allowed.is_empty());
    }

    #[test]
    fn a_change_has_to_answer_what_stopped_the_search() {
        let capacity = |ended_by| Capacity {
            rate_hz: Some(500.0),
            low_hz: None,
            high_hz: None,
            basis: CapacityBasis::Confidence,
            ended_by,
            is_lower_bound: false,
            certified_hz: None,
            certified_passes: 0,
            method: String::new(),
            objective: String::new(),
        };
        let point = |offered_hz, met| CurvePoint {
            trial: 1,
            purpose: TrialPurpose::Grid,
            connections: 1,
            offered_hz: Some(offered_hz),
            achieved_hz: offered_hz,
            goodput_hz: offered_hz,
            error_ratio: 0.0,
            p50_ns: None,
            p90_ns: None,
            p99_ns: None,
            p99_9_ns: None,
            met: Some(met),
            status: VerdictStatus::Valid,
            begin_mono_ns: MonoNs(0),
            end_mono_ns: MonoNs(1),
        };
        let analysis = |ended_by| Analysis {
            capacity: Some(capacity(ended_by)),
            curve: vec![point(900.0, false), point(400.0, false), point(600.0, false), point(500.0, true)],
            ..Analysis::default()
        };
        let asked = |objective: &Objective, ended_by| proof_question(objective, &analysis(ended_by));
        let p99 = ProofQuestion { metric: Metric::P99, rate_hz: Some(600.0) };
        let goodput = ProofQuestion { metric: Metric::Goodput, rate_hz: None };
        assert_eq!(asked(&Objective::default(), EndedBy::Objective), p99);
        assert_eq!(asked(&Objective::default(), EndedBy::AchievedRate), goodput);
        let median = Objective { percentile_ratio: 0.5, ..Objective::default() };
        assert_eq!(asked(&median, EndedBy::Objective), goodput, "tryouts measure no median");
    }

    #[test]
    fn only_a_proof_confirms() {
        let outcome = |word, is_proven| {
            let verdict =
                ComparisonVerdict { word, capped_by: Vec::new(), ..ComparisonVerdict::cannot_tell("") };
            outcome_of_change(&verdict, is_proven)
        };
        assert_eq!(outcome(Comparison::Better, true), ProofOutcome::Confirmed);
        assert_eq!(outcome(Comparison::Better, false), ProofOutcome::Undecided, "something else got worse");
        assert_eq!(outcome(Comparison::Same, false), ProofOutcome::Refuted);
        assert_eq!(outcome(Comparison::Worse, false), ProofOutcome::Refuted);
        let capped =
            ComparisonVerdict { word: Comparison::Better, ..ComparisonVerdict::cannot_tell("noise") };
        assert_eq!(outcome_of_change(&capped, true), ProofOutcome::Undecided);
    }
}
