//! `sysdyno experiment import`: machines, by the results of one experiment that ran on each of them.

use super::result::{is_work, measured};
use super::shown;
use crate::args::ExperimentImportArgs;
use crate::commands::compare;
use crate::commands::work::profile as work_profile;
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::{Context, bail, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use sysdyno_analyze::compare::{
    COMPARED_METRICS, CompareOptions, MACHINE_METRICS, MachinesOptions, RunProfile, SIDES_MAX,
    VariantOnMachines, compare_machines, compare_machines_at_work, experiments_apart,
};
use sysdyno_analyze::experiment::MeasuredVariant;
use sysdyno_plan::read_file;
use sysdyno_record::comparison::RunsComparison;
use sysdyno_record::experiment::{ExperimentPlan, measured_cells};
use sysdyno_record::facts::HostFacts;
use sysdyno_record::power::PowerLog;
use sysdyno_record::store::{ExperimentFolder, read_run_facts};
use sysdyno_report::{compare as text, html};

/// The folder of an export that results are put into.
const RESULTS: &str = "results";
/// Most results that are looked at in a folder.
const MAX_RESULTS: usize = 1000;
/// Most runs of all machines.
const MAX_RUNS: usize = 2000;
/// Gates of what others did on a machine.
const OF_NOISE: [&str; 2] = ["C12", "C13"];

pub(super) fn import(args: &ExperimentImportArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let allowed = compare::allowed(&args.allowed)?;
    ensure!(args.folders.len() <= SIDES_MAX, "cannot compare more than {SIDES_MAX} machines at once");
    let machines: Vec<ExperimentFolder> =
        args.folders.iter().map(|folder| find(folder)).collect::<anyhow::Result<_>>()?;
    for machine in &machines {
        let path = machine.path().display();
        machine.damage.iter().for_each(|damage| ui.note(&format!("warning: {path}: {damage}")));
    }
    check(&machines)?;
    let meters = meters(args)?;
    let options = |facts: Vec<HostFacts>| options(&machines[0].plan, (args, &allowed), facts);
    let comparison = match is_work(&machines[0].plan) {
        true => at_work(&machines, options, ui)?,
        false => under_load(&machines, &meters, options, ui)?,
    };
    print(&comparison, args, ui)
}

/// The results in a folder: it is an experiment, or an export with one.
fn find(folder: &Path) -> anyhow::Result<ExperimentFolder> {
    if folder.join("matrix.json").exists() {
        return Ok(ExperimentFolder::open(folder)?);
    }
    let results = folder.join(RESULTS);
    let cannot = || format!("cannot import '{}'", folder.display());
    let entries = fs::read_dir(&results).with_context(|| {
        format!("{}: it has no results\nhint: its README.md says how to run it", cannot())
    })?;
    let inside = entries.take(MAX_RESULTS).flatten().map(|entry| entry.path());
    let found: Vec<PathBuf> = inside.filter(|path| path.join("matrix.json").exists()).collect();
    match found.as_slice() {
        [one] => Ok(ExperimentFolder::open(one)?),
        [] => bail!("{}: there is no experiment in '{}'", cannot(), results.display()),
        [one, ..] => bail!(
            "{}: it has {} results\nhint: name one of them, such as '{}'",
            cannot(),
            found.len(),
            one.display()
        ),
    }
}

/// Whether all of these are results of one experiment.
fn check(machines: &[ExperimentFolder]) -> anyhow::Result<()> {
    let (first, others) = machines.split_first().context("there are no folders")?;
    for other in others {
        let (a, b) = (first.path().display(), other.path().display());
        ensure!(first.path() != other.path(), "cannot compare '{a}' with itself");
        if let Some(cause) = experiments_apart(&first.plan, &other.plan) {
            bail!(
                "cannot compare '{a}' with '{b}': they are not of one experiment, since {cause}\nhint: `sysdyno \
                 experiment export`, and run that folder on each machine"
            );
        }
    }
    let runs: usize = machines.iter().map(|machine| measured_cells(&machine.lines).len()).sum();
    ensure!(runs <= MAX_RUNS, "cannot compare {runs} runs at once: the maximum is {MAX_RUNS}");
    Ok(())
}

/// The readings of meters, by machine.
fn meters(args: &ExperimentImportArgs) -> anyhow::Result<BTreeMap<usize, PowerLog>> {
    let mut meters = BTreeMap::new();
    for option in &args.meters {
        let cannot = || format!("cannot read meter '{}'", option.file.display());
        ensure!(option.machine < args.folders.len(), "{}: there is no machine of this letter", cannot());
        let text = read_file(&option.file).with_context(cannot)?;
        let log = PowerLog::parse(&text).with_context(cannot)?;
        ensure!(meters.insert(option.machine, log).is_none(), "{}: its machine has another one", cannot());
    }
    Ok(meters)
}

fn options(
    plan: &ExperimentPlan,
    (args, allowed): (&ExperimentImportArgs, &[String]),
    facts: Vec<HostFacts>,
) -> MachinesOptions {
    let noise = if plan.is_noisy { OF_NOISE.as_slice() } else { &[] };
    let deciding = plan.metric.as_deref();
    let known = COMPARED_METRICS.iter().map(|metric| metric.name);
    // The rate first, and behind it what it is divided by.
    let (rates, others): (Vec<&str>, Vec<&str>) =
        known.partition(|name| ["capacity", "goodput"].contains(name));
    let machine = MACHINE_METRICS.iter().map(|metric| metric.name);
    let metrics = rates.into_iter().chain(machine).chain(others).filter(|name| Some(*name) != deciding);
    MachinesOptions {
        experiment: plan.name.clone(),
        names: args.folders.iter().map(|folder| folder.display().to_string()).collect(),
        facts,
        compare: CompareOptions {
            margin_ratio: plan.effect_ratio,
            metrics: deciding.into_iter().chain(metrics).map(str::to_owned).collect(),
            allowed: allowed.iter().cloned().chain(noise.iter().map(|name| (*name).to_owned())).collect(),
            workload: args.workload.0,
        },
    }
}

fn under_load(
    machines: &[ExperimentFolder],
    meters: &BTreeMap<usize, PowerLog>,
    options: impl Fn(Vec<HostFacts>) -> MachinesOptions,
    ui: &Ui,
) -> anyhow::Result<RunsComparison> {
    let read = |(index, machine): (usize, &ExperimentFolder)| {
        let mut of_machine = measured(machine, |path| compare::read(path, ui))?;
        let runs = of_machine.iter_mut().flat_map(|variant| &mut variant.runs);
        if let Some(meter) = meters.get(&index) {
            runs.for_each(|run| run.set_meter(meter));
        }
        anyhow::Ok(of_machine)
    };
    let all: Vec<_> = machines.iter().enumerate().map(read).collect::<anyhow::Result<_>>()?;
    let variants = joined(machines, all, ui)?;
    let facts =
        |runs: &Vec<RunProfile>| runs.first().map(|run| run.machine_facts().clone()).unwrap_or_default();
    let facts = variants.first().map(|variant| variant.machines.iter().map(facts).collect());
    Ok(compare_machines(variants, &options(facts.unwrap_or_default())))
}

fn at_work(
    machines: &[ExperimentFolder],
    options: impl Fn(Vec<HostFacts>) -> MachinesOptions,
    ui: &Ui,
) -> anyhow::Result<RunsComparison> {
    let all = machines.iter().map(|machine| measured(machine, work_profile));
    let variants = joined(machines, all.collect::<anyhow::Result<_>>()?, ui)?;
    let facts = machines.iter().map(|machine| {
        let first = measured_cells(&machine.lines).into_iter().next();
        first.and_then(|cell| read_run_facts(&machine.runs().join(cell.run)).ok()).unwrap_or_default()
    });
    let metric = machines[0].plan.metric.as_deref();
    Ok(compare_machines_at_work(variants, metric, &options(facts.collect())))
}

/// The variants that were measured on all machines, in the order of the first machine's.
fn joined<R>(
    machines: &[ExperimentFolder],
    all: Vec<Vec<MeasuredVariant<R>>>,
    ui: &Ui,
) -> anyhow::Result<Vec<VariantOnMachines<R>>> {
    let mut by_name: Vec<BTreeMap<String, Vec<R>>> = Vec::new();
    for (machine, variants) in machines.iter().zip(all) {
        let known = variants
            .into_iter()
            .filter_map(|one| Some((machine.plan.variants.get(one.variant)?.name.clone(), one.runs)));
        by_name.push(known.collect());
    }
    let mut joined = Vec::new();
    for variant in &machines[0].plan.variants {
        let runs: Vec<Option<Vec<R>>> = by_name.iter_mut().map(|known| known.remove(&variant.name)).collect();
        match runs.into_iter().collect::<Option<Vec<Vec<R>>>>() {
            Some(machines) => joined.push(VariantOnMachines { name: variant.name.clone(), machines }),
            None => ui.note(&format!("warning: '{}' was not measured on all machines", shown(&variant.name))),
        }
    }
    ensure!(!joined.is_empty(), "cannot compare anything: no variant was measured on all machines");
    Ok(joined)
}

fn print(comparison: &RunsComparison, args: &ExperimentImportArgs, ui: &Ui) -> anyhow::Result<Exit> {
    if let Some(path) = &args.report {
        fs::write(path, html::render_comparison(comparison, None))
            .with_context(|| format!("cannot write report '{}'", path.display()))?;
    }
    match args.json {
        true => ui.print_json(comparison)?,
        false => ui.print(&text::render(comparison, args.report.as_deref(), &ui.style())),
    }
    Ok(if comparison.is_refused { Exit::Untrusted } else { Exit::Done })
}
