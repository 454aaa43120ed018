//! The numbers of a probe: over a trial's measured phases, or while it runs.
//!
//! Least, mean, and greatest time and the deviation cover replies only, as `ping` prints them. Percentiles also include
//! requests that were given up or left open, as lower bounds: a client that never got a response waited too.

mod conclude;
mod losses;

pub use conclude::ProbesTally;
pub(crate) use conclude::conclusion_of;

use crate::view::TrialView;
use std::collections::BTreeMap;
use sysdyno_record::load::{FailureClass, LatencySummary};
use sysdyno_record::probe::{ProbeOutcome, ProbePlan, ProbeReply, ProbeSummary};
use sysdyno_stats::censored::LowerBounds;
use sysdyno_stats::histogram::LatencyHistogram;

/// Sums over operations of a probe; of constant size however many there are.
#[derive(Clone, Debug)]
pub struct ProbeTally {
    sent: u64,
    received: u64,
    timed_out: u64,
    in_flight: u64,
    unsent: u64,
    failures: BTreeMap<FailureClass, u64>,
    response: Times,
    service: Times,
    replies: Moments,
    slip_max_ns: Option<u64>,
}

/// Times, some of which are only lower bounds.
#[derive(Clone, Debug)]
struct Times {
    histogram: LatencyHistogram,
    bounds: LowerBounds,
}

/// Mean and deviation as values come (B. Welford 1962).
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: u64,
    min_ns: Option<u64>,
    max_ns: Option<u64>,
    mean_ns: f64,
    squares: f64,
}

impl Default for ProbeTally {
    fn default() -> ProbeTally {
        ProbeTally {
            sent: 0,
            received: 0,
            timed_out: 0,
            in_flight: 0,
            unsent: 0,
            failures: BTreeMap::new(),
            response: Times::new(),
            service: Times::new(),
            replies: Moments::default(),
            slip_max_ns: None,
        }
    }
}

impl ProbeTally {
    /// Of the operations of a trial on the load's own target that were to be sent in its measured phases.
    pub fn of_measured(view: &TrialView) -> ProbeTally {
        let measured = view.measured();
        let span = measured.begin_mono_ns..measured.end_mono_ns;
        let mut tally = ProbeTally::default();
        let is_of_trial = |reply: &&ProbeReply| {
            (reply.trial, reply.target) == (view.begin.trial, 0) && span.contains(&reply.intended_mono_ns)
        };
        view.probe.iter().filter(is_of_trial).for_each(|reply| tally.add(reply));
        tally
    }

    /// Adds one operation.
    pub fn add(&mut self, reply: &ProbeReply) {
        let Some(sent) = reply.sent_mono_ns else {
            self.unsent += 1;
            return self.response.add(reply.response_ns(), true);
        };
        self.sent += 1;
        self.slip_max_ns = self.slip_max_ns.max(Some(sent.since(reply.intended_mono_ns)));
        let is_bound = match reply.outcome {
            ProbeOutcome::Failed(class) => {
                *self.failures.entry(class).or_default() += 1;
                return;
            }
            ProbeOutcome::Received => {
                self.received += 1;
                self.replies.add(reply.response_ns());
                false
            }
            ProbeOutcome::TimedOut | ProbeOutcome::Unsent => {
                self.timed_out += 1;
                true
            }
            ProbeOutcome::InFlight => {
                self.in_flight += 1;
                true
            }
        };
        self.response.add(reply.response_ns(), is_bound);
        self.service.add(reply.end_mono_ns.since(sent), is_bound);
    }

    /// The numbers so far.
    pub fn summary(&self, plan: &ProbePlan) -> ProbeSummary {
        let failed_count: u64 = self.failures.values().sum();
        let ended = self.received + self.timed_out + failed_count + self.unsent;
        let lost = self.timed_out + failed_count + self.unsent;
        let response = self.response.summary();
        ProbeSummary {
            kind: plan.kind,
            interval_ns: plan.interval.0,
            timeout_ns: plan.timeout.0,
            sent_count: self.sent,
            received_count: self.received,
            timed_out_count: self.timed_out,
            failed_count,
            in_flight_count: self.in_flight,
            unsent_count: self.unsent,
            failures: self.failures.clone(),
            lost_ratio: (ended > 0).then(|| lost as f64 / ended as f64),
            p90_interval: response.p90_interval,
            response_time_ns: response,
            service_time_ns: self.service.summary(),
            min_ns: self.replies.min_ns,
            mean_ns: (self.replies.count > 0).then_some(self.replies.mean_ns),
            max_ns: self.replies.max_ns,
            mdev_ns: self.replies.deviation_ns(),
            slip_max_ns: self.slip_max_ns,
        }
    }
}

