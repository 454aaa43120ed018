//! The output of a probe: a line per operation, statistics on demand, a result at the end.

use crate::escape;
use crate::number;
use crate::terminal::{Style, Tone};
use sysdyno_record::load::{FailureClauses, LatencySummary};
use sysdyno_record::probe::{ProbeOutcome, ProbePlan, ProbeReply, ProbeSummary};
use sysdyno_record::units::WallNs;

/// Percentiles of the result, and how many operations each needs.
const PERCENTILES: [(&str, u64); 3] = [("p50", 20), ("p90", 100), ("p99", 1_000)];

/// The line before the first operation.
pub fn opening(plan: &ProbePlan, target: &str) -> String {
    format!(
        "{} probe of {}, every {}, timeout {}",
        plan.kind.name(),
        escape::terminal(target, 200),
        plan.interval,
        plan.timeout
    )
}

/// The line of an operation that ended at this instant: RFC 3339 with milliseconds, number, time.
pub fn line(reply: &ProbeReply, at: WallNs) -> String {
    let trial = if reply.trial > 0 { format!("trial {}  ", reply.trial) } else { String::new() };
    let waited = number::duration_ns(reply.response_ns());
    let what = match reply.outcome {
        ProbeOutcome::Received => waited,
        ProbeOutcome::TimedOut => format!("lost: no answer within {waited}"),
        ProbeOutcome::Unsent => format!("lost: not sent within {waited}"),
        ProbeOutcome::Failed(class) => format!("lost: {} after {waited}", class.name()),
        ProbeOutcome::InFlight => format!("in flight at the end, {waited} so far"),
    };
    let mut line = format!("{}  {trial}seq {}  {what}", at.rfc3339_millis(), reply.sequence);
    if let Some(status) = reply.status {
        line.push_str(&format!("  status {status}"));
    }
    // Of a TCP probe the connection is all there is.
    if let (Some(connect_ns), Some(_)) = (reply.connect_ns, reply.status) {
        line.push_str(&format!("  new connection {}", number::duration_ns(connect_ns)));
    }
    line
}

/// Everything so far, in one line.
pub fn statistics(summary: &ProbeSummary, style: &Style) -> String {
    let mut parts = vec![counts(summary)];
    parts.extend(times(summary));
    parts.extend(median(summary));
    style.characters(&parts.join(" · "))
}

/// The result, in a few lines.
pub fn result(summary: &ProbeSummary, style: &Style) -> String {
    let mut lines = vec![counts(summary)];
    lines.extend(times(summary));
    lines.push(percentiles(summary));
    for (class, count) in summary.failures.iter().filter(|(_, count)| **count > 0) {
        lines.push(format!(
            "{} × {}: {}",
            number::count(*count),
            class.name(),
            class.sentence(&FailureClauses::default())
        ));
    }
    let text = style.characters(&lines.join("\n"));
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    format!("\n{}\n{rest}", style.dress(Tone::Strong, first))
}

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

fn counts(summary: &ProbeSummary) -> String {
    let share = summary.lost_ratio.map_or_else(|| number::MISSING.to_owned(), number::percent);
    let mut text = format!(
        "{} sent, {} received, {} lost ({share})",
        number::count(summary.sent_count),
        number::count(summary.received_count),
        number::count(summary.lost_count())
    );
    for (count, what) in [
        (summary.unsent_count, "never sent"),
        (
            summary.in_flight_count,
            "in flight at the \
                                                                                           end",
        ),
    ] {
        if count > 0 {
            text.push_str(&format!(", {} {what}", number::count(count)));
        }
    }
    text
}

