//! One trial of a tryout: apply the variant, run the load or command, report the result.

use super::arms::InForce;
use super::{COMMAND_LIMIT, COMMAND_REST, Lab, clock_step_ns};
use crate::clock;
use crate::error::RunError;
use crate::execute::change::{clean, prepare};
use crate::execute::steps::trial_plan;
use sysdyno_analyze::search::{Search, TrialRequest};
use sysdyno_analyze::squeeze::seen_bites;
use sysdyno_analyze::tryout::{
    CommandOutcome, NextTrial, ObservedTrial, observe_capacity, observe_command, observe_load,
};
use sysdyno_record::command::CommandSpec;
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::load::TrialPurpose;
use sysdyno_record::plan::{Arrival, HardStops, LoadPlan, RunPlan};
use sysdyno_record::squeeze::{SqueezeAction, SqueezeBite};
use sysdyno_record::tryout::{Action, Settled, TryTrial, TryWorkload};
use sysdyno_record::units::SpanNs;

/// What a trial came to.
struct Ran {
    observation: ObservedTrial,
    load_trials: Vec<u32>,
    /// What its readings show of what the variant takes away.
    bites: Vec<SqueezeBite>,
}

impl<'a> Lab<'a, '_, '_> {
    pub(super) fn trial(&mut self, next: &NextTrial, settled: &Settled) -> Result<TryTrial, RunError> {
        self.bench.journal.show_next(next);
        let InForce { read_back, wrong } = self.arms.enter(&mut self.bench, next.variant)?;
        self.squeezer.begin(&self.plan.variants[next.variant as usize].action)?;
        let begin = clock::monotonic();
        let plan = self.plan;
        let mut ran = match &plan.workload {
            TryWorkload::Load(load) => self.run_load(load, next, settled)?,
            TryWorkload::Capacity(run) => self.run_search(run, next)?,
            TryWorkload::Commands => self.run_command(next)?,
        };
        let end_mono_ns = clock::monotonic();
        let mut bites = self.squeezer.end()?;
        bites.extend(ran.bites);
        // What changed under way is not what was compared, whoever took CPUs besides.
        let wrong =
            if wrong.is_empty() { self.arms.read_back(&mut self.bench, next.variant)?.wrong } else { wrong };
        ran.observation.environment.invalid.splice(0..0, wrong);
        if self.has_load() {
            self.bench.cool_down()?;
        }
        let ObservedTrial { values, lower_bounds, environment, failure } = ran.observation;
        Ok(TryTrial {
            trial: next.trial,
            stage: next.stage.stage,
            pair: next.pair,
            arm: next.arm,
            variant: next.variant,
            begin_mono_ns: begin,
            end_mono_ns,
            load_trials: ran.load_trials,
            values,
            lower_bounds,
            environment,
            read_back,
            bites,
            failure,
        })
    }

    /// The load of a variant: to its own target if it has one. Nothing stops it: what fails is a number to compare.
    pub(super) fn load_of(&self, load: &LoadPlan, variant: u32) -> LoadPlan {
        let target = match &self.plan.variants[variant as usize].action {
            Action::Target(target) => (**target).clone(),
            _ => load.target.clone(),
        };
        let hard_stops =
            HardStops { connect_failures_in_a_row: None, failure_ratio: load.hard_stops.failure_ratio };
        LoadPlan { target, hard_stops, ..load.clone() }
    }

    /// The processes whose CPU counts for a variant; empty: all targets.
    pub(super) fn targets_of(&self, variant: u32) -> &[WatchedProcess] {
        self.targets.get(variant as usize).map_or(&[], Vec::as_slice)
    }

