//! The current state of a lab: its hosts, its services, and whether they are healthy.

use super::check::{self, Subject};
use super::journal::{self, MadeLab};
use super::labs::Labs;
use super::outside::HostSeat;
use super::paths::{ended_of, log_of};
use super::plan::{LabPlan, LabService, is_kept_name};
use super::plan_links::Relay;
use super::process::Held;
use super::recipe::ReloadSignal;
use super::relay::{self, Forwarded};
use super::service_status::ServiceStatus;
use super::share::{ShareStatus, status_there};
use super::{machine, metrics, namespace, service, symptom, values};
use rustix::process::Signal;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use sysdyno_record::service::{ServiceReading, ServiceValue};
use sysdyno_run::RunError;

/// A lab.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabStatus {
    /// Its name.
    pub name: String,
    /// Whether it came up whole.
    pub is_up: bool,
    /// Whether it is of this boot; one of an earlier boot has no hosts any more.
    pub is_of_this_boot: bool,
    /// Its folder.
    pub folder: PathBuf,
    /// Its hosts.
    pub hosts: Vec<HostStatus>,
    /// Its links.
    pub links: Vec<LinkStatus>,
    /// Its services.
    pub services: Vec<ServiceStatus>,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostStatus {
    /// Its name in the lab.
    pub name: String,
    /// Its name below `/run/netns`, as `ip netns exec` takes it; empty if it is another machine.
    pub namespace: String,
    /// Whom ssh reaches; `None`: it is not behind ssh.
    pub ssh: Option<String>,
    /// The agent of a fleet that it is, as `fleet:NAME`; `None`: it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
    /// Whether it is this machine in its own network.
    pub is_here: bool,
    /// Whether it is there.
    pub is_there: bool,
    /// Addresses with their interfaces, as far as those are of the lab.
    pub addresses: Vec<String>,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkStatus {
    /// The hosts at its ends, with their interfaces.
    pub ends: [String; 2],
    /// What delays and loses frames; `None`: nothing does.
    pub relay: Option<RelayStatus>,
}

/// What is between the ends of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RelayStatus {
    /// Its name in logs, and in that of its namespace.
    pub name: String,
    /// What it is to do.
    #[serde(flatten)]
    pub relay: Relay,
    /// Its process; `None`: it does not run, and nothing goes through.
    pub pid: Option<u32>,
    /// Why it does not run; `None` if it does.
    pub cause: Option<String>,
    /// Of frames from each end, within a tenth of a second. They begin at 0 with the lab.
    pub from_ends: [Forwarded; 2],
}

