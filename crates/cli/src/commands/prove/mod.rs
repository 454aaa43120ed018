//! `sysdyno run --prove`: what was found is tried on the running server, and becomes confirmed or refuted.
//!
//! A proof is a tryout or a squeeze like any other, with a folder of its own beside the run's; the run names it. A proof that
//! cannot be made is told and costs nothing: the run stays as it is.

mod experiment;
mod told;

pub(super) use self::told::{announce, list_changes};
use self::told::{say, shown, why_not};
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::ensure;
use std::cell::RefCell;
use std::path::Path;
use std::time::{Duration, Instant};
use sysdyno_analyze::autotune::seen;
use sysdyno_analyze::proof::{ProofPlan, ProofQuestion, proof_plans, proof_question};
use sysdyno_plan::options::{TargetOptions, WorkloadOptions};
use sysdyno_record::analysis::Analysis;
use sysdyno_record::autotune::SeenServer;
use sysdyno_record::facts::HostFacts;
use sysdyno_record::plan::{ProvePlan, RunPlan};
use sysdyno_record::proof::{FindingProof, ProofMeans, ProofOutcome};
use sysdyno_record::store::Run;
use sysdyno_run::agent::LoadGuard;
use sysdyno_run::clock;
use sysdyno_run::execute::Tuning;
use sysdyno_run::service::{descriptor_settings, found_settings, listener_setting, target_pids};

/// No squeeze is made in less time: its pairs of trials would not fit.
const SQUEEZE_MIN: Duration = Duration::from_secs(150);

/// What proofs need besides the run.
pub(super) struct ProveSession<'a> {
    /// Folder of all runs.
    pub(super) runs_dir: &'a Path,
    /// How settings are changed.
    pub(super) tuning: &'a Tuning,
    /// What may be loaded.
    pub(super) guard: &'a RefCell<LoadGuard>,
    /// The request and its response.
    pub(super) target: &'a TargetOptions,
    /// What is sent instead of one request.
    pub(super) workload: &'a WorkloadOptions,
}

/// The run whose findings are tried, and how.
struct Asked<'a> {
    run: &'a RunPlan,
    prove: &'a ProvePlan,
    question: ProofQuestion,
}

/// What was proved.
#[derive(Default)]
pub(super) struct Proved {
    /// One entry for each experiment, and for each finding that nothing fits.
    pub(super) proofs: Vec<FindingProof>,
    /// How the program has to end, if something went wrong that matters more than the result.
    pub(super) exit: Option<Exit>,
}

impl Proved {
    fn is_settled(&self) -> bool {
        self.exit.is_some() || self.proofs.iter().any(|proof| proof.outcome == ProofOutcome::Confirmed)
    }
}

/// Whether this user may change settings at all.
pub(super) fn may_prove() -> anyhow::Result<()> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "cannot prove findings: only root can change settings\nhint: run with sudo, or leave out --prove"
    );
    Ok(())
}

impl ProveSession<'_> {
    /// Tries what was found, until one finding is confirmed: what comes after it was measured under that one.
    pub(super) fn prove(
        &self,
        (plan, prove): (&RunPlan, &ProvePlan),
        (run, analysis): (&Run, &Analysis),
        ui: &Ui,
    ) -> Proved {
        let plans = proof_plans(&look(plan, run, analysis), &prove.allow);
        if plans.is_empty() {
            ui.note("nothing to prove: no bottleneck was found");
        }
        let asked = Asked { run: plan, prove, question: proof_question(&plan.objective, analysis) };
        let deadline = Instant::now() + prove.budget.duration();
        let mut proved = Proved::default();
        for one in &plans {
            ui.note(&format!("proving {}: {}", one.finding.id, shown(&one.finding.title)));
            self.try_finding(&asked, (one, deadline), &mut proved, ui);
            if proved.is_settled() {
                break;
            }
        }
        proved
    }

    fn try_finding(
        &self,
        asked: &Asked<'_>,
        (plan, deadline): (&ProofPlan, Instant),
        proved: &mut Proved,
        ui: &Ui,
    ) {
        for change in &plan.changes {
            let proof = self.change(asked, (plan, change), (until(deadline), proved), ui);
            say(&proof, ui);
            proved.proofs.push(proof);
            if proved.is_settled() {
                return;
            }
        }
        let left = until(deadline);
        let proof = match plan.squeezed.filter(|_| left >= SQUEEZE_MIN) {
            Some(kind) => self.squeeze(asked, (plan, kind), (left, proved), ui),
            None if plan.changes.is_empty() || !plan.not_allowed.is_empty() => {
                untried(plan, why_not(plan, SQUEEZE_MIN))
            }
            // All that answers it was tried.
            None => return,
        };
        say(&proof, ui);
        proved.proofs.push(proof);
    }
}

/// The server as the run saw it, with the settings of its services and of its port.
fn look(plan: &RunPlan, run: &Run, analysis: &Analysis) -> SeenServer {
    let none = HostFacts::default();
    let mut server = seen(analysis, run.facts.as_ref().unwrap_or(&none));
    let pids = target_pids(&run.events);
    server.settings.extend(found_settings(&pids));
    server.settings.extend(descriptor_settings(&pids));
    server.settings.extend(listener_setting(&plan.load.target.endpoint));
    server
}

/// An entry about a finding for which nothing was done.
fn untried(plan: &ProofPlan, sentence: String) -> FindingProof {
    let now = clock::pair().mono_ns;
    FindingProof {
        finding: plan.finding.id.clone(),
        means: ProofMeans::Nothing,
        tried: String::new(),
        run: None,
        outcome: ProofOutcome::Untried,
        effect: None,
        sentence,
        begin_mono_ns: now,
        end_mono_ns: now,
    }
}

fn until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}
