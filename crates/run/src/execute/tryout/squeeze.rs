//! Runs a squeeze: a pilot finds the resources, then their comparisons are made as in a tryout.
//!
//! ```text
//! pilot ─► resources ─► { variant on, burner on ─► load ─► burner off, counters read ─► pair } … ─► off ─► conclusion
//! ```

use super::arms::Arms;
use super::squeezer::Squeezer;
use super::surroundings::surroundings;
use super::{Lab, Tuning};
use crate::agent::{Generator, RemoteAgent};
use crate::error::RunError;
use crate::execute::RunJournal;
use crate::execute::steps::{Bench, Hosts, SamplingPlan, trial_plan};
use std::time::Duration;
use sysdyno_analyze::search::TrialRequest;
use sysdyno_analyze::squeeze::{conclude, find, resource_name, try_plan};
use sysdyno_analyze::tryout::{observe_pilot, settle_rate, settle_warmup};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::load::{TrialEnding, TrialPurpose};
use sysdyno_record::plan::{Arrival, LoadPlan};
use sysdyno_record::squeeze::{LeftOutResource, SqueezeConclusion, SqueezePlan, SqueezedResources};
use sysdyno_record::tryout::{Settled, TryLine, TryPlan, TryWorkload};
use sysdyno_record::units::SpanNs;
use sysdyno_tune::{TuneError, TuneRoots};

/// Length of the pilot's window: the tiers behind the server are found within it, and what their threads use.
const PILOT: SpanNs = SpanNs::from_secs(4);

/// What a trial takes besides warm-up and window: connecting, drain, rest, settings and their guardian.
const AROUND: Duration = Duration::from_millis(2000);

/// A squeeze that is to be run.
#[derive(Debug)]
pub struct SqueezeOrder<'a> {
    /// What is to be done.
    pub plan: &'a SqueezePlan,
    /// How settings are changed.
    pub tuning: Tuning,
}

/// A squeeze that is over.
#[derive(Clone, Debug)]
pub struct SqueezeEnd {
    /// The result; `None`: it ended before its first trial.
    pub conclusion: Option<SqueezeConclusion>,
    /// Settings that are not what they were, since somebody else has changed them.
    pub not_restored: Vec<String>,
}

/// Runs a squeeze, and writes its lines and its conclusion.
///
/// # Errors
/// A trial could not be started, a setting not be changed, or the folder not be written. Settings are undone whatever
/// happens.
pub fn squeeze(
    order: &SqueezeOrder<'_>,
    (agent, server): (&mut dyn Generator, Option<&mut RemoteAgent>),
    journal: &mut RunJournal<'_>,
) -> Result<SqueezeEnd, RunError> {
    if let Some(far) = server.as_ref().filter(|server| !server.is_same_machine()) {
        let host = far.host();
        return Err(RunError::Refused(format!(
            "cannot squeeze a server on '{host}': resources can only be taken on this machine\nhint: run sysdyno \
             squeeze there"
        )));
    }
    let hosts = Hosts { generator: agent, server, behind: &[], services: None };
    let mut pilot = Pilot { order, bench: Bench::new(hosts, journal), squeezer: Squeezer::default() };
    let Some((found, settled)) = pilot.run()? else {
        pilot.bench.take_down()?;
        return Ok(SqueezeEnd { conclusion: None, not_restored: Vec::new() });
    };
    let plan = try_plan(order.plan, &found);
    pilot.bench.journal.show_plan(&plan);
    let mut lab = Lab {
        plan: &plan,
        bench: pilot.bench,
        arms: Arms::new(&plan, order.tuning.clone()),
        squeezer: pilot.squeezer,
        targets: Vec::new(),
    };
    let done = lab.arms.learn_baseline(&mut lab.bench).and_then(|()| lab.measure(settled));
    let undone = lab.arms.leave(&mut lab.bench);
    let sampled = lab.bench.take_down();
    let done = done?;
    undone?;
    sampled?;
    let conclusion = conclude(order.plan, &found, &done.course, lab.bench.journal.elapsed_ns());
    lab.bench.journal.keep_squeeze(&conclusion)?;
    Ok(SqueezeEnd { conclusion: Some(conclusion), not_restored: lab.arms.not_restored })
}

/// What happens before the first trial.
struct Pilot<'a, 'b, 'c> {
    order: &'a SqueezeOrder<'a>,
    bench: Bench<'b, 'c>,
    squeezer: Squeezer,
}

