//! One trial with everything recorded around it: the input of checks and findings.

use crate::readings::{Window, process_scope, ratio};
use std::net::IpAddr;
use sysdyno_record::column::{self, listener_scope};
use sysdyno_record::event::{Event, EventKind, ProcessRole, WatchedProcess};
use sysdyno_record::facts::HostFacts;
use sysdyno_record::load::{
    Blame, Counts, FailureClass, Interval, LatencyKind, LatencySet, LatencySummary, PhaseSummary, TrialBegin,
    TrialEnd,
};
use sysdyno_record::plan::{Endpoint, LoadPlan};
use sysdyno_record::probe::ProbeReply;
use sysdyno_record::series::Series;
use sysdyno_record::spread::GeneratorShare;
use sysdyno_record::view::ServerView;

/// One trial, borrowed from the record or from the run that is going on.
#[derive(Clone, Copy, Debug)]
pub struct TrialView<'a> {
    /// How it began.
    pub begin: &'a TrialBegin,
    /// How it ended.
    pub end: &'a TrialEnd,
    /// Its intervals, in order of time; those of other trials must not be among them.
    pub intervals: &'a [Interval],
    /// Readings of the generator's kernel, of the whole run or at least of the trial.
    pub series: &'a Series,
    /// The generator's host.
    pub facts: &'a HostFacts,
    /// The server's host where it is another one; `None`: generator and server are on the same.
    pub server: Option<ServerView<'a>>,
    /// Processes that are measured, known at the end of the trial.
    pub watched: &'a [WatchedProcess],
    /// Latency of the measured phases.
    pub latency: &'a LatencySet,
    /// Marks on the time axis, of the whole run or at least of the trial.
    pub events: &'a [Event],
    /// Operations of the probe, of the whole run or at least of the trial; empty without one.
    pub probe: &'a [ProbeReply],
}

/// Computes the rates of a phase anew, from its counts and its length; 0 if no time passed.
pub(crate) fn set_rates(phase: &mut PhaseSummary, is_open: bool) {
    let seconds = phase.end_mono_ns.seconds_since(phase.begin_mono_ns);
    let per_second = |count: u64| ratio(count as f64, seconds);
    phase.offered_hz = per_second(phase.counts.scheduled).filter(|_| is_open);
    phase.goodput_hz = per_second(phase.counts.ok).unwrap_or(0.0);
    phase.achieved_hz = per_second(phase.counts.ok.saturating_add(phase.counts.failed)).unwrap_or(0.0);
}