fn times(summary: &ProbeSummary) -> Option<String> {
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
fn bounded(times: &LatencySummary, value_ns: Option<u64>) -> String {
    let is_bound = |value_ns: u64| times.censored_min_ns.is_some_and(|least| value_ns >= least);
    match value_ns {
        None => number::MISSING.to_owned(),
        Some(value_ns) if is_bound(value_ns) => format!("≥ {}", number::duration_ns(value_ns)),
        Some(value_ns) => number::duration_ns(value_ns),
    }
}

fn median(summary: &ProbeSummary) -> Option<String> {
    let times = &summary.response_time_ns;
    times.p50.map(|p50| format!("p50 {}", bounded(times, Some(p50))))
}

/// Percentiles with their 95 % intervals; for those that are not supported, how many operations they need.
fn percentiles(summary: &ProbeSummary) -> String {
    let times = &summary.response_time_ns;
    let values =
        [(times.p50, times.p50_interval), (times.p90, times.p90_interval), (times.p99, times.p99_interval)];
    let texts = PERCENTILES.iter().zip(values).map(|((name, needed), (value_ns, interval))| {
        match (value_ns, interval) {
            (None, _) => format!("{name} {} (needs {})", number::MISSING, number::count(*needed)),
            (Some(_), None) => format!("{name} {}", bounded(times, value_ns)),
            (Some(_), Some([low_ns, high_ns])) => format!(
                "{name} {} ({}–{})",
                bounded(times, value_ns),
                bounded(times, Some(low_ns)),
                bounded(times, Some(high_ns))
            ),
        }
    });
    texts.collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use sysdyno_record::load::FailureClass;
    use sysdyno_record::probe::ProbeKind;
    use sysdyno_record::units::MonoNs;

    fn reply(outcome: ProbeOutcome) -> ProbeReply {
        ProbeReply {
            trial: 0,
            sequence: 7,
            intended_mono_ns: MonoNs(1_000_000),
            sent_mono_ns: Some(MonoNs(1_001_000)),
            end_mono_ns: MonoNs(1_312_000),
            outcome,
            connect_ns: None,
            status: None,
        }
    }

    #[test]
    fn a_line_says_when_which_and_how_long() {
        let at = WallNs(1_795_179_721_123_456_789);
        let check = |reply: ProbeReply, expected: &str| {
            assert_eq!(line(&reply, at), format!("2026-11-20T13:02:01.123Z  {expected}"));
        };
        check(reply(ProbeOutcome::Received), "seq 7  312 µs");
        let fresh = ProbeReply {
            connect_ns: Some(80_000),
            status: Some(200),
            trial: 3,
            ..reply(ProbeOutcome::Received)
        };
        check(fresh, "trial 3  seq 7  312 µs  status 200  new connection 80.0 µs");
        check(reply(ProbeOutcome::TimedOut), "seq 7  lost: no answer within 312 µs");
        check(reply(ProbeOutcome::Unsent), "seq 7  lost: not sent within 312 µs");
        check(reply(ProbeOutcome::Failed(FailureClass::Reset)), "seq 7  lost: reset after 312 µs");
        check(reply(ProbeOutcome::InFlight), "seq 7  in flight at the end, 312 µs so far");
    }

    fn summary() -> ProbeSummary {
        ProbeSummary {
            kind: ProbeKind::Http,
            interval_ns: 1_000_000_000,
            timeout_ns: 5_000_000_000,
            sent_count: 120,
            received_count: 115,
            timed_out_count: 3,
            failed_count: 1,
            in_flight_count: 1,
            unsent_count: 0,
            failures: BTreeMap::from([(FailureClass::Reset, 1)]),
            lost_ratio: Some(4.0 / 119.0),
            response_time_ns: LatencySummary {
                p50: Some(300_000),
                p90: Some(900_000),
                max: Some(5_000_000_000),
                count: 119,
                p50_interval: Some([290_000, 310_000]),
                p90_interval: Some([700_000, 5_000_000_000]),
                censored_count: 4,
                censored_min_ns: Some(900_000),
                ..LatencySummary::default()
            },
            p90_interval: Some([700_000, 5_000_000_000]),
            service_time_ns: LatencySummary::default(),
            min_ns: Some(210_000),
            mean_ns: Some(312_345.6),
            max_ns: Some(1_200_000),
            mdev_ns: Some(54_321.0),
            slip_max_ns: Some(60_000),
        }
    }

    #[test]
    fn the_result_has_counts_times_and_what_percentiles_the_replies_support() {
        let text = result(&summary(), &Style::default());
        let expected = "\n120 sent, 115 received, 4 lost (3.4%), 1 in flight at the end\n\
                        min 210 µs · avg 312 µs · max 1.20 ms · mdev 54.3 µs\n\
                        p50 300 µs (290 µs–310 µs) · p90 ≥ 900 µs (700 µs–≥ 5.00 s) · p99 – (needs 1,000)\n\
                        1 × reset: The server reset the connection during a request.";
        assert_eq!(text, expected);
        let line = statistics(&summary(), &Style::default());
        assert!(
            line.starts_with("120 sent") && line.ends_with("p50 300 µs") && !line.contains('\n'),
            "{line}"
        );
        assert_eq!(row(&summary()), "p50 300 µs · p90 ≥ 900 µs · p99 – · max ≥ 5.00 s · lost 4 of 120");
    }

    #[test]
    fn without_a_reply_no_time_is_made_up() {
        let none = ProbeSummary {
            received_count: 0,
            min_ns: None,
            mean_ns: None,
            max_ns: None,
            mdev_ns: None,
            lost_ratio: Some(1.0),
            response_time_ns: LatencySummary::default(),
            p90_interval: None,
            failures: BTreeMap::new(),
            ..summary()
        };
        let text = result(&none, &Style::default());
        assert!(!text.contains("min") && text.contains("p50 – (needs 20) · p90 – (needs 100)"), "{text}");
    }
}
