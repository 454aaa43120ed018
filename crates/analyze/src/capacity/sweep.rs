//! Capacity of a closed-loop sweep: the greatest rate of valid completions over the numbers of connections.

use super::blank;
use crate::format::{counted, percent};
use crate::outcome::{Judgement, TrialOutcome};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::{Capacity, EndedBy};
use sysdyno_record::load::TrialPurpose;
use sysdyno_record::plan::RunPlan;
use sysdyno_stats::descriptive::{mean, standard_deviation};
use sysdyno_stats::distribution::student_t_quantile;

/// A rate that grows by less than this with more connections has stopped growing.
pub const STILL_GROWING: Threshold = Threshold::new(
    "growth of the rate from the second largest number of connections to the largest",
    0.03,
    "ratio",
    HOUSE,
);

/// Mean rates by number of connections.
struct Level {
    connections: u32,
    rates: Vec<f64>,
}

impl Level {
    fn mean_hz(&self) -> f64 {
        mean(&self.rates).unwrap_or(0.0)
    }
}

pub(super) fn estimate(outcomes: &[TrialOutcome], plan: &RunPlan) -> Capacity {
    let sweep: Vec<&TrialOutcome> =
        outcomes.iter().filter(|outcome| outcome.purpose == TrialPurpose::Sweep).collect();
    let definition = format!(
        "highest rate of valid completions in a closed loop, with failures at most {}",
        percent(plan.objective.max_error_ratio)
    );
    let levels = levels(&sweep);
    let best =
        levels.iter().max_by(|a, b| a.mean_hz().total_cmp(&b.mean_hz())).filter(|best| best.mean_hz() > 0.0);
    let Some(best) = best else {
        let has_fail = sweep.iter().any(|outcome| matches!(outcome.judgement, Judgement::Fail(_)));
        let ended_by = if has_fail { EndedBy::NothingCarried } else { EndedBy::Interrupted };
        return blank(
            plan,
            ended_by,
            format!("{definition}; none of {} met it", counted(sweep.len() as f64, "trial")),
        );
    };
    let ended_by = ended_by(&sweep, &levels, best);
    let method = format!(
        "{definition}; {}, the best of {} levels",
        counted(f64::from(best.connections), "connection"),
        levels.len()
    );
    let is_lower_bound = matches!(ended_by, EndedBy::Generator | EndedBy::Ceiling | EndedBy::Interrupted);
    let half = half_width(&best.rates);
    let ends = half.map(|half| (best.mean_hz() * (-half).exp(), best.mean_hz() * half.exp()));
    Capacity {
        rate_hz: Some(best.mean_hz()),
        low_hz: ends.map(|(low, _)| low),
        high_hz: ends.map(|(_, high)| high).filter(|_| !is_lower_bound),
        is_lower_bound,
        ..blank(plan, ended_by, method)
    }
}

fn levels(sweep: &[&TrialOutcome]) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    // A closed-loop rate that the generator limited was still carried.
    let carried =
        |outcome: &&&TrialOutcome| matches!(outcome.judgement, Judgement::Pass | Judgement::GeneratorLimited);
    for outcome in sweep.iter().filter(carried) {
        match levels.iter_mut().find(|level| level.connections == outcome.connections) {
            Some(level) => level.rates.push(outcome.goodput_hz),
            None => levels.push(Level { connections: outcome.connections, rates: vec![outcome.goodput_hz] }),
        }
    }
    levels.sort_by_key(|level| level.connections);
    levels
}

fn ended_by(sweep: &[&TrialOutcome], levels: &[Level], best: &Level) -> EndedBy {
    let is_limited = |outcome: &&TrialOutcome| outcome.judgement == Judgement::GeneratorLimited;
    if sweep.iter().any(is_limited) {
        return EndedBy::Generator;
    }
    let has_fail_above = sweep.iter().any(|outcome| {
        matches!(outcome.judgement, Judgement::Fail(_)) && outcome.connections > best.connections
    });
    let is_last = levels.last().is_some_and(|last| last.connections == best.connections);
    let before = levels.len().checked_sub(2).map(|index| levels[index].mean_hz());
    let is_growing = before.is_none_or(|before| best.mean_hz() > before * (1.0 + STILL_GROWING.value));
    match (has_fail_above, is_last && is_growing) {
        (true, true) => EndedBy::Errors,
        (false, true) => EndedBy::Ceiling,
        (_, false) => EndedBy::Saturation,
    }
}

/// Half width of the 95 % interval of ln rate over repeated trials; `None` for a single one.
fn half_width(rates: &[f64]) -> Option<f64> {
    let logarithms: Vec<f64> = rates.iter().filter(|rate| **rate > 0.0).map(|rate| rate.ln()).collect();
    let count = logarithms.len() as f64;
    let scatter = standard_deviation(&logarithms).filter(|_| count >= 2.0)?;
    Some(student_t_quantile(0.975, count - 1.0) * scatter / count.sqrt()).filter(|half| half.is_finite())
}
