//! Several kinds of request in one load: their plan, and the result of each.
//!
//! A plan without operations sends its one request; nothing here is recorded for it.

use crate::load::{Counts, Failures, LatencySummary};
use crate::plan::{RequestSpec, Validators};
use crate::session::SessionPlan;
use crate::units::SpanNs;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Most operations that are kept apart in one load: each has counts and a histogram of its own on every thread.
pub const MAX_OPERATIONS: usize = 100;

/// What is sent instead of one request, the same every time; the default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// The kinds of request; empty if the plan's one request is the only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationPlan>,
    /// The access log that the requests are taken from; `None`: they are those of the operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogPlan>,
    /// Users that walk over the operations; `None`: an operation is drawn for each request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Box<SessionPlan>>,
    /// Tables that values of requests are taken from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ValueFile>,
    /// Phases whose rate changes evenly while they last; the `rate_hz` of such a phase is its mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slopes: Vec<Slope>,
    /// How many clients of a closed load send, as points that straight lines join; empty: all of them, always.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<ClientPoint>,
}

/// How the rate of a phase changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slope {
    /// Position of the phase in the plan.
    pub phase: u32,
    /// Rate at its begin. Unit: requests per second.
    pub begin_hz: f64,
    /// Rate at its end. Unit: requests per second.
    pub end_hz: f64,
}

/// How many clients send at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientPoint {
    /// After the begin of the load.
    pub at: SpanNs,
    /// Clients.
    pub clients: u32,
}

/// A table that values of requests are taken from. Its cells are not recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValueFile {
    /// The file, as typed.
    pub file: String,
    /// Names of its columns.
    pub columns: Vec<String>,
    /// Rows below the names.
    pub rows_count: u64,
    /// Their values.
    #[serde(skip)]
    pub cells: Arc<Cells>,
}

/// The cells of a table, row by row in one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    /// All cells, one behind the other.
    pub text: String,
    /// Where each cell ends. Unit: bytes.
    pub ends: Vec<u32>,
    /// The line of the file in which each row begins, from 1.
    pub lines: Vec<u32>,
}

impl Cells {
    /// A cell; empty if there is none.
    pub fn cell(&self, row: usize, column: usize) -> &str {
        let columns = self.ends.len() / self.lines.len().max(1);
        let number = row * columns + column;
        let begin = if number == 0 { Some(0) } else { self.ends.get(number - 1).copied() };
        let range = begin.zip(self.ends.get(number).copied());
        range.and_then(|(begin, end)| self.text.get(begin as usize..end as usize)).unwrap_or("")
    }
}

impl Workload {
    /// Whether the plan's one request is the only one.
    pub fn is_single(&self) -> bool {
        *self == Workload::default()
    }
}

/// One named kind of request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationPlan {
    /// What it is called in tables.
    pub name: String,
    /// Path and query of the request line.
    pub path: String,
    /// The rest of the request.
    pub request: RequestSpec,
    /// How often it is sent, as a share of the sum of all weights.
    pub weight: f64,
    /// What a response must be like.
    pub validators: Validators,
}

/// Requests of an access log, replayed in its timing or drawn as a mix. The log itself is not recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogPlan {
    /// The log, as typed.
    pub file: String,
    /// Lines in it.
    pub lines_count: u64,
    /// Lines that are not of an access log.
    pub unreadable_count: u64,
    /// Requests that are not replayed: with other methods than GET and HEAD, or beyond a limit.
    pub unsendable_count: u64,
    /// Requests that are.
    pub arrivals_count: u64,
    /// From the first second to the end of the last, after scaling.
    pub span: SpanNs,
    /// How many times as fast as it was; `None`: as a mix, without its timing.
    pub speed_ratio: Option<f64>,
    /// The different requests.
    #[serde(skip)]
    pub requests: Arc<[LoggedRequest]>,
    /// Which of them came when, in order of time.
    #[serde(skip)]
    pub arrivals: Arc<[LoggedArrival]>,
}

/// One request of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedRequest {
    /// GET or HEAD.
    pub method: Box<str>,
    /// Path and query.
    pub path: Box<str>,
    /// Position of the operation that it is counted as.
    pub operation: u32,
}

/// One arrival of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedArrival {
    /// After the begin of the log, scaled. Unit: nanoseconds.
    pub offset_ns: u64,
    /// Position of the request.
    pub request: u32,
}

/// What real traffic asked for: the busiest times of an access log, which a capacity is held against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeedPlan {
    /// The log, as typed.
    pub file: String,
    /// Requests in it, whatever their method.
    pub requests_count: u64,
    /// Lines that could not be read.
    pub unreadable_count: u64,
    /// Its first second. Unit: seconds since 1970, UTC.
    pub begin_unix_s: i64,
    /// The end of its last second, likewise.
    pub end_unix_s: i64,
    /// Requests in its busiest second. Unit: requests per second.
    pub second_hz: f64,
    /// Mean rate of its busiest 60 seconds in a row; `None`: it is shorter.
    pub minute_hz: Option<f64>,
    /// Mean rate of its busiest 3,600 seconds in a row; `None`: it is shorter.
    pub hour_hz: Option<f64>,
}

/// How many times real traffic a capacity is. Unit of the ratios: capacity ÷ rate of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Headroom {
    /// The traffic.
    pub need: NeedPlan,
    /// The capacity. Unit: requests per second.
    pub rate_hz: f64,
    /// Whether it, and so each ratio, is a lower bound.
    pub is_lower_bound: bool,
    /// Of the busiest second.
    pub second_ratio: f64,
    /// Of the busiest minute; `None`: the log is shorter.
    pub minute_ratio: Option<f64>,
    /// Of the busiest hour; `None`: the log is shorter.
    pub hour_ratio: Option<f64>,
}

/// The result of one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationSummary {
    /// What it is called.
    pub name: String,
    /// Its requests in the measured phases, by outcome.
    pub counts: Counts,
    /// Its failed requests by class.
    pub failures: Failures,
    /// Its requests in the whole trial, warm-up included: what the server has seen of it.
    pub total: Counts,
    /// Of `counts.ok`, those that were answered with 304: what the client has is still good.
    #[serde(default)]
    pub not_modified_count: u64,
    /// Rate of completed and valid requests. Unit: requests per second.
    pub goodput_hz: f64,
    /// Bytes received, heads included.
    pub received_bytes: u64,
    /// Response time in an open load, service time in a closed one.
    pub latency: LatencySummary,
}
