//! Metrics as text: OpenMetrics 1.0, and the older Prometheus format for clients that do not ask for it.
//!
//! Sources: <https://prometheus.io/docs/specs/om/open_metrics_spec/>,
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>. They differ in the name of a counter's family, and in the end
//! that OpenMetrics has, so that a text that was cut off is noticed.

use super::{bound_text, label_value, series_name};
use std::fmt::Write;
use sysdyno_record::metrics::{
    FamilyKind, MetricDistribution, MetricFamily, MetricLabel, MetricPoint, MetricValue,
};

/// The two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricsText {
    /// OpenMetrics 1.0.0.
    OpenMetrics,
    /// The text format of Prometheus, 0.0.4.
    Prometheus,
}

impl MetricsText {
    /// The better one of those that a client accepts, by the `Accept` field of its request.
    pub fn accepted(accept: &str) -> MetricsText {
        let is_accepted = accept.to_ascii_lowercase().contains("application/openmetrics-text");
        if is_accepted { MetricsText::OpenMetrics } else { MetricsText::Prometheus }
    }

    /// Its media type.
    pub fn media_type(self) -> &'static str {
        match self {
            MetricsText::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            MetricsText::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// The text of these families.
pub fn render(families: &[MetricFamily], form: MetricsText) -> String {
    let mut out = String::new();
    for family in families {
        let name = series_name(family);
        let title = if form == MetricsText::OpenMetrics { family.name } else { &name };
        // Memory takes all text.
        let _ = writeln!(out, "# HELP {title} {}", family.help);
        let _ = writeln!(out, "# TYPE {title} {}", type_name(family.kind));
        for point in &family.points {
            point_lines(&mut out, &name, point);
        }
    }
    if form == MetricsText::OpenMetrics {
        out.push_str("# EOF\n");
    }
    out
}

fn type_name(kind: FamilyKind) -> &'static str {
    match kind {
        FamilyKind::Counter => "counter",
        FamilyKind::Gauge => "gauge",
        FamilyKind::Histogram => "histogram",
    }
}

fn point_lines(out: &mut String, name: &str, point: &MetricPoint) {
    match &point.value {
        MetricValue::Number(value) => line(out, (name, ""), labels(&point.labels, None), *value),
        MetricValue::Distribution(distribution) => histogram(out, name, &point.labels, distribution),
    }
}

fn histogram(out: &mut String, name: &str, own: &[MetricLabel], distribution: &MetricDistribution) {
    for (bound, count) in distribution.bounds_seconds.iter().zip(&distribution.up_to_counts) {
        line(out, (name, "_bucket"), labels(own, Some(&bound_text(*bound))), *count as f64);
    }
    line(out, (name, "_bucket"), labels(own, Some("+Inf")), distribution.count as f64);
    line(out, (name, "_sum"), labels(own, None), distribution.sum_seconds);
    line(out, (name, "_count"), labels(own, None), distribution.count as f64);
}

fn line(out: &mut String, (name, suffix): (&str, &str), labels: String, value: f64) {
    let _ = writeln!(out, "{name}{suffix}{labels} {value}");
}

fn labels(labels: &[MetricLabel], bound: Option<&str>) -> String {
    let own = labels.iter().map(|label| (label.name, quoted(&label.value)));
    let all = own.chain(bound.map(|bound| ("le", bound.to_owned())));
    let texts: Vec<String> = all.map(|(name, value)| format!("{name}=\"{value}\"")).collect();
    if texts.is_empty() { String::new() } else { format!("{{{}}}", texts.join(",")) }
}

fn quoted(value: &str) -> String {
    label_value(value).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::specimen;

    #[test]
    fn each_series_has_a_line_and_each_format_its_names() {
        let text = render(&specimen(), MetricsText::OpenMetrics);
        for line in [
            "# TYPE x_requests counter",
            "x_requests_total{result=\"ok\"} 3",
            "# TYPE x_latency_seconds histogram",
            "x_latency_seconds_bucket{kind=\"response\",le=\"2e-5\"} 1",
            "x_latency_seconds_bucket{kind=\"response\",le=\"1.0\"} 3",
            "x_latency_seconds_bucket{kind=\"response\",le=\"+Inf\"} 4",
            "x_latency_seconds_sum{kind=\"response\"} 62.5",
            "x_latency_seconds_count{kind=\"response\"} 4",
        ] {
            assert!(text.lines().any(|known| known == line), "no {line} in {text}");
        }
        assert!(text.ends_with("# EOF\n"));
        let text = render(&specimen(), MetricsText::Prometheus);
        assert!(text.contains("# TYPE x_requests_total counter\n") && !text.contains("EOF"), "{text}");
    }

    #[test]
    fn a_name_that_a_process_chose_stays_in_its_label() {
        let text = render(&specimen(), MetricsText::OpenMetrics);
        let line = text.lines().find(|line| line.starts_with("x_cpus")).expect("is there");
        assert!(line.starts_with("x_cpus{tier=\"a\\\"b") && line.ends_with("\"} 0.25"), "{line}");
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn openmetrics_is_sent_to_those_who_ask_for_it() {
        let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3";
        assert_eq!(MetricsText::accepted(prometheus), MetricsText::OpenMetrics);
        assert_eq!(MetricsText::accepted("*/*"), MetricsText::Prometheus);
    }
}
