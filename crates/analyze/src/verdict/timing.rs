//! Does the arithmetic of time hold: stalls in a closed loop, Little's law, the shape of the arrivals?

use super::{Check, Examine, Observation};
use crate::format::{duration, percent};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::load::LatencyKind;
use sysdyno_record::plan::{Arrival, KeepAlive};
use sysdyno_stats::descriptive::{median, median_absolute_deviation};
use sysdyno_stats::goodness::{CRITICAL_1_PERCENT, anderson_darling_exponential};

const STALL: Threshold = Threshold::new("longest ÷ median service time", 10.0, "ratio", HOUSE);
const STALL_SHARE: Threshold = Threshold::new(
    "length of a stall of all connections ÷ length of the measurement",
    0.01,
    "ratio",
    "arithmetic: a stall of 1 % of the time moves the p99 of an open loop",
);

/// M06.
pub(super) const COORDINATED_OMISSION: Check = Check {
    id: "M06",
    name: "coordinated-omission",
    meaning: "The server stalled, and the clients of a closed loop waited instead of sending, so that the percentiles hide it.",
    thresholds: &[STALL, STALL_SHARE],
    remedy: "measure response time with an open loop: --rate, at four fifths of this rate",
    examine: Examine::Trial(examine_stall),
};

fn examine_stall(view: &TrialView) -> Option<Observation> {
    if view.is_open() {
        return None;
    }
    let service = view.summary(LatencyKind::Service);
    let (median, longest) = (service.p50? as f64, service.max? as f64);
    ratio(longest, median).filter(|times| *times > STALL.value)?;
    let text = format!(
        "the longest service time was {}, the median {}: a closed loop sends nothing meanwhile and undercounts it",
        duration(longest),
        duration(median)
    );
    let histogram = view.latency.get(LatencyKind::Service).as_hdr();
    let stalled = histogram.count_between((longest / 2.0) as u64, longest as u64) as f64;
    let is_of_all = stalled >= f64::from(view.plan().connections) / 2.0;
    let is_long = longest / 1e9 >= STALL_SHARE.value * view.seconds();
    if is_of_all && is_long { Observation::suspect(text) } else { Observation::remark(text) }
}

const OCCUPANCY_MAX: Threshold = Threshold::new(
    "rate × time in the system ÷ connections",
    1.05,
    "ratio",
    "house value; J. Little 1961: it cannot exceed 1",
);
const OCCUPANCY_MIN: Threshold =
    Threshold::new("the same in a closed loop, which keeps every connection busy", 0.90, "ratio", HOUSE);

/// V07.
pub(super) const LITTLE: Check = Check {
    id: "V07",
    name: "littles-law",
    meaning: "Rate, latency and number of connections contradict each other, so that one of them is not what it is called.",
    thresholds: &[OCCUPANCY_MAX, OCCUPANCY_MIN],
    remedy: "keep the run folder and report it: below 0.90 the generator was idle or slow between requests, above 1.05 it miscounted",
    examine: Examine::Trial(examine_little),
};

fn examine_little(view: &TrialView) -> Option<Observation> {
    let counts = view.counts();
    let service = view.summary(LatencyKind::Service);
    let connections = f64::from(view.plan().connections);
    let seconds = view.seconds();
    let service_ns = service.mean? * service.count as f64;
    let connect = view.summary(LatencyKind::Connect);
    let connect_ns = connect.mean.unwrap_or(0.0) * connect.count as f64;
    let occupancy = |busy_ns: f64| ratio(busy_ns / 1e9, seconds * connections);
    // Requests that began in the window and ended after it add up to one service time per connection.
    let edge = ratio(service.max? as f64 / 1e9, seconds)?;
    let least = occupancy(service_ns)?;
    let text = |value: f64| format!("Little's law: rate × latency is {} of the connections", percent(value));
    if least > OCCUPANCY_MAX.value + edge {
        return Observation::invalid(text(least));
    }
    let is_judged = !view.is_open()
        && view.plan().keep_alive == KeepAlive::Unlimited
        && counts.failed == 0
        && counts.timed_out == 0;
    let most = occupancy(service_ns + connect_ns)?;
    if is_judged && most < OCCUPANCY_MIN.value - edge { Observation::suspect(text(most)) } else { None }
}

const SHAPE: Threshold = Threshold::new(
    "Anderson–Darling statistic of the gaps against exponential ones, worth a remark",
    CRITICAL_1_PERCENT,
    "A²*",
    "critical value at 1 %, scipy.stats 1.17",
);
const SHAPE_WRONG: Threshold =
    Threshold::new("the same; far beyond what chance and a little lateness explain", 10.0, "A²*", HOUSE);
const GAP_VARIATION: Threshold = Threshold::new(
    "median deviation ÷ median of the gaps of constant arrivals, beyond the timer's error",
    0.05,
    "ratio",
    HOUSE,
);
/// Fewer gaps than this do not show a shape.
const GAPS_MIN: usize = 100;
/// Constant gaps shorter than this many timer errors come in bunches whatever the schedule says.
const TIMER_ERRORS_MIN: f64 = 4.0;

/// V24.
pub(super) const ARRIVAL_SHAPE: Check = Check {
    id: "V24",
    name: "arrival-shape",
    meaning: "The gaps between arrivals do not have the distribution that was asked for.",
    thresholds: &[SHAPE, SHAPE_WRONG, GAP_VARIATION],
    remedy: "lower the rate or use a quieter host; if it stays there with another --seed, report it",
    examine: Examine::Trial(examine_shape),
};

/// The gaps are those at which arrivals were noticed: what is closer together than the timer's error comes in bunches.
/// An exponential distribution has no memory, so that the gaps beyond that error, less the error, must be exponential
/// too.
fn examine_shape(view: &TrialView) -> Option<Observation> {
    let generator = &view.end.summary.generator;
    let error_ns = generator.timer_error.p99_ns as f64;
    let gaps: Vec<f64> = generator.gap_sample_ns.iter().map(|gap| *gap as f64).collect();
    match view.plan().arrival {
        Arrival::Closed => None,
        Arrival::Poisson => examine_poisson(&gaps, error_ns),
        Arrival::Constant => examine_constant(&gaps, error_ns),
    }
}

fn examine_poisson(gaps: &[f64], error_ns: f64) -> Option<Observation> {
    let beyond: Vec<f64> = gaps.iter().filter(|gap| **gap > error_ns).map(|gap| gap - error_ns).collect();
    let test = anderson_darling_exponential(&beyond).filter(|_| beyond.len() >= GAPS_MIN)?;
    let statistic = test.a_squared_star;
    let text = format!("gaps of {} arrivals: A²* is {statistic:.2} against exponential ones", beyond.len());
    if statistic > SHAPE_WRONG.value {
        return Observation::suspect(text);
    }
    if statistic > SHAPE.value { Observation::remark(text) } else { None }
}

fn examine_constant(gaps: &[f64], error_ns: f64) -> Option<Observation> {
    let is_coarse = |middle: &f64| *middle > TIMER_ERRORS_MIN * error_ns;
    let middle = median(gaps).filter(|middle| gaps.len() >= GAPS_MIN && is_coarse(middle))?;
    let variation = ratio(median_absolute_deviation(gaps)?, middle)?;
    if variation <= GAP_VARIATION.value + error_ns / middle {
        return None;
    }
    Observation::suspect(format!("gaps of constant arrivals vary by {}", percent(variation)))
}
