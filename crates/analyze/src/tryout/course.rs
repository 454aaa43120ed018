//! The course of a tryout: chooses the next trial from the trials before it.
//!
//! It has no state besides the plan and the trials, so a recorded tryout can be replayed to the same end.

use super::effect::{effect_of, verdict_of};
use super::pairs::{DROPPED_MAX, pair_of, too_many_dropped};
use super::sentence;
use super::stages::{Finished, caps, effect_ratio, next_stage};
use super::standing::Standing;
use rand::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use sysdyno_record::tryout::{Pair, Settled, Stage, StageKind, StopCause, TrialArm, TryPlan, TryTrial};
use sysdyno_record::units::SpanNs;
use sysdyno_stats::schedule::{Arm, super_blocks};
use sysdyno_stats::signed_rank::{hodges_lehmann, hodges_lehmann_point};
use sysdyno_stats::verdict::{Comparison, StopReason, stop_reason};

/// Trials of a block.
const BLOCK_TRIALS: usize = 4;

/// Pairs without a number after which a comparison is given up.
const VALUELESS_MAX: usize = 4;

/// A trial to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextTrial {
    /// Its number, from 1.
    pub trial: u32,
    /// The comparison.
    pub stage: Stage,
    /// Whether it is the first of its comparison.
    pub is_new_stage: bool,
    /// Number of its pair in the comparison, from 1.
    pub pair: u32,
    /// Which of the two.
    pub arm: TrialArm,
    /// Its variant, as an index into the plan's.
    pub variant: u32,
    /// Seed of its load: the same for both of a pair.
    pub seed: u64,
}

/// A tryout that is going on, or one that is followed again.
#[derive(Clone, Debug)]
pub struct Course {
    plan: TryPlan,
    trial_span: SpanNs,
    stages: Vec<Stage>,
    stops: Vec<StopCause>,
    trials: Vec<TryTrial>,
    pairs: Vec<Pair>,
}

impl Course {
    /// A course that has not begun.
    pub fn new(plan: &TryPlan, settled: &Settled) -> Course {
        Course {
            plan: plan.clone(),
            trial_span: settled.trial,
            stages: Vec::new(),
            stops: Vec::new(),
            trials: Vec::new(),
            pairs: Vec::new(),
        }
    }

    /// The trial to run next, when so much time has passed since the tryout began; `None`: it is over.
    pub fn next(&mut self, elapsed: SpanNs) -> Option<NextTrial> {
        if self.is_between_blocks() {
            self.settle_stop(elapsed);
        }
        if self.stops.len() == self.stages.len() {
            let is_out_of_time = self.stops.last().is_some_and(|stop| *stop == StopCause::Budget);
            let stage = next_stage(&self.plan, &self.finished()).filter(|_| !is_out_of_time)?;
            self.stages.push(stage);
            // A comparison that there is no time for has ended before it began.
            self.settle_stop(elapsed);
            if self.stops.len() == self.stages.len() {
                return None;
            }
        }
        self.trial_of_block()
    }

    fn trial_of_block(&self) -> Option<NextTrial> {
        let stage = *self.stages.last()?;
        let index = self.trials_of(stage.stage).count();
        let seed = stage_seed(self.plan.seed, stage.stage);
        let block = super_blocks(seed, index / BLOCK_TRIALS + 1).pop()?;
        let (arm, variant) = match block[index % BLOCK_TRIALS] {
            Arm::A => (TrialArm::A, stage.a),
            Arm::B => (TrialArm::B, stage.b),
        };
        let pair = (index / 2) as u32 + 1;
        let seed = SplitMix64::seed_from_u64(seed.rotate_left(32) ^ u64::from(pair)).next_u64() >> 16;
        Some(NextTrial {
            trial: self.trials.len() as u32 + 1,
            stage,
            is_new_stage: index == 0,
            pair,
            arm,
            variant,
            seed,
        })
    }

    /// Takes in a trial; the pair that it completes, if it does.
    pub fn record(&mut self, trial: TryTrial) -> Option<Pair> {
        if self.stages.last().is_none_or(|stage| stage.stage != trial.stage) {
            return None;
        }
        let partner = self
            .trials
            .last()
            .filter(|first| first.stage == trial.stage && first.pair == trial.pair && first.arm != trial.arm);
        let pair = partner.map(|first| pair_of(self.plan.metric, &self.plan.limits, [first, &trial]));
        self.trials.push(trial);
        self.pairs.extend(pair.clone());
        pair
    }

    /// Ends what goes on: nobody waits for it any more.
    pub fn interrupt(&mut self) {
        if self.stops.len() < self.stages.len() {
            self.stops.push(StopCause::Interrupted);
        }
    }

    /// The trials so far.
    pub fn trials(&self) -> &[TryTrial] {
        &self.trials
    }

