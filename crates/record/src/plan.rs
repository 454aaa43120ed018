//! What will be done: the load plan of a trial and the plan of a whole run, with every default filled in.
//!
//! Plans are pure values. They hold all that is needed to send the same load again, seed included, and nothing that
//! depends on how it went.

use crate::experiment::ExperimentPlan;
use crate::origin::OriginPlan;
use crate::probe::ProbePlan;
use crate::units::{Bytes, SpanNs};
use crate::wire::WirePlan;
use crate::work::WorkPlan;
use crate::workload::{NeedPlan, Workload};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;

/// What one invocation will do; the content of `plan.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plan {
    /// `sysdyno run` and `demo`: look for the capacity.
    Run(RunPlan),
    /// `sysdyno load`: one load.
    Load(LoadPlan),
    /// `sysdyno try`: one thing against another.
    Experiment(Box<ExperimentPlan>),
    /// `sysdyno load --command` and `--files`: work on this host.
    Work(WorkPlan),
}

impl Plan {
    /// The load that is common to all trials; `None`: they run commands.
    pub fn load(&self) -> Option<&LoadPlan> {
        match self {
            Plan::Run(run) => Some(&run.load),
            Plan::Load(load) => Some(load),
            Plan::Experiment(experiment) => experiment.load(),
            Plan::Work(_) => None,
        }
    }

    /// The checks of the result, as typed.
    pub fn fail_if(&self) -> &[String] {
        match self {
            Plan::Run(run) => &run.fail_if,
            Plan::Load(load) => &load.fail_if,
            Plan::Experiment(_) | Plan::Work(_) => &[],
        }
    }
}

/// The load of one trial: where to, what, how it arrives, in which phases, and when to give up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadPlan {
    /// The server under test.
    pub target: Target,
    /// The request, the same for every arrival unless `workload` says otherwise.
    pub request: RequestSpec,
    /// What a response must be like to count as ok.
    pub validators: Validators,
    /// How requests arrive.
    pub arrival: Arrival,
    /// Connections in all, over all generator threads.
    pub connections: u32,
    /// How long a connection is kept.
    pub keep_alive: KeepAlive,
    /// The phases, in order. Responses that arrive during the drain belong to the phase of their intended send.
    pub phases: Vec<PhasePlan>,
    /// When a request is given up.
    pub deadlines: Deadlines,
    /// Greatest body that is read to its end; a longer one is a failure.
    pub max_body: Bytes,
    /// When the whole trial is given up.
    pub hard_stops: HardStops,
    /// Generator threads; each is pinned to one CPU where the host has more than one.
    pub threads: u32,
    /// Seed of the arrival process.
    pub seed: u64,
    /// Checks of the result, as typed (`p99>20ms`); empty in the trials of a search, whose plan has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<String>,
    /// What a load that rises must meet; `None`: it does not rise, or the default counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Objective>,
    /// The probe that runs beside the load; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbePlan>,
    /// How the generator talks to the kernel.
    #[serde(default)]
    pub io: IoChoice,
    /// Whether the generator spins rather than sleeps before what is due.
    #[serde(default)]
    pub spin: SpinChoice,
    /// Which instant counts as that of a response's last byte.
    #[serde(default)]
    pub stamps: StampChoice,
    /// Where connections come from.
    #[serde(default, skip_serializing_if = "OriginPlan::is_default")]
    pub origin: OriginPlan,
    /// What is sent instead of one request.
    #[serde(default, skip_serializing_if = "Workload::is_single")]
    pub workload: Workload,
    /// What is spoken on the connections.
    #[serde(default, skip_serializing_if = "WirePlan::is_plain")]
    pub wire: WirePlan,
}

impl LoadPlan {
    /// Requests that can be in flight: one on each connection, or on each stream of HTTP/2.
    pub fn lanes(&self) -> u64 {
        u64::from(self.connections) * u64::from(self.streams())
    }

    /// Requests at a time on one connection.
    pub fn streams(&self) -> u32 {
        self.wire.http2.map_or(1, |http2| http2.streams.max(1))
    }
}

