//! What came back: counts, failure classes, latency summaries, intervals and trials of the load engine.

pub use crate::failure::{Blame, FailureClass, Failures, Told};
use crate::plan::{LoadPlan, PhaseKind};
use crate::session::SessionOperationSummary;
use crate::spread::GeneratorShare;
use crate::units::MonoNs;
use crate::wire::{CacheCounts, HandshakeCounts};
use crate::workload::OperationSummary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use sysdyno_stats::censored::{LowerBounds, uncertain_from_ns};
use sysdyno_stats::histogram::LatencyHistogram;
use sysdyno_stats::order_statistics::{is_quantile_supported, quantile_interval};

/// How many requests went which way; the identity of [`Counts::is_balanced`] always holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Arrivals that the process asked for.
    pub scheduled: u64,
    /// Arrivals that got a connection or tried to.
    pub sent: u64,
    /// Requests whose bytes reached the socket.
    pub written: u64,
    /// Complete responses that every validator accepted.
    pub ok: u64,
    /// Requests that failed; the sum of the failure classes.
    pub failed: u64,
    /// Requests whose total deadline passed after they were sent.
    pub timed_out: u64,
    /// Requests still open when the drain ended.
    pub in_flight: u64,
    /// Arrivals for which no connection became free in time.
    pub unsent: u64,
}

impl Counts {
    /// Whether no request vanished: `scheduled = sent + unsent` and `sent = ok + failed + timed_out + in_flight`.
    pub fn is_balanced(&self) -> bool {
        self.scheduled == self.sent + self.unsent
            && self.sent == self.ok + self.failed + self.timed_out + self.in_flight
    }

    /// Adds the counts of another thread, interval or phase.
    pub fn add(&mut self, other: &Counts) {
        self.scheduled += other.scheduled;
        self.sent += other.sent;
        self.written += other.written;
        self.ok += other.ok;
        self.failed += other.failed;
        self.timed_out += other.timed_out;
        self.in_flight += other.in_flight;
        self.unsent += other.unsent;
    }

    /// Share of the sent requests that failed or timed out; 0 if none was sent.
    pub fn error_ratio(&self) -> f64 {
        if self.sent == 0 { 0.0 } else { (self.failed + self.timed_out) as f64 / self.sent as f64 }
    }
}

/// The kinds of latency that are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencyKind {
    /// Intended send to last byte.
    Response,
    /// Actual send to last byte.
    Service,
    /// Intended send to noticed by the generator.
    LoopSlip,
    /// Noticed to actual send.
    PoolSlip,
    /// Connect call to connected.
    Connect,
    /// Actual send to first byte.
    FirstByte,
    /// Intended send to failure.
    Failure,
    /// Intended send to actual send: loop slip and pool slip together.
    Slip,
    /// Connected to secured, of TLS.
    Handshake,
}

impl LatencyKind {
    /// All kinds, in the order of their discriminants.
    pub const ALL: [LatencyKind; 9] = [
        LatencyKind::Response,
        LatencyKind::Service,
        LatencyKind::LoopSlip,
        LatencyKind::PoolSlip,
        LatencyKind::Connect,
        LatencyKind::FirstByte,
        LatencyKind::Failure,
        LatencyKind::Slip,
        LatencyKind::Handshake,
    ];

    /// The word used in tags and JSON.
    pub fn name(self) -> &'static str {
        match self {
            LatencyKind::Response => "response",
            LatencyKind::Service => "service",
            LatencyKind::LoopSlip => "loop_slip",
            LatencyKind::PoolSlip => "pool_slip",
            LatencyKind::Connect => "connect",
            LatencyKind::FirstByte => "first_byte",
            LatencyKind::Failure => "failure",
            LatencyKind::Slip => "slip",
            LatencyKind::Handshake => "handshake",
        }
    }
}

/// One histogram per kind, those without values without memory. Unit of all values: nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct LatencySet {
    histograms: [Option<Box<LatencyHistogram>>; LatencyKind::ALL.len()],
}

