//! Searches for the capacity: chooses the next trial from the outcomes of the trials before it.
//!
//! The procedure, for the offered rate:
//!
//! ```text
//! alone    one connection, closed loop: an objective below what it shows is missed at any rate
//! pilot    closed loop: the order of magnitude X
//! bracket  open loop at {0.5, 0.7, 0.85, 1, 1.15}·X in random order, then bisection of ln rate between the greatest
//!          pass and the least fail until they are within 10 %; results near the limit are repeated, the median decides
//! grid     rates from 0.95·pass to 1.05·fail, log-spaced, replicated in random order: capacity is estimated from these
//! certify  fresh trials at the greatest grid rate below the interval
//! ```
//!
//! No single trial decides: plain bisection never recovers from one wrong answer. The search has no state besides the plan
//! and the outcomes, and its random orders come from the plan's seed. The same outcomes therefore always lead to the same
//! next trial, so a recorded search can be replayed to see whether it had finished.
//!
//! A plan may limit the time. The bracket is then accepted as it is once the remaining time is needed for the grid and the
//! certification, and no trial starts that could end too late.
//!
//! Invariants: every stage has a bounded number of trials; no rate exceeds the plan's ceiling; a trial disturbed from
//! outside is repeated, but not forever; after an interruption there is no next trial. The caller lets the server rest
//! between trials.

mod bracket;
mod certify;
mod grid;
mod order;
mod sweep;
mod time;

#[cfg(test)]
mod tests;

use crate::capacity;
use crate::outcome::{Judgement, TrialOutcome};
use sysdyno_record::analysis::{Capacity, Verdict};
use sysdyno_record::load::{TrialBegin, TrialEnd, TrialPurpose};
use sysdyno_record::plan::{Arrival, RunPlan, SearchMethod};
use sysdyno_record::units::SpanNs;
use sysdyno_stats::order_statistics::TAIL_COUNT_MIN;

/// A trial that is to be run next.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialRequest {
    /// What it is for.
    pub purpose: TrialPurpose,
    /// How requests arrive.
    pub arrival: Arrival,
    /// Connections.
    pub connections: u32,
    /// Offered rate; `None` in a closed process. Unit: requests per second.
    pub rate_hz: Option<f64>,
    /// Length of the measured window.
    pub window: SpanNs,
    /// Length of the warm-up before it.
    pub warmup: SpanNs,
    /// Seed of its arrivals.
    pub seed: u64,
}

impl TrialRequest {
    /// The same trial with this share of its rate, or of its connections where it has no rate; at least one connection.
    pub fn scaled(&self, ratio: f64) -> TrialRequest {
        let connections = match self.rate_hz {
            Some(_) => self.connections,
            None => ((f64::from(self.connections) * ratio).round() as u32).max(1),
        };
        TrialRequest { connections, rate_hz: self.rate_hz.map(|rate_hz| rate_hz * ratio), ..self.clone() }
    }
}

/// A search that is going on, or one that is followed again from its record.
#[derive(Clone, Debug)]
pub struct Search {
    plan: RunPlan,
    outcomes: Vec<TrialOutcome>,
}

/// A trial of a stage, before the plan's lengths and seeds are filled in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SearchStep {
    pub(crate) purpose: TrialPurpose,
    pub(crate) connections: u32,
    pub(crate) rate_hz: Option<f64>,
}

/// Upper bound on the trials of one search. A search without surprises takes 25 to 35.
pub const TRIALS_MAX: usize = 200;

/// A window is lengthened at most this many times to hold the samples that the percentile needs.
const WINDOW_STRETCH_MAX: f64 = 4.0;
/// Reserve over the least number of samples, since arrivals vary.
const SAMPLE_RESERVE: f64 = 1.1;

impl Search {
    /// A search that has not begun.
    pub fn new(plan: &RunPlan) -> Search {
        Search { plan: plan.clone(), outcomes: Vec::new() }
    }

    /// A search that has come this far.
    pub fn with_outcomes(plan: &RunPlan, outcomes: Vec<TrialOutcome>) -> Search {
        Search { plan: plan.clone(), outcomes }
    }

    /// The trial to run next; `None` when the search is over. Asking twice gives the same answer.
    pub fn next(&self) -> Option<TrialRequest> {
        let is_stopped = self.outcomes.iter().any(|outcome| outcome.is_interrupted);
        if is_stopped || self.outcomes.len() >= TRIALS_MAX {
            return None;
        }
        self.step().map(|step| self.request(step)).filter(|request| time::has_time_for(self, request))
    }

    /// Whether it ended because the next trial could have ended too late.
    pub fn is_out_of_time(&self) -> bool {
        let is_stopped = self.outcomes.iter().any(|outcome| outcome.is_interrupted);
        !is_stopped && self.next().is_none() && self.step().is_some()
    }

    /// Takes in what came of a trial.
    pub fn record(&mut self, begin: &TrialBegin, end: &TrialEnd, verdict: &Verdict) {
        self.outcomes.push(TrialOutcome::of(begin, end, verdict, &self.plan.objective));
    }

    /// What came of the trials so far, in order.
    pub fn outcomes(&self) -> &[TrialOutcome] {
        &self.outcomes
    }

