//! A combination of levels as a variant: what it sets up, where its load goes, and what a trial of it is.

use super::combination::Combination;
use super::{lab, level, work};
use crate::args::{LevelTable, MatrixFile, ServerOptions, TargetOptions};
use crate::experiment::{check_no_fence, command, settings};
use crate::plan;
use crate::ramp;
use crate::settings::Combine;
use crate::spread;
use crate::values;
use anyhow::{Context, bail, ensure};
use std::collections::BTreeSet;
use sysdyno_record::matrix::{MatrixVariant, ServiceChange};
use sysdyno_record::plan::Plan;
use sysdyno_record::work::WorkPlan;

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
        "it has commands, but the file has no [work]"
    );
    let urls: Vec<&String> = parts.iter().filter_map(|part| part.url.as_ref()).collect();
    if lab.is_none() && !services.is_empty() {
        bail!("it changes services but has no lab\nhint: add lab = \"lab.toml\"");
    }
    if let Some(table) = &file.work {
        ensure!(urls.is_empty() && file.url.is_none(), "it has both a url and measured commands");
        let is_bare =
            |part: &&LevelTable| part.prepare.is_empty() && (lab.is_some() || part.settings.is_empty());
        ensure!(
            parts.iter().all(is_bare),
            "it measures commands, which have their own 'prepare', and can have settings only in a lab"
        );
        let plan = work::plan(&work::merged(table, parts)?)?;
        let counted = plan.counter.as_ref();
        let Some(lab) = lab else {
            ensure!(counted.is_none(), "a service counts its operations, but it has no lab");
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
        _ => bail!("two of its levels set a server"),
    };
    let (url, service) = match lab {
        Some(lab) => lab.url(url, services).map(|(url, service)| (url, Some(service)))?,
        None => (url.clone(), None),
    };
    Ok(Aim { url, service, work: None })
}

/// The plan of a combination.
pub(super) fn variant(
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
        "it names processes to watch, which may differ between trials"
    );
    let mut target = file.target.clone();
    for part in parts {
        target = part.target.clone().or(target);
    }
    check_no_fence(&target)?;
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
