//! Turns a file into the plan of an experiment: every combination of levels becomes a variant with its own plan.

mod combination;
mod lab;
mod level;
mod variant;
mod work;

use crate::draft::Checked;
use crate::file;
use crate::host::PlanHost;
use crate::options::{Combine, ExperimentFile, QuickTable};
use crate::values;
use anyhow::{Context, bail, ensure};
use combination::{NAME_MAX, combinations};
pub(crate) use level::services;
use std::path::{Path, PathBuf};
use sysdyno_analyze::compare::{COMPARED_METRICS, WORK_METRICS};
use sysdyno_record::experiment::{EXPERIMENT_SCHEMA, ExperimentPlan};
use sysdyno_record::plan::Plan;
use variant::VariantSource;
pub use work::with_words;

const DEFAULT_BLOCKS: u32 = 3;
const BLOCKS_MAX: u32 = 100;

/// Tables of the other kind of files, which are kept beside those of this one.
const TABLES_OF_TRY: [&str; 3] = ["a", "b", "try"];

/// Whether it is a file of the other kind.
fn has_two_sides(text: &str) -> bool {
    let table: Option<toml::Table> = text.parse().ok();
    table.is_some_and(|table| TABLES_OF_TRY.iter().any(|name| table.contains_key(*name)))
}

/// The file of an experiment.
#[derive(Clone, Debug)]
pub struct ExperimentDraft {
    /// Where it is.
    pub file: PathBuf,
    /// Whether its short version is meant.
    pub is_quick: bool,
}

impl ExperimentDraft {
    /// The plan.
    ///
    /// # Errors
    /// Whatever is wrong with the file, or with those that it names.
    pub fn finish(&self, here: &dyn PlanHost) -> anyhow::Result<Checked<ExperimentPlan>> {
        let path = self.file.as_path();
        let cannot = || format!("cannot read experiment '{}'", path.display());
        let text = file::read(path).with_context(cannot)?;
        ensure!(
            !has_two_sides(&text),
            "{}: it compares two sides\nhint: run it with `sysdyno try --experiment`",
            cannot()
        );
        let mut whole: ExperimentFile = toml::from_str(&text).with_context(cannot)?;
        let quick = whole.quick.take();
        let short = quick.map(|quick| shorten(whole.clone(), quick)).transpose().with_context(cannot)?;
        ensure!(
            short.is_some() || !self.is_quick,
            "{}: it has no short version\nhint: add a [quick] table",
            cannot()
        );
        // The one that is not measured is checked as well: a mistake in [quick] shows before somebody asks for it.
        let short = short.map(|short| plan(short, path, here).context("[quick]")).transpose();
        let whole = plan(whole, path, here).with_context(cannot)?;
        let checked = short.with_context(cannot)?.filter(|_| self.is_quick).unwrap_or(whole);
        ensure!(
            checked.plan.variants.len() >= 2,
            "{}: it has nothing to compare\nhint: add a [[factor]] with two levels, or two [[variant]]",
            cannot()
        );
        Ok(checked)
    }
}

/// What the short version has instead; it also wins over levels.
fn shorten(mut file: ExperimentFile, quick: QuickTable) -> anyhow::Result<ExperimentFile> {
    file.name.push_str("-quick");
    level::keep(&mut file.factors, &quick.levels).context("[quick]")?;
    file.blocks = quick.blocks.or(file.blocks);
    file.until_decided &= quick.blocks.is_none();
    file.budget = quick.budget.or(file.budget.take());
    file.takes = quick.takes.or(file.takes);
    file.services = quick.services;
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
        level.session = quick.session.clone().or(std::mem::take(&mut level.session));
        level.target = quick.target.clone().or(std::mem::take(&mut level.target));
        level.probe = quick.probe.clone().or(std::mem::take(&mut level.probe));
    }
    file.run = file.run.take().map(|run| quick.run.or(run));
    file.load = file.load.take().map(|load| quick.load.or(load));
    file.session = quick.session.or(std::mem::take(&mut file.session));
    file.target = quick.target.or(std::mem::take(&mut file.target));
    file.probe = quick.probe.or(std::mem::take(&mut file.probe));
    Ok(file)
}

