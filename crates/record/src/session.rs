//! Users that move from operation to operation: their plan and their results.
//!
//! A user performs an operation, which is a page and its embedded objects, one request after the other. Then, when the cycle
//! of that operation is over or after a pause, the user begins the next one, drawn from the operation's row of a Markov
//! matrix. The model and the terms *cycle time*, *think time*, and *mix* are those of the Faban framework
//! (`com.sun.faban.driver`), but users are simulated here without a thread for each.

use crate::load::LatencySummary;
use crate::units::SpanNs;
use serde::{Deserialize, Serialize};

/// Different embedded objects that the cache of a user can remember.
pub const MAX_OBJECTS: usize = 128;

/// Users, as they are simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionPlan {
    /// The profile: `web20`, or the file that it was read from.
    pub name: String,
    /// Users at the same time; 0 if sessions arrive by themselves.
    pub users: u32,
    /// Sessions that arrive as a Poisson process, each of a user of its own that leaves in the end; `None`: users stay.
    /// Unit: sessions per second.
    pub sessions_hz: Option<f64>,
    /// Between the first operations of two users.
    pub stagger: SpanNs,
    /// Share of sessions that begin with an empty cache; the others ask whether what they have is still good.
    pub cold_ratio: f64,
    /// Position of the operation that each user begins with.
    pub first: u32,
    /// The operations; requests of operation n of the session are counted as operation n of the workload.
    pub operations: Vec<SessionOperation>,
    /// What pages embed.
    pub objects: Vec<SessionObject>,
    /// What is checked in the end.
    pub rules: SessionRules,
    /// Whether users keep the cookies that they are given, and send them back.
    #[serde(default)]
    pub cookies: bool,
}

/// One operation of a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionOperation {
    /// What it is called.
    pub name: String,
    /// Weights of the operations that follow, by position; they need not sum to 1.
    pub next: Vec<f64>,
    /// Chance that the session ends after it, where sessions arrive by themselves.
    pub exit_ratio: f64,
    /// When the next operation begins.
    pub pace: Pace,
    /// The limit of its time; `None` for none.
    pub limit: Option<OperationLimit>,
    /// Positions of the objects that its page embeds.
    pub objects: Vec<u32>,
    /// Whether it begins a new session of the same user, with a new cache.
    pub begins_session: bool,
    /// Values that are taken from the response to its page, for later requests of the same user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes: Vec<TakePlan>,
}

/// A value that is taken from a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakePlan {
    /// What requests call it.
    pub name: String,
    /// Its place.
    pub from: TakeFrom,
}

/// The place of a value in a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakeFrom {
    /// In the first header field of this name.
    Header(String),
    /// In a JSON document, at this path of names and numbers with dots.
    Json(String),
    /// In the body between two texts.
    Between {
        /// The text before the value.
        after: String,
        /// The text after it.
        before: String,
    },
}

/// A limit of the time that an operation takes, from its intended begin to the last byte of its last object.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationLimit {
    /// The percentile as a ratio: 0.9 for p90.
    pub percentile_ratio: f64,
    /// What it must not exceed.
    pub limit: SpanNs,
}

/// What a page embeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionObject {
    /// Path and query.
    pub path: String,
    /// Whether it is fetched once in a session and then kept, as an image is. Other objects are fetched once in a session
    /// that began with an empty cache, and asked for conditionally, each time, in one that did not.
    pub is_image: bool,
}

/// When the next operation begins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// So long after the begin of the last one; at once if that took longer.
    Cycle(Distribution),
    /// So long after the end of the last one.
    Think(Distribution),
}

/// How a time is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Always the same.
    Fixed(SpanNs),
    /// Anything between two times, equally likely.
    Uniform {
        /// The least.
        min: SpanNs,
        /// The greatest.
        max: SpanNs,
    },
    /// Negative exponential.
    Exponential {
        /// The mean of the distribution before it is cut off at `max`.
        mean: SpanNs,
        /// The least.
        min: SpanNs,
        /// What is greater is taken for this.
        max: SpanNs,
        /// Whether the distribution begins at `min` (`min` + an exponential time of mean `mean` − `min`); otherwise what
        /// is less than `min` is taken for it.
        is_shifted: bool,
    },
}

