//! Every combination of a file's levels, and its separate variants.

use crate::options::{ExperimentFile, LevelTable};
use anyhow::ensure;
use std::collections::BTreeSet;
use sysdyno_analyze::experiment::VARIANTS_MAX;

/// Longest name of an experiment, a factor, a level. Unit: characters.
pub(super) const NAME_MAX: usize = 60;

/// One level of every factor, or a variant that stands for itself.
pub(super) struct Combination<'a> {
    pub(super) name: String,
    pub(super) levels: Vec<[String; 2]>,
    pub(super) parts: Vec<&'a LevelTable>,
}

/// The first combination has the first level of every factor; the last factor changes first.
pub(super) fn combinations(file: &ExperimentFile) -> anyhow::Result<Vec<Combination<'_>>> {
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

pub(super) fn check_name(what: &str, name: &str) -> anyhow::Result<()> {
    let is_good = !name.is_empty() && name.chars().count() <= NAME_MAX && !name.chars().any(char::is_control);
    ensure!(is_good, "{what} has no name, or the name is too long");
    Ok(())
}
