//! A combination of levels as a variant: what it sets up, where its load goes, and what a trial of it is.

use super::combination::Combination;
use super::lab::{Lab, LabOfVariant};
use super::{level, work};
use crate::change::settings;
use crate::command::command;
use crate::draft::{BaseDraft, Checked};
use crate::host::PlanHost;
use crate::load::LoadDraft;
use crate::options::{
    Combine, ExperimentFile, LevelTable, OriginOptions, ProbeOptions, ServerOptions, SessionOptions,
    TargetOptions,
};
use crate::search::{SearchDraft, SearchUse};
use anyhow::{Context, bail, ensure};
use std::collections::BTreeSet;
use sysdyno_record::command::CommandSpec;
use sysdyno_record::experiment::ExperimentVariant;
use sysdyno_record::plan::Plan;
use sysdyno_record::work::WorkPlan;

/// What a trial does to a variant's lab, or to this host: the server, and the service that is under load.
struct Aim {
    url: String,
    service: Option<String>,
    work: Option<WorkPlan>,
}

/// Where the variants of an experiment come from.
pub(super) struct VariantSource<'a> {
    /// The file.
    pub file: &'a ExperimentFile,
    /// Its lab; `None`: it has none.
    pub lab: Option<&'a Lab>,
    /// Of the loads.
    pub seed: u64,
    /// Where the plan is made.
    pub here: &'a dyn PlanHost,
}

