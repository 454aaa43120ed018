//! `sysdyno show` and `report`: recorded runs again.

use super::record::{is_living, print};
use super::{autotune, probe, squeeze, tryout, watched, work};
use crate::args::{ComparisonForm, OutputForm, RecordOptions, ReportArgs, ShowArgs};
use crate::exit::Exit;
use crate::settings::SettingsFile;
use crate::ui::Ui;
use anyhow::{Context, bail, ensure};
use std::path::{Path, PathBuf};
use sysdyno_analyze::analyze;
use sysdyno_plan::options::Combine;
use sysdyno_record::plan::Plan;
use sysdyno_record::store::{AutotuneFolder, Run, list};
use sysdyno_report::{ReportInput, html};

pub fn show(args: ShowArgs, ui: &Ui) -> anyhow::Result<Exit> {
    ensure!(
        args.output.form() != OutputForm::Jsonl,
        "cannot print a recorded run while it happens\nhint: --output json prints the result; intervals.jsonl in the run's \
         folder has a line for each second"
    );
    if let Some(lines) = args.run.as_deref().filter(|path| path.is_file()) {
        return probe::show_lines(lines, args.output.form(), ui);
    }
    if let Some(path) = args.run.as_deref().filter(|path| AutotuneFolder::is_at(path)) {
        return autotune::show(path, args.output.form() == OutputForm::Json, ui);
    }
    let run = open(args.run.as_deref(), args.record)?;
    warn_of_damage(&run, ui);
    if args.verify {
        let differences = run.verify()?;
        differences.iter().for_each(|difference| ui.note(&format!("differs: {difference}")));
        if !differences.is_empty() {
            return Ok(Exit::Untrusted);
        }
    }
    if let Some(Plan::Work(plan)) = &run.plan {
        work::print(&run, plan, args.output.form(), ui)?;
        return Ok(work::exit_of(&run, plan));
    }
    if let Some(conclusion) = squeeze::conclusion_of(&run) {
        squeeze::print(&run, &conclusion, args.output.form() == OutputForm::Json, ui);
        return Ok(squeeze::exit_of(&conclusion));
    }
    if let Some(Plan::Probe(_)) = &run.plan {
        return probe::show(&run, args.output.form(), ui);
    }
    if let Some(Plan::Watch(_)) = &run.plan {
        let analysis = run.analysis.clone().unwrap_or_else(|| analyze(&run.view()));
        watched::print(&run, &analysis, args.output.form(), ui)?;
        return Ok(Exit::of(&analysis));
    }
    if let Some(conclusion) = tryout::conclusion_of(&run) {
        tryout::print(&run, &conclusion, ComparisonForm::of_json(args.output.form() == OutputForm::Json), ui);
        return Ok(tryout::exit_of(&conclusion, &[]));
    }
    let analysis = run.analysis.clone().unwrap_or_else(|| analyze(&run.view()));
    print(&run, &ReportInput::new(&run, &analysis), args.output.form(), ui);
    Ok(Exit::of(&analysis))
}

pub fn report(args: ReportArgs, ui: &Ui) -> anyhow::Result<Exit> {
    if let Some(lines) = args.run.as_deref().filter(|path| path.is_file()) {
        let beside = || PathBuf::from(format!("{}.html", lines.display()));
        let path = args.output.unwrap_or_else(beside);
        write(&path, &probe::page_of_lines(lines)?)?;
        ui.print(&path.display().to_string());
        return Ok(Exit::Done);
    }
    let run = open(args.run.as_deref(), args.record)?;
    warn_of_damage(&run, ui);
    let page = page_of(&run);
    let path = match args.output {
        Some(path) => {
            write(&path, &page)?;
            path
        }
        None => {
            run.write_report(&page)?;
            run.path().join("report.html")
        }
    };
    ui.print(&path.display().to_string());
    Ok(Exit::Done)
}

fn write(path: &Path, page: &str) -> anyhow::Result<()> {
    std::fs::write(path, page).with_context(|| format!("cannot write report '{}'", path.display()))
}

/// The page of a run.
pub(super) fn page_of(run: &Run) -> String {
    if let Some(conclusion) = squeeze::conclusion_of(run) {
        return squeeze::page(run, &conclusion);
    }
    match (&run.plan, tryout::conclusion_of(run)) {
        (Some(Plan::Work(plan)), _) => work::report(run, plan),
        (Some(Plan::Probe(_)), _) => probe::page(run),
        (_, Some(conclusion)) => tryout::page(run, &conclusion),
        (_, None) => {
            let analysis = run.analysis.clone().unwrap_or_else(|| analyze(&run.view()));
            html::render(&ReportInput::new(run, &analysis))
        }
    }
}

pub(super) fn warn_of_damage(run: &Run, ui: &Ui) {
    if run.is_incomplete {
        ui.note("warning: this run is incomplete: the process that recorded it died");
    }
    run.damage.iter().for_each(|damage| ui.note(&format!("warning: {damage}")));
}

/// Opens a run by its folder, its name, the end of its name, or as the newest.
pub(super) fn open(name: Option<&Path>, record: RecordOptions) -> anyhow::Result<Run> {
    let path = match name {
        Some(path) if path.is_dir() => path.to_owned(),
        _ => find(name, &record.or(SettingsFile::read()?.record).folder()?)?,
    };
    Ok(Run::open(&path, &is_living)?)
}

/// The folder of a run by its name or the end of it, or the newest one.
pub(super) fn find(name: Option<&Path>, folder: &Path) -> anyhow::Result<PathBuf> {
    let listed = if folder.exists() { list(folder)? } else { Vec::new() };
    let mut paths = listed.into_iter().map(|listing| listing.path);
    let Some(name) = name.map(|name| name.to_string_lossy().into_owned()) else {
        return paths.next().with_context(|| format!("cannot show a run: no runs in '{}'", folder.display()));
    };
    let is_named =
        |path: &PathBuf| path.file_name().is_some_and(|file| file.to_string_lossy().ends_with(&name));
    let found: Vec<PathBuf> = paths.filter(is_named).collect();
    match found.as_slice() {
        [path] => Ok(path.clone()),
        [] => bail!("cannot find run '{name}' in '{}'", folder.display()),
        _ => bail!("cannot choose a run: {} names end in '{name}'", found.len()),
    }
}
