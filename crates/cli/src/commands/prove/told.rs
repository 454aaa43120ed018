//! What is said of proofs before and while they are made.

use crate::commands::autotune::remedy_line;
use crate::ui::Ui;
use std::time::Duration;
use sysdyno_analyze::autotune::remedies;
use sysdyno_analyze::proof::ProofPlan;
use sysdyno_record::plan::ProvePlan;
use sysdyno_record::proof::FindingProof;
use sysdyno_record::squeeze::ResourceKind;
use sysdyno_record::units::SpanNs;
use sysdyno_report::escape;

/// Says that something is going to be tried, and what is allowed.
pub(crate) fn announce(plan: &ProvePlan, ui: &Ui) {
    let allowed: Vec<&str> = plan.allow.iter().map(|allowance| allowance.name()).collect();
    ui.note(&format!(
        "then, for at most {}: changes that answer the findings are tried on the running server, and undone",
        plan.budget
    ));
    ui.note(&format!("  allowed: {}; --dry-run lists the changes", allowed.join(", ")));
}

/// Says each change that a finding can lead to.
pub(crate) fn list_changes(ui: &Ui) {
    ui.note("changes with their risk, and the findings that lead to each; every old value is saved first and restored afterwards:");
    for remedy in remedies().filter(|remedy| !remedy.when.is_empty()) {
        ui.note(&format!("  {}  after {}", remedy_line(remedy), remedy.rules().join(", ")));
    }
}

/// What is taken away, in words.
pub(super) fn words(kind: ResourceKind) -> &'static str {
    match kind {
        ResourceKind::Link => "a part of the link's rate",
        ResourceKind::Disk => "a part of what the disk may do",
        _ => "CPU time",
    }
}

/// Why nothing was done about a finding.
pub(super) fn why_not(plan: &ProofPlan, squeeze_min: Duration) -> String {
    match (plan.not_allowed.first(), plan.squeezed) {
        (Some(change), _) => {
            let needs: Vec<&str> = change.needs.iter().map(|need| need.name()).collect();
            format!("{} would answer it; that takes --allow-change {}", change.title, needs.join(","))
        }
        (None, Some(kind)) => format!(
            "no change is known here that answers it, and taking {} away needs {} of the budget",
            words(kind),
            SpanNs::from_secs(squeeze_min.as_secs())
        ),
        (None, None) => "no change is known here that answers it".to_owned(),
    }
}

/// Says what came of one.
pub(super) fn say(proof: &FindingProof, ui: &Ui) {
    ui.note(&format!("  {}: {}", proof.outcome.name(), shown(&proof.sentence)));
}

pub(super) fn shown(text: &str) -> String {
    escape::terminal(text, 300)
}
