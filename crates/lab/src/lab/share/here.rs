//! The side that asks: shares of a lab on hosts behind ssh, each by an agent there.

use super::super::Labs;
use super::super::journal::{AgentProcess, Door, Journal, Made, MadeShare, ProcessId, Record};
use super::super::plan::{LabPlan, Service};
use super::super::service::Site;
use super::told::{MAX_TEXT, bounded, bounded_needs, reading_of};
use super::{NeedsOf, ShareCall, ShareName, ShareReply, ShareStatus, shell, sources};
use crate::agent::{
    Agent, Answer, Connection, HostPlace, Link, Notice, Proceed, RemoteAgent, Request, Way, Ways,
    terminal_command,
};
use crate::error::{LabError, escaped};
use std::collections::BTreeMap;
use std::fmt;
use std::process::ExitStatus;
use std::sync::{MutexGuard, PoisonError};
use sysdyno_record::service::ServiceReading;

/// Agents on hosts behind ssh: met when they are first asked for something, and met again when they were lost.
pub(in crate::lab) struct Reach {
    ways: Ways,
    version: String,
    met: BTreeMap<Door, RemoteAgent>,
}

impl fmt::Debug for Reach {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Reach").field("ways", &self.ways).field("met", &self.met.keys()).finish()
    }
}

impl Reach {
    /// Nobody was met yet.
    pub(in crate::lab) fn new(ways: Ways, version: &str) -> Reach {
        Reach { ways, version: version.to_owned(), met: BTreeMap::new() }
    }

    /// The way to a host as it is asked for now.
    fn door(&self, place: &str) -> Door {
        let absolute = |path| std::path::absolute(path).unwrap_or_default();
        let ssh_config = self.ways.ssh_config.as_ref().map(absolute);
        Door { place: place.to_owned(), ssh_config, uses_sudo: self.ways.uses_sudo }
    }

    /// The way to a host as it is asked for now, or else was asked for when the lab was put up.
    fn again(&self, kept: &Door) -> Door {
        let now = self.door(&kept.place);
        Door {
            ssh_config: now.ssh_config.or_else(|| kept.ssh_config.clone()),
            uses_sudo: now.uses_sudo || kept.uses_sudo,
            place: now.place,
        }
    }

    fn place(door: &Door) -> Result<HostPlace, LabError> {
        let place = door.place.parse::<HostPlace>();
        place.map_err(|error| LabError::Refused(format!("cannot reach a host: {error}")))
    }

    fn ways(&self, door: &Door) -> Ways {
        let (ssh_config, uses_sudo) = (door.ssh_config.clone(), door.uses_sudo);
        Ways { program: self.ways.program.clone(), ssh_config, uses_sudo }
    }

    /// The agent behind a door.
    fn agent(&mut self, door: &Door) -> Result<&mut RemoteAgent, LabError> {
        self.met.retain(|known, agent| known != door || agent.lost().is_none());
        if !self.met.contains_key(door) {
            let connection = Connection::open(&Reach::place(door)?, &self.ways(door))?;
            self.met.insert(door.clone(), RemoteAgent::meet(connection, &self.version)?);
        }
        Ok(self.met.get_mut(door).expect("was just put there"))
    }

    /// Who the agent behind a door is.
    fn process(&mut self, door: &Door) -> Result<AgentProcess, LabError> {
        let hello = self.agent(door)?.hello();
        let (pid, start_ticks) = (hello.pid, hello.start_ticks);
        let boot_id = hello.boot_id.chars().take(MAX_TEXT).collect();
        Ok(AgentProcess { boot_id, process: ProcessId { pid, start_ticks } })
    }

    fn ask(
        &mut self,
        door: &Door,
        call: ShareCall,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<ShareReply, LabError> {
        let request = call.name();
        match self.agent(door)?.call(Request::Share(Box::new(call)), &mut Waiting(is_stopped))? {
            Answer::Share(reply) => Ok(*reply),
            _ => Err(LabError::Answer { request }),
        }
    }

    /// Has the very agent of a share do something that makes or changes what is there: another one is in no journal.
    fn order(
        &mut self,
        share: &MadeShare,
        call: ShareCall,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<ShareReply, LabError> {
        if !share.agents.contains(&self.process(&share.door)?) {
            return Err(LabError::Lost {
                host: share.door.place.clone(),
                cause: "its agent has ended".into(),
            });
        }
        self.ask(&share.door, call, is_stopped)
    }
}

/// Waits for an answer, and says whether to go on.
struct Waiting<'a>(&'a dyn Fn() -> bool);

impl Link for Waiting<'_> {
    fn notice(&mut self, _: Notice) -> Result<(), LabError> {
        Ok(())
    }

    fn tick(&mut self) -> Proceed {
        if (self.0)() { Proceed::Stop } else { Proceed::Continue }
    }
}

const NEVER: &dyn Fn() -> bool = &|| false;

