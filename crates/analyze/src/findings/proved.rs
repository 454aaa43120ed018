//! What experiments say of findings, which counters alone can never confirm.

use std::cmp::Reverse;
use sysdyno_record::analysis::{Confidence, Evidence, EvidenceRole, Finding};
use sysdyno_record::proof::{FindingProof, ProofOutcome};

/// Where the numbers of an experiment are.
const SOURCE: &str = "experiment";

/// The findings with what was tried: one success confirms a finding, and it is ruled out where all that answers it was tried and
/// failed.
pub(crate) fn with_proofs(mut findings: Vec<Finding>, proofs: &[FindingProof]) -> Vec<Finding> {
    for finding in findings.iter_mut().filter(|finding| finding.host.is_none()) {
        let of_it = |proof: &&FindingProof| proof.finding == finding.id;
        let of_it: Vec<&FindingProof> = proofs.iter().filter(of_it).collect();
        weigh(finding, &of_it);
    }
    // The order among those that are equally certain stays.
    findings.sort_by_key(|finding| Reverse(finding.confidence));
    findings
}

fn weigh(finding: &mut Finding, proofs: &[&FindingProof]) {
    let of = |outcome: ProofOutcome| proofs.iter().filter(move |proof| proof.outcome == outcome);
    if of(ProofOutcome::Confirmed).count() > 0 {
        finding.confidence = Confidence::Confirmed;
        let shown = of(ProofOutcome::Confirmed).map(|proof| evidence(proof, EvidenceRole::Experiment));
        finding.evidence.splice(0..0, shown);
    } else if !proofs.is_empty() && of(ProofOutcome::Refuted).count() == proofs.len() {
        finding.confidence = Confidence::Excluded;
        finding.remedy = None;
        finding.evidence.splice(0..0, proofs.iter().map(|proof| evidence(proof, EvidenceRole::Against)));
    } else {
        let tried = proofs.iter().filter(|proof| proof.outcome != ProofOutcome::Untried);
        finding.evidence.extend(tried.map(|proof| evidence(proof, EvidenceRole::Experiment)));
    }
}

fn evidence(proof: &FindingProof, role: EvidenceRole) -> Evidence {
    Evidence {
        role,
        text: proof.sentence.clone(),
        source: SOURCE.into(),
        column: None,
        begin_mono_ns: proof.begin_mono_ns,
        end_mono_ns: proof.end_mono_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::proof::ProofMeans;
    use sysdyno_record::units::MonoNs;

    fn finding(id: &str, confidence: Confidence) -> Finding {
        Finding {
            id: id.into(),
            name: id.into(),
            host: None,
            confidence,
            title: id.into(),
            evidence: Vec::new(),
            remedy: Some("do".into()),
            counterfactual: String::new(),
            explained_ratio: None,
        }
    }

    fn proof(finding: &str, outcome: ProofOutcome) -> FindingProof {
        FindingProof {
            finding: finding.into(),
            means: ProofMeans::Change,
            tried: "a=1".into(),
            run: None,
            outcome,
            effect: None,
            sentence: format!("{outcome:?}"),
            begin_mono_ns: MonoNs(0),
            end_mono_ns: MonoNs(1),
        }
    }

    fn weighed(proofs: &[FindingProof]) -> Vec<(String, Confidence)> {
        let findings = vec![finding("A", Confidence::Likely), finding("B", Confidence::Possible)];
        let found = with_proofs(findings, proofs);
        found.into_iter().map(|finding| (finding.id, finding.confidence)).collect()
    }

    #[test]
    fn one_success_confirms_and_only_failures_rule_out() {
        use Confidence::{Confirmed, Excluded, Likely, Possible};
        use ProofOutcome::{Refuted, Undecided, Untried};
        let order = |one: (&str, Confidence), other: (&str, Confidence)| {
            vec![(one.0.to_owned(), one.1), (other.0.to_owned(), other.1)]
        };
        let success = ProofOutcome::Confirmed;
        assert_eq!(weighed(&[]), order(("A", Likely), ("B", Possible)));
        let both = [proof("A", Refuted), proof("B", success)];
        assert_eq!(weighed(&both), order(("B", Confirmed), ("A", Excluded)));
        let second = [proof("A", Refuted), proof("A", success)];
        assert_eq!(weighed(&second), order(("A", Confirmed), ("B", Possible)));
        let open = [proof("A", Refuted), proof("A", Undecided)];
        assert_eq!(weighed(&open), order(("A", Likely), ("B", Possible)));
        let partly = [proof("A", Refuted), proof("A", Untried)];
        assert_eq!(weighed(&partly), order(("A", Likely), ("B", Possible)), "what was not tried may help");
        assert_eq!(weighed(&[proof("B", Untried)]), order(("A", Likely), ("B", Possible)));
    }

    #[test]
    fn what_was_ruled_out_says_so_first_and_asks_for_nothing() {
        let found = with_proofs(vec![finding("A", Confidence::Likely)], &[proof("A", ProofOutcome::Refuted)]);
        assert_eq!(found[0].evidence[0].role, EvidenceRole::Against);
        assert_eq!(found[0].remedy, None);
        let other = Finding { host: Some("db".into()), ..finding("A", Confidence::Likely) };
        let found = with_proofs(vec![other], &[proof("A", ProofOutcome::Refuted)]);
        assert_eq!(found[0].confidence, Confidence::Likely, "another host's was not tried");
    }
}
