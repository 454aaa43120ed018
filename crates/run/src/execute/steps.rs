//! The sequence of steps of one load, and of a search for the capacity.

use super::RunJournal;
use super::server::{self, Beside, Keep};
use crate::agent::{Agent, AgentLink, Generator, ProcessQuery, RemoteAgent, SamplingOrder};
use crate::clock;
use crate::error::RunError;
use crate::profiling::ProfileRequest;
use std::net::SocketAddr;
use sysdyno_analyze::search::{Search, TrialRequest};
use sysdyno_record::analysis::Verdict;
use sysdyno_record::column;
use sysdyno_record::event::{EventKind, WatchedProcess};
use sysdyno_record::load::{LatencySet, TrialBegin, TrialEnd, TrialPurpose};
use sysdyno_record::plan::{
    Arrival, Endpoint, LoadPlan, PhaseEnd, PhaseKind, PhasePlan, RunPlan, SpinChoice,
};
use sysdyno_record::profile::ProfiledLoad;
use sysdyno_record::service::{Moment, ServiceReading};
use sysdyno_record::units::SpanNs;

/// Rest between two trials, at least.
const REST: SpanNs = SpanNs::from_millis(500);

/// Rests until the target's queues are empty, at most so many.
const MAX_RESTS_COUNT: u32 = 10;

/// Runs the one trial of a load plan; then, if it is to be profiled, sends the load once more.
///
/// # Errors
/// The load could not be started, or the folder could not be written.
pub fn load(
    plan: &LoadPlan,
    sampling: &SamplingPlan,
    profile: Option<&ProfileRequest>,
    hosts: Hosts<'_>,
    journal: &mut RunJournal<'_>,
) -> Result<(), RunError> {
    let mut bench = Bench::new(hosts, journal);
    bench.set_up(plan, sampling)?;
    let left = plan_span(plan);
    bench.trial(TrialPurpose::Single, plan.clone(), left)?;
    if profile.is_some() {
        bench.cool_down()?;
    }
    bench.take_down()?;
    profile.map_or(Ok(()), |request| bench.profile(ProfiledLoad::Measured, plan, request))
}

/// Looks for the capacity of a server as a run plan says; then, if that is to be profiled, sends the highest load that met the
/// objective once more, and a low one.
///
/// # Errors
/// A trial could not be started, or the folder could not be written.
pub fn run(
    plan: &RunPlan,
    profile: Option<&ProfileRequest>,
    hosts: Hosts<'_>,
    journal: &mut RunJournal<'_>,
) -> Result<(), RunError> {
    let mut bench = Bench::new(hosts, journal);
    let sampling = SamplingPlan { hz: plan.sampling_hz, pids: plan.watch_pids.clone() };
    bench.set_up(&plan.load, &sampling)?;
    let mut search = Search::new(plan);
    while let Some(request) = search.next() {
        if !search.outcomes().is_empty() {
            bench.cool_down()?;
        }
        if bench.journal.is_stopped() {
            break;
        }
        let left = search.remaining();
        let (begin, end, verdict) = bench.trial(request.purpose, trial_plan(&plan.load, &request), left)?;
        search.record(&begin, &end, &verdict);
        search.outcomes().last().iter().for_each(|outcome| bench.journal.show_tried(outcome));
    }
    if profile.is_some() {
        bench.cool_down()?;
    }
    bench.take_down()?;
    profile.map_or(Ok(()), |request| bench.profile_capacity(&plan.load, &search, request))
}

/// What is sampled.
#[derive(Clone, Debug)]
pub struct SamplingPlan {
    /// Samples per second.
    pub hz: f64,
    /// Processes to watch; empty means those that serve the target's endpoint.
    pub pids: Vec<u32>,
}

/// The hosts that a plan is carried out on.
pub struct Hosts<'a> {
    /// The agent of this host, which sends the load.
    pub generator: &'a mut dyn Generator,
    /// The agent on the server's host, where that is another one; `None`: the server is looked for on this host.
    pub server: Option<&'a mut RemoteAgent>,
    /// Addresses of services that the server asks, on its host: what they use is part of what a request costs.
    pub behind: &'a [SocketAddr],
    /// Queries the metrics of a lab's services; `None` if there is no lab.
    pub services: Option<AskServices<'a>>,
}

/// A question to all services of a lab.
pub type AskServices<'a> = &'a dyn Fn() -> Vec<ServiceReading>;

