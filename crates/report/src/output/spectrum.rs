//! The percentile distribution as HdrHistogram's tools write it, for their plotters: value, ratio, count below it.
//!
//! The format is that of `outputPercentileDistribution` in the Java library, version 2.1, with 5 steps per half distance
//! and values in milliseconds. Lines that begin with `#` are for people; plotters leave them out.

use crate::escape;
use crate::input::ReportInput;
use std::fmt::Write;
use sysdyno_record::load::LatencySet;

/// Steps per halving of the distance to 100 %, as the format's own writers choose it.
const STEPS_PER_HALF_DISTANCE: u32 = 5;

const NS_PER_MS: f64 = 1e6;

/// The distribution of what a client felt in the shown trial; ends with a newline.
pub fn render(input: &ReportInput<'_>, latency: &LatencySet) -> String {
    let kind = super::felt(latency);
    let histogram = latency.get(kind).as_hdr();
    let total = histogram.len();
    let mut text =
        format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let mut below = 0u64;
    for step in histogram.iter_quantiles(STEPS_PER_HALF_DISTANCE) {
        below += step.count_since_last_iteration();
        let value_ms = step.value_iterated_to().min(histogram.max()) as f64 / NS_PER_MS;
        let ratio = step.quantile_iterated_to();
        let _ = write!(text, "{value_ms:>12.3} {ratio:>2.12} {below:>10}");
        let _ = if ratio < 1.0 { writeln!(text, " {:>14.2}", 1.0 / (1.0 - ratio)) } else { writeln!(text) };
    }
    let (mean_ms, deviation_ms) = (histogram.mean() / NS_PER_MS, histogram.stdev() / NS_PER_MS);
    let max_ms = histogram.max() as f64 / NS_PER_MS;
    let _ = writeln!(text, "#[Mean    = {mean_ms:>12.3}, StdDeviation   = {deviation_ms:>12.3}]");
    let _ = writeln!(text, "#[Max     = {max_ms:>12.3}, Total count    = {total:>12}]");
    let _ =
        writeln!(text, "#[Verdict = {}, {} time in ms]", input.analysis.verdict.status.name(), kind.name());
    let _ = writeln!(text, "#[Run     = {}]", escape::terminal(&input.folder.path.to_string_lossy(), 4096));
    text
}
