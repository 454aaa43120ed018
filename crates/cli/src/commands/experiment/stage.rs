//! Where the trials of an experiment are made: on this host as it is, or in a lab that is put up for them.

use super::super::lab::{fetch, labs, provide, provide_there};
use super::shown;
use crate::args::LabHostOptions;
use crate::ui::{Signals, Ui};
use anyhow::{Context, anyhow};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use sysdyno_lab::{self as lab, LabPlan, LabStage, Labs, Missing, StageSetting, UpOrder};
use sysdyno_plan::options::{FleetOptions, ServerOptions, Typed};
use sysdyno_plan::with_words;
use sysdyno_record::event::SettingHeld;
use sysdyno_record::experiment::{ExperimentPlan, ExperimentVariant};
use sysdyno_record::service::ServiceReading;
use sysdyno_record::work::{ServiceCounter, WorkPlan};
use sysdyno_run::RunError;
use sysdyno_run::execute::Tuning;
use sysdyno_run::work::Count;

/// Where trials are made.
pub enum TrialPlace {
    /// On this host.
    Here,
    /// In a lab, whose hosts that are other machines are reached so.
    Lab(Box<LabStage>, LabHostOptions),
}

impl TrialPlace {
    /// Puts the lab of an experiment up, if it has one; `labs` have met its other machines already.
    pub fn of(
        (plan, path): (&ExperimentPlan, &Path),
        (labs, ways): (Option<Labs>, &LabHostOptions),
        signals: &Signals,
        ui: &Ui,
    ) -> anyhow::Result<Option<TrialPlace>> {
        let Some(kept) = &plan.lab else { return Ok(Some(TrialPlace::Here)) };
        let first = plan.variants.first().context("a variant is missing")?;
        let first = lab_plan_of(plan, first)?.context("its lab is missing")?;
        let path = std::fs::canonicalize(path).context("cannot find the experiment's folder")?;
        let order = UpOrder {
            plan: first,
            // Whose lab it is, tells who may take it away unasked.
            text: format!("# of experiment {}\n{}", path.display(), kept.text),
            beside: PathBuf::from(&kept.beside),
        };
        let labs = labs.context("its lab is missing")?;
        let stage = LabStage::up(labs, order, &kept.generator, &mut |line| ui.note(line), &|| {
            signals.is_interrupted()
        });
        match stage {
            Err(_) if signals.is_interrupted() => Ok(None),
            stage => Ok(Some(TrialPlace::Lab(Box::new(stage?), ways.clone()))),
        }
    }

    /// The hosts of a variant that are not those of this process: of the server, where that is another one than the
    /// generator's, and of the generator, if that is another machine.
    pub fn hosts(&self, plan: &ExperimentPlan, variant: &ExperimentVariant) -> anyhow::Result<ServerOptions> {
        let (TrialPlace::Lab(stage, ways), Some(service), Some(kept)) = (self, &variant.service, &plan.lab)
        else {
            return Ok(ServerOptions::default());
        };
        let lab = lab_plan_of(plan, variant)?.context("its lab is missing")?;
        let generator = lab.far(&kept.generator).and_then(|place| place.parse().ok()).map(Typed);
        let is_there = generator.is_none() && lab.host_of(service) == Some(&kept.generator);
        let server = stage.place(service).filter(|_| !is_there).map(Typed);
        let is_far = lab.host_of(service).is_some_and(|host| lab.far(host).is_some());
        let server_sudo = ways.server_sudo && is_far;
        let load_from = generator.into_iter().collect();
        let fleet = FleetOptions::behind(&ways.broker);
        let ssh = ways.ssh.clone();
        Ok(ServerOptions { server, server_sudo, load_from, ssh, fleet, ..ServerOptions::default() })
    }

    /// Where services behind that of a variant listen.
    pub fn behind(
        &self,
        plan: &ExperimentPlan,
        variant: &ExperimentVariant,
    ) -> anyhow::Result<Vec<SocketAddr>> {
        let lab = lab_plan_of(plan, variant)?;
        Ok(lab.zip(variant.service.as_ref()).map_or(Vec::new(), |(lab, service)| lab.behind(service)))
    }

    /// Makes the lab that of a variant.
    pub fn set(&mut self, plan: &ExperimentPlan, variant: &ExperimentVariant) -> anyhow::Result<()> {
        if let (TrialPlace::Lab(stage, _), Some(lab)) = (self, lab_plan_of(plan, variant)?) {
            stage.set_plan(lab);
        }
        Ok(())
    }

    /// Work with the places of services in its words filled in.
    pub fn fill(&self, plan: &WorkPlan) -> anyhow::Result<WorkPlan> {
        match self {
            TrialPlace::Here => Ok(plan.clone()),
            TrialPlace::Lab(stage, _) => with_words(plan, &|word| stage.fill(word)).map_err(said),
        }
    }

