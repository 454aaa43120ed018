//! What a load is diagnosed by that was stopped because its requests failed in the warm-up.
//!
//! After a hard stop nothing but probes is sent. If it fires in the warm-up, then the measured phases hold probes or nothing at
//! all, and what stopped the load does not show in them. Findings and the path of a request then look at the warm-up too;
//! rates, percentiles, and the verdict do not.

use crate::view::set_rates;
use std::collections::BTreeMap;
use sysdyno_record::load::{Counts, Interval, PhaseSummary, TrialEnd, TrialEnding};
use sysdyno_record::plan::PhaseKind;

/// A trial whose warm-up counts as measured.
pub(crate) struct EarlyStop {
    pub(crate) end: TrialEnd,
    pub(crate) intervals: Vec<Interval>,
}

impl EarlyStop {
    /// `None`: no hard stop ended the trial, or most requests that failed were measured.
    pub(crate) fn of(end: &TrialEnd, intervals: &[Interval]) -> Option<EarlyStop> {
        if !matches!(end.ending, TrialEnding::HardStop(_)) {
            return None;
        }
        let warmup = end.summary.phases.iter().find(|phase| phase.kind == PhaseKind::Warmup)?;
        if failed(&warmup.counts) <= failed(&end.summary.measured.counts) {
            return None;
        }
        let mut end = end.clone();
        end.summary.measured = together(warmup, &end.summary.measured);
        let mut intervals = intervals.to_vec();
        let of_warmup = intervals.iter_mut().filter(|interval| interval.phase == PhaseKind::Warmup);
        of_warmup.for_each(|interval| interval.phase = PhaseKind::Steady);
        Some(EarlyStop { end, intervals })
    }
}

/// Counts of a record may be of any size.
fn add<K: Copy + Ord>(sums: &mut BTreeMap<K, u64>, counts: &BTreeMap<K, u64>) {
    for (key, count) in counts {
        let sum = sums.entry(*key).or_default();
        *sum = sum.saturating_add(*count);
    }
}

fn failed(counts: &Counts) -> u64 {
    counts.failed.saturating_add(counts.timed_out)
}

/// Two phases as one. Percentiles are those of the first: nearly all requests are in it.
fn together(warmup: &PhaseSummary, after: &PhaseSummary) -> PhaseSummary {
    let mut all = PhaseSummary { kind: PhaseKind::Steady, ..warmup.clone() };
    all.end_mono_ns = all.end_mono_ns.max(after.end_mono_ns);
    all.counts.add(&after.counts);
    add(&mut all.failures, &after.failures);
    add(&mut all.statuses, &after.statuses);
    all.told.merge(&after.told);
    all.received_bytes = all.received_bytes.saturating_add(after.received_bytes);
    all.connections_opened = all.connections_opened.saturating_add(after.connections_opened);
    let is_open = all.offered_hz.is_some();
    set_rates(&mut all, is_open);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{BEGIN, Specimen, WARMUP, at};
    use sysdyno_record::load::FailureClass;

    /// 200 requests of the warm-up, of which so many failed, and then ten probes, which all failed.
    fn stopped(failed: u64) -> Specimen {
        let mut case = Specimen::open(1.0, 10.0).fail(FailureClass::Status, 10);
        case.end.ending = TrialEnding::HardStop("too many failed".into());
        let warmup = PhaseSummary {
            kind: PhaseKind::Warmup,
            begin_mono_ns: at(BEGIN),
            end_mono_ns: at(BEGIN + WARMUP),
            counts: Counts { scheduled: 200, sent: 200, ok: 200 - failed, failed, ..Counts::default() },
            failures: [(FailureClass::Status, failed)].into(),
            offered_hz: Some(100.0),
            ..PhaseSummary::default()
        };
        case.end.summary.phases.insert(0, warmup);
        let first = Interval { phase: PhaseKind::Warmup, ..case.intervals[0].clone() };
        case.intervals.insert(0, first);
        case.build()
    }

    #[test]
    fn a_load_that_was_stopped_in_its_warm_up_is_judged_by_it() {
        let case = stopped(160);
        let early = EarlyStop::of(&case.end, &case.intervals).expect("the warm-up counts");
        let all = &early.end.summary.measured;
        assert_eq!((all.begin_mono_ns, all.end_mono_ns), (at(BEGIN), case.end.summary.measured.end_mono_ns));
        assert_eq!((all.counts.failed, all.counts.ok), (170, 40));
        assert_eq!(all.failures[&FailureClass::Status], 170);
        assert_eq!(all.offered_hz, Some(17.5), "210 requests in 12 s");
        assert!(early.intervals.iter().all(|interval| interval.phase.is_measured()));
    }

    #[test]
    fn the_measured_phases_stand_alone_where_the_failures_are_in_them_or_nothing_was_stopped() {
        let case = stopped(5);
        assert!(EarlyStop::of(&case.end, &case.intervals).is_none());
        let mut case = stopped(160);
        case.end.ending = TrialEnding::Complete;
        assert!(EarlyStop::of(&case.end, &case.intervals).is_none());
    }
}
