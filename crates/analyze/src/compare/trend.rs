//! Runs as a series in time: when did the level change?
//!
//! One number per run, in order of time. The series is split where the energy distance between both parts is greatest
//! (`stats::change_point`), if a permutation test of the order finds such a split rare, and each part again in the same
//! way. A change is then the difference of the levels before and after, by the method of [`super::effect`] with Welch's
//! test beside it. A change point says when, not why; what proves a cause is an experiment with the two versions.
//!
//! Limits: runs must be alike in everything that [`super::COMPARABILITY`] checks, and the ones that differ are left out; a
//! slow drift is reported as one or several changes.

use super::effect::{Found, effect};
use super::gate::Allowed;
use super::metric::{ComparedMetric, MeasuredSide, applying};
use super::profile::RunProfile;
use super::{COMPARABILITY, CompareOptions, concluded, shown, shown_run};
use crate::format::{list, percent};
use crate::threshold::{HOUSE, Threshold};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use sysdyno_record::comparison::{GateOutcome, LevelChange, MetricTrend, RunsComparison, Severity, Trend};
use sysdyno_record::effect::Comparison;
use sysdyno_stats::change_point::{best_split, permutation_p};
use sysdyno_stats::t_test::welch;

/// A split is a change if permutations find one at least as good with no more than this probability.
pub(super) const CHANGE_P: Threshold =
    Threshold::new("probability of as good a split if the order did not matter", 0.01, "ratio", HOUSE);
/// Minimum number of runs at a level.
const LEVEL_RUNS_MIN: usize = 3;
/// Permutations of a test; the least p is one in a thousand.
const PERMUTATIONS: u32 = 999;
/// Seed of the permutations: the same runs give the same answer.
const SEED: u64 = 0x0074_7265_6e64;
/// Number of newest runs that are tried as the baseline.
const BASELINES_MAX: usize = 40;
/// Maximum number of runs used.
pub const TREND_RUNS_MAX: usize = 200;

/// Looks at runs in the order of time, each compared by the gates with one of them; those that are refused are left out.
///
/// That one is the newest with which most others may be compared: the newest run of all may be another load, or invalid.
pub fn over_time(mut runs: Vec<RunProfile>, options: &CompareOptions) -> RunsComparison {
    runs.sort_by(|one, other| one.started_unix_ns.cmp(&other.started_unix_ns).then(one.id.cmp(&other.id)));
    runs.drain(..runs.len().saturating_sub(TREND_RUNS_MAX));
    let (kept, gates, baseline) = sift(&runs, &Allowed::new(&options.allowed));
    let metrics: Vec<MetricTrend> = match kept.iter().find(|run| run.id == baseline) {
        Some(run) => applying(run, None, &options.metrics)
            .into_iter()
            .map(|metric| metric_trend(metric, &kept, options.margin_ratio.unwrap_or(metric.margin.value)))
            .collect(),
        None => Vec::new(),
    };
    let headline = headline(&metrics, kept.len());
    let shown_runs = || kept.iter().map(shown_run).collect();
    let trend = Trend { runs: shown_runs(), metrics };
    let name = format!("{} runs", kept.len());
    let sides = shown([(name.as_str(), shown_runs())].into_iter(), &[false]);
    let limits = vec![
        format!(
            "Each run is compared with {baseline} (A in the reasons), the newest run that is comparable \
             with most others"
        ),
        "A change point shows when the level changed, not why; `sysdyno try` with both versions can prove a \
         cause"
            .to_owned(),
    ];
    RunsComparison {
        headline,
        is_refused: kept.len() < 2,
        trend: Some(trend),
        ..concluded(sides, gates, Vec::new(), limits)
    }
}

/// The runs that may be compared with one of them, what speaks against the others, and which one that is.
fn sift(runs: &[RunProfile], allowed: &Allowed) -> (Vec<RunProfile>, Vec<GateOutcome>, String) {
    let enough = runs.len() / 2 + 1;
    let mut best: Option<(&RunProfile, Vec<Vec<GateOutcome>>, usize)> = None;
    for baseline in runs.iter().rev().take(BASELINES_MAX) {
        let outcomes: Vec<Vec<GateOutcome>> =
            runs.iter().map(|run| against(baseline, run, allowed)).collect();
        let count = outcomes.iter().filter(|outcomes| !is_refused(outcomes)).count();
        if best.as_ref().is_none_or(|(.., most)| count > *most) {
            best = Some((baseline, outcomes, count));
        }
        if count >= enough {
            break;
        }
    }
    let Some((baseline, outcomes, _)) = best else { return (Vec::new(), Vec::new(), String::new()) };
    let kept = runs.iter().zip(&outcomes).filter(|(_, outcomes)| !is_refused(outcomes));
    let kept = kept.map(|(run, _)| run.clone()).collect();
    let mut gates: Vec<GateOutcome> = outcomes.into_iter().flatten().collect();
    gates.sort_by_key(|gate| std::cmp::Reverse(gate.severity));
    (kept, gates, baseline.id.clone())
}

