//! The list of all checks, and what it says about the reasons for a verdict.
//!
//! [`CHECKS`] has the order of the reference. The list knows every check; no check knows the list.

use super::check::{Check, Concern, Culprit, Examine, verdict_of};
use super::{ending, generator, host, outsider, reached, responses, run, spread, stationary, timing, work};
use crate::view::TrialView;
use sysdyno_record::analysis::{Reason, Verdict};
use sysdyno_record::load::TrialEnding;

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
    &run::INCOMPLETE,
    &run::SEARCH_INTERRUPTED,
    &run::NOTHING_CARRIED,
    &run::UNEVEN_TRIALS,
    &run::MOVING_CAPACITY,
    &run::DEPENDENT_SAMPLES,
    &work::RUNS_FAILED,
    &work::NO_RUN_SUCCEEDED,
    &work::CUT_OFF,
    &work::FILES_FAILED,
];

/// The results of all checks for one trial.
pub fn check_trial(view: &TrialView) -> Verdict {
    let is_given_up = matches!(view.end.ending, TrialEnding::HardStop(_));
    let applies = |check: &&&Check| !is_given_up || !check.concerns.contains(&Concern::Plan);
    let fired = CHECKS.iter().filter(applies).filter_map(|check| match check.examine {
        Examine::Trial(examine) => check.raise(examine(view)),
        Examine::Run => None,
    });
    verdict_of(fired.collect())
}

/// The check that raised a reason; `None`: this program does not have it.
fn check_of(reason: &Reason) -> Option<&'static Check> {
    CHECKS.iter().copied().find(|check| check.has_raised(reason))
}

/// Whether a reason is this one's doing.
pub(crate) fn is_blamed_on(culprit: Culprit, reason: &Reason) -> bool {
    check_of(reason).is_some_and(|check| check.blame == culprit)
}

/// Whether a reason concerns one of these.
pub(crate) fn is_about(concerns: &[Concern], reason: &Reason) -> bool {
    check_of(reason).is_some_and(|check| check.concerns.iter().any(|concern| concerns.contains(concern)))
}

/// Whether a reason says that requests failed or timed out.
pub(crate) fn is_raised_by_errors(reason: &Reason) -> bool {
    responses::ERRORS.has_raised(reason)
}

/// Whether a reason says that something other than the server ended a search.
pub(crate) fn is_end_of_search(reason: &Reason) -> bool {
    let checks = [&generator::CONCURRENCY_BOUND, &responses::ACHIEVED_RATE];
    is_blamed_on(Culprit::Generator, reason) || checks.iter().any(|check| check.has_raised(reason))
}
