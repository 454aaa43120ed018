//! A whole load from this host, with its probes: all report through the agent's channel.

use super::super::{AgentLink, Notice, Proceed, spin};
use super::{LocalAgent, Message, TICK};
use crate::descriptors::raise_descriptor_limit;
use crate::error::RunError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use sysdyno_load::probe::{Probe, ProbeJob, ProbeSink};
use sysdyno_load::{Control, LoadError, LoadOutcome, Sink};
use sysdyno_record::load::{Interval, LatencySet};
use sysdyno_record::plan::{LoadPlan, PhaseKind};
use sysdyno_record::probe::ProbeReply;
use sysdyno_record::units::MonoNs;

impl LocalAgent {
    /// Sends a load and its probes, each in separate threads.
    pub(super) fn send_load(
        &self,
        trial: u32,
        plan: &LoadPlan,
        link: &mut dyn AgentLink,
    ) -> Result<LoadOutcome, RunError> {
        raise_descriptor_limit();
        self.authorize(plan, self.is_target_mine())?;
        let plan = &LoadPlan { spin: spin::resolve(plan, &self.watched), ..plan.clone() };
        let control = Control::new();
        let sender = self.sender.clone();
        let messages = &self.messages;
        let jobs = ProbeJob::beside(plan, trial)?;
        let probes = jobs.iter().map(Probe::open).collect::<Result<Vec<Probe>, LoadError>>()?;
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (control, is_over) = (&control, &is_over);
            let mut awaited = Awaited { probing_count: probes.len(), outcome: None, failure: None };
            for probe in probes {
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
}

/// What a load is waited for.
struct Awaited {
    probing_count: usize,
    outcome: Option<Result<LoadOutcome, LoadError>>,
    failure: Option<RunError>,
}

impl Awaited {
    fn is_waiting(&self) -> bool {
        self.probing_count > 0 || self.outcome.is_none()
    }

    fn take(&mut self, message: Message, link: &mut dyn AgentLink) {
        match message {
            Message::Loaded(outcome) => self.outcome = Some(*outcome),
            Message::Probed(ended) => {
                self.probing_count = self.probing_count.saturating_sub(1);
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

    fn outcome(self) -> Result<LoadOutcome, RunError> {
        match (self.outcome, self.failure) {
            (Some(Err(error)), _) => Err(error.into()),
            (_, Some(failure)) => Err(failure),
            (Some(Ok(outcome)), None) => Ok(outcome),
            (None, None) => Err(RunError::Answer { request: "load" }),
        }
    }
}

/// Runs a probe to its end and reports the end.
fn run_probe(probe: Probe<'_>, mut sink: Beside<'_>) {
    // Only a name is lost if this fails.
    let _ = rustix::thread::set_name(c"sysdyno-probe");
    let ended = probe.run(&mut sink);
    // The receiver lives as long as the agent.
    let _ = sink.sender.send(Message::Probed(ended));
}

/// Passes on the results of one of a load's probes until the load is over.
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