impl Distribution {
    /// The mean of what is drawn. Unit: nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        match *self {
            Distribution::Fixed(span) => span.0 as f64,
            Distribution::Uniform { min, max } => (min.0 as f64 + max.0 as f64) / 2.0,
            Distribution::Exponential { mean, min, max, is_shifted } => {
                let (mean, min, max) = (mean.0 as f64, min.0 as f64, max.0.max(min.0) as f64);
                // Both ends are clipped: the mean of a variable ≥ 0 is the integral of 1 − F over what it can be.
                let (scale, begin) = if is_shifted { (mean - min, min) } else { (mean, 0.0) };
                let beyond = |at: f64| if scale > 0.0 { (-(at - begin).max(0.0) / scale).exp() } else { 0.0 };
                min + scale * (beyond(min) - beyond(max))
            }
        }
    }
}

/// What is checked in the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionRules {
    /// Greatest distance of an operation's share of all operations from the one that the matrix leads to; a ratio.
    pub mix_deviation: f64,
    /// Greatest relative distance of the mean cycle time from the mean of what was drawn.
    pub cycle_deviation: f64,
    /// Greatest share of operations that failed.
    pub max_error_ratio: f64,
    /// Greatest number of users per operation in a second; `None`: not checked.
    pub max_users_per_rate: Option<f64>,
}

/// The result of one operation of the users, in the measured phases.
///
/// An operation belongs to the phase in which it was meant to begin; started = completed + failed + unfinished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionOperationSummary {
    /// What it is called.
    pub name: String,
    /// How often it was begun.
    pub started_count: u64,
    /// How often its page and all objects were answered as expected.
    pub completed_count: u64,
    /// How often a request of it failed, timed out, or could not be sent.
    pub failed_count: u64,
    /// How often it was not over in the end; in `latency` with the time until then.
    pub unfinished_count: u64,
    /// Completed operations. Unit: operations per second.
    pub rate_hz: f64,
    /// From the intended begin to the last byte of the last object.
    pub latency: LatencySummary,
    /// Cycles that were followed by another operation.
    pub cycles_count: u64,
    /// Their mean as drawn; `None` without cycles. Unit: nanoseconds.
    pub cycle_planned_ns: Option<f64>,
    /// Their mean as it was, from begin to begin. Unit: nanoseconds.
    pub cycle_actual_ns: Option<f64>,
}

/// What came of the users of a load: the numbers, and the rules that they were held against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionResult {
    /// The profile.
    pub name: String,
    /// Users at the same time; 0 if sessions arrived by themselves.
    pub users: u32,
    /// Completed operations. Unit: operations per second.
    pub rate_hz: f64,
    /// What the users ask for if nothing keeps them waiting: their number ÷ the mean cycle time in the long run. `None`: there are
    /// think times, or sessions arrived by themselves; older analyses lack it. Unit: operations per second.
    #[serde(default)]
    pub planned_hz: Option<f64>,
    /// Whether every rule was met.
    pub passed: bool,
    /// The operations, in the order of the plan.
    pub operations: Vec<SessionOperationResult>,
    /// The rules, in the order in which they are shown.
    pub rules: Vec<RuleOutcome>,
}

/// One operation against its targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionOperationResult {
    /// What was measured.
    pub measured: SessionOperationSummary,
    /// Its share of all operations begun; `None` if none was.
    pub mix_ratio: Option<f64>,
    /// The share that the matrix leads to in the long run.
    pub mix_target_ratio: f64,
    /// Its limit; `None` for none.
    pub limit: Option<OperationLimit>,
}

/// The result of one rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleOutcome {
    /// `limit`, `mix`, `mix_relative`, `cycle`, `errors` or `users_per_rate`.
    pub rule: String,
    /// The operation that it is about; `None`: all of them.
    pub operation: Option<String>,
    /// Whether it is met, for certain.
    pub passed: bool,
    /// All of it in words.
    pub sentence: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_a_time_is_that_of_what_is_drawn() {
        let span = SpanNs::from_secs;
        let drawn = |mean, min, max, is_shifted| Distribution::Exponential { mean, min, max, is_shifted };
        let check = |distribution: Distribution, seconds: f64| {
            let found = distribution.mean_ns() / 1e9;
            assert!((found - seconds).abs() < 1e-3, "{distribution:?}: {found}");
        };
        check(Distribution::Fixed(span(3)), 3.0);
        check(Distribution::Uniform { min: span(2), max: span(5) }, 3.5);
        // Without ends it would be 5 s; both move it: 2 + 5 (e^−0.4 − e^−5).
        check(drawn(span(5), span(0), span(25), false), 4.966);
        check(drawn(span(5), span(2), span(25), false), 5.318);
        check(drawn(span(5), span(2), span(25), true), 4.999);
        check(drawn(span(5), span(5), span(5), true), 5.0);
        check(drawn(span(5), span(5), span(25), true), 5.0);
    }
}
