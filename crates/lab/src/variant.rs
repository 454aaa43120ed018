//! Variants of a lab that differ from its file in some services: what an experiment compares.
//!
//! A change is checked like the file itself: parameters and values that the recipe does not accept are refused before anything
//! is created.

use super::limits::ServiceLimits;
use super::plan::{LabPlan, LabService};
use super::recipe::{self, ParameterValue, Recipe};
use super::understand::{check_counts, cpus};
use super::values;
use std::net::SocketAddr;
use std::path::Path;
use sysdyno_record::experiment::ServiceChange;
use sysdyno_record::service::MetricKind;
use sysdyno_record::work::ServiceCounter;
use sysdyno_run::RunError;

/// The key that names another recipe.
const RECIPE: &str = "recipe";

/// The key that names the CPUs that it may run on.
const CPUS: &str = "cpus";

/// The key that names what it may use at most.
const LIMITS: &str = "limits";

/// The key that says whether there is such a service at all.
const ON: &str = "on";

impl LabPlan {
    /// This lab with other services. One that gets another recipe keeps none of its parameters.
    ///
    /// # Errors
    /// There is no such service, recipe or parameter, or it does not take the value.
    pub fn with(&self, changes: &[ServiceChange]) -> Result<LabPlan, RunError> {
        let mut plan = self.clone();
        let (recipes, parameters): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.key == RECIPE);
        for change in recipes.into_iter().chain(parameters) {
            let cannot = |cause: String| refused(change, &cause);
            let place = plan.services.iter().position(|service| service.name == change.service);
            let place = place.ok_or_else(|| {
                let known: Vec<&str> = plan.services.iter().map(|service| service.name.as_str()).collect();
                cannot(format!("lab '{}' has no such service, only {}", plan.name, known.join(", ")))
            })?;
            let service = apply(&plan, &plan.services[place], change).map_err(cannot)?;
            plan.services[place] = service;
        }
        for change in changes {
            let service = plan.service(&change.service);
            let checked = service.map_or(Ok(()), |service| values::check(&plan, service));
            checked.map_err(|cause| refused(change, &cause))?;
        }
        for service in plan.services.iter().filter(|service| !service.is_off) {
            let cannot = |cause: String| {
                RunError::Refused(format!("cannot change service '{}': {cause}", service.name))
            };
            check_counts(&plan, service).map_err(cannot)?;
            let named = service.with.values().filter_map(|value| plan.service(value.as_str()?));
            if let Some(off) = named.into_iter().find(|other| other.is_off) {
                return Err(cannot(format!("it refers to '{}', which is off", off.name)));
            }
        }
        Ok(plan)
    }

    /// The host that sends the load unless another one is named: the first that no service runs on, or the first, of those on
    /// this machine if there are any.
    pub fn generator(&self) -> &str {
        let is_free = |host: &&String| self.services.iter().all(|service| service.host != **host);
        let mut own = self.hosts.iter().filter(|host| self.is_own(host));
        let own = own.clone().find(is_free).or(own.next());
        own.or(self.hosts.iter().find(is_free)).or(self.hosts.first()).map_or("", String::as_str)
    }

    /// The host of a service; `None`: there is no such service.
    pub fn host_of(&self, service: &str) -> Option<&str> {
        self.service(service).map(|service| service.host.as_str())
    }

    /// Whether a service reports a counter of this name.
    ///
    /// # Errors
    /// There is no such service, or it does not.
    pub fn check_counter(&self, counter: &ServiceCounter) -> Result<(), RunError> {
        let (name, metric) = (counter.service.escape_debug(), counter.metric.escape_debug());
        let cannot =
            |cause: &str| RunError::Refused(format!("cannot count operations by '{name}.{metric}': {cause}"));
        let service = self.service(&counter.service).filter(|service| !service.is_off);
        let service = service.ok_or_else(|| cannot("the lab has no such service"))?;
        let recipe = values::recipe_of(service).map_err(|cause| cannot(&cause))?;
        let counters = recipe.metric.iter().filter(|metric| metric.kind == MetricKind::Counter);
        let known: Vec<&str> = counters.map(|metric| metric.name.as_str()).collect();
        if known.contains(&counter.metric.as_str()) {
            return Ok(());
        }
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(cannot(&format!("counters of recipe '{}' are {known}", recipe.name)))
    }

    /// Where the services listen that a service asks, and those that these ask, as far as they run on its host.
    pub fn behind(&self, service: &str) -> Vec<SocketAddr> {
        let host = self.host_of(service).unwrap_or_default();
        let mut known: Vec<&LabService> = self.service(service).into_iter().collect();
        let mut next = 0;
        while let Some(service) = known.get(next).copied() {
            for value in service.with.values() {
                let named = value.as_str().and_then(|name| self.service(name));
                // A service may be named by several parameters.
                known.extend(named.filter(|other| other.host == host && !known.contains(other)));
            }
            next += 1;
        }
        known.iter().skip(1).filter_map(|service| values::endpoint(self, host, &service.name)).collect()
    }

    /// A text with the places of services filled in, as a host finds them: `{{SERVICE}}`, `{{SERVICE.host}}`,
    /// `{{SERVICE.port}}`, `{{SERVICE.folder}}` and `{{SERVICE.data}}`; `folder` is the lab's.
    ///
    /// # Errors
    /// It names a service that is not there or, for its address, has no port.
    pub fn fill(&self, from: &str, folder: &Path, text: &str) -> Result<String, RunError> {
        let cannot =
            |cause: &str| RunError::Refused(format!("cannot fill in '{}': {cause}", text.escape_debug()));
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, behind)) = rest.split_once("{{") {
            let (place, after) = behind.split_once("}}").ok_or_else(|| cannot("'{{' without '}}'"))?;
            let (name, part) = place.split_once('.').unwrap_or((place, ""));
            let service = self.service(name).ok_or_else(|| cannot("the lab has no such service"))?;
            let way = match part {
                "" => self.check_way(from, &service.host),
                _ => self.check_files(from, &service.host),
            };
            way.map_err(|cause| cannot(&cause))?;
            let own = folder.join(&service.name);
            let value = match part {
                "" => values::endpoint(self, from, name).map(|address| address.to_string()),
                "host" => values::endpoint(self, from, name).map(|address| address.ip().to_string()),
                "port" => values::endpoint(self, from, name).map(|address| address.port().to_string()),
                "folder" => Some(own.display().to_string()),
                "data" => Some(own.join("data").display().to_string()),
                _ => None,
            };
            filled.push_str(before);
            filled.push_str(&value.ok_or_else(|| {
                cannot("a place is SERVICE, SERVICE.host, SERVICE.port, SERVICE.folder, or SERVICE.data")
            })?);
            rest = after;
        }
        Ok(filled + rest)
    }

    /// A URL with `{{SERVICE}}` in it as a host finds that service, and which service that is.
    ///
    /// # Errors
    /// It names none, or one that is not there or has no port.
    pub fn url(&self, from: &str, text: &str) -> Result<(String, String), RunError> {
        let cannot =
            |cause: &str| RunError::Refused(format!("cannot load '{}': {cause}", text.escape_debug()));
        let (before, rest) = text.split_once("{{").ok_or_else(|| {
            cannot("it does not name a service of the lab\nhint: write it as http://{{SERVICE}}/PATH")
        })?;
        let (name, after) = rest.split_once("}}").ok_or_else(|| cannot("'{{' without '}}'"))?;
        let service = self.service(name).ok_or_else(|| cannot("the lab has no such service"))?;
        self.check_way(from, &service.host).map_err(|cause| cannot(&cause))?;
        let address = values::endpoint(self, from, &service.name);
        let address = address.ok_or_else(|| cannot("the recipe of this service has no port"))?;
        Ok((format!("{before}{address}{after}"), service.name.clone()))
    }
}

