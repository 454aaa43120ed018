//! A running load as metrics for monitoring systems: text that Prometheus scrapes ([`text`]), and messages that are pushed
//! to it ([`remote_write`]) and to whatever speaks OpenTelemetry's protocol ([`otlp`]).
//!
//! Names and labels are the same in all. Text that the server's processes chose is bounded and escaped.

pub mod otlp;
pub mod remote_write;
pub mod text;

use crate::escape;
use sysdyno_record::metrics::{FamilyKind, MetricFamily};

/// Longest value of a label. Unit: columns of a terminal.
const LABEL_MAX: usize = 120;

/// The name of a family's series, without the suffixes of a histogram.
fn series_name(family: &MetricFamily) -> String {
    let suffix = if family.kind == FamilyKind::Counter { "_total" } else { "" };
    format!("{}{suffix}", family.name)
}

/// A label's value without anything that could do harm where it is shown.
fn label_value(value: &str) -> String {
    escape::terminal(value, LABEL_MAX)
}

/// A bound as the label `le` has it.
fn bound_text(bound_seconds: f64) -> String {
    format!("{bound_seconds:?}")
}

#[cfg(test)]
pub(crate) fn specimen() -> Vec<MetricFamily> {
    use sysdyno_record::metrics::{MetricDistribution, MetricLabel, MetricPoint, MetricValue};
    let mut latency = MetricFamily::new(FamilyKind::Histogram, "x_latency_seconds", "Latency.");
    latency.points.push(MetricPoint {
        labels: vec![MetricLabel { name: "kind", value: "response".into() }],
        value: MetricValue::Distribution(MetricDistribution {
            bounds_seconds: &[0.000_02, 1.0],
            up_to_counts: vec![1, 3],
            count: 4,
            sum_seconds: 62.5,
        }),
        has_ended: false,
    });
    vec![
        MetricFamily::new(FamilyKind::Counter, "x_requests", "Requests.")
            .with(&[("result", "ok")], Some(3.0)),
        MetricFamily::new(FamilyKind::Gauge, "x_cpus", "CPUs.")
            .with(&[("tier", "a\"b\\c\nd\u{1b}[2J")], Some(0.25)),
        latency,
    ]
}
