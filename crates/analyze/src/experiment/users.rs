//! Simulated users of the variants of an experiment: the scoreboard of each, and up to how many users every rule was met.

use crate::format::{counted, list, name, rate};
use crate::readings::ratio;
use std::cmp::Reverse;
use sysdyno_record::analysis::{Analysis, Verdict, VerdictStatus};
use sysdyno_record::comparison::{ExperimentShown, VariantShown};
use sysdyno_record::scoreboard::{Scoreboard, ScoreboardOperation};
use sysdyno_record::session::SessionResult;
use sysdyno_stats::descriptive::median;

/// Rules that are kept in words.
const BROKEN_MAX: usize = 40;

/// Simulated users of one run, and whether its numbers count.
#[derive(Clone, Copy)]
pub(super) struct UsersRun<'a> {
    session: &'a SessionResult,
    verdict: &'a Verdict,
}

impl<'a> UsersRun<'a> {
    /// The users of a run; `None`: it had none.
    pub(super) fn of(analysis: &'a Analysis) -> Option<UsersRun<'a>> {
        Some(UsersRun { session: analysis.session.as_ref()?, verdict: &analysis.verdict })
    }

    /// Whether every rule was met, by numbers that count.
    fn has_passed(&self) -> bool {
        self.session.passed && self.verdict.status != VerdictStatus::Invalid
    }

    /// What speaks against it, in sentences.
    fn broken(&self) -> impl Iterator<Item = String> + use<'a> {
        let is_invalid = self.verdict.status == VerdictStatus::Invalid;
        let reason = self.verdict.reasons.first().filter(|_| is_invalid);
        let reason = reason.map(|reason| format!("a run is INVALID: {}", reason.text));
        let rules = self.session.rules.iter().filter(|rule| !rule.passed);
        reason.into_iter().chain(rules.map(|rule| rule.sentence.clone()))
    }
}

/// The scoreboard of runs of the same users; `None`: there were none.
pub(super) fn scoreboard<'a>(all: impl Iterator<Item = UsersRun<'a>>) -> Option<Scoreboard> {
    let all: Vec<UsersRun> = all.collect();
    let runs: Vec<&SessionResult> = all.iter().map(|run| run.session).collect();
    let first = *runs.first()?;
    let failed = all.iter().find(|run| !run.has_passed());
    let broken = failed.iter().flat_map(|run| run.broken());
    let begun = runs.iter().flat_map(|run| &run.operations).map(|one| one.measured.started_count as f64);
    let begun: f64 = begun.sum();
    let operations = first.operations.iter().enumerate().map(|(place, _)| operation(&runs, place, begun));
    Some(Scoreboard {
        profile: first.name.clone(),
        users: first.users,
        planned_hz: first.planned_hz,
        rate_hz: median(&runs.iter().map(|run| run.rate_hz).collect::<Vec<f64>>())?,
        runs_count: runs.len() as u64,
        passed_count: all.iter().filter(|run| run.has_passed()).count() as u64,
        broken: broken.take(BROKEN_MAX).collect(),
        operations: operations.collect::<Option<_>>()?,
    })
}

/// The operation at this place of the profile; `None`: a run lacks it.
fn operation(runs: &[&SessionResult], place: usize, begun: f64) -> Option<ScoreboardOperation> {
    let all = runs.iter().map(|run| Some((run.operations.get(place)?, *run))).collect::<Option<Vec<_>>>()?;
    let started: f64 = all.iter().map(|(one, _)| one.measured.started_count as f64).sum();
    let each: Vec<ScoreboardOperation> =
        all.iter().map(|(one, session)| ScoreboardOperation::of(one, session)).collect();
    let middle = |of: fn(&ScoreboardOperation) -> Option<f64>| {
        median(&each.iter().filter_map(of).collect::<Vec<f64>>())
    };
    Some(ScoreboardOperation {
        completed_count: each.iter().map(|one| one.completed_count).sum(),
        failed_count: each.iter().map(|one| one.failed_count).sum(),
        mix_ratio: ratio(started, begun),
        mean_ns: middle(|one| one.mean_ns),
        percentile_ns: middle(|one| one.percentile_ns),
        max_ns: each.iter().filter_map(|one| one.max_ns).max_by(f64::total_cmp),
        passed: each.iter().all(|one| one.passed),
        ..each.first()?.clone()
    })
}

/// Variants that differ in the number of users only, from few to many.
struct Steps<'a> {
    /// The levels of the other factors, in words.
    name: String,
    boards: Vec<&'a Scoreboard>,
}

impl Steps<'_> {
    /// The last step before the first that failed; `None`: the first one failed.
    fn last_passed(&self) -> Option<&Scoreboard> {
        self.boards.iter().take_while(|board| board.has_passed()).last().copied()
    }

    /// Its other levels, or what stands for all variants.
    fn told(&self) -> String {
        if self.name.is_empty() { "the server".to_owned() } else { name(&self.name) }
    }
}