impl VariantSource<'_> {
    fn aim(&self, lab: Option<&LabOfVariant<'_>>, parts: &[&LevelTable]) -> anyhow::Result<Aim> {
        let file = self.file;
        ensure!(
            file.work.is_some() || parts.iter().all(|part| part.work.is_none()),
            "it has commands, but the file has no [work]"
        );
        let urls: Vec<&String> = parts.iter().filter_map(|part| part.url.as_ref()).collect();
        if let Some(table) = &file.work {
            ensure!(
                !self.has_loads(parts),
                "it measures commands, which have neither probes nor an origin nor users"
            );
            ensure!(urls.is_empty() && file.url.is_none(), "it has both a url and measured commands");
            let is_bare =
                |part: &&LevelTable| part.prepare.is_empty() && (lab.is_some() || part.settings.is_empty());
            ensure!(
                parts.iter().all(is_bare),
                "it measures commands, which have their own 'prepare', and can have settings only in a lab"
            );
            let plan = work::plan(&work::merged(table, parts)?, self.here)?;
            let counted = plan.counter.as_ref();
            let Some(lab) = lab else {
                ensure!(counted.is_none(), "a service counts its operations, but it has no lab");
                ensure!(!plan.remounts, "it mounts volumes again, but it has no lab");
                return Ok(Aim { url: String::new(), service: None, work: Some(plan) });
            };
            ensure!(!plan.remounts || lab.plan.has_volume(), "it mounts volumes again, but its lab has none");
            let named = lab.first_named(&work::texts(&plan))?;
            counted.map_or(Ok(()), |counter| lab.plan.check_counter(counter))?;
            let service = counted.map(|counter| counter.service.clone()).or(named);
            return Ok(Aim { url: String::new(), service, work: Some(plan) });
        }
        let url = match urls.as_slice() {
            [] => file.url.as_ref().context("it has no url")?,
            [url] => url,
            _ => bail!("two of its levels set a server"),
        };
        let (url, service) = match lab {
            Some(lab) => lab.url(url).map(|(url, service)| (url, Some(service)))?,
            None => (url.clone(), None),
        };
        Ok(Aim { url, service, work: None })
    }

    /// Whether there are options that only loads have.
    fn has_loads(&self, parts: &[&LevelTable]) -> bool {
        let own = [(&self.file.probe, &self.file.origin, &self.file.session)];
        let mut all = parts.iter().map(|part| (&part.probe, &part.origin, &part.session)).chain(own);
        all.any(|(probe, origin, session)| {
            *probe != ProbeOptions::default()
                || *origin != OriginOptions::default()
                || *session != SessionOptions::default()
        })
    }

    /// What runs alongside the load of a variant.
    fn during(
        &self,
        lab: Option<&LabOfVariant<'_>>,
        parts: &[&LevelTable],
    ) -> anyhow::Result<Vec<CommandSpec>> {
        let texts = parts.iter().flat_map(|part| &part.during);
        let commands = texts.map(|text| command(text, false)).collect::<anyhow::Result<Vec<_>>>()?;
        ensure!(
            commands.is_empty() || lab.is_some(),
            "commands run beside a load only in a lab\nhint: add lab = \"lab.toml\""
        );
        Ok(commands)
    }

    /// The plan of a combination.
    pub(super) fn variant(&self, combination: Combination<'_>) -> anyhow::Result<Checked<ExperimentVariant>> {
        let Combination { name, levels, parts } = combination;
        let services = level::services(&parts, &self.file.services)?;
        ensure!(
            self.lab.is_some() || services.is_empty(),
            "it changes services but has no lab\nhint: add lab = \"lab.toml\""
        );
        let lab = self.lab.map(|lab| lab.with(&services)).transpose()?;
        let Aim { url, service, work } = self.aim(lab.as_ref(), &parts)?;
        let typed: Vec<String> = parts.iter().flat_map(|part| part.settings.iter().cloned()).collect();
        let settings = settings(&typed, &url)?;
        if let Some(lab) = &lab {
            lab.plan.check_settings(&settings)?;
        }
        let mut keys = BTreeSet::new();
        for change in &settings {
            ensure!(keys.insert(&change.key), "two of its levels change '{}'", change.key);
        }
        let commands = parts.iter().flat_map(|part| &part.prepare);
        let prepare = commands.map(|text| command(text, false)).collect::<anyhow::Result<Vec<_>>>()?;
        let during = self.during(lab.as_ref(), &parts)?;
        let takes =
            parts.iter().filter_map(|part| part.takes).max_by_key(|takes| takes.0).or(self.file.takes);
        let takes = takes.map(|takes| takes.0);
        let Checked { plan, notes } = match work {
            Some(work) => Checked { plan: Plan::Work(work), notes: Vec::new() },
            None => self.trial(url, lab.as_ref(), &parts)?,
        };
        let variant =
            ExperimentVariant { name, levels, settings, prepare, during, services, service, takes, plan };
        Ok(Checked { plan: variant, notes })
    }

    /// What a trial of a variant is.
    fn trial(
        &self,
        url: String,
        lab: Option<&LabOfVariant<'_>>,
        parts: &[&LevelTable],
    ) -> anyhow::Result<Checked<Plan>> {
        let file = self.file;
        let has_pids = |target: &TargetOptions| !target.watch_pid.is_empty();
        ensure!(
            !has_pids(&file.target) && !parts.iter().any(|part| has_pids(&part.target)),
            "it names processes to watch, which may differ between trials"
        );
        let mut target = file.target.clone();
        for part in parts {
            target = part.target.clone().or(target);
        }
        target.check_no_fence()?;
        let origin = parts.iter().fold(file.origin.clone(), |base, part| part.origin.clone().or(base));
        let probe = parts.iter().fold(file.probe.clone(), |base, part| part.probe.clone().or(base));
        ensure!(
            probe.probe_log.is_none(),
            "it has a probe log, but the folders of its runs hold every probe"
        );
        target.seed = Some(self.seed);
        let load_from = lab.map_or_else(Vec::new, LabOfVariant::load_from);
        let servers = ServerOptions { load_from, ..ServerOptions::default() };
        let is_in_lab = lab.is_some();
        let draft = BaseDraft { url, target, origin, probe, servers, is_in_lab, ..BaseDraft::default() };
        let session = parts.iter().fold(file.session.clone(), |base, part| part.session.clone().or(base));
        if let Some(base) = &file.load {
            let load = parts.iter().fold(base.clone(), |base, part| part.load.clone().or(base));
            let load = LoadDraft { draft, load, session, ..LoadDraft::default() }.finish(self.here)?;
            return Ok(Checked { plan: Plan::Load(load.plan), notes: load.notes });
        }
        ensure!(
            session == SessionOptions::default(),
            "a search for the capacity has no simulated users\nhint: [load] instead of [run]"
        );
        let base = file.run.clone().unwrap_or_default();
        let capacity = parts.iter().fold(base, |base, part| part.run.clone().or(base));
        let used = SearchUse::Compared;
        let search = SearchDraft { draft, capacity, used, ..SearchDraft::default() }.finish(self.here)?;
        Ok(Checked { plan: Plan::Run(search.plan), notes: search.notes })
    }
}
