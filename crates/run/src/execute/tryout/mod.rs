//! Runs a tryout: trial after trial in the order that `analyze` chooses, each under its variant.
//!
//! ```text
//! baseline ─► pilots ─► settled ─► { variant on ─► read back ─► warm-up, window ─► read back ─► pair } …
//!          ─► variant off ─► conclusion ─► kept, if that was asked for and is proven
//! ```
//! Invariants: the agent changes a setting as a trial that ends with the agent, so that it is undone whatever kills this
//! process; it is undone before the conclusion is drawn; an interrupted trial does not count.

mod arms;
mod pilot;
mod squeeze;
mod squeezer;
mod strangers;
mod surroundings;
mod trials;

pub use arms::planned_changes;
pub use squeeze::{SqueezeEnd, SqueezeOrder, squeeze};

use super::RunJournal;
use super::change::Tuning;
use super::steps::{Bench, Hosts};
use crate::agent::Generator;
use crate::clock;
use crate::error::RunError;
use arms::Arms;
use squeezer::Squeezer;
use sysdyno_analyze::tryout::{Around, Course, conclude};
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::tryout::{
    Action, Calibration, Settled, StageKind, TryConclusion, TryLine, TryPlan, TryWorkload,
};
use sysdyno_record::units::SpanNs;

/// How long a command may take.
const COMMAND_LIMIT: SpanNs = SpanNs::from_secs(3600);

/// Pause between two commands, so that there are readings around each.
const COMMAND_REST: SpanNs = SpanNs::from_millis(250);

/// A tryout that is to be run.
#[derive(Debug)]
pub struct TryOrder<'a> {
    /// What is to be done.
    pub plan: &'a TryPlan,
    /// How settings are changed.
    pub tuning: Tuning,
    /// The last comparison of this host and workload with itself; `None`: there is none.
    pub calibration: Option<Calibration>,
}

/// A tryout that is over.
#[derive(Clone, Debug)]
pub struct TryEnd {
    /// The result; `None`: it ended before its first trial.
    pub conclusion: Option<TryConclusion>,
    /// Settings that are not what they were, since somebody else has changed them.
    pub not_restored: Vec<String>,
}

/// Runs a tryout, and writes its lines and its conclusion.
///
/// # Errors
/// A trial could not be started, a setting not be changed, or the folder not be written. Settings are undone whatever
/// happens.
pub fn tryout(
    order: &TryOrder<'_>,
    agent: &mut dyn Generator,
    journal: &mut RunJournal<'_>,
) -> Result<TryEnd, RunError> {
    let mut lab = Lab {
        plan: order.plan,
        bench: Bench::new(Hosts { generator: agent, server: None, behind: &[], services: None }, journal),
        arms: Arms::new(order.plan, order.tuning.clone()),
        squeezer: Squeezer::default(),
        targets: Vec::new(),
    };
    let done = lab.run();
    let undone = lab.arms.leave(&mut lab.bench);
    let sampled = lab.bench.take_down();
    let done = done?;
    undone?;
    sampled?;
    let conclusion = done.map(|done| lab.conclude(order, &done)).transpose()?;
    Ok(TryEnd { conclusion, not_restored: lab.arms.not_restored })
}

/// What a tryout is run with.
struct Lab<'a, 'b, 'c> {
    plan: &'a TryPlan,
    bench: Bench<'b, 'c>,
    arms: Arms<'a>,
    squeezer: Squeezer,
    /// Processes of the target of each variant; empty where all have the same.
    targets: Vec<Vec<WatchedProcess>>,
}

/// A tryout whose trials are over.
struct Done {
    settled: Settled,
    course: Course,
}

impl Lab<'_, '_, '_> {
    /// `None`: it was interrupted before anything was settled.
    fn run(&mut self) -> Result<Option<Done>, RunError> {
        self.set_up()?;
        self.arms.learn_baseline(&mut self.bench)?;
        let Some(settled) = self.settle()? else { return Ok(None) };
        self.measure(settled).map(Some)
    }

    /// Makes the trials that a course asks for.
    fn measure(&mut self, settled: Settled) -> Result<Done, RunError> {
        self.bench.journal.keep_line(&TryLine::Settled(settled.clone()))?;
        let mut course = Course::new(self.plan, &settled);
        while !self.bench.journal.is_stopped() {
            let Some(next) = course.next(SpanNs(self.bench.journal.elapsed_ns())) else { break };
            if next.is_new_stage {
                self.bench.journal.keep_line(&TryLine::Stage(next.stage))?;
            }
            let trial = self.trial(&next, &settled)?;
            if self.bench.journal.is_stopped() {
                break;
            }
            self.bench.journal.keep_line(&TryLine::Trial(Box::new(trial.clone())))?;
            if let Some(pair) = course.record(trial) {
                self.bench.journal.keep_line(&TryLine::Pair(pair))?;
                course.standing().iter().for_each(|standing| self.bench.journal.show_standing(standing));
            }
        }
        course.interrupt();
        Ok(Done { settled, course })
    }

    /// Facts, processes, sampling.
    fn set_up(&mut self) -> Result<(), RunError> {
        self.bench.keep_facts()?;
        let pids = self.plan.watch_pids.clone();
        let load = self.plan.load();
        let endpoint = load.map(|load| load.target.endpoint.clone());
        let mut watch = self.bench.describe(endpoint.as_ref(), &pids)?;
        if pids.is_empty()
            && self.plan.variants.iter().any(|variant| matches!(variant.action, Action::Target(_)))
        {
            for variant in &self.plan.variants {
                let Action::Target(target) = &variant.action else { continue };
                let found = self.bench.describe(Some(&target.endpoint), &[])?;
                self.targets.push(found.clone());
                watch.extend(found);
            }
            watch.sort_by_key(|process| process.pid);
            watch.dedup();
        }
        let threads = load.map_or(1, |load| load.threads);
        self.bench.watch(watch, self.plan.sampling_hz, endpoint, threads)
    }

    /// Draws the conclusion, keeps the change if it is to be kept, and writes it down.
    fn conclude(&mut self, order: &TryOrder<'_>, done: &Done) -> Result<TryConclusion, RunError> {
        let around = Around {
            changes: self.arms.changes(),
            is_kept: false,
            calibration: order.calibration.clone(),
            elapsed_ns: self.bench.journal.elapsed_ns(),
        };
        let mut conclusion = conclude(self.plan, &done.settled, &done.course, around);
        let proof = conclusion.stages.iter().find(|stage| stage.stage.kind == StageKind::Proof);
        if let Some(proof) = proof.filter(|_| self.plan.keeps_better && conclusion.is_proven) {
            self.arms.keep(&mut self.bench, proof.stage.b)?;
            conclusion.is_kept = true;
        }
        self.bench.journal.keep_conclusion(&conclusion)?;
        Ok(conclusion)
    }

    /// Whether trials send a load with settled phases.
    fn has_load(&self) -> bool {
        matches!(self.plan.workload, TryWorkload::Load(_))
    }
}

/// How far the wall clock has moved against the monotonic one since an earlier pair. Unit: nanoseconds.
fn clock_step_ns(since: &sysdyno_record::manifest::ClockPair) -> i64 {
    let now = clock::pair();
    let expected = i128::from(since.unix_ns.0) + i128::from(now.mono_ns.0) - i128::from(since.mono_ns.0);
    i64::try_from(i128::from(now.unix_ns.0) - expected).unwrap_or(i64::MAX)
}