/// Up to how many users every rule was met; `None`: no factor is the number of users.
pub(super) fn headline(experiment: &ExperimentShown) -> Option<String> {
    let mut steps = steps(&experiment.variants)?;
    steps.sort_by_key(|one| Reverse(one.last_passed().map_or(0, |board| board.users)));
    let met = |one: &Steps| {
        let board = one.last_passed()?;
        let users = counted(f64::from(board.users), "user");
        Some(format!("{} with up to {users} ({} operations/s)", one.told(), rate(board.rate_hz)))
    };
    let passed: Vec<String> = steps.iter().filter_map(met).collect();
    let failed: Vec<&Steps> = steps.iter().filter(|one| one.last_passed().is_none()).collect();
    let least = failed.iter().filter_map(|one| one.boards.first()).map(|board| board.users).min();
    let least = least.map(|users| counted(f64::from(users), "user"));
    if let Some(users) = same_users(&steps) {
        let rates = steps.iter().filter_map(|one| one.last_passed().map(|board| board.rate_hz));
        let least_hz = rates.fold(f64::INFINITY, f64::min);
        let users = counted(f64::from(users), "user");
        return Some(format!(
            "All rules were met by every variant, up to {users} ({} operations/s or more)",
            rate(least_hz)
        ));
    }
    Some(match (passed.as_slice(), least) {
        ([], least) => format!("No variant met all rules, not even with {}", least.unwrap_or_default()),
        (passed, None) => format!("All rules were met by {}", list(passed)),
        (passed, Some(least)) => {
            let names: Vec<String> = failed.iter().map(|one| one.told()).collect();
            format!("All rules were met by {}; not even with {least} by {}", list(passed), list(&names))
        }
    })
}

/// The number of users up to which all of several groups met every rule, if it is the same and their greatest; `None`: it is not.
fn same_users(steps: &[Steps]) -> Option<u32> {
    let users = |one: &Steps| {
        let passed = one.last_passed()?.users;
        (one.boards.last()?.users == passed).then_some(passed)
    };
    let first = users(steps.first()?)?;
    (steps.len() > 1 && steps.iter().all(|one| users(one) == Some(first))).then_some(first)
}

/// The variants in groups, if the number of users is a factor.
fn steps(variants: &[VariantShown]) -> Option<Vec<Steps<'_>>> {
    let factor = users_factor(variants)?;
    let mut steps: Vec<Steps> = Vec::new();
    for variant in variants {
        let board = variant.scoreboard.as_ref()?;
        let others = variant.levels.iter().filter(|[of, _]| of != factor);
        let name = others.map(|[_, level]| level.as_str()).collect::<Vec<_>>().join(" + ");
        match steps.iter_mut().find(|known| known.name == name) {
            Some(known) => known.boards.push(board),
            None => steps.push(Steps { name, boards: vec![board] }),
        }
    }
    steps.iter_mut().for_each(|one| one.boards.sort_by_key(|board| board.users));
    Some(steps)
}

