//! Did the run as a whole finish, and with one answer? The analysis of the run raises these checks.

use super::check::{Check, Concern, Culprit, Examine};
use crate::threshold::{HOUSE, Threshold};

/// V32.
pub(crate) const INCOMPLETE: Check = Check {
    id: "V32",
    name: "incomplete",
    meaning: "The record is incomplete: the program died or is still running.",
    thresholds: &[],
    remedy: "measure again; the part that was recorded can still be viewed",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Run,
};

/// V33.
pub(crate) const SEARCH_INTERRUPTED: Check = Check {
    id: "V33",
    name: "search-interrupted",
    meaning: "The capacity search was stopped early or ran out of time.",
    thresholds: &[],
    remedy: "let it finish to get the interval and the certification; --effort standard allows more time",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Run,
};

/// V34.
pub(crate) const NOTHING_CARRIED: Check = Check {
    id: "V34",
    name: "nothing-carried",
    meaning: "No rate met the objective, so there is no capacity.",
    thresholds: &[],
    remedy: "check the failures first; if responses are just slow, relax the limit with --objective",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Run,
};

pub(crate) const UNEVEN_SHARE: Threshold =
    Threshold::new("share of a search's trials that the same check disturbed", 0.20, "ratio", HOUSE);

/// V35.
pub(crate) const UNEVEN_TRIALS: Check = Check {
    id: "V35",
    name: "unsound-trials",
    meaning: "Many trials of the search were disturbed and had to be discarded.",
    thresholds: &[UNEVEN_SHARE],
    remedy: "repeat on a quieter host",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Run,
};

pub(crate) const MOVED: Threshold = Threshold::new(
    "a rate that mostly met the objective ÷ a lower one that mostly missed it",
    1.15,
    "ratio",
    HOUSE,
);
pub(crate) const MOVED_FAR: Threshold =
    Threshold::new("the same, to rule out a single capacity", 1.5, "ratio", HOUSE);

/// V36.
pub(crate) const MOVING_CAPACITY: Check = Check {
    id: "V36",
    name: "moving-capacity",
    meaning: "A rate met the objective although a lower one had missed it: the server or its host changed \
              during the search.",
    thresholds: &[MOVED, MOVED_FAR],
    remedy: "find out what changed (other load, a growing cache or table, CPU throttling) and repeat",
    blame: Culprit::Environment,
    concerns: &[Concern::Drift],
    examine: Examine::Run,
};

pub(crate) const STRONG: Threshold = Threshold::new(
    "autocorrelation of the share of slow responses between consecutive windows",
    0.5,
    "ratio",
    "house value: by (1+ρ)/(1−ρ), samples are worth a third of their number",
);

/// V42.
pub(crate) const DEPENDENT_SAMPLES: Check = Check {
    id: "V42",
    name: "dependent-samples",
    meaning: "Slow responses came in clusters, so the samples are worth far fewer independent ones.",
    thresholds: &[STRONG],
    remedy: "measure longer; percentile intervals are widened for this, or omitted",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Run,
};
