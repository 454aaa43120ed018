//! A run as a comparison sees it: the load, the responses, the host, and whatever else ran there.

use crate::examined::{Examined, Sorted};
use crate::readings::{CpuShare, ratio, sum_known};
use crate::verdict::foreign_cpus;
use crate::view::{TrialView, error_ratio};
use std::collections::BTreeMap;
use sysdyno_record::analysis::Analysis;
use sysdyno_record::column;
use sysdyno_record::event::ProcessRole;
use sysdyno_record::facts::HostFacts;
use sysdyno_record::load::LearntBody;
use sysdyno_record::manifest::{Manifest, RunStatus};
use sysdyno_record::plan::{LoadPlan, Plan, RunPlan};
use sysdyno_record::profile::Profile;
use sysdyno_record::units::WallNs;
use sysdyno_record::view::RunView;

/// The parts of one run that a comparison needs; small compared with the run.
#[derive(Clone, Debug)]
pub struct RunProfile {
    /// Name of the run.
    pub id: String,
    /// When it began, for labels and order.
    pub started_unix_ns: WallNs,
    /// The conclusions.
    pub analysis: Analysis,
    /// The host.
    pub facts: HostFacts,
    /// The load of the shown trial, with the rate that it really had.
    pub load: LoadPlan,
    /// How the capacity was searched for; `None`: there was no search.
    pub search: Option<RunPlan>,
    /// Call stacks of its load; `None`: it was not profiled, or nobody asked.
    pub stacks: Option<Profile>,
    /// Its name in sentences.
    pub(super) label: String,
    pub(super) version: String,
    pub(super) is_whole: bool,
    pub(super) work: Work,
    pub(super) around: Surroundings,
    /// What the CPUs of the server's host did in the shown trial.
    pub(crate) cpus: Vec<CpuShare>,
}

/// The responses.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// Bodies that the trials learnt, each once.
    pub(super) bodies: Vec<LearntBody>,
    /// Responses by status.
    pub(super) statuses: BTreeMap<u16, u64>,
    /// Bytes received per response, heads included; `None`: there was no response.
    pub(super) response_bytes: Option<f64>,
    /// Share of requests that failed or timed out.
    pub(super) error_ratio: f64,
    /// Share of requests that failed otherwise than by their timeout.
    pub(super) failed_ratio: f64,
    /// Completed ÷ scheduled requests of an open load; `None`: closed, or nothing was scheduled.
    pub(super) achieved_ratio: Option<f64>,
}

/// What else happened on the host in the shown trial; `None` where it was not read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Surroundings {
    /// CPU time that the hypervisor took, as a share of all.
    pub(super) steal_ratio: Option<f64>,
    /// CPU time of processes outside the measurement, as a share of the machine.
    pub(super) foreign_ratio: Option<f64>,
    /// Bytes read from disks ÷ bytes received.
    pub(super) disk_read_ratio: Option<f64>,
    /// CPU time of the server's processes per ok response. Unit: nanoseconds.
    pub(super) server_cpu_ns: Option<f64>,
    /// Keys that were there, of those asked for in a cache; `None`: no cache was loaded.
    pub(super) hit_ratio: Option<f64>,
    /// Whether the requests stayed on the host.
    pub(super) is_local: bool,
}

impl RunProfile {
    /// The profile of a run.
    ///
    /// `None`: its plan is missing, it is an experiment, work, or a probe, or no trial of it has ended.
    pub fn new(
        manifest: &Manifest,
        is_incomplete: bool,
        run: &RunView,
        analysis: Analysis,
    ) -> Option<RunProfile> {
        let search = match run.plan? {
            Plan::Run(plan) => Some(plan.clone()),
            Plan::Load(_) => None,
            Plan::Try(_) | Plan::Squeeze(_) | Plan::Work(_) | Plan::Probe(_) | Plan::Watch(_) => return None,
        };
        let sorted = Sorted::new(run);
        let examined = Examined::new(run, &sorted);
        let view = examined.views.iter().find(|view| view.begin.trial == analysis.shown_trial)?;
        Some(RunProfile {
            id: manifest.id.clone(),
            label: format!("run {}", crate::format::name(&manifest.id)),
            started_unix_ns: manifest.started_unix_ns,
            version: manifest.tool.version.clone(),
            is_whole: manifest.status == RunStatus::Complete && !is_incomplete,
            facts: run.facts.cloned().unwrap_or_default(),
            load: view.plan().clone(),
            search,
            stacks: None,
            work: work(&examined.views, view),
            around: surroundings(view),
            cpus: view.server_steady().cpus(),
            analysis,
        })
    }

    /// What the run did: `GET /`, or several operations.
    pub(super) fn operation(&self) -> String {
        if self.load.wire.memcached.is_some() {
            return "memcached".to_owned();
        }
        if !self.load.workload.is_single() {
            return "all operations".to_owned();
        }
        format!(
            "{} {}",
            crate::format::name(&self.load.request.method),
            crate::format::name(&self.load.target.path)
        )
    }

    /// Whether a comparison of rates or latencies of single loads makes sense: every trial of a search has its own rate.
    pub(super) fn is_search(&self) -> bool {
        self.search.is_some()
    }

    /// Share of requests that failed or timed out.
    pub(crate) fn error_ratio(&self) -> f64 {
        self.work.error_ratio
    }

    /// Whether requests arrive whatever the server does.
    pub(super) fn is_open(&self) -> bool {
        self.load.arrival.is_open()
    }
}

fn work(views: &[TrialView], shown: &TrialView) -> Work {
    let mut bodies: Vec<LearntBody> = Vec::new();
    for body in views.iter().filter_map(|view| view.end.summary.learnt_body) {
        if !bodies.contains(&body) {
            bodies.push(body);
        }
    }
    let measured = shown.measured();
    let responses: u64 = measured.statuses.values().fold(0, |sum, count| sum.saturating_add(*count));
    Work {
        bodies,
        statuses: measured.statuses.clone(),
        response_bytes: ratio(measured.received_bytes as f64, responses as f64),
        error_ratio: error_ratio(shown.counts()),
        failed_ratio: ratio(shown.counts().failed as f64, shown.counts().sent as f64).unwrap_or(0.0),
        achieved_ratio: shown.is_open().then(|| shown.achieved_ratio()).flatten(),
    }
}

fn surroundings(view: &TrialView) -> Surroundings {
    let window = view.server_steady();
    let machine = window.machine();
    let foreign = foreign_cpus(view, &window).zip(machine);
    let read = sum_known(
        window
            .scopes(column::DISK_READ_BYTES)
            .into_iter()
            .map(|scope| window.growth(column::DISK_READ_BYTES, scope).map(|growth| growth.amount)),
    );
    let targets = window.process_cpus(&view.processes(ProcessRole::Target));
    Surroundings {
        steal_ratio: machine.map(|machine| machine.steal_ratio),
        foreign_ratio: foreign.and_then(|(cpus, machine)| ratio(cpus.max(0.0), machine.cpus as f64)),
        disk_read_ratio: read.and_then(|read| ratio(read, view.measured().received_bytes as f64)),
        server_cpu_ns: targets.and_then(|cpus| ratio(cpus * view.seconds() * 1e9, view.counts().ok as f64)),
        hit_ratio: measured_hits(view),
        is_local: view.is_loopback(),
    }
}

fn measured_hits(view: &TrialView) -> Option<f64> {
    view.measured().cache.and_then(|cache| cache.hit_ratio())
}
