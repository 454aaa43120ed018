//! The pilot: it fixes the offered rate and the warm-up for all trials.
//!
//! Both are the same for every trial: an adaptive warm-up, or a rate that depends on the arm, would give the arms different
//! conditions. The rate is a share of what the *weaker* arm can take, so that neither is overloaded.

use sysdyno_record::tryout::{RatePlan, TryPlan};
use sysdyno_record::units::SpanNs;
use sysdyno_stats::steady::mser5;

/// Warm-up ÷ what the pilot needed to settle. House value.
const WARMUP_RESERVE: f64 = 1.25;
/// Shortest warm-up: connections are opened in it.
pub(super) const WARMUP_MIN: SpanNs = SpanNs::from_millis(500);
/// Warm-up after a pilot that had not settled when it ended.
const WARMUP_UNSETTLED: SpanNs = SpanNs::from_secs(5);

/// A pilot trial, in a closed loop.
#[derive(Clone, Debug, PartialEq)]
pub struct PilotTrial {
    /// What it completed well. Unit: requests per second.
    pub goodput_hz: f64,
    /// CPU use of the server, or completions, in equal steps of time from the first request on; empty: not known.
    pub progress: Vec<f64>,
    /// The step of time.
    pub step: SpanNs,
}

/// The offered rate of all trials; `None`: they are closed, or the pilot carried nothing.
pub fn settle_rate(plan: &TryPlan, pilots: &[PilotTrial]) -> Option<f64> {
    match plan.rate {
        RatePlan::Fixed(rate_hz) => Some(rate_hz),
        RatePlan::Closed | RatePlan::NotApplicable => None,
        RatePlan::ShareOfPilot(share) => {
            let least = pilots.iter().map(|pilot| pilot.goodput_hz).reduce(f64::min)?;
            Some((share * least).round()).filter(|rate_hz| *rate_hz >= 1.0)
        }
    }
}

/// The warm-up of all trials: a quarter more than the slowest pilot needed to settle.
pub fn settle_warmup(plan: &TryPlan, pilots: &[PilotTrial]) -> SpanNs {
    let settled = |pilot: &PilotTrial| match mser5(&pilot.progress) {
        Some(found) if found.is_boundary => WARMUP_UNSETTLED,
        Some(found) => SpanNs((found.cut as f64 * pilot.step.0 as f64 * WARMUP_RESERVE) as u64),
        None => WARMUP_MIN,
    };
    let longest = pilots.iter().map(settled).max().unwrap_or(WARMUP_MIN);
    plan.warmup.unwrap_or(longest.clamp(WARMUP_MIN, WARMUP_UNSETTLED))
}
