//! `sysdyno selftest diagnose`: known faults, planted in real services, and what the diagnosis says of each.

use super::experiment::{Making, beside, guard, make, provide_all};
use super::record::is_living;
use crate::args::{SelftestArgs, SelftestCommand, SelftestDiagnoseArgs};
use crate::exit::Exit;
use crate::here::{Here, draw_seed, tuning};
use crate::settings::SettingsFile;
use crate::ui::{Signals, Ui, causes};
use anyhow::{Context, ensure};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use sysdyno_analyze::analyze;
use sysdyno_analyze::judge::judge;

use sysdyno_lab::Labs;
use sysdyno_plan::fault::{BedCase, BedPlan, FaultSelection, beds};
use sysdyno_plan::options::Combine;
use sysdyno_record::analysis::{Analysis, Confidence};
use sysdyno_record::experiment::measured_cells;
use sysdyno_record::judged::{DiagnosisGrade, JudgedCase};
use sysdyno_record::store::{ExperimentFolder, Run};
use sysdyno_report::terminal::render_judged;
use sysdyno_run::clock;
use sysdyno_run::execute::Tuning;

pub fn selftest(args: SelftestArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match args.command {
        SelftestCommand::Diagnose(args) if args.list => list(ui),
        SelftestCommand::Diagnose(args) => diagnose(&args, ui),
    }
}

fn list(ui: &Ui) -> anyhow::Result<Exit> {
    for bed in beds()? {
        ui.print(&format!("{}: {}; healthy loads: {}", bed.name, bed.does, bed.healthy.len()));
        for fault in bed.faults {
            ui.print(&format!("  {:<22} {}\n      {}", fault.name, fault.diagnoses.join(" "), fault.does));
        }
    }
    Ok(Exit::Done)
}

fn diagnose(args: &SelftestDiagnoseArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let selection = FaultSelection { names: args.names.clone(), level: args.level.map(usize::from) };
    selection.check()?;
    let signals = Signals::listen().context("cannot listen to signals")?;
    let parent = match &args.folder {
        Some(folder) => folder.clone(),
        None => beside(&args.record.clone().or(SettingsFile::read()?.record).folder()?),
    };
    let tuning = tuning(args.host.root.clone(), args.host.state_dir.clone())?;
    let mut all = Vec::new();
    for bed in beds()? {
        for planned in bed.plans(&selection, &Here)? {
            // What is missing is asked for before anything is measured.
            let labs = provide_all(&planned.plan, (&tuning, &args.host.ways), args.host.yes, ui)?;
            all.push((bed.clone(), planned, labs));
        }
    }
    let (mut judged, mut is_whole) = (Vec::new(), true);
    for (bed, planned, labs) in all {
        ui.note(&format!("bed {}: {}; cases: {}", bed.name, bed.does, planned.cases.len()));
        match measure(planned, (labs, &tuning), &parent, args, (&signals, ui), &mut judged) {
            Ok(None) => {}
            Ok(Some(_)) => break,
            // What the other beds tell is told all the same.
            Err(error) => {
                ui.note(&format!("error: {}", causes(&error)));
                is_whole = false;
            }
        }
        if signals.is_interrupted() {
            break;
        }
    }
    if signals.is_interrupted() && judged.is_empty() {
        return Ok(Exit::Interrupted);
    }
    ensure!(!judged.is_empty(), "cannot judge anything: no case was measured");
    judged.sort_by(|a, b| (&a.fault, a.level, &a.name).cmp(&(&b.fault, b.level, &b.name)));
    if args.host.json {
        ui.print_json(&judged)?;
    } else {
        ui.print(&render_judged(&judged, &ui.style()));
    }
    let is_wrong = judged.iter().any(|case| case.grade == DiagnosisGrade::Wrong);
    Ok(match (signals.is_interrupted(), is_whole, is_wrong) {
        (true, ..) => Exit::Interrupted,
        (false, false, _) => Exit::CannotRun,
        (false, true, true) => Exit::CheckFailed,
        (false, true, false) => Exit::Done,
    })
}

/// Measures the cases of a bed and judges them; how the program has to end, if that is settled.
fn measure(
    BedPlan { plan, cases }: BedPlan,
    (labs, tuning): (Option<Labs>, &Tuning),
    parent: &Path,
    args: &SelftestDiagnoseArgs,
    (signals, ui): (&Signals, &Ui),
    judged: &mut Vec<JudgedCase>,
) -> anyhow::Result<Option<Exit>> {
    let host = &args.host;
    let guard = guard(&plan, tuning, host, ui)?;
    let now = clock::wall().0 / 1_000_000_000;
    let name = format!("{}-{now}-{:05x}", plan.name, draw_seed() & 0xf_ffff);
    let mut folder = ExperimentFolder::create(parent, &name, plan)?;
    let live = RefCell::default();
    let making =
        Making { tuning, guard: &guard, live: &live, signals, ui: &ui.quiet(host.quiet), resume: None };
    let exit = make(&mut folder, (labs, &host.ways), &making);
    for cell in measured_cells(&folder.lines) {
        let Some(case) = cases.get(cell.variant as usize) else { continue };
        judged.push(judged_case(case, folder.runs().join(&cell.run))?);
    }
    exit
}

fn judged_case(case: &BedCase, path: PathBuf) -> anyhow::Result<JudgedCase> {
    let run = Run::open(&path, &is_living)?;
    let analysis = run.analysis.clone().unwrap_or_else(|| analyze(&run.view()));
    let planted = case.fault.as_ref().map_or_else(Vec::new, |fault| fault.diagnoses.clone());
    Ok(JudgedCase {
        name: case.name.clone(),
        fault: case.fault.as_ref().map(|fault| fault.name.clone()),
        level: case.level,
        grade: judge(&analysis.findings, &planted),
        named: named(&analysis),
        planted,
        limit: analysis.limit,
        run: path,
    })
}

/// The diagnosis that stands first; `None`: none holds.
fn named(analysis: &Analysis) -> Option<String> {
    let first = analysis.findings.first().filter(|finding| finding.confidence > Confidence::Excluded);
    first.map(|finding| finding.id.clone())
}