impl MadeShare {
    fn name(&self) -> ShareName {
        ShareName { lab: self.lab.clone(), of: self.of.clone() }
    }
}

/// What is done to all that is of a lab, wherever it is.
impl Labs {
    fn reach(&self) -> MutexGuard<'_, Reach> {
        self.reach.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What hosts behind ssh need before services can be started there.
    ///
    /// # Errors
    /// A host cannot be reached.
    pub fn needs_there(&self, plan: &LabPlan) -> Result<Vec<NeedsOf>, LabError> {
        let mut reach = self.reach();
        let mut found = Vec::new();
        for (host, place) in plan.ssh_hosts() {
            let (door, plan) = (reach.door(place), Box::new(plan.share(host, "")));
            let ShareReply::Needs(needs) = reach.ask(&door, ShareCall::Look { plan }, NEVER)? else {
                return Err(LabError::Answer { request: "look at what a lab needs" });
            };
            found.push(NeedsOf { host: host.to_owned(), needs: bounded_needs(needs) });
        }
        Ok(found)
    }

    /// Installs and fetches what a host behind ssh needs.
    ///
    /// # Errors
    /// It cannot be had there.
    pub fn provide_there(&self, plan: &LabPlan, host: &str) -> Result<(), LabError> {
        let mut reach = self.reach();
        let Some(place) = plan.ssh(host) else { return Ok(()) };
        let (door, plan) = (reach.door(place), Box::new(plan.share(host, "")));
        reach.ask(&door, ShareCall::Provide { plan }, NEVER).map(drop)
    }

    /// Begins the shares of a lab, each once it is in the journal.
    pub(in crate::lab) fn begin_shares(
        &self,
        site: &Site<'_>,
        of: &str,
        journal: &mut Journal,
        told: &mut dyn FnMut(&str),
    ) -> Result<Vec<MadeShare>, LabError> {
        let (order, mut reach) = (site.order, self.reach());
        let mut begun = Vec::new();
        for (host, place) in order.plan.ssh_hosts() {
            site.go_on()?;
            told(&format!("{}: beginning its share on {host}", order.plan.name));
            let (door, plan) = (reach.door(place), order.plan.share(host, of));
            let agents = vec![reach.process(&door)?];
            let (host, lab, of) = (host.to_owned(), plan.name.clone(), of.to_owned());
            let share = MadeShare { host, lab, of, door, agents };
            journal.append(&Record::Share(share.clone()))?;
            let begin = ShareCall::Begin { plan: Box::new(plan), text: order.text.clone() };
            reach.order(&share, begin, site.is_stopped)?;
            sources::send(&order.plan, &share.host, &order.beside, &mut |call| {
                site.go_on()?;
                reach.order(&share, call, site.is_stopped).map(drop)
            })?;
            begun.push(share);
        }
        Ok(begun)
    }

    /// Starts a service where its host is.
    pub(in crate::lab) fn start(
        &self,
        site: &Site<'_>,
        service: &Service,
        (shares, journal): (&[MadeShare], &mut Journal),
        told: &mut dyn FnMut(&str),
    ) -> Result<(), LabError> {
        let plan = &site.order.plan;
        told(&format!("{}: starting {} ({} on {})", plan.name, service.name, service.recipe, service.host));
        if plan.is_own(&service.host) {
            return site.start(service, journal);
        }
        let share = shares.iter().find(|share| share.host == service.host);
        let share = share.ok_or_else(|| nothing_there(&service.host))?;
        let start = ShareCall::Start { service: service.name.clone() };
        self.reach().order(share, start, site.is_stopped).map(drop)
    }

    /// Says in the shares of a lab that they are up.
    pub(in crate::lab) fn finish_shares(&self, shares: &[MadeShare]) -> Result<(), LabError> {
        let mut reach = self.reach();
        shares.iter().try_for_each(|share| reach.order(share, ShareCall::Finish, NEVER).map(drop))
    }

    /// Has services be other ones in the shares of a lab, and stops those of them that are there; says how the shares are
    /// reached.
    pub(in crate::lab) fn renew_shares(
        &self,
        made: &Made,
        services: &[Service],
        journal: &mut Journal,
    ) -> Result<Vec<MadeShare>, LabError> {
        let mut reach = self.reach();
        let mut renewed = Vec::new();
        for kept in made.shares.iter().rev() {
            let door = reach.again(&kept.door);
            let agent = reach.process(&door)?;
            let share = MadeShare { door, agents: vec![agent.clone()], ..kept.clone() };
            if !kept.agents.contains(&agent) {
                journal.append(&Record::Share(share.clone()))?;
            }
            let renew = ShareCall::Renew { share: share.name(), services: services.to_vec() };
            reach.order(&share, renew, NEVER)?;
            renewed.push(share);
        }
        Ok(renewed)
    }

