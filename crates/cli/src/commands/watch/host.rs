//! A host that is watched: its sampler, in this process or in an agent's, and what is kept between frames.

use crate::ui::Ui;
use anyhow::bail;
use std::collections::VecDeque;
use sysdyno_analyze::live::HostWatch;
use sysdyno_plan::options::{BrokerOptions, SshOptions};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::live::HostFrame;
use sysdyno_record::place::HostPlace;
use sysdyno_record::plan::Endpoint;
use sysdyno_record::series::SeriesLine;
use sysdyno_record::units::SpanNs;
use sysdyno_run::agent::{
    Agent, AgentLink, LocalAgent, Notice, Proceed, ProcessQuery, RemoteAgent, SamplingOrder,
};
use sysdyno_run::execute::RunJournal;
use sysdyno_run::{RunError, clock};

/// What is watched of each host.
pub(super) struct WatchOrder {
    /// From one sample to the next.
    pub(super) interval: SpanNs,
    /// A server whose queue and tiers are watched.
    pub(super) target: Option<Endpoint>,
    /// Whether processes and listeners are wanted.
    pub(super) has_processes: bool,
    /// Whether it is recorded, and who uses its CPUs with it.
    pub(super) is_recorded: bool,
}

/// A host that is sampled. The sampler ends with it.
pub(super) struct WatchedHost {
    /// As it was typed; `None`: this one.
    pub(super) name: Option<String>,
    pub(super) host: HostWatch,
    agent: WatchedAgent,
    lines: Lines,
    has_processes: bool,
    /// Whether a sample was there: the first one has nothing to be compared with.
    is_begun: bool,
}

enum WatchedAgent {
    Here(Box<LocalAgent>),
    There(Box<RemoteAgent>),
}

/// What was read and not yet taken.
#[derive(Default)]
struct Lines(VecDeque<SeriesLine>);

impl AgentLink for Lines {
    fn notice(&mut self, notice: Notice) -> Result<(), RunError> {
        if let Notice::Series(line) = notice {
            self.0.push_back(line);
        }
        Ok(())
    }

    fn tick(&mut self) -> Proceed {
        Proceed::Continue
    }
}

impl WatchedAgent {
    fn agent(&mut self) -> &mut dyn Agent {
        match self {
            WatchedAgent::Here(agent) => &mut **agent,
            WatchedAgent::There(agent) => &mut **agent,
        }
    }

    fn pass_on(&mut self, lines: &mut Lines) -> Result<(), RunError> {
        match self {
            WatchedAgent::Here(agent) => agent.pass_on(lines),
            WatchedAgent::There(agent) => agent.pass_on(&mut |line| lines.notice(Notice::Series(line))),
        }
    }
}

impl WatchedHost {
    /// This host; nothing is sampled yet.
    pub(super) fn here() -> WatchedHost {
        WatchedHost::of(None, WatchedAgent::Here(Box::default()))
    }

    /// Another host; nothing is sampled yet.
    pub(super) fn there(
        place: &HostPlace,
        ways: (&SshOptions, &BrokerOptions),
        uses_sudo: bool,
        ui: &Ui,
    ) -> anyhow::Result<WatchedHost> {
        let agent = crate::commands::agent::reach_host(place, ways, uses_sudo, ui)?;
        Ok(WatchedHost::of(Some(place.name.clone()), WatchedAgent::There(Box::new(agent))))
    }

    fn of(name: Option<String>, agent: WatchedAgent) -> WatchedHost {
        WatchedHost {
            name,
            host: HostWatch::default(),
            agent,
            lines: Lines::default(),
            has_processes: false,
            is_begun: false,
        }
    }

    /// Begins to sample it, and to write down what is read, if it is recorded.
    pub(super) fn begin(
        &mut self,
        order: &WatchOrder,
        mut journal: Option<&mut RunJournal<'_>>,
    ) -> anyhow::Result<()> {
        let WatchOrder { interval, target, has_processes, is_recorded } = order;
        if let Some(journal) = journal.as_deref_mut() {
            self.describe(journal)?;
        }
        let (mut behind, mut watch) = (Vec::new(), Vec::new());
        if *has_processes {
            for listening in self.agent.agent().listening(&mut self.lines)? {
                self.host.own(&listening.address, listening.command);
                behind.extend(match listening.address {
                    Endpoint::Tcp(address) if target.as_ref() != Some(&listening.address) => Some(address),
                    _ => None,
                });
            }
        }
        if let Some(endpoint) = target {
            watch = self.owners(endpoint)?;
            self.host.add(&watch);
            journal.map_or(Ok(()), |journal| journal.watch(watch.clone()))?;
        }
        let order = SamplingOrder {
            hz: 1.0 / interval.seconds(),
            watch,
            endpoint: target.clone(),
            threads: 0,
            behind,
            finds_others: *is_recorded,
        };
        self.agent.agent().start_sampling(order, &mut self.lines)?;
        self.has_processes = *has_processes;
        self.list()
    }

    /// Writes down what the host is.
    fn describe(&mut self, journal: &mut RunJournal<'_>) -> anyhow::Result<()> {
        match &mut self.agent {
            WatchedAgent::Here(agent) => journal.begin_watch(&mut **agent)?,
            WatchedAgent::There(agent) => journal.begin_watch_there(agent)?,
        }
        Ok(())
    }

    /// The processes of the server that listens there.
    fn owners(&mut self, endpoint: &Endpoint) -> anyhow::Result<Vec<WatchedProcess>> {
        let query = ProcessQuery { endpoint: Some(endpoint.clone()), ..ProcessQuery::default() };
        let mut owners = self.agent.agent().describe(query, &mut self.lines)?;
        owners.retain(|process| process.role == ProcessRole::Target);
        if owners.is_empty() {
            let on = self.name.as_deref().map_or(String::new(), |name| format!(" on {name}"));
            let at = match endpoint {
                Endpoint::Tcp(address) => address.to_string(),
                Endpoint::Unix(path) => path.display().to_string(),
            };
            bail!(
                "cannot watch '{at}': no process that this user can see listens there{on}\nhint: `ss -ltnp` lists who listens"
            );
        }
        Ok(owners)
    }

    /// The next frame, if there is one already; what was read is written down, if the host is recorded.
    pub(super) fn poll(
        &mut self,
        mut journal: Option<&mut RunJournal<'_>>,
    ) -> anyhow::Result<Option<HostFrame>> {
        self.agent.pass_on(&mut self.lines)?;
        while let Some(line) = self.lines.0.pop_front() {
            if let Some(journal) = journal.as_deref_mut() {
                journal.keep_readings(line.clone())?;
            }
            if !self.host.take(line) {
                continue;
            }
            self.list()?;
            let frame = self.host.frame(clock::wall());
            if std::mem::replace(&mut self.is_begun, true) {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// Lists all processes, if anybody wants to see them.
    fn list(&mut self) -> anyhow::Result<()> {
        if self.has_processes {
            let survey = self.agent.agent().survey(&mut self.lines)?;
            self.host.list(survey.processes, survey.threads, survey.at_seconds);
        }
        Ok(())
    }
}