/// Hosts and a journal, and the number of the trial.
pub(super) struct Bench<'a, 'b> {
    pub(super) agent: &'a mut dyn Generator,
    pub(super) server: Option<&'a mut RemoteAgent>,
    pub(super) behind: &'a [SocketAddr],
    pub(super) services: Option<AskServices<'a>>,
    pub(super) journal: &'a mut RunJournal<'b>,
    /// Processes that are watched on the server's host besides its own.
    pub(super) also: Vec<WatchedProcess>,
    pub(super) trial: u32,
}

impl<'a, 'b> Bench<'a, 'b> {
    pub(super) fn new<'h: 'a>(hosts: Hosts<'h>, journal: &'a mut RunJournal<'b>) -> Bench<'a, 'b> {
        let Hosts { generator, server, behind, services } = hosts;
        Bench { agent: generator, server, behind, services, journal, also: Vec::new(), trial: 0 }
    }
}

impl Bench<'_, '_> {
    /// Sends a request to this host's agent, and records the readings of both hosts meanwhile.
    pub(super) fn ask<T>(
        &mut self,
        request: impl FnOnce(&mut dyn Generator, &mut dyn AgentLink) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let server = self.server.as_deref_mut();
        let mut link = Beside { journal: self.journal, server, failure: None };
        let answered = request(self.agent, &mut link);
        link.failure.map_or(answered, Err)
    }

    pub(super) fn set_up(&mut self, load: &LoadPlan, sampling: &SamplingPlan) -> Result<(), RunError> {
        let endpoint = &load.target.endpoint;
        self.keep_facts()?;
        let watch = match self.server {
            None => [self.describe(Some(endpoint), &sampling.pids)?, self.also.clone()].concat(),
            Some(_) => self.set_up_server(load, sampling)?,
        };
        self.watch(watch, sampling.hz, Some(endpoint.clone()), load.threads)
    }

    /// Begins to sample the server's host; returns what is watched on this one.
    fn set_up_server(
        &mut self,
        load: &LoadPlan,
        sampling: &SamplingPlan,
    ) -> Result<Vec<WatchedProcess>, RunError> {
        let own = self.describe(None, &[])?;
        let Some(server) = self.server.as_deref_mut() else { return Ok(own) };
        let endpoint = Some(load.target.endpoint.clone());
        server::keep_host(server, self.journal)?;
        let (pids, behind) = (sampling.pids.clone(), self.behind.to_vec());
        let query = ProcessQuery { endpoint: endpoint.clone(), pids, behind: behind.clone() };
        let mut watch = server::targets(server, self.journal, query)?;
        watch.extend(self.also.iter().cloned());
        self.journal.keep_watched(watch.clone())?;
        server::keep_links(server, self.journal, load)?;
        // The sampler keeps off the generator's CPUs where it could take them.
        let threads = if server.is_same_machine() { load.threads } else { 0 };
        let order = SamplingOrder { hz: sampling.hz, watch, endpoint, threads, behind, finds_others: false };
        server.start_sampling(order, &mut Keep(self.journal))?;
        Ok(own)
    }

    pub(super) fn keep_facts(&mut self) -> Result<(), RunError> {
        let facts = self.ask(|agent, link| agent.facts(link))?;
        self.journal.keep_facts(facts)
    }

    /// The processes of a target, or those with these ids, and the generator.
    pub(super) fn describe(
        &mut self,
        endpoint: Option<&Endpoint>,
        pids: &[u32],
    ) -> Result<Vec<WatchedProcess>, RunError> {
        let behind = self.behind_here();
        let query = ProcessQuery { endpoint: endpoint.cloned(), pids: pids.to_vec(), behind };
        self.ask(|agent, link| agent.describe(query, link))
    }

    /// Begins to sample.
    pub(super) fn watch(
        &mut self,
        watch: Vec<WatchedProcess>,
        hz: f64,
        endpoint: Option<Endpoint>,
        threads: u32,
    ) -> Result<(), RunError> {
        self.journal.keep_watched(watch.clone())?;
        let behind = self.behind_here();
        let order = SamplingOrder { hz, watch, endpoint, threads, behind, finds_others: false };
        self.ask(|agent, link| agent.start_sampling(order, link))
    }

    /// Services behind the server, where it is on this host.
    fn behind_here(&self) -> Vec<SocketAddr> {
        if self.server.is_none() { self.behind.to_vec() } else { Vec::new() }
    }

    pub(super) fn take_down(&mut self) -> Result<(), RunError> {
        self.ask(|agent, link| agent.stop_sampling(link))?;
        match self.server.as_deref_mut().filter(|server| server.lost().is_none()) {
            Some(server) => server::take_down(server, self.journal),
            None => Ok(()),
        }
    }

