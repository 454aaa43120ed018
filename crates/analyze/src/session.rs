//! Checks a load of users against the rules of their session: limits, mix, cycle times, errors.
//!
//! The rules are those of the Faban framework (`Metrics.printSummary`), with two of its gaps closed: there is a rule on
//! errors, and an operation that is rare may not be left out, as it could be where only the absolute distance of shares
//! counts. What the numbers cannot decide has not passed.

use crate::format::{counted, duration, percent};
use crate::readings::ratio;
use crate::view::TrialView;
use sysdyno_record::session::{
    OperationLimit, Pace, RuleOutcome, SessionOperation, SessionOperationResult, SessionOperationSummary,
    SessionPlan, SessionResult,
};

/// Steps of the power iteration; the distance to the stationary mix shrinks with each.
const ITERATIONS_COUNT: usize = 10_000;

/// Standard deviations of a Poisson count by which an operation may be rarer than its share.
const RARE_SIGMAS: f64 = 5.0;

/// What came of the users of a trial; `None` if it had none.
pub(crate) fn result_of(view: &TrialView) -> Option<SessionResult> {
    let plan = view.plan().workload.session.as_deref()?;
    let summaries = &view.end.summary.session;
    if summaries.is_empty() || summaries.len() != plan.operations.len() {
        return None;
    }
    let started: f64 = summaries.iter().map(|summary| summary.started_count as f64).sum();
    let targets = stationary_mix(&plan.operations, plan.first as usize);
    let operations: Vec<SessionOperationResult> = summaries
        .iter()
        .zip(&plan.operations)
        .zip(targets)
        .map(|((summary, operation), target)| SessionOperationResult {
            measured: summary.clone(),
            mix_ratio: ratio(summary.started_count as f64, started),
            mix_target_ratio: target,
            limit: operation.limit,
        })
        .collect();
    let rate_hz = summaries.iter().map(|summary| summary.rate_hz).filter(|rate| rate.is_finite()).sum();
    let rules = judge(plan, &operations, started, rate_hz);
    Some(SessionResult {
        name: plan.name.clone(),
        users: plan.users,
        rate_hz,
        planned_hz: planned_hz(plan),
        passed: rules.iter().all(|rule| rule.passed),
        operations,
        rules,
    })
}

/// The shares of all operations in the long run: the vector that the matrix leaves as it is.
///
/// Power iteration with half steps, which also ends where the walk is periodic.
pub(crate) fn stationary_mix(operations: &[SessionOperation], first: usize) -> Vec<f64> {
    let count = operations.len();
    let mut mix = vec![0.0; count];
    if let Some(share) = mix.get_mut(first) {
        *share = 1.0;
    }
    for _ in 0..ITERATIONS_COUNT {
        let mut next: Vec<f64> = mix.iter().map(|share| share / 2.0).collect();
        for (share, operation) in mix.iter().zip(operations) {
            let sum: f64 = operation.next.iter().sum();
            for (target, weight) in next.iter_mut().zip(&operation.next) {
                *target += share / 2.0 * ratio(*weight, sum).unwrap_or(0.0);
            }
        }
        let moved: f64 = next.iter().zip(&mix).map(|(a, b)| (a - b).abs()).sum();
        mix = next;
        if moved < 1e-12 {
            break;
        }
    }
    mix
}

/// Users ÷ the mean of their cycle times, each as frequent as its operation; `None`: there are think times, or users who leave.
fn planned_hz(plan: &SessionPlan) -> Option<f64> {
    let mix = stationary_mix(&plan.operations, plan.first as usize);
    let cycles = mix.iter().zip(&plan.operations).map(|(share, operation)| match &operation.pace {
        Pace::Cycle(distribution) => Some(share * distribution.mean_ns()),
        Pace::Think(_) => None,
    });
    let mean_ns: f64 = cycles.sum::<Option<f64>>()?;
    ratio(f64::from(plan.users) * 1e9, mean_ns).filter(|rate_hz| *rate_hz > 0.0)
}

