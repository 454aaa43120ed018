//! The input of a report: references to the parts of one record.

use sysdyno_record::analysis::{Analysis, Capacity, EndedBy, VerdictStatus};
use sysdyno_record::load::{FailureClass, FailureClauses};
use sysdyno_record::profile::Profile;
use sysdyno_record::spread::GeneratorShare;
use sysdyno_record::store::{Run, Trial};
use sysdyno_record::view::{FolderView, RunView};

/// One record, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct ReportInput<'a> {
    /// The run folder.
    pub folder: FolderView<'a>,
    /// What was planned and recorded.
    pub run: RunView<'a>,
    /// The conclusions, read from the folder or derived again.
    pub analysis: &'a Analysis,
    /// Stacks of the same load, sent once more; `None`: it was not profiled.
    pub profile: Option<&'a Profile>,
    /// Stacks of a search at a low load; `None`: as above.
    pub profile_low: Option<&'a Profile>,
}

impl<'a> ReportInput<'a> {
    /// A run as it was read, with its conclusions: those of the folder, or derived again where it has none.
    pub fn new(run: &'a Run, analysis: &'a Analysis) -> ReportInput<'a> {
        let (profile, profile_low) = (run.profile.as_ref(), run.profile_low.as_ref());
        ReportInput { folder: run.folder_view(), run: run.view(), analysis, profile, profile_low }
    }

    /// The URL as the user wrote it; empty if no plan is left.
    pub fn url(&self) -> &'a str {
        self.run.load().map_or("", |load| &load.target.url)
    }

    /// What each of several hosts had of the shown trial; empty where one process sent it.
    pub fn shares(&self) -> &'a [GeneratorShare] {
        let end = self.shown_trial().and_then(|trial| trial.end.as_ref());
        end.map_or(&[], |end| &end.summary.generators)
    }

    /// A failure class in full, with what is known of its first failure in the shown trial.
    pub fn failure_sentence(&self, class: FailureClass) -> String {
        self.told().map_or_else(|| class.sentence(&FailureClauses::default()), |told| class.sentence(told))
    }

    /// What is known of the first failures of the shown trial; `None`: it did not end.
    pub fn told(&self) -> Option<&'a FailureClauses> {
        let end = self.shown_trial().and_then(|trial| trial.end.as_ref());
        end.map(|end| &end.summary.measured.told)
    }

    /// The trial whose latency and counts are shown.
    pub fn shown_trial(&self) -> Option<&'a Trial> {
        self.run.trials.iter().find(|trial| trial.begin.trial == self.analysis.shown_trial)
    }
}

/// What may be said about capacity under the verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CapacityClaim<'a> {
    /// An estimate of the server's capacity.
    Estimate(&'a Capacity, f64),
    /// The server takes at least this; how much more is not known. Unit: requests per second.
    AtLeast(&'a Capacity, f64),
    /// The search was stopped: this was carried, and what was not is the upper end. Unit: requests per second.
    Bounds(&'a Capacity, f64),
    /// Capacity was looked for and nothing may be said.
    Withheld(&'a Capacity),
    /// Capacity was not looked for.
    NotSought,
}

/// The claim that an analysis supports.
///
/// Of a run that is INVALID no estimate is ever claimed. A lower bound stays one: that the rate was carried is true
/// whoever was the limit, unless responses were wrong, in which case the analysis gives no rate.
pub fn capacity_claim(analysis: &Analysis) -> CapacityClaim<'_> {
    let Some(capacity) = &analysis.capacity else { return CapacityClaim::NotSought };
    let is_invalid = analysis.verdict.status == VerdictStatus::Invalid;
    if let (None, Some(met_hz), EndedBy::Interrupted, false) =
        (capacity.rate_hz, capacity.low_hz, capacity.ended_by, is_invalid)
    {
        return CapacityClaim::Bounds(capacity, met_hz);
    }
    match capacity.rate_hz {
        Some(rate_hz) if capacity.is_lower_bound => CapacityClaim::AtLeast(capacity, rate_hz),
        Some(rate_hz) if !is_invalid => CapacityClaim::Estimate(capacity, rate_hz),
        _ => CapacityClaim::Withheld(capacity),
    }
}
