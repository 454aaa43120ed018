//! What was tried to prove findings, and what came of it.

use super::screen::{Rank, Screen};
use super::style::Tone;
use crate::escape;
use crate::input::ReportInput;
use sysdyno_record::proof::{FindingProof, ProofOutcome};

/// Longest sentence. Unit: characters.
const MAX_CHARS: usize = 400;

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    for (place, proof) in input.analysis.proofs.iter().enumerate() {
        if place == 0 {
            screen.gap();
        }
        screen.sentence(
            Rank::Useful,
            (tone(proof.outcome), proof.outcome.name()),
            (Tone::Plain, &sentence(proof)),
        );
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

fn sentence(proof: &FindingProof) -> String {
    let [finding, text, tried] =
        [&proof.finding, &proof.sentence, &proof.tried].map(|text| escape::terminal(text, MAX_CHARS));
    match &proof.run {
        Some(run) => {
            format!("{finding}: {text} · {tried} · experiment {}", escape::terminal(run, MAX_CHARS))
        }
        None => format!("{finding}: {text}"),
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
            sentence(&proof),
            "T01: longer accept queue\\u{1b}[2J: goodput +48% · listener.80.backlog=1024 · experiment \
             20261120-1-try-ab"
        );
        proof.run = None;
        assert_eq!(sentence(&proof), "T01: longer accept queue\\u{1b}[2J: goodput +48%");
    }
}
