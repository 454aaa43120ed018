//! The agent of this host, in this process.
//!
//! The load runs in threads of its own; the calling thread passes notices on and asks the link whether to go on. Notices
//! of load and sampler come through one channel, in the order in which they were made.

use super::{Agent, Answer, Link, Notice, Proceed, Request};
use crate::error::LabError;
use crate::execute::clock;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;
use sysdyno_load::{Control, LoadError, Outcome, Sink};
use sysdyno_observe::{Roots, SamplerPlan, Sampling, describe_process, find_target_processes};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::load::{Interval, LatencySet};
use sysdyno_record::plan::{Endpoint, LoadPlan, PhaseKind};
use sysdyno_record::units::{MonoNs, SpanNs};

/// Between two questions whether to go on.
const TICK: Duration = Duration::from_millis(50);

/// The agent of this host.
pub struct LocalAgent {
    sender: Sender<Message>,
    messages: Receiver<Message>,
    sampling: Option<Sampling>,
}

/// What comes through the channel.
enum Message {
    Notice(Notice),
    Loaded(Result<Box<Outcome>, LoadError>),
}

impl Default for LocalAgent {
    fn default() -> LocalAgent {
        let (sender, messages) = mpsc::channel();
        LocalAgent { sender, messages, sampling: None }
    }
}

impl LocalAgent {
    fn load(&mut self, trial: u32, plan: &LoadPlan, link: &mut dyn Link) -> Result<Answer, LabError> {
        let control = Control::new();
        let sender = self.sender.clone();
        let messages = &self.messages;
        std::thread::scope(|scope| {
            let control = &control;
            scope.spawn(move || {
                let outcome = sysdyno_load::run(plan, trial, control, &mut Forward(sender.clone()));
                // The receiver lives as long as the agent.
                let _ = sender.send(Message::Loaded(outcome.map(Box::new)));
            });
            let mut failure = None;
            loop {
                let message = messages.recv_timeout(TICK);
                match message {
                    Ok(Message::Loaded(outcome)) => {
                        let outcome = outcome?;
                        return failure.map_or(Ok(Answer::Loaded(outcome)), Err);
                    }
                    Ok(Message::Notice(notice)) if failure.is_none() => failure = link.notice(notice).err(),
                    Ok(Message::Notice(_))
                    | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
                }
                if failure.is_some() || link.tick() == Proceed::Stop {
                    control.stop();
                }
            }
        })
    }

    fn rest(&mut self, span: SpanNs, link: &mut dyn Link) -> Result<Answer, LabError> {
        let end = clock::monotonic().after(span.duration());
        loop {
            let left_ns = end.since(clock::monotonic());
            if left_ns == 0 || link.tick() == Proceed::Stop {
                return Ok(Answer::Done);
            }
            if let Ok(Message::Notice(notice)) =
                self.messages.recv_timeout(TICK.min(Duration::from_nanos(left_ns)))
            {
                link.notice(notice)?;
            }
        }
    }

    fn start_sampling(
        &mut self,
        hz: f64,
        watch: Vec<WatchedProcess>,
        endpoint: Endpoint,
    ) -> Result<Answer, LabError> {
        let plan = SamplerPlan { roots: Roots::host(), hz, watch, target_port: Some(endpoint) };
        let sender = self.sender.clone();
        let sampling = Sampling::start(plan, move |line| {
            // Readings after the agent's end are nobody's.
            let _ = sender.send(Message::Notice(Notice::Series(line)));
        })?;
        self.sampling = Some(sampling);
        Ok(Answer::Done)
    }

    fn stop_sampling(&mut self, link: &mut dyn Link) -> Result<Answer, LabError> {
        let end = self.sampling.take().map(Sampling::stop).unwrap_or_default();
        while let Ok(Message::Notice(notice)) = self.messages.try_recv() {
            link.notice(notice)?;
        }
        Ok(Answer::SamplingEnded { samples_count: end.samples, missed_count: end.missed_ticks })
    }
}

impl Agent for LocalAgent {
    fn call(&mut self, request: Request, link: &mut dyn Link) -> Result<Answer, LabError> {
        match request {
            Request::Facts => Ok(Answer::Facts(sysdyno_observe::facts(&Roots::host()))),
            Request::Describe { endpoint, pids } => describe(&endpoint, &pids).map(Answer::Processes),
            Request::StartSampling { hz, watch, endpoint } => self.start_sampling(hz, watch, endpoint),
            Request::StopSampling => self.stop_sampling(link),
            Request::Load { trial, plan } => self.load(trial, &plan, link),
            Request::Rest { span } => self.rest(span, link),
            Request::Tune(request) => Ok(Answer::Tuned(Box::new(request.carry_out()?))),
        }
    }
}

/// The processes of the target and this one; a target that cannot be found is left out.
fn describe(endpoint: &Endpoint, pids: &[u32]) -> Result<Vec<WatchedProcess>, LabError> {
    let own = describe_process(std::process::id(), ProcessRole::Generator)?;
    let targets = if pids.is_empty() {
        find_target_processes(endpoint).unwrap_or_default()
    } else {
        pids.iter().map(|pid| describe_process(*pid, ProcessRole::Target)).collect::<Result<Vec<_>, _>>()?
    };
    Ok(targets.into_iter().chain([own]).collect())
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
