//! Defines a check: one known way in which a measurement goes wrong, who caused it, and what was observed.

use crate::threshold::Threshold;
use crate::view::TrialView;
use sysdyno_record::analysis::{Reason, Verdict, VerdictStatus};

/// One way in which a measurement goes wrong.
#[derive(Debug)]
pub struct Check {
    /// Its number, e.g. `M01`.
    pub id: &'static str,
    /// Its short name, e.g. `gen-cpu-bound`.
    pub name: &'static str,
    /// What it means when it fires, in a sentence.
    pub meaning: &'static str,
    /// The thresholds that it uses.
    pub thresholds: &'static [Threshold],
    /// What to do about it, in a sentence.
    pub remedy: &'static str,
    /// Who causes it.
    pub(crate) blame: Culprit,
    /// What else it implies for the run.
    pub(crate) concerns: &'static [Concern],
    /// What it looks at.
    pub(crate) examine: Examine,
}

/// Who causes a check to fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Culprit {
    /// The generator was the limit, not the server.
    Generator,
    /// The world around the two changed: the trial says nothing about either.
    Environment,
    /// The server, or what was asked of it: no excuse for a trial that failed.
    Server,
}

/// What a check says about a run besides that its numbers may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Concern {
    /// It holds what was sent against the plan, or against itself: a load that was given up follows neither.
    Plan,
    /// Somebody else used the CPUs.
    OthersCpu,
    /// Generator, sampler, and server took CPU from each other.
    SharedHost,
    /// The run, or the capacity that it looked for, did not stay the same.
    Drift,
    /// The host is noisy, which an experiment on a noisy host accepts.
    Noise,
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

    /// Something that may have skewed the numbers.
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
    /// What it saw, as a reason of a verdict.
    pub(crate) fn raise(&self, observation: Option<Observation>) -> Option<Reason> {
        let observation = observation?;
        Some(Reason {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            status: observation.status,
            text: observation.text,
            remedy: observation.remedy.unwrap_or_else(|| self.remedy.to_owned()),
        })
    }

    /// Whether it raised a reason.
    pub(crate) fn has_raised(&self, reason: &Reason) -> bool {
        self.id == reason.id
    }
}

/// The verdict that follows from reasons: the worst of them, or VALID.
pub(crate) fn verdict_of(mut reasons: Vec<Reason>) -> Verdict {
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.status));
    let status = reasons.first().map_or(VerdictStatus::Valid, |reason| reason.status);
    Verdict { status, reasons }
}