/// The factor whose level decides how many users there are, of several numbers.
fn users_factor(variants: &[VariantShown]) -> Option<&str> {
    let of = |variant: &VariantShown| variant.scoreboard.as_ref().map(|board| board.users);
    let first = variants.first()?;
    if variants.iter().all(|variant| of(variant) == of(first)) {
        return None;
    }
    let decides = |factor: &&str| {
        let level = |variant: &'_ VariantShown| {
            variant.levels.iter().find(|[of, _]| of == factor).map(|[_, level]| level.clone())
        };
        variants.iter().all(|one| {
            level(one).is_some()
                && variants.iter().all(|other| (level(one) == level(other)) == (of(one) == of(other)))
        })
    };
    first.levels.iter().map(|[factor, _]| factor.as_str()).find(decides)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::analysis::Reason;
    use sysdyno_record::load::LatencySummary;
    use sysdyno_record::session::{
        OperationLimit, RuleOutcome, SessionOperationResult, SessionOperationSummary,
    };
    use sysdyno_record::units::SpanNs;

    /// A run of so many users that completed so many operations per second, of which p90 was so many milliseconds.
    fn run(users: u32, rate_hz: f64, p90_ms: u64) -> SessionResult {
        let passed = p90_ms <= 1000;
        let operation = |name: &str, count: u64| SessionOperationResult {
            measured: SessionOperationSummary {
                name: name.into(),
                started_count: count,
                completed_count: count - 1,
                failed_count: 1,
                unfinished_count: 0,
                rate_hz: rate_hz / 2.0,
                latency: LatencySummary {
                    p90: Some(p90_ms * 1_000_000),
                    mean: Some(p90_ms as f64 * 5e5),
                    count,
                    ..LatencySummary::default()
                },
                cycles_count: count,
                cycle_planned_ns: Some(4e9),
                cycle_actual_ns: Some(4e9),
            },
            mix_ratio: Some(0.5),
            mix_target_ratio: 0.6,
            limit: Some(OperationLimit { percentile_ratio: 0.9, limit: SpanNs::from_secs(1) }),
        };
        let rule = RuleOutcome {
            rule: "limit".into(),
            operation: Some("Home".into()),
            passed,
            sentence: format!("Home: p90 {p90_ms} ms"),
        };
        SessionResult {
            name: "shop".into(),
            users,
            rate_hz,
            planned_hz: Some(f64::from(users) / 4.0),
            passed,
            operations: vec![operation("Home", 300), operation("Buy", 100)],
            rules: vec![rule],
        }
    }

    /// The scoreboard of runs whose numbers count.
    fn board(runs: &[SessionResult]) -> Option<Scoreboard> {
        let verdict = Verdict::default();
        scoreboard(runs.iter().map(|session| UsersRun { session, verdict: &verdict }))
    }

    #[test]
    fn an_invalid_run_has_not_passed_whatever_its_rules_say() {
        let session = run(40, 9.0, 400);
        let [id, name, remedy] = ["M01", "gen-cpu-bound", "more CPUs"].map(str::to_owned);
        let text = "the generator had no CPU left".to_owned();
        let reason = Reason { id, name, status: VerdictStatus::Invalid, text, remedy };
        let verdict = Verdict { status: VerdictStatus::Invalid, reasons: vec![reason] };
        let board = scoreboard([UsersRun { session: &session, verdict: &verdict }].into_iter());
        let board = board.expect("has a run");
        assert_eq!((board.passed_count, board.has_passed()), (0, false));
        assert_eq!(board.broken, ["a run is INVALID: the generator had no CPU left"]);
    }

    fn variant(levels: &[[&str; 2]], runs: &[SessionResult]) -> VariantShown {
        VariantShown {
            side: 0,
            levels: levels.iter().map(|level| level.map(str::to_owned)).collect(),
            settings: Vec::new(),
            prepare: Vec::new(),
            failed_ratio: None,
            cpus: Vec::new(),
            found: Vec::new(),
            curve: Vec::new(),
            scoreboard: board(runs),
        }
    }

    fn told(variants: Vec<VariantShown>) -> Option<String> {
        headline(&ExperimentShown {
            name: "x".into(),
            planned_count: 1,
            measured_count: 1,
            repeated_count: 0,
            variants,
        })
    }

    #[test]
    fn a_scoreboard_counts_all_runs_and_fails_with_one_of_them() {
        let runs = [run(40, 9.0, 400), run(40, 8.0, 1200), run(40, 10.0, 600)];
        let board = board(&runs).expect("has runs");
        assert_eq!((board.users, board.rate_hz, board.planned_hz), (40, 9.0, Some(10.0)));
        assert_eq!((board.runs_count, board.passed_count, board.has_passed()), (3, 2, false));
        assert_eq!(board.broken, ["Home: p90 1200 ms"]);
        let [home, buy] = board.operations.as_slice() else { panic!("{board:?}") };
        assert_eq!((home.completed_count, home.failed_count, home.mix_ratio), (897, 3, Some(0.75)));
        assert_eq!((home.mean_ns, home.percentile_ns), (Some(3e8), Some(6e8)));
        assert!(!home.passed && buy.passed);
        assert_eq!(board.tightest().map(|(one, share)| (one.name.as_str(), share)), Some(("Buy", 0.6)));
        assert_eq!(scoreboard(std::iter::empty()), None);
    }

    #[test]
    fn the_headline_names_the_last_step_before_the_first_that_failed() {
        let of = |server: &str, users: &str, count: u32, p90_ms: u64| {
            variant(&[["server", server], ["users", users]], &[run(count, f64::from(count) / 5.0, p90_ms)])
        };
        let variants = || {
            vec![
                of("one", "10", 10, 50),
                of("one", "20", 20, 1200),
                of("one", "30", 30, 90),
                of("two", "10", 10, 1100),
                of("two", "20", 20, 1200),
                of("two", "30", 30, 1300),
                of("all", "30", 30, 1000),
                of("all", "10", 10, 70),
            ]
        };
        assert_eq!(
            told(variants()).as_deref(),
            Some(
                "All rules were met by all with up to 30 users (6.00 operations/s) and one with up to 10 users (2.00 \
                 operations/s); not even with 10 users by two"
            )
        );
        let mut unlike = variants();
        unlike[0].scoreboard = board(&[run(11, 2.0, 50)]);
        assert_eq!(told(unlike), None, "a level does not say how many users there are");
        assert_eq!(told(vec![of("one", "10", 10, 50), of("two", "10", 10, 50)]), None, "all have as many");
        let alone = vec![
            variant(&[["users", "1"]], &[run(1, 0.2, 50)]),
            variant(&[["users", "2"]], &[run(2, 0.4, 50)]),
        ];
        assert_eq!(
            told(alone).as_deref(),
            Some("All rules were met by the server with up to 2 users (0.40 operations/s)")
        );
        let both = ["one", "two"].map(|server| [of(server, "10", 10, 50), of(server, "20", 20, 60)]);
        assert_eq!(
            told(both.into_iter().flatten().collect()).as_deref(),
            Some("All rules were met by every variant, up to 20 users (4.00 operations/s or more)")
        );
        let none = vec![of("one", "10", 10, 1500), of("one", "20", 20, 1500)];
        assert_eq!(told(none).as_deref(), Some("No variant met all rules, not even with 10 users"));
    }
}
