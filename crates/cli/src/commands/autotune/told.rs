//! What is said of an autotune while it runs and at its end, and how what was kept is kept.

use super::shown;
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::Context;
use std::path::Path;
use sysdyno_analyze::autotune::{AutotuneCourse, AutotuneEnd, Remedy, conclude, remedies, step_sentence};
use sysdyno_analyze::compare::COMPARED_METRICS;
use sysdyno_record::autotune::{
    AutotuneConclusion, AutotuneLine, AutotunePlan, CandidateChange, StepBegan, StepEnded, StepKind,
};
use sysdyno_record::change::SettingChange;
use sysdyno_record::store::AutotuneFolder;
use sysdyno_record::units::SpanNs;
use sysdyno_report::{AutotuneInput, html, keep_script, terminal};
use sysdyno_run::RunError;
use sysdyno_run::agent::{Generator, Lasts, LocalAgent, TuneAnswer, TuneRequest, TuneTask};
use sysdyno_run::execute::Tuning;
use sysdyno_tune::{Risk, TUNABLES};

/// The file that makes what was kept last.
const KEEP: &str = "keep.sh";

/// After which time changes that are about to be kept are undone if this process dies before.
const KEEPING: SpanNs = SpanNs::from_secs(120);

/// Says what a step is about to do.
pub(super) fn say_step(step: &StepBegan, elapsed: SpanNs, plan: &AutotunePlan, ui: &Ui) {
    let (spent, budget) = (SpanNs::from_secs(elapsed.seconds() as u64), plan.budget);
    ui.note(&format!("step {} ({spent} of {budget} spent): {}", step.step, shown(&step_sentence(step))));
    if step.kind == StepKind::Race {
        for candidate in &step.candidates {
            ui.note(&format!("  {}: {}", shown(&candidate.title), shown(&candidate.reason)));
        }
    }
}

/// Says what came of it.
pub(super) fn say_result(step: &StepBegan, ended: &StepEnded, ui: &Ui) {
    if let Some(seen) = ended.seen.as_ref().filter(|_| step.kind == StepKind::Look) {
        match seen.findings.first() {
            Some(finding) => ui.note(&format!("  suspected: {}", shown(&finding.title))),
            None => ui.note("  no bottleneck was found"),
        }
    }
    for (candidate, arm) in step.candidates.iter().zip(&ended.arms) {
        let title = match step.kind {
            StepKind::Ablation => format!("without {}", candidate.title),
            StepKind::Outcome => "all that is kept".to_owned(),
            StepKind::Look | StepKind::Race | StepKind::Proof => candidate.title.clone(),
        };
        ui.note(&format!("  {}: {}", shown(&title), shown(&arm.sentence)));
    }
}

/// A candidate that only counts.
pub(super) fn unnamed() -> CandidateChange {
    CandidateChange {
        remedy: String::new(),
        title: String::new(),
        reason: String::new(),
        settings: Vec::new(),
        services: Vec::new(),
        needs: Vec::new(),
    }
}

/// Prints what may be tried.
pub(super) fn dry_run(plan: &AutotunePlan, is_json: bool, ui: &Ui) -> anyhow::Result<Exit> {
    if is_json {
        ui.print_json(plan)?;
        return Ok(Exit::Done);
    }
    let allowed: Vec<&str> = plan.allow.iter().map(|allowance| allowance.name()).collect();
    ui.print(&format!(
        "allowed: {}; budget {}; at most {} rounds",
        allowed.join(", "),
        plan.budget,
        plan.rounds
    ));
    ui.print("each trial changes one of these, at the risk shown, and undoes it; which of them apply is decided under load:");
    for remedy in remedies() {
        ui.print(&format!("  {}", remedy_line(remedy)));
    }
    Ok(Exit::Done)
}

/// A remedy with the settings that it changes, the highest risk of them, and what has to be allowed for it.
pub(in crate::commands) fn remedy_line(remedy: &Remedy) -> String {
    let changes: Vec<&str> = remedy.changes.iter().map(|change| change.setting).collect();
    let all = || TUNABLES.iter().copied().flatten();
    let known = changes.iter().filter_map(|id| all().find(|tunable| tunable.id == *id));
    let risk = known.map(|tunable| tunable.risk).max().map_or("restart", Risk::word);
    let gives_up = remedy.gives_up.map_or(String::new(), |need| format!(" [only with {}]", need.name()));
    format!("{:24} {risk:8} {}{gives_up}", remedy.id, changes.join(", "))
}

