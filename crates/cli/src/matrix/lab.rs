//! The lab of an experiment: read from its file or from the experiment's, and what each variant makes of it.

use crate::args::{LabSource, MatrixFile, Typed};
use anyhow::{Context, anyhow, ensure};
use std::path::Path;
use sysdyno_lab::{LabPlan, part_of};
use sysdyno_record::experiment::SettingChange;
use sysdyno_record::matrix::{MatrixLab, MatrixPlan, MatrixVariant, ServiceChange};
use sysdyno_record::work::ServiceCounter;
use sysdyno_run::agent::HostPlace;

/// Longest name of a lab. Unit: bytes.
const NAME_MAX: usize = 24;

/// A lab that was understood.
pub(super) struct Lab {
    plan: LabPlan,
    /// What is kept of it.
    pub(super) kept: MatrixLab,
}

impl Lab {
    /// The URL of a variant with these services, and the service that it names.
    pub(super) fn url(&self, url: &str, services: &[ServiceChange]) -> anyhow::Result<(String, String)> {
        Ok(self.plan.with(services)?.url(&self.kept.generator, url)?)
    }
}

impl Lab {
    /// The service that these texts name first, after looking at all that they name.
    pub(super) fn first_named(
        &self,
        texts: &[&str],
        services: &[ServiceChange],
    ) -> anyhow::Result<Option<String>> {
        let plan = self.plan.with(services)?;
        for text in texts {
            plan.fill(&self.kept.generator, Path::new("/"), text)?;
        }
        let first = texts.iter().find_map(|text| text.split_once("{{")?.1.split(['.', '}']).next());
        Ok(first.map(str::to_owned))
    }
}

impl Lab {
    /// Whether operations can be counted so.
    pub(super) fn check_counter(
        &self,
        counter: &ServiceCounter,
        services: &[ServiceChange],
    ) -> anyhow::Result<()> {
        Ok(self.plan.with(services)?.check_counter(counter)?)
    }

    /// Whether processes that settings name are of services of the lab.
    pub(super) fn check_settings(
        &self,
        changes: &[SettingChange],
        services: &[ServiceChange],
    ) -> anyhow::Result<()> {
        check_settings(changes)?;
        Ok(self.plan.with(services)?.check_settings(changes)?)
    }

    /// The hosts that send a load together, or none if this machine sends it.
    pub(super) fn load_from(&self) -> Vec<Typed<HostPlace>> {
        let place = self.plan.ssh(&self.kept.generator).and_then(|place| place.parse().ok());
        place.map(Typed).into_iter().collect()
    }
}

/// The lab that a file says; `None`: it has none.
pub(super) fn read(file: &MatrixFile, path: &Path) -> anyhow::Result<Option<Lab>> {
    let Some(source) = &file.lab else {
        ensure!(file.generator.is_none(), "it has a generator but no lab");
        ensure!(file.restart.is_empty(), "it restarts services but has no lab");
        return Ok(None);
    };
    let beside = path.parent().unwrap_or(Path::new(""));
    let beside = std::path::absolute(beside.join(".")).unwrap_or_else(|_| beside.to_owned());
    let (text, place) = match source {
        LabSource::File(name) => {
            let place = beside.join(name);
            (crate::commands::read_lab(&place)?, place)
        }
        LabSource::Inline(table) => {
            let mut table = table.clone();
            table.entry("name").or_insert_with(|| name_of(&file.name).into());
            (toml::to_string(&table).context("the lab cannot be written")?, path.join("[lab]"))
        }
    };
    let plan = LabPlan::parse(&text, &place)?;
    let generator = file.generator.clone().unwrap_or_else(|| plan.generator().to_owned());
    ensure!(
        plan.hosts.contains(&generator),
        "its lab has no host '{}'; it has {}",
        generator.escape_debug(),
        plan.hosts.join(", ")
    );
    ensure!(
        file.work.is_none() || plan.ssh(&generator).is_none(),
        "its commands run on this machine, but host '{generator}' is behind ssh\nhint: add a [[lab.host]] \
         with here = true and an address for this machine"
    );
    let beside = place.parent().filter(|_| matches!(source, LabSource::File(_))).unwrap_or(&beside);
    let restart = file.restart.clone();
    if let Some(unknown) = restart.iter().find(|name| plan.host_of(name).is_none()) {
        return Err(anyhow!("its lab has no service '{}' to restart", unknown.escape_debug()));
    }
    let kept = MatrixLab { text, beside: beside.display().to_string(), generator, restart };
    Ok(Some(Lab { plan, kept }))
}

/// A lab's name from that of an experiment, which may have other letters.
fn name_of(experiment: &str) -> String {
    let letter = |letter: char| if letter == '_' { '-' } else { letter.to_ascii_lowercase() };
    let name: String = experiment.chars().map(letter).take(NAME_MAX).collect();
    name.trim_matches('-').to_owned()
}

/// Settings that are not known are told before anything is made.
fn check_settings(settings: &[SettingChange]) -> anyhow::Result<()> {
    let unknown = settings.iter().find(|setting| part_of(&setting.key).is_none());
    unknown.map_or(Ok(()), |setting| {
        Err(anyhow!(
            "there is no setting '{}'\nhint: `sysdyno tune list` lists all",
            setting.key.escape_debug()
        ))
    })
}

/// The lab of a variant; `None`: the matrix has none.
pub fn plan_of(plan: &MatrixPlan, variant: &MatrixVariant) -> anyhow::Result<Option<LabPlan>> {
    let Some(lab) = &plan.lab else { return Ok(None) };
    let understood = LabPlan::parse(&lab.text, Path::new(&plan.source))?;
    Ok(Some(understood.with(&variant.services)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_without_a_name_gets_the_experiments() {
        assert_eq!(name_of("Backlog_limits"), "backlog-limits");
        assert_eq!(name_of("a-name-that-is-longer-than-those"), "a-name-that-is-longer-th");
    }
}
