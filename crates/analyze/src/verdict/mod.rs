//! May the numbers be trusted? Every known way in which a measurement goes wrong is one [`Check`].
//!
//! [`CHECKS`] is the list of all; its order is the order of the reference, and nothing registers itself. A check looks
//! at one trial and says nothing, makes a remark ([`VerdictStatus::Valid`]), or lowers the verdict. A reading that is
//! missing never fires a check: what could not be seen is neither good nor bad.
//!
//! Limits: checks of one trial cannot tell two causes apart that look the same in it (too few connections, a server
//! that queues); the search compares trials for that, in [`crate::capacity`].

mod ending;
mod generator;
mod host;
mod outsider;
mod reached;
mod responses;
mod spread;
mod stationary;
mod timing;

#[cfg(test)]
mod tests;

use crate::readings::ratio;
use crate::threshold::Threshold;
use crate::view::TrialView;
use sysdyno_record::analysis::{Reason, Verdict, VerdictStatus};
use sysdyno_record::event::ProcessRole;
use sysdyno_record::load::TrialEnding;

pub(crate) use ending::UNEVEN_SHARE;
pub use ending::{INCOMPLETE, NOTHING_CARRIED, SEARCH_INTERRUPTED, UNEVEN_TRIALS};
pub(crate) use generator::{CPU_BOUND, throttled_share};
pub(crate) use host::{foreign_cpus, generator_cpus, own_busy_ratio};
pub(crate) use responses::ANSWERED_CLASSES;
pub(crate) use timing::{arrival_fit, standstill_seconds};

/// One way in which a measurement goes wrong.
#[derive(Debug)]
pub struct Check {
    /// Its number, e.g. `M01`.
    pub id: &'static str,
    /// Its short name, e.g. `gen-cpu-bound`.
    pub name: &'static str,
    /// What it means when it fires, in a sentence.
    pub meaning: &'static str,
    /// The limits that it uses.
    pub thresholds: &'static [Threshold],
    /// What to do about it, in a sentence.
    pub remedy: &'static str,
    /// What it looks at.
    pub(crate) examine: Examine,
}

/// What a check looks at.
#[derive(Debug)]
pub(crate) enum Examine {
    /// One trial.
    Trial(fn(&TrialView) -> Option<Observation>),
    /// The run as a whole; the analysis of the run raises it.
    Run,
}

/// What a check saw.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Observation {
    status: VerdictStatus,
    text: String,
    /// A remedy that fits better than the check's.
    remedy: Option<String>,
}

impl Observation {
    /// Something that a reader should know and that does not lower the verdict.
    pub(crate) fn remark(text: String) -> Option<Observation> {
        Some(Observation { status: VerdictStatus::Valid, text, remedy: None })
    }

    /// Something that may have touched the numbers.
    pub(crate) fn suspect(text: String) -> Option<Observation> {
        Some(Observation { status: VerdictStatus::Suspect, text, remedy: None })
    }

    /// Something after which the numbers are not the server's.
    pub(crate) fn invalid(text: String) -> Option<Observation> {
        Some(Observation { status: VerdictStatus::Invalid, text, remedy: None })
    }

    /// The same with a remedy that fits better than the check's.
    pub(crate) fn with_remedy(self, remedy: impl Into<String>) -> Observation {
        Observation { remedy: Some(remedy.into()), ..self }
    }
}

impl Check {
    /// The check as a reason of a verdict.
    pub(crate) fn reason(&self, observation: Observation) -> Reason {
        Reason {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            status: observation.status,
            text: observation.text,
            remedy: observation.remedy.unwrap_or_else(|| self.remedy.to_owned()),
        }
    }
}

