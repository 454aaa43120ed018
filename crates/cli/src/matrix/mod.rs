//! From a file to the plan of a matrix: every combination of levels becomes a variant with a plan of its own.

mod lab;
mod level;
mod work;

use crate::args::{LevelTable, MatrixFile, QuickTable, ServerOptions, TargetOptions};
use crate::experiment::{command, settings};
use crate::plan;
use crate::ramp;
use crate::settings::Combine;
use crate::spread;
use crate::values;
use anyhow::{Context, bail, ensure};
pub use lab::plan_of as lab_plan_of;
use std::collections::BTreeSet;
use std::path::Path;
use sysdyno_analyze::compare::{COMPARED_METRICS, WORK_METRICS};
use sysdyno_analyze::matrix::VARIANTS_MAX;
use sysdyno_record::matrix::{MATRIX_SCHEMA, MatrixPlan, MatrixVariant, ServiceChange};
use sysdyno_record::plan::Plan;
use sysdyno_record::work::WorkPlan;
pub use work::with_words;

const DEFAULT_BLOCKS: u32 = 3;
const BLOCKS_MAX: u32 = 100;

/// Longest name of a matrix, a factor, a level. Unit: characters.
const NAME_MAX: usize = 60;

/// Tables of the other kind of files, which are kept beside those of this one.
const TABLES_OF_TRY: [&str; 3] = ["a", "b", "try"];

/// Whether it is a file of the other kind.
fn has_two_sides(text: &str) -> bool {
    let table: Option<toml::Table> = text.parse().ok();
    table.is_some_and(|table| TABLES_OF_TRY.iter().any(|name| table.contains_key(*name)))
}

/// The plan that a file says, or its short version.
pub fn read(path: &Path, is_quick: bool) -> anyhow::Result<MatrixPlan> {
    let cannot = || format!("cannot read experiment '{}'", path.display());
    let text = crate::file::read(path).with_context(cannot)?;
    ensure!(
        !has_two_sides(&text),
        "{}: it compares two sides\nhint: `sysdyno try --experiment` does that",
        cannot()
    );
    let mut file: MatrixFile = toml::from_str(&text).with_context(cannot)?;
    let quick = file.quick.take();
    if is_quick {
        let quick = quick.with_context(|| {
            format!("{}: it has no short version\nhint: its [quick] table would say what is other", cannot())
        })?;
        shorten(&mut file, quick);
    }
    plan_of(file, path).with_context(cannot)
}

/// What the short version has instead; it also wins over levels.
fn shorten(file: &mut MatrixFile, quick: QuickTable) {
    file.name.push_str("-quick");
    file.blocks = quick.blocks.or(file.blocks);
    file.budget = quick.budget.or(file.budget.take());
    file.takes = quick.takes.or(file.takes);
    if let Some(work) = &mut file.work {
        work.rounds = quick.rounds.or(work.rounds);
    }
    let levels = file.factors.iter_mut().flat_map(|factor| &mut factor.levels).chain(&mut file.variants);
    for level in levels {
        level.takes = level.takes.filter(|_| quick.takes.is_none());
        if let Some(work) = &mut level.work {
            work.rounds = quick.rounds.or(work.rounds);
        }
        level.run = quick.run.clone().or(std::mem::take(&mut level.run));
        level.load = quick.load.clone().or(std::mem::take(&mut level.load));
        level.target = quick.target.clone().or(std::mem::take(&mut level.target));
    }
    file.run = file.run.take().map(|run| quick.run.or(run));
    file.load = file.load.take().map(|load| quick.load.or(load));
    file.target = quick.target.or(std::mem::take(&mut file.target));
}

fn plan_of(mut file: MatrixFile, path: &Path) -> anyhow::Result<MatrixPlan> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    ensure!(
        !file.name.is_empty() && file.name.len() <= NAME_MAX && file.name.chars().all(is_plain),
        "its name '{}' is not of letters, digits, - and _",
        file.name.escape_debug()
    );
    let blocks = file.blocks.unwrap_or(DEFAULT_BLOCKS);
    ensure!((1..=BLOCKS_MAX).contains(&blocks), "it has {blocks} blocks: give 1 to {BLOCKS_MAX}");
    if let Some(metric) = &file.metric {
        let known = COMPARED_METRICS.iter().map(|metric| metric.name);
        let names: Vec<&str> = match &file.work {
            Some(work) if work.counter.is_some() => WORK_METRICS.to_vec(),
            Some(_) => WORK_METRICS[..1].to_vec(),
            None => known.collect(),
        };
        ensure!(
            names.contains(&metric.as_str()),
            "'{metric}' is no metric\nhint: write one of {}",
            names.join(", ")
        );
    }
    let kinds = [file.run.is_some(), file.load.is_some(), file.work.is_some()];
    ensure!(
        kinds.into_iter().filter(|is_meant| *is_meant).count() <= 1,
        "a trial is a search for the capacity ([run]), a load ([load]) or commands ([work]), one of them"
    );
    let seed = file.seed.unwrap_or_else(plan::draw_seed);
    file.factors = file.factors.into_iter().map(level::spelled_out).collect::<anyhow::Result<_>>()?;
    let lab = lab::read(&file, path)?;
    let combinations = combinations(&file)?;
    let variants = combinations
        .into_iter()
        .map(|combination| {
            let name = combination.name.clone();
            variant((&file, lab.as_ref()), combination, seed).with_context(|| format!("variant '{name}'"))
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    Ok(MatrixPlan {
        schema: MATRIX_SCHEMA.into(),
        name: file.name,
        variants,
        blocks,
        seed,
        budget: file.budget.map(|budget| budget.0),
        metric: file.metric,
        effect_ratio: file.effect.map(|effect| effect.0),
        is_noisy: file.noisy,
        source: path.display().to_string(),
        lab: lab.map(|lab| lab.kept),
    })
}

/// One level of every factor, or a variant that stands for itself.
struct Combination<'a> {
    name: String,
    levels: Vec<[String; 2]>,
    parts: Vec<&'a LevelTable>,
}

