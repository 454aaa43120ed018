//! Tryouts on a simulated server: the course runs as on a real one, with trials drawn from a distribution.

use super::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use sysdyno_record::change::SettingChange;
use sysdyno_record::tryout::{
    Action, Environment, EnvironmentLimits, GuardrailPlan, Metric, PairCaps, RatePlan, Settled,
    TryConclusion, TryPlan, TryTrial, TryWorkload, Variant,
};
use sysdyno_record::units::{MonoNs, SpanNs};

/// Noise of a trial's logarithm.
#[derive(Clone, Copy, Debug)]
pub(super) enum Noise {
    Normal,
    /// Of seven trials one is hit by a delay of six deviations on average; all scaled by 1 ÷ 1.9.
    Spiky,
}

/// A server whose variants differ by a known factor.
pub(super) struct Server {
    random: Xoshiro256PlusPlus,
    noise: Noise,
    /// Deviation of the difference of two trials, of logarithms.
    deviation: f64,
    /// ln of each variant's metric against A.
    shifts: Vec<f64>,
    /// Drift of the logarithm per trial.
    pub(super) drift: f64,
    /// Each trial of this arm after the first so many is spoilt by the environment.
    pub(super) spoil: Option<fn(&NextTrial) -> bool>,
    /// Values beyond this are not known.
    pub(super) limit: f64,
}

impl Server {
    pub(super) fn new(seed: u64, noise: Noise, deviation: f64, shifts: &[f64]) -> Server {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Server {
            random,
            noise,
            deviation,
            shifts: shifts.to_vec(),
            drift: 0.0,
            spoil: None,
            limit: f64::INFINITY,
        }
    }

    fn uniform(&mut self) -> f64 {
        self.random.random::<f64>()
    }

    fn normal(&mut self) -> f64 {
        let (radius, angle) = ((-2.0 * (1.0 - self.uniform()).ln()).sqrt(), self.uniform());
        radius * (2.0 * std::f64::consts::PI * angle).cos()
    }

    fn noise(&mut self) -> f64 {
        let plain = self.normal() * self.deviation / 2f64.sqrt();
        match self.noise {
            Noise::Normal => plain,
            Noise::Spiky => {
                let is_hit = self.uniform() < 0.15;
                let spike = if is_hit { -6.0 * (1.0 - self.uniform()).ln() } else { 0.0 };
                (plain * 2f64.sqrt() + spike * self.deviation) / 1.9
            }
        }
    }

    fn trial(&mut self, next: &NextTrial, metric: Metric) -> TryTrial {
        let drift = self.drift * f64::from(next.trial);
        let value = 1e5 * (self.shifts[next.variant as usize] + self.noise() + drift).exp();
        let begin = u64::from(next.trial) * 10_000_000_000;
        let is_spoilt = self.spoil.is_some_and(|spoil| spoil(next));
        let invalid =
            if is_spoilt { vec!["the hypervisor stole 9% of the CPU time".into()] } else { Vec::new() };
        TryTrial {
            trial: next.trial,
            stage: next.stage.stage,
            pair: next.pair,
            arm: next.arm,
            variant: next.variant,
            begin_mono_ns: MonoNs(begin),
            end_mono_ns: MonoNs(begin + 9_000_000_000),
            load_trials: vec![next.trial],
            values: BTreeMap::from([(metric, value.min(self.limit)), (Metric::Errors, 0.0)]),
            lower_bounds: (value > self.limit).then_some(metric).into_iter().collect(),
            environment: Environment { invalid, ..Environment::default() },
            read_back: Vec::new(),
            bites: Vec::new(),
            failure: None,
        }
    }
}

/// A plan by CPU per request with so many changes.
pub(super) fn plan(seed: u64, changes: usize) -> TryPlan {
    let change = |number: usize| SettingChange { key: format!("net.core.key{number}"), value: "1".into() };
    let changes: Vec<SettingChange> = (1..=changes).map(change).collect();
    let same = |name: &str| Variant { name: name.into(), action: Action::AsItIs };
    TryPlan {
        command: None,
        workload: TryWorkload::Commands,
        variants: if changes.is_empty() { vec![same("A"), same("B")] } else { variants_of(&changes) },
        contrasts: Vec::new(),
        metric: Metric::Cpu,
        effect_ratio: 0.03,
        guardrails: vec![GuardrailPlan { metric: Metric::Errors, margin: 0.0005 }],
        seed,
        pairs: PairCaps { min_count: 8, max_count: 40 },
        budget: SpanNs::from_secs(1_000_000),
        window: SpanNs::from_secs(5),
        warmup: None,
        rate: RatePlan::ShareOfPilot(0.7),
        limits: EnvironmentLimits::QUIET,
        is_calibration: false,
        keeps_better: false,
        watch_pids: Vec::new(),
        sampling_hz: 10.0,
    }
}

pub(super) fn settled() -> Settled {
    Settled {
        plan_sha256: String::new(),
        rate_hz: Some(1000.0),
        pilot_hz: Some(1430.0),
        warmup: SpanNs::from_secs(1),
        window: SpanNs::from_secs(5),
        trial: SpanNs::from_secs(10),
    }
}

/// Runs a tryout to its end.
pub(super) fn run(plan: &TryPlan, server: &mut Server) -> (Course, TryConclusion) {
    let settled = settled();
    let mut course = Course::new(plan, &settled);
    while let Some(next) = course.next(SpanNs(course.trials().len() as u64 * settled.trial.0)) {
        course.record(server.trial(&next, plan.metric));
    }
    let conclusion = conclude(plan, &settled, &course, Around::default());
    (course, conclusion)
}
