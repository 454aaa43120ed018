//! The table of what can be checked: latencies by kind and statistic, and the other numbers of an analysis.

use super::limit::Dimension;
use sysdyno_record::analysis::{Analysis, VerdictStatus};
use sysdyno_record::load::{LatencyKind, LatencySummary};

/// What a number of the analysis is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    pub(super) value: f64,
    /// Whether the true value may be greater.
    pub(super) is_lower_bound: bool,
    /// Its 95 % interval; `None`: not known.
    pub(super) interval: Option<[f64; 2]>,
}

impl Measured {
    fn exactly(value: f64) -> Measured {
        Measured { value, is_lower_bound: false, interval: None }
    }
}

/// A number, or why there is none.
pub(super) type Reading = Result<Measured, String>;

/// A kind of latency that can stand before a statistic.
#[derive(Debug)]
pub struct LatencyMetric {
    /// As it is typed.
    pub name: &'static str,
    /// What it measures.
    pub meaning: &'static str,
    kind: LatencyKind,
    of: fn(&Analysis) -> &LatencySummary,
}

const fn kind(
    name: &'static str,
    meaning: &'static str,
    kind: LatencyKind,
    of: fn(&Analysis) -> &LatencySummary,
) -> LatencyMetric {
    LatencyMetric { name, meaning, kind, of }
}

/// The kinds of latency.
pub const KINDS: &[LatencyMetric] = &[
    kind("response", "intended send to last byte; open loop only", LatencyKind::Response, |analysis| {
        &analysis.response_time_ns
    }),
    kind("service", "actual send to last byte", LatencyKind::Service, |analysis| &analysis.service_time_ns),
    kind("slip", "intended to actual send; open loop only", LatencyKind::Slip, |analysis| &analysis.slip_ns),
    kind("connect", "connect() call to connection established", LatencyKind::Connect, |analysis| {
        &analysis.connect_time_ns
    }),
    kind(
        "handshake",
        "connection established to TLS handshake completed; TLS only",
        LatencyKind::Handshake,
        |analysis| &analysis.handshake_time_ns,
    ),
    kind("first_byte", "actual send to first byte", LatencyKind::FirstByte, |analysis| {
        &analysis.first_byte_time_ns
    }),
];

/// A number that describes a latency distribution.
#[derive(Debug)]
pub struct Statistic {
    /// As it is typed.
    pub name: &'static str,
    /// The least number of values that it takes.
    count_min: u64,
    of: fn(&LatencySummary) -> Option<f64>,
    interval: fn(&LatencySummary) -> Option<[u64; 2]>,
}

const fn statistic(
    name: &'static str,
    count_min: u64,
    of: fn(&LatencySummary) -> Option<f64>,
    interval: fn(&LatencySummary) -> Option<[u64; 2]>,
) -> Statistic {
    Statistic { name, count_min, of, interval }
}

/// The statistics.
pub const STATISTICS: &[Statistic] = &[
    statistic("p50", 20, |summary| summary.p50.map(|ns| ns as f64), |summary| summary.p50_interval),
    statistic("p90", 100, |summary| summary.p90.map(|ns| ns as f64), |summary| summary.p90_interval),
    statistic("p95", 200, |summary| summary.p95.map(|ns| ns as f64), |_| None),
    statistic("p99", 1_000, |summary| summary.p99.map(|ns| ns as f64), |summary| summary.p99_interval),
    statistic("p99.9", 10_000, |summary| summary.p99_9.map(|ns| ns as f64), |summary| summary.p99_9_interval),
    statistic("max", 1, |summary| summary.max.map(|ns| ns as f64), |_| None),
    statistic("mean", 1, |summary| summary.mean, |_| None),
];

/// A number of the analysis that is not a latency.
#[derive(Debug)]
pub struct Metric {
    /// As it is typed.
    pub name: &'static str,
    /// What it measures.
    pub meaning: &'static str,
    /// What it is measured in.
    pub dimension: Dimension,
    /// Whether only a search for capacity knows it.
    pub(super) needs_search: bool,
    of: fn(&Analysis) -> Reading,
}

/// A number that every run has.
const fn metric(
    name: &'static str,
    meaning: &'static str,
    dimension: Dimension,
    of: fn(&Analysis) -> Reading,
) -> Metric {
    Metric { name, meaning, dimension, needs_search: false, of }
}