/// Stands for a histogram that was never recorded into.
static EMPTY: LazyLock<LatencyHistogram> = LazyLock::new(LatencyHistogram::new);

impl LatencySet {
    /// A set that has the memory for these kinds already.
    pub fn with_memory(kinds: &[LatencyKind]) -> LatencySet {
        let mut set = LatencySet::default();
        kinds.iter().for_each(|kind| set.histograms[*kind as usize] = Some(Box::default()));
        set
    }

    /// The histogram of `kind`.
    pub fn get(&self, kind: LatencyKind) -> &LatencyHistogram {
        self.histograms[kind as usize].as_deref().unwrap_or(&EMPTY)
    }

    /// The histogram of `kind`, to record into.
    #[inline]
    pub fn get_mut(&mut self, kind: LatencyKind) -> &mut LatencyHistogram {
        self.histograms[kind as usize].get_or_insert_default()
    }

    /// Adds all values of `other`; lossless.
    pub fn merge(&mut self, other: &LatencySet) {
        for (mine, theirs) in self.histograms.iter_mut().zip(&other.histograms) {
            if let Some(theirs) = theirs.as_deref().filter(|theirs| !theirs.is_empty()) {
                mine.get_or_insert_default().merge(theirs);
            }
        }
    }

    /// The quantile of `kind` at this ratio; `None` if fewer than ten values lie beyond it.
    pub fn quantile(&self, kind: LatencyKind, ratio: f64) -> Option<u64> {
        let histogram = self.get(kind);
        histogram.quantile(ratio).filter(|_| is_quantile_supported(histogram.count(), ratio))
    }

    /// Forgets all values and keeps the memory.
    pub fn clear(&mut self) {
        let used = self.histograms.iter_mut().flatten().filter(|histogram| !histogram.is_empty());
        used.for_each(|histogram| histogram.clear());
    }
}

/// Latency of one kind in one window of a measured phase: the values, without the memory of a histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyWindow {
    /// What was measured; one of [`LatencyWindow::KINDS`].
    pub kind: LatencyKind,
    /// Begin of the window, to the millisecond.
    pub begin_mono_ns: MonoNs,
    /// Its values, from least to greatest.
    pub steps: Vec<WindowStep>,
}

/// Values of a window that the histogram does not tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowStep {
    /// The greatest of them. Unit: nanoseconds.
    pub up_to_ns: u64,
    /// How many there are.
    pub count: u64,
}

impl LatencyWindow {
    /// The kinds that windows are kept of.
    pub const KINDS: [LatencyKind; 3] = [LatencyKind::Response, LatencyKind::Service, LatencyKind::Slip];
}

/// A latency distribution in the few numbers that people read.
///
/// Unit: nanoseconds. A percentile is `None` if fewer than ten samples lie beyond it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// Median.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 95th percentile; older trials lack it.
    #[serde(default)]
    pub p95: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p99_9: Option<u64>,
    /// Greatest value.
    pub max: Option<u64>,
    /// Number of values, censored ones included.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// 95 % interval of the median, from order statistics. In a trial's summary as if samples were independent; in an
    /// analysis widened by how much they depend on each other, and `None` where that is not known.
    pub p50_interval: Option<[u64; 2]>,
    /// 95 % interval of the 90th percentile, as that of the median; older trials lack it.
    #[serde(default)]
    pub p90_interval: Option<[u64; 2]>,
    /// 95 % interval of the 99th percentile, as that of the median.
    pub p99_interval: Option<[u64; 2]>,
    /// 95 % interval of the 99.9th percentile, in an analysis only.
    #[serde(default)]
    pub p99_9_interval: Option<[u64; 2]>,
    /// What the intervals of an analysis rest on; `None` in a trial's summary, and where there are no windows.
    #[serde(default)]
    pub interval_basis: Option<IntervalBasis>,
    /// How many of the values are lower bounds (timed out, in flight, never sent).
    pub censored_count: u64,
    /// The least value from which a percentile is itself a lower bound, by more than one per cent.
    pub censored_min_ns: Option<u64>,
}