impl Pilot<'_, '_, '_> {
    /// Loads the server as it is; what can be squeezed, and how trials will be. `None`: it was interrupted.
    fn run(&mut self) -> Result<Option<(SqueezedResources, Settled)>, RunError> {
        let plan = &self.order.plan.tryout;
        let TryWorkload::Load(load) = &plan.workload else {
            return Err(RunError::Answer { request: "squeeze without a load" });
        };
        self.set_up(load)?;
        let done = self.bench.load(TrialPurpose::Pilot, trial_plan(load, &request(plan, load)), PILOT)?;
        if done.end.ending == TrialEnding::Interrupted || self.bench.journal.is_interrupted() {
            return Ok(None);
        }
        let (ends, roots) = ((&done.begin, &done.end), TuneRoots::at(&self.order.tuning.root));
        let (pilot, found) = self.bench.journal.last_trial(ends, &done.latency, &[], |view| {
            (observe_pilot(view), find(view, self.order.plan, &surroundings(load, view, &roots)))
        });
        self.bench.cool_down()?;
        if pilot.goodput_hz <= 0.0 {
            return Err(RunError::Pilot { target: load.target.url.clone() });
        }
        let found = self.possible(found)?;
        self.bench.journal.keep_line(&TryLine::Resources(Box::new(found.clone())))?;
        let pilots = [pilot];
        let warmup = settle_warmup(plan, &pilots);
        let settled = Settled {
            plan_sha256: self.bench.journal.plan_sha256(),
            rate_hz: settle_rate(plan, &pilots),
            pilot_hz: Some(pilots[0].goodput_hz),
            warmup,
            window: plan.window,
            trial: SpanNs(warmup.0 + plan.window.0 + AROUND.as_nanos() as u64),
        };
        Ok(Some((found, settled)))
    }

    fn set_up(&mut self, load: &LoadPlan) -> Result<(), RunError> {
        let plan = &self.order.plan.tryout;
        let pid = self.squeezer.start(&self.order.tuning.program)?;
        let start_ticks = sysdyno_observe::host_process(pid).map_or(0, |process| process.start_ticks);
        self.bench.also = vec![WatchedProcess::new(pid, start_ticks, "sysdyno-burner", ProcessRole::Burner)];
        self.bench.set_up(load, &SamplingPlan { hz: plan.sampling_hz, pids: plan.watch_pids.clone() })
    }

    /// Leaves out the resources whose settings cannot be changed here, with the reason.
    fn possible(&mut self, mut found: SqueezedResources) -> Result<SqueezedResources, RunError> {
        let mut refused: Vec<(u32, String)> = Vec::new();
        for (number, variant) in (0..).zip(&found.variants) {
            let settings = variant.action.settings();
            if settings.is_empty() {
                continue;
            }
            match self.order.tuning.plan(&mut self.bench, settings) {
                Ok(planned) => {
                    let blocked = planned.changes.iter().find_map(|change| change.blocked.clone());
                    refused.extend(blocked.map(|reason| (number, reason)));
                }
                Err(RunError::Tune(TuneError::Refused(reasons))) => {
                    let reason = reasons.first().map(|reason| reason.cause.clone()).unwrap_or_default();
                    refused.push((number, reason));
                }
                Err(error) => return Err(error),
            }
        }
        let reason =
            |of: u32| refused.iter().find(|(number, _)| *number == of).map(|(_, reason)| reason.clone());
        let (contrasts, all) = (found.contrasts.clone(), found.resources.clone());
        let mut left_out = Vec::new();
        found.resources.retain(|resource| {
            let made = resource.contrasts.iter().filter_map(|number| contrasts.get(*number as usize));
            let reason = made.filter_map(|made| reason(made.a).or_else(|| reason(made.b))).next();
            let name = resource_name(resource, &all);
            left_out.extend(reason.clone().map(|reason| LeftOutResource { name, reason }));
            reason.is_none()
        });
        found.left_out.extend(left_out);
        found.drop_unused();
        Ok(found)
    }
}

/// The load of the pilot: as that of a trial, or closed to learn what the server takes.
fn request(plan: &TryPlan, load: &LoadPlan) -> TrialRequest {
    TrialRequest {
        purpose: TrialPurpose::Pilot,
        arrival: Arrival::Closed,
        connections: load.connections,
        rate_hz: None,
        window: PILOT,
        warmup: SpanNs(0),
        seed: plan.seed,
    }
}
