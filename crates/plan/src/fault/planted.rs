//! A fault planted in a lab that is up: in services that have the fault's names, under any load.

use super::{Bed, KnownFault};
use crate::change::settings;
use crate::command::command;
use crate::experiment::services;
use crate::options::ServiceTables;
use anyhow::{Context, ensure};
use std::collections::BTreeMap;
use sysdyno_record::change::SettingChange;
use sysdyno_record::command::CommandSpec;
use sysdyno_record::experiment::ServiceChange;

/// What a fault changes about a lab.
#[derive(Clone, Debug, PartialEq)]
pub struct PlantedFault {
    /// The service that it is planted in.
    pub service: String,
    /// Parameters of services.
    pub services: Vec<ServiceChange>,
    /// Settings.
    pub settings: Vec<SettingChange>,
    /// Commands that run meanwhile.
    pub during: Vec<CommandSpec>,
}

impl KnownFault {
    /// The fault at an intensity, from 1, in a lab with these services: name and recipe.
    ///
    /// # Errors
    /// There is no such intensity, the lab has no such services, or the fault is in the requests and not in the server.
    pub fn planted(
        &self,
        bed: &Bed,
        level: usize,
        lab: &BTreeMap<String, String>,
    ) -> anyhow::Result<PlantedFault> {
        let cannot = || format!("cannot plant '{}'", self.name);
        let what = level.checked_sub(1).and_then(|position| self.levels.get(position));
        let what =
            what.with_context(|| format!("{}: it has intensities 1 to {}", cannot(), self.levels.len()))?;
        ensure!(
            !(what.services.is_empty() && what.settings.is_empty() && what.during.is_empty()),
            "{}: it is in what is requested, not in the server\nhint: `sysdyno selftest diagnose {}` has the pages \
             and the load for it",
            cannot(),
            self.name
        );
        let place = |name: &str| self.place(bed, name, lab).with_context(cannot);
        let mut changes = services(&[what], &ServiceTables::new())?;
        for change in &mut changes {
            change.service = place(&change.service)?;
        }
        let mut during = Vec::new();
        for text in &what.during {
            during.push(command(&renamed(text, &place)?, false)?);
        }
        Ok(PlantedFault {
            service: place(&self.service)?,
            services: changes,
            settings: settings(&what.settings, "")?,
            during,
        })
    }

    /// The service of a lab that stands for one of the bed: of its name, or the only one of its recipe.
    fn place(&self, bed: &Bed, name: &str, lab: &BTreeMap<String, String>) -> anyhow::Result<String> {
        let recipe = bed.recipe_of(name).with_context(|| format!("its bed has no service '{name}'"))?;
        if lab.get(name) == Some(&recipe) {
            return Ok(name.to_owned());
        }
        let mut same = lab.iter().filter(|(_, other)| **other == recipe).map(|(name, _)| name.clone());
        match (same.next(), same.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => anyhow::bail!("the lab has no service of recipe '{recipe}'"),
            (Some(one), Some(other)) => {
                anyhow::bail!(
                    "the lab has several services of recipe '{recipe}' ({one}, {other}), and none is called '{name}'"
                )
            }
        }
    }
}

/// A text with the services that it names by `{{NAME.PART}}` as the lab calls them.
fn renamed(text: &str, place: &dyn Fn(&str) -> anyhow::Result<String>) -> anyhow::Result<String> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once("{{") {
        let (named, after) = behind.split_once("}}").context("'{{' without '}}'")?;
        let (name, part) = named.split_once('.').unwrap_or((named, ""));
        let dot = if part.is_empty() { "" } else { "." };
        filled.push_str(&format!("{before}{{{{{}{dot}{part}}}}}", place(name)?));
        rest = after;
    }
    Ok(filled + rest)
}