/// The first combination has the first level of every factor; the last factor changes first.
fn combinations(file: &MatrixFile) -> anyhow::Result<Vec<Combination<'_>>> {
    let mut combined = vec![Combination { name: String::new(), levels: Vec::new(), parts: Vec::new() }];
    for factor in &file.factors {
        check_names(&factor.name, &factor.levels)?;
        let with = |before: &Combination<'_>, level: &'_ LevelTable| {
            [before.name.as_str(), level.name.as_str()]
                .into_iter()
                .filter(|name| !name.is_empty())
                .collect::<Vec<_>>()
                .join(", ")
        };
        combined = combined
            .iter()
            .flat_map(|before| factor.levels.iter().map(move |level| (before, level)))
            .map(|(before, level)| Combination {
                name: with(before, level),
                levels: [before.levels.clone(), vec![[factor.name.clone(), level.name.clone()]]].concat(),
                parts: [before.parts.clone(), vec![level]].concat(),
            })
            .collect();
        ensure!(combined.len() <= VARIANTS_MAX, "it has more than {VARIANTS_MAX} combinations");
    }
    if file.factors.is_empty() {
        combined.clear();
    }
    if !file.variants.is_empty() {
        check_names("variant", &file.variants)?;
    }
    let own = file.variants.iter().map(|level| Combination {
        name: level.name.clone(),
        levels: Vec::new(),
        parts: vec![level],
    });
    combined.extend(own);
    ensure!(
        combined.len() >= 2,
        "it has nothing to compare\nhint: give a [[factor]] with two levels, or two [[variant]]"
    );
    ensure!(combined.len() <= VARIANTS_MAX, "it has more than {VARIANTS_MAX} variants");
    Ok(combined)
}

fn check_names(factor: &str, levels: &[LevelTable]) -> anyhow::Result<()> {
    ensure!(!levels.is_empty(), "factor '{factor}' has no level");
    let mut names = BTreeSet::new();
    for name in levels.iter().map(|level| level.name.as_str()).chain([factor]) {
        check_name(&format!("a level of '{factor}'"), name)?;
    }
    for level in levels {
        ensure!(names.insert(&level.name), "'{factor}' has two levels with the name '{}'", level.name);
    }
    Ok(())
}

fn check_name(what: &str, name: &str) -> anyhow::Result<()> {
    let is_good = !name.is_empty() && name.chars().count() <= NAME_MAX && !name.chars().any(char::is_control);
    ensure!(is_good, "{what} has no name, or one that is too long");
    Ok(())
}

/// What a trial does to a variant's lab, or to this host: the server, and the service that is under load.
struct Aim {
    url: String,
    service: Option<String>,
    work: Option<WorkPlan>,
}

fn aim(
    (file, lab): (&MatrixFile, Option<&lab::Lab>),
    parts: &[&LevelTable],
    services: &[ServiceChange],
) -> anyhow::Result<Aim> {
    ensure!(
        file.work.is_some() || parts.iter().all(|part| part.work.is_none()),
        "it has commands, and the file no [work]"
    );
    let urls: Vec<&String> = parts.iter().filter_map(|part| part.url.as_ref()).collect();
    if lab.is_none() && !services.is_empty() {
        bail!("it changes services, and has no lab\nhint: lab = \"lab.toml\" names one");
    }
    if let Some(table) = &file.work {
        ensure!(urls.is_empty() && file.url.is_none(), "it has a url, and commands that are measured");
        let is_bare =
            |part: &&LevelTable| part.prepare.is_empty() && (lab.is_some() || part.settings.is_empty());
        ensure!(
            parts.iter().all(is_bare),
            "it measures commands, which have a 'prepare' of their own, and settings only in a lab"
        );
        let plan = work::plan(&work::merged(table, parts)?)?;
        let counted = plan.counter.as_ref();
        let Some(lab) = lab else {
            ensure!(counted.is_none(), "a service counts its operations, and it has no lab");
            return Ok(Aim { url: String::new(), service: None, work: Some(plan) });
        };
        let named = lab.first_named(&work::texts(&plan), services)?;
        counted.map_or(Ok(()), |counter| lab.check_counter(counter, services))?;
        let service = counted.map(|counter| counter.service.clone()).or(named);
        return Ok(Aim { url: String::new(), service, work: Some(plan) });
    }
    let url = match urls.as_slice() {
        [] => file.url.as_ref().context("it has no url")?,
        [url] => url,
        _ => bail!("two of its levels name a server"),
    };
    let (url, service) = match lab {
        Some(lab) => lab.url(url, services).map(|(url, service)| (url, Some(service)))?,
        None => (url.clone(), None),
    };
    Ok(Aim { url, service, work: None })
}

