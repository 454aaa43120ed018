//! `docs/reference/compare.md`, from the tables that comparisons work by.

use crate::commands::docs::thresholds;
use std::fmt::Write;
use sysdyno_analyze::compare::{COMPARABILITY, COMPARED_METRICS};
use sysdyno_record::effect::Better;

const HEADER: &str = "\
# Comparing runs

Built from the definitions in `crates/analyze/src/compare`; do not edit.

`sysdyno compare OLD NEW` puts runs side by side. First it asks whether they may be compared at all, by the gates below; a
gate that refuses leaves both numbers and no difference, with exit code 3. Each word behind `compare` is a side: a run, or a
folder of runs that repeat each other; with `--` the runs before it are the first side and those behind it the second. The
first side is A, and what the others are seen from.

## What can be said

The unit of replication is the run. Seconds, requests and the trials of a search lie within one start of the server, and are
no repetitions of it, however many there are.

| runs on a side | interval |
|---|---|
| 1 | the interval within each run, and between runs the deviation of the table below, which is assumed; so only large differences can be told, and hardly ever that there is none |
| 2 or 3 | Welch's interval of the difference of mean logarithms |
| 4 or more, on both | Hodges–Lehmann shift of the logarithms, with the interval of the Mann–Whitney test |

With the smallest effect that matters (`--effect 3%`, or that of the metric) as Δ, a side is the *same* if the 90 % interval
lies within ±Δ, *better* or *worse* if the 95 % interval excludes no effect, and otherwise it *can't be told*. The runs were not
interleaved, so whatever else changed between them is in the difference: *better* and *worse* say that the runs differ, and
`capped_by` that the cause is open. `sysdyno try` proves a cause. p is adjusted by Holm's method: that of the first metric over
the sides, that of all others together over sides, metrics and operations, of which one or the other would differ by chance.
Sides that share a letter cannot be told apart.

`--trend` takes runs in the order of time and looks for changes of level: the best split by energy distance, if a permutation
test finds it rare (p ≤ 0.01), and again in both parts; with Welch's p beside it.

`--fail-if worse` ends with exit code 1 if any metric of any side is worse (`different`: or better); `--metric` says which
metrics count. Runs that may not be compared end with 3, whatever else was asked.

## JSON

`--json` prints one document, schema `sysdyno.comparison/1`, with the rules of the [result document](formats/result.md).

| field | meaning |
|---|---|
| `headline`, `is_refused` | the result in a sentence; whether some side may not be compared with A |
| `sides[]` | `letter`, `name` as typed, `is_refused`, `runs[]` with `id`, `started_unix_ns`, `url`, `status`, `headline` |
| `gates[]` | what fired: `id`, `name`, `severity` (`refused`, `allowed` by `--allow`, `warned`), `side` (position), `text`, `remedy` |
| `verdicts[]` | each further side: `side`, the `metric` that decides, `verdict` (`word` is `better`, `worse`, `same` or `cannot_tell`; `qualifier`, `is_outlier_sensitive`, `capped_by[]`), names of the metrics that are `worse` and `better`, `sentence` |
| `operations[]` | the first is all together, then each by its name; `metrics[]` with `metric`, `title`, `unit`, `better`, `margin_ratio`, `sides[]` (`median`, `runs[]` of `value` and `interval` within the run, `missing`), `effects[]` (`side`, `effect`, `method`, `p` after Holm, `verdict`), `letters[]` by side |
| `effect` | `scale` (`ratio`: B ÷ A), `point`, `low`, `high`, `confidence_ratio`, `narrow` (the 90 % interval), `pairs_count` (runs of the smaller side) |
| `machines[]` | `side`, `differences[]` as of `sysdyno facts A B --json`, at most 50, and `count` of all |
| `trend` | with `--trend`: `runs[]`, `metrics[]` with `values[]`, `changes[]` (`index` of the first run at the new level, `effect`, `permutation_p`, `welch_p`, `verdict`), `sentence` |
| `matrix` | of `sysdyno experiment`: `name`, `planned_count`, `measured_count`, `repeated_count` (runs that were disturbed, and were made once more), `variants[]` (`side`, `levels[]`, `settings[]`, `prepare[]`, `failed_ratio` (median of the runs), `cpus[]` of `number`, `busy_ratio`, `softirq_ratio` (medians of the runs, of the server's host), `found[]` of `title`, `id`, `runs_count`, `curve[]`) |
| `limits[]` | what these numbers cannot say |
";

/// The reference of comparisons.
pub fn reference() -> String {
    let mut text = format!("{HEADER}\n## Metrics\n\nOf those that both sides have, the first decides.\n\n");
    text.push_str("| metric | what it is | gets better | Δ | deviation between runs, if assumed |\n|---|---|---|---|---|\n");
    for metric in COMPARED_METRICS {
        let better = if metric.better == Better::Higher { "upwards" } else { "downwards" };
        let percent = |ratio: f64| (ratio * 1000.0).round() / 10.0;
        let _ = writeln!(
            text,
            "| `{}` | {}: {} | {better} | {} % | {} % ({}) |",
            metric.name,
            metric.title,
            metric.meaning,
            percent(metric.margin.value),
            percent(metric.deviation.value),
            metric.deviation.source
        );
    }
    text.push_str("\n## Gates\n\nLimits without another source are house values. *May be allowed*: `--allow NAME` turns the refusal into a warning.\n");
    for gate in COMPARABILITY {
        let _ = write!(text, "\n### {} {}\n\n{}\n", gate.id, gate.name, gate.meaning);
        text.push_str(&thresholds(gate.thresholds));
        let allowed = if gate.can_be_allowed { " May be allowed." } else { "" };
        let _ = writeln!(text, "\nWhat to do: {}.{allowed}", gate.remedy);
    }
    text
}
