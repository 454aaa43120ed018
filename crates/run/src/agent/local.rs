//! The agent of this host, in this process.
//!
//! The load runs in threads of its own; the calling thread passes notices on and asks the link whether to go on. Notices
//! of load, probe and sampler come through one channel, in the order in which they were made.

use super::route::authorize;
use super::{
    Agent, AgentAnswer, AgentRequest, Generator, LabAddresses, LabShares, Link, Notice, PartCall, Proceed,
    RouteReport, SamplingOrder, TuneAnswer, TuneRequest, spin,
};
use crate::clock;
use crate::descriptors::raise_descriptor_limit;
use crate::error::RunError;
use crate::service::RunningCommand;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;
use sysdyno_analyze::experiment::CommandOutcome;
use sysdyno_load::probe::{Probe, ProbeJob, ProbeSink};
use sysdyno_load::target::Fence;
use sysdyno_load::{Aside, Control, LoadError, Outcome, PartOrder, Sink, run_part};
use sysdyno_observe::{Roots, SamplerPlan, Sampling};
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::load::{Interval, LatencySet};
use sysdyno_record::plan::{LoadPlan, PhaseKind};
use sysdyno_record::probe::ProbeReply;
use sysdyno_record::units::{MonoNs, SpanNs};
use sysdyno_tune::Trial;

/// Between two questions whether to go on.
const TICK: Duration = Duration::from_millis(50);

/// The agent of this host.
pub struct LocalAgent {
    sender: Sender<Message>,
    messages: Receiver<Message>,
    sampling: Option<Sampling>,
    /// The processes that the present or last sampling measures.
    watched: Vec<WatchedProcess>,
    /// Trials of settings that end with this agent: their guardians see it go.
    trials: Vec<Trial>,
    /// Orders for a part of a load; `None`: nobody gives any.
    orders: Option<Receiver<PartOrder>>,
    /// Shares of labs; `None`: nobody else has any here.
    shares: Option<Box<dyn LabShares>>,
    /// What it may load.
    guard: Guard,
}

/// What an agent may load, and what it must know for that.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// What may be loaded; without anything, what is reached without a router.
    pub fence: Fence,
    /// Who knows addresses of labs on this host, which are never reached from outside of them; `None`: nobody.
    pub labs: Option<Arc<dyn LabAddresses>>,
}

/// What comes through the channel.
enum Message {
    Notice(Notice),
    Loaded(Box<Result<Outcome, LoadError>>),
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
            guard: Guard::default(),
        }
    }
}

impl LocalAgent {
    /// An agent that loads what it may.
    pub fn guarded(guard: Guard) -> LocalAgent {
        LocalAgent { guard, ..LocalAgent::default() }
    }

    /// An agent that can have a part of a load, by orders that come from elsewhere, and shares of labs.
    pub(super) fn serving(
        orders: Receiver<PartOrder>,
        shares: Box<dyn LabShares>,
        guard: Guard,
    ) -> LocalAgent {
        LocalAgent { orders: Some(orders), shares: Some(shares), ..LocalAgent::guarded(guard) }
    }

    /// Whether the user says that targets are theirs to load.
    pub(super) fn is_target_mine(&self) -> bool {
        self.guard.fence.is_target_mine
    }

