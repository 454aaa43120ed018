//! The numbers of one target as text.

use crate::number;
use sysdyno_record::load::LatencySummary;
use sysdyno_record::probe::ProbeSummary;

/// Percentiles of the result, and how many operations each needs.
const PERCENTILES: [(&str, u64); 3] = [("p50", 20), ("p90", 100), ("p99", 1_000)];

/// The row of a probe beside a load.
pub(crate) fn row(summary: &ProbeSummary) -> String {
    let times = &summary.response_time_ns;
    let value = |value_ns: Option<u64>| bounded(times, value_ns);
    format!(
        "p50 {} · p90 {} · p99 {} · max {} · {}",
        value(times.p50),
        value(times.p90),
        value(times.p99),
        value(times.max),
        lost(summary)
    )
}

fn lost(summary: &ProbeSummary) -> String {
    let all = summary.sent_count.saturating_add(summary.unsent_count);
    format!("lost {} of {}", number::count(summary.lost_count()), number::count(all))
}

/// Operations by outcome, in one sentence.
pub(super) fn counts(summary: &ProbeSummary) -> String {
    let mut text = format!(
        "{} sent, {} received, {} lost ({})",
        number::count(summary.sent_count),
        number::count(summary.received_count),
        number::count(summary.lost_count()),
        lost_share(summary)
    );
    for (count, what) in
        [(summary.unsent_count, "never sent"), (summary.in_flight_count, "in flight at the end")]
    {
        if count > 0 {
            text.push_str(&format!(", {} {what}", number::count(count)));
        }
    }
    text
}

/// The share of lost operations, or `–`.
pub(super) fn lost_share(summary: &ProbeSummary) -> String {
    summary.lost_ratio.map_or_else(|| number::MISSING.to_owned(), number::percent)
}

/// The times of those received, as `ping` prints them; `None`: none was.
pub(super) fn times(summary: &ProbeSummary) -> Option<String> {
    let rounded = |value_ns: f64| number::duration_ns(value_ns.round() as u64);
    Some(format!(
        "min {} · avg {} · max {} · mdev {}",
        number::duration_ns(summary.min_ns?),
        rounded(summary.mean_ns?),
        number::duration_ns(summary.max_ns?),
        rounded(summary.mdev_ns?)
    ))
}

/// A value, or a lower bound, or `–`.
pub(super) fn bounded(times: &LatencySummary, value_ns: Option<u64>) -> String {
    match value_ns {
        None => number::MISSING.to_owned(),
        Some(value_ns) if is_bound(times, value_ns) => format!("≥ {}", number::duration_ns(value_ns)),
        Some(value_ns) => number::duration_ns(value_ns),
    }
}

fn is_bound(times: &LatencySummary, value_ns: u64) -> bool {
    times.censored_min_ns.is_some_and(|least| value_ns >= least)
}

pub(super) fn median(summary: &ProbeSummary) -> Option<String> {
    let times = &summary.response_time_ns;
    times.p50.map(|p50| format!("p50 {}", bounded(times, Some(p50))))
}

/// Percentiles with their 95 % intervals; for those that are not supported, how many operations they need.
pub(super) fn percentiles(summary: &ProbeSummary) -> String {
    let texts =
        PERCENTILES.iter().zip(with_intervals(summary)).map(|((name, _), text)| format!("{name} {text}"));
    texts.collect::<Vec<_>>().join(" · ")
}

/// p50, p90, and p99, each with its interval, or with how many operations it needs.
pub(super) fn with_intervals(summary: &ProbeSummary) -> [String; 3] {
    let times = &summary.response_time_ns;
    let values =
        [(times.p50, times.p50_interval), (times.p90, times.p90_interval), (times.p99, times.p99_interval)];
    let text = |place: usize| {
        let (value_ns, interval) = values[place];
        match (value_ns, interval) {
            (None, _) => format!("{} (needs {})", number::MISSING, number::count(PERCENTILES[place].1)),
            (Some(_), None) => bounded(times, value_ns),
            (Some(_), Some([low_ns, high_ns])) => format!(
                "{} ({}–{})",
                bounded(times, value_ns),
                bounded(times, Some(low_ns)),
                bounded(times, Some(high_ns))
            ),
        }
    };
    [text(0), text(1), text(2)]
}
