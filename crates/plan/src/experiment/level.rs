//! What levels define for services of the lab.

use crate::options::{FactorTable, LevelTable, ServiceTables};
use anyhow::{Context, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use sysdyno_record::experiment::ServiceChange;

/// A factor that is a parameter with its values, with a level for each value.
pub(super) fn spelled_out(mut factor: FactorTable) -> anyhow::Result<FactorTable> {
    if factor.services.is_empty() {
        ensure!(!factor.name.is_empty(), "a factor has no name");
        return Ok(factor);
    }
    let parameters: Vec<(String, String, toml::Value)> = std::mem::take(&mut factor.services)
        .into_iter()
        .flat_map(|(service, keys)| keys.into_iter().map(move |(key, value)| (service.clone(), key, value)))
        .collect();
    let [(service, key, values)] = parameters.as_slice() else {
        bail!("a factor without levels is one parameter of one service with its values");
    };
    let name = format!("{service}.{key}");
    let values = values.as_array().with_context(|| format!("factor '{name}' takes a list of values"))?;
    ensure!(factor.levels.is_empty(), "factor '{name}' has both values and levels: use one of them");
    let level = |value: &toml::Value| LevelTable {
        name: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        services: ServiceTables::from([(service.clone(), [(key.clone(), value.clone())].into())]),
        ..LevelTable::default()
    };
    factor.levels = values.iter().map(level).collect();
    if factor.name.is_empty() {
        factor.name = name;
    }
    Ok(factor)
}

/// Leaves only these levels of the factors that are named.
pub(super) fn keep(
    factors: &mut [FactorTable],
    levels: &BTreeMap<String, Vec<String>>,
) -> anyhow::Result<()> {
    for (name, kept) in levels {
        let factor = factors.iter_mut().find(|factor| factor.name == *name && !factor.levels.is_empty());
        let factor = factor.with_context(|| {
            format!(
                "its short version names the levels of '{}', which is no factor with levels",
                name.escape_debug()
            )
        })?;
        let unknown = kept.iter().find(|level| !factor.levels.iter().any(|known| known.name == **level));
        if let Some(unknown) = unknown {
            bail!("its short version names '{}', which is no level of '{name}'", unknown.escape_debug());
        }
        factor.levels.retain(|level| kept.contains(&level.name));
    }
    Ok(())
}

/// What the levels of a variant change about services, each parameter once, unless `all` says what it is in all variants.
pub(crate) fn services(parts: &[&LevelTable], all: &ServiceTables) -> anyhow::Result<Vec<ServiceChange>> {
    let mut changes = of_levels(parts)?;
    let is_of_all =
        |change: &ServiceChange| all.get(&change.service).is_some_and(|keys| keys.contains_key(&change.key));
    changes.retain(|change| !is_of_all(change));
    changes.extend(of_levels(&[&LevelTable { services: all.clone(), ..LevelTable::default() }])?);
    Ok(changes)
}

fn of_levels(parts: &[&LevelTable]) -> anyhow::Result<Vec<ServiceChange>> {
    let (mut changes, mut names) = (Vec::new(), BTreeSet::new());
    for (service, keys) in parts.iter().flat_map(|part| &part.services) {
        for (key, value) in keys {
            ensure!(names.insert((service, key)), "two of its levels change 'services.{service}.{key}'");
            let value = serde_json::to_value(value).context("a value cannot be written")?;
            changes.push(ServiceChange { service: service.clone(), key: key.clone(), value });
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_version_keeps_the_levels_that_it_names() {
        let level = |name: &str| LevelTable { name: name.into(), ..LevelTable::default() };
        let factor = |name: &str| FactorTable {
            name: name.into(),
            levels: ["1", "2", "3"].map(level).into(),
            services: ServiceTables::new(),
        };
        let kept = |name: &str, levels: &[&str]| {
            let mut factors = [factor("users"), factor("server")];
            let levels = levels.iter().map(|level| (*level).to_owned()).collect();
            keep(&mut factors, &BTreeMap::from([(name.to_owned(), levels)]))?;
            let names =
                |factor: &FactorTable| factor.levels.iter().map(|one| one.name.clone()).collect::<String>();
            Ok::<_, anyhow::Error>(factors.each_ref().map(names))
        };
        assert_eq!(kept("users", &["3", "1"]).expect("is there"), ["13", "123"]);
        assert!(
            kept("users", &["4"]).is_err_and(|error| error.to_string().contains("'4', which is no level"))
        );
        assert!(
            kept("color", &["1"]).is_err_and(|error| error.to_string().contains("no factor with levels"))
        );
    }

    #[test]
    fn what_the_short_version_says_of_services_wins_over_levels() {
        let table = |text: &str| toml::from_str::<ServiceTables>(text).expect("is in order");
        let level =
            LevelTable { services: table("web.files = 1000\nweb.port = 8080"), ..LevelTable::default() };
        let listed = |all: &str| {
            let changes = services(&[&level], &table(all)).expect("each once");
            changes.iter().map(|one| format!("{}.{}={}", one.service, one.key, one.value)).collect::<Vec<_>>()
        };
        assert_eq!(listed(""), ["web.files=1000", "web.port=8080"]);
        assert_eq!(listed("web.files = 10"), ["web.port=8080", "web.files=10"]);
        assert!(services(&[&level, &level], &ServiceTables::new()).is_err(), "two levels change the same");
    }
}
