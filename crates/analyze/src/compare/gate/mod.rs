//! May two runs be compared? Every known way in which a comparison goes wrong is one [`Gate`].
//!
//! A gate looks at one run, or at a run and the first of all runs, and then does nothing, warns, leaves only bounds to compare,
//! or refuses. Data that was not recorded fires no gate. A refusal because of the world around the runs can be overridden by name, and is reported
//! all the same; a refusal because a number is not the server's cannot.

mod around;
pub(super) mod emulated;
mod plan;
pub(super) mod sound;
mod work;

use super::profile::RunProfile;
use crate::threshold::Threshold;
use sysdyno_record::comparison::{GateOutcome, Severity};

/// One way in which a comparison of runs goes wrong.
#[derive(Debug)]
pub struct Gate {
    /// Its number, e.g. `C05`.
    pub id: &'static str,
    /// Its short name, e.g. `other-length`.
    pub name: &'static str,
    /// What it means when it fires, in a sentence.
    pub meaning: &'static str,
    /// The limits that it uses.
    pub thresholds: &'static [Threshold],
    /// What to do about it, in a sentence.
    pub remedy: &'static str,
    /// Whether `--allow` turns its refusal into a warning.
    pub can_be_allowed: bool,
    examine: Examine,
}

/// What a gate looks at.
#[derive(Debug)]
enum Examine {
    /// Each run by itself.
    Run(fn(&RunProfile) -> Option<Seen>),
    /// Each run beside the first of all.
    Pair(fn(&RunProfile, &RunProfile) -> Option<Seen>),
}

/// What a gate saw.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) severity: Severity,
    pub(super) text: String,
}

impl Seen {
    fn refused(text: String) -> Option<Seen> {
        Some(Seen { severity: Severity::Refused, text })
    }

    fn bounded(text: String) -> Option<Seen> {
        Some(Seen { severity: Severity::Bounded, text })
    }

    fn warned(text: String) -> Option<Seen> {
        Some(Seen { severity: Severity::Warned, text })
    }

    pub(super) fn outcome(self, gate: &'static Gate, side: usize) -> GateOutcome {
        let Seen { severity, text } = self;
        GateOutcome { id: gate.id, name: gate.name, severity, side, text, remedy: gate.remedy }
    }
}

/// All gates, in the order of the reference.
pub static COMPARABILITY: &[&Gate] = &[
    &sound::INVALID_RUN,
    &sound::GENERATOR_LIMITED,
    &sound::ERRORS,
    &work::OTHER_STATUS,
    &work::OTHER_LENGTH,
    &work::OTHER_BODY,
    &work::OTHER_VOLUME,
    &plan::OTHER_PLAN,
    &plan::OTHER_DETAILS,
    &around::BEHIND_SCHEDULE,
    &around::CACHE_STATE,
    &around::FOREIGN_LOAD,
    &around::STEAL,
    &around::OTHER_MACHINE,
    &around::OTHER_TOOL,
    &work::OTHER_MIX,
    &emulated::EMULATED,
];

/// Gates that the user allows.
pub(super) struct Allowed<'a>(&'a [String]);

impl<'a> Allowed<'a> {
    pub(super) fn new(names: &'a [String]) -> Allowed<'a> {
        Allowed(names)
    }

    fn has(&self, gate: &Gate) -> bool {
        gate.can_be_allowed && self.0.iter().any(|name| name == gate.id || name == gate.name)
    }
}

impl Gate {
    /// What it says of a run, beside the first of all unless it is that.
    pub(super) fn look(
        &self,
        reference: Option<&RunProfile>,
        run: &RunProfile,
        allowed: &Allowed,
    ) -> Option<Seen> {
        let mut seen = match self.examine {
            Examine::Run(examine) => examine(run),
            Examine::Pair(examine) => examine(reference?, run),
        }?;
        if seen.severity == Severity::Refused && allowed.has(self) {
            seen.severity = Severity::Allowed;
        }
        Some(seen)
    }
}

/// What `a` and `b` are relative to the greater of them, from 0 to 1; `None`: not both are known.
fn distance(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    let (a, b) = a.zip(b)?;
    let greater = a.abs().max(b.abs());
    if greater == 0.0 { Some(0.0) } else { crate::readings::ratio((a - b).abs(), greater) }
}