impl LatencySummary {
    /// The few numbers of a distribution, some of whose values are only lower bounds.
    ///
    /// The intervals are as if values were independent; an analysis widens or leaves them out.
    pub fn of(histogram: &LatencyHistogram, bounds: LowerBounds) -> LatencySummary {
        let supported =
            |ratio| histogram.quantile(ratio).filter(|_| is_quantile_supported(histogram.count(), ratio));
        let interval = |ratio| quantile_interval(histogram, ratio, INTERVAL_LEVEL);
        LatencySummary {
            p50: supported(0.5),
            p90: supported(0.9),
            p95: supported(0.95),
            p99: supported(0.99),
            p99_9: supported(0.999),
            max: histogram.max(),
            count: histogram.count(),
            mean: histogram.mean(),
            p50_interval: interval(0.5),
            p90_interval: interval(0.9),
            p99_interval: interval(0.99),
            p99_9_interval: None,
            interval_basis: None,
            censored_count: bounds.count,
            censored_min_ns: uncertain_from_ns(histogram, bounds),
        }
    }
}

/// Level of the intervals that are shown beside percentiles.
const INTERVAL_LEVEL: f64 = 0.95;

/// What the intervals of percentiles rest on: how much the values depend on each other in time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntervalBasis {
    /// Windows that the measured phases were seen in.
    pub windows_count: u64,
    /// Length of a window.
    pub window_ns: u64,
    /// Of the median; `None`: there are too few values or windows.
    pub p50: Option<Dependence>,
    /// Of the 90th percentile, likewise.
    pub p90: Option<Dependence>,
    /// Of the 99th percentile, likewise.
    pub p99: Option<Dependence>,
    /// Of the 99.9th percentile, likewise.
    pub p99_9: Option<Dependence>,
}

/// How much values depend on each other, as far as one percentile is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dependence {
    /// First autocorrelation of the windows, before batches were widened, as a ratio −1 to 1.
    pub autocorrelation_ratio: f64,
    /// Length of the batches that look independent of each other; `None`: too few batches do.
    pub batch_ns: Option<u64>,
    /// How many batches there are; `None`: as before.
    pub batches_count: Option<u64>,
    /// How many independent values all values are worth; `None`: as before.
    pub effective_count: Option<u64>,
}

/// One interval of one phase, all threads merged: at most one second, or several in one where a run is long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
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
    /// What happened in it. `in_flight` is zero except in the last interval of a trial.
    pub counts: Counts,
    /// Failed requests by class.
    pub failures: Failures,
    /// Bytes received, heads included.
    pub received_bytes: u64,
    /// Connections that were established.
    pub connections_opened: u64,
    /// Requests between send and last byte when the interval ended.
    pub in_flight_at_end: u64,
    /// CPU time of each generator thread in the interval. Unit: nanoseconds. Source: `CLOCK_THREAD_CPUTIME_ID`.
    pub thread_cpu_ns: Vec<u64>,
    /// Median of response time (open) or service time (closed); `None` without samples.
    pub p50_ns: Option<u64>,
    /// Its 99th percentile, shown even if the interval alone hardly supports it.
    pub p99_ns: Option<u64>,
    /// What the intervals were like that it stands for; `None`: it is one interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condensed: Option<CondensedInterval>,
}