fn apply(plan: &LabPlan, service: &LabService, change: &ServiceChange) -> Result<LabService, String> {
    let mut service = service.clone();
    if change.key == RECIPE {
        let name = change.value.as_str().ok_or("the name of a recipe must be a text")?;
        let recipe = recipe::find(name).ok_or_else(|| {
            let known: Vec<&str> = recipe::names().collect();
            format!("there is no such recipe, only {}", known.join(", "))
        })?;
        if recipe.name != service.recipe {
            service.with.clear();
        }
        service.recipe = recipe.name;
        return Ok(service);
    }
    if change.key == CPUS {
        let typed = change.value.as_str().ok_or("a list of CPUs must be a text")?;
        service.cpus = cpus(typed)?;
        return Ok(service);
    }
    if change.key == LIMITS {
        let limits = serde_json::from_value::<ServiceLimits>(change.value.clone());
        service.limits = limits.map_err(|error| error.to_string())?.checked()?;
        return Ok(service);
    }
    if change.key == ON {
        service.is_off = !change.value.as_bool().ok_or("it takes true or false")?;
        return Ok(service);
    }
    let recipe = values::recipe_of(&service)?;
    let value = read(plan, &recipe, change)?;
    service.with.insert(change.key.clone(), value);
    Ok(service)
}

