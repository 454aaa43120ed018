//! Pilot and bracket: starts from no knowledge and finds a rate that passes and one that fails, within 10 % of each other
//! or as close as time allows.

use super::SearchStep;
use super::order::shuffled;
use crate::capacity::{Alone, alone, group_by_rate, is_same_rate};
use crate::outcome::{FailCause, Judgement, TrialOutcome};
use sysdyno_record::load::TrialPurpose;
use sysdyno_record::plan::RunPlan;
use sysdyno_stats::descriptive::median;

/// First rates, as multiples of the closed-loop rate.
const LADDER: [f64; 5] = [0.5, 0.7, 0.85, 1.0, 1.15];
/// First rates when the closed loop failed: is it overload, or does everything fail?
const FAILING_LADDER: [f64; 3] = [0.5, 0.1, 0.01];
/// A pilot with more failures than this says nothing about the rate of the service.
const PILOT_ERROR_RATIO_MAX: f64 = 0.5;
/// The bracket is narrow enough when fail ÷ pass is at most this.
const NARROW: f64 = 1.10;
/// The same above a pass that only the generator bounds.
const NARROW_LIMITED: f64 = 1.25;
/// Steps beyond the ladder.
const UP: f64 = 1.3;
const DOWN: f64 = 0.5;
/// A percentile within this of the limit, in logarithms, is repeated: two standard deviations of a usual trial.
const NEAR: f64 = 0.30;
/// Trials of a rate near the limit; the median decides.
const NEAR_TRIALS: usize = 3;
/// A percentile this many times the limit needs no higher rate to be tried in the ladder.
const GROSS: f64 = 4.0;
/// Repeats of disturbed trials at one rate.
const UNSOUND_REPEATS: usize = 2;
/// Most trials of the stage.
const TRIALS_MAX: usize = 30;
/// Trials of the stage when all goes well: the ladder, bisection, repeats.
pub(super) const EXPECTED_TRIALS: f64 = 9.0;
/// No rate below this is tried. Unit: requests per second.
const RATE_MIN_HZ: f64 = 0.5;
const LADDER_PART: u64 = 0x1add;

/// A pass, and what lies above it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bracket {
    pub(super) pass_hz: f64,
    /// The least failing rate above; `None` when the generator or the ceiling ended it.
    pub(super) fail_hz: Option<f64>,
}

/// Where the stage stands.
pub(super) enum BracketProgress {
    /// This trial is next.
    Step(SearchStep),
    /// It has ended without a pass.
    Nothing,
    /// It has ended.
    Found(Bracket),
}

/// What the trials at one rate say together.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RateResult {
    rate_hz: f64,
    judgement: Judgement,
    /// Trials that count, and how many of them passed.
    count: usize,
    passes: usize,
    /// All trials.
    tried: usize,
    /// |ln percentile − ln limit| of the median.
    distance: f64,
    is_gross: bool,
}

/// What comes next; in `haste` the first pass and fail are the bracket, however far they are apart.
pub(super) fn next(plan: &RunPlan, outcomes: &[TrialOutcome], is_in_haste: bool) -> BracketProgress {
    let pilots: Vec<&TrialOutcome> =
        outcomes.iter().filter(|outcome| outcome.purpose == TrialPurpose::Pilot).collect();
    let pilot = |connections: u32| {
        BracketProgress::Step(SearchStep { purpose: TrialPurpose::Pilot, connections, rate_hz: None })
    };
    let connections = plan.load.connections.max(1);
    match alone(plan, outcomes) {
        Alone::Open => return pilot(1),
        Alone::TooSlow(_) => return BracketProgress::Nothing,
        Alone::Possible => {}
    }
    if !pilots.iter().any(|outcome| outcome.connections == connections) {
        return pilot(connections);
    }
    let best = pilots.iter().max_by(|a, b| a.achieved_hz.total_cmp(&b.achieved_hz));
    let Some(best) = best.filter(|best| best.achieved_hz > 0.0) else { return BracketProgress::Nothing };
    let trials: Vec<&TrialOutcome> =
        outcomes.iter().filter(|outcome| outcome.purpose == TrialPurpose::Bracket).collect();
    let results = results(&trials, plan.objective.limit.0 as f64);
    let is_found = edges(&results).pass.is_some_and(|pass| found(&results, pass).fail_hz.is_some());
    let is_over = trials.len() >= TRIALS_MAX || is_in_haste && is_found;
    let rate = if is_over { None } else { next_rate(plan, best, &results) };
    match rate {
        Some(rate_hz) => BracketProgress::Step(SearchStep {
            purpose: TrialPurpose::Bracket,
            connections,
            rate_hz: Some(rate_hz),
        }),
        None => edges(&results)
            .pass
            .map_or(BracketProgress::Nothing, |pass| BracketProgress::Found(found(&results, pass))),
    }
}

