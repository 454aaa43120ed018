//! Clients of a closed load that join and leave while it runs, following the plan's ramp.

use crate::engine::job::{ClientTurn, Job};
use crate::schedule::Share;
use crate::transport::Slot;
use std::collections::VecDeque;
use sysdyno_record::units::MonoNs;

/// The clients of one thread; each has a connection to itself.
#[derive(Debug)]
pub(super) struct Clients<'a> {
    job: &'a Job<'a>,
    share: Share,
    /// When the load began.
    pub begin: MonoNs,
    /// Who is to begin, in order of the instant.
    starting: VecDeque<(MonoNs, Slot)>,
    /// When the client of each connection leaves; empty where clients neither come nor leave.
    leaves: Vec<MonoNs>,
}

impl<'a> Clients<'a> {
    pub(super) fn new(job: &'a Job<'a>, share: Share) -> Clients<'a> {
        let count = if job.plan.workload.clients.is_empty() { 0 } else { job.slots(share) };
        let leaves = vec![MonoNs(0); count];
        Clients { job, share, begin: MonoNs(0), starting: VecDeque::new(), leaves }
    }

    /// Whether each client sends from the begin to the end.
    pub(super) fn all_stay(&self) -> bool {
        self.leaves.is_empty()
    }

    /// When the next client begins.
    pub(super) fn next_begin(&self) -> Option<MonoNs> {
        self.starting.front().map(|(at, _)| *at)
    }

    /// The client of a connection sends nothing until its next begin; `false`: there is none.
    pub(super) fn awaits(&mut self, slot: Slot, from: MonoNs) -> bool {
        let Some(at) = self.turn(slot, ClientTurn::Begins, from) else { return false };
        let place = self.starting.partition_point(|(known, _)| *known <= at);
        self.starting.insert(place, (at, slot));
        true
    }

    /// A client that begins; from now on it is known when it leaves.
    pub(super) fn take_due(&mut self, now: MonoNs) -> Option<Slot> {
        let (at, slot) = self.starting.pop_front_if(|(at, _)| *at <= now)?;
        self.leaves[slot as usize] = self.turn(slot, ClientTurn::Leaves, at).unwrap_or(MonoNs(u64::MAX));
        Some(slot)
    }

    /// Whether the time of a client is over.
    #[inline]
    pub(super) fn leaves(&self, slot: Slot, now: MonoNs) -> bool {
        self.leaves.get(slot as usize).is_some_and(|leaves| *leaves <= now)
    }

    fn turn(&self, slot: Slot, turn: ClientTurn, from: MonoNs) -> Option<MonoNs> {
        let client = u64::from(slot / self.job.plan.streams()) * u64::from(self.share.threads)
            + u64::from(self.share.thread);
        let offset_ns = self.job.client_turn_ns(client, turn, from.since(self.begin))?;
        Some(MonoNs(self.begin.0 + offset_ns))
    }
}