/// What several intervals were like that one stands for. `None`: none of them has such a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CondensedInterval {
    /// How many intervals there were.
    pub intervals_count: u32,
    /// Arrivals per second.
    pub scheduled_hz: Option<Extremes>,
    /// Completed requests per second, valid or not, and timed out.
    pub completed_hz: Option<Extremes>,
    /// Failed and timed-out requests per second.
    pub errors_hz: Option<Extremes>,
    /// Requests in flight at the end of an interval.
    pub in_flight_at_end: Option<Extremes>,
    /// CPU time of all generator threads. Unit: nanoseconds per second.
    pub cpu_ns_per_second: Option<Extremes>,
    /// Median of an interval.
    pub p50_ns: Option<Extremes>,
    /// 99th percentile of an interval.
    pub p99_ns: Option<Extremes>,
}

/// The least and the greatest of several values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extremes {
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
}

impl Extremes {
    /// Those of one value.
    pub fn one(value: f64) -> Extremes {
        Extremes { low: value, high: value }
    }
}

/// One phase of a trial, summed over threads and intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseSummary {
    /// What the phase was for.
    pub kind: PhaseKind,
    /// Begin of the phase.
    pub begin_mono_ns: MonoNs,
    /// End of the phase: of new requests, not of the responses.
    pub end_mono_ns: MonoNs,
    /// Requests by outcome, assigned to the phase of their intended send.
    pub counts: Counts,
    /// Failed requests by class.
    pub failures: Failures,
    /// What the server said with the first failure of a class, where it said anything.
    #[serde(default, skip_serializing_if = "Told::is_empty")]
    pub told: Told,
    /// Rate asked for, `None` in a closed process. Unit: requests per second.
    pub offered_hz: Option<f64>,
    /// Rate of completed requests, valid or not. Unit: requests per second.
    pub achieved_hz: f64,
    /// Rate of completed and valid requests. Unit: requests per second.
    pub goodput_hz: f64,
    /// Bytes received, heads included.
    pub received_bytes: u64,
    /// Connections that were established.
    pub connections_opened: u64,
    /// Connections that the server closed while no request was on them.
    pub connections_closed_idle: u64,
    /// Final responses by status code, whether ok or not.
    pub statuses: BTreeMap<u16, u64>,
    /// How connections were secured; `None` without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshakes: Option<HandshakeCounts>,
    /// What became of the keys of a memcached load; `None` for HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheCounts>,
    /// Latency by kind; kinds without samples are left out.
    pub latency: BTreeMap<LatencyKind, LatencySummary>,
    /// How long responses lay unread after the kernel got them, on average; part of no latency. `None`: they were not
    /// stamped. Unit: nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread_mean_ns: Option<f64>,
}

/// What the generator measured of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneratorSummary {
    /// Generator threads.
    pub threads: u32,
    /// CPUs that they were pinned to, `None` where they were not.
    pub cpus: Vec<Option<u32>>,
    /// CPU time of all generator threads over the measured phases. Unit: seconds.
    pub cpu_seconds: f64,
    /// Share of one CPU that the busiest thread used over the measured phases, without its spinning.
    pub busiest_thread_ratio: f64,
    /// Error of the engine's timer at the start: how late a sleep ends.
    pub timer_error: TimerError,
    /// The back end of the event loop: `io_uring` or `epoll`.
    pub io: String,
    /// Why it is not io_uring; `None` if it is, or epoll was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_fallback: Option<String>,
    /// CPU time that was spent spinning before what was due, part of `cpu_seconds`; 0 where it sleeps instead. Unit:
    /// seconds.
    #[serde(default)]
    pub spin_seconds: f64,
    /// Why the spinning was given up; `None` if it was not, or never was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin_ended: Option<String>,
    /// Gaps between neighbouring arrivals as they were noticed, of the phases in which the timer can tell them apart.
    /// Unit: nanoseconds; at most 1,000, evenly thinned.
    pub gap_sample_ns: Vec<u64>,
    /// Gaps by phase and thread, for the check of the arrival process; empty in a closed process and in older records.
    #[serde(default)]
    pub arrival_gaps: Vec<GapSample>,
    /// Greatest number of arrivals that waited for a connection at one time.
    pub backlog_max: u64,
}

