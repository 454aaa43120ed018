//! The parts of a load of any kind, and the one order in which a plan is made from them and checked.
//!
//! 1. The server, the request, and the protocols ([`crate::request`]).
//! 2. What replaces the single request: a list of URLs, the mix of a log.
//! 3. What only this kind of load has: a ramp, a replayed log, users, a search.
//! 4. The values in all requests, which are now known.
//! 5. Where connections come from, and the probes.
//! 6. The hosts that send the load together, which must be able to send all of the above.

use crate::host::PlanHost;
use crate::options::{
    FailIfOption, OriginOptions, ProbeOptions, ServerOptions, TargetOptions, WorkloadOptions,
};
use crate::request::{self, LoadShape};
use crate::{probe, spread, values, workload};
use anyhow::ensure;
use sysdyno_analyze::fail_if::validate;
use sysdyno_load::probe::ProbeJob;
use sysdyno_record::plan::{KeepAlive, LoadPlan};

/// Options that all loads have, joined from all sources.
#[derive(Clone, Debug, Default)]
pub struct BaseDraft {
    /// The server, as it was typed.
    pub url: String,
    /// The request and its response.
    pub target: TargetOptions,
    /// What is sent instead of one request.
    pub workload: WorkloadOptions,
    /// Where connections come from.
    pub origin: OriginOptions,
    /// The probes that run alongside the load.
    pub probe: ProbeOptions,
    /// The hosts that send it.
    pub servers: ServerOptions,
    /// Whether a host of a lab sends it: ports and addresses of this one then say nothing.
    pub is_in_lab: bool,
}

/// A plan that has passed every check.
#[derive(Clone, Debug)]
pub struct Checked<P> {
    /// The plan.
    pub plan: P,
    /// What its user should know.
    pub notes: Vec<String>,
}

impl BaseDraft {
    /// The plan of a load of this shape; `add` is what its kind adds to it.
    pub(crate) fn finish(
        &self,
        shape: LoadShape,
        here: &dyn PlanHost,
        add: impl FnOnce(&mut LoadPlan) -> anyhow::Result<()>,
    ) -> anyhow::Result<Checked<LoadPlan>> {
        let mut plan = request::plan(&self.url, &self.target, shape, here)?;
        workload::add(&mut plan, &self.workload)?;
        add(&mut plan)?;
        values::add(&mut plan)?;
        let notes = self.add_origin(&mut plan, here)?.into_iter().collect();
        self.add_probe(&mut plan, here)?;
        spread::add(&mut plan, &self.servers.load_from)?;
        Ok(Checked { plan, notes })
    }

    fn add_origin(&self, plan: &mut LoadPlan, here: &dyn PlanHost) -> anyhow::Result<Option<String>> {
        plan.origin = self.origin.plan();
        ensure!(
            plan.origin.churn_hz.is_none() || plan.keep_alive != KeepAlive::Requests(1),
            "cannot combine --churn with --no-keepalive: each connection already carries a single request\nhint: \
             leave out one of them"
        );
        if self.is_in_lab { Ok(None) } else { here.check_origin(plan) }
    }

    fn add_probe(&self, plan: &mut LoadPlan, here: &dyn PlanHost) -> anyhow::Result<()> {
        probe::add(plan, &self.probe)?;
        let jobs = ProbeJob::beside(plan, 1)?;
        // What cannot be probed is to be said before anything is sent or written; a host of a lab is not here.
        if self.is_in_lab { Ok(()) } else { jobs.iter().try_for_each(|job| here.check_probe(job)) }
    }
}

/// The checks of a result, all of which this kind of run can answer.
pub(crate) fn checks(typed: &[FailIfOption], has_search: bool) -> anyhow::Result<Vec<String>> {
    let texts: Vec<String> = typed.iter().map(|check| check.0.clone()).collect();
    validate(texts.iter().map(String::as_str), has_search).map_err(anyhow::Error::msg)?;
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{ObjectiveOption, ProbeOption};
    use crate::testing::{IDLE, TestHost, load_of};
    use crate::{ExperimentDraft, SearchDraft, TryDraft};
    use sysdyno_record::probe::ProbeKind;

    const URL: &str = "http://127.0.0.1:8080/";

    fn experiment(table: &str) -> anyhow::Result<Checked<sysdyno_record::experiment::ExperimentPlan>> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("x.toml");
        let variants = "[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n";
        std::fs::write(&file, format!("name = 'x'\nurl = '{URL}'\n{table}\n{variants}"))?;
        ExperimentDraft { file, is_quick: false }.finish(&TestHost { note: Some("few ports") })
    }

    #[test]
    fn a_note_of_the_host_comes_with_every_plan_that_sends_a_load() {
        let host = TestHost { note: Some("few ports") };
        let search = SearchDraft { draft: load_of(URL).draft, ..SearchDraft::default() };
        let calibration = crate::options::TryOptions { calibrate: Some(true), ..Default::default() };
        let trial = TryDraft { servers: vec![URL.into()], options: calibration, ..TryDraft::default() };
        let notes = [
            load_of(URL).finish(&host).expect("a load").notes,
            search.finish(&host).expect("a search").notes,
            trial.finish(&host).expect("a trial").notes,
            experiment("").expect("an experiment").notes,
            experiment("[load]\nrate = '1k/s'").expect("an experiment").notes,
        ];
        assert!(notes.iter().all(|notes| notes == &["few ports"]), "{notes:?}");
    }

    #[test]
    fn a_host_of_a_lab_has_ports_of_its_own() {
        let mut draft = load_of(URL);
        draft.draft.is_in_lab = true;
        assert!(draft.finish(&TestHost { note: Some("few ports") }).expect("a plan").notes.is_empty());
    }

    #[test]
    fn no_option_of_a_load_is_passed_over_in_the_file_of_an_experiment() {
        let error = experiment("[load]\nobjective = 'p99<20ms'").expect_err("does not rise");
        assert!(format!("{error:#}").contains("cannot use an objective"), "{error:#}");
        assert!(experiment("[load]\nobjective = 'p99<20ms'\nramp = '1/s..2/s:1s'").is_ok());
        assert!(experiment("[load]\nobjective = 'p99<20ms'\nrate = '10/s'").is_ok());
    }

    #[test]
    fn an_experiment_can_have_users_if_its_trials_are_loads() {
        assert!(experiment("[load]\nwarmup = '1s'\n[session]\nsession = 'web20'\nusers = 30").is_ok());
        let refused = |text: &str| format!("{:#}", experiment(text).expect_err("is refused"));
        assert!(refused("[run]\n[session]\nsession = 'web20'").contains("has no simulated users"));
        assert!(refused("[load]\n[session]\nusers = 30").contains("cannot use --users without a session"));
    }

    #[test]
    fn a_probe_is_checked_before_the_hosts_that_cannot_spread_it() {
        let mut draft = load_of(URL);
        draft.draft.probe.probe_log = Some("x".into());
        let refused = |draft: &crate::LoadDraft| draft.finish(&IDLE).expect_err("is refused").to_string();
        assert!(refused(&draft).contains("without a probe"));
        draft.draft.probe.probe = vec![ProbeOption::Own(ProbeKind::Http)];
        draft.draft.servers.load_from = vec!["here".parse().expect("a place")];
        assert!(refused(&draft).contains("cannot spread a load with a probe"));
        draft.load.objective = "p99<1s".parse::<ObjectiveOption>().ok();
        assert!(refused(&draft).contains("cannot use an objective"));
    }
}