    /// Does `work` in the lab of a variant, with services `again` started anew, under its settings, which `work` is told.
    pub fn hold(
        &self,
        (variant, again): (&ExperimentVariant, &[String]),
        tuning: &Tuning,
        signals: &Signals,
        work: impl FnOnce(&[SettingHeld]) -> Result<(), RunError>,
    ) -> Result<Vec<String>, RunError> {
        let (TrialPlace::Lab(stage, _), Some(service)) = (self, &variant.service) else {
            return work(&[]).map(|()| Vec::new());
        };
        let (changes, during) = (&variant.settings, &variant.during);
        let setting = StageSetting { service, again, changes, during, tuning };
        stage.hold(&setting, work, &mut |_| {}, &|| signals.is_interrupted())
    }

    /// What services of the lab tell of themselves just now.
    pub fn readings(&self) -> Vec<ServiceReading> {
        match self {
            TrialPlace::Lab(stage, _) => stage.readings(),
            TrialPlace::Here => Vec::new(),
        }
    }

    /// What counts operations of commands just now; `None`: it does not tell.
    pub fn count(&self, counter: &ServiceCounter) -> Option<Count> {
        match self {
            TrialPlace::Lab(stage, _) => stage.count(counter),
            TrialPlace::Here => None,
        }
    }

    /// Mounts the volumes of the lab again, so that nothing of them is cached.
    pub fn remount(&self) -> Result<(), RunError> {
        match self {
            TrialPlace::Lab(stage, _) => stage.remount(),
            TrialPlace::Here => Ok(()),
        }
    }

    /// Takes the lab away, if there is one.
    pub fn end(self, ui: &Ui) -> anyhow::Result<()> {
        let TrialPlace::Lab(stage, _) = self else { return Ok(()) };
        let notes = stage.down(&mut |line| ui.note(line)).map_err(said)?;
        notes.iter().for_each(|note| ui.note(&format!("warning: {}", shown(note))));
        Ok(())
    }
}

/// Sees to it that what services of all variants need gets installed and fetched, if that is wanted, by the labs that are
/// returned; `None`: the experiment has no lab.
pub fn provide_all(
    plan: &ExperimentPlan,
    (tuning, ways): (&Tuning, &LabHostOptions),
    yes: bool,
    ui: &Ui,
) -> anyhow::Result<Option<Labs>> {
    let (mut all, mut plans) = (Missing::default(), Vec::new());
    for variant in &plan.variants {
        let Some(lab) = lab_plan_of(plan, variant)? else { return Ok(None) };
        lab::may_make(&lab).map_err(said)?;
        let missing = lab::missing(&lab).map_err(said)?;
        all.programs.extend(missing.programs);
        all.packages.extend(missing.packages);
        all.unknown.extend(missing.unknown);
        plans.push(lab);
    }
    provide(&all, yes, ui)?;
    let labs = labs(tuning.state.as_deref(), ways)?;
    plans.iter().try_for_each(|lab| {
        fetch(&labs, lab, yes, ui)?;
        provide_there(&labs, lab, yes, ui)
    })?;
    Ok(Some(labs))
}

/// What `experiment plan` says of the lab: its hosts, and the services of all variants.
pub fn described(plan: &ExperimentPlan) -> anyhow::Result<Vec<String>> {
    let labs = plan.variants.iter().map(|variant| lab_plan_of(plan, variant));
    let labs: Vec<LabPlan> = labs.collect::<anyhow::Result<Vec<_>>>()?.into_iter().flatten().collect();
    let Some(first) = labs.first() else { return Ok(Vec::new()) };
    let generator = plan.lab.as_ref().map_or("", |lab| &lab.generator);
    let mut lines =
        vec![format!("lab {}: hosts {}; load sent by {generator}", first.name, first.hosts.join(", "))];
    let services = labs.iter().flat_map(|lab| &lab.services);
    let services: BTreeSet<String> = services
        .filter(|one| !one.is_off)
        .map(|one| format!("  {}: {} on {}", one.name, one.recipe, one.host))
        .collect();
    lines.extend(services);
    Ok(lines)
}

/// The lab of a variant; `None`: the experiment has none.
fn lab_plan_of(plan: &ExperimentPlan, variant: &ExperimentVariant) -> anyhow::Result<Option<LabPlan>> {
    let Some(lab) = &plan.lab else { return Ok(None) };
    let understood = LabPlan::parse(&lab.text, Path::new(&plan.source))?;
    Ok(Some(understood.with(&variant.services)?))
}

/// Errors of the lab have their cause in their text already.
fn said(error: RunError) -> anyhow::Error {
    anyhow!("{error}")
}