/// Metrics that can be checked besides latencies.
pub const METRICS: &[Metric] = &[
    metric("errors", "share of sent requests that failed or timed out", Dimension::Share, |analysis| {
        share(analysis, analysis.counts.failed.saturating_add(analysis.counts.timed_out))
    }),
    metric("timeouts", "share of sent requests that timed out", Dimension::Share, |analysis| {
        share(analysis, analysis.counts.timed_out)
    }),
    metric(
        "rate",
        "achieved rate: completed requests per second, valid or not",
        Dimension::Rate,
        |analysis| Ok(Measured::exactly(analysis.rates.achieved_hz)),
    ),
    metric("goodput", "completed and valid requests per second", Dimension::Rate, |analysis| {
        Ok(Measured::exactly(analysis.rates.goodput_hz))
    }),
    metric("bytes", "bytes received per second, including headers", Dimension::Flow, |analysis| {
        analysis
            .received_bytes_hz
            .map(Measured::exactly)
            .ok_or_else(|| "the record does not have it".to_owned())
    }),
    Metric {
        needs_search: true,
        ..metric("capacity", "highest rate that meets the objective; 'run' only", Dimension::Rate, capacity)
    },
    metric("cpu", "generator CPU time per completed request", Dimension::Time, cpu_per_request),
];

fn share(analysis: &Analysis, count: u64) -> Reading {
    match analysis.counts.sent {
        0 => Err("no request was sent".to_owned()),
        sent => Ok(Measured::exactly(count as f64 / sent as f64)),
    }
}

fn capacity(analysis: &Analysis) -> Reading {
    let Some(capacity) = &analysis.capacity else { return Err("no capacity search was run".to_owned()) };
    let is_invalid = analysis.verdict.status == VerdictStatus::Invalid;
    let known = capacity.rate_hz.filter(|_| capacity.is_lower_bound || !is_invalid);
    let value = known.ok_or_else(|| "no capacity was found".to_owned())?;
    let interval = capacity.low_hz.zip(capacity.high_hz).map(|(low, high)| [low, high]);
    Ok(Measured { value, is_lower_bound: capacity.is_lower_bound, interval })
}

fn cpu_per_request(analysis: &Analysis) -> Reading {
    match analysis.counts.ok.saturating_add(analysis.counts.failed) {
        0 => Err("no request was completed".to_owned()),
        completed => Ok(Measured::exactly(analysis.generator.cpu_seconds * 1e9 / completed as f64)),
    }
}

/// What a check compares.
#[derive(Clone, Copy, Debug)]
pub(super) enum Measure {
    /// A latency; of no kind, that which a user feels.
    Latency(Option<&'static LatencyMetric>, &'static Statistic),
    Number(&'static Metric),
    /// Responses with one of these status codes.
    Statuses(Statuses),
}

/// Status codes from one to another, and in what they are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Statuses {
    first: u16,
    last: u16,
    /// As a share of all responses.
    is_share: bool,
}

impl Statuses {
    /// `404`, or `5xx` for all that begin with 5.
    fn named(name: &str) -> Option<Statuses> {
        let class = name.strip_suffix("xx").and_then(|digit| digit.parse::<u16>().ok());
        let range = class.filter(|class| *class < 10).map(|class| (class * 100, class * 100 + 99));
        let (first, last) = range.or_else(|| name.parse().ok().map(|code| (code, code)))?;
        let is_code = (100..600).contains(&first) && name.len() == 3;
        is_code.then_some(Statuses { first, last, is_share: false })
    }

    fn typed(self) -> String {
        if self.first == self.last { self.first.to_string() } else { format!("{}xx", self.first / 100) }
    }

    fn read(self, analysis: &Analysis) -> Reading {
        let sum = |codes: &mut dyn Iterator<Item = u64>| codes.fold(0u64, u64::saturating_add);
        let all = sum(&mut analysis.statuses.values().copied());
        if all == 0 && analysis.counts.ok > 0 {
            return Err("the record has no status codes".to_owned());
        }
        let found = sum(&mut analysis.statuses.range(self.first..=self.last).map(|(_, count)| *count)) as f64;
        match (self.is_share, all) {
            (false, _) => Ok(Measured::exactly(found)),
            (true, 0) => Err("there were no responses".to_owned()),
            (true, all) => Ok(Measured::exactly(found / all as f64)),
        }
    }
}

