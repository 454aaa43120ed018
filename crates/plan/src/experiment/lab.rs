//! The lab of an experiment: read from its own file or the experiment's, and as changed by each variant.

use crate::file;
use crate::host::{ExperimentLab, PlanHost};
use crate::options::{ExperimentFile, LabSource, Typed};
use anyhow::{Context, anyhow, ensure};
use std::path::Path;
use sysdyno_record::experiment::{RecordedLab, ServiceChange};
use sysdyno_record::place::HostPlace;

/// Longest name of a lab. Unit: bytes.
const NAME_MAX: usize = 24;

/// A lab that was understood.
pub(super) struct Lab {
    plan: Box<dyn ExperimentLab>,
    /// What is kept of it.
    pub(super) kept: RecordedLab,
}

impl Lab {
    /// The lab of a variant with these services.
    pub(super) fn with(&self, services: &[ServiceChange]) -> anyhow::Result<LabOfVariant<'_>> {
        Ok(LabOfVariant { plan: self.plan.with(services)?, generator: &self.kept.generator })
    }
}

/// A lab with the services of a variant.
pub(super) struct LabOfVariant<'a> {
    pub(super) plan: Box<dyn ExperimentLab>,
    generator: &'a str,
}

impl LabOfVariant<'_> {
    /// The URL of a variant, and the service that it names.
    pub(super) fn url(&self, url: &str) -> anyhow::Result<(String, String)> {
        self.plan.url(self.generator, url)
    }

    /// The service that these texts name first, after looking at all that they name.
    pub(super) fn first_named(&self, texts: &[&str]) -> anyhow::Result<Option<String>> {
        texts.iter().try_for_each(|text| self.plan.check_word(self.generator, text))?;
        let first = texts.iter().find_map(|text| text.split_once("{{")?.1.split(['.', '}']).next());
        Ok(first.map(str::to_owned))
    }

    /// The hosts that send a load together, or none if this machine sends it.
    pub(super) fn load_from(&self) -> Vec<Typed<HostPlace>> {
        let place = self.plan.far(self.generator).and_then(|place| place.parse().ok());
        place.map(Typed).into_iter().collect()
    }
}

/// The lab of a file, if it has one.
pub(super) fn read(
    experiment: &ExperimentFile,
    path: &Path,
    here: &dyn PlanHost,
) -> anyhow::Result<Option<Lab>> {
    let Some(source) = &experiment.lab else {
        ensure!(experiment.generator.is_none(), "it has a generator but no lab");
        ensure!(experiment.restart.is_empty(), "it restarts services but has no lab");
        return Ok(None);
    };
    let beside = path.parent().unwrap_or(Path::new(""));
    let beside = std::path::absolute(beside.join(".")).unwrap_or_else(|_| beside.to_owned());
    let (text, place) = match source {
        LabSource::File(name) => {
            let place = beside.join(name);
            (file::read(&place).with_context(|| format!("cannot read lab '{}'", place.display()))?, place)
        }
        LabSource::Inline(table) => {
            let mut table = table.clone();
            table.entry("name").or_insert_with(|| name_of(&experiment.name).into());
            (toml::to_string(&table).context("the lab cannot be written")?, path.join("[lab]"))
        }
    };
    let plan = here.lab(&text, &place)?;
    let generator = experiment.generator.clone().unwrap_or_else(|| plan.generator().to_owned());
    ensure!(
        plan.hosts().contains(&generator),
        "its lab has no host '{}'; it has {}",
        generator.escape_debug(),
        plan.hosts().join(", ")
    );
    ensure!(
        experiment.work.is_none() || plan.far(&generator).is_none(),
        "its commands run on this machine, but host '{generator}' is another one\nhint: add a [[lab.host]] \
         with here = true and an address for this machine"
    );
    let beside = place.parent().filter(|_| matches!(source, LabSource::File(_))).unwrap_or(&beside);
    let restart = experiment.restart.clone();
    if let Some(unknown) = restart.iter().find(|name| !plan.has_service(name)) {
        return Err(anyhow!("its lab has no service '{}' to restart", unknown.escape_debug()));
    }
    let kept = RecordedLab { text, beside: beside.display().to_string(), generator, restart };
    Ok(Some(Lab { plan, kept }))
}

/// A lab's name from that of an experiment, which may have other letters.
fn name_of(experiment: &str) -> String {
    let letter = |letter: char| if letter == '_' { '-' } else { letter.to_ascii_lowercase() };
    let name: String = experiment.chars().map(letter).take(NAME_MAX).collect();
    name.trim_matches('-').to_owned()
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
