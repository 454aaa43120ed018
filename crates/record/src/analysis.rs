//! Conclusions: verdict, capacity, curve, findings. `analyze` writes them, `report` shows them.

use crate::links::LinkSplit;
use crate::load::{Counts, Failures, GeneratorSummary, LatencySummary, TrialPurpose};
use crate::named::named;
use crate::path::PathTier;
use crate::plan::Arrival;
use crate::probe::{ProbeConclusion, ProbeSummary};
use crate::proof::FindingProof;
use crate::ramp::RampResult;
use crate::session::SessionResult;
use crate::units::MonoNs;
use crate::watched::HostSummary;
use crate::wire::{CacheCounts, HandshakeCounts};
use crate::workload::{Headroom, OperationSummary};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All conclusions about a run; the content of `analysis.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// `sysdyno.analysis/1`.
    pub schema: String,
    /// Whether the numbers may be trusted, before any number.
    pub verdict: Verdict,
    /// The main result in one sentence, as terminal and report print it first.
    pub headline: String,
    /// What stops the server, in one sentence.
    pub limit: String,
    /// What the server can take; `None` for `load`, which does not look for it.
    pub capacity: Option<Capacity>,
    /// One point per trial.
    pub curve: Vec<CurvePoint>,
    /// The trial that latency, counts and rates below are of, from 1: the only one of `load`; of `run`, the one at the
    /// greatest rate that met the objective, or the last one.
    pub shown_trial: u32,
    /// Requests of that trial's measured phases.
    pub counts: Counts,
    /// Its failures.
    pub failures: Failures,
    /// Status codes of its responses, with how many there were.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub statuses: BTreeMap<u16, u64>,
    /// Bytes that it received per second, heads included; `None`: an older analysis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_bytes_hz: Option<f64>,
    /// How its connections were secured; `None` without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshakes: Option<HandshakeCounts>,
    /// Its keys, of a memcached load; `None` for HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheCounts>,
    /// Its rates.
    pub rates: Rates,
    /// Its response time; count 0 in a closed process.
    pub response_time_ns: LatencySummary,
    /// Its service time.
    pub service_time_ns: LatencySummary,
    /// Its slip: actual − intended send, loop and pool together; count 0 in a closed process.
    pub slip_ns: LatencySummary,
    /// The part of the slip that is the generator's own lateness.
    pub loop_slip_ns: LatencySummary,
    /// The part of the slip that was spent waiting for a free connection.
    pub pool_slip_ns: LatencySummary,
    /// Time to establish a connection.
    pub connect_time_ns: LatencySummary,
    /// Time from connected to secured; count 0 without TLS.
    #[serde(default)]
    pub handshake_time_ns: LatencySummary,
    /// Time from the actual send to the first byte.
    pub first_byte_time_ns: LatencySummary,
    /// Time from the intended send to the failure, of failed requests.
    pub failure_time_ns: LatencySummary,
    /// The generator on itself in that trial.
    pub generator: GeneratorSummary,
    /// Conclusions about the host, most certain first; excluded ones last.
    pub findings: Vec<Finding>,
    /// Limits about which nothing can be said, since what shows them could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<Unchecked>,
    /// The way of a request through the server, in the trial that shows the limit; empty: the server's processes are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathTier>,
    /// How what the server sent was divided over the links of its aggregates; empty: it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkSplit>,
    /// Latency distribution of the shown trial for charts; `response` if open, else `service`.
    pub distribution: Vec<QuantilePoint>,
    /// The same by range of latency, the fastest first; empty: nothing was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<LatencyBand>,
    /// How well the arrivals of the shown trial fit what was planned; `None`: closed, or too few to tell.
    #[serde(default)]
    pub arrival_fit: Option<ArrivalFit>,
    /// The results of the `--fail-if` checks, in their order.
    #[serde(default)]
    pub checks: Vec<CheckOutcome>,
    /// The probe of the load's own target that ran beside the shown trial, over its measured phases; `None`: there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeSummary>,
    /// All that was probed beside the shown trial, likewise; `None`: nothing was, or an older analysis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes: Option<ProbeConclusion>,
    /// The result of each operation of the shown trial; empty where there is one request only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationSummary>,
    /// How many times real traffic the capacity is; `None`: none was given, or there is no capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Headroom>,
    /// Up to where a load that rises met its objective; `None`: it did not rise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp: Option<RampResult>,
    /// The results of users and their rules; `None` without users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionResult>,
    /// What the host did; `None`: a load was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<HostSummary>,
    /// What was tried to prove findings; empty: nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<FindingProof>,
}

/// How well the arrivals of an open process fit what was planned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArrivalFit {
    /// The process that was planned.
    pub arrival: Arrival,
    /// Poisson: the Anderson–Darling statistic A²; constant: median deviation of a gap, as a ratio of the planned one.
    pub statistic: f64,
    /// What the statistic must not exceed: at the 1% level; constant: a twentieth and the timer's error.
    pub critical: f64,
    /// How many gaps were compared.
    pub gaps_count: u64,
    /// Whether it does not.
    pub is_met: bool,
}

/// The result of one check that the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckOutcome {
    /// The check as it was typed: `p99>20ms`.
    pub text: String,
    /// Whether its comparison does not hold, for certain.
    pub passed: bool,
    /// Whether the numbers could decide it; one that they could not has not passed.
    pub decided: bool,
    /// What was compared, with the kind of latency: `response.p99`.
    pub metric: String,
    /// `>`, `>=`, `<` or `<=`.
    pub operator: String,
    /// What was measured. Unit: `unit`. `None`: not known, the sentence says why.
    pub measured: Option<f64>,
    /// Whether what was measured is only a lower bound.
    pub is_lower_bound: bool,
    /// The limit. Unit: `unit`. `None`: the text is not a check.
    pub limit: Option<f64>,
    /// `ns`, `ratio` or `hz`.
    pub unit: String,
    /// The check and its result: `p99 > 20 ms: 31.2 ms, 56% over`.
    pub sentence: String,
}

/// Rates of a trial. Unit: requests per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Asked for; `None` in a closed process.
    pub offered_hz: Option<f64>,
    /// Completed, valid or not.
    pub achieved_hz: f64,
    /// Completed and valid.
    pub goodput_hz: f64,
}

/// Whether the numbers of a run may be trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The word.
    pub status: VerdictStatus,
    /// Why it is not VALID, or what else a reader must know; worst first.
    pub reasons: Vec<Reason>,
}

named! {
    /// The word of a verdict.
    #[derive(Default)]
    VerdictStatus {
        /// Nothing speaks against the numbers.
        #[default]
        Valid "VALID";
        /// Something may have touched them.
        Suspect "SUSPECT";
        /// They must not be taken for the server's.
        Invalid "INVALID";
    }
}

/// One check that fired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// The check, e.g. `M01`.
    pub id: String,
    /// Its short name, e.g. `gen-cpu-bound`.
    pub name: String,
    /// How bad it is by itself. `Valid` marks a remark that does not lower the verdict.
    pub status: VerdictStatus,
    /// What was seen, with numbers, in a sentence.
    pub text: String,
    /// What to do about it, in a sentence.
    pub remedy: String,
}

/// What the server can take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// Best estimate; `None` if no rate was carried. Unit: requests per second.
    pub rate_hz: Option<f64>,
    /// Lower end of the interval; `None` if it could not be computed.
    pub low_hz: Option<f64>,
    /// Upper end of the interval; `None` when it is open ("at least").
    pub high_hz: Option<f64>,
    /// What the two ends are.
    #[serde(default)]
    pub basis: CapacityBasis,
    /// Why there is no higher rate.
    pub ended_by: EndedBy,
    /// Whether the number is only a lower bound of the server's capacity.
    pub is_lower_bound: bool,
    /// Highest rate at which all certification passes met the objective; `None` if not certified.
    pub certified_hz: Option<f64>,
    /// Passes at that rate.
    pub certified_passes: u32,
    /// How the number came about, in a sentence: the definition, the trials, the method.
    pub method: String,
    /// The objective in the user's notation: `p99<50ms`.
    pub objective: String,
}

/// What the ends of a capacity's interval are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapacityBasis {
    /// Those of a 95% confidence interval.
    #[default]
    Confidence,
    /// The greatest rate that all trials carried and the least that none did.
    Enclosure,
}

/// Why there is no higher rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The percentile exceeded the objective's limit.
    Objective,
    /// The achieved rate fell behind the offered one.
    AchievedRate,
    /// Too many requests failed.
    Errors,
    /// The generator could not send more.
    Generator,
    /// The highest rate that the plan allowed was carried.
    Ceiling,
    /// The search was stopped before its end: by the user, or since its time was up.
    Interrupted,
    /// Completions stopped growing with the number of connections (closed loop).
    Saturation,
    /// Nothing was carried at any rate.
    NothingCarried,
}

/// One trial as a point of the capacity curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The trial.
    pub trial: u32,
    /// What it was for.
    pub purpose: TrialPurpose,
    /// Connections.
    pub connections: u32,
    /// Offered rate; `None` if closed.
    pub offered_hz: Option<f64>,
    /// Completed requests per second.
    pub achieved_hz: f64,
    /// Completed and valid requests per second.
    pub goodput_hz: f64,
    /// Share of failed or timed-out requests.
    pub error_ratio: f64,
    /// Median of response time (open) or service time (closed).
    pub p50_ns: Option<u64>,
    /// 90th percentile.
    pub p90_ns: Option<u64>,
    /// 99th percentile.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile.
    pub p99_9_ns: Option<u64>,
    /// Whether it met the objective; `None` where there is none.
    pub met: Option<bool>,
    /// Whether the trial itself was sound; a trial that was not supports no conclusion.
    pub status: VerdictStatus,
    /// Begin of the measured window.
    pub begin_mono_ns: MonoNs,
    /// End of the measured window.
    pub end_mono_ns: MonoNs,
}

/// A limit about which nothing can be said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unchecked {
    /// Number of the rule, e.g. `C03`.
    pub id: String,
    /// Its short name, e.g. `cfs-throttled`.
    pub name: String,
    /// The reading that is missing, e.g. `cgroup.throttled_count`.
    pub column: String,
    /// Why it could not be read.
    pub reason: String,
}

/// A conclusion about the host, with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule, e.g. `T01`.
    pub id: String,
    /// Its short name, e.g. `accept-overflow`.
    pub name: String,
    /// The host that it is about, as it was typed, where the server has one of its own; `None`: there is only one host, or
    /// it is about what lies between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// How certain it is.
    pub confidence: Confidence,
    /// The conclusion in one sentence, with the object's name and numbers.
    pub title: String,
    /// What it rests on: an experiment if one confirmed it, then the mechanism, then confirmers.
    pub evidence: Vec<Evidence>,
    /// What could be changed, in a sentence; `None` if there is nothing to change.
    pub remedy: Option<String>,
    /// What would show that it is wrong, in a sentence.
    pub counterfactual: String,
    /// The part of what the user noticed (failed or slow requests) that it accounts for at most, 0 to 1; `None`: nothing was
    /// noticed, or it is excluded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained_ratio: Option<f64>,
}

/// How certain a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The counters speak against it.
    Excluded,
    /// The mechanism moved, nothing else speaks for it.
    Possible,
    /// Mechanism and an independent signal agree.
    Likely,
    /// An experiment showed it. Earlier versions wrote it where mechanism, an independent signal, and an effect agreed.
    Confirmed,
}

/// One signal that a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Its part in the argument.
    pub role: EvidenceRole,
    /// What was seen, with numbers, in a sentence.
    pub text: String,
    /// Where it comes from: kernel file and field, or the load engine.
    pub source: String,
    /// Column `name@scope` of the series that shows it, for charts.
    pub column: Option<String>,
    /// The seconds in which it was seen.
    pub begin_mono_ns: MonoNs,
    /// Their end.
    pub end_mono_ns: MonoNs,
}

/// The part of a signal in an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceRole {
    /// The counter of the mechanism itself.
    Mechanism,
    /// An independent signal.
    Confirmer,
    /// The effect on the user's metric.
    Effect,
    /// A signal that speaks against it.
    Against,
    /// What came of trying it.
    Experiment,
}

/// Requests whose latency lies in one range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyBand {
    /// The greatest latency in it; the one below ends where it begins. `None`: there is no limit. Unit: nanoseconds.
    pub up_to_ns: Option<u64>,
    /// How many. Those that timed out are where the time lies that they were waited for.
    pub count: u64,
}

/// A point of a latency distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuantilePoint {
    /// The quantile as a ratio, 0 to 1.
    pub ratio: f64,
    /// The value. Unit: nanoseconds.
    pub value_ns: u64,
}