/// Gaps of one thread's arrivals in one measured phase, evenly thinned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapSample {
    /// Position of the phase in the trial's plan.
    pub phase_index: u32,
    /// Arrivals that each gap spans: 1 from each to the next, more where the timer cannot tell neighbours apart.
    pub arrivals_count: u32,
    /// Lengths of the gaps. Unit: nanoseconds.
    pub gaps_ns: Vec<u64>,
}

/// How late the engine's sleeps end, measured before the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerError {
    /// Median lateness. Unit: nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile of lateness. Unit: nanoseconds.
    pub p99_ns: u64,
    /// Number of sleeps measured.
    pub count: u64,
}

/// Why a trial ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialEnding {
    /// All phases ran.
    Complete,
    /// The user or a signal stopped it; the drain still ran.
    Interrupted,
    /// A hard stop fired; the text says which.
    HardStop(String),
}

/// What a trial is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialPurpose {
    /// The only trial of `load`.
    Single,
    /// Closed loop, to learn the order of magnitude.
    Pilot,
    /// Open loop, to enclose the capacity between a pass and a fail.
    Bracket,
    /// One cell of the replicated grid.
    Grid,
    /// A fresh pass at the certified rate.
    Certify,
    /// One point of the closed-loop curve.
    Sweep,
    /// One of a pair of an experiment.
    Experiment,
}

impl TrialPurpose {
    /// The word used in tables.
    pub fn name(self) -> &'static str {
        match self {
            TrialPurpose::Single => "single",
            TrialPurpose::Pilot => "pilot",
            TrialPurpose::Bracket => "bracket",
            TrialPurpose::Grid => "grid",
            TrialPurpose::Certify => "certify",
            TrialPurpose::Sweep => "sweep",
            TrialPurpose::Experiment => "experiment",
        }
    }
}

/// The first record of a trial, written before its first connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialBegin {
    /// Number of the trial in the run, from 1.
    pub trial: u32,
    /// What it is for.
    pub purpose: TrialPurpose,
    /// When it began.
    pub begin_mono_ns: MonoNs,
    /// The load, complete.
    pub plan: LoadPlan,
}

/// The last record of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialEnd {
    /// Number of the trial in the run, from 1.
    pub trial: u32,
    /// When its drain was over.
    pub end_mono_ns: MonoNs,
    /// Why it ended.
    pub ending: TrialEnding,
    /// Its result.
    pub summary: TrialSummary,
}

/// The result of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialSummary {
    /// The measured phases together.
    pub measured: PhaseSummary,
    /// Every phase apart, the drain included.
    pub phases: Vec<PhaseSummary>,
    /// The whole trial, warm-up included: what the server has seen.
    pub total: Counts,
    /// The generator on itself.
    pub generator: GeneratorSummary,
    /// Body checksum and length learnt from the first valid responses; `None` if none came.
    pub learnt_body: Option<LearntBody>,
    /// The operations of the plan, in its order; empty where it has one request only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationSummary>,
    /// The operations of users, in the order of the plan; empty without users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub session: Vec<SessionOperationSummary>,
    /// What each of several hosts had of it, in the order of the plan; empty where this process alone sends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generators: Vec<GeneratorShare>,
}

/// The body that later ones were compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearntBody {
    /// CRC-32 (IEEE) of the body.
    pub crc32: u32,
    /// Its length.
    pub body_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_kinds_are_those_of_the_json() {
        for kind in LatencyKind::ALL {
            assert_eq!(serde_json::to_value(kind).expect("serialises"), kind.name());
        }
    }

    #[test]
    fn a_vanished_request_unbalances_the_counts() {
        let mut counts = Counts {
            scheduled: 12,
            sent: 10,
            ok: 7,
            failed: 1,
            timed_out: 1,
            in_flight: 1,
            unsent: 2,
            written: 9,
        };
        assert!(counts.is_balanced());
        counts.ok -= 1;
        assert!(!counts.is_balanced());
    }
}
