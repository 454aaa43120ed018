//! A thread's progress in its trial: the stage, the phase, and what may still begin in that phase.

use crate::engine::job::Job;
use crate::schedule::Share;
use std::time::Duration;
use sysdyno_record::plan::PhaseEnd;
use sysdyno_record::units::MonoNs;

/// Between two probes of all threads together. Unit: nanoseconds.
const PROBE_INTERVAL_NS: u64 = 200_000_000;

/// How far a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadStage {
    /// Connections are made before the begin.
    Dialing,
    /// Requests are sent.
    Sending,
    /// What is in flight is awaited until this instant.
    Draining(MonoNs),
}

/// The phases of one thread, by number: those of the plan, then the drain.
#[derive(Debug)]
pub(super) struct Phases<'a> {
    job: &'a Job<'a>,
    /// When the connections before the begin were begun.
    pub dial_begin: MonoNs,
    pub begin: MonoNs,
    pub stage: LoadStage,
    pub current: u32,
    /// Requests that the present phase of a closed process may still begin.
    pub quota: u64,
    /// When the next probe is sent, where the load was cut down to probes.
    pub next_probe: Option<MonoNs>,
}

impl<'a> Phases<'a> {
    pub(super) fn new(job: &'a Job<'a>, dial_begin: MonoNs) -> Phases<'a> {
        let begin = MonoNs(0);
        Phases { job, dial_begin, begin, stage: LoadStage::Dialing, current: 0, quota: 0, next_probe: None }
    }

    #[inline]
    pub(super) fn is_sending(&self) -> bool {
        self.stage == LoadStage::Sending
    }

    /// Whether only probes are sent.
    #[inline]
    pub(super) fn is_held_back(&self) -> bool {
        self.next_probe.is_some()
    }

    /// Whether a probe is due; the next one is due an interval later.
    pub(super) fn takes_probe(&mut self, now: MonoNs, share: Share) -> bool {
        if !self.is_sending() || self.next_probe.is_some_and(|at| now < at) {
            return false;
        }
        self.next_probe = Some(MonoNs(now.0 + PROBE_INTERVAL_NS * u64::from(share.threads)));
        self.quota > 0
    }

    /// When the present phase ends, if time ends it.
    #[inline]
    pub(super) fn phase_end(&self) -> Option<MonoNs> {
        let ends = self.job.phase_end_offsets_ns.get(self.current as usize).copied().flatten();
        ends.map(|offset_ns| MonoNs(self.begin.0 + offset_ns))
    }

    #[inline]
    pub(super) fn is_last_phase(&self) -> bool {
        self.current as usize + 1 >= self.job.plan.phases.len()
    }

    /// Whether a client of a closed process may begin a request.
    #[inline]
    pub(super) fn may_begin(&self, now: MonoNs) -> bool {
        // A cut that is due changes the phase at the next turn; after the last phase nothing may begin before it.
        let is_over = self.is_last_phase() && self.phase_end().is_some_and(|end| now >= end);
        self.quota > 0 && !is_over
    }

    /// The next end of a window: a whole second since the begin, or the end of the phase.
    pub(super) fn next_cut(&self, second: MonoNs) -> Option<MonoNs> {
        match self.stage {
            LoadStage::Sending => Some(self.phase_end().map_or(second, |end| end.min(second))),
            LoadStage::Draining(_) => Some(second),
            LoadStage::Dialing => None,
        }
    }

    /// Enters a phase; if there is none, says how long the drain lasts at most that is to begin instead.
    pub(super) fn enter(&mut self, phase: u32, share: Share) -> Option<Duration> {
        self.current = phase;
        self.quota = match self.job.plan.phases.get(phase as usize).map(|plan| plan.end) {
            None => return Some(self.job.drain_limit(self.begin.since(self.dial_begin))),
            Some(PhaseEnd::After(_)) => u64::MAX,
            Some(PhaseEnd::Requests(count)) => share.of(count),
        };
        None
    }

    /// Begins the drain, which is numbered after the planned phases.
    pub(super) fn drain(&mut self, end: MonoNs) {
        self.stage = LoadStage::Draining(end);
        self.current = self.job.plan.phases.len() as u32;
    }

    pub(super) fn drain_end(&self) -> Option<MonoNs> {
        match self.stage {
            LoadStage::Draining(end) => Some(end),
            LoadStage::Dialing | LoadStage::Sending => None,
        }
    }
}
