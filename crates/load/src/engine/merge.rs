//! Merges the windows of all threads into intervals and sums.

use super::crew::CrewMessage;
use super::host::HostSum;
use super::job::Job;
use super::summary::{self, PhaseSpan};
use super::tally::{Tally, ThreadWindow};
use super::worker::Finish;
use super::{LoadOutcome, Sink};
use crate::schedule::Share;
use std::collections::{BTreeMap, VecDeque};
use sysdyno_record::load::{
    Counts, GeneratorSummary, Interval, LatencyKind, LearntBody, PhaseSummary, TrialSummary,
};
use sysdyno_record::plan::{PhaseEnd, PhaseKind};
use sysdyno_record::session::SessionOperationSummary;
use sysdyno_record::spread::{GeneratorShare, PartReady};
use sysdyno_record::units::MonoNs;
use sysdyno_record::workload::OperationSummary;

/// Windows over which the share of failures is computed: about ten seconds.
const FAILURE_WINDOWS_COUNT: usize = 10;

/// Fewest requests in them that say anything.
const FAILURE_MIN_REQUESTS_COUNT: u64 = 100;

/// A load whose requests fail goes on with probes until its phase has lasted this long. Most counters are read ten times in
/// it, those that are read once a second five times, which every rule can work with. Unit: nanoseconds.
const EVIDENCE_NS: u64 = 5_000_000_000;

/// Takes an emptied tally back to its thread.
type GiveBack<'a> = &'a dyn Fn(u32, Box<Tally>);

/// Everything that has come from the threads so far.
pub(super) struct Merge<'a> {
    job: &'a Job<'a>,
    trial: u32,
    /// What the threads send with.
    gear: PartReady,
    /// What each host had of it; empty where this process alone sends.
    hosts: Vec<HostSum>,
    /// Windows that not all threads have handed over.
    open: BTreeMap<u32, Vec<(u32, ThreadWindow)>>,
    finished: Vec<Option<Finish>>,
    next_index: u32,
    totals: Vec<Tally>,
    spans: Vec<Option<PhaseSpan>>,
    measured_cpu_ns: Vec<u64>,
    measured_spun_ns: Vec<u64>,
    /// What the windows lasted in which that time was used.
    measured_span_ns: u64,
    recent: VecDeque<[u64; 2]>,
    /// When a load that was held back ends.
    held_until: Option<MonoNs>,
    end: MonoNs,
}

