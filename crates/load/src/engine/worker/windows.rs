//! A thread's measuring windows: the counts of the current one, and the switch to the next.

use super::arrivals::Waiting;
use crate::clock;
use crate::engine::connection::Request;
use crate::engine::job::Job;
use crate::engine::spin::Spin;
use crate::engine::tally::{Tallies, Tally, ThreadWindow};
use crate::workload::RequestKind;
use std::sync::mpsc::Receiver;
use sysdyno_record::load::{Counts, FailureClass, LatencyKind};
use sysdyno_record::units::MonoNs;

/// Length of a window. Unit: nanoseconds.
const WINDOW_NS: u64 = 1_000_000_000;

/// What goes on beyond the end of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// Requests between send and last byte.
    pub(super) in_flight: u64,
    /// Users in a session; `None`: the load has no users.
    pub(super) users: Option<u64>,
}

/// The windows of one thread.
#[derive(Debug)]
pub(super) struct Windows<'a> {
    job: &'a Job<'a>,
    tallies: Tallies,
    /// Tallies that come back empty.
    spares: Receiver<Box<Tally>>,
    index: u32,
    begin: MonoNs,
    /// CPU time of the thread at the begin. Unit: nanoseconds.
    cpu_ns: u64,
}

impl<'a> Windows<'a> {
    pub(super) fn new(job: &'a Job<'a>, spares: Receiver<Box<Tally>>) -> Windows<'a> {
        // One more for connections that are opened before or after all phases.
        let phases = job.plan.phases.len() + 1;
        let tallies = Tallies::new(phases, job.is_open, job.requests.operations_count);
        Windows { job, tallies, spares, index: 0, begin: MonoNs(0), cpu_ns: 0 }
    }

    pub(super) fn begin(&mut self, begin: MonoNs) {
        (self.begin, self.cpu_ns) = (begin, clock::thread_cpu_ns());
    }

    /// The next whole second of a load that began at `begin`.
    pub(super) fn next_second(&self, begin: MonoNs) -> MonoNs {
        let windows = self.begin.since(begin) / WINDOW_NS + 1;
        MonoNs(begin.0 + windows * WINDOW_NS)
    }

    /// Ends the present window, and begins the next one.
    pub(super) fn cut(&mut self, end: MonoNs, phase: u32, open: Open, spin: &mut Spin) -> ThreadWindow {
        let cpu_ns = clock::thread_cpu_ns();
        let window = ThreadWindow {
            index: self.index,
            begin: self.begin,
            end,
            phase,
            tallies: self.tallies.take(),
            in_flight: open.in_flight,
            users: open.users,
            cpu_ns: cpu_ns - self.cpu_ns,
            spun_ns: spin.take_ns(),
        };
        while let Ok(spare) = self.spares.try_recv() {
            self.tallies.add_spare(spare);
        }
        (self.index, self.begin, self.cpu_ns) = (self.index + 1, end, cpu_ns);
        window
    }

    /// The tally of a phase.
    #[inline]
    pub(super) fn of(&mut self, phase: u32) -> &mut Tally {
        self.tallies.of(phase)
    }

    /// Counts a request in its phase and under its operation.
    #[inline]
    pub(super) fn count(&mut self, phase: u32, kind: RequestKind, change: impl Fn(&mut Counts)) {
        let tally = self.tallies.of(phase);
        change(&mut tally.counts);
        if let Some(operation) = self.job.requests.operation(kind) {
            change(&mut tally.operation(operation).counts);
        }
    }

    /// Counts a request that reached its socket, and how late it did. This waits for the outcome because a back end
    /// may learn only then that a send failed.
    #[inline]
    pub(super) fn count_sent(&mut self, request: &Request) {
        let Some(sent) = request.sent else { return };
        self.count(request.phase, request.kind, |counts| counts.written += 1);
        if self.job.is_open {
            let tally = self.tallies.of(request.phase);
            tally.record(LatencyKind::LoopSlip, request.noticed.since(request.intended));
            tally.record(LatencyKind::PoolSlip, sent.since(request.noticed));
            tally.record(LatencyKind::Slip, sent.since(request.intended));
        }
    }

    /// Counts bytes of a response.
    #[inline]
    pub(super) fn count_received(&mut self, request: &Request, bytes: u64) -> &mut Tally {
        let tally = self.tallies.of(request.phase);
        tally.received_bytes += bytes;
        if let Some(operation) = self.job.requests.operation(request.kind) {
            tally.operation(operation).received_bytes += bytes;
        }
        tally
    }

    /// Counts a request whose response arrived `at` this instant and is as it should be.
    #[inline]
    pub(super) fn count_ok(&mut self, request: &Request, status: u16, at: MonoNs) {
        let tally = self.tallies.of(request.phase);
        tally.counts.ok += 1;
        let mut felt_ns = at.since(request.sent.unwrap_or(at));
        tally.record(LatencyKind::Service, felt_ns);
        if self.job.is_open {
            felt_ns = at.since(request.intended);
            tally.record(LatencyKind::Response, felt_ns);
        }
        if let Some(operation) = self.job.requests.operation(request.kind) {
            tally.operation(operation).record_ok(felt_ns, status);
        }
    }

    pub(super) fn count_failure(&mut self, request: &Request, class: FailureClass, at: MonoNs) {
        let tally = self.tallies.of(request.phase);
        tally.counts.failed += 1;
        tally.failures[class as usize] += 1;
        tally.record(LatencyKind::Failure, at.since(request.intended));
        if let Some(operation) = self.job.requests.operation(request.kind) {
            tally.operation(operation).count_failure(class);
        }
    }

    /// Counts an arrival that no connection was free for until `now`.
    pub(super) fn count_unsent(&mut self, arrival: &Waiting, now: MonoNs) {
        self.count(arrival.phase, arrival.kind, |counts| counts.unsent += 1);
        let waited_ns = now.since(arrival.intended);
        let tally = self.tallies.of(arrival.phase);
        tally.record_response_bound(waited_ns);
        if let Some(operation) = self.job.requests.operation(arrival.kind) {
            tally.operation(operation).record_bound(waited_ns);
        }
    }

    /// Records that a request without a response has lasted at least until `now`.
    pub(super) fn record_bounds(&mut self, request: &Request, now: MonoNs) {
        self.count_sent(request);
        let tally = self.tallies.of(request.phase);
        if self.job.is_open {
            tally.record_response_bound(now.since(request.intended));
        }
        let service_ns = request.sent.map(|sent| now.since(sent));
        if let Some(service_ns) = service_ns {
            tally.record_service_bound(service_ns);
        }
        let felt_ns = if self.job.is_open { Some(now.since(request.intended)) } else { service_ns };
        if let (Some(operation), Some(felt_ns)) = (self.job.requests.operation(request.kind), felt_ns) {
            tally.operation(operation).record_bound(felt_ns);
        }
    }
}
