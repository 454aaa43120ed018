//! Are the times consistent: stalls in a closed loop, Little's law, the shape of the arrivals?

use super::check::{Check, Concern, Culprit, Examine, Observation};
use crate::format::{counted, duration, percent};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::analysis::ArrivalFit;
use sysdyno_record::load::{Interval, LatencyKind};
use sysdyno_record::plan::{Arrival, KeepAlive};
use sysdyno_stats::descriptive::median;
use sysdyno_stats::goodness::{CRITICAL_KNOWN_1_PERCENT, anderson_darling_uniform, gamma_share};

const STALL: Threshold = Threshold::new("longest ÷ median service time", 10.0, "ratio", HOUSE);
const STALL_SHARE: Threshold = Threshold::new(
    "length of a stall of all connections ÷ length of the measurement",
    0.01,
    "ratio",
    "arithmetic: a stall of 1% of the time shifts the p99 of an open loop",
);

/// M06.
pub(super) const COORDINATED_OMISSION: Check = Check {
    id: "M06",
    name: "coordinated-omission",
    meaning: "The server stalled while closed-loop clients waited instead of sending, so the percentiles \
              hide the stall (coordinated omission).",
    thresholds: &[STALL, STALL_SHARE],
    remedy: "measure response time with an open loop: --rate at 80% of this rate",
    blame: Culprit::Server,
    concerns: &[],
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
        "the longest service time was {}, the median {}: a closed loop sends nothing during a stall and \
         undercounts it",
        duration(longest),
        duration(median)
    );
    let histogram = view.latency.get(LatencyKind::Service).as_hdr();
    let stalled = histogram.count_between((longest / 2.0) as u64, longest as u64) as f64;
    let is_of_all = stalled >= view.plan().lanes() as f64 / 2.0;
    let is_long = longest / 1e9 >= STALL_SHARE.value * view.seconds();
    if is_of_all && is_long { Observation::suspect(text) } else { Observation::remark(text) }
}

/// Intervals shorter than this are the remainders of phases. Unit: seconds.
const STILL_INTERVAL_SECONDS_MIN: f64 = 0.5;

/// Time of the measured phases in which requests were on their way and none of them ended, by any outcome but a timeout.
/// Unit: seconds.
///
/// Looked at is each interval as a whole, so that a standstill of less than a second may be missed and a longer one is
/// taken for up to a second less. Where an answer takes about as long as an interval, one without answers says nothing.
pub(crate) fn standstill_seconds(view: &TrialView) -> f64 {
    let usual = view.summary(LatencyKind::Service).p50.unwrap_or(0) as f64 / 1e9;
    let is_still = |interval: &&Interval| {
        // What was sent in one phase and ended in the next is told in an interval of its own.
        let same_time = view.intervals.iter().filter(|other| other.begin_mono_ns == interval.begin_mono_ns);
        let ended: u64 = same_time.map(|other| other.counts.ok.saturating_add(other.counts.failed)).sum();
        interval.in_flight_at_end > 0 && ended == 0
    };
    let length = |interval: &Interval| interval.end_mono_ns.seconds_since(interval.begin_mono_ns);
    let still = view.measured_intervals().filter(is_still).map(length);
    still.filter(|seconds| *seconds >= STILL_INTERVAL_SECONDS_MIN.max(2.0 * usual)).sum()
}

const OCCUPANCY_MAX: Threshold = Threshold::new(
    "rate × time in the system ÷ connections",
    1.05,
    "ratio",
    "house value; J. Little 1961: it cannot exceed 1",
);
const OCCUPANCY_MIN: Threshold = Threshold::new(
    "the same, at least, in a closed loop, where every connection is busy",
    0.90,
    "ratio",
    HOUSE,
);
const OCCUPANCY_SECONDS: Threshold = Threshold::new(
    "length of a closed load, for this to apply; threads and connections need time to start",
    0.5,
    "s",
    HOUSE,
);

/// V07.
pub(super) const LITTLE: Check = Check {
    id: "V07",
    name: "littles-law",
    meaning: "Rate, latency, and number of connections contradict each other (Little's law), so one of them \
              is wrong.",
    thresholds: &[OCCUPANCY_MAX, OCCUPANCY_MIN, OCCUPANCY_SECONDS],
    remedy: "keep the run folder and report a bug: below 0.90, the generator was slow between requests; \
             above 1.05, it miscounted",
    blame: Culprit::Server,
    concerns: &[Concern::Plan],
    examine: Examine::Trial(examine_little),
};

fn examine_little(view: &TrialView) -> Option<Observation> {
    let counts = view.counts();
    let service = view.summary(LatencyKind::Service);
    let connections = view.plan().lanes() as f64;
    let seconds = view.seconds();
    let service_ns = service.mean? * service.count as f64;
    let connect = view.summary(LatencyKind::Connect);
    let connect_ns = connect.mean.unwrap_or(0.0) * connect.count as f64;
    let occupancy = |busy_ns: f64| ratio(busy_ns / 1e9, seconds * connections);
    // Requests that began in the window and ended after it add up to one service time per connection.
    let edge = ratio(service.max? as f64 / 1e9, seconds)?;
    let least = occupancy(service_ns)?;
    let text =
        |value: f64| format!("Little's law: rate × latency is {value:.2} times the number of connections");
    if least > OCCUPANCY_MAX.value + edge {
        return Observation::invalid(text(least));
    }
    let is_judged = !view.is_open()
        && seconds >= OCCUPANCY_SECONDS.value
        && view.plan().keep_alive == KeepAlive::Unlimited
        && view.plan().workload.clients.is_empty()
        && counts.failed == 0
        && counts.timed_out == 0;
    // What has come and is not read yet is neither with the server nor idle.
    let measured = &view.end.summary.measured;
    let unread_ns = measured.unread_mean_ns.unwrap_or(0.0).max(0.0) * counts.ok as f64;
    let most = occupancy(service_ns + connect_ns + unread_ns)?;
    if is_judged && most < OCCUPANCY_MIN.value - edge { Observation::suspect(text(most)) } else { None }
}

