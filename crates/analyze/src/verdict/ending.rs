//! Did the trial, and the run, end as planned, and do its counts add up?

use super::{Check, Examine, Observation};
use crate::format::{name, whole};
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::event::EventKind;
use sysdyno_record::load::{Counts, TrialEnding};

/// V01.
pub(super) const ACCOUNTING: Check = Check {
    id: "V01",
    name: "accounting",
    meaning: "Requests vanished: the counts do not add up.",
    thresholds: &[],
    remedy: "keep the run folder and report it; the engine asserts this identity, so the record was changed or damaged",
    examine: Examine::Trial(examine_accounting),
};

fn examine_accounting(view: &TrialView) -> Option<Observation> {
    let counts = view.counts();
    if is_balanced(counts) && is_balanced(&view.end.summary.total) {
        return None;
    }
    Observation::invalid(format!(
        "{} sent is not {} ok + {} failed + {} timed out + {} in flight, or {} scheduled is not sent + {} unsent",
        whole(counts.sent as f64),
        whole(counts.ok as f64),
        whole(counts.failed as f64),
        whole(counts.timed_out as f64),
        whole(counts.in_flight as f64),
        whole(counts.scheduled as f64),
        whole(counts.unsent as f64)
    ))
}

/// As [`Counts::is_balanced`], for counts of any size: those of a record are not to be trusted.
fn is_balanced(counts: &Counts) -> bool {
    let wide = |count: u64| u128::from(count);
    wide(counts.scheduled) == wide(counts.sent) + wide(counts.unsent)
        && wide(counts.sent)
            == wide(counts.ok) + wide(counts.failed) + wide(counts.timed_out) + wide(counts.in_flight)
}

/// V41.
pub(super) const HOST_LOST: Check = Check {
    id: "V41",
    name: "host-lost",
    meaning: "The agent on another host was lost while the load ran; what happened there after that is not known.",
    thresholds: &[],
    remedy: "look at the link to that host and at its memory, then measure again",
    examine: Examine::Trial(examine_host_lost),
};

fn examine_host_lost(view: &TrialView) -> Option<Observation> {
    view.events.iter().filter(|event| event.mono_ns <= view.end.end_mono_ns).find_map(|event| {
        let EventKind::HostLost { host, reason } = &event.event else { return None };
        let after = event.mono_ns.seconds_since(view.begin.begin_mono_ns).max(0.0);
        Observation::invalid(format!("{} was lost after {after:.1} s: {}", name(host), name(reason)))
    })
}

/// V30.
pub(super) const INTERRUPTED: Check = Check {
    id: "V30",
    name: "interrupted",
    meaning: "The measurement was stopped early. The results up to that point are valid.",
    thresholds: &[],
    remedy: "repeat it to the end if the percentiles matter",
    examine: Examine::Trial(examine_interrupted),
};

fn examine_interrupted(view: &TrialView) -> Option<Observation> {
    let is_interrupted = view.end.ending == TrialEnding::Interrupted;
    if is_interrupted {
        Observation::suspect(format!("stopped after {:.1} s of measurement", view.seconds()))
    } else {
        None
    }
}

/// V31.
pub(super) const HARD_STOP: Check = Check {
    id: "V31",
    name: "hard-stop",
    meaning: "The load was given up for the server's sake.",
    thresholds: &[],
    remedy: "find out why it failed; send less, or take the hard stops away if that is what is to be measured",
    examine: Examine::Trial(examine_hard_stop),
};

fn examine_hard_stop(view: &TrialView) -> Option<Observation> {
    match &view.end.ending {
        TrialEnding::HardStop(which) => Observation::invalid(format!(
            "the load was given up after a hard stop: {}; from then on at most a few probes were sent",
            name(which)
        )),
        TrialEnding::Complete | TrialEnding::Interrupted => None,
    }
}

/// V32.
pub const INCOMPLETE: Check = Check {
    id: "V32",
    name: "incomplete",
    meaning: "The record breaks off; the program died or still runs.",
    thresholds: &[],
    remedy: "measure again; what was recorded up to then can still be looked at",
    examine: Examine::Run,
};

/// V33.
pub const SEARCH_INTERRUPTED: Check = Check {
    id: "V33",
    name: "search-interrupted",
    meaning: "The search for the capacity was stopped before its end, or its time was up.",
    thresholds: &[],
    remedy: "let it run to its end for the interval and the certification; --effort standard takes the time that it needs",
    examine: Examine::Run,
};

/// V34.
pub const NOTHING_CARRIED: Check = Check {
    id: "V34",
    name: "nothing-carried",
    meaning: "No rate met the objective, so there is no capacity.",
    thresholds: &[],
    remedy: "look at the failures first; if responses are only slow, raise the limit with --objective",
    examine: Examine::Run,
};

pub(crate) const UNEVEN_SHARE: Threshold =
    Threshold::new("share of a search's trials in which the same check fired", 0.20, "ratio", HOUSE);

/// V35.
pub const UNEVEN_TRIALS: Check = Check {
    id: "V35",
    name: "unsound-trials",
    meaning: "Many trials of the search were disturbed and had to be left out.",
    thresholds: &[UNEVEN_SHARE],
    remedy: "repeat on a quieter host",
    examine: Examine::Run,
};