/// The conclusion of what was written down.
fn conclusion(folder: &AutotuneFolder, is_interrupted: bool, is_in_force: bool) -> AutotuneConclusion {
    let course = AutotuneCourse::follow(&folder.plan, &folder.lines);
    let is_over = course.next(true).is_none();
    let name = folder.plan.base.metric.as_deref().unwrap_or_default();
    let known = COMPARED_METRICS.iter().find(|metric| metric.name == name);
    let metric = known.map_or(("goodput", "hz"), |metric| (metric.title, metric.unit));
    let is_interrupted = is_interrupted || !is_over;
    conclude(&folder.plan, &course, AutotuneEnd { metric, is_interrupted, is_in_force })
}

/// Draws the conclusion, keeps what is to be kept, and writes and prints all of it.
pub(super) fn finish(
    folder: &AutotuneFolder,
    (tuning, is_json): (&Tuning, bool),
    is_interrupted: bool,
    ui: &Ui,
) -> anyhow::Result<Exit> {
    let mut found = conclusion(folder, is_interrupted, false);
    if folder.plan.keeps && found.is_proven && !is_interrupted {
        keep(&found, tuning)?;
        found.is_in_force = true;
    }
    folder.conclude(&found)?;
    if !found.kept.is_empty() {
        folder.write_beside(KEEP, &keep_script(&found))?;
    }
    let input =
        AutotuneInput { path: folder.path(), plan: &folder.plan, lines: &folder.lines, conclusion: &found };
    folder.write_report(&html::render_autotune(&input))?;
    print(&input, is_json, ui)?;
    if !is_interrupted {
        return Ok(Exit::Done);
    }
    ui.note(&format!(
        "hint: sysdyno autotune --resume '{}' goes on from there",
        shown(&folder.path().display().to_string())
    ));
    Ok(Exit::Interrupted)
}

fn print(input: &AutotuneInput<'_>, is_json: bool, ui: &Ui) -> anyhow::Result<()> {
    match is_json {
        true => ui.print_json(input.conclusion)?,
        false => ui.print(&terminal::render_autotune(input, &ui.style())),
    }
    Ok(())
}

/// Prints an autotune again.
pub fn show(path: &Path, is_json: bool, ui: &Ui) -> anyhow::Result<Exit> {
    let folder = AutotuneFolder::open(path)?;
    let is_pending = matches!(folder.lines.last(), Some(AutotuneLine::Began(_)));
    let found = conclusion(&folder, is_pending, false);
    let input =
        AutotuneInput { path: folder.path(), plan: &folder.plan, lines: &folder.lines, conclusion: &found };
    print(&input, is_json, ui)?;
    Ok(Exit::Done)
}

/// Puts everything that was kept into force, and lets it stay.
fn keep(found: &AutotuneConclusion, tuning: &Tuning) -> anyhow::Result<()> {
    let mut changes: Vec<SettingChange> = Vec::new();
    for change in found.kept.iter().flat_map(|candidate| &candidate.settings) {
        changes.retain(|known| known.key != change.key);
        changes.push(change.clone());
    }
    if changes.is_empty() {
        return Ok(());
    }
    let ask = |task| -> Result<TuneAnswer, RunError> {
        let request = TuneRequest { root: tuning.root.clone(), state: tuning.state.clone(), task };
        LocalAgent::default().tune(request)
    };
    let (program, version) = (tuning.program.clone(), tuning.version.clone());
    let task = TuneTask::Apply { changes, deadline: KEEPING, program, version, lasts: Lasts::UntilDeadline };
    match ask(task).context("cannot keep what was proven")? {
        TuneAnswer::Held { id, .. } => {
            ask(TuneTask::Commit { id: Some(id) }).context("cannot keep what was proven")?;
        }
        TuneAnswer::Nothing => {}
        _ => return Err(RunError::Answer { request: "apply changes" }.into()),
    }
    Ok(())
}