    /// The trial of the highest load that met the objective, to be repeated; `None`: none did.
    pub fn highest_met(&self) -> Option<TrialRequest> {
        let met = self.outcomes.iter().filter(|outcome| outcome.judgement == Judgement::Pass);
        let highest = met.max_by(|a, b| {
            let rate = |outcome: &TrialOutcome| outcome.offered_hz.unwrap_or(0.0);
            rate(a).total_cmp(&rate(b)).then(a.connections.cmp(&b.connections))
        })?;
        let (connections, rate_hz) = (highest.connections, highest.offered_hz);
        Some(self.request(SearchStep { purpose: TrialPurpose::Single, connections, rate_hz }))
    }

    /// What the outcomes so far say about the capacity.
    pub fn capacity(&self) -> Capacity {
        capacity::estimate(&self.outcomes, &self.plan)
    }

    /// How long the rest of the search will take if nothing surprising happens.
    pub fn remaining(&self) -> SpanNs {
        let Some(next) = self.next() else { return SpanNs(0) };
        let (probes, windows) = self.left(next.purpose);
        let rate_hz = self.outcomes.iter().rev().find_map(|outcome| outcome.offered_hz);
        let seconds = probes * self.trial_seconds(self.plan.search.probe, rate_hz)
            + windows * self.trial_seconds(self.plan.search.window, rate_hz);
        let expected = SpanNs((seconds.clamp(0.0, 1e9) * 1e9) as u64);
        time::left(self).map_or(expected, |left| expected.min(left))
    }

    /// How long a trial with such a window takes at this rate. Unit: seconds.
    fn trial_seconds(&self, base: SpanNs, rate_hz: Option<f64>) -> f64 {
        self.window(base, rate_hz).seconds() + self.plan.search.warmup.seconds() + time::OVERHEAD_SECONDS
    }

    fn step(&self) -> Option<SearchStep> {
        match &self.plan.search.method {
            SearchMethod::Connections(levels) => sweep::next(&self.plan, levels, &self.outcomes),
            SearchMethod::OfferedRate => {
                let bracket = match bracket::next(&self.plan, &self.outcomes, time::is_haste(self)) {
                    bracket::BracketProgress::Step(step) => return Some(step),
                    bracket::BracketProgress::Nothing => return None,
                    bracket::BracketProgress::Found(bracket) => bracket,
                };
                grid::next(&self.plan, &bracket, &self.outcomes)
                    .or_else(|| certify::next(&self.plan, &bracket, &self.outcomes))
            }
        }
    }

    /// Probing and measured trials that are still to come, `next` included.
    fn left(&self, next: TrialPurpose) -> (f64, f64) {
        let search = &self.plan.search;
        let done = |purpose: TrialPurpose| {
            self.outcomes.iter().filter(|outcome| outcome.purpose == purpose).count() as f64
        };
        let grid = f64::from(search.grid_rates) * f64::from(search.grid_replicates);
        let certify = f64::from(search.certify_passes);
        match next {
            TrialPurpose::Pilot => {
                let pilots = (2.0 - done(TrialPurpose::Pilot)).max(1.0);
                (pilots + bracket::EXPECTED_TRIALS, grid + certify)
            }
            TrialPurpose::Bracket => {
                ((bracket::EXPECTED_TRIALS - done(TrialPurpose::Bracket)).max(1.0), grid + certify)
            }
            TrialPurpose::Grid => (0.0, (grid - done(TrialPurpose::Grid)).max(1.0) + certify),
            TrialPurpose::Certify => (0.0, (certify - done(TrialPurpose::Certify)).max(1.0)),
            TrialPurpose::Sweep | TrialPurpose::Single | TrialPurpose::Try => {
                (0.0, sweep::left(&self.plan, &self.outcomes))
            }
        }
    }

    fn request(&self, step: SearchStep) -> TrialRequest {
        let search = &self.plan.search;
        let is_probe = matches!(step.purpose, TrialPurpose::Pilot | TrialPurpose::Bracket);
        let arrival = match (step.rate_hz, self.plan.load.arrival) {
            (None, _) => Arrival::Closed,
            (Some(_), Arrival::Constant) => Arrival::Constant,
            (Some(_), Arrival::Poisson | Arrival::Closed | Arrival::Trace | Arrival::Sessions) => {
                Arrival::Poisson
            }
        };
        TrialRequest {
            purpose: step.purpose,
            arrival,
            connections: step.connections,
            rate_hz: step.rate_hz,
            window: self.window(if is_probe { search.probe } else { search.window }, step.rate_hz),
            warmup: search.warmup,
            seed: order::derived_seed(self.plan.seed, self.outcomes.len() as u64),
        }
    }

    /// The window, long enough for the percentile at this rate.
    fn window(&self, base: SpanNs, rate_hz: Option<f64>) -> SpanNs {
        let beyond = (1.0 - self.plan.objective.percentile_ratio).max(1e-4);
        let needed = rate_hz.map_or(0.0, |rate| SAMPLE_RESERVE * TAIL_COUNT_MIN / beyond / rate.max(1e-3));
        let seconds = needed.clamp(base.seconds(), base.seconds() * WINDOW_STRETCH_MAX);
        SpanNs((seconds * 1e9).round() as u64)
    }
}