fn read(plan: &LabPlan, recipe: &Recipe, change: &ServiceChange) -> Result<toml::Value, String> {
    let parameter = recipe.parameters.get(&change.key).ok_or_else(|| {
        let known: Vec<&str> = recipe.parameters.keys().map(String::as_str).collect();
        format!("recipe '{}' has no such parameter, only {}", recipe.name, known.join(", "))
    })?;
    let value = toml::Value::try_from(&change.value).map_err(|_| parameter.takes())?;
    match parameter.read(&value)? {
        ParameterValue::Endpoint(text) if values::endpoint(plan, "", &text).is_none() => {
            Err("this is neither ADDRESS:PORT nor a service".into())
        }
        _ => Ok(value),
    }
}

fn refused(change: &ServiceChange, cause: &str) -> RunError {
    let (service, key) = (change.service.escape_debug(), change.key.escape_debug());
    RunError::Refused(format!("cannot change 'services.{service}.{key}': {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAB: &str = "name = 'l'\n[[host]]\nname = 'web'\n[[host]]\nname = 'client'\n\
        [[link]]\nbetween = ['web', 'client']\naddresses = ['10.1.0.1/24', '10.1.0.2/24']\n\
        [[service]]\nname = 'front'\nhost = 'web'\nrecipe = 'nginx'\nwith = { port = 8080, workers = 2 }\n";

    fn lab() -> LabPlan {
        LabPlan::parse(LAB, Path::new("lab.toml")).expect("is in order")
    }

    fn change(service: &str, key: &str, value: impl Into<serde_json::Value>) -> ServiceChange {
        ServiceChange { service: service.into(), key: key.into(), value: value.into() }
    }

    #[test]
    fn a_parameter_is_replaced_and_another_recipe_keeps_none() {
        let fewer = lab().with(&[change("front", "workers", 1)]).expect("is taken");
        assert_eq!(fewer.services[0].with["workers"], 1.into());
        assert_eq!(fewer.services[0].with["port"], 8080.into());
        let limited = lab().with(&[change("front", "limits", serde_json::json!({ "cpus": 0.5 }))]);
        assert_eq!(limited.expect("is taken").services[0].limits.cpus, Some(0.5));
        let other = [change("front", "max_fds", 64), change("front", "recipe", "lighttpd")];
        let other = lab().with(&other).expect("is taken");
        assert_eq!(other.services[0].recipe, "lighttpd");
        assert_eq!(other.services[0].with.keys().collect::<Vec<_>>(), ["max_fds"]);
    }

    #[test]
    fn what_a_recipe_does_not_take_is_refused() {
        for (wrong, said) in [
            (change("back", "workers", 1), "has no such service, only front"),
            (change("front", "speed", 1), "recipe 'nginx' has no such parameter"),
            (change("front", "workers", 0), "it takes an integer from 1 to 256"),
            (change("front", "limits", serde_json::json!({ "cpus": 0.0 })), "'cpus' takes 0.01 to 4096"),
            (change("front", "limits", 1), "invalid type"),
            (change("front", "recipe", "iis"), "there is no such recipe, only"),
            (change("front", "site", "php"), "'upstream' is required"),
        ] {
            let told = lab().with(&[wrong]).expect_err(said).to_string();
            assert!(told.contains(said), "{told}");
        }
    }

    #[test]
    fn operations_are_counted_by_a_counter_of_a_service() {
        let check = |service: &str, metric: &str| {
            let counter = ServiceCounter { service: service.into(), metric: metric.into() };
            lab().check_counter(&counter).map_err(|error| error.to_string())
        };
        assert_eq!(check("front", "requests"), Ok(()));
        let told = check("front", "waiting").expect_err("it goes up and down");
        assert!(told.ends_with("counters of recipe 'nginx' are accepted, handled, requests"), "{told}");
        let told = check("back", "requests").expect_err("is not there");
        assert_eq!(told, "cannot count operations by 'back.requests': the lab has no such service");
    }

    #[test]
    fn a_service_may_be_off_unless_another_is_told_of_it_or_needs_so_many() {
        let text = "name = 'l'\n[[host]]\nname = 'h'\n\
            [[service]]\nname = 'names'\nhost = 'h'\nrecipe = 'hdfs-namenode'\nwith = { replication = 2 }\n\
            [[service]]\nname = 'one'\nhost = 'h'\nrecipe = 'hdfs-datanode'\nwith = { namenode = 'names' }\n\
            [[service]]\nname = 'two'\nhost = 'h'\nrecipe = 'hdfs-datanode'\nwith = { namenode = 'names' }\n";
        let lab = LabPlan::parse(text, Path::new("lab.toml")).expect("is in order");
        let off = change("two", "on", false);
        let told = lab.with(std::slice::from_ref(&off)).expect_err("two copies on one").to_string();
        assert!(told.contains("'replication' is 2, but 1 services of recipe 'hdfs-datanode'"), "{told}");
        let fewer = lab.with(&[off, change("names", "replication", 1)]).expect("one copy on one");
        assert!(fewer.services[2].is_off && !fewer.services[1].is_off);
        let told = lab.with(&[change("names", "on", false)]).expect_err("they need it").to_string();
        assert!(told.contains("it refers to 'names', which is off"), "{told}");
    }

    #[test]
    fn what_a_service_asks_and_what_that_asks_is_behind_it() {
        let text = "name = 'l'\n[[host]]\nname = 'web'\n\
            [[service]]\nname = 'cache'\nhost = 'web'\nrecipe = 'memcached'\n\
            [[service]]\nname = 'php'\nhost = 'web'\nrecipe = 'php-fpm'\n\
            [[service]]\nname = 'front'\nhost = 'web'\nrecipe = 'nginx'\nwith = { site = 'php', upstream = 'php' }\n\
            [[service]]\nname = 'proxy'\nhost = 'web'\nrecipe = 'nginx'\n\
            with = { port = 8080, site = 'proxy', upstream = 'front' }\n";
        let lab = LabPlan::parse(text, Path::new("lab.toml")).expect("is in order");
        let ports = |service: &str| lab.behind(service).iter().map(SocketAddr::port).collect::<Vec<_>>();
        assert_eq!(ports("proxy"), [80, 9000]);
        assert_eq!(ports("front"), [9000]);
        assert!(ports("cache").is_empty() && ports("nothing").is_empty());
    }

    #[test]
    fn what_cannot_be_done_on_a_host_behind_ssh_is_refused() {
        let text = "name = 'l'\n[[host]]\nname = 'far'\nssh = 'root@192.0.2.7'\n\
            [[host]]\nname = 'me'\nhere = true\naddress = '192.0.2.1'\n[[host]]\nname = 'n'\n\
            [[service]]\nname = 'front'\nhost = 'far'\nrecipe = 'nginx'\n\
            [[service]]\nname = 'near'\nhost = 'me'\nrecipe = 'memcached'\n";
        let lab = LabPlan::parse(text, Path::new("lab.toml")).expect("is in order");
        assert_eq!(lab.generator(), "n");
        assert_eq!(lab.url("me", "http://{{front}}/x").expect("is there").0, "http://192.0.2.7:80/x");
        let told = lab.url("n", "http://{{front}}/x").expect_err("has no way").to_string();
        assert!(told.contains("'n' cannot reach 'far'"), "{told}");
        let told = lab.fill("me", Path::new("/l"), "{{front.data}}").expect_err("is elsewhere").to_string();
        assert!(told.contains("its files are on 'far'"), "{told}");
        assert_eq!(lab.fill("me", Path::new("/l"), "{{near.data}}").expect("is here"), "/l/near/data");
    }

    #[test]
    fn a_url_names_a_service_as_the_generator_finds_it() {
        let lab = lab();
        assert_eq!(lab.generator(), "client");
        let found = lab.url("client", "http://{{front}}/x").expect("is there");
        assert_eq!(found, ("http://10.1.0.1:8080/x".to_owned(), "front".to_owned()));
        assert!(lab.url("client", "http://10.1.0.1/").is_err());
        assert!(lab.url("client", "http://{{back}}/").is_err());
    }
}
