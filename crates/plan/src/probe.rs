//! Turns options into probes: of a probe that runs alone, and of those beside a load.

use crate::host::PlanHost;
use crate::options::{ProbeOption, ProbeOptions, ProbeTargetOption, Word};
use anyhow::{bail, ensure};
use std::collections::BTreeSet;
use sysdyno_load::probe::{self, ProbeJob, ProbeTarget};
use sysdyno_record::plan::{Endpoint, LoadPlan, Target};
use sysdyno_record::probe::{ProbeKind, ProbePlan, ProbedTarget, ProbesPlan};
use sysdyno_record::units::SpanNs;

/// Port of a TCP probe that is given none.
const DEFAULT_PORT: u16 = 80;

/// The options of a probe.
#[derive(Clone, Debug, Default)]
pub struct ProbeDraft {
    /// What is probed, as it was typed.
    pub targets: Vec<ProbeTargetOption>,
    /// The operation; `None`: for each target that of its form.
    pub kind: Option<Word<ProbeKind>>,
    /// Most operations of each target; `None`: until it is stopped.
    pub count: Option<u64>,
    /// How long it may go on; `None`: until it is stopped.
    pub duration: Option<SpanNs>,
    /// Time between two operations of a target; `None`: the default.
    pub interval: Option<SpanNs>,
    /// When an operation is given up; `None`: the default.
    pub timeout: Option<SpanNs>,
}

/// A probe, and a job for each of its targets.
#[derive(Clone, Debug)]
pub struct PlannedProbe {
    /// The plan.
    pub plan: ProbesPlan,
    /// The jobs, in the order of the targets.
    pub jobs: Vec<ProbeJob>,
}

impl ProbeDraft {
    /// The probe.
    ///
    /// # Errors
    /// A target that cannot be probed, or not in this way or this often.
    pub fn finish(&self, here: &dyn PlanHost) -> anyhow::Result<PlannedProbe> {
        let interval = self.interval.unwrap_or(probe::ALONE_INTERVAL);
        let timing = Timing { interval, timeout: self.timeout.unwrap_or(probe::TIMEOUT) };
        let kind = self.kind.map(|word| word.0);
        let targets: Vec<ProbedTarget> =
            self.targets.iter().map(|typed| timing.target(typed, kind)).collect::<anyhow::Result<_>>()?;
        check_names(&targets)?;
        let in_time = self.duration.map(|span| span.0.div_ceil(interval.0.max(1)));
        let count = [self.count, in_time].into_iter().flatten().min();
        let plan = ProbesPlan { targets, count, seed: here.seed() };
        Ok(PlannedProbe { jobs: ProbeJob::alone(&plan)?, plan })
    }
}

/// Adds the probes that these options ask for to a load.
pub(crate) fn add(plan: &mut LoadPlan, options: &ProbeOptions) -> anyhow::Result<()> {
    let interval = options.probe_interval.map_or(probe::BESIDE_INTERVAL, |span| span.0);
    let timing = Timing { interval, timeout: options.probe_timeout.map_or(probe::TIMEOUT, |span| span.0) };
    if options.probe.is_empty() {
        let is_bare = options.probe_interval.is_none() && options.probe_timeout.is_none();
        ensure!(
            options.probe_log.is_none(),
            "cannot write a probe log without a probe\nhint: add --probe http"
        );
        ensure!(is_bare, "cannot set the times of a probe without one\nhint: add --probe http");
        return Ok(());
    }
    for option in &options.probe {
        match option {
            ProbeOption::Own(kind) if plan.probe.is_none() => plan.probe = Some(timing.plan(*kind)),
            ProbeOption::Own(kind) => plan.probes.push(ProbedTarget {
                name: kind.name().to_owned(),
                target: plan.target.clone(),
                plan: timing.plan(*kind),
            }),
            ProbeOption::Other(typed) => plan.probes.push(timing.target(typed, None)?),
        }
    }
    check_names(&plan.probed())
}

/// Every line and every row of a table has a name, which must tell whose it is.
fn check_names(targets: &[ProbedTarget]) -> anyhow::Result<()> {
    let mut names = BTreeSet::new();
    for target in targets {
        ensure!(
            names.insert(&target.name),
            "cannot probe two targets called '{}'\nhint: give each a name: a=HOST b=HOST",
            target.name
        );
    }
    Ok(())
}

