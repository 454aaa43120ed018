//! A host that is watched: its sampler, in this process or in an agent's, and what is kept between frames.

use crate::ui::Ui;
use anyhow::bail;
use std::collections::VecDeque;
use sysdyno_analyze::live::HostWatch;
use sysdyno_plan::options::SshOptions;
use sysdyno_record::event::ProcessRole;
use sysdyno_record::live::HostFrame;
use sysdyno_record::place::HostPlace;
use sysdyno_record::plan::Endpoint;
use sysdyno_record::series::SeriesLine;
use sysdyno_record::units::SpanNs;
use sysdyno_run::agent::{
    Agent, AgentLink, LocalAgent, Notice, Proceed, ProcessQuery, RemoteAgent, SamplingOrder,
};
use sysdyno_run::{RunError, clock};

/// What is watched of each host.
pub(super) struct WatchOrder {
    /// From one sample to the next.
    pub(super) interval: SpanNs,
    /// A server whose queue and tiers are watched.
    pub(super) target: Option<Endpoint>,
    /// Whether processes and listeners are wanted.
    pub(super) has_processes: bool,
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
    Here(LocalAgent),
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
            WatchedAgent::Here(agent) => agent,
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
    /// Begins to sample this host.
    pub(super) fn here(order: &WatchOrder) -> anyhow::Result<WatchedHost> {
        WatchedHost::start(None, WatchedAgent::Here(LocalAgent::default()), order)
    }

    /// Begins to sample another host.
    pub(super) fn there(
        place: &HostPlace,
        (ssh, uses_sudo): (&SshOptions, bool),
        order: &WatchOrder,
        ui: &Ui,
    ) -> anyhow::Result<WatchedHost> {
        let agent = crate::commands::agent::reach_host(place, ssh, uses_sudo, ui)?;
        WatchedHost::start(Some(place.name.clone()), WatchedAgent::There(Box::new(agent)), order)
    }

    fn start(
        name: Option<String>,
        mut agent: WatchedAgent,
        order: &WatchOrder,
    ) -> anyhow::Result<WatchedHost> {
        let WatchOrder { interval, target, has_processes } = order;
        let (mut host, mut lines) = (HostWatch::default(), Lines::default());
        let (mut behind, mut watch) = (Vec::new(), Vec::new());
        if *has_processes {
            for listening in agent.agent().listening(&mut lines)? {
                host.own(&listening.address, listening.command);
                behind.extend(match listening.address {
                    Endpoint::Tcp(address) if target.as_ref() != Some(&listening.address) => Some(address),
                    _ => None,
                });
            }
        }
        if let Some(endpoint) = target {
            let query = ProcessQuery { endpoint: Some(endpoint.clone()), ..ProcessQuery::default() };
            watch = agent.agent().describe(query, &mut lines)?;
            watch.retain(|process| process.role == ProcessRole::Target);
            if watch.is_empty() {
                let on = name.as_deref().map_or(String::new(), |name| format!(" on {name}"));
                let at = match endpoint {
                    Endpoint::Tcp(address) => address.to_string(),
                    Endpoint::Unix(path) => path.display().to_string(),
                };
                bail!(
                    "cannot watch '{at}': no process that this user can see listens there{on}\nhint: `ss -ltnp` lists who listens"
                );
            }
            host.add(&watch);
        }
        let (hz, endpoint) = (1.0 / interval.seconds(), target.clone());
        let order = SamplingOrder { hz, watch, endpoint, threads: 0, behind };
        agent.agent().start_sampling(order, &mut lines)?;
        let has_processes = *has_processes;
        let mut watched = WatchedHost { name, host, agent, lines, has_processes, is_begun: false };
        watched.list()?;
        Ok(watched)
    }

    /// The next frame, if there is one already.
    pub(super) fn poll(&mut self) -> anyhow::Result<Option<HostFrame>> {
        self.agent.pass_on(&mut self.lines)?;
        while let Some(line) = self.lines.0.pop_front() {
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
            self.host.list(survey.processes, survey.at_seconds);
        }
        Ok(())
    }
}
