//! Merges the windows of all threads into intervals and sums.

use super::back_end::BackEnd;
use super::job::Job;
use super::summary::{self, PhaseSpan};
use super::tally::{Tally, Window};
use super::worker::Finish;
use super::{Message, Outcome, Sink, ThreadLine};
use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::Receiver;
use sysdyno_record::load::{GeneratorSummary, Interval, LatencyKind, TimerError, TrialSummary};
use sysdyno_record::plan::{PhaseEnd, PhaseKind};
use sysdyno_record::session::SessionOperationSummary;
use sysdyno_record::units::MonoNs;
use sysdyno_record::workload::OperationSummary;

/// Windows over which the share of failures is looked at: about ten seconds.
const FAILURE_WINDOWS_COUNT: usize = 10;

/// Fewest requests in them that say anything.
const FAILURE_MIN_REQUESTS_COUNT: u64 = 100;

/// Everything that has come from the threads so far.
pub(super) struct Merge<'a> {
    job: &'a Job<'a>,
    trial: u32,
    cpus: Vec<Option<u32>>,
    timer_error: TimerError,
    back_end: BackEnd,
    /// Windows that not all threads have handed over.
    open: BTreeMap<u32, Vec<(u32, Window)>>,
    finished: Vec<Option<Finish>>,
    next_index: u32,
    totals: Vec<Tally>,
    spans: Vec<Option<PhaseSpan>>,
    measured_cpu_ns: Vec<u64>,
    measured_spun_ns: Vec<u64>,
    recent: VecDeque<[u64; 2]>,
    end: MonoNs,
}

impl<'a> Merge<'a> {
    pub(super) fn new(
        job: &'a Job<'a>,
        trial: u32,
        cpus: &[Option<u32>],
        timer_error: TimerError,
        back_end: BackEnd,
    ) -> Merge<'a> {
        let phases = job.plan.phases.len() + 1;
        Merge {
            job,
            trial,
            cpus: cpus.to_vec(),
            timer_error,
            back_end,
            open: BTreeMap::new(),
            finished: cpus.iter().map(|_| None).collect(),
            next_index: 0,
            totals: (0..phases).map(|_| Tally::default()).collect(),
            spans: vec![None; phases],
            measured_cpu_ns: vec![0; cpus.len()],
            measured_spun_ns: vec![0; cpus.len()],
            recent: VecDeque::new(),
            end: MonoNs(0),
        }
    }

    /// Merges until all threads have finished.
    pub(super) fn collect(
        mut self,
        messages: &Receiver<Message>,
        threads: &[ThreadLine],
        sink: &mut dyn Sink,
    ) -> Outcome {
        while let Ok(message) = messages.recv() {
            match message {
                Message::Window(thread, window) => {
                    self.open.entry(window.index).or_default().push((thread, window));
                }
                Message::Finished(thread, finish) => self.finished[thread as usize] = Some(finish),
                Message::Ready(_) | Message::Failed(_) => {}
            }
            while let Some(windows) = self.take_complete() {
                self.merge(windows, threads, sink);
            }
        }
        self.finish()
    }

    /// The next window, if all threads that still run have handed it over.
    fn take_complete(&mut self) -> Option<Vec<(u32, Window)>> {
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

    fn merge(&mut self, windows: Vec<(u32, Window)>, threads: &[ThreadLine], sink: &mut dyn Sink) {
        let begin = windows.iter().map(|(_, window)| window.begin).min().unwrap_or_default();
        let end = windows.iter().map(|(_, window)| window.end).max().unwrap_or_default();
        let current = windows.iter().map(|(_, window)| window.phase).min().unwrap_or_default();
        let in_flight = windows.iter().map(|(_, window)| window.in_flight).sum();
        let mut cpu_ns = vec![0; threads.len()];
        let mut spun_ns = vec![0; threads.len()];
        let mut by_phase: BTreeMap<u32, Box<Tally>> = BTreeMap::new();
        by_phase.insert(current, Box::default());
        for (thread, window) in windows {
            cpu_ns[thread as usize] = window.cpu_ns;
            spun_ns[thread as usize] = window.spun_ns.min(window.cpu_ns);
            for item in window.tallies {
                by_phase.entry(item.phase).or_default().merge(&item.tally);
                let mut spare = item.tally;
                spare.clear();
                // A thread that has finished needs no spare.
                let _ = threads[thread as usize].spares.send(spare);
            }
        }
        self.note_window(current, PhaseSpan { begin, end }, sink);
        if self.kind(current).is_measured() {
            self.measured_cpu_ns.iter_mut().zip(&cpu_ns).for_each(|(sum, cpu_ns)| *sum += cpu_ns);
            self.measured_spun_ns.iter_mut().zip(&spun_ns).for_each(|(sum, spun_ns)| *sum += spun_ns);
        }
        for (phase, tally) in by_phase {
            let is_current = phase == current;
            let frame = Frame { phase, begin, end, in_flight: if is_current { in_flight } else { 0 } };
            let interval = self.interval(frame, &tally, if is_current { cpu_ns.clone() } else { Vec::new() });
            self.totals[phase as usize].merge(&tally);
            sink.interval(interval, &tally.latency);
            self.check_failures(&tally);
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
            thread_cpu_ns,
            p50_ns: latency.quantile(0.5),
            p99_ns: latency.quantile(0.99),
        }
    }

    /// Stops the trial when too large a share of the recent requests failed.
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
            self.job.control.hard_stop(format!("{percent:.0} % of the last {all} requests failed"));
        }
    }

    fn finish(mut self) -> Outcome {
        self.end_counted_phase();
        let mut total = sysdyno_record::load::Counts::default();
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
        let summary = TrialSummary {
            measured: summary::phase(kind, span, rate_hz, &measured),
            phases,
            total,
            generator: self.generator(span),
            learnt_body: self.job.learnt_body(),
            operations: self.operations(span, &measured),
            session: self.session(span, &measured),
        };
        Outcome { summary, ending: self.job.control.ending(), end: self.end, latency: measured.latency }
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

    fn generator(&self, span: PhaseSpan) -> GeneratorSummary {
        let worked_ns = self.measured_cpu_ns.iter().zip(&self.measured_spun_ns).map(|(cpu, spun)| cpu - spun);
        let busiest_ns = worked_ns.max().unwrap_or(0);
        let finishes = || self.finished.iter().flatten();
        GeneratorSummary {
            threads: self.cpus.len() as u32,
            cpus: self.cpus.clone(),
            cpu_seconds: self.measured_cpu_ns.iter().sum::<u64>() as f64 / 1e9,
            busiest_thread_ratio: busiest_ns as f64 / span.end.since(span.begin).max(1) as f64,
            timer_error: self.timer_error,
            io: self.back_end.name().into(),
            io_fallback: self.back_end.fallback.clone(),
            spin_seconds: self.measured_spun_ns.iter().sum::<u64>() as f64 / 1e9,
            spin_ended: finishes().find_map(|finish| finish.spin_ended.clone()),
            gap_sample_ns: finishes().flat_map(Finish::single_gaps_ns).collect(),
            arrival_gaps: finishes().flat_map(|finish| finish.gaps.iter().cloned()).collect(),
            backlog_max: finishes().map(|finish| finish.backlog_max).sum(),
        }
    }
}

/// Where an interval stands.
#[derive(Clone, Copy)]
struct Frame {
    phase: u32,
    begin: MonoNs,
    end: MonoNs,
    in_flight: u64,
}
