//! What a file of a lab means: every name, address and parameter is checked, and what is refused is refused with its place.

use super::file::{DataFile, HostFile, LabFile, MAX_COUNT, ServiceFile};
use super::plan::{Content, Data, LabPlan, Service, wrong_name};
use super::problem::Problem;
use super::recipe::{self, AtMost, Check, Recipe};
use super::{outside, plan_links, values};
use rustix::thread::CpuSet;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use sysdyno_run::RunError;
use toml::Spanned;

/// Greatest number of a CPU that a set of CPUs has room for.
const MAX_CPU: u32 = CpuSet::MAX_CPU as u32 - 1;

/// Most bytes of a generated file.
const MAX_SIZE: u64 = 16 << 30;

impl LabPlan {
    /// Understands a file; `path` is for messages.
    ///
    /// # Errors
    /// Whatever is wrong with it, with its line and column.
    pub fn parse(text: &str, path: &Path) -> Result<LabPlan, RunError> {
        let cannot =
            |cause: String| RunError::Refused(format!("cannot read lab '{}': {cause}", path.display()));
        let file: LabFile = toml::from_str(text).map_err(|error| cannot(error.to_string()))?;
        let plan = understand(&file).map_err(|problem| cannot(problem.told(text)))?;
        Ok(plan)
    }
}

fn understand(file: &LabFile) -> Result<LabPlan, Problem> {
    check_name(&file.name)?;
    let hosts = hosts(file)?;
    let switches = file.host.iter().filter(|host| host.switch);
    let switches = switches.map(|host| host.name.get_ref().clone()).collect();
    let outside = outside::understand(&file.host)?;
    outside::check_links(&file.link, &outside)?;
    let links = plan_links::understand(&file.link, &hosts, &switches)?;
    let name = file.name.get_ref().clone();
    let mut plan = LabPlan { name, hosts, switches, outside, share: None, links, services: Vec::new() };
    let mut names = BTreeSet::from(["logs"]);
    bounded(&file.name, file.service.len(), "services")?;
    for service in &file.service {
        check_name(&service.name)?;
        if !names.insert(service.name.get_ref()) {
            return Err(Problem::with(&service.name, "this name is taken"));
        }
        let understood = understand_service(service, &plan)?;
        plan.services.push(understood);
        values::check(&plan, plan.services.last().expect("was just added"))
            .map_err(|cause| Problem::with(&service.recipe, cause))?;
    }
    file.service.iter().zip(&plan.services).try_for_each(|(typed, service)| {
        check_counts(&plan, service).map_err(|cause| Problem::with(&typed.name, cause))
    })?;
    Ok(plan)
}

/// Whether what a service wants of others is there, such as as many DataNodes as there are to be copies.
pub(super) fn check_counts(plan: &LabPlan, service: &Service) -> Result<(), String> {
    let Some(recipe) = recipe::find(&service.recipe) else { return Ok(()) };
    for rule in &recipe.at_most {
        let parameter = recipe.parameters.get(&rule.parameter);
        let chosen = service.with.get(&rule.parameter).or(parameter.and_then(|known| known.default.as_ref()));
        let wanted = chosen.and_then(toml::Value::as_integer).unwrap_or(0);
        let refers = |other: &&Service| {
            let to = other.with.get(&rule.through).and_then(toml::Value::as_str);
            other.recipe == rule.recipe && to == Some(&service.name) && !other.is_off
        };
        let count = plan.services.iter().filter(refers).count();
        if wanted > count as i64 {
            let AtMost { parameter, recipe, because, .. } = rule;
            return Err(format!(
                "'{parameter}' is {wanted}, but {count} services of recipe '{recipe}' refer to this one: {because}"
            ));
        }
    }
    Ok(())
}

fn bounded(at: &Spanned<String>, count: usize, what: &str) -> Result<(), Problem> {
    if count > MAX_COUNT {
        return Err(Problem::with(at, format!("a lab has at most {MAX_COUNT} {what}")));
    }
    Ok(())
}

fn check_name(name: &Spanned<String>) -> Result<(), Problem> {
    wrong_name(name.get_ref()).map_or(Ok(()), |wrong| Err(Problem::with(name, wrong)))
}

fn hosts(file: &LabFile) -> Result<Vec<String>, Problem> {
    let mut names: Vec<String> = Vec::new();
    if file.host.is_empty() || file.host.len() > MAX_COUNT {
        return Err(Problem::with(&file.name, format!("a lab has 1 to {MAX_COUNT} hosts ([[host]])")));
    }
    for HostFile { name, .. } in &file.host {
        check_name(name)?;
        if names.contains(name.get_ref()) {
            return Err(Problem::with(name, "this name is taken"));
        }
        names.push(name.get_ref().clone());
    }
    Ok(names)
}