impl Labs {
    /// A lab as it is now.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn status(&self, name: &str) -> Result<LabStatus, RunError> {
        let made = self.made(name)?;
        let plan = &made.begin.plan;
        let is_of_this_boot = sysdyno_observe::boot_id().is_some_and(|boot| boot == made.begin.boot_id);
        let told = |host: &str| (host.to_owned(), self.share_status(&made, host));
        let shares: Shares = plan.far_hosts().map(|(host, _)| told(host)).collect();
        let is_whole = |share: &ShareStatus| share.is_up && share.is_of_this_boot;
        let are_whole = shares.values().flatten().all(is_whole);
        let meant = |host: &&String| plan.share.is_none() || plan.is_own(host);
        let hosts = plan.hosts.iter().filter(meant).map(|host| host_status(plan, host, &shares)).collect();
        let links = plan.own_links().map(|position| link_status(&made, position)).collect();
        let services = plan.services.iter().filter(|service| meant(&&service.host));
        let services = services.map(|service| match shares.get(&service.host) {
            Some(share) => status_there(plan, service, share),
            None => service_status(&made, service),
        });
        let services = services.collect();
        Ok(LabStatus {
            name: name.to_owned(),
            is_up: made.is_up && !made.is_going_down && are_whole,
            is_of_this_boot,
            folder: made.begin.folder.clone(),
            hosts,
            links,
            services,
        })
    }

    /// Names of all labs, up or not.
    ///
    /// # Errors
    /// The state folder cannot be listed.
    pub fn names(&self) -> Result<Vec<String>, RunError> {
        let entries = match fs::read_dir(self.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|source| {
                let object = format!("labs in '{}'", self.path().display());
                RunError::Process { operation: "list", object, source }
            })?,
        };
        let name = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".wal").filter(|name| is_kept_name(name)).map(str::to_owned)
        };
        let mut names: Vec<String> = entries.flatten().filter_map(name).collect();
        names.sort();
        Ok(names)
    }

    /// Runs a command in a host, with this terminal, and waits for its end.
    ///
    /// # Errors
    /// There is no such lab or host, or the command cannot be started.
    pub fn run(&self, name: &str, host: &str, argv: &[String]) -> Result<ExitStatus, RunError> {
        let made = self.made(name)?;
        if !made.begin.plan.hosts.iter().any(|known| known == host) {
            let known = made.begin.plan.hosts.join(", ");
            let cause =
                format!("cannot run in '{host}': lab '{name}' has no such host\nhint: its hosts are {known}");
            return Err(RunError::Refused(cause));
        }
        if !made.begin.plan.is_own(host) {
            return self.run_there(&made, host, argv);
        }
        let (program, arguments) =
            argv.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        // A sysdyno in there finds the lab that it is in.
        let state = self.path().parent().unwrap_or(self.path()).to_owned();
        let run = || {
            let mut command = Command::new(program);
            command.args(arguments).env("SYSDYNO_LAB_HOST", host).env("SYSDYNO_STATE_DIR", &state).status()
        };
        let object = format!("'{}' in '{host}'", program.escape_debug());
        namespace::within(&namespace::path_of(name, host), run).map_err(|source| RunError::Process {
            operation: "run",
            object,
            source,
        })
    }

    /// The end of what services printed, at most so many bytes of each; of all of them if none is named.
    ///
    /// # Errors
    /// There is no such lab or service, or its host cannot be reached.
    pub fn logs(
        &self,
        name: &str,
        service: Option<&str>,
        most_bytes: u64,
    ) -> Result<Vec<ServiceLog>, RunError> {
        let made = self.made(name)?;
        let plan = &made.begin.plan;
        let is_meant = |known: &&LabService| service.is_none_or(|service| service == known.name);
        let meant: Vec<&LabService> = plan.services.iter().filter(is_meant).collect();
        if meant.is_empty() && service.is_some() {
            let cause =
                format!("cannot print logs of '{}': lab '{name}' has no such service", service.unwrap_or(""));
            return Err(RunError::Refused(cause));
        }
        let log = |service: &LabService| {
            let text = match plan.is_own(&service.host) {
                true => {
                    check::tail(&log_of(&made.begin.folder, &service.name), most_bytes).unwrap_or_default()
                }
                false => self.share_log(&made, service, most_bytes)?,
            };
            Ok(ServiceLog { service: service.name.clone(), text })
        };
        meant.into_iter().map(log).collect()
    }

    /// What services tell of themselves just now, of those whose recipes say where they are asked.
    pub(super) fn readings(&self, plan: &LabPlan) -> Vec<ServiceReading> {
        let mut found = metrics::readings(plan, &self.folder_of(&plan.name));
        if plan.far_hosts().next().is_some()
            && let Ok(made) = self.made(&plan.name)
        {
            found.extend(self.share_readings(&made));
        }
        found
    }

    /// Has a service read its files again.
    ///
    /// # Errors
    /// There is no such lab or service, it does not run, or it has to be restarted for that.
    pub fn reload(&self, name: &str, service: &str) -> Result<(), RunError> {
        let made = self.made(name)?;
        let cannot =
            |cause: &str| RunError::Refused(format!("cannot reload '{}': {cause}", service.escape_debug()));
        let known = made.begin.plan.service(service).ok_or_else(|| cannot("the lab has no such service"))?;
        let recipe = values::recipe_of(known).map_err(|cause| cannot(&cause))?;
        if !made.begin.plan.is_own(&known.host) {
            return self.share_reload(&made, known);
        }
        let signal = match recipe.start.reload {
            Some(ReloadSignal::Hup) => Signal::HUP,
            Some(ReloadSignal::Usr1) => Signal::USR1,
            Some(ReloadSignal::Usr2) => Signal::USR2,
            None => return Err(cannot("it reads its configuration only at start")),
        };
        let main = made.mains.iter().rev().find(|(name, _)| name == service);
        let held = main.and_then(|(_, id)| Held::of(*id)).ok_or_else(|| cannot("it is not running"))?;
        held.signal(signal);
        Ok(())
    }

    /// The first process of a service; `None`: there is none, or it has ended.
    pub(super) fn pid_of(&self, name: &str, service: &str) -> Result<Option<u32>, RunError> {
        let made = self.made(name)?;
        let main = made.mains.iter().rev().find(|(known, _)| known == service);
        Ok(main.filter(|(_, id)| Held::of(*id).is_some()).map(|(_, id)| id.pid))
    }

    pub(super) fn made(&self, name: &str) -> Result<MadeLab, RunError> {
        if !is_kept_name(name) {
            return Err(self.unknown(name));
        }
        journal::read(&self.journal_of(name))?.ok_or_else(|| self.unknown(name))
    }
}

/// What a service printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceLog {
    /// Which service.
    pub service: String,
    /// Its text. Untrusted.
    pub text: String,
}

/// The reports of other machines, by name; an error for a host that does not answer.
type Shares = BTreeMap<String, Result<ShareStatus, RunError>>;

