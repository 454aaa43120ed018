//! Loads whose rate or number of clients rises while they run: the load offered at an instant, and the result of the ramp.

use crate::plan::{Arrival, LoadPlan, PhaseEnd};
use crate::units::{MonoNs, SpanNs};
use serde::{Deserialize, Serialize};

/// What rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RampOf {
    /// The offered rate. Unit: requests per second.
    Rate,
    /// The number of clients of a closed load.
    Clients,
}

/// What came of a rise: up to where the objective was met, and where it broke.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RampResult {
    /// What rose; it is the unit of the numbers below.
    pub of: RampOf,
    /// The objective in the user's notation: `p99<50ms`.
    pub objective: String,
    /// The most that was offered.
    pub top: f64,
    /// The most at which the objective was met before it broke; `None`: it was never met.
    pub met_until: Option<f64>,
    /// Where it broke; `None`: it was met to the end.
    pub broke: Option<RampBreak>,
    /// Greatest rate of completed and valid requests, over three seconds. Unit: requests per second.
    pub goodput_max_hz: f64,
}

/// Where the objective broke, for good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RampBreak {
    /// What was offered then.
    pub at: f64,
    /// Begin of the first second that missed the objective.
    pub mono_ns: MonoNs,
    /// Time since the load began. Unit: seconds.
    pub after_seconds: f64,
    /// What was missed, in a clause: `p99 was 62.1 ms`.
    pub text: String,
}

impl LoadPlan {
    /// The rate that is offered so long after the load began; `None`: none is set, or the load is over.
    pub fn offered_hz_at(&self, since_begin: SpanNs) -> Option<f64> {
        let mut begin_ns = 0u64;
        for (number, phase) in (0..).zip(&self.phases) {
            let PhaseEnd::After(span) = phase.end else { return phase.rate_hz };
            let into_ns = since_begin.0.saturating_sub(begin_ns);
            if into_ns < span.0 {
                let slope = self.workload.slopes.iter().find(|slope| slope.phase == number);
                let share = into_ns as f64 / span.0 as f64;
                let on =
                    |slope: &crate::workload::Slope| slope.begin_hz + (slope.end_hz - slope.begin_hz) * share;
                return slope.map(on).or(phase.rate_hz);
            }
            begin_ns = begin_ns.saturating_add(span.0);
        }
        None
    }

    /// How many clients send so long after the load began; `None`: their number does not change.
    pub fn clients_at(&self, since_begin: SpanNs) -> Option<f64> {
        let points = &self.workload.clients;
        let after = points.iter().position(|point| point.at > since_begin);
        let Some(after) = after else { return points.last().map(|point| f64::from(point.clients)) };
        let (from, to) = (points.get(after.checked_sub(1)?)?, &points[after]);
        let share = since_begin.0.saturating_sub(from.at.0) as f64 / to.at.0.saturating_sub(from.at.0) as f64;
        Some(f64::from(from.clients) + (f64::from(to.clients) - f64::from(from.clients)) * share)
    }

    /// What changes while the measured phases last; `None`: nothing does.
    pub fn changes(&self) -> Option<RampOf> {
        let clients = &self.workload.clients;
        if clients.windows(2).any(|pair| pair[0].clients != pair[1].clients) {
            return Some(RampOf::Clients);
        }
        let measured = self.phases.iter().filter(|phase| phase.kind.is_measured());
        let mut rates = measured.map(|phase| phase.rate_hz);
        let first = rates.next().flatten();
        let is_open = self.arrival.is_open() && self.arrival != Arrival::Trace;
        let is_changing = !self.workload.slopes.is_empty() || rates.any(|rate_hz| rate_hz != first);
        (is_open && is_changing).then_some(RampOf::Rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PhaseKind, PhasePlan};
    use crate::workload::{ClientPoint, Slope};

    fn phase(rate_hz: f64, seconds: u64) -> PhasePlan {
        let end = PhaseEnd::After(SpanNs::from_secs(seconds));
        PhasePlan { kind: PhaseKind::Step, rate_hz: Some(rate_hz), end }
    }

    #[test]
    fn what_is_offered_follows_slopes_and_steps() {
        let mut plan = crate::store::sample::load_plan();
        plan.arrival = Arrival::Poisson;
        plan.phases = vec![phase(150.0, 10), phase(300.0, 5)];
        plan.workload.slopes = vec![Slope { phase: 0, begin_hz: 100.0, end_hz: 200.0 }];
        let at = |seconds: u64| plan.offered_hz_at(SpanNs::from_secs(seconds));
        assert_eq!((at(0), at(5), at(12), at(15)), (Some(100.0), Some(150.0), Some(300.0), None));
        assert_eq!(plan.changes(), Some(RampOf::Rate));
        plan.workload.slopes.clear();
        assert_eq!(plan.changes(), Some(RampOf::Rate));
        plan.phases[1].rate_hz = Some(150.0);
        assert_eq!(plan.changes(), None);
    }

    #[test]
    fn clients_lie_on_the_lines_between_their_points() {
        let mut plan = crate::store::sample::load_plan();
        let point = |seconds, clients| ClientPoint { at: SpanNs::from_secs(seconds), clients };
        plan.workload.clients = vec![point(0, 0), point(0, 10), point(10, 20)];
        let at = |seconds: u64| plan.clients_at(SpanNs::from_secs(seconds));
        assert_eq!((at(0), at(5), at(60)), (Some(10.0), Some(15.0), Some(20.0)));
        assert_eq!(plan.changes(), Some(RampOf::Clients));
    }
}