const SHAPE: Threshold = Threshold::new(
    "Anderson–Darling statistic A² of the gaps of Poisson arrivals by phase, to be mentioned",
    CRITICAL_KNOWN_1_PERCENT,
    "A²",
    "critical value at 1% for known rates, G. and J. Marsaglia 2004: one good run in a hundred exceeds it",
);
const SHAPE_WRONG: Threshold = Threshold::new("the same, far beyond chance", 10.0, "A²", HOUSE);
const GAP_DEVIATION: Threshold = Threshold::new(
    "median deviation of the gaps of constant arrivals from the plan, beyond the timer's error",
    0.05,
    "ratio",
    HOUSE,
);
/// Fewer gaps than this do not show a shape.
const GAPS_MIN: usize = 100;

/// V24.
pub(super) const ARRIVAL_SHAPE: Check = Check {
    id: "V24",
    name: "arrival-shape",
    meaning: "The gaps between arrivals do not follow the requested distribution.",
    thresholds: &[SHAPE, SHAPE_WRONG, GAP_DEVIATION],
    remedy: "lower the rate or use a quieter host; if it persists with another --seed, report a bug",
    blame: Culprit::Server,
    concerns: &[Concern::Plan],
    examine: Examine::Trial(examine_shape),
};

/// How well the arrivals of a trial fit what was planned.
///
/// Each thread has its own process of rate ÷ threads, and a gap of k arrivals of it is gamma distributed if they are
/// Poisson: its place in that distribution is uniform, whatever the rate of its phase, so that all phases and threads
/// make one sample.
/// `None`: a closed process, too few gaps, or a record without them.
pub(crate) fn arrival_fit(view: &TrialView) -> Option<ArrivalFit> {
    let gaps = planned_gaps(view);
    let fit = |statistic: f64, critical: f64| ArrivalFit {
        arrival: view.plan().arrival,
        statistic,
        critical,
        gaps_count: gaps.len() as u64,
        is_met: statistic <= critical,
    };
    if gaps.len() < GAPS_MIN {
        return None;
    }
    match view.plan().arrival {
        Arrival::Closed | Arrival::Trace | Arrival::Sessions => None,
        Arrival::Poisson => {
            let shares: Option<Vec<f64>> =
                gaps.iter().map(|gap| gamma_share(gap.length_ns, gap.arrivals, gap.mean_ns)).collect();
            anderson_darling_uniform(&shares?).map(|statistic| fit(statistic, SHAPE.value))
        }
        Arrival::Constant => {
            let deviation = |gap: &Gap| (gap.length_ns / (gap.mean_ns * f64::from(gap.arrivals)) - 1.0).abs();
            let error = |gap: &Gap| error_ns(view) / (gap.mean_ns * f64::from(gap.arrivals));
            let deviations: Vec<f64> = gaps.iter().map(deviation).collect();
            let errors: Vec<f64> = gaps.iter().map(error).collect();
            median(&deviations)
                .zip(median(&errors))
                .map(|(found, error)| fit(found, GAP_DEVIATION.value + error))
        }
    }
}

/// A gap with what was planned for it.
struct Gap {
    length_ns: f64,
    arrivals: u32,
    /// Mean gap of neighboring arrivals of one thread.
    mean_ns: f64,
}

fn error_ns(view: &TrialView) -> f64 {
    view.end.summary.generator.timer_error.p99_ns as f64
}

fn planned_gaps(view: &TrialView) -> Vec<Gap> {
    let generator = &view.end.summary.generator;
    let threads = f64::from(generator.threads);
    let mean_ns = |phase_index: u32| {
        let phase = view.plan().phases.get(phase_index as usize)?;
        phase.rate_hz.map(|rate_hz| threads * 1e9 / rate_hz).filter(|mean| mean.is_finite() && *mean > 0.0)
    };
    let samples = generator.arrival_gaps.iter().filter(|sample| sample.arrivals_count > 0);
    let known = samples.filter_map(|sample| mean_ns(sample.phase_index).map(|mean_ns| (sample, mean_ns)));
    known
        .flat_map(|(sample, mean_ns)| {
            sample.gaps_ns.iter().map(move |length_ns| Gap {
                length_ns: *length_ns as f64,
                arrivals: sample.arrivals_count,
                mean_ns,
            })
        })
        .collect()
}

fn examine_shape(view: &TrialView) -> Option<Observation> {
    let fit = arrival_fit(view).filter(|fit| !fit.is_met)?;
    let gaps = counted(fit.gaps_count as f64, "gap");
    if fit.arrival == Arrival::Constant {
        let found = percent(fit.statistic);
        return Observation::suspect(format!(
            "half of {gaps} between constant arrivals are off by {found} or more"
        ));
    }
    let text = format!("{gaps} between Poisson arrivals: A² is {:.2}, above {}", fit.statistic, fit.critical);
    if fit.statistic > SHAPE_WRONG.value {
        return Observation::suspect(format!("{text}: they are not exponential at the planned rate"));
    }
    Observation::remark(format!("{text}, as happens in one good run in a hundred"))
}