fn understand_service(file: &ServiceFile, plan: &LabPlan) -> Result<Service, Problem> {
    if !plan.hosts.contains(file.host.get_ref()) {
        return Err(Problem::with(&file.host, "there is no such host"));
    }
    if plan.switches.contains(file.host.get_ref()) {
        return Err(Problem::with(&file.host, "nothing runs on a switch"));
    }
    let Some(recipe) = recipe::find(file.recipe.get_ref()) else {
        let known: Vec<&str> = recipe::names().collect();
        return Err(Problem::with(
            &file.recipe,
            format!("there is no such recipe, only {}", known.join(", ")),
        ));
    };
    let mut with = BTreeMap::new();
    for (name, value) in &file.with {
        check_parameter(&recipe, name, value, plan)?;
        with.insert(name.get_ref().clone(), value.get_ref().clone());
    }
    if let Some(health) = &file.health {
        check_health(health)?;
    }
    Ok(Service {
        name: file.name.get_ref().clone(),
        host: file.host.get_ref().clone(),
        recipe: recipe.name,
        is_off: false,
        cpus: file.cpus.as_ref().map_or(Ok(Vec::new()), cpus)?,
        with,
        files: file.files.iter().map(data).collect::<Result<_, _>>()?,
        health: file.health.as_ref().map(|health| health.get_ref().clone()),
    })
}

/// `0-3,8`, as the kernel writes lists of CPUs; one at least.
fn cpus(typed: &Spanned<String>) -> Result<Vec<u32>, Problem> {
    let wrong = || Problem::with(typed, format!("this is not a list of CPUs up to {MAX_CPU}, such as 0-3,8"));
    let cpus = sysdyno_observe::source::cpu_list::parse(typed.get_ref().as_bytes()).map_err(|_| wrong())?;
    let is_good = !cpus.is_empty() && cpus.iter().all(|cpu| *cpu <= MAX_CPU);
    if is_good { Ok(cpus) } else { Err(wrong()) }
}

fn check_parameter(
    recipe: &Recipe,
    name: &Spanned<String>,
    value: &Spanned<toml::Value>,
    plan: &LabPlan,
) -> Result<(), Problem> {
    let Some(parameter) = recipe.parameters.get(name.get_ref()) else {
        let known: Vec<&str> = recipe.parameters.keys().map(String::as_str).collect();
        let cause = format!("recipe '{}' has no such parameter, only {}", recipe.name, known.join(", "));
        return Err(Problem::with(name, cause));
    };
    let read = parameter.read(value.get_ref()).map_err(|cause| Problem::with(value, cause))?;
    match read {
        recipe::Value::Endpoint(text) if values::endpoint(plan, "", &text).is_none() => {
            let cause = "this is neither ADDRESS:PORT nor a service above";
            Err(Problem::with(value, cause))
        }
        recipe::Value::Folder(text) if !text.starts_with('/') && plan.service(&text).is_none() => {
            Err(Problem::with(value, "this is neither a path starting with '/' nor a service above"))
        }
        _ => Ok(()),
    }
}

fn check_health(health: &Spanned<Check>) -> Result<(), Problem> {
    let Check { http, port, log, status, text, .. } = health.get_ref();
    let is_path = |path: &String| path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic());
    if http.as_ref().is_some_and(|path| !is_path(path)) {
        return Err(Problem::with(health, "'http' is a path starting with '/'"));
    }
    if port.as_ref().is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err(Problem::with(health, "'port' is a number from 1 to 65535, as text"));
    }
    let has_more = status.is_some() || text.is_some();
    if http.is_none() && port.is_none() && log.is_none() || has_more && http.is_none() {
        return Err(Problem::with(health, "this takes 'http' (with 'status' and 'text'), 'port', or 'log'"));
    }
    Ok(())
}

fn data(file: &DataFile) -> Result<Data, Problem> {
    let is_below = |path: &str| {
        let mut parts = Path::new(path).components();
        !path.is_empty()
            && path.len() <= 1024
            && !path.contains('\0')
            && parts.all(|part| matches!(part, Component::Normal(_)))
    };
    if !is_below(file.path.get_ref()) {
        return Err(Problem::with(&file.path, "this is not a path below the data folder"));
    }
    let content = match (&file.text, &file.source, &file.size) {
        (Some(text), None, None) => Content::Text(text.clone()),
        (None, Some(source), None) if is_below(source.get_ref()) => Content::Source(source.get_ref().clone()),
        (None, Some(source), None) => {
            return Err(Problem::with(source, "this is not a path below the folder of lab.toml"));
        }
        (None, None, Some(size)) => Content::Bytes(bytes(size)?),
        _ => return Err(Problem::with(&file.path, "a file has one of 'text', 'source', or 'size'")),
    };
    Ok(Data { path: file.path.get_ref().clone(), content })
}

/// `64KiB`, in bytes.
fn bytes(typed: &Spanned<String>) -> Result<u64, Problem> {
    let wrong = || Problem::with(typed, "this is not a size up to 16GiB, such as 64KiB");
    let text = typed.get_ref();
    let at = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..at].parse().map_err(|_| wrong())?;
    let unit = match &text[at..] {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(wrong()),
    };
    number.checked_mul(unit).filter(|size| *size <= MAX_SIZE).ok_or_else(wrong)
}

#[cfg(test)]
#[path = "understand_tests.rs"]
mod tests;