/// When operations are sent and given up.
#[derive(Clone, Copy)]
struct Timing {
    interval: SpanNs,
    timeout: SpanNs,
}

impl Timing {
    fn plan(self, kind: ProbeKind) -> ProbePlan {
        ProbePlan { kind, interval: self.interval, timeout: self.timeout }
    }

    /// A target that was typed, probed in this way; `None`: in that of its form.
    fn target(self, typed: &ProbeTargetOption, kind: Option<ProbeKind>) -> anyhow::Result<ProbedTarget> {
        let parsed = ProbeTarget::parse(&typed.target)?;
        let kind = kind.unwrap_or(parsed.kind);
        let at = |port: u16| parsed.resolve(port).map(|found| found.address);
        let target = match kind {
            ProbeKind::Http => {
                let schemes = ["tcp://", "icmp://"];
                let url = schemes.iter().find_map(|scheme| typed.target.strip_prefix(scheme));
                sysdyno_load::target::resolve(url.unwrap_or(&typed.target))?
            }
            _ if parsed.host.is_empty() => bail!("cannot probe a Unix socket by {}", kind.name()),
            ProbeKind::Tcp => {
                let address = at(parsed.port.unwrap_or(DEFAULT_PORT))?;
                bare(address.to_string(), Endpoint::Tcp(address))
            }
            ProbeKind::Icmp => {
                let address = at(0)?;
                bare(address.ip().to_string(), Endpoint::Tcp(address))
            }
        };
        let name = if typed.name == typed.target { target.url.clone() } else { typed.name.clone() };
        Ok(ProbedTarget { name, target, plan: self.plan(kind) })
    }
}

/// A target without a request.
fn bare(shown: String, endpoint: Endpoint) -> Target {
    Target { url: shown.clone(), endpoint, host: shown, path: "/".into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{IDLE, load_of};

    fn draft(targets: &[&str]) -> ProbeDraft {
        let targets = targets.iter().map(|text| text.parse().expect("reads")).collect();
        ProbeDraft { targets, ..ProbeDraft::default() }
    }

    #[test]
    fn each_target_is_probed_in_the_way_of_its_form() {
        let probe =
            draft(&["a=127.0.0.1", "127.0.0.1:81", "c=http://127.0.0.1/x"]).finish(&IDLE).expect("a plan");
        let found = probe.plan.targets.iter().map(|target| (target.name.as_str(), target.plan.kind));
        let expected = [("a", ProbeKind::Icmp), ("127.0.0.1:81", ProbeKind::Tcp), ("c", ProbeKind::Http)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!(probe.jobs.len(), 3);
        let one_way =
            ProbeDraft { kind: Some(Word(ProbeKind::Tcp)), ..draft(&["127.0.0.1", "http://127.0.0.1/x"]) };
        let error = one_way.finish(&IDLE).expect_err("they are one target");
        assert!(error.to_string().contains("two targets called '127.0.0.1:80'"), "{error}");
    }

    #[test]
    fn a_duration_is_as_many_operations_as_begin_in_it() {
        let timed = ProbeDraft { duration: Some(SpanNs::from_millis(2_500)), ..draft(&["127.0.0.1"]) };
        assert_eq!(timed.finish(&IDLE).expect("a plan").plan.count, Some(3));
        let counted = ProbeDraft { count: Some(2), ..timed };
        assert_eq!(counted.finish(&IDLE).expect("a plan").plan.count, Some(2));
    }

    #[test]
    fn beside_a_load_its_own_target_is_numbered_first() {
        let mut load = load_of("http://127.0.0.1:8080/");
        let texts = ["b=icmp://127.0.0.2", "tcp", "http"];
        load.draft.probe.probe = texts.map(|text| text.parse().expect("reads")).to_vec();
        load.draft.probe.probe_interval = "20ms".parse().ok();
        let plan = load.finish(&IDLE).expect("a plan").plan;
        let names: Vec<String> = plan.probed().into_iter().map(|probed| probed.name).collect();
        assert_eq!(names, ["tcp", "b", "http"]);
        assert!(plan.probed().iter().all(|probed| probed.plan.interval == SpanNs::from_millis(20)));
        load.draft.probe.probe.push("http".parse().expect("reads"));
        assert!(load.finish(&IDLE).expect_err("twice").to_string().contains("two targets called 'http'"));
        load.draft.probe.probe.clear();
        assert!(load.finish(&IDLE).expect_err("no probe").to_string().contains("without one"));
    }
}
