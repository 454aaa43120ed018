//! Agents on other machines that build shares of labs, and how to reach them.

use super::super::journal::{AgentProcess, Door, LabJournal, LabRecord, MadeShare, ProcessId};
use super::told::MAX_TEXT;
use super::{ShareCall, ShareName, ShareReply};
use std::collections::BTreeMap;
use std::fmt;
use sysdyno_record::place::HostPlace;
use sysdyno_run::RunError;
use sysdyno_run::agent::{Agent, AgentConnection, AgentLink, Notice, Proceed, RemoteAgent, Ways};

/// Agents on other machines: met when they are first asked for something, and met again when they were lost.
pub(crate) struct ShareReach {
    ways: Ways,
    version: String,
    met: BTreeMap<Door, RemoteAgent>,
}

impl fmt::Debug for ShareReach {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ShareReach").field("ways", &self.ways).field("met", &self.met.keys()).finish()
    }
}

impl ShareReach {
    /// Nobody was met yet.
    pub(crate) fn new(ways: Ways, version: &str) -> ShareReach {
        ShareReach { ways, version: version.to_owned(), met: BTreeMap::new() }
    }

    /// The way to a host, as currently requested.
    pub(super) fn door(&self, place: &str) -> Door {
        let absolute = |path| std::path::absolute(path).unwrap_or_default();
        let ssh_config = self.ways.ssh_config.as_ref().map(absolute);
        Door { place: place.to_owned(), ssh_config, uses_sudo: self.ways.uses_sudo }
    }

    /// The way to a host as it is asked for now, or else was asked for when the lab was put up.
    pub(super) fn again(&self, kept: &Door) -> Door {
        let now = self.door(&kept.place);
        Door {
            ssh_config: now.ssh_config.or_else(|| kept.ssh_config.clone()),
            uses_sudo: now.uses_sudo || kept.uses_sudo,
            place: now.place,
        }
    }

    pub(super) fn place(door: &Door) -> Result<HostPlace, RunError> {
        let place = door.place.parse::<HostPlace>();
        place.map_err(|error| RunError::Refused(format!("cannot reach a host: {error}")))
    }

    pub(super) fn ways(&self, door: &Door) -> Ways {
        let (ssh_config, uses_sudo) = (door.ssh_config.clone(), door.uses_sudo);
        Ways { ssh_config, uses_sudo, ..self.ways.clone() }
    }

    /// The agent behind a door.
    fn agent(&mut self, door: &Door) -> Result<&mut RemoteAgent, RunError> {
        self.met.retain(|known, agent| known != door || agent.lost().is_none());
        if !self.met.contains_key(door) {
            let connection = AgentConnection::open(&ShareReach::place(door)?, &self.ways(door))?;
            self.met.insert(door.clone(), RemoteAgent::meet(connection, &self.version)?);
        }
        Ok(self.met.get_mut(door).expect("was just put there"))
    }

    /// Who the agent behind a door is.
    pub(super) fn process(&mut self, door: &Door) -> Result<AgentProcess, RunError> {
        let hello = self.agent(door)?.hello();
        let (pid, start_ticks) = (hello.pid, hello.start_ticks);
        let boot_id = hello.boot_id.chars().take(MAX_TEXT).collect();
        Ok(AgentProcess { boot_id, process: ProcessId { pid, start_ticks } })
    }

    /// A share that was put up before, with the agent that is asked now, which is in the journal before it is asked.
    pub(super) fn meet_again(
        &mut self,
        kept: &MadeShare,
        journal: &mut LabJournal,
    ) -> Result<MadeShare, RunError> {
        let door = self.again(&kept.door);
        let agent = self.process(&door)?;
        let share = MadeShare { door, agents: vec![agent.clone()], ..kept.clone() };
        if !kept.agents.contains(&agent) {
            journal.append(&LabRecord::Share(share.clone()))?;
        }
        Ok(share)
    }

    pub(super) fn ask(
        &mut self,
        door: &Door,
        call: ShareCall,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<ShareReply, RunError> {
        let unusable = |_| RunError::Answer { request: call.name() };
        let said = serde_json::to_value(&call).map_err(unusable)?;
        let answer = self.agent(door)?.share(said, &mut Waiting(is_stopped))?;
        serde_json::from_value(answer).map_err(unusable)
    }

    /// Has the very agent of a share do something that makes or changes what is there: another one is in no journal.
    pub(super) fn order(
        &mut self,
        share: &MadeShare,
        call: ShareCall,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<ShareReply, RunError> {
        if !share.agents.contains(&self.process(&share.door)?) {
            return Err(RunError::Lost { host: share.door.place.clone(), cause: "its agent exited".into() });
        }
        self.ask(&share.door, call, is_stopped)
    }
}

/// Waits for an answer, and decides whether to continue.
struct Waiting<'a>(&'a dyn Fn() -> bool);

impl AgentLink for Waiting<'_> {
    fn notice(&mut self, _: Notice) -> Result<(), RunError> {
        Ok(())
    }

    fn tick(&mut self) -> Proceed {
        if (self.0)() { Proceed::Stop } else { Proceed::Continue }
    }
}

/// Goes on whatever comes.
pub(super) const NEVER: &dyn Fn() -> bool = &|| false;

impl MadeShare {
    pub(super) fn name(&self) -> ShareName {
        ShareName { lab: self.lab.clone(), of: self.of.clone() }
    }
}

pub(super) fn nothing_there(host: &str) -> RunError {
    RunError::Refused(format!("cannot use host '{host}': no part of the lab is there"))
}
