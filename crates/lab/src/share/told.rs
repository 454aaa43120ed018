//! Another host's report on services: facts known here are taken from here, only numbers in the tables of recipes count, and
//! texts are bounded and escaped.

use super::super::machine::Missing;
use super::super::plan::{LabPlan, LabService};
use super::super::service_status::ServiceStatus;
use super::super::values;
use super::{Needs, ShareStatus};
use std::collections::BTreeSet;
use std::path::PathBuf;
use sysdyno_record::service::{ServiceReading, ServiceValue};
use sysdyno_run::{RunError, escaped};

/// Longest text of another host that is shown. Unit: characters.
pub(super) const MAX_TEXT: usize = 500;

/// Most texts of one kind.
const MAX_TEXTS: usize = 64;

/// A service on another host, as that says: what is known here is taken from here, and its texts are bounded.
pub(crate) fn status_there(
    plan: &LabPlan,
    service: &LabService,
    share: &Result<ShareStatus, RunError>,
) -> ServiceStatus {
    let of_service = |status: &ServiceStatus| status.name == service.name;
    let told = share.as_ref().map(|share| share.services.iter().find(|status| of_service(status)));
    let (told, cause) = match told {
        Ok(Some(told)) if told.is_healthy => (Some(told), None),
        Ok(Some(told)) => (Some(told), told.cause.clone().or_else(|| Some("no reason given".to_owned()))),
        Ok(None) => (None, Some("its host does not report it".to_owned())),
        // A status has a line for the cause, and none for its hint.
        Err(error) => (None, error.to_string().lines().next().map(str::to_owned)),
    };
    let one = |text: String| bounded(vec![text]).pop().unwrap_or_default();
    let many = |texts: fn(&ServiceStatus) -> &Vec<String>| {
        told.map_or(Vec::new(), |told| bounded(texts(told).clone()))
    };
    ServiceStatus {
        name: service.name.clone(),
        host: service.host.clone(),
        recipe: service.recipe.clone(),
        pid: told.and_then(|told| told.pid),
        is_healthy: cause.is_none(),
        cause: cause.map(one),
        symptoms: many(|told| &told.symptoms),
        endpoint: values::endpoint_of(plan, service),
        metrics: told.and_then(|told| told.metrics.clone()).map(one),
        values: told.map_or(Vec::new(), |told| known_values(service, &told.values)),
        tunables: many(|told| &told.tunables),
        log: told.map_or(PathBuf::new(), |told| one(told.log.display().to_string()).into()),
    }
}

/// The metrics of a service, if its recipe defines any.
pub(super) fn reading_of(
    service: &LabService,
    told: &Result<Vec<ServiceReading>, String>,
) -> Option<ServiceReading> {
    let recipe = values::recipe_of(service).ok().filter(|recipe| !recipe.metric.is_empty())?;
    let found = told.as_ref().map(|all| all.iter().find(|reading| reading.service == service.name));
    let (values, cause) = match found {
        Ok(Some(reading)) => (known_values(service, &reading.values), reading.cause.clone()),
        Ok(None) => (Vec::new(), Some("its host does not report it".to_owned())),
        Err(cause) => (Vec::new(), Some(cause.clone())),
    };
    Some(ServiceReading {
        service: service.name.clone(),
        recipe: recipe.name,
        host: service.host.clone(),
        values,
        cause: cause.map(|cause| escaped(&cause, MAX_TEXT)),
    })
}

/// The numbers of the table of a service's recipe, as another host has told them; none if it told none.
fn known_values(service: &LabService, told: &[ServiceValue]) -> Vec<ServiceValue> {
    let Some(recipe) = values::recipe_of(service).ok().filter(|_| !told.is_empty()) else {
        return Vec::new();
    };
    let number = |name: &str| told.iter().find(|value| value.name == name).and_then(|value| value.value);
    let values = recipe.metric.iter().map(|metric| ServiceValue {
        name: metric.name.clone(),
        unit: metric.unit.clone(),
        kind: metric.kind,
        value: number(&metric.name).filter(|number| number.is_finite()),
    });
    values.collect()
}

/// Texts of another host as they may be shown.
pub(super) fn bounded(texts: Vec<String>) -> Vec<String> {
    texts.iter().take(MAX_TEXTS).map(|text| escaped(text, MAX_TEXT)).collect()
}

/// What another host needs, as it may be shown.
pub(super) fn bounded_needs(needs: Needs) -> Needs {
    let set = |texts: BTreeSet<String>| bounded(texts.into_iter().collect()).into_iter().collect();
    let missing = Missing {
        programs: set(needs.missing.programs),
        packages: set(needs.missing.packages),
        unknown: set(needs.missing.unknown),
    };
    Needs { missing, jars: bounded(needs.jars) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const LAB: &str = "name = 'l'\n[[host]]\nname = 'far'\nssh = 'root@192.0.2.7'\n\
        [[service]]\nname = 'web'\nhost = 'far'\nrecipe = 'nginx'\n";

    fn plan() -> LabPlan {
        LabPlan::parse(LAB, Path::new("lab.toml")).expect("is in order")
    }

    /// A status in which everything that can be is what it should not be.
    fn hostile() -> ServiceStatus {
        let long = "x\x1b[2J".repeat(1000);
        let value = |name: &str| ServiceValue {
            name: name.into(),
            unit: long.clone(),
            kind: sysdyno_record::service::MetricKind::Gauge,
            value: Some(7.0),
        };
        ServiceStatus {
            name: "web".into(),
            host: "elsewhere".into(),
            recipe: "iis".into(),
            pid: Some(1),
            is_healthy: false,
            cause: Some(long.clone()),
            symptoms: vec![long.clone(); 1000],
            endpoint: Some("203.0.113.1:1".into()),
            metrics: Some(long.clone()),
            values: vec![value("requests"), value("of its own")],
            tunables: vec![long.clone(); 1000],
            log: long.into(),
        }
    }

    #[test]
    fn what_a_host_says_is_bounded_and_cannot_be_of_another_service() {
        let plan = plan();
        let services = vec![hostile()];
        let share = ShareStatus { is_up: true, is_of_this_boot: true, services };
        let status = status_there(&plan, &plan.services[0], &Ok(share));
        assert_eq!((status.host.as_str(), status.recipe.as_str()), ("far", "nginx"));
        assert_eq!(status.endpoint.as_deref(), Some("192.0.2.7:80"));
        assert!(!status.values.iter().any(|value| value.name == "of its own"));
        let requests = status.values.iter().find(|value| value.name == "requests");
        assert!(requests.is_some_and(|value| value.value == Some(7.0) && value.unit.len() < 40));
        assert!(status.symptoms.len() <= MAX_TEXTS && status.tunables.len() <= MAX_TEXTS);
        let json = serde_json::to_string(&status).expect("can be written");
        assert!(json.len() < 1_000_000 && !json.contains("u001b"), "{}", json.len());
    }

    #[test]
    fn a_host_that_says_nothing_is_told_as_the_cause() {
        let plan = plan();
        let lost = RunError::Lost { host: "far".into(), cause: "its process exited".into() };
        let status = status_there(&plan, &plan.services[0], &Err(lost));
        assert_eq!((status.is_healthy, status.pid), (false, None));
        assert!(status.cause.is_some_and(|cause| cause.contains("cannot hear from host 'far'")));
    }
}