fn found(results: &[RateResult], pass: RateResult) -> Bracket {
    let fail = edges(results).fail.filter(|fail| matches!(fail.judgement, Judgement::Fail(_)));
    Bracket { pass_hz: pass.rate_hz, fail_hz: fail.map(|fail| fail.rate_hz) }
}

/// The rate to try next; `None` when the bracket is as good as it gets.
fn next_rate(plan: &RunPlan, pilot: &TrialOutcome, results: &[RateResult]) -> Option<f64> {
    if let Some(disturbed) =
        results.iter().find(|result| result.count == 0 && result.tried <= UNSOUND_REPEATS)
    {
        return Some(disturbed.rate_hz);
    }
    let ceiling = plan.search.max_rate_hz.unwrap_or(f64::INFINITY);
    ladder_rate(plan, pilot, results, ceiling).or_else(|| repeat_rate(results)).or_else(|| {
        let edges = edges(results);
        match (edges.pass, edges.fail) {
            (None, Some(fail)) => lower_rate(fail, results, pilot),
            (None, None) => None,
            (Some(pass), None) => (pass.rate_hz < ceiling).then(|| (pass.rate_hz * UP).min(ceiling)),
            (Some(pass), Some(fail)) => {
                let is_limited = fail.judgement == Judgement::GeneratorLimited;
                let narrow = if is_limited { NARROW_LIMITED } else { NARROW };
                let is_wide = fail.rate_hz / pass.rate_hz > narrow;
                // A lone fail must not close the bracket: it may have been hit by something.
                let is_lone = !is_limited && (fail.count < 2 || (fail.count == 2 && fail.passes == 1));
                if is_wide {
                    Some((pass.rate_hz * fail.rate_hz).sqrt())
                } else {
                    is_lone.then_some(fail.rate_hz)
                }
            }
        }
    })
}

/// The next rate of the ladder that has not been tried, leaving out those that lie above a gross fail.
fn ladder_rate(plan: &RunPlan, pilot: &TrialOutcome, results: &[RateResult], ceiling: f64) -> Option<f64> {
    let is_failing = pilot.error_ratio > PILOT_ERROR_RATIO_MAX;
    let multiples = if is_failing { FAILING_LADDER.to_vec() } else { LADDER.to_vec() };
    let rates =
        multiples.into_iter().map(|multiple| (multiple * pilot.achieved_hz).max(RATE_MIN_HZ).min(ceiling));
    let rates = if is_failing { rates.collect() } else { shuffled(rates.collect(), plan.seed, LADDER_PART) };
    let gross =
        results.iter().filter(|result| result.is_gross).map(|result| result.rate_hz).min_by(f64::total_cmp);
    let has_pass = results.iter().any(|result| result.judgement == Judgement::Pass);
    rates.into_iter().find(|rate| {
        let is_tried = results.iter().any(|result| is_same_rate(result.rate_hz, *rate));
        let is_hopeless = gross.is_some_and(|gross| *rate > gross) || (is_failing && has_pass);
        !is_tried && !is_hopeless
    })
}

/// An edge of the bracket that lies near the limit and was tried too few times.
fn repeat_rate(results: &[RateResult]) -> Option<f64> {
    let edges = edges(results);
    let is_doubtful = |result: &RateResult| {
        let is_out_of_order = edges.is_out_of_order(result);
        let is_of_server = matches!(result.judgement, Judgement::Pass | Judgement::Fail(_));
        is_of_server && result.count < NEAR_TRIALS && (result.distance < NEAR || is_out_of_order)
    };
    let untidy = results.iter().filter(|result| edges.is_out_of_order(result));
    let candidates = edges.pass.iter().chain(edges.fail.iter()).chain(untidy);
    candidates.into_iter().find(|result| is_doubtful(result)).map(|result| result.rate_hz)
}

