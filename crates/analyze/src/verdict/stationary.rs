//! Did the system stay stable while it was measured?
//!
//! The thresholds are effect sizes, because with many seconds every drift is statistically significant. A trend must also
//! exceed the noise (Mann–Kendall), and a level shift must separate all seconds before it from all seconds after it. In the
//! trials of a search this is only a remark: queues fluctuate near capacity, and there the replicates decide. Beyond the
//! capacity latency rises by itself, as long as the load lasts: rate and bottleneck are the server's all the same.

use super::check::{Check, Concern, Culprit, Examine, Observation};
use super::responses::ACHIEVED;
use crate::format::{duration, rate};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::analysis::VerdictStatus;
use sysdyno_record::load::{Interval, TrialPurpose};
use sysdyno_record::plan::Arrival;
use sysdyno_stats::change_point::best_split;
use sysdyno_stats::descriptive::{mean, median};
use sysdyno_stats::regression::mann_kendall;
use sysdyno_stats::steady::drift_ratio;

const RATE_CHANGE: Threshold =
    Threshold::new("change of the closed-loop rate over the window", 0.05, "ratio", "house value");
const RATE_BROKEN: Threshold = Threshold::new("the same, to rule out a steady state", 0.25, "ratio", HOUSE);
const LATENCY_CHANGE: Threshold =
    Threshold::new("change of the median latency over the window", 0.20, "ratio", HOUSE);
const LATENCY_BROKEN: Threshold = Threshold::new("the same, to rule out a steady state", 1.0, "ratio", HOUSE);
const LATENCY_FLOOR_NS: Threshold =
    Threshold::new("change of the median latency that anyone would notice", 1e5, "ns", HOUSE);
const BACKLOG_GROWTH: Threshold =
    Threshold::new("growth of requests in flight ÷ requests offered", 0.005, "ratio", HOUSE);
/// What helps where the rate is beyond the capacity.
const OVERLOAD_REMEDY: &str = "lower the rate: beyond the capacity, latency rises as long as the load lasts, and says little about the server";
/// A trend with more chance than this is noise.
const TREND_P_MAX: f64 = 0.01;
/// Seconds that each side of a level shift must last.
const SHIFT_SIDE_MIN: usize = 5;
/// Fewer intervals show no trend.
const INTERVALS_MIN: usize = 8;
/// Intervals shorter than this are the remainders of phases. Unit: seconds.
const INTERVAL_SECONDS_MIN: f64 = 0.5;

/// M10.
pub(crate) const NON_STATIONARY: Check = Check {
    id: "M10",
    name: "non-stationary",
    meaning: "Rate or latency kept changing during the measurement, so no single number describes it.",
    thresholds: &[RATE_CHANGE, RATE_BROKEN, LATENCY_CHANGE, LATENCY_BROKEN, LATENCY_FLOOR_NS, BACKLOG_GROWTH],
    remedy: "warm up longer with --warmup, or find out what else the server was doing",
    blame: Culprit::Server,
    concerns: &[Concern::Plan, Concern::Drift],
    examine: Examine::Trial(examine),
};

fn examine(view: &TrialView) -> Option<Observation> {
    // What changes what it offers changes what comes of it.
    if view.plan().changes().is_some() {
        return None;
    }
    let seconds: Vec<&Interval> = view
        .measured_intervals()
        .filter(|interval| interval.end_mono_ns.seconds_since(interval.begin_mono_ns) >= INTERVAL_SECONDS_MIN)
        .collect();
    if seconds.len() < INTERVALS_MIN {
        return None;
    }
    let backlog = backlog_signal(view, &seconds);
    let is_behind = view.achieved_ratio().is_some_and(|achieved| achieved < ACHIEVED.value);
    let is_overload = view.is_open() && (is_behind || backlog.is_some());
    let signals: Vec<Signal> = [rate_signal(view, &seconds), latency_signal(view, &seconds), backlog]
        .into_iter()
        .flatten()
        .collect();
    let text = signals.iter().map(|signal| signal.text.as_str()).collect::<Vec<_>>().join("; ");
    let worst = signals.iter().map(|signal| signal.status).max()?;
    match worst {
        _ if view.begin.purpose != TrialPurpose::Single => Observation::remark(text),
        _ if is_overload && signals.iter().all(|signal| signal.is_rise) => {
            let text = format!("{text}, since more was due than was completed");
            Observation::suspect(text).map(|seen| seen.with_remedy(OVERLOAD_REMEDY))
        }
        VerdictStatus::Invalid => Observation::invalid(text),
        VerdictStatus::Suspect | VerdictStatus::Valid => Observation::suspect(text),
    }
}

struct Signal {
    status: VerdictStatus,
    text: String,
    /// Whether it is a latency or a queue that rose.
    is_rise: bool,
}