fn host_status(plan: &LabPlan, host: &str, shares: &Shares) -> HostStatus {
    let name = host.to_owned();
    let outside = plan.outside.get(host).map(|outside| outside.address.to_string());
    if let Some(share) = shares.get(host) {
        let (ssh, fleet) = match plan.outside.get(host).map(|outside| &outside.seat) {
            Some(HostSeat::Ssh(place)) => (Some(place.clone()), None),
            Some(HostSeat::Fleet(place)) => (None, Some(place.clone())),
            Some(HostSeat::Here) | None => (None, None),
        };
        return HostStatus {
            name,
            namespace: String::new(),
            ssh,
            fleet,
            is_here: false,
            is_there: share.as_ref().is_ok_and(|share| share.is_of_this_boot),
            addresses: outside.into_iter().collect(),
        };
    }
    let path = namespace::path_of(&plan.name, host);
    let ends = plan.links.iter().flat_map(|link| &link.ends).filter(|end| end.host == host);
    let shown = ends.map(|end| match end.address {
        Some(address) => format!("{} {}/{}", end.interface, address.ip, address.prefix_bits),
        None => end.interface.clone(),
    });
    HostStatus {
        name,
        ssh: None,
        fleet: None,
        is_here: plan.is_here(host),
        namespace: path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        is_there: namespace::inode(&path).is_some(),
        addresses: shown.chain(outside).collect(),
    }
}

fn link_status(made: &MadeLab, position: usize) -> LinkStatus {
    let link = &made.begin.plan.links[position];
    let relay = link.relay.map(|relay| {
        let name = relay::name_of(position);
        let (pid, ended) = process_of(made, &name);
        let from_ends = relay::counts(&made.begin.folder, &name).unwrap_or_default();
        RelayStatus { name, relay, pid, cause: ended, from_ends }
    });
    LinkStatus { ends: link.ends.each_ref().map(|end| format!("{} {}", end.host, end.interface)), relay }
}

/// The first process of what a keeper keeps, or how that has ended.
fn process_of(made: &MadeLab, name: &str) -> (Option<u32>, Option<String>) {
    let main = made.mains.iter().rev().find(|(known, _)| known == name);
    match main.filter(|(_, id)| Held::of(*id).is_some()) {
        Some((_, id)) => (Some(id.pid), None),
        None => {
            let how = fs::read_to_string(ended_of(&made.begin.folder, name));
            (None, Some(how.unwrap_or_else(|_| "it is not running".to_owned())))
        }
    }
}

fn service_status(made: &MadeLab, service: &LabService) -> ServiceStatus {
    let folder = &made.begin.folder;
    let (pid, ended) = process_of(made, &service.name);
    let Told { cause, symptoms, metrics, tunables } =
        told(made, service).unwrap_or_else(|cause| Told { cause: Some(cause), ..Told::default() });
    let cause = if service.is_off { Some("it is switched off".to_owned()) } else { ended.or(cause) };
    ServiceStatus {
        name: service.name.clone(),
        host: service.host.clone(),
        recipe: service.recipe.clone(),
        pid,
        is_healthy: cause.is_none(),
        symptoms: if pid.is_some() { symptoms } else { Vec::new() },
        cause,
        endpoint: values::endpoint_of(&made.begin.plan, service),
        metrics,
        values: values_of(made, service, pid.is_some()),
        tunables,
        log: log_of(folder, &service.name),
    }
}

/// What a running service reports about itself.
fn values_of(made: &MadeLab, service: &LabService, is_running: bool) -> Vec<ServiceValue> {
    let recipe = values::recipe_of(service).ok().filter(|recipe| is_running && !recipe.metric.is_empty());
    let plan = &made.begin.plan;
    recipe.map_or(Vec::new(), |recipe| metrics::reading(plan, &made.begin.folder, service, &recipe).values)
}

/// What keeps it from being well, what it says of itself and where, and what can be tuned.
#[derive(Default)]
struct Told {
    cause: Option<String>,
    symptoms: Vec<String>,
    metrics: Option<String>,
    tunables: Vec<String>,
}

fn told(made: &MadeLab, known: &LabService) -> Result<Told, String> {
    let (plan, folder) = (&made.begin.plan, &made.begin.folder);
    let recipe = values::recipe_of(known)?;
    let place = machine::place(plan, known, folder.join(&known.name))?;
    let values = values::of(plan, known, &place)?;
    let check = match &known.health {
        Some(health) => health.clone(),
        None => service::expanded(&recipe.ready, &values)?,
    };
    let path = namespace::path_of(&plan.name, &known.host);
    let log = log_of(folder, &known.name);
    let address = plan.address(&known.host);
    let subject = Subject { namespace: &path, address, port: values::port(known), log: Path::new(&log) };
    let cause = check::ask(&check, &subject).err().map(|error| error.to_string());
    let url = recipe.metrics.as_ref().and_then(|metrics| metrics.url.as_ref());
    let metrics = url.map(|url| values.expand(url)).transpose()?;
    let keys = recipe.tunables.iter().map(|tunable| values.expand(&tunable.key));
    let symptoms = symptom::seen(&recipe.symptoms, &values, &path, address)?;
    Ok(Told { cause, symptoms, metrics, tunables: keys.collect::<Result<_, _>>()? })
}
