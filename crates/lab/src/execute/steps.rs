//! The order of things: of one load, and of a search for capacity.

use super::{Journal, clock};
use crate::agent::{Agent, Answer, Request};
use crate::error::LabError;
use sysdyno_analyze::search::{Search, TrialRequest};
use sysdyno_record::analysis::Verdict;
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::load::{LatencySet, TrialBegin, TrialEnd, TrialPurpose};
use sysdyno_record::plan::{Arrival, Endpoint, LoadPlan, PhaseEnd, PhaseKind, PhasePlan, RunPlan};
use sysdyno_record::units::SpanNs;

/// Rest between two trials, at least.
const REST: SpanNs = SpanNs::from_millis(500);

/// Rests until the target's queues are empty, at most so many.
const MAX_RESTS_COUNT: u32 = 10;

/// Readings before the first and after the last request, so that every second of load has them.
const MARGIN: SpanNs = SpanNs::from_millis(300);

/// Runs the one trial of a load plan.
///
/// # Errors
/// The load could not be started, or the folder could not be written.
pub fn load(
    plan: &LoadPlan,
    sampling: &Sampling,
    agent: &mut dyn Agent,
    journal: &mut Journal<'_>,
) -> Result<(), LabError> {
    let mut bench = Bench { agent, journal, trial: 0 };
    bench.set_up(plan, sampling)?;
    let left = plan_span(plan);
    bench.trial(TrialPurpose::Single, plan.clone(), left)?;
    bench.take_down()
}

/// Looks for the capacity of a server as a run plan says.
///
/// # Errors
/// A trial could not be started, or the folder could not be written.
pub fn run(plan: &RunPlan, agent: &mut dyn Agent, journal: &mut Journal<'_>) -> Result<(), LabError> {
    let mut bench = Bench { agent, journal, trial: 0 };
    let sampling = Sampling { hz: plan.sampling_hz, pids: plan.watch_pids.clone() };
    bench.set_up(&plan.load, &sampling)?;
    let mut search = Search::new(plan);
    while let Some(request) = search.next().filter(|_| !bench.journal.is_interrupted()) {
        let left = search.remaining();
        let (begin, end, verdict) = bench.trial(request.purpose, trial_plan(&plan.load, &request), left)?;
        search.record(&begin, &end, &verdict);
        bench.cool_down()?;
    }
    bench.take_down()
}

/// What is sampled.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// Samples per second.
    pub hz: f64,
    /// Processes to watch; empty means those that serve the target's endpoint.
    pub pids: Vec<u32>,
}

/// An agent and a journal, and the number of the trial.
pub(super) struct Bench<'a, 'b> {
    pub(super) agent: &'a mut dyn Agent,
    pub(super) journal: &'a mut Journal<'b>,
    pub(super) trial: u32,
}

impl Bench<'_, '_> {
    pub(super) fn call(&mut self, request: Request) -> Result<Answer, LabError> {
        self.agent.call(request, self.journal)
    }

    fn set_up(&mut self, load: &LoadPlan, sampling: &Sampling) -> Result<(), LabError> {
        let endpoint = &load.target.endpoint;
        self.keep_facts()?;
        let watch = self.describe(Some(endpoint), &sampling.pids)?;
        self.watch(watch, sampling.hz, Some(endpoint.clone()), load.threads)
    }

    pub(super) fn keep_facts(&mut self) -> Result<(), LabError> {
        let Answer::Facts(facts) = self.call(Request::Facts)? else {
            return Err(LabError::Answer { request: "facts" });
        };
        self.journal.keep_facts(facts)
    }

    /// The processes of a target, or those with these ids, and the generator.
    pub(super) fn describe(
        &mut self,
        endpoint: Option<&Endpoint>,
        pids: &[u32],
    ) -> Result<Vec<WatchedProcess>, LabError> {
        let describe = Request::Describe { endpoint: endpoint.cloned(), pids: pids.to_vec() };
        match self.call(describe)? {
            Answer::Processes(watch) => Ok(watch),
            _ => Err(LabError::Answer { request: "describe" }),
        }
    }

    /// Begins to sample.
    pub(super) fn watch(
        &mut self,
        watch: Vec<WatchedProcess>,
        hz: f64,
        endpoint: Option<Endpoint>,
        threads: u32,
    ) -> Result<(), LabError> {
        self.journal.keep_watched(watch.clone())?;
        self.call(Request::StartSampling { hz, watch, endpoint, threads })?;
        self.call(Request::Rest { span: MARGIN })?;
        Ok(())
    }

    pub(super) fn take_down(&mut self) -> Result<(), LabError> {
        self.call(Request::Rest { span: MARGIN })?;
        self.call(Request::StopSampling)?;
        Ok(())
    }

    fn trial(
        &mut self,
        purpose: TrialPurpose,
        plan: LoadPlan,
        left: SpanNs,
    ) -> Result<(TrialBegin, TrialEnd, Verdict), LabError> {
        let done = self.load(purpose, plan, left)?;
        Ok((done.begin, done.end, done.verdict))
    }

    /// Runs a trial and keeps what it was like.
    pub(super) fn load(
        &mut self,
        purpose: TrialPurpose,
        plan: LoadPlan,
        left: SpanNs,
    ) -> Result<LoadedTrial, LabError> {
        self.trial += 1;
        let begin = TrialBegin { trial: self.trial, purpose, begin_mono_ns: clock::monotonic(), plan };
        self.journal.begin_trial(&begin, left.0)?;
        let request = Request::Load { trial: self.trial, plan: Box::new(begin.plan.clone()) };
        let Answer::Loaded(outcome) = self.call(request)? else {
            return Err(LabError::Answer { request: "load" });
        };
        let latency: LatencySet = outcome.latency;
        let end = TrialEnd {
            trial: self.trial,
            end_mono_ns: outcome.end,
            ending: outcome.ending,
            summary: outcome.summary,
        };
        // The last row of readings must lie behind the last second of load.
        self.call(Request::Rest { span: MARGIN })?;
        let verdict = self.journal.end_trial(&begin, &end, &latency)?;
        Ok(LoadedTrial { begin, end, latency, verdict })
    }

    /// Lets the target come to rest, so that one trial does not burden the next.
    pub(super) fn cool_down(&mut self) -> Result<(), LabError> {
        for _ in 0..MAX_RESTS_COUNT {
            self.call(Request::Rest { span: REST })?;
            let is_waiting = |name| self.journal.last_reading(name).is_some_and(|count| count > 0.0);
            if !is_waiting("listener.queue_count") && !is_waiting("connections.unread_count") {
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
        threads: load.threads.min(request.connections),
        phases,
        seed: request.seed,
        ..load.clone()
    }
}

/// How long a load takes, as far as its plan says.
fn plan_span(plan: &LoadPlan) -> SpanNs {
    let spans = plan.phases.iter().map(|phase| match phase.end {
        PhaseEnd::After(span) => span.0,
        PhaseEnd::Requests(count) => phase.rate_hz.map_or(0, |rate_hz| (count as f64 / rate_hz * 1e9) as u64),
    });
    SpanNs(spans.fold(0, u64::saturating_add))
}
