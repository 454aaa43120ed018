//! The scoreboard of simulated users: what came of each operation over the runs of a variant, and of all operations together.

use crate::session::{OperationLimit, SessionOperationResult, SessionResult};
use serde::Serialize;

/// The percentile of an operation without a limit.
const DEFAULT_PERCENTILE: f64 = 0.9;

/// What came of the users of a variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scoreboard {
    /// The profile. Untrusted.
    pub profile: String,
    /// Users at the same time; 0 if sessions arrived by themselves.
    pub users: u32,
    /// What the users ask for if nothing keeps them waiting, as [`SessionResult::planned_hz`]. Unit: operations per second.
    pub planned_hz: Option<f64>,
    /// Completed operations, as the median of the runs. Unit: operations per second.
    pub rate_hz: f64,
    /// Runs of the variant.
    pub runs_count: u64,
    /// Of them, those that met every rule and whose numbers count.
    pub passed_count: u64,
    /// The rules that the first failed run did not meet, or why its numbers do not count, in sentences; empty if all runs passed.
    pub broken: Vec<String>,
    /// The operations, in the order of the profile.
    pub operations: Vec<ScoreboardOperation>,
}

/// One operation of the users, over all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreboardOperation {
    /// What it is called. Untrusted.
    pub name: String,
    /// How often it was completed.
    pub completed_count: u64,
    /// How often it failed.
    pub failed_count: u64,
    /// Its share of all operations begun; `None` if none was.
    pub mix_ratio: Option<f64>,
    /// The share that the matrix leads to in the long run.
    pub mix_target_ratio: f64,
    /// Mean of its time, as the median of the runs; `None` if it was never completed. Unit: nanoseconds.
    pub mean_ns: Option<f64>,
    /// The percentile that is limited, or else the 90th, as the median of the runs; `None`: too few in each. Unit: nanoseconds.
    pub percentile_ns: Option<f64>,
    /// The longest of all runs; `None` if it was never completed. Unit: nanoseconds.
    pub max_ns: Option<f64>,
    /// Its limit; `None` for none.
    pub limit: Option<OperationLimit>,
    /// Whether every rule about it was met in every run.
    pub passed: bool,
}

impl ScoreboardOperation {
    /// An operation of a single run.
    pub fn of(result: &SessionOperationResult, session: &SessionResult) -> ScoreboardOperation {
        let measured = &result.measured;
        let at = result.limit.map_or(DEFAULT_PERCENTILE, |limit| limit.percentile_ratio);
        let mut rules = session.rules.iter().filter(|rule| rule.operation.as_ref() == Some(&measured.name));
        ScoreboardOperation {
            name: measured.name.clone(),
            completed_count: measured.completed_count,
            failed_count: measured.failed_count,
            mix_ratio: result.mix_ratio,
            mix_target_ratio: result.mix_target_ratio,
            mean_ns: measured.latency.mean,
            percentile_ns: measured.latency.percentile(at).map(|ns| ns as f64),
            max_ns: measured.latency.max.map(|ns| ns as f64),
            limit: result.limit,
            passed: rules.all(|rule| rule.passed),
        }
    }
}

impl Scoreboard {
    /// Whether every run met every rule.
    pub fn has_passed(&self) -> bool {
        self.runs_count > 0 && self.passed_count == self.runs_count
    }

    /// Completed operations as a share of those planned; `None`: nothing was planned.
    pub fn planned_ratio(&self) -> Option<f64> {
        self.planned_hz.filter(|planned| *planned > 0.0).map(|planned| self.rate_hz / planned)
    }

    /// The operation whose percentile is the greatest share of its limit, and that share; `None`: none has both.
    pub fn tightest(&self) -> Option<(&ScoreboardOperation, f64)> {
        let shares = self.operations.iter().filter_map(|operation| {
            let limit_ns = operation.limit.map(|limit| limit.limit.0 as f64).filter(|limit| *limit > 0.0)?;
            Some((operation, operation.percentile_ns? / limit_ns))
        });
        shares.max_by(|one, other| one.1.total_cmp(&other.1))
    }
}
