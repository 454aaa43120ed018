//! Metrics as a message of OTLP, the protocol of OpenTelemetry, in its binary form over HTTP.
//!
//! Sources: <https://opentelemetry.io/docs/specs/otlp/>, `opentelemetry/proto/metrics/v1/metrics.proto` and the files that it
//! imports; the numbers below are their field numbers. Counters have no `_total` here: Prometheus adds it to what it receives.

use super::label_value;
use crate::protobuf::ProtoMessage;
use sysdyno_record::metrics::{
    FamilyKind, MetricDistribution, MetricFamily, MetricLabel, MetricPoint, MetricValue,
};
use sysdyno_record::units::WallNs;

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`: values count from the start of the series.
const CUMULATIVE: u64 = 2;

/// `DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK`: a series ends here.
const NO_VALUE: u64 = 1;

/// Whom metrics are of, and of which time.
#[derive(Clone, Copy, Debug)]
pub struct OtlpSource<'a> {
    /// What all series are of, such as `service.name`.
    pub resource: &'a [MetricLabel],
    /// Since when counters have counted.
    pub began: WallNs,
    /// When the values were read.
    pub at: WallNs,
}

/// The body of a request that writes these families.
pub fn render(families: &[MetricFamily], source: OtlpSource<'_>) -> Vec<u8> {
    let writer = PointWriter { source };
    let mut scope = ProtoMessage::default();
    scope.bytes(1, b"sysdyno");
    scope.bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
    let mut of_scope = ProtoMessage::default();
    of_scope.message(1, &scope);
    families.iter().for_each(|family| of_scope.message(2, &writer.metric(family)));
    let mut resource = ProtoMessage::default();
    add_attributes(&mut resource, 1, source.resource);
    let mut of_resource = ProtoMessage::default();
    of_resource.message(1, &resource);
    of_resource.message(2, &of_scope);
    let mut request = ProtoMessage::default();
    request.message(1, &of_resource);
    request.as_bytes().to_vec()
}

struct PointWriter<'a> {
    source: OtlpSource<'a>,
}

impl PointWriter<'_> {
    fn metric(&self, family: &MetricFamily) -> ProtoMessage {
        let mut data = ProtoMessage::default();
        family.points.iter().for_each(|point| data.message(1, &self.point(point)));
        if family.kind != FamilyKind::Gauge {
            data.number(2, CUMULATIVE);
        }
        if family.kind == FamilyKind::Counter {
            data.number(3, 1);
        }
        let of_kind = match family.kind {
            FamilyKind::Gauge => 5,
            FamilyKind::Counter => 7,
            FamilyKind::Histogram => 9,
        };
        let mut metric = ProtoMessage::default();
        metric.bytes(1, family.name.as_bytes());
        metric.bytes(2, family.help.as_bytes());
        metric.message(of_kind, &data);
        metric
    }

    fn point(&self, point: &MetricPoint) -> ProtoMessage {
        let mut written = ProtoMessage::default();
        written.fixed(2, self.source.began.0);
        written.fixed(3, self.source.at.0);
        let has_value = !point.has_ended;
        let (labels, flags) = match &point.value {
            MetricValue::Number(value) => {
                if has_value {
                    written.double(4, *value);
                }
                (7, 8)
            }
            MetricValue::Distribution(distribution) => {
                if has_value {
                    add_distribution(&mut written, distribution);
                }
                (9, 10)
            }
        };
        add_attributes(&mut written, labels, &point.labels);
        if !has_value {
            written.number(flags, NO_VALUE);
        }
        written
    }
}

/// Counts between one bound and the next, the last above all bounds.
fn add_distribution(point: &mut ProtoMessage, distribution: &MetricDistribution) {
    point.fixed(4, distribution.count);
    point.double(5, distribution.sum_seconds);
    let ends = distribution.up_to_counts.iter().copied().chain([distribution.count]);
    let begins = [0].into_iter().chain(distribution.up_to_counts.iter().copied());
    point.packed_fixed(6, ends.zip(begins).map(|(end, begin)| end.saturating_sub(begin)));
    point.packed_fixed(7, distribution.bounds_seconds.iter().map(|bound| bound.to_bits()));
}

fn add_attributes(message: &mut ProtoMessage, field: u64, labels: &[MetricLabel]) {
    for label in labels {
        let mut value = ProtoMessage::default();
        value.bytes(1, label_value(&label.value).as_bytes());
        let mut attribute = ProtoMessage::default();
        attribute.bytes(1, label.name.as_bytes());
        attribute.message(2, &value);
        message.message(field, &attribute);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::specimen;
    use sysdyno_record::metrics::ended;

    fn rendered(families: &[MetricFamily]) -> Vec<u8> {
        let resource = [MetricLabel { name: "service.name", value: "sysdyno".into() }];
        let source = OtlpSource { resource: &resource, began: WallNs(1), at: WallNs(2) };
        render(families, source)
    }

    /// A message's fields: number, kind, and what they hold.
    fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
        let mut found = Vec::new();
        let varint = |bytes: &mut &[u8]| {
            let (mut value, mut shift) = (0, 0);
            while let Some((first, rest)) = bytes.split_first() {
                *bytes = rest;
                value |= u64::from(first & 0x7f) << shift;
                shift += 7;
                if first & 0x80 == 0 {
                    break;
                }
            }
            value
        };
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let value = match key & 7 {
                0 => varint(&mut bytes).to_le_bytes().to_vec(),
                kind => {
                    let length = if kind == 1 { 8 } else { varint(&mut bytes) as usize };
                    let (value, rest) = bytes.split_at(length);
                    bytes = rest;
                    value.to_vec()
                }
            };
            found.push((key >> 3, key & 7, value));
        }
        found
    }

    /// What the message holds at the end of a path of field numbers, each the first of its number.
    fn at(bytes: &[u8], path: &[u64]) -> Vec<u8> {
        path.iter().fold(bytes.to_vec(), |bytes, number| {
            let found = fields(&bytes).into_iter().find(|field| field.0 == *number);
            found.unwrap_or_else(|| panic!("no field {number}")).2
        })
    }

    fn metrics(message: &[u8]) -> Vec<Vec<u8>> {
        let of_scope = fields(&at(message, &[1, 2]));
        of_scope.into_iter().filter(|field| field.0 == 2).map(|field| field.2).collect()
    }

    #[test]
    fn a_counter_is_a_sum_that_only_grows() {
        let message = rendered(&specimen());
        assert_eq!(at(&message, &[1, 1, 1, 2, 1]), b"sysdyno");
        let counter = &metrics(&message)[0];
        assert_eq!(at(counter, &[1]), b"x_requests");
        assert_eq!(at(counter, &[7, 2])[0], 2, "cumulative");
        assert_eq!(at(counter, &[7, 3])[0], 1, "monotonic");
        assert_eq!(at(counter, &[7, 1, 4]), 3.0f64.to_le_bytes());
        assert_eq!(at(counter, &[7, 1, 2]), 1u64.to_le_bytes());
        assert_eq!(at(counter, &[7, 1, 7, 2, 1]), b"ok");
    }

    #[test]
    fn a_histogram_has_counts_between_its_bounds() {
        let histogram = &metrics(&rendered(&specimen()))[2];
        let counts = [1u64, 2, 1].map(u64::to_le_bytes).concat();
        assert_eq!(at(histogram, &[9, 1, 6]), counts);
        let bounds = [0.000_02f64, 1.0].map(f64::to_le_bytes).concat();
        assert_eq!(at(histogram, &[9, 1, 7]), bounds);
        assert_eq!(at(histogram, &[9, 1, 5]), 62.5f64.to_le_bytes());
    }

    #[test]
    fn an_ended_series_has_no_value_and_says_so() {
        let all = metrics(&rendered(&ended(&specimen(), &[])));
        let gauge = at(&all[1], &[5, 1]);
        assert_eq!(at(&gauge, &[8])[0], 1);
        assert!(fields(&gauge).iter().all(|field| field.0 != 4));
        assert_eq!(at(&all[2], &[9, 1, 10])[0], 1);
    }
}