    /// Loads what it may from now on.
    pub(super) fn guard(&mut self, guard: Guard) {
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
    pub(super) fn pass_on(&mut self, link: &mut dyn Link) -> Result<(), RunError> {
        while let Ok(message) = self.messages.try_recv() {
            if let Message::Notice(notice) = message {
                link.notice(notice)?;
            }
        }
        Ok(())
    }

    /// Sends a part of a load.
    fn send_part(&mut self, call: &PartCall, link: &mut dyn Link) -> Result<(), RunError> {
        raise_descriptor_limit();
        let mut plan = call.plan();
        self.authorize(&plan, call.is_target_mine)?;
        let threads = call.part().machine_threads;
        plan.spin = spin::resolve(&LoadPlan { threads, ..plan.clone() }, &self.watched);
        let Some(orders) = self.orders.as_mut() else { return Err(RunError::Answer { request: "part" }) };
        // Orders for an earlier part that came too late for it.
        while orders.try_recv().is_ok() {}
        let (control, sender, messages) = (Control::new(), self.sender.clone(), &self.messages);
        std::thread::scope(|scope| {
            let (control, plan) = (&control, &plan);
            scope.spawn(move || {
                // The receiver lives as long as the agent, here and below.
                let mut report = |report| drop(sender.send(Message::Notice(Notice::Part(report))));
                let mut order = || next_order(orders, control);
                let run = (call.trial, call.part());
                let ended = run_part(plan, run, control, &mut order, &mut report);
                let _ = sender.send(Message::Parted(ended));
            });
            loop {
                match messages.recv_timeout(TICK) {
                    Ok(Message::Parted(ended)) => {
                        return Ok(ended?);
                    }
                    // Its errors are those of the link, which notes them itself.
                    Ok(Message::Notice(notice)) => drop(link.notice(notice)),
                    Ok(Message::Loaded(_) | Message::Probed(_)) | Err(_) => {}
                }
                if link.tick() == Proceed::Stop {
                    control.stop();
                }
            }
        })
    }

    fn begin_sampling(&mut self, order: SamplingOrder, link: &mut dyn Link) -> Result<(), RunError> {
        // Not before, so that the facts tell the limits that this process was given.
        raise_descriptor_limit();
        let SamplingOrder { hz, watch, endpoint, threads, behind } = order;
        let _aside = Aside::step(threads);
        self.watched.clone_from(&watch);
        let plan = SamplerPlan { roots: Roots::host(), hz, watch, target_port: endpoint, behind };
        let sender = self.sender.clone();
        let sampling = Sampling::start(plan, move |line| {
            // Readings after the agent's end are nobody's.
            let _ = sender.send(Message::Notice(Notice::Series(line)));
        })?;
        self.sampling = Some(sampling);
        self.pass_on(link)
    }

    /// Has everything read now, so that nobody waits for the sampler's next turn.
    fn read_now(&mut self, link: &mut dyn Link) -> Result<(), RunError> {
        self.sampling.iter().for_each(Sampling::read);
        self.pass_on(link)
    }

    fn end_sampling(&mut self, link: &mut dyn Link) -> Result<(), RunError> {
        self.sampling.take().map(Sampling::stop);
        self.pass_on(link)
    }
}

impl Agent for LocalAgent {
    fn call(&mut self, request: AgentRequest, link: &mut dyn Link) -> Result<AgentAnswer, RunError> {
        match request {
            AgentRequest::Facts => Ok(AgentAnswer::Facts(sysdyno_observe::facts(&Roots::host()))),
            AgentRequest::Describe(query) => query.find().map(AgentAnswer::Describe),
            AgentRequest::Route(call) => {
                let Guard { fence, labs } = &self.guard;
                Ok(AgentAnswer::Route(RouteReport::here(&call, &fence.lists, labs.as_deref())))
            }
            AgentRequest::StartSampling(order) => {
                self.begin_sampling(order, link).map(AgentAnswer::StartSampling)
            }
            AgentRequest::Read => self.read_now(link).map(AgentAnswer::Read),
            AgentRequest::StopSampling => self.end_sampling(link).map(AgentAnswer::StopSampling),
            AgentRequest::Part(call) => self.send_part(&call, link).map(AgentAnswer::Part),
            AgentRequest::Share(call) => {
                let unasked = RunError::Answer { request: "carry out a share of a lab" };
                self.shares.as_mut().ok_or(unasked)?.carry_out(call, link).map(AgentAnswer::Share)
            }
        }
    }
}

impl Generator for LocalAgent {
    fn load(&mut self, trial: u32, plan: &LoadPlan, link: &mut dyn Link) -> Result<Outcome, RunError> {
        raise_descriptor_limit();
        self.authorize(plan, self.is_target_mine())?;
        let plan = &LoadPlan { spin: spin::resolve(plan, &self.watched), ..plan.clone() };
        let control = Control::new();
        let sender = self.sender.clone();
        let messages = &self.messages;
        let job = ProbeJob::beside(plan, trial)?;
        let probe = job.as_ref().map(Probe::open).transpose()?;
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (control, is_over) = (&control, &is_over);
            let mut awaited = Awaited { is_probing: probe.is_some(), outcome: None, failure: None };
            if let Some(probe) = probe {
                let sink = Beside { sender: sender.clone(), is_over };
                scope.spawn(move || run_probe(probe, sink));
            }
            scope.spawn(move || {
                let outcome = sysdyno_load::run(plan, trial, control, &mut Forward(sender.clone()));
                is_over.store(true, Ordering::Relaxed);
                // The receiver lives as long as the agent.
                let _ = sender.send(Message::Loaded(Box::new(outcome)));
            });
            while awaited.is_waiting() {
                if let Ok(message) = messages.recv_timeout(TICK) {
                    awaited.take(message, link);
                }
                if awaited.failure.is_some() || link.tick() == Proceed::Stop {
                    control.stop();
                }
            }
            awaited.outcome()
        })
    }

    fn rest(&mut self, span: SpanNs, link: &mut dyn Link) -> Result<(), RunError> {
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
        link: &mut dyn Link,
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

/// What a load is waited for.
struct Awaited {
    is_probing: bool,
    outcome: Option<Result<Outcome, LoadError>>,
    failure: Option<RunError>,
}

impl Awaited {
    fn is_waiting(&self) -> bool {
        self.is_probing || self.outcome.is_none()
    }

    fn take(&mut self, message: Message, link: &mut dyn Link) {
        match message {
            Message::Loaded(outcome) => self.outcome = Some(*outcome),
            Message::Probed(ended) => {
                self.is_probing = false;
                self.fail(ended.err().map(RunError::from));
            }
            Message::Notice(notice) if self.failure.is_none() => self.fail(link.notice(notice).err()),
            Message::Notice(_) | Message::Parted(_) => {}
        }
    }

    /// The first failure stays.
    fn fail(&mut self, failure: Option<RunError>) {
        self.failure = self.failure.take().or(failure);
    }

    fn outcome(self) -> Result<Outcome, RunError> {
        match (self.outcome, self.failure) {
            (Some(Err(error)), _) => Err(error.into()),
            (_, Some(failure)) => Err(failure),
            (Some(Ok(outcome)), None) => Ok(outcome),
            (None, None) => Err(RunError::Answer { request: "load" }),
        }
    }
}

/// Waits for an order; `None`: the part was stopped before one came.
fn next_order(orders: &Receiver<PartOrder>, control: &Control) -> Option<PartOrder> {
    loop {
        match orders.recv_timeout(TICK) {
            Ok(order) => return Some(order),
            Err(RecvTimeoutError::Timeout) if !control.is_stopped() => {}
            Err(_) => return None,
        }
    }
}

/// Runs a probe to its end and says that it is over.
fn run_probe(probe: Probe<'_>, mut sink: Beside<'_>) {
    // Only a name is lost if this fails.
    let _ = rustix::thread::set_name(c"sysdyno-probe");
    let ended = probe.run(&mut sink);
    // The receiver lives as long as the agent.
    let _ = sink.sender.send(Message::Probed(ended));
}

/// Passes on what a probe beside a load sees, until the load is over.
struct Beside<'a> {
    sender: Sender<Message>,
    is_over: &'a AtomicBool,
}

impl ProbeSink for Beside<'_> {
    fn reply(&mut self, reply: ProbeReply) {
        // The receiver lives as long as the agent.
        let _ = self.sender.send(Message::Notice(Notice::Probe(reply)));
    }

    fn goes_on(&mut self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }
}

/// Passes on what the load engine reports.
struct Forward(Sender<Message>);

impl Sink for Forward {
    fn phase(&mut self, begin: MonoNs, phase: PhaseKind, rate_hz: Option<f64>) {
        // The receiver lives as long as the agent, here and below.
        let _ = self.0.send(Message::Notice(Notice::Phase { begin, phase, rate_hz }));
    }

    fn interval(&mut self, interval: Interval, latency: &LatencySet) {
        let _ = self.0.send(Message::Notice(Notice::Interval(Box::new(interval), Box::new(latency.clone()))));
    }
}
