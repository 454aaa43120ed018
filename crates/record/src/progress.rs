//! The progress of a run while it lasts, for those who watch it. None of this is part of the record.

use crate::effect::{Better, Effect};
use crate::failure::Failures;
use crate::load::{Counts, LatencyKind, TrialPurpose};
use crate::plan::{Arrival, PhaseKind};
use crate::units::{MonoNs, SpanNs};
use serde::{Deserialize, Serialize};

/// How far a plan is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunProgress {
    /// The trial, from 1.
    pub trial: u32,
    /// What it is for.
    pub purpose: TrialPurpose,
    /// What the load does now.
    pub phase: PhaseKind,
    /// Rate asked for; `None` in a closed process. Unit: requests per second.
    pub offered_hz: Option<f64>,
    /// Clients that send now, where their number changes.
    pub clients_count: Option<u32>,
    /// Rate of completions in the last interval. Unit: requests per second.
    pub achieved_hz: Option<f64>,
    /// 99th percentile of the last interval. Unit: nanoseconds.
    pub p99_ns: Option<u64>,
    /// Failed and timed-out requests of the trial so far.
    pub errors_count: u64,
    /// Requests of the trial that are over so far.
    pub done_count: u64,
    /// Time since the plan began. Unit: nanoseconds.
    pub elapsed_ns: u64,
    /// Remaining time, if known. Unit: nanoseconds.
    pub left_ns: Option<u64>,
}

impl RunProgress {
    /// That of a plan that has not begun.
    pub const BEFORE: RunProgress = RunProgress {
        trial: 0,
        purpose: TrialPurpose::Single,
        phase: PhaseKind::Warmup,
        offered_hz: None,
        clients_count: None,
        achieved_hz: None,
        p99_ns: None,
        errors_count: 0,
        done_count: 0,
        elapsed_ns: 0,
        left_ns: None,
    };
}

/// A run as it is drawn while it lasts.
#[derive(Clone, Debug, PartialEq)]
pub struct RunPicture {
    /// How far it is.
    pub progress: RunProgress,
    /// How requests of the present trial arrive.
    pub arrival: Arrival,
    /// Connections of the present trial.
    pub connections_count: u32,
    /// Requests after which the present trial ends; `None`: it ends after a time.
    pub goal_count: Option<u64>,
    /// The seconds of the present trial, the oldest first; at most [`MARKS_MAX`].
    pub marks: Vec<LoadMark>,
    /// Who uses the CPUs; `None`: not read yet.
    pub uses: Option<CpuUses>,
    /// CPU of the busiest generator thread in the last second; `None`: not known yet. Unit: ratio of one CPU.
    pub busiest_thread_ratio: Option<f64>,
    /// Whether that is so much that the generator may be what limits the rate.
    pub is_generator_full: bool,
    /// What a search has tried so far; empty: it is no search.
    pub tried: Vec<TriedLoad>,
    /// How a comparison has stood after each of its pairs; `None`: it is no comparison.
    pub closing: Option<Closing>,
}

/// Most marks that are kept of a trial: as many seconds as the widest terminal has columns for.
pub const MARKS_MAX: usize = 500;

/// What about a second of a load was like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadMark {
    /// Whether it is a part of what is measured, not of the warm-up or the drain.
    pub is_measured: bool,
    /// Completed and valid requests. Unit: requests per second.
    pub ok_hz: f64,
    /// Failed and timed-out requests. Unit: requests per second.
    pub errors_hz: f64,
    /// Median; `None`: nothing was completed. Unit: nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile, likewise. Unit: nanoseconds.
    pub p99_ns: Option<u64>,
}

/// Who used the CPUs in the last seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuUses {
    /// The tiers of the server in the order of the way of a request.
    pub tiers: Vec<CpuUse>,
    /// Everything else on the server's host; `None`: not known. Unit: CPUs.
    pub other_cpus: Option<f64>,
    /// This program; `None`: not known. Unit: CPUs.
    pub generator_cpus: Option<f64>,
    /// CPUs of the server's host; `None`: not known.
    pub host_cpus_count: Option<u32>,
}

/// CPU that one tier used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuUse {
    /// What its first process is called. Untrusted text.
    pub name: String,
    /// What it used. Unit: CPUs.
    pub cpus: f64,
}

/// The server's host at one moment of a run, for whoever follows its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunNow {
    /// When it was read.
    pub mono_ns: MonoNs,
    /// Who used the CPUs in the last seconds.
    pub uses: CpuUses,
    /// Limits that its readings of the last ten seconds show, the strongest sign first.
    pub seen: Vec<SeenLimit>,
}

/// A limit that readings show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenLimit {
    /// The number of the diagnosis.
    pub id: String,
    /// Its short name.
    pub name: String,
    /// What was seen, in a sentence.
    pub title: String,
}

/// A trial of a search as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriedLoad {
    /// How much was asked for: requests per second, or connections where the search goes over these.
    pub load: f64,
    /// Whether the objective was met; `None`: the trial cannot say.
    pub is_met: Option<bool>,
}

/// How a comparison has stood so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Closing {
    /// In a line.
    pub line: String,
    /// What may be spent.
    pub budget: SpanNs,
    /// The difference that does not matter. Unit: that of the effects' scale.
    pub margin: f64,
    /// Which direction of the metric is better.
    pub better: Better,
    /// The effect after each pair, the oldest first.
    pub effects: Vec<Effect>,
}

/// About a second of a load in the numbers that onlookers read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadSecond {
    /// The trial.
    pub trial: u32,
    /// Position of the phase in the trial's plan.
    pub phase_index: u32,
    /// What the phase is for.
    pub phase: PhaseKind,
    /// Begin of the interval.
    pub begin_mono_ns: MonoNs,
    /// End of the interval.
    pub end_mono_ns: MonoNs,
    /// Arrivals of the interval; `None` in a closed process. Unit: requests per second.
    pub offered_hz: Option<f64>,
    /// Completed requests, valid or not. Unit: requests per second.
    pub achieved_hz: f64,
    /// Completed and valid requests. Unit: requests per second.
    pub goodput_hz: f64,
    /// Failed and timed-out requests. Unit: requests per second.
    pub errors_hz: f64,
    /// Requests by outcome.
    pub counts: Counts,
    /// Failed requests by class.
    pub failures: Failures,
    /// What the latencies are: response time, or service time in a closed process.
    pub latency_kind: LatencyKind,
    /// The latencies.
    pub latency_ns: SecondLatency,
    /// Requests between send and last byte when the interval ended.
    pub in_flight_at_end: u64,
    /// Users in a session when the interval ended; `None`: the load has no users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users_at_end: Option<u64>,
    /// Bytes received, heads included.
    pub received_bytes: u64,
    /// Connections that were established.
    pub connections_opened: u64,
    /// CPU of the busiest generator thread; `None`: not known. Unit: ratio of one CPU.
    pub busiest_thread_ratio: Option<f64>,
    /// Whether that is so much that the generator may be what limits the rate.
    pub is_generator_full: bool,
}

/// Latencies of an interval. A percentile is `None` if fewer than ten samples lie beyond it. Unit: nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SecondLatency {
    /// Number of values.
    pub count: u64,
    /// Median.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p99_9: Option<u64>,
    /// Greatest value; `None`: there is none.
    pub max: Option<u64>,
}