fn variant(
    (file, lab): (&MatrixFile, Option<&lab::Lab>),
    combination: Combination<'_>,
    seed: u64,
) -> anyhow::Result<MatrixVariant> {
    let Combination { name, levels, parts } = combination;
    let services = level::services(&parts)?;
    let Aim { url, service, work } = aim((file, lab), &parts, &services)?;
    let url = url.as_str();
    let typed: Vec<String> = parts.iter().flat_map(|part| part.settings.iter().cloned()).collect();
    let changes = settings(&typed, url)?;
    if let Some(lab) = &lab {
        lab.check_settings(&changes, &services)?;
    }
    let mut keys = BTreeSet::new();
    for change in &changes {
        ensure!(keys.insert(&change.key), "two of its levels change '{}'", change.key);
    }
    let commands = parts.iter().flat_map(|part| &part.prepare);
    let prepare = commands.map(|text| command(text, false)).collect::<anyhow::Result<Vec<_>>>()?;
    let takes = parts.iter().filter_map(|part| part.takes).max_by_key(|takes| takes.0).or(file.takes);
    let takes = takes.map(|takes| takes.0);
    let plan = match work {
        Some(work) => Plan::Work(work),
        None => trial((file, lab), url, &parts, seed)?,
    };
    Ok(MatrixVariant { name, levels, settings: changes, prepare, services, service, takes, plan })
}

/// What a trial of a variant is.
fn trial(
    (file, lab): (&MatrixFile, Option<&lab::Lab>),
    url: &str,
    parts: &[&LevelTable],
    seed: u64,
) -> anyhow::Result<Plan> {
    let has_pids = |target: &TargetOptions| !target.watch_pid.is_empty();
    ensure!(
        !has_pids(&file.target) && !parts.iter().any(|part| has_pids(&part.target)),
        "it names processes to watch, which may not be the same in every trial"
    );
    let mut target = file.target.clone();
    for part in parts {
        target = part.target.clone().or(target);
    }
    target.seed = Some(seed);
    let load_from = lab.map_or_else(Vec::new, lab::Lab::load_from);
    let hosts = ServerOptions { load_from, ..ServerOptions::default() };
    if let Some(base) = &file.load {
        let options = parts.iter().fold(base.clone(), |base, part| part.load.clone().or(base));
        let mut load = plan::load(url, &options, &target)?;
        ramp::add(&mut load, &options)?;
        values::add(&mut load)?;
        spread::add(&mut load, &hosts)?;
        return Ok(Plan::Load(load));
    }
    let base = file.run.clone().unwrap_or_default();
    let options = parts.iter().fold(base, |base, part| part.run.clone().or(base));
    let mut run = plan::run(url, &options, &target)?;
    values::add(&mut run.load)?;
    spread::add_to_search(&mut run, &hosts)?;
    Ok(Plan::Run(run))
}

/// Looks up the servers of a plan that was read from a folder: whether they may be loaded is asked anew. Tables of values are
/// read again, since a folder holds none.
pub fn resolve_again(plan: &mut MatrixPlan) -> anyhow::Result<()> {
    for variant in &mut plan.variants {
        let load = match &mut variant.plan {
            Plan::Run(run) => &mut run.load,
            Plan::Load(load) => load,
            Plan::Work(_) => continue,
            Plan::Experiment(_) => bail!("cannot go on: a variant is an experiment"),
        };
        load.target = sysdyno_load::target::resolve(&load.target.url)?;
        values::add(load)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    /// How often a damaged text is refused, with its short version and without.
    fn refused_count(text: &str) -> usize {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.toml");
        let reads =
            crate::file::damaged(text).into_iter().flat_map(|text| [(text.clone(), false), (text, true)]);
        let errors = reads.filter_map(|(text, is_quick)| {
            std::fs::write(&path, &text).expect("writes");
            Some((super::read(&path, is_quick).err()?, text))
        });
        errors
            .inspect(|(error, text)| {
                assert!(error.to_string().starts_with("cannot read experiment"), "{text}\n{error:#}");
            })
            .count()
    }

    #[test]
    fn a_damaged_file_is_read_or_refused() {
        for name in ["backlog-limits", "generator-limits", "server-shootout"] {
            let file = format!("{}/../../experiments/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            let count = refused_count(&std::fs::read_to_string(file).expect("is there"));
            assert!(count > 100, "{name}: {count}");
        }
    }
}
