//! One experiment about one finding.

use super::told::words;
use super::{Asked, ProveSession, Proved, untried};
use crate::args::ComparisonForm;
use crate::commands::squeeze::SqueezeSession;
use crate::commands::tryout::{TriedChanges, TrySession};
use crate::exit::Exit;
use crate::here::Here;
use crate::ui::Ui;
use std::cell::RefCell;
use std::time::Duration;
use sysdyno_analyze::proof::{
    ProofPlan, ProofQuestion, outcome_of_change, outcome_of_squeeze, sentence_of_change,
};
use sysdyno_plan::options::{PercentOption, SqueezeOptions, TryOptions, Typed, Word};
use sysdyno_plan::{SqueezeDraft, TryDraft};
use sysdyno_record::autotune::CandidateChange;
use sysdyno_record::change::SettingChange;
use sysdyno_record::proof::{FindingProof, ProofMeans, ProofOutcome};
use sysdyno_record::squeeze::{ResourceKind, SqueezeRow};
use sysdyno_record::store::Run;
use sysdyno_record::units::{RateHz, SpanNs};
use sysdyno_run::clock;

/// Most pairs of trials: what they do not show is too small to be what stops a server.
const PAIRS_MAX: u32 = 16;

/// Fewest trials that a verdict takes.
const TRIALS_MIN: u32 = 16;

/// How long a trial takes besides its window.
const BESIDE: Duration = Duration::from_millis(1_000);

/// The window of a trial, at least.
const WINDOW_MIN: Duration = Duration::from_secs(2);

/// Warm-up before each window.
const WARMUP: SpanNs = SpanNs::from_millis(500);

/// Responses that the p99 of a trial needs, with some to spare.
const P99_SAMPLES: f64 = 1_200.0;

/// How much CPU time a squeeze takes away. Unit: ratio.
const SQUEEZE_DEPTH: f64 = 0.2;

/// How long a trial of a squeeze is measured.
const SQUEEZE_WINDOW: SpanNs = SpanNs::from_secs(2);

/// Pairs of each comparison of a squeeze.
const SQUEEZE_PAIRS: u32 = 8;