    /// Takes the shares of a lab away, last first; says which could not be, and why.
    pub(in crate::lab) fn take_shares(
        &self,
        made: &Made,
        journal: &mut Journal,
        told: &mut dyn FnMut(&str),
        notes: &mut Vec<String>,
    ) -> Vec<String> {
        let mut failures = Vec::new();
        for share in made.shares.iter().rev() {
            told(&format!("{}: taking away its share on {}", made.begin.name, share.host));
            match self.take_share(share, journal) {
                Ok(said) => notes.extend(said.into_iter().map(|note| format!("{}: {note}", share.host))),
                Err(error) => failures.push(format!(
                    "cannot take away the share of lab '{}' on '{}': {error}",
                    made.begin.name, share.host
                )),
            }
        }
        failures
    }

    fn take_share(&self, share: &MadeShare, journal: &mut Journal) -> Result<Vec<String>, LabError> {
        let mut reach = self.reach();
        let door = reach.again(&share.door);
        let down = ShareCall::Down { share: share.name(), agents: share.agents.clone() };
        let ShareReply::Gone { notes } = reach.ask(&door, down, NEVER)? else {
            return Err(LabError::Answer { request: "take a share of a lab away" });
        };
        journal.append(&Record::Gone { host: share.host.clone() })?;
        Ok(bounded(notes))
    }

    fn ask_share(
        &self,
        made: &Made,
        host: &str,
        call: impl FnOnce(ShareName) -> ShareCall,
    ) -> Result<ShareReply, LabError> {
        let share = made.shares.iter().find(|share| share.host == host);
        let share = share.ok_or_else(|| nothing_there(host))?;
        let mut reach = self.reach();
        let door = reach.again(&share.door);
        reach.ask(&door, call(share.name()), NEVER)
    }

    /// What a share is now, as it says.
    pub(in crate::lab) fn share_status(&self, made: &Made, host: &str) -> Result<ShareStatus, LabError> {
        match self.ask_share(made, host, |share| ShareCall::Status { share })? {
            ShareReply::Status(status) => Ok(*status),
            _ => Err(LabError::Answer { request: "say what a lab is" }),
        }
    }

    /// The end of what a service on another host has printed.
    pub(in crate::lab) fn share_log(
        &self,
        made: &Made,
        service: &Service,
        most_bytes: u64,
    ) -> Result<String, LabError> {
        let (name, host) = (service.name.clone(), &service.host);
        let call = |share| ShareCall::Log { share, service: name, most_bytes };
        match self.ask_share(made, host, call)? {
            // A byte may have become a sign of three.
            ShareReply::Log(text) => Ok(text.chars().take(most_bytes as usize).collect()),
            _ => Err(LabError::Answer { request: "print a log" }),
        }
    }

    /// Has a service on another host read its files again.
    pub(in crate::lab) fn share_reload(&self, made: &Made, service: &Service) -> Result<(), LabError> {
        let name = service.name.clone();
        self.ask_share(made, &service.host, |share| ShareCall::Reload { share, service: name }).map(drop)
    }

    /// What services on other hosts tell just now: of what comes back, numbers of the tables of their recipes.
    pub(in crate::lab) fn share_readings(&self, made: &Made) -> Vec<ServiceReading> {
        let plan = &made.begin.plan;
        let mut found = Vec::new();
        for (host, _) in plan.ssh_hosts() {
            let told = match self.ask_share(made, host, |share| ShareCall::Readings { share }) {
                Ok(ShareReply::Readings(readings)) => Ok(readings),
                Ok(_) => Err("it answered what was not asked".to_owned()),
                Err(error) => Err(escaped(&error.to_string(), MAX_TEXT)),
            };
            let of_host = plan.services.iter().filter(|service| service.host == host && !service.is_off);
            found.extend(of_host.filter_map(|service| reading_of(service, &told)));
        }
        found
    }

    /// Runs a command on a host behind ssh, with this terminal.
    pub(in crate::lab) fn run_there(
        &self,
        made: &Made,
        host: &str,
        argv: &[String],
    ) -> Result<ExitStatus, LabError> {
        let share = made.shares.iter().find(|share| share.host == host);
        let share = share.ok_or_else(|| nothing_there(host))?;
        let reach = self.reach();
        let door = reach.again(&share.door);
        let Way::Ssh(address) = Reach::place(&door)?.way else { return Err(nothing_there(host)) };
        let sudo = ["sudo", "-n", "--"].map(str::to_owned);
        let words: Vec<String> =
            if door.uses_sudo { sudo.iter().chain(argv).cloned().collect() } else { argv.to_vec() };
        let mut command = terminal_command(&address, &shell::command(&words), &reach.ways(&door));
        command.status().map_err(|source| LabError::Process {
            operation: "run",
            object: format!("'ssh' for host '{host}'"),
            source,
        })
    }
}

fn nothing_there(host: &str) -> LabError {
    LabError::Refused(format!("cannot use host '{host}': nothing of the lab is there"))
}