    fn trial(
        &mut self,
        purpose: TrialPurpose,
        plan: LoadPlan,
        left: SpanNs,
    ) -> Result<(TrialBegin, TrialEnd, Verdict), RunError> {
        let done = self.load(purpose, plan, left)?;
        Ok((done.begin, done.end, done.verdict))
    }

    /// Runs a trial and keeps what it was like.
    pub(super) fn load(
        &mut self,
        purpose: TrialPurpose,
        plan: LoadPlan,
        left: SpanNs,
    ) -> Result<LoadedTrial, RunError> {
        self.trial += 1;
        self.ask_services(Moment::Begin)?;
        let begin = TrialBegin { trial: self.trial, purpose, begin_mono_ns: clock::monotonic(), plan };
        self.journal.begin_trial(&begin, left.0)?;
        let (trial, plan) = (self.trial, self.sent_plan(&begin.plan));
        let outcome = self.ask(|agent, link| agent.load(trial, &plan, link))?;
        let latency: LatencySet = outcome.latency;
        let end = TrialEnd {
            trial: self.trial,
            end_mono_ns: outcome.end,
            ending: outcome.ending,
            summary: outcome.summary,
        };
        self.read()?;
        self.ask_services(Moment::End)?;
        let verdict = self.journal.end_trial(&begin, &end, &latency)?;
        Ok(LoadedTrial { begin, end, latency, verdict })
    }

    /// Reads both hosts, so that there are readings after the last second of a load.
    fn read(&mut self) -> Result<(), RunError> {
        self.ask(|agent, link| agent.read(link))?;
        match self.server.as_deref_mut().filter(|server| server.lost().is_none()) {
            Some(server) => server::read(server, self.journal),
            None => Ok(()),
        }
    }

    /// Records the metrics of the lab's services.
    fn ask_services(&mut self, moment: Moment) -> Result<(), RunError> {
        let readings = self.services.map_or_else(Vec::new, |ask| ask());
        let trial = self.trial;
        readings.into_iter().try_for_each(|reading| {
            self.journal.event(clock::monotonic(), EventKind::Service { trial, moment, reading })
        })
    }

    /// The plan for the agent: it cannot see which CPUs a server in another namespace of its machine may use.
    fn sent_plan(&self, plan: &LoadPlan) -> LoadPlan {
        let is_beside = self.server.as_ref().is_some_and(|server| server.is_same_machine());
        let spin = if is_beside && plan.spin == SpinChoice::Auto { SpinChoice::Off } else { plan.spin };
        LoadPlan { spin, ..plan.clone() }
    }

    /// Lets the target come to rest, so that one trial does not burden the next.
    pub(super) fn cool_down(&mut self) -> Result<(), RunError> {
        for _ in 0..MAX_RESTS_COUNT {
            self.ask(|agent, link| agent.rest(REST, link))?;
            let is_waiting = |gauge| self.journal.last_reading(gauge).is_some_and(|count| count > 0.0);
            if !is_waiting(column::LISTENER_QUEUE) && !is_waiting(column::CONNECTIONS_UNREAD) {
                break;
            }
        }
        Ok(())
    }
}

/// A trial that is over.
pub(super) struct LoadedTrial {
    pub(super) begin: TrialBegin,
    pub(super) end: TrialEnd,
    pub(super) latency: LatencySet,
    pub(super) verdict: Verdict,
}

/// The plan of one trial of a search.
pub(super) fn trial_plan(load: &LoadPlan, request: &TrialRequest) -> LoadPlan {
    let phase = |kind, span| PhasePlan { kind, rate_hz: request.rate_hz, end: PhaseEnd::After(span) };
    let warmup = (request.warmup.0 > 0).then(|| phase(PhaseKind::Warmup, request.warmup));
    let phases = warmup.into_iter().chain([phase(PhaseKind::Steady, request.window)]).collect();
    let arrival = if request.rate_hz.is_none() { Arrival::Closed } else { request.arrival };
    LoadPlan {
        arrival,
        connections: request.connections,
        threads: load.origin.even_threads(load.threads.min(request.connections)),
        phases,
        seed: request.seed,
        ..load.clone()
    }
}

/// How long a load takes, if its plan says so.
fn plan_span(plan: &LoadPlan) -> SpanNs {
    let spans = plan.phases.iter().map(|phase| match phase.end {
        PhaseEnd::After(span) => span.0,
        PhaseEnd::Requests(count) => phase.rate_hz.map_or(0, |rate_hz| (count as f64 / rate_hz * 1e9) as u64),
    });
    SpanNs(spans.fold(0, u64::saturating_add))
}