/// Which instant counts as that of a response's last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StampChoice {
    /// When the kernel got the packet, so that the generator's own delays are not part of any latency; over TCP only.
    #[default]
    Kernel,
    /// When the generator read it.
    User,
}

/// Whether the generator spins rather than sleeps before what is due, in an open load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpinChoice {
    /// Where nothing else is meant to run on the CPUs of its threads.
    #[default]
    Auto,
    /// Until it is found that something else does run there.
    On,
    /// Never.
    Off,
}

/// How the generator talks to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoChoice {
    /// io_uring where the kernel has and allows it, else epoll.
    #[default]
    Auto,
    /// io_uring, or no load.
    Uring,
    /// epoll.
    Epoll,
}

/// The server under test, resolved and pinned: nothing is looked up again while the load runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The URL as the user wrote it, without user information.
    pub url: String,
    /// Where connections go.
    pub endpoint: Endpoint,
    /// The `Host` header.
    pub host: String,
    /// Path and query of the request line, beginning with `/`.
    pub path: String,
}

/// The address that connections are made to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Endpoint {
    /// TCP over IPv4 or IPv6.
    Tcp(SocketAddr),
    /// A Unix stream socket.
    Unix(PathBuf),
}

/// One HTTP request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestSpec {
    /// Method, upper case as it is sent.
    pub method: String,
    /// Header fields besides `Host`, `Content-Length`, `Connection` and `User-Agent`; secrets redacted in the record.
    pub headers: Vec<HeaderField>,
    /// The body; empty for none.
    #[serde(default, skip_serializing)]
    pub body: Vec<u8>,
    /// Length of the body, kept since the body itself is not recorded.
    pub body_bytes: u64,
}

/// One header field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderField {
    /// Name as sent.
    pub name: String,
    /// Value as sent, or `«redacted»` in the record.
    pub value: String,
}

/// What a response must be like. An empty validator accepts everything; the status is always checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// Accepted status codes; empty means 200 to 399.
    pub statuses: Vec<u16>,
    /// Exact body length in bytes.
    pub body_bytes: Option<u64>,
    /// A header field that must be present, with this value if one is given.
    pub header: Option<ExpectedHeader>,
    /// Bytes that the body must contain.
    pub body_contains: Option<String>,
    /// Learn the body's checksum from the first responses and fail those that differ later.
    pub same_body: bool,
}

/// A header field that a response must have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedHeader {
    /// Name, compared without case.
    pub name: String,
    /// Value, compared exactly after trimming; `None` accepts any.
    pub value: Option<String>,
}

/// How requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Each connection is a client that sends its next request when the last is answered.
    Closed,
    /// Open loop, equal gaps.
    Constant,
    /// Open loop, exponential gaps.
    Poisson,
    /// Open loop, at the instants of an access log.
    Trace,
    /// Users that go on when they were answered, after a time of their own.
    Sessions,
}

impl Arrival {
    /// Whether intended send times exist apart from actual ones.
    pub fn is_open(self) -> bool {
        self != Arrival::Closed
    }
}

/// How long a connection is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepAlive {
    /// Until the server closes it or the trial ends.
    Unlimited,
    /// For this many requests; 1 is a connection per request.
    Requests(u32),
}

/// One phase of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhasePlan {
    /// What the phase is for.
    pub kind: PhaseKind,
    /// Offered rate of an open arrival process, over all threads; `None` for a closed one. Unit: requests per second.
    pub rate_hz: Option<f64>,
    /// When the phase ends.
    pub end: PhaseEnd,
}

/// When a phase ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseEnd {
    /// After this time.
    After(SpanNs),
    /// After this many requests were begun, over all threads.
    Requests(u64),
}

/// What a phase is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// Brings server and connections to heat; not measured.
    Warmup,
    /// One offered rate of several; measured.
    Step,
    /// The measured window.
    Steady,
    /// No new requests; what is in flight is awaited. Always last, added by the engine.
    Drain,
    /// The load goes on while what was begun in the measured window ends; not measured.
    RampDown,
}

