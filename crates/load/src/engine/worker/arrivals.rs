//! A thread's arrivals: those still ahead in its schedule, and those that wait for a free connection.

use crate::clock;
use crate::engine::gaps::{Gaps, MAX_GAPS_COUNT};
use crate::engine::job::Job;
use crate::schedule::{Due, Schedule, Share};
use crate::workload::RequestKind;
use std::collections::VecDeque;
use sysdyno_record::load::GapSample;
use sysdyno_record::units::MonoNs;

/// Arrivals that may wait for a connection; those beyond are never sent.
const MAX_BACKLOG_COUNT: usize = 1 << 20;

/// Stands for no user.
pub(super) const NOBODY: u32 = u32::MAX;

/// An arrival that needs a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub intended: MonoNs,
    pub noticed: MonoNs,
    pub phase: u32,
    pub kind: RequestKind,
    pub user: u32,
}

/// The arrivals of one thread.
#[derive(Debug)]
pub(super) struct Arrivals<'a> {
    job: &'a Job<'a>,
    share: Share,
    /// When the load began.
    begin: MonoNs,
    schedule: Schedule,
    /// The next one of the schedule; `None` but while requests are sent.
    next: Option<Due>,
    /// What waits for a connection, the next to get one first.
    pub backlog: VecDeque<Waiting>,
    backlog_max: u64,
    gaps: Gaps,
}

impl<'a> Arrivals<'a> {
    pub(super) fn new(job: &'a Job<'a>, share: Share, timer_error_ns: u64) -> Arrivals<'a> {
        let plan = job.plan;
        let schedule = Schedule::new(plan.arrival, &plan.phases, share, plan.seed);
        let schedule = schedule.with_slopes(&plan.workload.slopes);
        Arrivals {
            job,
            share,
            begin: MonoNs(0),
            schedule: match &plan.workload.log {
                Some(log) => schedule.with_trace(&log.arrivals),
                None => schedule,
            },
            next: None,
            backlog: VecDeque::with_capacity(1024),
            backlog_max: 0,
            gaps: Gaps::new(timer_error_ns),
        }
    }

    pub(super) fn begin(&mut self, begin: MonoNs) {
        (self.begin, self.next) = (begin, self.schedule.next());
    }

    /// Nothing of the schedule is sent any more.
    pub(super) fn end(&mut self) {
        self.next = None;
    }

    /// When the next arrival of the schedule is due.
    #[inline]
    pub(super) fn next_due(&self) -> Option<MonoNs> {
        self.next.map(|due| self.instant(due))
    }

    fn instant(&self, due: Due) -> MonoNs {
        MonoNs(self.begin.0 + due.offset_ns)
    }

    /// Takes an arrival off the schedule that is due; `draw` chooses its request where the schedule does not.
    #[inline]
    pub(super) fn take_due(&mut self, now: MonoNs, draw: impl FnOnce() -> RequestKind) -> Option<Waiting> {
        let due = self.next?;
        let intended = self.instant(due);
        if intended > now {
            return None;
        }
        self.next = self.schedule.next();
        let noticed = clock::now();
        let phase = &self.job.plan.phases[due.phase as usize];
        // Gaps are held against one rate.
        if phase.kind.is_measured() && !self.schedule.is_sloped(due.phase) {
            let threads = f64::from(self.share.threads);
            self.gaps.note(due.phase, noticed, || phase.rate_hz.unwrap_or(0.0) / threads);
        }
        let kind = due.kind.unwrap_or_else(draw);
        Some(Waiting { intended, noticed, phase: due.phase, kind, user: NOBODY })
    }

    /// Lets an arrival wait for a connection; `false`: too many wait already.
    pub(super) fn wait(&mut self, arrival: Waiting) -> bool {
        let has_room = self.backlog.len() < MAX_BACKLOG_COUNT;
        if has_room {
            self.backlog.push_back(arrival);
            self.backlog_max = self.backlog_max.max(self.backlog.len() as u64);
        }
        has_room
    }

    /// An arrival that has waited for a connection until its deadline.
    pub(super) fn take_expired(&mut self, now: MonoNs) -> Option<Waiting> {
        let total_ns = self.job.plan.deadlines.total.0;
        self.backlog.pop_front_if(|arrival| arrival.intended.0 + total_ns <= now.0)
    }

    /// The first deadline of an arrival that waits.
    pub(super) fn next_deadline(&self) -> Option<MonoNs> {
        Some(self.deadline(self.backlog.front()?))
    }

    pub(super) fn deadline(&self, arrival: &Waiting) -> MonoNs {
        MonoNs(arrival.intended.0 + self.job.plan.deadlines.total.0)
    }

    /// Whether the schedule is used up and nothing waits.
    pub(super) fn is_exhausted(&self) -> bool {
        self.next.is_none() && self.backlog.is_empty()
    }

    /// The gaps between arrivals, and how many waited at a time at most.
    pub(super) fn finish(self) -> (Vec<GapSample>, u64) {
        (self.gaps.into_samples(MAX_GAPS_COUNT / self.share.threads.max(1) as usize), self.backlog_max)
    }
}