impl<'a> Merge<'a> {
    pub(super) fn new(job: &'a Job<'a>, trial: u32, gear: PartReady, hosts: Vec<HostSum>) -> Merge<'a> {
        let (phases, threads) = (job.plan.phases.len() + 1, gear.cpus.len());
        // Users of a session send no probes, and other hosts are only told to stop.
        if job.requests.session.is_none() && hosts.is_empty() {
            job.control.allow_probes();
        }
        Merge {
            job,
            trial,
            gear,
            hosts,
            open: BTreeMap::new(),
            finished: (0..threads).map(|_| None).collect(),
            next_index: 0,
            totals: (0..phases).map(|_| Tally::default()).collect(),
            spans: vec![None; phases],
            measured_cpu_ns: vec![0; threads],
            measured_spun_ns: vec![0; threads],
            measured_span_ns: 0,
            recent: VecDeque::new(),
            held_until: None,
            end: MonoNs(0),
        }
    }

    /// Takes what a thread says, and merges the windows that are complete by that.
    pub(super) fn take(&mut self, message: CrewMessage, give_back: GiveBack<'_>, sink: &mut dyn Sink) {
        match message {
            CrewMessage::Window(thread, window) => {
                self.open.entry(window.index).or_default().push((thread, window));
            }
            CrewMessage::Finished(thread, finish) => self.finished[thread as usize] = Some(finish),
            CrewMessage::Ready(_) | CrewMessage::Failed(_) => {}
        }
        while let Some(windows) = self.take_complete() {
            self.merge(windows, give_back, sink);
        }
    }

    /// Whether a thread has said its last word.
    pub(super) fn has_finished(&self, thread: u32) -> bool {
        self.finished.get(thread as usize).is_none_or(Option::is_some)
    }

    /// The sums of a host.
    pub(super) fn host_mut(&mut self, host: usize) -> &mut HostSum {
        &mut self.hosts[host]
    }

    /// The next window, if all threads that still run have handed it over.
    fn take_complete(&mut self) -> Option<Vec<(u32, ThreadWindow)>> {
        let windows = self.open.get(&self.next_index)?;
        let has = |thread: usize| windows.iter().any(|(from, _)| *from as usize == thread);
        let is_complete =
            (0..self.finished.len()).all(|thread| has(thread) || self.finished[thread].is_some());
        if !is_complete {
            return None;
        }
        self.next_index += 1;
        self.open.remove(&(self.next_index - 1))
    }

    fn merge(&mut self, windows: Vec<(u32, ThreadWindow)>, give_back: GiveBack<'_>, sink: &mut dyn Sink) {
        let begin = windows.iter().map(|(_, window)| window.begin).min().unwrap_or_default();
        let end = windows.iter().map(|(_, window)| window.end).max().unwrap_or_default();
        let current = windows.iter().map(|(_, window)| window.phase).min().unwrap_or_default();
        let in_flight = windows.iter().map(|(_, window)| window.in_flight).sum();
        let users = windows.iter().filter_map(|(_, window)| window.users).reduce(|sum, users| sum + users);
        let mut cpu_ns = vec![0; self.finished.len()];
        let mut spun_ns = vec![0; self.finished.len()];
        let mut by_phase: BTreeMap<u32, Box<Tally>> = BTreeMap::new();
        by_phase.insert(current, Box::default());
        for (thread, window) in windows {
            cpu_ns[thread as usize] = window.cpu_ns;
            spun_ns[thread as usize] = window.spun_ns.min(window.cpu_ns);
            for item in window.tallies {
                by_phase.entry(item.phase).or_default().merge(&item.tally);
                self.note_host(thread, item.phase, &item.tally);
                give_back(thread, item.tally);
            }
        }
        self.note_window(current, PhaseSpan { begin, end }, sink);
        if self.kind(current).is_measured() {
            self.measured_cpu_ns.iter_mut().zip(&cpu_ns).for_each(|(sum, cpu_ns)| *sum += cpu_ns);
            self.measured_spun_ns.iter_mut().zip(&spun_ns).for_each(|(sum, spun_ns)| *sum += spun_ns);
            self.measured_span_ns += end.since(begin);
        }
        for (phase, tally) in by_phase {
            let is_current = phase == current;
            let frame = match is_current {
                true => Frame { phase, begin, end, in_flight, users },
                false => Frame { phase, begin, end, in_flight: 0, users: None },
            };
            let interval = self.interval(frame, &tally, if is_current { cpu_ns.clone() } else { Vec::new() });
            self.totals[phase as usize].merge(&tally);
            sink.interval(interval, &tally.latency);
            self.check_failures(&tally);
        }
        self.end_probes(Frame { phase: current, begin, end, in_flight, users });
    }

    fn note_host(&mut self, thread: u32, phase: u32, tally: &Tally) {
        let is_measured = self.kind(phase).is_measured();
        let hosts = self.hosts.len();
        if hosts > 0 {
            self.hosts[thread as usize % hosts].add(phase, is_measured, tally);
        }
    }

    fn note_window(&mut self, phase: u32, window: PhaseSpan, sink: &mut dyn Sink) {
        let kind = self.kind(phase);
        let is_new = self.spans[phase as usize].is_none();
        self.spans[phase as usize].get_or_insert(window).end = window.end;
        if is_new {
            let rate_hz = self.job.plan.phases.get(phase as usize).and_then(|plan| plan.rate_hz);
            sink.phase(window.begin, kind, rate_hz);
        }
        self.end = self.end.max(window.end);
    }

    fn kind(&self, phase: u32) -> PhaseKind {
        self.job.plan.phases.get(phase as usize).map_or(PhaseKind::Drain, |plan| plan.kind)
    }

    fn interval(&self, frame: Frame, tally: &Tally, thread_cpu_ns: Vec<u64>) -> Interval {
        let shown = if self.job.is_open { LatencyKind::Response } else { LatencyKind::Service };
        let latency = tally.latency.get(shown);
        Interval {
            trial: self.trial,
            phase_index: frame.phase,
            phase: self.kind(frame.phase),
            begin_mono_ns: frame.begin,
            end_mono_ns: frame.end,
            counts: tally.counts,
            failures: tally.failures(),
            received_bytes: tally.received_bytes,
            connections_opened: tally.connections_opened,
            in_flight_at_end: frame.in_flight,
            users_at_end: frame.users,
            thread_cpu_ns,
            p50_ns: latency.quantile(0.5),
            p99_ns: latency.quantile(0.99),
            condensed: None,
        }
    }

    /// Gives up the load when too large a share of the recent requests failed.
    fn check_failures(&mut self, tally: &Tally) {
        let Some(limit) = self.job.plan.hard_stops.failure_ratio else { return };
        let failed = tally.counts.failed + tally.counts.timed_out;
        self.recent.push_back([failed, failed + tally.counts.ok]);
        if self.recent.len() > FAILURE_WINDOWS_COUNT {
            self.recent.pop_front();
        }
        let [failed, all] = self.recent.iter().fold([0, 0], |sum, item| [sum[0] + item[0], sum[1] + item[1]]);
        if all >= FAILURE_MIN_REQUESTS_COUNT && failed as f64 >= limit * all as f64 {
            let percent = failed as f64 / all as f64 * 100.0;
            self.job.control.give_up(format!("{percent:.0}% of the last {all} requests failed"));
        }
    }

    /// Ends a load that sends nothing but probes once the counters can tell what happened.
    fn end_probes(&mut self, window: Frame) {
        if !self.job.control.is_held_back() {
            return;
        }
        let span = self.spans[window.phase as usize];
        let begin = span.map_or(window.begin, |span| span.begin);
        let until = *self.held_until.get_or_insert(MonoNs(begin.0 + EVIDENCE_NS));
        if window.end >= until {
            self.job.control.stop();
        }
    }

    /// The result, when all threads have ended.
    pub(super) fn finish(mut self, learnt_body: Option<LearntBody>, sink: &mut dyn Sink) -> LoadOutcome {
        self.end_counted_phase();
        self.balance_lost_hosts(sink);
        let mut total = Counts::default();
        self.totals.iter().for_each(|tally| total.add(&tally.counts));
        assert!(total.is_balanced(), "a request vanished: {total:?}");
        let plan = self.job.plan;
        let phases: Vec<_> = (0..self.totals.len() as u32)
            .filter_map(|phase| {
                let span = self.spans[phase as usize]?;
                let rate_hz = plan.phases.get(phase as usize).and_then(|plan| plan.rate_hz);
                Some(summary::phase(self.kind(phase), span, rate_hz, &self.totals[phase as usize]))
            })
            .collect();
        let is_measured = |phase: &usize| self.kind(*phase as u32).is_measured();
        let mut measured = Tally::default();
        (0..self.totals.len()).filter(is_measured).for_each(|phase| measured.merge(&self.totals[phase]));
        let spans: Vec<_> =
            (0..self.spans.len()).filter(is_measured).filter_map(|phase| self.spans[phase]).collect();
        let rates = plan.phases.iter().filter(|phase| phase.kind.is_measured()).map(|phase| phase.rate_hz);
        let span = PhaseSpan {
            begin: spans.first().map_or(self.end, |span| span.begin),
            end: spans.last().map_or(self.end, |span| span.end),
        };
        let kind = phases
            .iter()
            .map(|phase| phase.kind)
            .find(|kind| kind.is_measured())
            .unwrap_or(PhaseKind::Steady);
        let rate_hz = summary::mean_rate_hz(&spans, rates);
        let measured_summary = summary::phase(kind, span, rate_hz, &measured);
        let summary = TrialSummary {
            phases,
            total,
            generator: self.generator(&self.gear, &|_| true),
            learnt_body,
            operations: self.operations(span, &measured),
            session: self.session(span, &measured),
            generators: self.shares(span, &measured_summary),
            measured: measured_summary,
        };
        LoadOutcome { summary, ending: self.job.control.ending(), end: self.end, latency: measured.latency }
    }

    /// What each host had of it.
    fn shares(&self, span: PhaseSpan, all: &PhaseSummary) -> Vec<GeneratorShare> {
        let hosts = self.hosts.len();
        let threads = self.finished.len();
        let share = |(number, sum): (usize, &HostSum)| {
            let is_of = |thread: usize| thread % hosts == number;
            let share = |thread| Share { thread: thread as u32, threads: threads as u32 };
            let own = (0..threads).filter(|thread| is_of(*thread));
            let connections =
                own.clone().map(|thread| share(thread).of(u64::from(self.job.plan.connections))).sum();
            let rate_hz = all.offered_hz.map(|hz| hz * own.count() as f64 / threads as f64);
            GeneratorShare {
                name: sum.host.name.clone(),
                connections,
                measured: summary::phase(all.kind, span, rate_hz, &sum.measured),
                total: sum.total(),
                generator: GeneratorSummary {
                    gap_sample_ns: Vec::new(),
                    arrival_gaps: Vec::new(),
                    ..self.generator(&sum.host.ready, &is_of)
                },
                clock: sum.host.clock,
                learnt_body: sum.learnt_body,
                lost: sum.lost.clone(),
            }
        };
        self.hosts.iter().enumerate().map(share).collect()
    }

    /// What was open on hosts that were lost: sent requests are in flight for good, others were never sent.
    fn balance_lost_hosts(&mut self, sink: &mut dyn Sink) {
        for phase in 0..self.totals.len() as u32 {
            let is_measured = self.kind(phase).is_measured();
            let mut missing = Tally::default();
            for host in self.hosts.iter_mut().filter(|host| host.lost.is_some()) {
                let open = host.open(phase);
                host.add(phase, is_measured, &open);
                missing.merge(&open);
            }
            if missing.counts != Counts::default() {
                let frame = Frame { phase, begin: self.end, end: self.end, in_flight: 0, users: None };
                sink.interval(self.interval(frame, &missing, Vec::new()), &missing.latency);
                self.totals[phase as usize].merge(&missing);
            }
        }
    }

    fn operations(&self, span: PhaseSpan, measured: &Tally) -> Vec<OperationSummary> {
        let plans = &self.job.plan.workload.operations;
        let mut total = Tally::default();
        self.totals.iter().filter(|_| !plans.is_empty()).for_each(|tally| total.merge(tally));
        let operations = summary::operations(plans, span, measured, &total);
        for operation in &operations {
            assert!(operation.total.is_balanced(), "a request vanished: {operation:?}");
        }
        operations
    }

    fn session(&self, span: PhaseSpan, measured: &Tally) -> Vec<SessionOperationSummary> {
        let Some(plan) = &self.job.plan.workload.session else { return Vec::new() };
        let mut total = Tally::default();
        self.totals.iter().for_each(|tally| total.merge(tally));
        for tally in &total.session {
            assert!(tally.is_balanced(), "an operation vanished: {tally:?}");
        }
        summary::session(&plan.operations, span, measured)
    }

    /// A phase that counts requests lasts until the last of them is answered.
    fn end_counted_phase(&mut self) {
        let plan = self.job.plan;
        let counted = plan.phases.iter().rposition(|phase| matches!(phase.end, PhaseEnd::Requests(_)));
        let end = self.finished.iter().flatten().map(|finish| finish.end).max();
        let span = counted.and_then(|phase| self.spans[phase].as_mut());
        if let (Some(span), Some(end)) = (span, end) {
            span.end = end;
        }
    }

    /// What some of the threads say of themselves.
    fn generator(&self, gear: &PartReady, is_of: &dyn Fn(usize) -> bool) -> GeneratorSummary {
        let own = || (0..self.finished.len()).filter(|thread| is_of(*thread));
        let cpu_ns = |thread: usize| self.measured_cpu_ns[thread];
        let spun_ns = |thread: usize| self.measured_spun_ns[thread];
        let busiest_ns = own().map(|thread| cpu_ns(thread) - spun_ns(thread)).max().unwrap_or(0);
        let finishes = || own().filter_map(|thread| self.finished[thread].as_ref());
        GeneratorSummary {
            threads: gear.cpus.len() as u32,
            cpus: gear.cpus.clone(),
            cpu_seconds: own().map(cpu_ns).sum::<u64>() as f64 / 1e9,
            // A window ends by the clock of the turn that it ends in, and the CPU time after that turn.
            busiest_thread_ratio: (busiest_ns as f64 / self.measured_span_ns.max(1) as f64).min(1.0),
            timer_error: gear.timer_error,
            io: gear.io.clone(),
            io_fallback: gear.io_fallback.clone(),
            spin_seconds: own().map(spun_ns).sum::<u64>() as f64 / 1e9,
            spin_ended: finishes().find_map(|finish| finish.spin_ended.clone()),
            gap_sample_ns: finishes().flat_map(Finish::single_gaps_ns).collect(),
            arrival_gaps: finishes().flat_map(|finish| finish.gaps.iter().cloned()).collect(),
            backlog_max: finishes().map(|finish| finish.backlog_max).sum(),
        }
    }
}

/// The position of an interval.
#[derive(Clone, Copy)]
struct Frame {
    phase: u32,
    begin: MonoNs,
    end: MonoNs,
    in_flight: u64,
    users: Option<u64>,
}
