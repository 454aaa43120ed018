//! What was tried to prove findings, and what came of it.

use super::screen::{Rank, Screen};
use super::style::Tone;
use crate::escape;
use crate::input::ReportInput;
use std::iter;
use sysdyno_record::proof::{FindingProof, ProofOutcome};

/// Longest sentence. Unit: characters.
const MAX_CHARS: usize = 400;

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    let proofs = &input.analysis.proofs;
    if !proofs.is_empty() {
        screen.gap();
    }
    for (place, proof) in proofs.iter().enumerate() {
        let is_same = |other: &&FindingProof| other.run.is_some() && other.run == proof.run;
        if proofs[..place].iter().any(|other| is_same(&other)) {
            continue;
        }
        let others = proofs[place + 1..].iter().filter(is_same);
        let findings: Vec<&str> = iter::once(proof).chain(others).map(|one| one.finding.as_str()).collect();
        let label = (tone(proof.outcome), proof.outcome.name());
        screen.sentence(Rank::Useful, label, (Tone::Plain, &sentence(&findings, proof)));
    }
}

fn tone(outcome: ProofOutcome) -> Tone {
    match outcome {
        ProofOutcome::Confirmed => Tone::Bad,
        ProofOutcome::Refuted => Tone::Good,
        ProofOutcome::Undecided => Tone::Doubtful,
        ProofOutcome::Untried => Tone::Quiet,
    }
}

/// The findings that an experiment was about, and what came of it.
fn sentence(findings: &[&str], proof: &FindingProof) -> String {
    let shown = |text: &str| escape::terminal(text, MAX_CHARS);
    let (findings, text) = (shown(&findings.join(", ")), shown(&proof.sentence));
    match &proof.run {
        Some(run) => format!("{findings}: {text} · {} · experiment {}", shown(&proof.tried), shown(run)),
        None => format!("{findings}: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::proof::ProofMeans;
    use sysdyno_record::units::MonoNs;

    #[test]
    fn an_experiment_is_named_and_what_it_says_moves_no_cursor() {
        let mut proof = FindingProof {
            finding: "T01".into(),
            means: ProofMeans::Change,
            tried: "listener.80.backlog=1024".into(),
            run: Some("20261120-1-try-ab".into()),
            outcome: ProofOutcome::Confirmed,
            effect: None,
            sentence: "longer accept queue\u{1b}[2J: goodput +48%".into(),
            begin_mono_ns: MonoNs(0),
            end_mono_ns: MonoNs(1),
        };
        assert_eq!(
            sentence(&["T01", "T04"], &proof),
            "T01, T04: longer accept queue\\u{1b}[2J: goodput +48% · listener.80.backlog=1024 · experiment \
             20261120-1-try-ab"
        );
        proof.run = None;
        assert_eq!(sentence(&["T01"], &proof), "T01: longer accept queue\\u{1b}[2J: goodput +48%");
    }
}
