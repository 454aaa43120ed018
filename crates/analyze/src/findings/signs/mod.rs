//! Bottlenecks that readings show directly: which reading moved, from what amount on it counts, and which other reading has
//! to agree.
//!
//! Such a rule is data. Any one sign of its mechanism suggests the bottleneck, and any other reading confirms it. How much
//! it can explain follows from the number of events or from the amount used up ([`Touch`]). If the server's own readings
//! could confirm it and do not, the host's counters do not implicate the server ([`Whose`]).

mod read;

use super::effect::Slow;
use super::gateway::bad_gateways;
use super::{Case, Reach, Scene, evidence, excluded, seen_in};
use crate::threshold::Threshold;
use crate::view::TrialView;
pub(super) use read::SignMeasure;
use read::SignReading;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::Quantity;
use sysdyno_record::load::FailureClass;

/// The signs that suggest a bottleneck, and the readings that confirm it.
#[derive(Debug)]
pub(crate) struct Signs {
    /// The conclusion; the observations follow it.
    pub(super) title: &'static str,
    /// The conclusion if no sign was seen.
    pub(super) not: &'static str,
    /// Any of these is the mechanism.
    pub(super) mechanism: &'static [LimitSign],
    /// All of these have to hold as well; otherwise the mechanism is no bottleneck.
    pub(super) given: &'static [LimitSign],
    /// Any of these confirms it.
    pub(super) confirmers: &'static [LimitSign],
    /// What it can have done to requests.
    pub(super) touch: Touch,
    /// Who can have caused the mechanism.
    pub(super) whose: Whose,
}

/// Who can have caused a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The readings are the server's own.
    Server,
    /// The counters are the whole host's: if the server's own readings could confirm it and do not, a neighbor caused it.
    Host,
}

/// One reading, and how much of it is a sign.
#[derive(Debug)]
pub(crate) struct LimitSign {
    /// The quantity read.
    pub(super) quantity: Quantity,
    /// Which aspect of it counts.
    pub(super) measure: SignMeasure,
    /// The amount from which on it is a sign.
    pub(super) least: Threshold,
    /// Says it: the amount, and the name of the CPU, device, or folder that it is of, empty where there is only one.
    pub(super) say: fn(f64, &str) -> String,
}

impl LimitSign {
    /// Five or more of these events.
    pub(super) const fn events(
        quantity: Quantity,
        what: &'static str,
        source: &'static str,
        say: fn(f64, &str) -> String,
    ) -> LimitSign {
        let least = Threshold::new(what, 5.0, "count", source);
        LimitSign { quantity, measure: SignMeasure::Events, least, say }
    }
}

/// What a mechanism can have done to requests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Touch {
    /// Requests waited for the exhausted resource.
    Waits,
    /// The server could not do its work: requests failed, or waited.
    Work,
    /// Each event delayed a request, or let it time out.
    Packets,
    /// Each event delayed or refused a connection.
    Connects,
    /// Connections or processes ended.
    Ends,
}

/// How a connection ends whose process or memory is gone.
pub(super) const ENDS: &[FailureClass] = &[
    FailureClass::ConnectRefused,
    FailureClass::ConnectReset,
    FailureClass::EofBeforeHead,
    FailureClass::Reset,
    FailureClass::BodyTruncated,
];

impl Signs {
    /// What its readings say of the focus; `None`: there are none.
    pub(super) fn examine<'a>(&self, scene: &Scene<'a>) -> Option<Case<'a>> {
        let view = &scene.focus;
        let readings: Vec<SignReading> = self.mechanism.iter().filter_map(|sign| sign.read(view)).collect();
        let first = readings.first()?;
        let Some(strongest) = readings
            .iter()
            .filter(|reading| reading.is_sign())
            .max_by(|a, b| a.excess().total_cmp(&b.excess()))
        else {
            return excluded(self.not, vec![first.evidence(EvidenceRole::Against, view)]);
        };
        let given: Vec<SignReading> = self.given.iter().map(|sign| sign.read(view)).collect::<Option<_>>()?;
        if let Some(missing) = given.iter().find(|reading| !reading.is_sign()) {
            return excluded(self.not, vec![missing.evidence(EvidenceRole::Against, view)]);
        }
        let own: Vec<SignReading> = self.confirmers.iter().filter_map(|sign| sign.read(view)).collect();
        if self.whose == Whose::Host && !own.is_empty() && !own.iter().any(SignReading::is_sign) {
            let against = own.iter().map(|reading| reading.evidence(EvidenceRole::Against, view));
            return excluded(&format!("{}, but not because of this server", self.title), against.collect());
        }
        let mut found = vec![strongest.evidence(EvidenceRole::Mechanism, view)];
        found.extend(given.iter().map(|reading| reading.evidence(EvidenceRole::Mechanism, view)));
        let seen = own.iter().filter(|reading| reading.is_sign());
        found.extend(seen.map(|reading| reading.evidence(EvidenceRole::Confirmer, view)));
        let title = format!("{}: {}", self.title, strongest.text());
        Some(Case::new(title, found, self.touch.reach(view, strongest)))
    }

    /// What is seen of it and how many times the least amount that is, whatever anybody waits for; `None`: nothing.
    pub(super) fn seen(&self, view: &TrialView) -> Option<(f64, String)> {
        let is_seen = |sign: &LimitSign| sign.read(view).is_some_and(|reading| reading.is_sign());
        let readings = self.mechanism.iter().filter_map(|sign| sign.read(view));
        let signs = readings.filter(SignReading::is_sign);
        let strongest = signs.max_by(|a, b| a.excess().total_cmp(&b.excess()))?;
        let text = format!("{}: {}", self.title, strongest.text());
        self.given.iter().all(is_seen).then(|| (strongest.excess(), text))
    }

    /// All that it reads.
    pub(super) fn quantities(&self) -> impl Iterator<Item = Quantity> {
        self.all().map(|sign| sign.quantity)
    }

    /// All limits that it compares with.
    pub(super) fn thresholds(&self) -> impl Iterator<Item = &'static Threshold> {
        self.all().map(|sign| &sign.least)
    }

    fn all(&self) -> impl Iterator<Item = &'static LimitSign> {
        self.mechanism.iter().chain(self.given).chain(self.confirmers)
    }
}

impl Touch {
    fn reach(self, view: &TrialView, reading: &SignReading) -> Reach {
        let counts = view.counts();
        let failed = counts.failed as f64 + counts.timed_out as f64;
        let waited = Reach::used_up(view, 1.0);
        match self {
            Touch::Waits => waited,
            Touch::Work => Reach { failures: failed, ..waited },
            Touch::Packets => Reach {
                failures: waited.failures.min(reading.events()),
                slow: Slow::Delayed { count: reading.events(), most_ns: f64::INFINITY },
                events: Some(reading.events()),
            },
            Touch::Connects => Reach::of_connects(view, reading.events(), super::effect::slow_connects(view)),
            Touch::Ends => {
                // A proxy in front of them answers for those that end.
                let failures = view.failures_of(ENDS) as f64 + bad_gateways(view);
                Reach { failures, ..waited }
            }
        }
    }
}

impl SignReading<'_> {
    fn evidence(&self, role: EvidenceRole, view: &TrialView) -> Evidence {
        let Quantity { file, field, .. } = self.sign.quantity;
        let seen = evidence(role, &self.window(view), &format!("{file} {field}"), self.text());
        seen_in(self.sign.quantity.at(&self.scope), seen)
    }
}

#[cfg(test)]
mod tests;