/// The plan of what a file holds; `path` is where it was, beside which it names others.
pub(crate) fn plan(
    mut file: ExperimentFile,
    path: &Path,
    here: &dyn PlanHost,
) -> anyhow::Result<Checked<ExperimentPlan>> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    ensure!(
        !file.name.is_empty() && file.name.len() <= NAME_MAX && file.name.chars().all(is_plain),
        "its name '{}' may contain only letters, digits, '-', and '_'",
        file.name.escape_debug()
    );
    let blocks = file.blocks.unwrap_or(DEFAULT_BLOCKS);
    ensure!((1..=BLOCKS_MAX).contains(&blocks), "it has {blocks} blocks: use 1 to {BLOCKS_MAX}");
    check_metric(&file)?;
    let kinds = [file.run.is_some(), file.load.is_some(), file.work.is_some()];
    ensure!(
        kinds.into_iter().filter(|is_meant| *is_meant).count() <= 1,
        "a trial needs exactly one of [run] (a capacity search), [load], or [work] (commands)"
    );
    ensure!(
        !(file.profile && file.work.is_some()),
        "cannot profile commands: `profile` is for [load] and [run]\nhint: `sudo sysdyno profile` while a command runs"
    );
    let seed = file.seed.unwrap_or_else(|| here.seed());
    file.factors = file.factors.into_iter().map(level::spelled_out).collect::<anyhow::Result<_>>()?;
    let lab = lab::read(&file, path, here)?;
    let source = VariantSource { file: &file, lab: lab.as_ref(), seed, here };
    let (mut variants, mut notes) = (Vec::new(), Vec::new());
    for combination in combinations(&file)? {
        let name = combination.name.clone();
        let variant = source.variant(combination).with_context(|| format!("variant '{name}'"))?;
        variants.push(variant.plan);
        notes.extend(variant.notes);
    }
    // What is said of one variant is mostly said of all of them.
    notes.dedup();
    let plan = ExperimentPlan {
        schema: EXPERIMENT_SCHEMA.into(),
        name: file.name,
        variants,
        blocks,
        seed,
        budget: file.budget.map(|budget| budget.0),
        metric: file.metric,
        effect_ratio: file.effect.map(|effect| effect.0),
        is_noisy: file.noisy,
        until_decided: file.until_decided,
        is_profiled: file.profile,
        source: path.display().to_string(),
        lab: lab.map(|lab| lab.kept),
    };
    Ok(Checked { plan, notes })
}

/// Checks that the metric is one that trials of this kind have.
fn check_metric(file: &ExperimentFile) -> anyhow::Result<()> {
    let Some(metric) = &file.metric else { return Ok(()) };
    let known = COMPARED_METRICS.iter().map(|metric| metric.name);
    let names: Vec<&str> = match &file.work {
        Some(work) if work.counter.is_some() => WORK_METRICS.to_vec(),
        Some(_) => WORK_METRICS[..1].to_vec(),
        None => known.collect(),
    };
    ensure!(
        names.contains(&metric.as_str()),
        "'{metric}' is not a metric\nhint: use one of {}",
        names.join(", ")
    );
    Ok(())
}

/// Looks up the servers of a plan that was read from a folder: whether they may be loaded is asked anew. Tables of values are
/// read again, since a folder holds none.
pub fn resolve_again(plan: &mut ExperimentPlan) -> anyhow::Result<()> {
    for variant in &mut plan.variants {
        let load = match &mut variant.plan {
            Plan::Run(run) => &mut run.load,
            Plan::Load(load) => load,
            Plan::Work(_) => continue,
            Plan::Try(_) | Plan::Squeeze(_) | Plan::Probe(_) | Plan::Watch(_) => {
                bail!("cannot continue: a variant sends no load")
            }
        };
        load.target = sysdyno_load::target::resolve(&load.target.url)?;
        values::add(load)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::IDLE;

    /// How often a damaged text is refused, with its short version and without.
    fn refused_count(text: &str) -> usize {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.toml");
        let reads = file::damaged(text).into_iter().flat_map(|text| [(text.clone(), false), (text, true)]);
        let errors = reads.filter_map(|(text, is_quick)| {
            std::fs::write(&path, &text).expect("writes");
            let draft = ExperimentDraft { file: path.clone(), is_quick };
            Some((draft.finish(&IDLE).err()?, text))
        });
        errors
            .inspect(|(error, text)| {
                assert!(error.to_string().starts_with("cannot read experiment"), "{text}\n{error:#}");
            })
            .count()
    }

    #[test]
    fn a_damaged_file_is_read_or_refused() {
        // The test host knows no labs: of files with one, the rest is read. Their keys are tested where labs are known.
        for name in ["machine-vs-machine", "backlog-limits", "generator-limits", "server-shootout"] {
            let file = format!("{}/../../experiments/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            let count = refused_count(&std::fs::read_to_string(file).expect("is there"));
            assert!(count > 100, "{name}: {count}");
        }
    }
}
