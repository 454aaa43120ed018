//! Results of a probe: single operations, alone or alongside a load, each with its instants and its outcome.
//!
//! A probe is an outsider: it has its own connection and thread and sends on its own schedule, so that its waiting time
//! does not depend on the generator. Identity: scheduled = sent + unsent, and
//! sent = received + timed out + failed + in flight ([`ProbeSummary::is_balanced`]).

mod conclusion;
mod lines;
mod target;

pub use conclusion::{LossWindow, PROBE_SCHEMA, ProbeConclusion, ProbedSummary, WindowShare, WindowSight};
pub use lines::{ProbeLines, read_lines};
pub use target::{ProbedTarget, ProbesPlan};

use crate::load::{FailureClass, Failures, LatencySummary};
use crate::named::named;
use crate::units::{MonoNs, SpanNs};
use serde::{Deserialize, Serialize};

named! {
    /// What one operation of a probe is.
    ProbeKind {
        /// An HTTP request on a kept connection, from the intended send to the last byte.
        Http "http";
        /// A TCP connection, made and closed.
        Tcp "tcp";
        /// An ICMP or ICMPv6 echo.
        Icmp "icmp";
    }
}

/// What a probe will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbePlan {
    /// The operation.
    pub kind: ProbeKind,
    /// Time between two intended sends.
    pub interval: SpanNs,
    /// From the intended send to the instant at which it is given up.
    pub timeout: SpanNs,
}

/// How a probe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeOutcome {
    /// It was answered in time.
    Received,
    /// It was not answered in time.
    TimedOut,
    /// It failed before its time was over.
    Failed(FailureClass),
    /// It was still open when the probe ended.
    InFlight,
    /// Its time was over before it could be sent.
    Unsent,
}

/// One operation of a probe; a line of `probe.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeReply {
    /// The trial that it ran beside, from 1; 0 of a probe on its own.
    pub trial: u32,
    /// The target, by its place in the plan, from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub target: u16,
    /// Number of the operation of this target in its trial, from 1.
    pub sequence: u64,
    /// When it was to be sent.
    pub intended_mono_ns: MonoNs,
    /// When it was begun; `None` if it was not.
    pub sent_mono_ns: Option<MonoNs>,
    /// When it ended, or was given up.
    pub end_mono_ns: MonoNs,
    /// How it ended.
    pub outcome: ProbeOutcome,
    /// Time that it took of this to establish a connection; `None`: it had one, needs none, or got none. Unit: nanoseconds.
    pub connect_ns: Option<u64>,
    /// Status code of an HTTP response; `None` of other kinds, and without a response.
    pub status: Option<u16>,
}

/// Records of a single target do not number it.
fn is_first(target: &u16) -> bool {
    *target == 0
}

impl ProbeReply {
    /// From the intended send to the end: what an outsider has waited. Unit: nanoseconds.
    pub fn response_ns(&self) -> u64 {
        self.end_mono_ns.since(self.intended_mono_ns)
    }

    /// From the actual send to the end; `None`: it was not sent. Unit: nanoseconds.
    pub fn service_ns(&self) -> Option<u64> {
        self.sent_mono_ns.map(|sent| self.end_mono_ns.since(sent))
    }
}

/// The result of a probe as numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeSummary {
    /// The operation.
    pub kind: ProbeKind,
    /// Time between two intended sends. Unit: nanoseconds.
    pub interval_ns: u64,
    /// From the intended send to the instant at which it was given up. Unit: nanoseconds.
    pub timeout_ns: u64,
    /// Operations that were begun.
    pub sent_count: u64,
    /// Operations that were answered in time.
    pub received_count: u64,
    /// Operations that were not answered in time.
    pub timed_out_count: u64,
    /// Operations that failed; the sum of the classes.
    pub failed_count: u64,
    /// Operations that were open at the end.
    pub in_flight_count: u64,
    /// Operations that could not be begun in their time.
    pub unsent_count: u64,
    /// Failed operations by class.
    pub failures: Failures,
    /// Timed out, failed and unsent, as a share of all that are not in flight; `None` without any.
    pub lost_ratio: Option<f64>,
    /// Time from the intended send. What timed out or is in flight is in it as a lower bound, what failed is not.
    pub response_time_ns: LatencySummary,
    /// The interval of its 90th percentile once more, for readers of documents that had it here only. Unit: nanoseconds.
    pub p90_interval: Option<[u64; 2]>,
    /// Time from the actual send, likewise: without the lateness of the probe's own thread.
    pub service_time_ns: LatencySummary,
    /// Least response time of those received; `None`: none was. Unit: nanoseconds.
    pub min_ns: Option<u64>,
    /// Mean response time of those received. Unit: nanoseconds.
    pub mean_ns: Option<f64>,
    /// Greatest response time of those received. Unit: nanoseconds.
    pub max_ns: Option<u64>,
    /// Standard deviation of the response time of those received, over all of them. Unit: nanoseconds.
    pub mdev_ns: Option<f64>,
    /// Greatest lateness of a send; `None`: nothing was sent. Unit: nanoseconds.
    pub slip_max_ns: Option<u64>,
}

impl ProbeSummary {
    /// Lost operations: timed out, failed, or never sent.
    pub fn lost_count(&self) -> u64 {
        self.timed_out_count.saturating_add(self.failed_count).saturating_add(self.unsent_count)
    }

    /// Whether no operation vanished.
    pub fn is_balanced(&self) -> bool {
        let ended = self.received_count + self.timed_out_count + self.failed_count + self.in_flight_count;
        self.sent_count == ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_written_as_specified() {
        let reply = ProbeReply {
            trial: 1,
            target: 0,
            sequence: 7,
            intended_mono_ns: MonoNs(1_000),
            sent_mono_ns: Some(MonoNs(1_200)),
            end_mono_ns: MonoNs(5_000),
            outcome: ProbeOutcome::Failed(FailureClass::Reset),
            connect_ns: None,
            status: None,
        };
        let text = serde_json::to_string(&reply).expect("serialises");
        let expected = "{\"trial\":1,\"sequence\":7,\"intended_mono_ns\":1000,\"sent_mono_ns\":1200,\
                        \"end_mono_ns\":5000,\"outcome\":{\"failed\":\"reset\"},\"connect_ns\":null,\"status\":null}";
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<ProbeReply>(&text).expect("parses"), reply);
        assert_eq!((reply.response_ns(), reply.service_ns()), (4_000, Some(3_800)));
        let second = ProbeReply { target: 2, ..reply };
        let text = serde_json::to_string(&second).expect("serialises");
        assert!(text.starts_with("{\"trial\":1,\"target\":2,\"sequence\":7,"), "{text}");
        assert_eq!(serde_json::from_str::<ProbeReply>(&text).expect("parses"), second);
    }
}
