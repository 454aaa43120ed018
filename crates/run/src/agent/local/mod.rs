//! The agent of this host, in this process.
//!
//! The load runs in threads of its own; the calling thread passes notices on and asks the link whether to go on. Notices
//! of load, probe and sampler come through one channel, in the order in which they were made.

mod load;
mod part;

use super::route::authorize;
use super::{
    Agent, AgentAnswer, AgentLink, AgentRequest, Generator, HostSurvey, LabAddresses, LabShares,
    ListeningAddress, Notice, Proceed, RouteReport, SamplingOrder, TuneAnswer, TuneRequest,
};
use crate::clock;
use crate::descriptors::raise_descriptor_limit;
use crate::error::RunError;
use crate::links::predict_here;
use crate::profiling::take_profile;
use crate::service::RunningCommand;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;
use sysdyno_analyze::tryout::CommandOutcome;
use sysdyno_load::target::Fence;
use sysdyno_load::{Aside, LoadError, LoadOutcome, PartOrder};
use sysdyno_observe::{BusyThreads, Roots, SamplerPlan, Sampling};
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::plan::LoadPlan;
use sysdyno_record::units::SpanNs;
use sysdyno_tune::HeldTrial;

/// Interval between two questions whether to continue.
const TICK: Duration = Duration::from_millis(50);

/// The agent of this host.
pub struct LocalAgent {
    sender: Sender<Message>,
    messages: Receiver<Message>,
    sampling: Option<Sampling>,
    /// The processes that the present or last sampling measures.
    watched: Vec<WatchedProcess>,
    /// Trials of settings that end with this agent: their guardians see it go.
    trials: Vec<HeldTrial>,
    /// Orders for a part of a load; `None`: nobody gives any.
    orders: Option<Receiver<PartOrder>>,
    /// Shares of labs; `None`: nobody else has any here.
    shares: Option<Box<dyn LabShares>>,
    /// What it may load.
    guard: LoadGuard,
    /// The processes that were busy at the last survey.
    busy: BusyThreads,
}

/// What an agent may load, and what it must know for that.
#[derive(Clone, Debug, Default)]
pub struct LoadGuard {
    /// What may be loaded; without anything, what is reached without a router.
    pub fence: Fence,
    /// Who knows addresses of labs on this host, which are never reached from outside of them; `None`: nobody.
    pub labs: Option<Arc<dyn LabAddresses>>,
}

/// What comes through the channel.
enum Message {
    Notice(Notice),
    Loaded(Box<Result<LoadOutcome, LoadError>>),
    Probed(Result<(), LoadError>),
    Parted(Result<(), LoadError>),
}

impl Default for LocalAgent {
    fn default() -> LocalAgent {
        let (sender, messages) = mpsc::channel();
        let (watched, trials) = (Vec::new(), Vec::new());
        LocalAgent {
            sender,
            messages,
            sampling: None,
            watched,
            trials,
            orders: None,
            shares: None,
            guard: LoadGuard::default(),
            busy: BusyThreads::default(),
        }
    }
}

impl LocalAgent {
    /// An agent that loads what it may.
    pub fn guarded(guard: LoadGuard) -> LocalAgent {
        LocalAgent { guard, ..LocalAgent::default() }
    }

    /// An agent that can have a part of a load, by orders that come from elsewhere, and shares of labs.
    pub(super) fn serving(
        orders: Receiver<PartOrder>,
        shares: Box<dyn LabShares>,
        guard: LoadGuard,
    ) -> LocalAgent {
        LocalAgent { orders: Some(orders), shares: Some(shares), ..LocalAgent::guarded(guard) }
    }

    /// Whether the user confirmed that targets may be loaded.
    pub(super) fn is_target_mine(&self) -> bool {
        self.guard.fence.is_target_mine
    }

    /// Loads what it may from now on.
    pub(super) fn guard(&mut self, guard: LoadGuard) {
        self.guard = guard;
    }

    /// Refuses a load that may not leave this host.
    fn authorize(&self, plan: &LoadPlan, is_target_mine: bool) -> Result<(), LoadError> {
        let fence = Fence { is_target_mine, ..self.guard.fence.clone() };
        authorize(plan, &fence, self.guard.labs.as_deref())
    }

    /// Hands on what has been read, without waiting.
    ///
    /// # Errors
    /// It could not be written down.
    pub fn pass_on(&mut self, link: &mut dyn AgentLink) -> Result<(), RunError> {
        while let Ok(message) = self.messages.try_recv() {
            if let Message::Notice(notice) = message {
                link.notice(notice)?;
            }
        }
        Ok(())
    }