/// All checks, in the order of the reference.
pub static CHECKS: &[&Check] = &[
    &generator::CPU_BOUND,
    &generator::CONCURRENCY_BOUND,
    &responses::ERRORS,
    &responses::CONTENT,
    &timing::COORDINATED_OMISSION,
    &generator::PORTS,
    &generator::DESCRIPTORS,
    &responses::KEEP_ALIVE,
    &responses::CERTIFICATE,
    &stationary::NON_STATIONARY,
    &host::FOREIGN_LOAD,
    &host::STEAL,
    &generator::OBSERVER,
    &host::CO_LOCATED,
    &host::TARGET_CHANGED,
    &spread::HOST_BEHIND,
    &spread::HOSTS_DIFFER,
    &host::PATH_HIDES_NIC,
    &reached::NOT_LOADED,
    &ending::ACCOUNTING,
    &responses::ACHIEVED_RATE,
    &generator::LAG,
    &timing::LITTLE,
    &responses::FEW_SAMPLES,
    &generator::LOCAL_ERRORS,
    &timing::ARRIVAL_SHAPE,
    &outsider::DISAGREES,
    &ending::HOST_LOST,
    &ending::INTERRUPTED,
    &ending::HARD_STOP,
    &ending::INCOMPLETE,
    &ending::SEARCH_INTERRUPTED,
    &ending::NOTHING_CARRIED,
    &ending::UNEVEN_TRIALS,
    &crate::run_verdict::MOVING_CAPACITY,
    &crate::intervals::DEPENDENT_SAMPLES,
];

/// Checks whose INVALID means that the generator, not the server, was the limit.
pub const GENERATOR_CHECKS: &[&str] = &["M01", "M07", "M08", "M20", "V06", "V09"];

/// Checks whose INVALID means that a trial says nothing about server or generator: the world around it changed.
pub const ENVIRONMENT_CHECKS: &[&str] = &["M12", "M19", "M23", "V01", "V41"];

/// Checks that hold what was sent against the plan, or against itself: a load that was given up follows neither.
const PLANNED_CHECKS: &[&str] = &["M10", "V05", "V07", "V24"];

/// What all checks say about one trial.
pub fn check_trial(view: &TrialView) -> Verdict {
    let is_given_up = matches!(view.end.ending, TrialEnding::HardStop(_));
    let applies = |check: &&&Check| !is_given_up || !PLANNED_CHECKS.contains(&check.id);
    let fired = CHECKS.iter().filter(applies).filter_map(|check| match check.examine {
        Examine::Trial(examine) => examine(view).map(|observation| check.reason(observation)),
        Examine::Run => None,
    });
    verdict_of(fired.collect())
}

/// The verdict that follows from reasons: the worst of them, or VALID.
pub(crate) fn verdict_of(mut reasons: Vec<Reason>) -> Verdict {
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.status));
    let status = reasons.first().map_or(VerdictStatus::Valid, |reason| reason.status);
    Verdict { status, reasons }
}

/// A server is taken to be at its limit when the machine, or one of its threads, is busier than this.
pub(crate) const SERVER_SATURATED: Threshold = Threshold::new(
    "CPU use of the host, or of one CPU by a server thread, at which the server has no CPU left",
    0.90,
    "ratio",
    "house value, between netdata's warning at 85% and 100%",
);

/// Whether the server had no CPU left in the measured phases; `None` if nothing is known about its CPUs.
pub(crate) fn is_server_saturated(view: &TrialView) -> Option<bool> {
    let window = view.server_steady();
    let machine = window.machine()?;
    let threads = window.threads(&view.processes(ProcessRole::Target));
    let is_thread_full = threads.first().is_some_and(|thread| thread.busy_ratio >= SERVER_SATURATED.value);
    Some(machine.busy_ratio >= SERVER_SATURATED.value || is_thread_full)
}

/// With more than this in other hands, a busy machine is not the server's doing. Unit: ratio of the machine.
const FOREIGN_EXCUSED_MAX: f64 = 0.20;

/// Whether server and generator together, and nobody else, had used up the CPU.
pub(crate) fn is_saturated_by_server(view: &TrialView) -> bool {
    let window = view.server_steady();
    let foreign = foreign_cpus(view, &window).zip(window.machine());
    let share = foreign.and_then(|(foreign, machine)| ratio(foreign, machine.cpus as f64)).unwrap_or(0.0);
    is_server_saturated(view) == Some(true) && share <= FOREIGN_EXCUSED_MAX
}
