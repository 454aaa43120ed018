//! A probe that is kept: its run folder, and the lines that somebody wrote into a file.

use super::{exit, print};
use crate::args::OutputForm;
use crate::commands::record::{fail, finish, new_run, read_back};
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::{Context, anyhow, ensure};
use std::io::Read;
use std::path::Path;
use sysdyno_analyze::probe::ProbesTally;
use sysdyno_record::manifest::{RunKind, RunStatus};
use sysdyno_record::plan::Plan;
use sysdyno_record::probe::{ProbeConclusion, ProbeLines, ProbeReply, ProbesPlan, read_lines};
use sysdyno_record::store::{Run, RunWriter};
use sysdyno_report::html;
use sysdyno_report::probe::ProbeInput;

/// Longest file of lines that is read. Unit: bytes.
const LINES_BYTES_MAX: u64 = 256 << 20;

/// Writes the run folder of a probe.
pub(super) struct Keeper {
    writer: RunWriter,
}

impl Keeper {
    /// A new folder, with the plan in it.
    pub(super) fn begin(runs_dir: &Path, plan: &ProbesPlan) -> anyhow::Result<Keeper> {
        let mut writer = RunWriter::create(runs_dir, new_run(RunKind::Probe)?)?;
        match writer.plan(&Plan::Probe(plan.clone())) {
            Ok(()) => Ok(Keeper { writer }),
            Err(error) => Err(fail(writer, error.into())),
        }
    }

    /// Adds an operation. What cannot be written is remembered by the writer, and told at the end.
    pub(super) fn add(&mut self, reply: &ProbeReply) {
        let _ = self.writer.probe(reply);
    }

    /// Ends the folder and writes its report.
    pub(super) fn end(
        mut self,
        conclusion: &ProbeConclusion,
        is_interrupted: bool,
        ui: &Ui,
    ) -> anyhow::Result<Run> {
        let _ = self.writer.probed(conclusion);
        let mut run = read_back(&self.writer, None)?;
        run.probed = Some(conclusion.clone());
        let status = if is_interrupted { RunStatus::Interrupted } else { RunStatus::Complete };
        let reason = is_interrupted.then(|| "interrupted by a signal".into());
        finish(self.writer, &mut run, (status, reason), Some(page), ui);
        ui.note(&format!("recorded in {}", run.path().display()));
        Ok(run)
    }
}

/// The page of a recorded probe.
pub fn page(run: &Run) -> String {
    with_input(run, html::render_probe)
}

/// Prints a recorded probe as `probe` did.
///
/// # Errors
/// The form is one for requests.
pub fn show(run: &Run, form: OutputForm, ui: &Ui) -> anyhow::Result<Exit> {
    let is_json = is_json(form)?;
    Ok(with_input(run, |input| {
        print(input, is_json, ui);
        exit(input.conclusion, input.is_interrupted)
    }))
}

fn with_input<T>(run: &Run, then: impl FnOnce(&ProbeInput<'_>) -> T) -> T {
    let targets = match &run.plan {
        Some(Plan::Probe(plan)) => plan.targets.as_slice(),
        _ => &[],
    };
    let conclusion = run.probed.clone().unwrap_or_else(|| {
        let mut tally = ProbesTally::new(targets.to_vec());
        run.probe.iter().for_each(|reply| tally.add(reply));
        tally.conclusion()
    });
    then(&ProbeInput {
        path: Some(run.path()),
        tool: Some(&run.manifest.tool),
        clock: run.manifest.clock,
        targets,
        replies: &run.probe,
        conclusion: &conclusion,
        is_interrupted: run.manifest.status == RunStatus::Interrupted,
        damage: &run.damage,
    })
}

/// The page of what a probe printed into a file.
///
/// # Errors
/// The file cannot be read, or holds something else.
pub fn page_of_lines(path: &Path) -> anyhow::Result<String> {
    with_lines(path, html::render_probe)
}

/// Prints the result of what a probe printed into a file.
///
/// # Errors
/// The file cannot be read, or holds something else.
pub fn show_lines(path: &Path, form: OutputForm, ui: &Ui) -> anyhow::Result<Exit> {
    let is_json = is_json(form)?;
    with_lines(path, |input| {
        print(input, is_json, ui);
        exit(input.conclusion, false)
    })
}

fn with_lines<T>(path: &Path, then: impl FnOnce(&ProbeInput<'_>) -> T) -> anyhow::Result<T> {
    let cannot = || format!("cannot read probe lines '{}'", path.display());
    let mut text = String::new();
    let file = std::fs::File::open(path).with_context(cannot)?;
    file.take(LINES_BYTES_MAX + 1).read_to_string(&mut text).with_context(cannot)?;
    ensure!(text.len() as u64 <= LINES_BYTES_MAX, "{}: longer than 256 MiB", cannot());
    let lines = read_lines(&text).map_err(|cause| anyhow!("{}: {cause}", cannot()))?;
    let ProbeLines { clock, targets, replies, unknown_count } = lines;
    let mut tally = ProbesTally::new(targets.clone());
    replies.iter().for_each(|reply| tally.add(reply));
    let conclusion = tally.conclusion();
    let damage: Vec<String> = (unknown_count > 0)
        .then(|| format!("{unknown_count} lines are no operation of a target"))
        .into_iter()
        .collect();
    Ok(then(&ProbeInput {
        path: Some(path),
        tool: None,
        clock,
        targets: &targets,
        replies: &replies,
        conclusion: &conclusion,
        is_interrupted: false,
        damage: &damage,
    }))
}

fn is_json(form: OutputForm) -> anyhow::Result<bool> {
    match form {
        OutputForm::Text => Ok(false),
        OutputForm::Json => Ok(true),
        _ => Err(anyhow!("cannot print a probe in this format: it is for requests\nhint: use --output json")),
    }
}
