//! The pilot: finds how much load the variants can take, how long they take to settle, and how long a trial will be.

use super::{COMMAND_REST, Lab};
use crate::clock;
use crate::error::RunError;
use crate::execute::steps::trial_plan;
use sysdyno_analyze::search::{Search, TrialRequest};
use sysdyno_analyze::tryout::{PilotTrial, check_samples, observe_pilot, settle_rate, settle_warmup};
use sysdyno_record::load::{TrialEnding, TrialPurpose};
use sysdyno_record::plan::{Arrival, LoadPlan, RunPlan};
use sysdyno_record::tryout::{Action, RatePlan, Settled, TryPlan, TryWorkload};
use sysdyno_record::units::SpanNs;

/// Length of a pilot's window.
const PILOT: SpanNs = SpanNs::from_secs(3);

/// What a trial takes besides warm-up and window, at least: connecting, drain, rest, settings.
const AROUND: SpanNs = SpanNs::from_millis(1500);

impl Lab<'_, '_, '_> {
    /// Runs the pilot; `None`: it was interrupted.
    pub(super) fn settle(&mut self) -> Result<Option<Settled>, RunError> {
        let plan = self.plan;
        let settled = match &plan.workload {
            TryWorkload::Load(load) => self.settle_load(load)?,
            TryWorkload::Capacity(run) => Some(self.settled(None, &[], SpanNs(search_span(run).0))),
            TryWorkload::Commands => self.settle_commands()?,
        };
        Ok(settled.filter(|_| !self.bench.journal.is_interrupted()))
    }

    fn settle_load(&mut self, load: &LoadPlan) -> Result<Option<Settled>, RunError> {
        let (mut pilots, mut around) = (Vec::new(), AROUND);
        // With rate and warm-up given there is nothing to settle.
        let is_needed = self.plan.warmup.is_none() || matches!(self.plan.rate, RatePlan::ShareOfPilot(_));
        for variant in pilot_variants(self.plan).into_iter().filter(|_| is_needed) {
            let begin = clock::monotonic();
            self.arms.enter(&mut self.bench, variant)?;
            let base = self.load_of(load, variant);
            let plan = trial_plan(&base, &pilot_request(self.plan, &base));
            let done = self.bench.load(TrialPurpose::Pilot, plan, PILOT)?;
            if done.end.ending == TrialEnding::Interrupted {
                return Ok(None);
            }
            let targets = self.targets_of(variant).to_vec();
            let ends = (&done.begin, &done.end);
            pilots.push(self.bench.journal.last_trial(ends, &done.latency, &targets, observe_pilot));
            self.bench.cool_down()?;
            around = around.max(SpanNs(clock::monotonic().since(begin).saturating_sub(PILOT.0)));
        }
        let rate_hz = settle_rate(self.plan, &pilots);
        if matches!(self.plan.rate, RatePlan::ShareOfPilot(_)) && rate_hz.is_none() {
            return Err(RunError::Pilot { target: load.target.url.clone() });
        }
        rate_hz.map_or(Ok(()), |rate_hz| check_samples(self.plan, rate_hz))?;
        let warmup = settle_warmup(self.plan, &pilots);
        let trial = SpanNs(warmup.0 + self.plan.window.0 + around.0);
        Ok(Some(Settled { warmup, ..self.settled(rate_hz, &pilots, trial) }))
    }

    /// Runs each command once, or the one command under each variant, so that failures are reported before anything is compared.
    fn settle_commands(&mut self) -> Result<Option<Settled>, RunError> {
        let mut longest = SpanNs(0);
        for variant in pilot_commands(self.plan) {
            let begin = clock::monotonic();
            self.arms.enter(&mut self.bench, variant)?;
            let outcome = self.timed(variant)?;
            if self.bench.journal.is_interrupted() {
                return Ok(None);
            }
            if let Some(cause) = outcome.failure {
                let command =
                    self.command_of(variant).map_or_else(String::new, |command| command.text.clone());
                return Err(RunError::Command { command, cause });
            }
            longest = longest.max(SpanNs(clock::monotonic().since(begin)));
        }
        Ok(Some(self.settled(None, &[], SpanNs(longest.0 + COMMAND_REST.0))))
    }

    fn settled(&self, rate_hz: Option<f64>, pilots: &[PilotTrial], trial: SpanNs) -> Settled {
        Settled {
            plan_sha256: self.bench.journal.plan_sha256(),
            rate_hz,
            pilot_hz: pilots.first().map(|pilot| pilot.goodput_hz),
            warmup: SpanNs(0),
            window: self.plan.window,
            trial,
        }
    }
}

/// A and the variant that has most of what is compared.
fn pilot_variants(plan: &TryPlan) -> Vec<u32> {
    let weight = |index: usize| match &plan.variants[index].action {
        Action::Settings(changes) => changes.len(),
        _ => 1,
    };
    let others = (1..plan.variants.len()).max_by_key(|index| (weight(*index), usize::MAX - index));
    [0].into_iter().chain(others.map(|index| index as u32)).collect()
}

/// Variants whose commands are run before anything is compared: all that have one, or A and the one with most changes.
fn pilot_commands(plan: &TryPlan) -> Vec<u32> {
    match plan.command {
        Some(_) => pilot_variants(plan),
        None => (0..plan.variants.len() as u32).collect(),
    }
}

fn pilot_request(plan: &TryPlan, load: &LoadPlan) -> TrialRequest {
    let rate_hz = if let RatePlan::Fixed(rate_hz) = plan.rate { Some(rate_hz) } else { None };
    TrialRequest {
        purpose: TrialPurpose::Pilot,
        arrival: if rate_hz.is_some() { load.arrival } else { Arrival::Closed },
        connections: load.connections,
        rate_hz,
        window: PILOT,
        warmup: SpanNs(0),
        seed: plan.seed,
    }
}

/// How long a search takes if nothing surprising happens.
fn search_span(run: &RunPlan) -> SpanNs {
    Search::new(run).remaining()
}