/// A lower rate when nothing has passed yet; `None` when it is clear that nothing will.
fn lower_rate(fail: RateResult, results: &[RateResult], pilot: &TrialOutcome) -> Option<f64> {
    let all_errors = results.iter().all(|result| result.judgement == Judgement::Fail(FailCause::Errors));
    let is_clear = all_errors && fail.rate_hz <= 0.1 * pilot.achieved_hz;
    let rate = fail.rate_hz * DOWN;
    (!is_clear && rate >= RATE_MIN_HZ && fail.rate_hz >= 0.001 * pilot.achieved_hz).then_some(rate)
}

/// The greatest pass and the least fail above it.
struct Edges {
    pass: Option<RateResult>,
    fail: Option<RateResult>,
    /// The least rate that failed, and the greatest that passed, wherever they lie.
    least_fail_hz: f64,
    greatest_pass_hz: f64,
}

impl Edges {
    /// A fail below a pass, or a pass above a fail: one of them is wrong.
    fn is_out_of_order(&self, result: &RateResult) -> bool {
        match result.judgement {
            Judgement::Pass => result.rate_hz > self.least_fail_hz,
            Judgement::Fail(_) => result.rate_hz < self.greatest_pass_hz,
            Judgement::GeneratorLimited | Judgement::Unsound => false,
        }
    }
}

/// The least fail counts, and the greatest pass below it; a pass above it was luck.
fn edges(results: &[RateResult]) -> Edges {
    let is_pass = |result: &&RateResult| result.judgement == Judgement::Pass;
    let is_end =
        |result: &&RateResult| matches!(result.judgement, Judgement::Fail(_) | Judgement::GeneratorLimited);
    let greatest_pass_hz = results.iter().filter(is_pass).map(|result| result.rate_hz).fold(0.0, f64::max);
    let is_fail = |result: &&RateResult| matches!(result.judgement, Judgement::Fail(_));
    let least_fail_hz =
        results.iter().filter(is_fail).map(|result| result.rate_hz).fold(f64::INFINITY, f64::min);
    // One fail far below several passes is a disturbed trial: after its repeats it is left out.
    let settled = |result: &&RateResult| result.count >= NEAR_TRIALS || result.rate_hz > greatest_pass_hz;
    let firm = results.iter().filter(is_end).filter(|result| settled(result) || !is_fail(result));
    let fail = firm.min_by(|a, b| a.rate_hz.total_cmp(&b.rate_hz)).copied();
    let below = |result: &&RateResult| fail.is_none_or(|fail| result.rate_hz < fail.rate_hz);
    let pass =
        results.iter().filter(is_pass).filter(below).max_by(|a, b| a.rate_hz.total_cmp(&b.rate_hz)).copied();
    Edges { pass, fail, least_fail_hz, greatest_pass_hz }
}

fn results(trials: &[&TrialOutcome], limit_ns: f64) -> Vec<RateResult> {
    group_by_rate(trials).iter().map(|group| result(group.rate_hz, &group.outcomes, limit_ns)).collect()
}

/// The judgement of most trials at a rate; of equals, the worse one.
fn result(rate_hz: f64, outcomes: &[&TrialOutcome], limit_ns: f64) -> RateResult {
    let sound: Vec<&&TrialOutcome> = outcomes.iter().filter(|outcome| outcome.is_sound()).collect();
    let passes = sound.iter().filter(|outcome| outcome.judgement == Judgement::Pass).count();
    let limited = outcomes.iter().filter(|outcome| outcome.judgement == Judgement::GeneratorLimited).count();
    let fail = sound.iter().map(|outcome| outcome.judgement).find(|judgement| *judgement != Judgement::Pass);
    let judgement = match fail {
        _ if sound.is_empty() && limited == 0 => Judgement::Unsound,
        _ if limited > sound.len() => Judgement::GeneratorLimited,
        Some(fail) if 2 * passes <= sound.len() => fail,
        _ if sound.is_empty() => Judgement::GeneratorLimited,
        _ => Judgement::Pass,
    };
    let logarithms: Vec<f64> =
        sound.iter().filter_map(|outcome| outcome.percentile_ns).map(f64::ln).collect();
    let excess = median(&logarithms).map(|middle| middle - limit_ns.max(1.0).ln());
    let is_failed = matches!(judgement, Judgement::Fail(_) | Judgement::GeneratorLimited);
    RateResult {
        rate_hz,
        judgement,
        count: sound.len() + limited,
        passes,
        tried: outcomes.len(),
        distance: excess.map_or(f64::INFINITY, f64::abs),
        is_gross: is_failed && excess.is_some_and(|excess| excess >= GROSS.ln()),
    }
}