    /// The pairs so far, in the order of time.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The comparisons so far, each with why it ended; `None`: it goes on, or was cut off.
    pub fn stages(&self) -> impl Iterator<Item = (Stage, Option<StopCause>)> {
        let stops = self.stops.iter().copied().map(Some).chain(std::iter::repeat(None));
        self.stages.iter().copied().zip(stops)
    }

    /// How the present comparison stands; `None`: none has begun.
    pub fn standing(&self) -> Option<Standing> {
        let stage = *self.stages.last()?;
        let improvements = self.improvements(stage.stage);
        let mut standing = Standing {
            stage,
            counted: improvements.len() as u32,
            dropped: self.pairs_of(stage.stage).filter(|pair| pair.dropped.is_some()).count() as u32,
            caps: caps(&self.plan, stage.kind),
            improvement: hodges_lehmann(&improvements, super::effect::LEVEL),
            effect: effect_of(self.plan.metric, &improvements),
            line: String::new(),
        };
        standing.line = sentence::standing(&self.plan, &standing, standing.effect.as_ref());
        Some(standing)
    }

    /// Improvements of the pairs that count.
    pub(crate) fn improvements(&self, stage: u32) -> Vec<f64> {
        self.counted(stage).filter_map(|pair| pair.improvement).collect()
    }

    /// Pairs that count, numbers or not.
    pub(super) fn counted(&self, stage: u32) -> impl Iterator<Item = &Pair> {
        self.pairs_of(stage).filter(|pair| pair.dropped.is_none())
    }

    pub(crate) fn pairs_of(&self, stage: u32) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(move |pair| pair.stage == stage)
    }

    fn trials_of(&self, stage: u32) -> impl Iterator<Item = &TryTrial> {
        self.trials.iter().filter(move |trial| trial.stage == stage)
    }

    fn is_between_blocks(&self) -> bool {
        let of_stage = |stage: &Stage| self.trials_of(stage.stage).count().is_multiple_of(BLOCK_TRIALS);
        self.stops.len() < self.stages.len() && self.stages.last().is_some_and(of_stage)
    }

    /// Ends the present comparison if there is a reason to.
    fn settle_stop(&mut self, elapsed: SpanNs) {
        let Some(stage) = self.stages.last().copied().filter(|_| self.stops.len() < self.stages.len()) else {
            return;
        };
        let stop = self.stop(stage).or_else(|| {
            let block_ns = self.trial_span.0.saturating_mul(BLOCK_TRIALS as u64);
            (elapsed.0.saturating_add(block_ns) > self.plan.budget.0).then_some(StopCause::Budget)
        });
        self.stops.extend(stop);
    }

    fn stop(&self, stage: Stage) -> Option<StopCause> {
        let caps = caps(&self.plan, stage.kind);
        let pairs: Vec<&Pair> = self.pairs_of(stage.stage).collect();
        let improvements = self.improvements(stage.stage);
        let dropped = pairs.iter().filter(|pair| pair.dropped.is_some()).count();
        if pairs.len() - dropped - improvements.len() >= VALUELESS_MAX {
            return Some(StopCause::NoValue);
        }
        if dropped as f64 > DROPPED_MAX * f64::from(caps.max_count) {
            return Some(StopCause::Environment);
        }
        if improvements.len() >= caps.max_count as usize {
            return Some(StopCause::Pairs);
        }
        // Pairs that come instead of the dropped ones make their share small again.
        if improvements.len() < caps.min_count as usize || too_many_dropped(&pairs, &self.trials).is_some() {
            return None;
        }
        match stop_reason(&improvements, effect_ratio(&self.plan, stage))? {
            StopReason::Narrow => Some(StopCause::Narrow),
            // A squeeze is asked how much, not whether.
            StopReason::Decided if stage.kind == StageKind::Squeeze => None,
            StopReason::Decided => Some(StopCause::Decided),
        }
    }

    fn finished(&self) -> Vec<Finished> {
        let of_stage = |stage: &Stage| {
            let improvements = self.improvements(stage.stage);
            let effect_ratio = effect_ratio(&self.plan, *stage);
            let verdict = verdict_of(&improvements, effect_ratio, self.plan.pairs.min_count);
            let wide = hodges_lehmann(&improvements, super::effect::LEVEL);
            Finished {
                stage: *stage,
                improvement: hodges_lehmann_point(&improvements),
                is_better: verdict.word == Comparison::Better,
                is_clear: wide.is_some_and(|wide| !wide.contains(0.0)),
            }
        };
        self.stages.iter().map(of_stage).collect()
    }
}

/// The seed of a comparison's order; the first one's is the plan's.
fn stage_seed(seed: u64, stage: u32) -> u64 {
    seed.wrapping_add(u64::from(stage) - 1)
}