impl PartialEq for Measure {
    fn eq(&self, other: &Measure) -> bool {
        self.typed() == other.typed()
    }
}

impl Measure {
    /// The measure of this name.
    pub(super) fn named(name: &str) -> Option<Measure> {
        if let Some(metric) = METRICS.iter().find(|metric| metric.name == name) {
            return Some(Measure::Number(metric));
        }
        let statistic = |name: &str| STATISTICS.iter().find(|statistic| statistic.name == name);
        if let Some(statistic) = statistic(name) {
            return Some(Measure::Latency(None, statistic));
        }
        if let Some(statuses) = Statuses::named(name) {
            return Some(Measure::Statuses(statuses));
        }
        let (kind, rest) = name.split_once('.')?;
        let kind = KINDS.iter().find(|known| known.name == kind)?;
        statistic(rest).map(|statistic| Measure::Latency(Some(kind), statistic))
    }

    /// The measure in the unit that a limit is typed in: status codes are counted, or are a share.
    pub(super) fn in_unit_of(self, limit: &str) -> Measure {
        match self {
            Measure::Statuses(statuses) => {
                Measure::Statuses(Statuses { is_share: limit.ends_with('%'), ..statuses })
            }
            _ => self,
        }
    }

    /// The name as it was typed.
    pub(super) fn typed(self) -> String {
        match self {
            Measure::Latency(None, statistic) => statistic.name.to_owned(),
            Measure::Latency(Some(kind), statistic) => format!("{}.{}", kind.name, statistic.name),
            Measure::Number(metric) => metric.name.to_owned(),
            Measure::Statuses(statuses) => statuses.typed(),
        }
    }

    /// The name with the kind of latency that is meant in this run.
    pub(super) fn resolved(self, analysis: &Analysis) -> String {
        match self {
            Measure::Latency(None, statistic) => Measure::Latency(Some(felt(analysis)), statistic).typed(),
            _ => self.typed(),
        }
    }

    pub(super) fn dimension(self) -> Dimension {
        match self {
            Measure::Latency(..) => Dimension::Time,
            Measure::Number(metric) => metric.dimension,
            Measure::Statuses(statuses) if statuses.is_share => Dimension::Share,
            Measure::Statuses(_) => Dimension::Count,
        }
    }

    /// The number that the analysis holds.
    pub(super) fn read(self, analysis: &Analysis) -> Reading {
        let reading = match self {
            Measure::Number(metric) => (metric.of)(analysis),
            Measure::Statuses(statuses) => statuses.read(analysis),
            Measure::Latency(kind, statistic) => latency(kind.unwrap_or(felt(analysis)), statistic, analysis),
        };
        reading.and_then(|measured| match measured.value.is_finite() {
            true => Ok(measured),
            false => Err("the record has no value".to_owned()),
        })
    }
}

/// The latency that a user feels: response time where it exists, else service time.
fn felt(analysis: &Analysis) -> &'static LatencyMetric {
    let kind = if analysis.rates.offered_hz.is_some() || analysis.response_time_ns.count > 0 {
        LatencyKind::Response
    } else {
        LatencyKind::Service
    };
    KINDS.iter().find(|known| known.kind == kind).unwrap_or(&KINDS[0])
}

fn latency(kind: &LatencyMetric, statistic: &Statistic, analysis: &Analysis) -> Reading {
    let summary = (kind.of)(analysis);
    let is_open_only = matches!(kind.kind, LatencyKind::Response | LatencyKind::Slip);
    if summary.count == 0 && is_open_only && analysis.rates.offered_hz.is_none() {
        return Err(format!("a closed loop has no {} time, only service.{}", kind.name, statistic.name));
    }
    let value = (statistic.of)(summary).ok_or_else(|| {
        let samples = crate::format::counted(summary.count as f64, "sample");
        let needed = crate::format::whole(statistic.count_min as f64);
        format!("too few samples: {samples}, {needed} needed")
    })?;
    let is_lower_bound = match statistic.name {
        // A mean of lower bounds is one.
        "mean" => summary.censored_count > 0,
        _ => summary.censored_min_ns.is_some_and(|bound_ns| value >= bound_ns as f64),
    };
    let interval = (statistic.interval)(summary).map(|ends| ends.map(|ns| ns as f64));
    Ok(Measured { value, is_lower_bound, interval })
}