/// What speaks against comparing a run with the baseline.
fn against(baseline: &RunProfile, run: &RunProfile, allowed: &Allowed) -> Vec<GateOutcome> {
    let other = (run.id != baseline.id).then_some(baseline);
    let seen = COMPARABILITY.iter().filter_map(|gate| Some((gate, gate.look(other, run, allowed)?)));
    seen.map(|(gate, seen)| seen.outcome(gate, 0)).collect()
}

fn is_refused(outcomes: &[GateOutcome]) -> bool {
    outcomes.iter().any(|outcome| outcome.severity == Severity::Refused)
}

fn metric_trend(metric: &'static ComparedMetric, runs: &[RunProfile], margin_ratio: f64) -> MetricTrend {
    let values: Vec<Option<f64>> = runs.iter().map(|run| metric.value(run)).collect();
    let known: Vec<usize> = (0..runs.len()).filter(|index| values[*index].is_some()).collect();
    let logs: Vec<f64> = known.iter().filter_map(|index| values[*index]).map(f64::ln).collect();
    let mut splits = Vec::new();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    find(&logs, 0, &mut rng, &mut splits);
    splits.sort_by_key(|split| split.at);
    let ends: Vec<usize> =
        [0].into_iter().chain(splits.iter().map(|split| split.at)).chain([known.len()]).collect();
    let level = |from: usize, to: usize| {
        let runs: Vec<RunProfile> = known[from..to].iter().map(|index| runs[*index].clone()).collect();
        metric.measure(&runs, &[], None)
    };
    let changes = splits.iter().enumerate().map(|(number, split)| {
        let (before, after) = (level(ends[number], split.at), level(split.at, ends[number + 2]));
        let index = known[split.at];
        change(index, split.p, [&before, &after], effect(&before, &after, metric, margin_ratio))
    });
    let changes: Vec<LevelChange> = changes.collect();
    let sentence = sentence(metric, &changes, runs, known.len());
    MetricTrend {
        metric: metric.name,
        title: metric.title,
        unit: metric.unit,
        better: metric.better,
        margin_ratio,
        values,
        changes,
        sentence,
    }
}

/// A place at which the level changes.
struct Split {
    at: usize,
    p: f64,
}

/// The changes in a part of the series, which begins at `offset`.
fn find(logs: &[f64], offset: usize, rng: &mut Xoshiro256PlusPlus, splits: &mut Vec<Split>) {
    let Some(split) = best_split(logs, LEVEL_RUNS_MIN) else { return };
    let Some(p) = permutation_p(logs, LEVEL_RUNS_MIN, PERMUTATIONS, rng) else { return };
    // Without any scatter every order is as good; then there is no change either.
    if p > CHANGE_P.value || split.q <= 0.0 {
        return;
    }
    splits.push(Split { at: offset + split.index, p });
    find(&logs[..split.index], offset, rng, splits);
    find(&logs[split.index..], offset + split.index, rng, splits);
}

fn change(index: usize, permutation_p: f64, levels: [&MeasuredSide; 2], found: Found) -> LevelChange {
    let welch_p = welch(&levels[0].logs(), &levels[1].logs(), 0.95).map(|test| test.p_two_sided);
    LevelChange { index, effect: found.effect(), permutation_p, welch_p, verdict: found.verdict() }
}

fn sentence(metric: &ComparedMetric, changes: &[LevelChange], runs: &[RunProfile], count: usize) -> String {
    let title = metric.title;
    if count < 2 * LEVEL_RUNS_MIN {
        return format!("{title}: too few runs to find a change ({count} of {})", 2 * LEVEL_RUNS_MIN);
    }
    if changes.is_empty() {
        return format!("{title}: no change of level in {count} runs");
    }
    let told = changes.iter().map(|change| {
        let by = change.effect.map_or_else(String::new, |effect| {
            let sign = if effect.point < 1.0 { "−" } else { "+" };
            format!(" by {sign}{}", percent((effect.point - 1.0).abs()))
        });
        let word = match change.verdict.word {
            Comparison::Better => " (better)",
            Comparison::Worse => " (worse)",
            Comparison::Same => " (too small to matter)",
            Comparison::CannotTell => "",
        };
        format!("with {}{by}{word}", runs[change.index].id)
    });
    format!("{title} changed {}", list(&told.collect::<Vec<_>>()))
}

fn headline(metrics: &[MetricTrend], count: usize) -> String {
    if count < 2 {
        return "Fewer than two runs are comparable".to_owned();
    }
    let changed: Vec<&MetricTrend> = metrics.iter().filter(|metric| !metric.changes.is_empty()).collect();
    let told = changed
        .first()
        .or(metrics.first().as_ref())
        .map_or("they have no metric in common", |metric| &metric.sentence);
    format!("Over {count} runs: {told}")
}
