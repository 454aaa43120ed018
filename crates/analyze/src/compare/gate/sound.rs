//! Do the numbers of each run measure the server at all?

use super::{Examine, Gate, Seen};
use crate::compare::profile::RunProfile;
use crate::format::percent;
use crate::threshold::Threshold;
use crate::verdict::{Culprit, is_blamed_on, is_end_of_search, is_raised_by_errors};
use sysdyno_record::analysis::{Reason, VerdictStatus};

/// C01.
pub(in crate::compare) const INVALID_RUN: Gate = Gate {
    id: "C01",
    name: "invalid-run",
    meaning: "A run is INVALID or did not finish: its numbers are not the server's, so comparing them is \
              meaningless. What remains true of it is compared as a bound: see C02 and C03.",
    thresholds: &[],
    remedy: "check the run with `sysdyno show`, fix the reported problem, and measure again",
    can_be_allowed: false,
    examine: Examine::Run(examine_verdict),
};

fn ids<'a>(reasons: impl Iterator<Item = &'a Reason>) -> String {
    reasons.map(|reason| format!("{} {}", reason.id, reason.name)).collect::<Vec<_>>().join(", ")
}

fn examine_verdict(run: &RunProfile) -> Option<Seen> {
    let verdict = &run.analysis.verdict;
    let of =
        |status: VerdictStatus| ids(verdict.reasons.iter().filter(move |reason| reason.status == status));
    match verdict.status {
        _ if !run.is_whole => Seen::refused(format!("{} did not finish", run.label)),
        VerdictStatus::Invalid => {
            let text = format!("{} is INVALID: {}", run.label, of(VerdictStatus::Invalid));
            if run.has_timeouts() || run.is_capacity_bound() {
                Seen::bounded(text)
            } else {
                Seen::refused(text)
            }
        }
        VerdictStatus::Suspect => {
            Seen::warned(format!("{} is SUSPECT: {}", run.label, of(VerdictStatus::Suspect)))
        }
        VerdictStatus::Valid => None,
    }
}

/// C02.
pub(super) const GENERATOR_LIMITED: Gate = Gate {
    id: "C02",
    name: "generator-limited",
    meaning: "A run was limited by the load generator or by the highest allowed rate: comparing such numbers \
              compares generators, not servers. The capacity of a search is then a lower bound, and compared \
              as one.",
    thresholds: &[],
    remedy: "give the generator more CPU or connections, or allow a higher rate, and measure again",
    can_be_allowed: false,
    examine: Examine::Run(examine_generator),
};

fn examine_generator(run: &RunProfile) -> Option<Seen> {
    let is_lower_bound = run.analysis.capacity.as_ref().is_some_and(|capacity| capacity.is_lower_bound);
    let fired = |status: VerdictStatus| {
        let reasons = run.analysis.verdict.reasons.iter();
        ids(reasons.filter(move |reason| reason.status == status && is_blamed_on(Culprit::Generator, reason)))
    };
    let (bad, doubtful) = (fired(VerdictStatus::Invalid), fired(VerdictStatus::Suspect));
    if is_lower_bound && run.is_capacity_bound() {
        return Seen::bounded(format!(
            "the capacity of {} is only a lower bound: something other than the server ended the search",
            run.label
        ));
    }
    if !bad.is_empty() {
        return Seen::refused(format!("the generator was the bottleneck of {}: {bad}", run.label));
    }
    if doubtful.is_empty() {
        return None;
    }
    Seen::warned(format!("the generator may have skewed {}: {doubtful}", run.label))
}

impl RunProfile {
    /// Whether so many requests timed out that it says no more than how long others waited at least: nothing else is wrong
    /// with the run, and hardly any requests failed otherwise.
    pub(in crate::compare) fn has_timeouts(&self) -> bool {
        !self.is_search()
            && self.work.error_ratio > ERRORS_REFUSED.value
            && self.work.failed_ratio <= ERRORS_REFUSED.value
            && self.invalid_reasons().all(is_raised_by_errors)
    }

    /// Whether the capacity of a search is a lower bound that stands: what is wrong with the run is that the search was not
    /// ended by the server.
    fn is_capacity_bound(&self) -> bool {
        let capacity = self.analysis.capacity.as_ref().filter(|_| self.is_search());
        capacity.is_some_and(|capacity| capacity.is_lower_bound && capacity.rate_hz.is_some())
            && self.invalid_reasons().all(is_end_of_search)
    }

    fn invalid_reasons(&self) -> impl Iterator<Item = &Reason> {
        self.analysis.verdict.reasons.iter().filter(|reason| reason.status == VerdictStatus::Invalid)
    }
}

const ERRORS_NOTICED: Threshold =
    Threshold::new("share of requests that failed or timed out, to warn", 0.0, "ratio", "house value: any");
const ERRORS_REFUSED: Threshold = Threshold::new(
    "share of requests that failed or timed out",
    0.001,
    "ratio",
    "as in check M04: issue tracker of aspnet/Benchmarks, number 320",
);

/// C03.
pub(super) const ERRORS: Gate = Gate {
    id: "C03",
    name: "errors",
    meaning: "Requests of a run failed: a server that refuses work has less to do. If they only timed out, \
              each of its latencies is a lower bound, because requests that were given up made room for \
              others; nothing else of the run is compared.",
    thresholds: &[ERRORS_NOTICED, ERRORS_REFUSED],
    remedy: "check the failures with `sysdyno show`, and compare at a load that both servers can carry",
    can_be_allowed: false,
    examine: Examine::Run(examine_errors),
};

fn examine_errors(run: &RunProfile) -> Option<Seen> {
    let share = run.work.error_ratio;
    let text = format!("{} of the requests of {} failed", percent(share), run.label);
    match share {
        share if run.has_timeouts() => Seen::bounded(format!(
            "{} of the requests of {} timed out: its latencies are lower bounds",
            percent(share),
            run.label
        )),
        share if share > ERRORS_REFUSED.value => Seen::refused(text),
        share if share > ERRORS_NOTICED.value => Seen::warned(text),
        _ => None,
    }
}
