//! Files of beds.

use crate::options::{ExperimentFile, LevelTable};
use anyhow::{Context, ensure};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Services in a lab under a load, and what can be planted there.
#[derive(Clone, Debug)]
pub struct Bed {
    /// Its name.
    pub name: String,
    /// What it is, in a phrase.
    pub does: String,
    /// Loads of it when all is well.
    pub healthy: Vec<LevelTable>,
    /// What can be planted.
    pub faults: Vec<KnownFault>,
    pub(super) experiment: ExperimentFile,
}

/// What can be planted, and what has to name it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KnownFault {
    /// Its name.
    pub name: String,
    /// What it is, in a sentence.
    pub does: String,
    /// Ids of the diagnoses any one of which names it.
    pub diagnoses: Vec<String>,
    /// The service of the bed that it is planted in.
    pub service: String,
    /// How it is planted, weakest first.
    #[serde(rename = "level")]
    pub levels: Vec<LevelTable>,
}

/// What a bed's file has beside an experiment.
#[derive(Deserialize)]
struct BedTable {
    does: String,
    #[serde(default)]
    healthy: Vec<LevelTable>,
    #[serde(default, rename = "fault")]
    faults: Vec<KnownFault>,
}

/// Their keys.
const OWN_KEYS: [&str; 3] = ["does", "healthy", "fault"];

impl Bed {
    pub(super) fn parse(name: &str, text: &str) -> anyhow::Result<Bed> {
        let mut experiment: toml::Table = text.parse()?;
        let own: toml::Table =
            OWN_KEYS.iter().filter_map(|key| Some(((*key).to_owned(), experiment.remove(*key)?))).collect();
        let BedTable { does, healthy, faults } = own.try_into()?;
        experiment.insert("name".into(), name.into());
        let experiment = experiment.try_into().context("its experiment is wrong")?;
        let mut names = BTreeSet::new();
        let all = faults.iter().map(|fault| &fault.name).chain(healthy.iter().map(|case| &case.name));
        for name in all {
            ensure!(names.insert(name), "'{name}' is there twice");
        }
        Ok(Bed { name: name.to_owned(), does, healthy, faults, experiment })
    }

    pub(super) fn has(&self, fault: &str) -> bool {
        self.faults.iter().any(|known| known.name == fault)
    }

    /// The recipe of a service of its lab.
    pub fn recipe_of(&self, service: &str) -> Option<String> {
        let Some(crate::options::LabSource::Inline(lab)) = &self.experiment.lab else { return None };
        let services = lab.get("service")?.as_array()?;
        let is_it = |known: &&toml::Value| known.get("name").and_then(toml::Value::as_str) == Some(service);
        services.iter().find(is_it)?.get("recipe")?.as_str().map(str::to_owned)
    }
}
