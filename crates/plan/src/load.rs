//! Turns options into the plan of a load: closed or open, one rate or several, a ramp, a replayed log, or users.

use crate::draft::{BaseDraft, Checked, checks};
use crate::host::PlanHost;
use crate::options::{LoadOptions, ReplayOptions, SessionOptions, Typed, WorkOptions};
use crate::request::LoadShape;
use crate::{ramp, session, workload};
use anyhow::ensure;
use sysdyno_load::target::is_home;
use sysdyno_record::plan::{Arrival, LoadPlan, PhaseEnd, PhaseKind, PhasePlan};
use sysdyno_record::units::{RateHz, SpanNs};

const DEFAULT_CONNECTIONS: u32 = 64;
const DEFAULT_DURATION: SpanNs = SpanNs::from_secs(10);

/// Share of failures over ten seconds at which a load gives up a server that is not on this host.
const MAX_FAILURE_RATIO: f64 = 0.5;

/// The options of a load.
#[derive(Clone, Debug, Default)]
pub struct LoadDraft {
    /// What all loads have.
    pub draft: BaseDraft,
    /// How much is sent, and when.
    pub load: LoadOptions,
    /// A log as the load itself.
    pub replay: ReplayOptions,
    /// Users that walk over operations.
    pub session: SessionOptions,
    /// Options of work, of which requests have none.
    pub work: WorkOptions,
}

impl LoadDraft {
    /// The plan.
    ///
    /// # Errors
    /// Whatever is wrong with the options, or with the files that they name.
    pub fn finish(&self, here: &dyn PlanHost) -> anyhow::Result<Checked<LoadPlan>> {
        ensure!(
            self.work.workers.is_none(),
            "cannot use --workers for requests\nhint: -c sets connections, -t threads"
        );
        ensure!(
            self.work == WorkOptions::default(),
            "cannot use options for commands and files with a URL\nhint: --command or --files replaces the URL"
        );
        let load = &self.load;
        self.draft.finish(shape(load)?, here, |plan| {
            plan.fail_if = checks(&load.fail_if, false)?;
            plan.hard_stops.failure_ratio = (!is_home(&plan.target.endpoint)).then_some(MAX_FAILURE_RATIO);
            workload::add_replay(plan, &self.replay, load.duration.map(|duration| duration.0))?;
            ramp::add(plan, load)?;
            ramp::add_objective(plan, load)?;
            session::add(plan, &self.session, load)
        })
    }
}

/// Arrivals, connections, and phases of a load.
pub(crate) fn shape(load: &LoadOptions) -> anyhow::Result<LoadShape> {
    let connections = load.connections.unwrap_or(DEFAULT_CONNECTIONS);
    let is_open = load.rate.is_some() || !load.steps.is_empty();
    ensure!(
        is_open || load.arrival.is_none() || load.ramp.is_some(),
        "cannot set an arrival process: a load without --rate is closed"
    );
    let arrival =
        if is_open { load.arrival.map_or(Arrival::Poisson, |word| word.0) } else { Arrival::Closed };
    ensure!(load.requests != Some(0), "cannot send 0 requests");
    let duration = load.duration.map_or(DEFAULT_DURATION, |duration| duration.0);
    let end = load.requests.map_or(PhaseEnd::After(duration), PhaseEnd::Requests);
    let first_rate = load.steps.first().copied().or(load.rate).map(|rate| rate.0.0);
    let warmup = load.warmup.and_then(|warmup| warmup.0).map(|span| PhasePlan {
        kind: PhaseKind::Warmup,
        rate_hz: first_rate,
        end: PhaseEnd::After(span),
    });
    let step = |rate: &Typed<RateHz>| PhasePlan {
        kind: PhaseKind::Step,
        rate_hz: Some(rate.0.0),
        end: PhaseEnd::After(duration),
    };
    let steady = PhasePlan { kind: PhaseKind::Steady, rate_hz: load.rate.map(|rate| rate.0.0), end };
    let measured: Vec<PhasePlan> =
        if load.steps.is_empty() { vec![steady] } else { load.steps.iter().map(step).collect() };
    let phases = warmup.into_iter().chain(measured).collect();
    Ok(LoadShape { arrival, connections, phases })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{IDLE, load_of};

    #[test]
    fn a_server_elsewhere_is_given_up_when_half_of_the_requests_fail() {
        let ratio = |url| load_of(url).finish(&IDLE).expect("is a plan").plan.hard_stops.failure_ratio;
        assert_eq!(ratio("http://10.0.0.1/"), Some(MAX_FAILURE_RATIO));
        assert_eq!(ratio("http://127.0.0.1/"), None);
        assert_eq!(ratio("unix:/run/x.sock"), None);
    }
}