    fn begin_sampling(&mut self, order: SamplingOrder, link: &mut dyn AgentLink) -> Result<(), RunError> {
        // Not before, so that the facts tell the limits that this process was given.
        raise_descriptor_limit();
        let SamplingOrder { hz, watch, endpoint, threads, behind, finds_others } = order;
        let _aside = Aside::step(threads);
        self.watched.clone_from(&watch);
        let plan =
            SamplerPlan { roots: Roots::host(), hz, watch, target_port: endpoint, behind, finds_others };
        let sender = self.sender.clone();
        let sampling = Sampling::start(plan, move |line| {
            // Readings after the agent's end are nobody's.
            let _ = sender.send(Message::Notice(Notice::Series(line)));
        })?;
        self.sampling = Some(sampling);
        self.pass_on(link)
    }

    /// Has everything read now, so that nobody waits for the sampler's next turn.
    fn read_now(&mut self, link: &mut dyn AgentLink) -> Result<(), RunError> {
        self.sampling.iter().for_each(Sampling::read);
        self.pass_on(link)
    }

    fn end_sampling(&mut self, link: &mut dyn AgentLink) -> Result<(), RunError> {
        self.sampling.take().map(Sampling::stop);
        self.pass_on(link)
    }
}

impl Agent for LocalAgent {
    fn call(&mut self, request: AgentRequest, link: &mut dyn AgentLink) -> Result<AgentAnswer, RunError> {
        match request {
            AgentRequest::Facts => Ok(AgentAnswer::Facts(sysdyno_observe::facts(&Roots::host()))),
            AgentRequest::Describe(query) => query.find().map(AgentAnswer::Describe),
            AgentRequest::Route(call) => {
                let LoadGuard { fence, labs } = &self.guard;
                Ok(AgentAnswer::Route(RouteReport::here(&call, &fence.lists, labs.as_deref())))
            }
            AgentRequest::Links(call) => predict_here(&call).map(AgentAnswer::Links),
            AgentRequest::StartSampling(order) => {
                self.begin_sampling(order, link).map(AgentAnswer::StartSampling)
            }
            AgentRequest::Read => self.read_now(link).map(AgentAnswer::Read),
            AgentRequest::StopSampling => self.end_sampling(link).map(AgentAnswer::StopSampling),
            AgentRequest::Survey => Ok(AgentAnswer::Survey(HostSurvey::here(&mut self.busy))),
            AgentRequest::Listening => ListeningAddress::all_here().map(AgentAnswer::Listening),
            AgentRequest::Profile(order) => {
                let mut begun = Some(Notice::Profiling);
                // Asked for the first time when sampling has begun.
                let goes_on = || {
                    begun.take().is_none_or(|begun| link.notice(begun).is_ok())
                        && self.pass_on(link).is_ok()
                        && link.tick() == Proceed::Continue
                };
                take_profile(&order, goes_on).map(AgentAnswer::Profile)
            }
            AgentRequest::Part(call) => self.send_part(&call, link).map(AgentAnswer::Part),
            AgentRequest::Share(call) => {
                let unasked = RunError::Answer { request: "carry out a share of a lab" };
                self.shares.as_mut().ok_or(unasked)?.carry_out(call, link).map(AgentAnswer::Share)
            }
        }
    }
}

impl Generator for LocalAgent {
    fn load(
        &mut self,
        trial: u32,
        plan: &LoadPlan,
        link: &mut dyn AgentLink,
    ) -> Result<LoadOutcome, RunError> {
        self.send_load(trial, plan, link)
    }

    fn rest(&mut self, span: SpanNs, link: &mut dyn AgentLink) -> Result<(), RunError> {
        let end = clock::monotonic().after(span.duration());
        loop {
            let left_ns = end.since(clock::monotonic());
            if left_ns == 0 || link.tick() == Proceed::Stop {
                return Ok(());
            }
            if let Ok(Message::Notice(notice)) =
                self.messages.recv_timeout(TICK.min(Duration::from_nanos(left_ns)))
            {
                link.notice(notice)?;
            }
        }
    }

    fn command(
        &mut self,
        words: &[String],
        limit: SpanNs,
        link: &mut dyn AgentLink,
    ) -> Result<CommandOutcome, RunError> {
        let running = RunningCommand::start(words)?;
        let end = clock::monotonic().after(limit.duration());
        let mut failure = None;
        loop {
            if let Some(outcome) = running.wait(TICK) {
                return Ok(CommandOutcome { failure: failure.or(outcome.failure.clone()), ..outcome });
            }
            while let Ok(Message::Notice(notice)) = self.messages.try_recv() {
                link.notice(notice)?;
            }
            let is_late = end.since(clock::monotonic()) == 0;
            if failure.is_none() && (is_late || link.tick() == Proceed::Stop) {
                failure =
                    Some(if is_late { format!("it took longer than {limit}") } else { "interrupted".into() });
                running.end();
            }
        }
    }

    fn tune(&mut self, request: TuneRequest) -> Result<TuneAnswer, RunError> {
        request.carry_out(&mut self.trials)
    }
}