impl Signal {
    fn new(change: &Change, broken: Threshold, text: String) -> Signal {
        let is_broken = change.ratio.abs() >= broken.value;
        let status = if is_broken { VerdictStatus::Invalid } else { VerdictStatus::Suspect };
        Signal { status, text, is_rise: change.ratio > 0.0 }
    }
}

/// Whether requests come at one rate whatever the server does; those of a log come as they came.
fn has_steady_arrivals(view: &TrialView) -> bool {
    matches!(view.plan().arrival, Arrival::Constant | Arrival::Poisson)
}

/// The rate of a closed loop whose clients stay; that of an open one is given.
fn rate_signal(view: &TrialView, seconds: &[&Interval]) -> Option<Signal> {
    if view.is_open() {
        return None;
    }
    let per_second = |interval: &&Interval| {
        let length = interval.end_mono_ns.seconds_since(interval.begin_mono_ns);
        interval.counts.ok as f64 / length
    };
    let rates: Vec<f64> = seconds.iter().map(per_second).collect();
    let change = change_of(&rates).filter(|change| change.ratio.abs() > RATE_CHANGE.value)?;
    let text = format!("the rate {} req/s over the window", change.phrase(rate));
    Some(Signal::new(&change, RATE_BROKEN, text))
}

fn latency_signal(view: &TrialView, seconds: &[&Interval]) -> Option<Signal> {
    if !has_steady_arrivals(view) {
        return None;
    }
    let medians: Vec<f64> = seconds.iter().filter_map(|interval| Some(interval.p50_ns? as f64)).collect();
    if medians.len() < INTERVALS_MIN {
        return None;
    }
    let change = change_of(&medians).filter(|change| change.ratio.abs() > LATENCY_CHANGE.value)?;
    (change.ratio.abs() * median(&medians)? >= LATENCY_FLOOR_NS.value).then(|| {
        let text = format!("the median latency {} over the window", change.phrase(duration));
        Signal::new(&change, LATENCY_BROKEN, text)
    })
}

fn backlog_signal(view: &TrialView, seconds: &[&Interval]) -> Option<Signal> {
    let in_flight: Vec<f64> = seconds.iter().map(|interval| interval.in_flight_at_end as f64).collect();
    let quarter = in_flight.len() / 4;
    let growth = mean(&in_flight[in_flight.len() - quarter..])? - mean(&in_flight[..quarter])?;
    let share = ratio(growth, view.counts().scheduled as f64)?;
    let is_growing = has_steady_arrivals(view) && share > BACKLOG_GROWTH.value && is_trend(&in_flight);
    is_growing.then(|| Signal {
        status: VerdictStatus::Suspect,
        text: format!("requests in flight grew by {} over the window", crate::format::whole(growth)),
        is_rise: true,
    })
}

/// How a series changed over its length.
struct Change {
    /// Its size, relative to the series: the gates are about this.
    ratio: f64,
    /// The level that was measured at its begin.
    from: f64,
    /// The level that was measured at its end.
    to: f64,
}

impl Change {
    /// `rose from 1.20 ms to 3.40 ms`.
    fn phrase(&self, write: fn(f64) -> String) -> String {
        let verb = if self.to > self.from { "rose" } else { "fell" };
        format!("{verb} from {} to {}", write(self.from), write(self.to))
    }
}

/// The change of a series by trend or by a level shift, whichever is greater; `None` if noise explains it.
fn change_of(values: &[f64]) -> Option<Change> {
    let greater = |a: &Change, b: &Change| a.ratio.abs().total_cmp(&b.ratio.abs());
    [trend(values), level_shift(values)].into_iter().flatten().max_by(greater)
}

/// A steady change, with the medians of the first and of the last quarter: a line through all values may leave what was
/// measured, and a level below zero means nothing.
fn trend(values: &[f64]) -> Option<Change> {
    let ratio = drift_ratio(values).filter(|_| is_trend(values))?;
    let quarter = (values.len() / 4).max(1);
    let (from, to) = (median(&values[..quarter])?, median(&values[values.len() - quarter..])?);
    ((to > from) == (ratio > 0.0) && to != from).then_some(Change { ratio, from, to })
}

fn is_trend(values: &[f64]) -> bool {
    mann_kendall(values).is_some_and(|test| test.p_two_sided < TREND_P_MAX)
}

/// The change at the best split, if every value before it lies on one side of every value after it.
fn level_shift(values: &[f64]) -> Option<Change> {
    let split = best_split(values, SHIFT_SIDE_MIN)?;
    let (before, after) = (&values[..split.index], values.get(split.index..split.end)?);
    let range = |part: &[f64]| {
        part.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        })
    };
    let ((low_before, high_before), (low_after, high_after)) = (range(before), range(after));
    let is_apart = high_before < low_after || high_after < low_before;
    let (from, to) = (mean(before)?, mean(after)?);
    let change = ratio(to - from, from)?;
    is_apart.then_some(Change { ratio: change, from, to })
}