    fn run_load(&mut self, load: &LoadPlan, next: &NextTrial, settled: &Settled) -> Result<Ran, RunError> {
        let base = self.load_of(load, next.variant);
        let squeeze = self.squeeze_of(next.variant);
        let left = squeeze.and_then(|squeeze| squeeze.connections);
        let request = TrialRequest {
            purpose: TrialPurpose::Try,
            arrival: if settled.rate_hz.is_some() { open(load.arrival) } else { Arrival::Closed },
            connections: left.unwrap_or(load.connections),
            rate_hz: settled.rate_hz,
            window: settled.window,
            warmup: settled.warmup,
            seed: next.seed,
        };
        let clocks = clock::pair();
        let span = SpanNs(request.warmup.0 + request.window.0);
        let done = self.bench.load(request.purpose, trial_plan(&base, &request), span)?;
        let observation = self.observe(&done, next.variant, clock_step_ns(&clocks));
        let ends = (&done.begin, &done.end);
        let bites = squeeze.map_or_else(Vec::new, |squeeze| {
            self.bench
                .journal
                .last_trial(ends, &done.latency, &[], |view| seen_bites(view, squeeze, load.connections))
        });
        Ok(Ran { observation, load_trials: vec![done.begin.trial], bites })
    }

    /// What a variant takes away; `None`: nothing.
    fn squeeze_of(&self, variant: u32) -> Option<&'a SqueezeAction> {
        match &self.plan.variants[variant as usize].action {
            Action::Squeeze(squeeze) => Some(squeeze),
            _ => None,
        }
    }

    fn run_search(&mut self, run: &RunPlan, next: &NextTrial) -> Result<Ran, RunError> {
        let base = self.load_of(&run.load, next.variant);
        let run = RunPlan { load: base.clone(), seed: next.seed, ..run.clone() };
        let mut search = Search::new(&run);
        let (mut observations, mut load_trials) = (Vec::new(), Vec::new());
        while let Some(request) = search.next().filter(|_| !self.bench.journal.is_interrupted()) {
            let clocks = clock::pair();
            let left = search.remaining();
            let done = self.bench.load(request.purpose, trial_plan(&base, &request), left)?;
            load_trials.push(done.begin.trial);
            observations.push(self.observe(&done, next.variant, clock_step_ns(&clocks)));
            search.record(&done.begin, &done.end, &done.verdict);
            self.bench.cool_down()?;
        }
        let observation = observe_capacity(&observations, search.capacity().rate_hz);
        Ok(Ran { observation, load_trials, bites: Vec::new() })
    }

    fn observe(
        &self,
        done: &crate::execute::steps::LoadedTrial,
        variant: u32,
        clock_step_ns: i64,
    ) -> ObservedTrial {
        let ends = (&done.begin, &done.end);
        self.bench.journal.last_trial(ends, &done.latency, self.targets_of(variant), |view| {
            observe_load(view, &done.verdict, &self.plan.limits, clock_step_ns)
        })
    }

    fn run_command(&mut self, next: &NextTrial) -> Result<Ran, RunError> {
        let plan = self.plan;
        let clocks = clock::pair();
        let outcome = self.timed(next.variant)?;
        self.bench.ask(|agent, link| agent.rest(COMMAND_REST, link))?;
        let series = self.bench.journal.series();
        let observation = observe_command(&outcome, series, &plan.limits, clock_step_ns(&clocks));
        Ok(Ran { observation, load_trials: Vec::new(), bites: Vec::new() })
    }

    /// The command that is timed in trials of a variant.
    pub(super) fn command_of(&self, variant: u32) -> Option<&CommandSpec> {
        match &self.plan.variants[variant as usize].action {
            Action::Command(command) => Some(command),
            _ => self.plan.command.as_ref().map(|command| &command.run),
        }
    }

    /// Runs the command of a variant, with what comes before and after it.
    pub(super) fn timed(&mut self, variant: u32) -> Result<CommandOutcome, RunError> {
        let words = self.command_of(variant).map(|command| command.words.clone());
        let words = words.ok_or(RunError::Answer { request: "run a command" })?;
        let around = self.plan.command.as_ref();
        if let Some(command) = around.and_then(|command| command.prepare.as_ref()) {
            prepare(&mut self.bench, command)?;
        }
        let outcome = self.bench.ask(|agent, link| agent.command(&words, COMMAND_LIMIT, link));
        if let Some(command) = around.and_then(|command| command.clean.as_ref()) {
            clean(&mut self.bench, command)?;
        }
        outcome
    }
}

/// The arrival process of an open load; a closed one is taken for users that come on their own.
fn open(arrival: Arrival) -> Arrival {
    if arrival.is_open() { arrival } else { Arrival::Poisson }
}
