//! Turns a lab file into a plan: checks every name, address, and parameter, and reports errors with their place in the file.

use super::file::{DataFile, HostFile, LabFile, MAX_COUNT, ServiceEntry};
use super::limits::ServiceLimits;
use super::plan::{Data, FileContent, LabPlan, LabService, wrong_name};
use super::problem::FileProblem;
use super::recipe::{self, AtMost, HealthCheck, Recipe};
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

fn understand(file: &LabFile) -> Result<LabPlan, FileProblem> {
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
            return Err(FileProblem::with(&service.name, "this name is taken"));
        }
        let understood = understand_service(service, &plan)?;
        plan.services.push(understood);
        values::check(&plan, plan.services.last().expect("was just added"))
            .map_err(|cause| FileProblem::with(&service.recipe, cause))?;
    }
    file.service.iter().zip(&plan.services).try_for_each(|(typed, service)| {
        check_counts(&plan, service).map_err(|cause| FileProblem::with(&typed.name, cause))
    })?;
    Ok(plan)
}

/// Whether what a service wants of others is there, such as as many DataNodes as there are to be copies.
pub(super) fn check_counts(plan: &LabPlan, service: &LabService) -> Result<(), String> {
    let Some(recipe) = recipe::find(&service.recipe) else { return Ok(()) };
    for rule in &recipe.at_most {
        let parameter = recipe.parameters.get(&rule.parameter);
        let chosen = service.with.get(&rule.parameter).or(parameter.and_then(|known| known.default.as_ref()));
        let wanted = chosen.and_then(toml::Value::as_integer).unwrap_or(0);
        let refers = |other: &&LabService| {
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

fn bounded(at: &Spanned<String>, count: usize, what: &str) -> Result<(), FileProblem> {
    if count > MAX_COUNT {
        return Err(FileProblem::with(at, format!("a lab has at most {MAX_COUNT} {what}")));
    }
    Ok(())
}

fn check_name(name: &Spanned<String>) -> Result<(), FileProblem> {
    wrong_name(name.get_ref()).map_or(Ok(()), |wrong| Err(FileProblem::with(name, wrong)))
}

fn hosts(file: &LabFile) -> Result<Vec<String>, FileProblem> {
    let mut names: Vec<String> = Vec::new();
    if file.host.is_empty() || file.host.len() > MAX_COUNT {
        return Err(FileProblem::with(&file.name, format!("a lab has 1 to {MAX_COUNT} hosts ([[host]])")));
    }
    for HostFile { name, .. } in &file.host {
        check_name(name)?;
        if names.contains(name.get_ref()) {
            return Err(FileProblem::with(name, "this name is taken"));
        }
        names.push(name.get_ref().clone());
    }
    Ok(names)
}

fn understand_service(file: &ServiceEntry, plan: &LabPlan) -> Result<LabService, FileProblem> {
    if !plan.hosts.contains(file.host.get_ref()) {
        return Err(FileProblem::with(&file.host, "there is no such host"));
    }
    if plan.switches.contains(file.host.get_ref()) {
        return Err(FileProblem::with(&file.host, "nothing runs on a switch"));
    }
    let Some(recipe) = recipe::find(file.recipe.get_ref()) else {
        let known: Vec<&str> = recipe::names().collect();
        return Err(FileProblem::with(
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
    Ok(LabService {
        name: file.name.get_ref().clone(),
        host: file.host.get_ref().clone(),
        recipe: recipe.name,
        is_off: false,
        cpus: file.cpus.as_ref().map_or(Ok(Vec::new()), |typed| {
            cpus(typed.get_ref()).map_err(|cause| FileProblem::with(typed, cause))
        })?,
        limits: file.limits.as_ref().map_or(Ok(ServiceLimits::default()), |typed| {
            typed.get_ref().clone().checked().map_err(|cause| FileProblem::with(typed, cause))
        })?,
        with,
        files: file.files.iter().map(data).collect::<Result<_, _>>()?,
        health: file.health.as_ref().map(|health| health.get_ref().clone()),
    })
}

/// `0-3,8`, as the kernel writes lists of CPUs; one at least.
pub(super) fn cpus(typed: &str) -> Result<Vec<u32>, String> {
    let wrong = || format!("this is not a list of CPUs up to {MAX_CPU}, such as 0-3,8");
    let cpus = sysdyno_observe::source::cpu_list::parse(typed.as_bytes()).map_err(|_| wrong())?;
    let is_good = !cpus.is_empty() && cpus.iter().all(|cpu| *cpu <= MAX_CPU);
    if is_good { Ok(cpus) } else { Err(wrong()) }
}

fn check_parameter(
    recipe: &Recipe,
    name: &Spanned<String>,
    value: &Spanned<toml::Value>,
    plan: &LabPlan,
) -> Result<(), FileProblem> {
    let Some(parameter) = recipe.parameters.get(name.get_ref()) else {
        let known: Vec<&str> = recipe.parameters.keys().map(String::as_str).collect();
        let cause = format!("recipe '{}' has no such parameter, only {}", recipe.name, known.join(", "));
        return Err(FileProblem::with(name, cause));
    };
    let read = parameter.read(value.get_ref()).map_err(|cause| FileProblem::with(value, cause))?;
    match read {
        recipe::ParameterValue::Endpoint(text) if values::endpoint(plan, "", &text).is_none() => {
            let cause = "this is neither ADDRESS:PORT nor a service above";
            Err(FileProblem::with(value, cause))
        }
        recipe::ParameterValue::Folder(text) if !text.starts_with('/') && plan.service(&text).is_none() => {
            Err(FileProblem::with(value, "this is neither a path starting with '/' nor a service above"))
        }
        _ => Ok(()),
    }
}

fn check_health(health: &Spanned<HealthCheck>) -> Result<(), FileProblem> {
    let HealthCheck { http, port, log, status, text, .. } = health.get_ref();
    let is_path = |path: &String| path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic());
    if http.as_ref().is_some_and(|path| !is_path(path)) {
        return Err(FileProblem::with(health, "'http' is a path starting with '/'"));
    }
    if port.as_ref().is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err(FileProblem::with(health, "'port' is a number from 1 to 65535, as text"));
    }
    let has_more = status.is_some() || text.is_some();
    if http.is_none() && port.is_none() && log.is_none() || has_more && http.is_none() {
        return Err(FileProblem::with(
            health,
            "this takes 'http' (with 'status' and 'text'), 'port', or 'log'",
        ));
    }
    Ok(())
}

fn data(file: &DataFile) -> Result<Data, FileProblem> {
    let is_below = |path: &str| {
        let mut parts = Path::new(path).components();
        !path.is_empty()
            && path.len() <= 1024
            && !path.contains('\0')
            && parts.all(|part| matches!(part, Component::Normal(_)))
    };
    if !is_below(file.path.get_ref()) {
        return Err(FileProblem::with(&file.path, "this is not a path below the data folder"));
    }
    let content = match (&file.text, &file.source, &file.size) {
        (Some(text), None, None) => FileContent::Text(text.clone()),
        (None, Some(source), None) if is_below(source.get_ref()) => {
            FileContent::Source(source.get_ref().clone())
        }
        (None, Some(source), None) => {
            return Err(FileProblem::with(source, "this is not a path below the folder of lab.toml"));
        }
        (None, None, Some(size)) => FileContent::Bytes(bytes(size)?),
        _ => return Err(FileProblem::with(&file.path, "a file has one of 'text', 'source', or 'size'")),
    };
    Ok(Data { path: file.path.get_ref().clone(), content })
}

/// `64KiB`, in bytes.
fn bytes(typed: &Spanned<String>) -> Result<u64, FileProblem> {
    let wrong = || FileProblem::with(typed, "this is not a size up to 16GiB, such as 64KiB");
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
