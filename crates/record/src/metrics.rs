//! Live metrics of a running load: families of series that monitoring systems collect. None of this is recorded.

/// Series with one name.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricFamily {
    /// The name, without a counter's `_total`. Its unit is its last word.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub help: &'static str,
    /// How its values behave.
    pub kind: FamilyKind,
    /// Its series; no two have the same labels.
    pub points: Vec<MetricPoint>,
}

/// How values of a family behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyKind {
    /// Only grows while the program runs.
    Counter,
    /// A level.
    Gauge,
    /// A distribution that only grows.
    Histogram,
}

/// One series at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricPoint {
    /// What tells it from others of its family.
    pub labels: Vec<MetricLabel>,
    /// Its value; the last one, if it has ended.
    pub value: MetricValue,
    /// Whether there is no such series any more.
    pub has_ended: bool,
}

/// A label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricLabel {
    /// Its name.
    pub name: &'static str,
    /// Its value. May be untrusted text.
    pub value: String,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricValue {
    /// Of a counter or a gauge.
    Number(f64),
    /// Of a histogram.
    Distribution(MetricDistribution),
}

/// A distribution over fixed bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricDistribution {
    /// Upper bounds, from least to greatest, without infinity. Unit: seconds.
    pub bounds_seconds: &'static [f64],
    /// How many values are at most as great as each bound.
    pub up_to_counts: Vec<u64>,
    /// All values.
    pub count: u64,
    /// Their sum. Unit: seconds.
    pub sum_seconds: f64,
}

impl MetricFamily {
    /// A family without series yet.
    pub fn new(kind: FamilyKind, name: &'static str, help: &'static str) -> MetricFamily {
        MetricFamily { name, help, kind, points: Vec::new() }
    }

    /// A family of levels, without series yet.
    pub fn gauge(name: &'static str, help: &'static str) -> MetricFamily {
        MetricFamily::new(FamilyKind::Gauge, name, help)
    }

    /// The same with a series that has this value; `None`: the value is not known, and there is no series.
    #[must_use]
    pub fn with(mut self, labels: &[(&'static str, &str)], value: Option<f64>) -> MetricFamily {
        let label = |(name, value): &(&'static str, &str)| MetricLabel { name, value: (*value).to_owned() };
        let labels = labels.iter().map(label).collect();
        let value = value.map(MetricValue::Number);
        self.points.extend(value.map(|value| MetricPoint { labels, value, has_ended: false }));
        self
    }

    /// Its series that others do not have, as ended.
    fn ended_without(&self, others: &[MetricFamily]) -> MetricFamily {
        let same = others.iter().find(|other| other.name == self.name);
        let is_known = |point: &&MetricPoint| {
            same.is_some_and(|same| same.points.iter().any(|one| one.labels == point.labels))
        };
        let gone = self.points.iter().filter(|point| !is_known(point));
        let gone = gone.map(|point| MetricPoint { has_ended: true, ..point.clone() });
        MetricFamily { points: gone.collect(), ..self.clone() }
    }
}

/// Series that there were before and are not there now, as ended: whoever is not told keeps their last value for minutes.
pub fn ended(before: &[MetricFamily], now: &[MetricFamily]) -> Vec<MetricFamily> {
    let gone = before.iter().map(|family| family.ended_without(now));
    gone.filter(|family| !family.points.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_ends_when_it_is_there_no_more() {
        let gauge = |devices: &[&str]| {
            let family = MetricFamily::new(FamilyKind::Gauge, "x", "X.");
            devices.iter().fold(family, |family, device| family.with(&[("device", device)], Some(1.0)))
        };
        let gone = ended(&[gauge(&["eth0", "eth1"])], &[gauge(&["eth1", "eth2"])]);
        assert_eq!(gone.len(), 1);
        assert_eq!((gone[0].points.len(), gone[0].points[0].has_ended), (1, true));
        assert_eq!(gone[0].points[0].labels[0].value, "eth0");
        assert_eq!(ended(&[gauge(&["eth0"])], &[])[0].points.len(), 1, "the family is gone with it");
        assert!(ended(&[], &[gauge(&["eth0"])]).is_empty());
    }
}
