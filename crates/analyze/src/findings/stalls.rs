//! Responses that are slow in only a few seconds: the server stalls, and the question is what else happened in those
//! seconds.
//!
//! A second is a stall if its 99th percentile is far above that of a typical second ([`Stalls::of`]). The kernel's counters
//! in these seconds are compared with those in all other seconds (module `bursts`): a reading that is high in nearly all
//! stalls and low in nearly all other seconds coincides with the stalls. It may be a consequence rather than the cause, so
//! a second reading has to confirm it.

use super::effect::Slow;
use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence};
use crate::format::{counted, duration, whole};
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::load::Interval;

const TIMES: Threshold =
    Threshold::new("p99 of an interval ÷ median of these, to be a stall", 5.0, "ratio", HOUSE);
const EXCESS_NS: Threshold = Threshold::new("p99 of a stall above that median", 1e7, "ns", HOUSE);
pub(super) const STALLS: Threshold =
    Threshold::new("stalls, to see what they have in common", 3.0, "count", HOUSE);
const RARE: Threshold = Threshold::new("share of intervals with a stall, at most", 0.25, "ratio", HOUSE);
const OFTEN: Threshold = Threshold::new(
    "share of intervals with a stall, at most, if they come at regular intervals",
    0.40,
    "ratio",
    "house value: one pause every 3 s, some of which lie across the border of two intervals",
);
const REGULAR: Threshold =
    Threshold::new("stalls, to tell whether they come at regular intervals", 4.0, "count", HOUSE);
/// Intervals that it takes to tell the usual from the rare.
const INTERVALS: usize = 12;
const THRESHOLDS: &[Threshold] = &[TIMES, EXCESS_NS, STALLS, RARE, OFTEN, REGULAR];

/// A12.
pub(super) const STALLED: Rule = Rule {
    id: "A12",
    name: "stalls",
    meaning: "Responses are fast most of the time, and in a few seconds nearly all of them are slow.",
    thresholds: THRESHOLDS,
    place: Place::Elsewhere,
    needs: &[],
    remedy: "find what runs in these seconds: timers and cron jobs, checkpoints and cache expiry of the application, log \
             rotation, backups, garbage collection",
    counterfactual: "slow responses would be spread over all seconds",
    examine: Examination::By(examine),
};

/// The intervals of a trial, and which of them are stalls.
pub(super) struct Stalls<'a> {
    pub(super) intervals: Vec<&'a Interval>,
    pub(super) is_stall: Vec<bool>,
    pub(super) usual_ns: f64,
}

impl<'a> Stalls<'a> {
    /// `None`: there are too few intervals, or these stand for several.
    pub(super) fn of(view: &TrialView<'a>) -> Option<Stalls<'a>> {
        let intervals: Vec<&Interval> = view.measured_intervals().collect();
        let is_plain = intervals.len() >= INTERVALS && intervals.iter().all(|one| one.condensed.is_none());
        let tails: Vec<f64> = intervals.iter().map(|one| one.p99_ns.unwrap_or(0) as f64).collect();
        let mut sorted: Vec<f64> = tails.iter().copied().filter(|tail| *tail > 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        let usual_ns = *sorted.get(sorted.len() / 2).filter(|_| is_plain)?;
        let least = (TIMES.value * usual_ns).max(usual_ns + EXCESS_NS.value);
        let is_stall = tails.iter().map(|tail| *tail >= least).collect();
        Some(Stalls { intervals, is_stall, usual_ns })
    }

    fn stalls(&self) -> impl Iterator<Item = &'a Interval> {
        self.intervals.iter().zip(&self.is_stall).filter(|(_, is_stall)| **is_stall).map(|(one, _)| *one)
    }

    pub(super) fn count(&self) -> f64 {
        self.stalls().count() as f64
    }

    /// Whether an interval is next to a stall: what happens in both is cut at their border by chance.
    pub(super) fn is_beside_stall(&self, at: usize) -> bool {
        let is_stall = |at: usize| self.is_stall.get(at).copied().unwrap_or(false);
        is_stall(at + 1) || at.checked_sub(1).is_some_and(is_stall)
    }

    /// Whether they are enough, and few enough to be told from the rest.
    pub(super) fn is_clear(&self) -> bool {
        let most = if self.period_seconds().is_some() { OFTEN } else { RARE };
        self.count() >= STALLS.value && self.count() <= most.value * self.intervals.len() as f64
    }

    /// Seconds from one stall to the next, if that is nearly always the same. Stalls next to each other are one.
    fn period_seconds(&self) -> Option<f64> {
        let starts = |at: &usize| self.is_stall[*at] && (*at == 0 || !self.is_stall[*at - 1]);
        let begins: Vec<f64> = (0..self.is_stall.len())
            .filter(starts)
            .map(|at| self.intervals[at].begin_mono_ns.0 as f64 / 1e9)
            .collect();
        let gaps: Vec<f64> = begins.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let length = self.intervals[0].end_mono_ns.seconds_since(self.intervals[0].begin_mono_ns);
        let is_even = gaps.iter().all(|gap| (gap - mean).abs() <= 1.5 * length);
        (begins.len() as f64 >= REGULAR.value && is_even && mean >= 3.0 * length).then_some(mean)
    }

    /// `in 4 of 30 intervals, one every 5 s, p99 was 310 ms or more; it was 12 ms in the usual one`.
    fn text(&self) -> String {
        let least = self.stalls().filter_map(|one| one.p99_ns).min().unwrap_or(0) as f64;
        let every = self.period_seconds().map(|period| format!(", one every {period:.0} s"));
        format!(
            "in {} of {}{}, p99 was {} or more; it was {} in the usual one",
            whole(self.count()),
            counted(self.intervals.len() as f64, "interval"),
            every.unwrap_or_default(),
            duration(least),
            duration(self.usual_ns)
        )
    }

    /// Requests of the stalls: so many can have been slow for it.
    pub(super) fn reach(&self, view: &TrialView) -> Reach {
        let count = self.stalls().map(|one| one.counts.ok as f64).sum();
        let failed: f64 =
            self.stalls().map(|one| one.counts.failed as f64 + one.counts.timed_out as f64).sum();
        let slow = Slow::Delayed { count, most_ns: f64::INFINITY };
        Reach { failures: failed.min(Reach::used_up(view, 1.0).failures), slow, events: None }
    }
}

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let stalls = Stalls::of(view).filter(Stalls::is_clear)?;
    // What stalls is not said by times alone, so that nothing confirms it: the rules of `bursts` look for that.
    let seen = evidence(EvidenceRole::Mechanism, &view.steady(), ENGINE, stalls.text());
    Some(Case::new(
        format!("Responses stall now and then: {}", stalls.text()),
        vec![seen],
        stalls.reach(view),
    ))
}