impl PhaseKind {
    /// All kinds, in the order of their discriminants.
    pub const ALL: [PhaseKind; 5] =
        [PhaseKind::Warmup, PhaseKind::Step, PhaseKind::Steady, PhaseKind::Drain, PhaseKind::RampDown];

    /// Whether requests whose intended send lies in this phase count in the result.
    pub fn is_measured(self) -> bool {
        matches!(self, PhaseKind::Step | PhaseKind::Steady)
    }

    /// The word used in tags and tables.
    pub fn name(self) -> &'static str {
        match self {
            PhaseKind::Warmup => "warmup",
            PhaseKind::Step => "step",
            PhaseKind::Steady => "steady",
            PhaseKind::Drain => "drain",
            PhaseKind::RampDown => "ramp_down",
        }
    }
}

/// When a request is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlines {
    /// From the intended send to the last byte.
    pub total: SpanNs,
    /// From the connect call to the connection.
    pub connect: SpanNs,
    /// Without a byte in either direction while a response is awaited.
    pub idle: SpanNs,
    /// How long the drain waits for what is in flight.
    pub drain: SpanNs,
}

impl Default for Deadlines {
    fn default() -> Deadlines {
        Deadlines {
            total: SpanNs::from_secs(10),
            connect: SpanNs::from_secs(5),
            idle: SpanNs::from_secs(10),
            drain: SpanNs::from_secs(2),
        }
    }
}

/// When the whole trial is given up for the target's sake.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HardStops {
    /// Consecutive connection failures without a success; `None` never stops.
    pub connect_failures_in_a_row: Option<u32>,
    /// Share of failed or timed-out requests over ten seconds with at least 100 requests; `None` never stops.
    pub failure_ratio: Option<f64>,
}

/// The plan of a whole `run`: how capacity is looked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// What is common to all trials; its phases are those of one trial at an unspecified rate.
    pub load: LoadPlan,
    /// What a rate must meet to count as carried.
    pub objective: Objective,
    /// How the search goes.
    pub search: SearchPlan,
    /// Processes to watch besides the generator; empty means those that own the target's listening socket.
    pub watch_pids: Vec<u32>,
    /// Samples of the kernel per second.
    pub sampling_hz: f64,
    /// Seed of the search's random orders; each trial's own seed is derived from it.
    pub seed: u64,
    /// Checks of the result, as typed (`p99>20ms`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<String>,
    /// Real traffic that the capacity is held against; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<Box<NeedPlan>>,
}

/// What a rate must meet to count as carried by the server.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// The percentile of response time that is limited, as a ratio: 0.99 for p99.
    pub percentile_ratio: f64,
    /// Its limit.
    pub limit: SpanNs,
    /// Least achieved ÷ offered rate.
    pub min_achieved_ratio: f64,
    /// Greatest share of requests that failed or timed out.
    pub max_error_ratio: f64,
}

impl Default for Objective {
    fn default() -> Objective {
        Objective {
            percentile_ratio: 0.99,
            limit: SpanNs::from_millis(50),
            min_achieved_ratio: 0.99,
            max_error_ratio: 0.001,
        }
    }
}

/// How capacity is looked for: the procedure and its budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchPlan {
    /// The curve that is measured.
    pub method: SearchMethod,
    /// Length of a probing window (pilot and bracket).
    pub probe: SpanNs,
    /// Length of a measured window (grid and certification).
    pub window: SpanNs,
    /// Warm-up before each window.
    pub warmup: SpanNs,
    /// Rates in the replicated grid.
    pub grid_rates: u32,
    /// Trials at each rate of the grid.
    pub grid_replicates: u32,
    /// Fresh passes at the certified rate; 0 leaves certification out.
    pub certify_passes: u32,
    /// No rate above this is tried; `None` for no ceiling. Unit: requests per second.
    pub max_rate_hz: Option<f64>,
    /// No trial is begun that could end later than this after the begin of the first; `None`: the search takes the time that
    /// it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<SpanNs>,
}

/// The curve that is measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMethod {
    /// Open loop: the highest offered rate that meets the objective.
    OfferedRate,
    /// Closed loop: completions against these numbers of connections.
    Connections(Vec<u32>),
}
