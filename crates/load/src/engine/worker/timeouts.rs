//! The deadlines of connections and of the requests on them.

use crate::engine::deadline::DeadlineList;
use crate::engine::job::Job;
use crate::transport::Slot;
use sysdyno_record::plan::Deadlines;
use sysdyno_record::units::MonoNs;

/// The deadlines of one thread's connections.
#[derive(Debug)]
pub(super) struct Timeouts {
    limits: Deadlines,
    has_idle_deadline: bool,
    pub totals: DeadlineList,
    pub connects: DeadlineList,
    pub idles: DeadlineList,
}

impl Timeouts {
    pub(super) fn new(job: &Job<'_>, slots: usize) -> Timeouts {
        Timeouts {
            limits: job.plan.deadlines,
            has_idle_deadline: job.has_idle_deadline,
            totals: DeadlineList::new(slots),
            connects: DeadlineList::new(slots),
            idles: DeadlineList::new(slots),
        }
    }

    /// When the first deadline of any kind falls due.
    pub(super) fn next_due(&self) -> Option<MonoNs> {
        [&self.totals, &self.connects, &self.idles].into_iter().filter_map(DeadlineList::next_due).min()
    }

    /// A connection or its handshake begins.
    pub(super) fn begin_connect(&mut self, slot: Slot, now: MonoNs) {
        self.connects.set(slot, MonoNs(now.0 + self.limits.connect.0));
    }

    #[inline]
    pub(super) fn begin_request(&mut self, slot: Slot, intended: MonoNs) {
        self.totals.set(slot, MonoNs(intended.0 + self.limits.total.0));
    }

    /// Bytes went either way, or are about to.
    #[inline]
    pub(super) fn renew_idle(&mut self, slot: Slot, now: MonoNs) {
        if self.has_idle_deadline {
            self.idles.set(slot, MonoNs(now.0 + self.limits.idle.0));
        }
    }

    #[inline]
    pub(super) fn end_request(&mut self, slot: Slot) {
        self.totals.clear(slot);
        if self.has_idle_deadline {
            self.idles.clear(slot);
        }
    }
}
