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
    /// Its value.
    pub value: MetricValue,
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

    /// The same with a series that has this value; `None`: the value is not known, and there is no series.
    #[must_use]
    pub fn with(mut self, labels: &[(&'static str, &str)], value: Option<f64>) -> MetricFamily {
        let label = |(name, value): &(&'static str, &str)| MetricLabel { name, value: (*value).to_owned() };
        let labels = labels.iter().map(label).collect();
        self.points.extend(value.map(|value| MetricPoint { labels, value: MetricValue::Number(value) }));
        self
    }
}
