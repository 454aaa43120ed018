//! Did the trial end as planned, and do its counts add up?

use super::check::{Check, Culprit, Examine, Observation};
use crate::format::{name, whole};
use crate::view::TrialView;
use sysdyno_record::event::EventKind;
use sysdyno_record::load::{Counts, TrialEnding};

/// V01.
pub(super) const ACCOUNTING: Check = Check {
    id: "V01",
    name: "accounting",
    meaning: "Requests vanished: the counts do not add up.",
    thresholds: &[],
    remedy: "keep the run folder and report a bug; the engine asserts this sum, so the record was changed or \
             damaged",
    blame: Culprit::Environment,
    concerns: &[],
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
    meaning: "The agent on another host was lost during the load; nothing is known about that host \
              afterwards.",
    thresholds: &[],
    remedy: "check the link to that host and its memory, then measure again",
    blame: Culprit::Environment,
    concerns: &[],
    examine: Examine::Trial(examine_host_lost),
};

fn examine_host_lost(view: &TrialView) -> Option<Observation> {
    view.events.iter().find_map(|event| {
        let EventKind::HostLost { host, reason, goes_on } = &event.event else { return None };
        // A trial ends where the last host was heard of, which may be long before it was given up.
        if event.mono_ns > view.end.end_mono_ns && !view.lost_hosts().any(|lost| lost.name == *host) {
            return None;
        }
        let after = event.mono_ns.seconds_since(view.begin.begin_mono_ns).max(0.0);
        let text = format!("{} was lost after {after:.1} s: {}", name(host), name(reason));
        match goes_on {
            true => Observation::suspect(format!("{text}; its part of the load is missing from then on")),
            false => Observation::invalid(text),
        }
    })
}

/// V30.
pub(super) const INTERRUPTED: Check = Check {
    id: "V30",
    name: "interrupted",
    meaning: "The measurement was stopped early. The results up to that point are valid.",
    thresholds: &[],
    remedy: "repeat the full measurement if the percentiles matter",
    blame: Culprit::Server,
    concerns: &[],
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
    meaning: "The load was stopped to protect the server.",
    thresholds: &[],
    remedy: "find out why the server failed; lower the load, or disable the hard stops if the failure itself \
             is to be measured",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Trial(examine_hard_stop),
};

fn examine_hard_stop(view: &TrialView) -> Option<Observation> {
    match &view.end.ending {
        TrialEnding::HardStop(which) => Observation::invalid(format!(
            "the load was stopped early: {}; after that, only a few probes were sent",
            name(which)
        )),
        TrialEnding::Complete | TrialEnding::Interrupted => None,
    }
}
