//! Metrics as a message of Prometheus remote write 1.0: a protocol buffer, compressed by Snappy.
//!
//! Sources: <https://prometheus.io/docs/specs/prw/remote_write_spec/>, `prompb/remote.proto` and `prompb/types.proto` of Prometheus;
//! the numbers below are their field numbers. Labels of a series are sorted by name, as the specification asks.

use super::{bound_text, label_value, series_name};
use crate::protobuf::ProtoMessage;
use sysdyno_record::metrics::{MetricDistribution, MetricFamily, MetricLabel, MetricPoint, MetricValue};
use sysdyno_record::units::WallNs;

/// The value that ends a series. Source: `model/value/value.go` of Prometheus, `StaleNaN`.
const STALE: u64 = 0x7ff0_0000_0000_0002;

/// The body of a request that writes these families, each series with these labels in addition to its own.
pub fn render(families: &[MetricFamily], added: &[MetricLabel], at: WallNs) -> Vec<u8> {
    let mut writer = SeriesWriter { added, at, out: ProtoMessage::default() };
    for family in families {
        let name = series_name(family);
        family.points.iter().for_each(|point| writer.point(&name, point));
    }
    // Its only error is a message of more than 4 GiB.
    snap::raw::Encoder::new().compress_vec(writer.out.as_bytes()).unwrap_or_default()
}

struct SeriesWriter<'a> {
    added: &'a [MetricLabel],
    at: WallNs,
    out: ProtoMessage,
}

impl SeriesWriter<'_> {
    fn point(&mut self, name: &str, point: &MetricPoint) {
        match &point.value {
            MetricValue::Number(value) => self.series(name, point, None, *value),
            MetricValue::Distribution(distribution) => self.histogram(name, point, distribution),
        }
    }

    fn histogram(&mut self, name: &str, own: &MetricPoint, distribution: &MetricDistribution) {
        let bucket = format!("{name}_bucket");
        for (bound, count) in distribution.bounds_seconds.iter().zip(&distribution.up_to_counts) {
            self.series(&bucket, own, Some(bound_text(*bound)), *count as f64);
        }
        self.series(&bucket, own, Some("+Inf".into()), distribution.count as f64);
        self.series(&format!("{name}_sum"), own, None, distribution.sum_seconds);
        self.series(&format!("{name}_count"), own, None, distribution.count as f64);
    }

    fn series(&mut self, name: &str, own: &MetricPoint, bound: Option<String>, value: f64) {
        let labels = own.labels.iter().chain(self.added).map(|label| (label.name, label_value(&label.value)));
        let mut labels: Vec<(&str, String)> = labels.collect();
        labels.push(("__name__", name.to_owned()));
        labels.extend(bound.map(|bound| ("le", bound)));
        labels.sort();
        let mut series = ProtoMessage::default();
        for (name, value) in labels {
            let mut label = ProtoMessage::default();
            label.bytes(1, name.as_bytes());
            label.bytes(2, value.as_bytes());
            series.message(1, &label);
        }
        let value = if own.has_ended { f64::from_bits(STALE) } else { value };
        let mut sample = ProtoMessage::default();
        sample.double(1, value);
        sample.number(2, self.at.0 / 1_000_000);
        series.message(2, &sample);
        self.out.message(1, &series);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::specimen;
    use sysdyno_record::metrics::ended;

    fn decoded(families: &[MetricFamily]) -> Vec<u8> {
        let job = MetricLabel { name: "job", value: "sysdyno".into() };
        let body = render(families, &[job], WallNs(1_500_000_000));
        snap::raw::Decoder::new().decompress_vec(&body).expect("is Snappy")
    }

    #[test]
    fn a_series_is_its_sorted_labels_and_a_sample_in_milliseconds() {
        let message = decoded(&specimen());
        let mut expected = ProtoMessage::default();
        let mut series = ProtoMessage::default();
        for (name, value) in [("__name__", "x_requests_total"), ("job", "sysdyno"), ("result", "ok")] {
            let mut label = ProtoMessage::default();
            label.bytes(1, name.as_bytes());
            label.bytes(2, value.as_bytes());
            series.message(1, &label);
        }
        let mut sample = ProtoMessage::default();
        sample.double(1, 3.0);
        sample.number(2, 1_500);
        series.message(2, &sample);
        expected.message(1, &series);
        assert!(message.starts_with(expected.as_bytes()), "{message:?}");
    }

    #[test]
    fn an_ended_series_has_the_value_that_says_so() {
        let stale = STALE.to_le_bytes();
        let count = |message: Vec<u8>| message.windows(8).filter(|bytes| *bytes == stale).count();
        // A counter, a gauge, three buckets, sum, and count.
        assert_eq!((count(decoded(&ended(&specimen(), &[]))), count(decoded(&specimen()))), (7, 0));
    }
}
