//! `docs/reference/compare.md`, from the tables that comparisons work by.

use super::thresholds;
use std::fmt::Write;
use sysdyno_analyze::compare::{COMPARABILITY, COMPARED_METRICS, ComparedMetric, MACHINE_METRICS};
use sysdyno_record::effect::Better;

const HEADER: &str = "\
# Comparing runs

Built from the definitions in `crates/analyze/src/compare`; do not edit.

`sysdyno compare OLD NEW` puts runs side by side. First, the gates below check if they are comparable. If a gate refuses, both
numbers are shown without a difference, and the exit code is 3. Each argument is a side: a run, or a folder of repeated runs.
With `--`, the runs before it form the first side, and those after it the second. The first side, A, is the baseline.

## What can be said

The unit of replication is the run. Seconds, requests, and the trials of a search all belong to a single start of the server,
so they are not repetitions, however many there are.

| runs on a side | interval |
|---|---|
| 1 | the interval within each run, plus the assumed deviation between runs from the table below; only large differences can be detected, and hardly ever the absence of one |
| 2 or 3 | Welch's interval of the difference of mean logarithms |
| 4 or more, on both | Hodges–Lehmann shift of the logarithms, with the interval of the Mann–Whitney test |
| runs of an experiment | one model of all variants, described below |

Δ is the smallest effect that matters (`--effect 3%`, or the default of the metric). A side is the *same* if the 90% interval
lies within ±Δ, and *better* or *worse* if the 95% interval excludes zero; otherwise, the verdict is *can't tell*. The runs were
not interleaved, so the difference includes everything else that changed between them: *better* and *worse* mean that the runs
differ, and `capped_by` says that the cause is open. `sysdyno try` can prove a cause. p is adjusted by Holm's method: for the
first metric over the sides, and for the other metrics over sides, metrics, and operations together. Sides that share a letter
do not differ detectably.

## Experiments

The runs of `sysdyno experiment` come in blocks, and each variant ran once in every block. One model compares them all: the
logarithm of a value is the level of its variant plus that of its block. So whatever a block adds to all its runs cancels out, and
all variants together tell how much runs scatter, which two or three runs of one variant cannot. Two blocks of four variants give
an interval a quarter as wide as that of Welch's test.

- The intervals against A hold for all variants together (Dunnett), and the verdict follows from them alone. The metric that
  decides has an error rate of 5% for itself. All other metrics of all operations share another 5% evenly, so their intervals have
  a higher level (`confidence_ratio`).