fn judge(
    plan: &SessionPlan,
    operations: &[SessionOperationResult],
    started: f64,
    rate_hz: f64,
) -> Vec<RuleOutcome> {
    let mut rules = Vec::new();
    for operation in operations {
        rules.extend(operation.limit.map(|limit| judge_limit(&operation.measured, limit)));
    }
    for operation in operations {
        rules.push(judge_mix(operation, plan.rules.mix_deviation));
        rules.push(judge_rarity(operation, started));
    }
    for operation in operations {
        rules.extend(judge_cycle(&operation.measured, plan.rules.cycle_deviation));
    }
    rules.push(judge_errors(operations, plan.rules.max_error_ratio));
    if let Some(most) = plan.rules.max_users_per_rate {
        let users = ratio(f64::from(plan.users), rate_hz);
        rules.push(RuleOutcome {
            rule: "users_per_rate".into(),
            operation: None,
            passed: users.is_some_and(|users| users <= most),
            sentence: match users {
                Some(users) => format!("{users:.2} users per operation/s (at most {most})"),
                None => "no operation was completed".into(),
            },
        });
    }
    rules
}

fn rule(name: &str, operation: &SessionOperationSummary, passed: bool, sentence: String) -> RuleOutcome {
    let sentence = format!("{}: {sentence}", operation.name);
    RuleOutcome { rule: name.into(), operation: Some(operation.name.clone()), passed, sentence }
}

fn judge_limit(operation: &SessionOperationSummary, limit: OperationLimit) -> RuleOutcome {
    let latency = &operation.latency;
    let name = format!("p{}", limit.percentile_ratio * 100.0);
    let most = duration(limit.limit.0 as f64);
    // With too few samples for the percentile, the greatest one decides if it is within the limit.
    let (known, is_max) = match latency.percentile(limit.percentile_ratio) {
        Some(value) => (Some(value), false),
        None => (latency.max, true),
    };
    let Some(value_ns) = known.filter(|_| latency.count > 0) else {
        return rule("limit", operation, false, "it was never completed".into());
    };
    let passed = value_ns <= limit.limit.0;
    let found = duration(value_ns as f64);
    let sentence = match (is_max, passed) {
        (false, true) => format!("{name} {found} (at most {most})"),
        (false, false) => format!("{name} {found}, over the limit of {most}"),
        (true, true) => format!("all within {found} (at most {most})"),
        (true, false) => {
            format!(
                "{name} unknown (only {}); the longest took {found}, over the limit of {most}",
                counted(latency.count as f64, "sample")
            )
        }
    };
    rule("limit", operation, passed, sentence)
}

fn judge_mix(operation: &SessionOperationResult, most: f64) -> RuleOutcome {
    let target = operation.mix_target_ratio;
    let found = operation.mix_ratio.unwrap_or(0.0);
    let passed = operation.mix_ratio.is_some() && (found - target).abs() <= most;
    let text = format!(
        "{} of all operations, {} planned (at most {:.1} points apart)",
        percent(found),
        percent(target),
        most * 100.0
    );
    rule("mix", &operation.measured, passed, text)
}

fn judge_rarity(operation: &SessionOperationResult, started: f64) -> RuleOutcome {
    let expected = operation.mix_target_ratio * started;
    let found = operation.measured.started_count as f64;
    let passed = (found - expected).abs() <= RARE_SIGMAS * expected.sqrt().max(1.0);
    rule(
        "mix_relative",
        &operation.measured,
        passed,
        format!("started {found:.0} times, {expected:.0} expected"),
    )
}

fn judge_cycle(operation: &SessionOperationSummary, most: f64) -> Option<RuleOutcome> {
    let (planned, actual) = operation.cycle_planned_ns.zip(operation.cycle_actual_ns)?;
    let deviation = ratio(actual - planned, planned)?;
    let text = format!(
        "mean cycle {}, {} planned ({:+.2}%, at most {:.0}%)",
        duration(actual),
        duration(planned),
        deviation * 100.0,
        most * 100.0
    );
    Some(rule("cycle", operation, deviation.abs() <= most, text))
}

