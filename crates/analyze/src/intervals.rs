//! Intervals of percentiles that allow for dependence in time.
//!
//! The method is that of [`sysdyno_stats::dependence`]; here the windows of a trial are taken out of the record. Values
//! that became known after the last measured second (of requests that were then on their way) belong to that second.

use crate::format::{counted, whole};
use crate::verdict::Observation;
use crate::verdict::run::{DEPENDENT_SAMPLES, STRONG};
use crate::view::TrialView;
use sysdyno_record::analysis::Reason;
use sysdyno_record::load::{IntervalBasis, LatencyKind, LatencySummary, LatencyWindow, PercentileDependence};
use sysdyno_stats::dependence::{self, Unknown, WindowCount, dependent_interval};
use sysdyno_stats::histogram::LatencyHistogram;
use sysdyno_stats::order_statistics::is_quantile_supported;

/// Level of the intervals.
const LEVEL: f64 = 0.95;

/// Windows begin at whole milliseconds in the log. Unit: nanoseconds.
const GRAIN_NS: u64 = 1_000_000;

/// Says so when the felt latency depends strongly on that of the window before.
pub(crate) fn examine_dependence(felt: &LatencySummary) -> Option<Reason> {
    let basis = felt.interval_basis.as_ref()?;
    let known = [("p50", basis.p50), ("p99", basis.p99)];
    let strong = known.into_iter().find_map(|(name, dependence)| {
        dependence.filter(|found| found.autocorrelation_ratio >= STRONG.value).map(|found| (name, found))
    });
    let (name, found) = strong?;
    let seen = format!(
        "slow responses came in clusters: beyond {name}, the autocorrelation over {} windows is {:.2}",
        basis.windows_count, found.autocorrelation_ratio
    );
    let text = match found.effective_count {
        Some(effective) => format!(
            "{seen}; {} are worth {} independent ones",
            counted(felt.count as f64, "sample"),
            whole(effective as f64)
        ),
        None => format!("{seen}, too high for an interval"),
    };
    DEPENDENT_SAMPLES.raise(Observation::remark(text))
}

/// The summary of a kind with intervals that allow for dependence; without any where that is not known.
pub(crate) fn summary(view: &TrialView, windows: &[LatencyWindow], kind: LatencyKind) -> LatencySummary {
    let plain = view.summary(kind);
    let bare = LatencySummary { p50_interval: None, p99_interval: None, ..plain };
    let windows = measured_windows(view, windows, kind);
    if windows.is_empty() {
        return bare;
    }
    let histogram = view.latency.get(kind);
    let window_ns = (view.seconds() * 1e9 / windows.len() as f64).round() as u64;
    // Where values are lower bounds, so would be the upper end.
    let is_known = |interval: &[u64; 2]| plain.censored_min_ns.is_none_or(|bound_ns| interval[1] < bound_ns);
    let of = |ratio: f64| {
        let found = percentile(histogram, &windows, ratio, window_ns);
        Percentile { interval_ns: found.interval_ns.filter(is_known), ..found }
    };
    let [p50, p90, p99, p99_9] = [0.5, 0.9, 0.99, 0.999].map(of);
    LatencySummary {
        p50_interval: p50.interval_ns,
        p90_interval: p90.interval_ns,
        p99_interval: p99.interval_ns,
        p99_9_interval: p99_9.interval_ns,
        interval_basis: Some(IntervalBasis {
            windows_count: windows.len() as u64,
            window_ns,
            p50: p50.dependence,
            p90: p90.dependence,
            p99: p99.dependence,
            p99_9: p99_9.dependence,
        }),
        ..bare
    }
}

/// The windows of a kind in order, those after the measured phases joined to the last one in them.
fn measured_windows<'a>(
    view: &TrialView,
    windows: &'a [LatencyWindow],
    kind: LatencyKind,
) -> Vec<Vec<&'a LatencyWindow>> {
    let end = view.measured().end_mono_ns;
    let mut joined: Vec<Vec<&LatencyWindow>> = Vec::new();
    for window in windows.iter().filter(|window| window.kind == kind) {
        let is_within = window.begin_mono_ns.0.saturating_add(GRAIN_NS) < end.0;
        match joined.last_mut() {
            Some(last) if !is_within => last.push(window),
            _ => joined.push(vec![window]),
        }
    }
    joined
}

struct Percentile {
    interval_ns: Option<[u64; 2]>,
    dependence: Option<PercentileDependence>,
}

fn percentile(
    histogram: &LatencyHistogram,
    windows: &[Vec<&LatencyWindow>],
    ratio: f64,
    window_ns: u64,
) -> Percentile {
    let none = Percentile { interval_ns: None, dependence: None };
    let supported = histogram.quantile(ratio).filter(|_| is_quantile_supported(histogram.count(), ratio));
    let Some(at_ns) = supported else { return none };
    let counts: Vec<WindowCount> = windows.iter().map(|window| count_above(window, at_ns)).collect();
    let unseen = |autocorrelation_ratio: f64| PercentileDependence {
        autocorrelation_ratio,
        batch_ns: None,
        batches_count: None,
        effective_count: None,
    };
    match dependence::dependence(&counts) {
        Err(Unknown::FewWindows) => none,
        Err(Unknown::Correlated { window_rho }) => {
            Percentile { dependence: Some(unseen(window_rho)), ..none }
        }
        Ok(found) => Percentile {
            interval_ns: dependent_interval(histogram, ratio, LEVEL, &found),
            dependence: Some(PercentileDependence {
                batch_ns: Some(window_ns.saturating_mul(found.batch_windows as u64)),
                batches_count: Some(found.batches as u64),
                effective_count: Some(found.effective_count(histogram.count(), LEVEL)),
                ..unseen(found.window_rho)
            }),
        },
    }
}