- A variant is called beaten if some other one is surely better (Hsu's multiple comparisons with the best). The headline names
  those that are not.
- A percentile brings its error within the run, so a run of few samples weighs less. A run whose samples are too few or too
  dependent to tell that error weighs as little as the least certain one.
- A variant that clearly scatters more than the others is not pooled with them: its own differences within the blocks decide as
  well. Two or three blocks cannot always show this. If a variant scatters several times as much as the others, the error rate of
  such a short experiment may reach 15%; from six blocks on, it stays close to 5%.

- Where some runs lie far off the others, or the runs of a variant form two groups, ranks within the blocks decide instead: the
  Hodges–Lehmann estimate of the differences within blocks, with the interval of the signed-rank test. Random permutations within
  blocks make the intervals hold for all variants together. `scatter` says what was found. Ranks need at least 6 blocks for one
  difference, 7 for three, and 9 for eight. With fewer blocks, the model stays; such runs make its intervals wider, not wrong.

[How experiments decide](../dev/method/experiments.md) has the equations, their sources, and the simulations that check them.

## Lower bounds

A request that timed out took at least until then. If more requests than a percentile leaves out timed out, were never sent, or were
still open at the end, that percentile is a lower bound, shown with `≥`. If more than 0.1% of the requests of a run timed out, all its
latencies are lower bounds, because requests that were given up made room for others; its other metrics are not compared. The
capacity of a search that something other than the server ended is also a lower bound.

A difference then has one end only: *at least × 60*, without an estimate. The verdict follows from that end alone. If it does not
exclude zero, or both sides have lower bounds, the verdict is *can't tell*. A lower bound is never *the same*.

`--trend` looks for changes of level in runs over time: the best split by energy distance, if a permutation test finds it
significant (p ≤ 0.01), and then again in both parts. Welch's p is shown as well.

`--fail-if worse` ends with exit code 1 if any metric of any side is worse (`different`: or better); `--metric` says which
metrics count. Runs that may not be compared end with 3, whatever else was asked.

## JSON

`--json` prints one document, schema `sysdyno.comparison/1`, with the rules of the [result document](formats/result.md).

| field | meaning |
|---|---|
| `headline`, `is_refused` | the result in a sentence; whether some side may not be compared with A |
| `sides[]` | `letter`, `name` as typed, `is_refused`, `runs[]` with `id`, `started_unix_ns`, `url`, `status`, `headline` |
| `gates[]` | what fired: `id`, `name`, `severity` (`refused`, `bounded`: compared as bounds, `allowed` by `--allow`, `warned`), `side` (position), `text`, `remedy` |
| `verdicts[]` | each further side: `side`, the `metric` that decides, `verdict` (`word` is `better`, `worse`, `same` or `cannot_tell`; `qualifier`, `is_outlier_sensitive`, `capped_by[]`), names of the metrics that are `worse` and `better`, `sentence` |
| `operations[]` | the first is all together, then each by its name; `metrics[]` with `metric`, `title`, `unit`, `better`, `margin_ratio`, `sides[]` (`median`, `is_lower_bound`, `runs[]` of `value`, `interval` within the run, and `is_lower_bound`, `missing`), `effects[]` (`side`, `effect`, `bound`, `method`, `p` adjusted for the number of sides, `verdict`), `scatter` (a sentence or `null`), `letters[]` by side |
| `effect` | `scale` (`ratio`: B ÷ A), `point`, `low`, `high`, `confidence_ratio`, `narrow` (the 90% interval), `pairs_count` (runs of the smaller side; in an experiment, blocks in which both were measured) |
| `bound` | instead of `effect`, if only one end is known: `side` (`at_least` or `at_most`), `ratio` (B ÷ A), `confidence_ratio`, `pairs_count` |
| `machines[]` | `side`, `differences[]` as of `sysdyno facts A B --json`, at most 50, and `count` of all |
| `trend` | with `--trend`: `runs[]`, `metrics[]` with `values[]`, `changes[]` (`index` of the first run at the new level, `effect`, `permutation_p`, `welch_p`, `verdict`), `sentence` |
| `matrix` | of `sysdyno experiment`: `name`, `planned_count`, `measured_count`, `repeated_count` (runs that were disturbed, and were made once more), `variants[]` (`side`, `levels[]`, `settings[]`, `prepare[]`, `failed_ratio` (median of the runs), `cpus[]` of `number`, `busy_ratio`, `softirq_ratio` (medians of the runs, of the server's host), `found[]` of `title`, `id`, `runs_count`, `curve[]`) |
| `hosts` | of `sysdyno experiment import`: `experiment`, and `hosts[]` with `side`, `cpu`, `architecture`, `kernel`, `emulator`, `cpus_count`, `cores_count` (that the server could use), `frequency_ghz`, `power` (`rapl` or `meter`), each `null` where it is not known. Sides are machines, and operations the variants of the experiment |
| `limits[]` | what these numbers cannot say |
";

const MACHINES: &str = "
`sysdyno experiment import` also divides the rates of machines by what each has for them. Each variant is compared by itself, and its
blocks pair nothing across machines. p is adjusted for the number of machines. Within a variant, the metric that decides and each of
these is tested separately, and all other metrics share one error rate.

";

/// The reference of comparisons.
pub(super) fn reference() -> String {
    let mut text = format!("{HEADER}\n## Metrics\n\nOf those that both sides have, the first decides.\n\n");
    text.push_str(&table(COMPARED_METRICS));
    text.push_str(MACHINES);
    text.push_str(&table(MACHINE_METRICS));
    text.push_str("\n## Gates\n\nLimits without another source are house values. *May be allowed*: `--allow NAME` turns the refusal into a warning.\n");
    for gate in COMPARABILITY {
        let _ = write!(text, "\n### {} {}\n\n{}\n", gate.id, gate.name, gate.meaning);
        text.push_str(&thresholds(gate.thresholds));
        let allowed = if gate.can_be_allowed { " May be allowed." } else { "" };
        let _ = writeln!(text, "\nWhat to do: {}.{allowed}", gate.remedy);
    }
    text
}

fn table(metrics: &[ComparedMetric]) -> String {
    let mut text = "| metric | what it is | gets better | Δ | deviation between runs, if assumed |\n|---|---|---|---|---|\n".to_owned();
    for metric in metrics {
        let better = if metric.better == Better::Higher { "upwards" } else { "downwards" };
        let percent = |ratio: f64| (ratio * 1000.0).round() / 10.0;
        let _ = writeln!(
            text,
            "| `{}` | {}: {} | {better} | {}% | {}% ({}) |",
            metric.name,
            metric.title,
            metric.meaning,
            percent(metric.margin.value),
            percent(metric.deviation.value),
            metric.deviation.source
        );
    }
    text
}