fn judge_errors(operations: &[SessionOperationResult], most: f64) -> RuleOutcome {
    let sum = |count: fn(&SessionOperationSummary) -> u64| {
        operations.iter().map(|operation| count(&operation.measured) as f64).sum::<f64>()
    };
    let (failed, started) = (sum(|summary| summary.failed_count), sum(|summary| summary.started_count));
    let share = ratio(failed, started);
    RuleOutcome {
        rule: "errors".into(),
        operation: None,
        passed: share.is_some_and(|share| share <= most),
        sentence: format!("{failed:.0} of {started:.0} operations failed (at most {})", percent(most)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::load::LatencySummary;
    use sysdyno_record::session::Distribution;
    use sysdyno_record::units::SpanNs;

    fn operation(next: &[f64]) -> SessionOperation {
        SessionOperation {
            name: "x".into(),
            next: next.to_vec(),
            exit_ratio: 0.0,
            pace: Pace::Think(Distribution::Fixed(SpanNs::from_secs(1))),
            limit: None,
            objects: Vec::new(),
            begins_session: false,
            takes: Vec::new(),
        }
    }

    #[test]
    fn the_stationary_mix_is_what_the_matrix_leaves_as_it_is() {
        // A walk to and fro spends half its time at each end, though it never settles.
        assert_eq!(stationary_mix(&[operation(&[0.0, 5.0]), operation(&[1.0, 0.0])], 0), [0.5, 0.5]);
        let mix = stationary_mix(&[operation(&[50.0, 50.0]), operation(&[100.0, 0.0])], 0);
        assert!((mix[0] - 2.0 / 3.0).abs() < 1e-9, "{mix:?}");
        // What leads nowhere keeps all.
        let mix = stationary_mix(&[operation(&[0.0, 1.0]), operation(&[0.0, 1.0])], 0);
        assert!(mix[1] > 1.0 - 1e-9, "{mix:?}");
    }

    fn measured(count: u64, p90: Option<u64>, max: u64) -> SessionOperationSummary {
        SessionOperationSummary {
            name: "Home".into(),
            started_count: count,
            completed_count: count,
            failed_count: 0,
            unfinished_count: 0,
            rate_hz: 1.0,
            latency: LatencySummary { p90, max: Some(max), count, ..LatencySummary::default() },
            cycles_count: count,
            cycle_planned_ns: Some(5e9),
            cycle_actual_ns: Some(5.09e9),
        }
    }

    #[test]
    fn limits_are_judged_by_the_percentile_or_else_by_the_longest() {
        let limit = OperationLimit { percentile_ratio: 0.9, limit: SpanNs::from_secs(1) };
        let check = |count, p90, max, passed: bool, sentence: &str| {
            let outcome = judge_limit(&measured(count, p90, max), limit);
            assert_eq!((outcome.passed, outcome.sentence.as_str()), (passed, sentence));
        };
        check(200, Some(900_000_000), 7_000_000_000, true, "Home: p90 900 ms (at most 1.00 s)");
        check(200, Some(1_500_000_000), 7_000_000_000, false, "Home: p90 1.50 s, over the limit of 1.00 s");
        check(5, None, 900_000_000, true, "Home: all within 900 ms (at most 1.00 s)");
        check(
            5,
            None,
            1_900_000_000,
            false,
            "Home: p90 unknown (only 5 samples); the longest took 1.90 s, over the limit of 1.00 s",
        );
        check(0, None, 0, false, "Home: it was never completed");
    }

    #[test]
    fn mix_and_cycles_are_judged_and_a_rare_operation_cannot_be_left_out() {
        let result = |count: u64, share: f64, target: f64| SessionOperationResult {
            measured: measured(count, None, 0),
            mix_ratio: Some(share),
            mix_target_ratio: target,
            limit: None,
        };
        assert!(judge_mix(&result(300, 0.30, 0.31), 0.02).passed);
        assert!(!judge_mix(&result(300, 0.30, 0.33), 0.02).passed);
        // 0.84 % of 10,000 operations are 84; none at all is within two points of that.
        assert!(judge_mix(&result(0, 0.0, 0.0084), 0.02).passed);
        assert!(!judge_rarity(&result(0, 0.0, 0.0084), 10_000.0).passed);
        assert!(judge_rarity(&result(70, 0.007, 0.0084), 10_000.0).passed);
        assert!(judge_cycle(&measured(10, None, 0), 0.02).is_some_and(|rule| rule.passed));
        assert!(judge_cycle(&measured(10, None, 0), 0.01).is_some_and(|rule| !rule.passed));
    }
}