fn count_above(windows: &[&LatencyWindow], at_ns: u64) -> WindowCount {
    let steps = windows.iter().flat_map(|window| &window.steps);
    steps.fold(WindowCount::default(), |sum, step| WindowCount {
        count: sum.count.saturating_add(step.count),
        above: sum.above.saturating_add(if step.up_to_ns > at_ns { step.count } else { 0 }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Specimen;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use sysdyno_record::load::WindowStep;
    use sysdyno_record::units::MonoNs;

    /// A trial of so many seconds whose seconds have these levels, with a hundred values around each.
    fn trial(levels: &[f64]) -> (Specimen, Vec<LatencyWindow>) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut case = Specimen::open(100.0, levels.len() as f64).build();
        let begin = case.view().measured().begin_mono_ns;
        let mut all = LatencyHistogram::new();
        let window = |(second, level): (usize, &f64)| {
            let mut histogram = LatencyHistogram::new();
            (0..100).for_each(|_| histogram.record((level * 1e6 * (1.0 + random.random::<f64>())) as u64));
            all.merge(&histogram);
            let steps = histogram.as_hdr().iter_recorded();
            let steps = steps.map(|step| WindowStep {
                up_to_ns: step.value_iterated_to(),
                count: step.count_since_last_iteration(),
            });
            LatencyWindow {
                kind: LatencyKind::Response,
                begin_mono_ns: MonoNs(begin.0 + second as u64 * 1_000_000_000),
                steps: steps.collect(),
            }
        };
        let windows = levels.iter().enumerate().map(window).collect();
        case.fill(LatencyKind::Response, all);
        (case, windows)
    }

    fn intervals(levels: &[f64]) -> LatencySummary {
        let (case, windows) = trial(levels);
        summary(&case.view(), &windows, LatencyKind::Response)
    }

    fn width(interval: Option<[u64; 2]>) -> u64 {
        interval.map(|[low, high]| high - low).expect("known")
    }

    #[test]
    fn seconds_that_differ_widen_the_interval() {
        let even = intervals(&[1.0; 30]);
        let uneven: Vec<f64> = (0..30).map(|second| if second * 7 % 10 < 3 { 1.6 } else { 1.0 }).collect();
        let uneven = intervals(&uneven);
        assert!(width(uneven.p50_interval) > 2 * width(even.p50_interval), "{uneven:?}\n{even:?}");
        let basis = |summary: &LatencySummary| summary.interval_basis.expect("windows").p50.expect("enough");
        assert!(basis(&even).effective_count > Some(2_000), "{even:?}");
        assert!(basis(&uneven).effective_count < Some(1_000), "{uneven:?}");
        assert_eq!(examine_dependence(&uneven), None, "slow seconds do not follow each other");
    }

    #[test]
    fn seconds_that_follow_each_other_for_long_have_no_interval_and_are_told() {
        let wave: Vec<f64> = (0..30).map(|second| if second < 15 { 1.0 } else { 3.0 }).collect();
        let found = intervals(&wave);
        assert_eq!((found.p50_interval, found.p99_interval), (None, None));
        let reason = examine_dependence(&found).expect("strong");
        assert!(reason.text.contains("too high for an interval"), "{reason:?}");
        assert!(found.p50.is_some(), "the percentile itself stays");
    }

    #[test]
    fn few_seconds_and_records_without_windows_have_no_interval() {
        let short = intervals(&[1.0; 5]);
        assert_eq!(short.p50_interval, None);
        assert_eq!(short.interval_basis.map(|basis| (basis.windows_count, basis.p50)), Some((5, None)));
        let (case, _) = trial(&[1.0; 30]);
        let bare = summary(&case.view(), &[], LatencyKind::Response);
        assert_eq!((bare.p50_interval, bare.interval_basis), (None, None));
    }

    #[test]
    fn what_came_after_the_end_belongs_to_the_last_second() {
        let (case, mut windows) = trial(&[1.0; 10]);
        let late = LatencyWindow { begin_mono_ns: case.view().measured().end_mono_ns, ..windows[0].clone() };
        windows.push(late);
        let found = summary(&case.view(), &windows, LatencyKind::Response);
        assert_eq!(found.interval_basis.map(|basis| basis.windows_count), Some(10));
    }

    #[test]
    fn an_interval_does_not_end_where_values_are_lower_bounds() {
        let (mut case, windows) = trial(&[1.0; 30]);
        let bound_ns = Some(1_990_000);
        let kinds = &mut case.end.summary.measured.latency;
        kinds.get_mut(&LatencyKind::Response).expect("filled").censored_min_ns = bound_ns;
        let found = summary(&case.view(), &windows, LatencyKind::Response);
        assert!(found.p50_interval.is_some() && found.p99_interval.is_none(), "{found:?}");
    }
}
