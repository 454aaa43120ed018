//! A service's own metrics. A table in its recipe says where to query them, and what each number in the answer means.
//!
//! Answers are bounded and not trusted: only numbers are taken from them.

mod fastcgi;
mod fetch;
mod program;

pub use fastcgi::get as fastcgi_answer;

use super::plan::{LabPlan, LabService};
use super::recipe::Recipe;
use super::{machine, namespace, values};
use std::path::Path;
use sysdyno_record::service::{ServiceReading, ServiceValue};

/// What all services of a lab on this machine tell just now, of those whose recipes say where they are asked. `folder` is the lab's.
pub(super) fn readings(plan: &LabPlan, folder: &Path) -> Vec<ServiceReading> {
    let told = plan.own_services().filter_map(|service| {
        let recipe = values::recipe_of(service).ok().filter(|recipe| !recipe.metric.is_empty())?;
        Some(reading(plan, folder, service, &recipe))
    });
    told.collect()
}

/// The current metrics of one service.
pub(super) fn reading(
    plan: &LabPlan,
    folder: &Path,
    service: &LabService,
    recipe: &Recipe,
) -> ServiceReading {
    let answer = ask(plan, folder, service, recipe);
    let value = |answer: &String| {
        let numbers = recipe.metric.iter().map(|metric| ServiceValue {
            name: metric.name.clone(),
            unit: metric.unit.clone(),
            kind: metric.kind,
            value: metric.read(answer),
        });
        numbers.collect()
    };
    ServiceReading {
        service: service.name.clone(),
        recipe: service.recipe.clone(),
        host: service.host.clone(),
        values: answer.as_ref().map(value).unwrap_or_default(),
        cause: answer.err(),
    }
}

fn ask(plan: &LabPlan, folder: &Path, service: &LabService, recipe: &Recipe) -> Result<String, String> {
    let metrics = recipe.metrics.as_ref().ok_or("its recipe does not say where")?;
    let place = machine::place(plan, service, folder.join(&service.name))?;
    let values = values::of(plan, service, &place)?;
    let path = namespace::path_of(&plan.name, &service.host);
    let answer = match &metrics.url {
        Some(url) => {
            let url = values.expand(url)?;
            namespace::within(&path, || fetch::fetch(&url))
        }
        None => {
            let words = metrics.run.iter().map(|word| values.expand(word)).collect::<Result<Vec<_>, _>>()?;
            namespace::within(&path, || program::printed(&words))
        }
    };
    answer.map_err(|error| error.to_string())
}
