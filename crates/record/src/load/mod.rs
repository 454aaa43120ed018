//! Results of the load engine: counts, failure classes, latency summaries, intervals, and trials.

mod counts;
mod interval;
mod latency;
mod percentiles;
mod phase;
mod trial;

pub use crate::failure::{Blame, FailureClass, FailureClauses, Failures};
pub use counts::Counts;
pub use interval::{CondensedInterval, Extremes, Interval};
pub use latency::{LatencyKind, LatencySet, LatencyWindow, WindowStep};
pub use percentiles::{IntervalBasis, LatencySummary, PercentileDependence};
pub use phase::{GapSample, GeneratorSummary, LearntBody, PhaseSummary, TimerError};
pub use trial::{TrialBegin, TrialEnd, TrialEnding, TrialPurpose, TrialSummary};