impl<'a> TrialView<'a> {
    /// The load that was planned.
    pub fn plan(&self) -> &'a LoadPlan {
        &self.begin.plan
    }

    /// The measured phases together.
    pub fn measured(&self) -> &'a PhaseSummary {
        &self.end.summary.measured
    }

    /// Requests of the measured phases.
    pub fn counts(&self) -> &'a Counts {
        &self.measured().counts
    }

    /// Whether requests arrive whatever the server does.
    pub fn is_open(&self) -> bool {
        self.plan().arrival.is_open()
    }

    /// Sending hosts that were lost, with what was heard of them.
    pub fn lost_hosts(&self) -> impl Iterator<Item = &'a GeneratorShare> {
        self.end.summary.generators.iter().filter(|share| share.lost.is_some())
    }

    /// Length of the measured phases. Unit: seconds.
    pub fn seconds(&self) -> f64 {
        self.measured().end_mono_ns.seconds_since(self.measured().begin_mono_ns)
    }

    /// The measured phases on the time axis, as the generator's host saw them.
    pub fn steady(&self) -> Window<'a> {
        Window::new(self.series, self.measured().begin_mono_ns, self.measured().end_mono_ns)
    }

    /// The whole trial on the time axis, warm-up and drain included, as the generator's host saw it.
    pub fn whole(&self) -> Window<'a> {
        Window::new(self.series, self.begin.begin_mono_ns, self.end.end_mono_ns)
    }

    /// Readings of the kernel under the server.
    pub fn server_series(&self) -> &'a Series {
        self.server.map_or(self.series, |server| server.series)
    }

    /// The measured phases on the time axis, as the server's host saw them.
    pub fn server_steady(&self) -> Window<'a> {
        Window::new(self.server_series(), self.measured().begin_mono_ns, self.measured().end_mono_ns)
    }

    /// The whole trial on the time axis, as the server's host saw it.
    pub fn server_whole(&self) -> Window<'a> {
        Window::new(self.server_series(), self.begin.begin_mono_ns, self.end.end_mono_ns)
    }

    /// Whether generator and server share the CPUs of one machine, as far as that is known.
    pub fn shares_machine(&self) -> bool {
        self.server.is_none_or(|server| server.host.is_same_machine)
    }

    /// Intervals of the measured phases, in order.
    pub fn measured_intervals(&self) -> impl Iterator<Item = &'a Interval> {
        self.intervals.iter().filter(|interval| interval.phase.is_measured())
    }

    /// Latency of a kind in few numbers; count 0 if nothing was measured.
    pub fn summary(&self, kind: LatencyKind) -> LatencySummary {
        self.measured().latency.get(&kind).copied().unwrap_or_default()
    }

    /// The latency that a user feels: response time where it exists, else service time.
    pub fn felt_kind(&self) -> LatencyKind {
        if self.is_open() { LatencyKind::Response } else { LatencyKind::Service }
    }

    /// The mean time of a request from when there is a connection for it, or one is being opened: what it waits before that, in the
    /// generator, is a queue behind whatever slows the server down. Unit: nanoseconds. `None`: nothing was measured.
    pub fn request_mean_ns(&self) -> Option<f64> {
        let felt = self.summary(self.felt_kind()).mean.filter(|mean| *mean > 0.0)?;
        let sum = |kind| {
            let summary = self.summary(kind);
            summary.mean.unwrap_or(0.0) * summary.count as f64
        };
        let pool_slip = self.summary(LatencyKind::PoolSlip).mean.filter(|_| self.is_open());
        let Some(pool_slip_ns) = pool_slip else { return Some(felt) };
        let kinds = [LatencyKind::Service, LatencyKind::Connect, LatencyKind::Handshake];
        let sent_ns = ratio(kinds.map(sum).iter().sum(), self.summary(LatencyKind::Service).count as f64)?;
        Some(sent_ns.max(felt - pool_slip_ns).min(felt))
    }

    /// The mean of a latency, where requests that failed count with the time until they did, unless that makes it shorter: who is
    /// refused at once was not waited for. Unit: nanoseconds. `None`: nothing was measured.
    pub fn mean_with_failures_ns(&self, kind: LatencyKind) -> Option<f64> {
        let [good, failed] = [kind, LatencyKind::Failure].map(|kind| self.summary(kind));
        let sum = |summary: LatencySummary| summary.mean.unwrap_or(0.0) * summary.count as f64;
        let all = ratio(sum(good) + sum(failed), good.count as f64 + failed.count as f64);
        all.into_iter().chain(good.mean).filter(|mean| *mean > 0.0).reduce(f64::max)
    }

    /// Completed and valid requests per second; 0 if the record holds no number.
    pub fn goodput_hz(&self) -> f64 {
        finite_or_zero(self.measured().goodput_hz)
    }

    /// Share of the arrivals of the measured phases that were completed in step with them.
    ///
    /// The smaller of two: completed ÷ scheduled requests, and rate of completions ÷ rate at which arrivals were
    /// scheduled. The actual number of arrivals is taken, since that of a Poisson process varies.
    /// `None`: nothing was scheduled.
    pub fn achieved_ratio(&self) -> Option<f64> {
        achieved_ratio(self.measured())
    }

    /// Processes with this role.
    pub fn processes(&self, role: ProcessRole) -> Vec<&'a WatchedProcess> {
        self.watched.iter().filter(|process| process.role == role).collect()
    }

    /// Processes of the server, of all tiers, that appeared while it was measured.
    pub fn newcomers(&self) -> impl Iterator<Item = &'a WatchedProcess> {
        let span = self.measured().begin_mono_ns..self.measured().end_mono_ns;
        self.events.iter().filter(move |event| span.contains(&event.mono_ns)).filter_map(|event| match &event
            .event
        {
            EventKind::Watched(process) if process.role == ProcessRole::Target => Some(process),
            _ => None,
        })
    }

    /// Processes of the server, of all tiers, that ended while it was measured.
    pub fn leavers(&self) -> Vec<&'a WatchedProcess> {
        let window = self.server_whole();
        let mut ended = self.processes(ProcessRole::Target);
        ended.retain(|process| window.went_silent(column::PROCESS_CPU, &process_scope(process)));
        ended
    }

    /// Those of them that the load reaches and that were there from the beginning: programs that a worker starts for a request come
    /// and go.
    pub fn lost(&self) -> Vec<&'a WatchedProcess> {
        let is_new = |process: &WatchedProcess| self.newcomers().any(|new| new.pid == process.pid);
        let mut ended = self.leavers();
        ended.retain(|process| process.tier.is_none() && !is_new(process));
        ended
    }

    /// The processes of the server that listen where a scope says; those that the load reaches, if it is no tier's.
    pub fn listening_at(&self, scope: &str) -> Vec<&'a WatchedProcess> {
        let targets = self.processes(ProcessRole::Target);
        let is_at = |process: &&WatchedProcess| {
            process.tier.as_ref().is_some_and(|tier| listener_scope(&tier.address) == scope)
        };
        let (found, rest): (Vec<_>, Vec<_>) = targets.into_iter().partition(is_at);
        if found.is_empty() {
            rest.into_iter().filter(|process| process.tier.is_none()).collect()
        } else {
            found
        }
    }

    /// Requests that failed for a reason of this host's own, by class.
    pub fn failures_of(&self, classes: &[FailureClass]) -> u64 {
        classes
            .iter()
            .filter_map(|class| self.measured().failures.get(class))
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Failure classes with their counts, most frequent first.
    pub fn failures_blamed_on(&self, blame: Blame) -> Vec<(FailureClass, u64)> {
        let failures = self.measured().failures.iter().map(|(class, count)| (*class, *count));
        let mut failures: Vec<_> =
            failures.filter(|(class, count)| class.blame() == blame && *count > 0).collect();
        failures.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        failures
    }

    /// Whether load generator and server run on the same host, as far as the address tells.
    pub fn is_loopback(&self) -> bool {
        match &self.plan().target.endpoint {
            Endpoint::Unix(_) => true,
            Endpoint::Tcp(address) => match address.ip() {
                IpAddr::V4(ip) => ip.is_loopback(),
                IpAddr::V6(ip) => ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback()),
            },
        }
    }

    /// Requests on their way at one time: the mean of what the intervals ended with.
    ///
    /// `None`: no interval was measured.
    pub fn in_flight_mean(&self) -> Option<f64> {
        let (sum, count) = self
            .measured_intervals()
            .fold((0.0, 0.0), |(sum, count), interval| (sum + interval.in_flight_at_end as f64, count + 1.0));
        ratio(sum, count)
    }
}

/// Failures that are a wait without an end: what a resource that is used up, or a stop, does to requests.
pub(crate) const WAITING_CLASSES: &[FailureClass] = &[
    FailureClass::ConnectTimeout,
    FailureClass::HeadTimeout,
    FailureClass::BodyTimeout,
    FailureClass::WriteTimeout,
    FailureClass::TlsTimeout,
];

/// As [`TrialView::achieved_ratio`], of one phase.
pub(crate) fn achieved_ratio(measured: &PhaseSummary) -> Option<f64> {
    let counts = &measured.counts;
    let seconds = measured.end_mono_ns.seconds_since(measured.begin_mono_ns);
    let completed = ratio(counts.ok as f64 + counts.failed as f64, counts.scheduled as f64)?;
    let in_step = ratio(measured.achieved_hz * seconds, counts.scheduled as f64).unwrap_or(completed);
    Some(completed.min(in_step))
}

/// Share of the sent requests that failed or timed out; 0 if none was sent.
pub(crate) fn error_ratio(counts: &Counts) -> f64 {
    ratio(counts.failed as f64 + counts.timed_out as f64, counts.sent as f64).unwrap_or(0.0)
}

/// The number, or 0 for one that a broken record may hold.
pub(crate) fn finite_or_zero(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}
