//! What a recipe needs on this machine: programs, accounts, packages.

use super::plan::{LabPlan, LabService};
use super::recipe::Recipe;
use super::values::{self, ServicePlace, recipe_of};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use sysdyno_run::RunError;
use sysdyno_run::program::{Bond, Program};

/// Where programs are looked for.
const FOLDERS: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// How long the installation of packages may take.
const INSTALL_LIMIT: Duration = Duration::from_secs(1800);

/// The path that services are given.
pub(super) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What has to be installed before a lab can be put up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Programs and other files that are not there.
    pub programs: BTreeSet<String>,
    /// Packages of this distribution that have them.
    pub packages: BTreeSet<String>,
    /// Recipes that know no packages of this distribution.
    pub unknown: BTreeSet<String>,
}

/// What a lab needs that is not installed on this machine.
///
/// # Errors
/// A recipe is not known.
pub fn missing(plan: &LabPlan) -> Result<Missing, RunError> {
    let mut missing = Missing::default();
    let distributions = distributions();
    for service in plan.own_services() {
        let recipe = recipe_of(service).map_err(RunError::Refused)?;
        let programs = programs(plan, service, &recipe).map_err(RunError::Refused)?;
        let programs = programs.values().filter(|names| find(names).is_none());
        let paths = recipe.paths.iter().filter(|(_, paths)| find_path(paths).is_none());
        let absent: Vec<String> = programs
            .filter_map(|names| names.first().cloned())
            .chain(paths.map(|(name, _)| format!("{name} ({})", recipe.name)))
            .collect();
        if absent.is_empty() {
            continue;
        }
        missing.programs.extend(absent);
        match distributions.iter().find_map(|distribution| recipe.packages.get(distribution)) {
            Some(packages) => missing.packages.extend(packages.iter().cloned()),
            None => drop(missing.unknown.insert(recipe.name)),
        }
    }
    Ok(missing)
}

/// Installs packages by the distribution's own program.
///
/// # Errors
/// There is no `apt-get`, or it says so.
pub fn install(packages: &BTreeSet<String>) -> Result<(), RunError> {
    let object = packages.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let cannot = |source| RunError::Process { operation: "install", object: object.clone(), source };
    let Some(program) = find(&["apt-get".to_owned()]) else {
        let cause = io::Error::other(
            "sysdyno can only install with apt-get\nhint: install them yourself, \
                                      then try again",
        );
        return Err(cannot(cause));
    };
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        // Debian's scripts start no services in this run level.
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").env("RUNLEVEL", "1");
        // A package that is half installed would be worse than one that nobody waits for.
        Program::new(command, INSTALL_LIMIT).bond(Bond::LivesOn).run()
    };
    let mut install = vec!["install", "--yes", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"];
    install.extend(packages.iter().map(String::as_str));
    let first = run(&install).map_err(cannot)?;
    if first.status.success() {
        return Ok(());
    }
    // Lists of packages may be old, or missing.
    run(&["update"]).map_err(cannot)?;
    let second = run(&install).map_err(cannot)?;
    if second.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&second.errors);
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("apt-get failed");
    Err(cannot(io::Error::other(last.to_owned())))
}

/// The first of some programs that is there.
pub(super) fn find(names: &[String]) -> Option<PathBuf> {
    let places =
        |name: &String| FOLDERS.iter().map(move |folder| Path::new(folder).join(name)).collect::<Vec<_>>();
    names.iter().flat_map(places).find(|path| path.is_file())
}

/// The first of some files and folders that is there.
fn find_path(paths: &[String]) -> Option<PathBuf> {
    paths.iter().map(PathBuf::from).find(|path| path.exists())
}

/// This distribution and those that it is like, as os-release(5) has them.
fn distributions() -> Vec<String> {
    let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.unwrap_or_default().trim_matches(['"', '\'']).to_owned()
    };
    format!("{} {}", value("ID"), value("ID_LIKE")).split_whitespace().map(str::to_owned).collect()
}

/// Programs of a service; which they are may depend on what was chosen.
fn programs(
    plan: &LabPlan,
    service: &LabService,
    recipe: &Recipe,
) -> Result<BTreeMap<String, Vec<String>>, String> {
    let chosen = values::of(plan, service, &ServicePlace::default())?;
    let expand = |names: &Vec<String>| names.iter().map(|name| chosen.expand(name)).collect::<Result<_, _>>();
    recipe.programs.iter().map(|(name, names)| Ok((name.clone(), expand(names)?))).collect()
}

/// What of this machine stands in the texts of a service, whose folder is known.
pub(super) fn place(plan: &LabPlan, service: &LabService, folder: PathBuf) -> Result<ServicePlace, String> {
    let recipe = recipe_of(service)?;
    let candidates = programs(plan, service, &recipe)?;
    let mut programs = BTreeMap::new();
    for (name, candidates) in candidates {
        let found = find(&candidates).ok_or_else(|| format!("'{}' is not installed", candidates[0]))?;
        programs.insert(name, found);
    }
    let mut paths = BTreeMap::new();
    for (name, candidates) in &recipe.paths {
        let found = find_path(candidates).ok_or_else(|| format!("'{}' is missing", candidates[0]))?;
        paths.insert(name.clone(), found);
    }
    let (user, group) = match recipe.users.is_empty() {
        true => ("root".to_owned(), "root".to_owned()),
        false => {
            let account = accounts(&recipe.users).ok_or("none of its accounts exists")?;
            (account.name, account.group)
        }
    };
    Ok(ServicePlace { folder, programs, paths, user, group })
}

/// Who an account is to the kernel; `None` if there is none of this name.
pub(super) fn ids(user: &str) -> Option<(u32, u32)> {
    accounts(&[user.to_owned()]).map(|account| account.ids)
}

struct Account {
    name: String,
    group: String,
    ids: (u32, u32),
}

/// The first of some accounts that is there, by passwd(5) and group(5).
fn accounts(names: &[String]) -> Option<Account> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let groups = fs::read_to_string("/etc/group").ok()?;
    let field = |line: &str, at: usize| line.split(':').nth(at).unwrap_or_default().to_owned();
    let line = names.iter().find_map(|name| users.lines().find(|line| field(line, 0) == *name))?;
    let (uid, gid) = (field(line, 2), field(line, 3));
    let group = groups.lines().find(|line| field(line, 2) == gid)?;
    Some(Account {
        name: field(line, 0),
        group: field(group, 0),
        ids: (uid.parse().ok()?, gid.parse().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_accounts_of_this_machine_are_found() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(find(&names(&["no-such-program", "sh"])).is_some_and(|path| path.ends_with("sh")));
        assert_eq!(find(&names(&["no-such-program"])), None);
        assert_eq!(ids("root"), Some((0, 0)));
        assert!(accounts(&names(&["no-such-user"])).is_none());
    }
}
