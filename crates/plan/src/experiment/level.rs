//! What levels define for services of the lab.

use crate::options::{FactorTable, LevelTable, ServiceTables};
use anyhow::{Context, bail, ensure};
use std::collections::BTreeSet;
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

/// What the levels of a variant change about services, each parameter once.
pub(crate) fn services(parts: &[&LevelTable]) -> anyhow::Result<Vec<ServiceChange>> {
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
