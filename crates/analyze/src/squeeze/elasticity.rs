//! The elasticity of one resource at one depth, and the proof that its squeeze bit.

use crate::tryout::{Course, effect_of};
use sysdyno_record::squeeze::{BiteCounter, Contrast, Elasticity, SqueezeBite, SqueezeRow};
use sysdyno_record::tryout::{Pair, Stage, StopCause, TrialArm, TryPlan};
use sysdyno_stats::estimate::Estimate;
use sysdyno_stats::signed_rank::hodges_lehmann;

/// Confidence of the intervals.
pub(super) const LEVEL: f64 = 0.95;

/// So much of the CPU time that should have been burnt must have been. House value.
const BURNT_MIN: f64 = 0.7;

/// So many of the requests that should not have been on their way must not have been. House value.
const FEWER_MIN: f64 = 0.5;

/// A disk that did less of what was left to it was not held back by that. Unit: ratio. House value.
const DISK_USED_MIN: f64 = 0.7;

/// Less CPU time than this in all trials of a squeeze proves nothing. Unit: seconds. House value.
const BURNT_LEAST_SECONDS: f64 = 0.001;

/// The comparison as it was made; `None`: it was not.
pub(super) fn elasticity(plan: &TryPlan, course: &Course, contrast: &Contrast) -> Option<Elasticity> {
    let (stage, stop) = course.stages().find(|(stage, _)| (stage.a, stage.b) == (contrast.a, contrast.b))?;
    let improvements = course.improvements(stage.stage);
    let by = (1.0 - contrast.depth_ratio).ln();
    let found = hodges_lehmann(&improvements, LEVEL).filter(|_| by < 0.0);
    let found = found.map(|found| divided(found, by));
    let bites = bites(course, stage);
    let void = void(course, (stage, stop), &bites, contrast.depth_ratio);
    Some(Elasticity {
        depth_ratio: contrast.depth_ratio,
        point: found.map(|found| found.point),
        interval: found.map(|found| [found.low, found.high]),
        effect: effect_of(plan.metric, &improvements),
        counted: improvements.len() as u32,
        dropped: course.pairs_of(stage.stage).filter(|pair| pair.dropped.is_some()).count() as u32,
        stop,
        bites,
        void,
    })
}

/// An estimate divided by a negative number, which turns it round.
fn divided(estimate: Estimate, by: f64) -> Estimate {
    Estimate { point: estimate.point / by, low: estimate.high / by, high: estimate.low / by, ..estimate }
}

/// How far counters moved in the trials of B, summed up.
fn bites(course: &Course, stage: Stage) -> Vec<SqueezeBite> {
    let trials =
        course.trials().iter().filter(|trial| trial.stage == stage.stage && trial.arm == TrialArm::B);
    let mut sums: Vec<SqueezeBite> = Vec::new();
    for bite in trials.flat_map(|trial| &trial.bites) {
        match sums.iter_mut().find(|sum| sum.counter == bite.counter) {
            Some(sum) => (sum.moved, sum.of) = (sum.moved + bite.moved, sum.of + bite.of),
            None => sums.push(*bite),
        }
    }
    sums
}

fn void(
    course: &Course,
    (stage, stop): (Stage, Option<StopCause>),
    bites: &[SqueezeBite],
    depth: f64,
) -> Option<String> {
    if stop == Some(StopCause::NoValue) {
        return Some("no trial produced a number to compare".into());
    }
    if stop == Some(StopCause::Environment) {
        let pairs: Vec<&Pair> = course.pairs_of(stage.stage).collect();
        let reason = pairs.iter().find_map(|pair| pair.dropped.as_deref()).unwrap_or("outside interference");
        return Some(format!("too many pairs were discarded, for example: {reason}"));
    }
    if depth <= 0.0 { None } else { no_bite(bites) }
}

/// Whether there was nothing that could have been taken away.
pub(super) fn is_idle(elasticity: &Elasticity) -> bool {
    let is_least = |bite: &SqueezeBite| match bite.counter {
        BiteCounter::BurntCpu => bite.of < BURNT_LEAST_SECONDS,
        BiteCounter::HeldBack => bite.moved <= 0.0,
        BiteCounter::DiskUsed => bite.moved < DISK_USED_MIN * bite.of,
        BiteCounter::ThrottledPeriods | BiteCounter::FewerInFlight => false,
    };
    elasticity.bites.iter().any(is_least)
}

/// Why nothing shows that a squeeze bit; `None`: something does.
fn no_bite(bites: &[SqueezeBite]) -> Option<String> {
    let of = |counter: BiteCounter| bites.iter().find(|bite| bite.counter == counter);
    let is_throttled = of(BiteCounter::ThrottledPeriods).is_some_and(|bite| bite.moved > 0.0);
    if let Some(fewer) = of(BiteCounter::FewerInFlight) {
        let share = fewer.moved / fewer.of;
        return (share < FEWER_MIN).then(|| {
            format!(
                "the squeeze did not bite: {:.0}% of the requests that should have been missing",
                100.0 * share
            )
        });
    }
    if let Some(held) = of(BiteCounter::HeldBack) {
        return (held.moved <= 0.0).then(|| "no packet had to wait for what was left of its rate".into());
    }
    if let Some(disk) = of(BiteCounter::DiskUsed) {
        let used = disk.moved / disk.of;
        return (used < DISK_USED_MIN)
            .then(|| format!("it did only {:.0}% of what was left to it", 100.0 * used));
    }
    match of(BiteCounter::BurntCpu) {
        _ if is_throttled => None,
        None => Some("no counter shows that the squeeze bit".into()),
        Some(burnt) if burnt.of < BURNT_LEAST_SECONDS => {
            Some("it used no CPU that could have been taken away".into())
        }
        Some(burnt) if burnt.moved < BURNT_MIN * burnt.of => Some(format!(
            "the squeeze did not bite: {:.0}% of the CPU time that it should have taken",
            100.0 * burnt.moved / burnt.of
        )),
        Some(_) => None,
    }
}

/// The elasticity of a row that counts: of those with an interval the shallowest, which is nearest to the derivative.
pub(super) fn best(row: &SqueezeRow) -> Option<&Elasticity> {
    row.elasticities.iter().rfind(|elasticity| elasticity.void.is_none() && elasticity.interval.is_some())
}