impl Times {
    fn new() -> Times {
        Times { histogram: LatencyHistogram::new(), bounds: LowerBounds::NONE }
    }

    fn add(&mut self, value_ns: u64, is_bound: bool) {
        self.histogram.record(value_ns);
        if is_bound {
            self.bounds.add(LowerBounds::of(value_ns));
        }
    }

    fn summary(&self) -> LatencySummary {
        LatencySummary::of(&self.histogram, self.bounds)
    }
}

impl Moments {
    fn add(&mut self, value_ns: u64) {
        self.count += 1;
        let value = value_ns as f64;
        let distance = value - self.mean_ns;
        self.mean_ns += distance / self.count as f64;
        self.squares += distance * (value - self.mean_ns);
        self.min_ns = Some(self.min_ns.map_or(value_ns, |min_ns| min_ns.min(value_ns)));
        self.max_ns = self.max_ns.max(Some(value_ns));
    }

    /// Over all values, not a sample of them.
    fn deviation_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.squares / self.count as f64).max(0.0).sqrt())
    }
}

/// The probe of the load's own target beside a trial, over its measured phases; `None`: there was none.
pub(crate) fn summary_of(view: &TrialView) -> Option<ProbeSummary> {
    let plan = view.plan().probe?;
    Some(ProbeTally::of_measured(view).summary(&plan))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::probe::ProbeKind;
    use sysdyno_record::units::{MonoNs, SpanNs};

    const PLAN: ProbePlan =
        ProbePlan { kind: ProbeKind::Icmp, interval: SpanNs::from_secs(1), timeout: SpanNs::from_secs(5) };

    fn reply(sequence: u64, waited_ms: u64, outcome: ProbeOutcome) -> ProbeReply {
        let intended = MonoNs(sequence * 1_000_000_000);
        ProbeReply {
            trial: 0,
            target: 0,
            sequence,
            intended_mono_ns: intended,
            sent_mono_ns: (outcome != ProbeOutcome::Unsent).then_some(MonoNs(intended.0 + 1_000_000)),
            end_mono_ns: MonoNs(intended.0 + waited_ms * 1_000_000),
            outcome,
            connect_ns: None,
            status: None,
        }
    }

    fn summary(replies: &[ProbeReply]) -> ProbeSummary {
        let mut tally = ProbeTally::default();
        replies.iter().for_each(|reply| tally.add(reply));
        tally.summary(&PLAN)
    }

    #[test]
    fn the_numbers_are_those_of_ping() {
        let found = summary(&[2, 4, 4, 4, 5, 5, 7, 9].map(|ms| reply(ms, ms, ProbeOutcome::Received)));
        assert_eq!((found.min_ns, found.max_ns), (Some(2_000_000), Some(9_000_000)));
        assert_eq!((found.mean_ns, found.mdev_ns.map(f64::round)), (Some(5e6), Some(2e6)));
        assert_eq!((found.sent_count, found.received_count, found.lost_ratio), (8, 8, Some(0.0)));
        assert_eq!(found.slip_max_ns, Some(1_000_000));
        assert_eq!(found.response_time_ns.p50, None, "eight replies support no percentile");
    }

    #[test]
    fn what_is_lost_is_counted_and_stays_in_the_percentiles_as_a_bound() {
        let mut replies: Vec<ProbeReply> = (0..60).map(|n| reply(n, 10, ProbeOutcome::Received)).collect();
        replies.extend((60..100).map(|n| reply(n, 5_000, ProbeOutcome::TimedOut)));
        replies.push(reply(100, 1, ProbeOutcome::Failed(FailureClass::ConnectRefused)));
        replies.push(reply(101, 5_000, ProbeOutcome::Unsent));
        replies.push(reply(102, 20, ProbeOutcome::InFlight));
        let found = summary(&replies);
        assert!(found.is_balanced());
        assert_eq!((found.sent_count, found.lost_count(), found.in_flight_count), (102, 42, 1));
        assert_eq!(found.lost_ratio, Some(42.0 / 102.0));
        assert_eq!((found.response_time_ns.count, found.response_time_ns.censored_count), (102, 42));
        assert_eq!(found.max_ns, Some(10_000_000));
        let p90 = found.response_time_ns.p90.expect("is supported");
        assert!(p90 >= 4_990_000_000 && Some(p90) >= found.response_time_ns.censored_min_ns, "{found:?}");
    }

    #[test]
    fn nothing_has_no_numbers() {
        let found = summary(&[]);
        assert_eq!((found.mean_ns, found.mdev_ns, found.lost_ratio, found.min_ns), (None, None, None, None));
    }
}