impl ProveSession<'_> {
    /// Tries a change that answers a finding; one that was tried for another finding is not tried again.
    pub(super) fn change(
        &self,
        asked: &Asked<'_>,
        (plan, change): (&ProofPlan, &CandidateChange),
        (budget, proved): (Duration, &mut Proved),
        ui: &Ui,
    ) -> FindingProof {
        let changes: Vec<String> = change.settings.iter().map(SettingChange::text).collect();
        if let Some(earlier) = proved.proofs.iter().find(|proof| proof.tried == changes.join(" ")) {
            return FindingProof { finding: plan.finding.id.clone(), ..earlier.clone() };
        }
        let window = window(asked.question);
        if budget < (window + BESIDE) * TRIALS_MIN {
            return untried(plan, format!("{}: not tried, there was no time left", change.title));
        }
        ui.note(&format!("  trying {}", super::shown(&change.title)));
        let begin_mono_ns = clock::pair().mono_ns;
        let tried = match self.tryout(asked, &changes, (window, budget), ui) {
            Ok(tried) => tried,
            Err(error) => return untried(plan, format!("{}: {error:#}", change.title)),
        };
        proved.exit = grave(tried.exit);
        let (outcome, effect, sentence) = match &tried.conclusion {
            Some(conclusion) => (
                outcome_of_change(&conclusion.verdict, conclusion.is_proven),
                conclusion.effect,
                sentence_of_change(&change.title, conclusion),
            ),
            None => (ProofOutcome::Untried, None, format!("{}: it could not be tried", change.title)),
        };
        FindingProof {
            means: ProofMeans::Change,
            tried: changes.join(" "),
            run: tried.run.as_ref().map(folder_name),
            outcome,
            effect,
            begin_mono_ns,
            ..untried(plan, sentence)
        }
    }

    fn tryout(
        &self,
        asked: &Asked<'_>,
        changes: &[String],
        (window, budget): (Duration, Duration),
        ui: &Ui,
    ) -> anyhow::Result<TriedChanges> {
        let ProofQuestion { metric, rate_hz } = asked.question;
        let draft = TryDraft {
            changes: changes.to_vec(),
            servers: vec![asked.run.load.target.url.clone()],
            options: TryOptions {
                metric: Some(Word(metric)),
                rate: rate_hz.map(|rate_hz| Typed(RateHz(rate_hz))),
                budget: Some(Typed(SpanNs::from_secs(budget.as_secs()))),
                window: Some(Typed(span(window))),
                warmup: Some(Typed(WARMUP)),
                pairs: Some(PAIRS_MAX),
                connections: Some(asked.run.load.connections),
                noisy: Some(asked.prove.is_noisy),
                ..TryOptions::default()
            },
            target: self.target.clone(),
            workload: self.workload.clone(),
            ..TryDraft::default()
        };
        let tryout = draft.finish(&Here)?.plan;
        let session = TrySession {
            runs_dir: self.runs_dir,
            tuning: self.tuning.clone(),
            form: ComparisonForm::Text,
            live: RefCell::default(),
            fail_if: &[],
            guard: self.guard.borrow().clone(),
        };
        session.carry_out(&tryout, ui)
    }

    /// Takes a part of what is short away from the server.
    pub(super) fn squeeze(
        &self,
        asked: &Asked<'_>,
        (plan, kind): (&ProofPlan, ResourceKind),
        (budget, proved): (Duration, &mut Proved),
        ui: &Ui,
    ) -> FindingProof {
        let what = words(kind);
        ui.note(&format!("  no change is known here that answers it, so {what} is taken away"));
        let begin_mono_ns = clock::pair().mono_ns;
        let draft = SqueezeDraft {
            url: asked.run.load.target.url.clone(),
            options: SqueezeOptions {
                depth: vec![PercentOption(SQUEEZE_DEPTH)],
                only: vec![Word(kind)],
                budget: Some(Typed(SpanNs::from_secs(budget.as_secs()))),
                pairs: Some(SQUEEZE_PAIRS),
                window: Some(Typed(SQUEEZE_WINDOW)),
                connections: Some(asked.run.load.connections),
                noisy: Some(asked.prove.is_noisy),
                ..SqueezeOptions::default()
            },
            target: self.target.clone(),
            workload: self.workload.clone(),
        };
        let session = SqueezeSession {
            tuning: self.tuning,
            guard: self.guard.borrow().clone(),
            runs_dir: self.runs_dir,
            is_json: false,
        };
        let squeezed = draft.finish(&Here).and_then(|checked| session.carry_out(&checked.plan, None, ui));
        let squeezed = match squeezed {
            Ok(squeezed) => squeezed,
            Err(error) => return untried(plan, format!("{what} could not be taken away: {error:#}")),
        };
        proved.exit = grave(squeezed.exit);
        let found = squeezed.conclusion.as_ref().map(|conclusion| outcome_of_squeeze(conclusion, kind));
        let (outcome, row) = found.unwrap_or((ProofOutcome::Untried, None));
        let told = |row: &SqueezeRow| row.sentence.clone();
        FindingProof {
            means: ProofMeans::Squeeze,
            tried: row.map_or_else(|| what.to_owned(), |row| row.name.clone()),
            run: squeezed.run.as_ref().map(folder_name),
            outcome,
            effect: row.and_then(|row| row.elasticities.first()).and_then(|first| first.effect),
            begin_mono_ns,
            ..untried(plan, row.map_or_else(|| format!("{what} could not be taken away"), told))
        }
    }
}

/// How long a trial has to be measured for its metric.
fn window(question: ProofQuestion) -> Duration {
    let of_percentile = question.rate_hz.map_or(0.0, |rate_hz| P99_SAMPLES / rate_hz);
    WINDOW_MIN.max(Duration::from_secs_f64(of_percentile))
}

/// An end of an experiment that ends the program likewise.
fn grave(exit: Exit) -> Option<Exit> {
    matches!(exit, Exit::NotRestored | Exit::NotDurable | Exit::Interrupted).then_some(exit)
}

fn folder_name(run: &Run) -> String {
    run.path().file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// In tenths of a second, as it is printed.
fn span(duration: Duration) -> SpanNs {
    SpanNs::from_millis(duration.as_secs() * 1000 + u64::from(duration.subsec_millis()) / 100 * 100)
}
