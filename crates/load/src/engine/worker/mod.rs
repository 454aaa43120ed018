//! One generator thread: its event loop, and how the parts of the thread work together there.
//!
//! ```text
//!   arrivals, clients, users ──what is due──► pool ──request on a connection──► windows: what became of it
//!              ▲                               ▲
//!            phases: what may begin          content: what is sent
//! ```
//! Each part knows only its own fields; the steps that need several parts are methods of the worker, in `dispatch` (until
//! a request has a connection), `exchange` (on the connection), and `outcome` (its end).
//!
//! One turn of the loop: close windows that ended, notice due arrivals, expire deadlines, and process the ready
//! connections; then wait for the kernel, at most until the next of these instants; then handle the completions. After
//! each completion the thread checks for the next arrival, so that a batch of responses does not delay a send.
//!
//! In a closed load, the next request follows a response on the spot, without another turn of the loop. After a failure,
//! the connection goes through the ready list instead, so that a server that fails at once cannot make the thread recurse.

mod arrivals;
mod clients;
mod content;
mod dispatch;
mod exchange;
mod outcome;
mod phases;
mod pool;
mod timeouts;
mod users;
mod values;
mod windows;

use super::job::Job;
use super::pace::{Awaited, GatherPace};
use super::spin::Spin;
use super::tally::{Tally, ThreadWindow};
use crate::carrier::Carrier;
use crate::clock::{self, WallOffset};
use crate::schedule::Share;
use crate::transport::Gather;
use arrivals::Arrivals;
use clients::Clients;
use content::Content;
use phases::{LoadStage, Phases};
use pool::ConnectionPool;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use sysdyno_record::load::GapSample;
use sysdyno_record::plan::{Arrival, SpinChoice};
use sysdyno_record::units::MonoNs;
use users::Users;
use windows::{Open, Windows};

/// Longest wait, so that a stop is noticed soon. Unit: nanoseconds.
const MAX_WAIT_NS: u64 = 50_000_000;

/// What a thread knows at its end.
#[derive(Debug)]
pub(super) struct Finish {
    pub gaps: Vec<GapSample>,
    pub backlog_max: u64,
    /// Why it stopped spinning.
    pub spin_ended: Option<String>,
    /// When the last outcome was known or given up.
    pub end: MonoNs,
}

impl Finish {
    /// Gaps between neighboring arrivals, of those phases in which the timer can tell them apart.
    pub(super) fn single_gaps_ns(&self) -> impl Iterator<Item = u64> {
        let single = self.gaps.iter().filter(|sample| sample.arrivals_count == 1);
        single.flat_map(|sample| sample.gaps_ns.iter().copied())
    }
}

/// A generator thread.
pub(super) struct Worker<'a, C: Carrier> {
    carrier: C,
    job: &'a Job<'a>,
    share: Share,
    phases: Phases<'a>,
    pool: ConnectionPool,
    clients: Clients<'a>,
    arrivals: Arrivals<'a>,
    content: Content<'a>,
    windows: Windows<'a>,
    spin: Spin,
    pace: GatherPace,
    wall_offset: WallOffset,
}

impl<'a, C: Carrier> Worker<'a, C> {
    pub(super) fn new(
        carrier: C,
        job: &'a Job<'a>,
        share: Share,
        spares: Receiver<Box<Tally>>,
        timer_error_ns: u64,
    ) -> Worker<'a, C> {
        Worker {
            carrier,
            job,
            share,
            phases: Phases::new(job, clock::now()),
            pool: ConnectionPool::new(job, share),
            clients: Clients::new(job, share),
            arrivals: Arrivals::new(job, share, timer_error_ns),
            content: Content::new(job, share),
            windows: Windows::new(job, spares),
            spin: Spin::new(job.plan.spin == SpinChoice::On),
            pace: GatherPace::default(),
            wall_offset: WallOffset::default(),
        }
    }

    fn is_closed_loop(&self) -> bool {
        self.job.plan.arrival == Arrival::Closed
    }

    /// Makes the connections before the begin, as far as there is time for that. The others go on in the load, or are begun
    /// there by their first requests.
    pub(super) fn dial_all(&mut self) {
        self.phases.dial_begin = clock::now();
        let end = self.phases.dial_begin.after(self.job.dial_limit());
        for slot in self.pool.slots() {
            let now = clock::now();
            if self.job.keeps_connections() && now < end && !self.job.control.is_stopped() {
                self.dial(slot, now);
                // One that is established is noticed before the next is begun, or its time would be that of both.
                self.wait_and_handle(now, now);
            } else {
                self.pool.rest(slot);
            }
        }
        while self.pool.is_dialing() {
            let now = clock::now();
            if now >= end || self.job.control.is_stopped() {
                break;
            }
            self.expire(now);
            let instant = MonoNs(now.0 + MAX_WAIT_NS).min(self.next_instant()).min(end);
            self.wait_and_handle(instant, now);
        }
    }

    /// Sends from `begin` on and hands over each window as it ends.
    pub(super) fn run(mut self, begin: MonoNs, mut hand_over: impl FnMut(ThreadWindow)) -> Finish {
        (self.phases.begin, self.phases.stage) = (begin, LoadStage::Sending);
        self.clients.begin = begin;
        self.pool.churn.begin(begin, self.share);
        self.windows.begin(begin);
        self.arrivals.begin(begin);
        if let Some(users) = &mut self.content.users {
            users.begin(begin);
        }
        self.sleep_until(begin);
        self.enter_phase(0, begin);
        self.start_clients(clock::now());
        loop {
            let now = clock::now();
            self.turn(now, &mut hand_over);
            if self.phases.drain_end().is_some_and(|end| self.pool.in_flight == 0 || now >= end) {
                break;
            }
            self.wait_and_handle(MonoNs(now.0 + MAX_WAIT_NS).min(self.next_instant()), now);
        }
        let now = clock::now();
        self.close_all(now);
        self.carrier.finish();
        self.end_window(now, &mut hand_over);
        let (gaps, backlog_max) = self.arrivals.finish();
        Finish { gaps, backlog_max, spin_ended: self.spin.into_ended(), end: now }
    }

    /// Does all that is due at `now`.
    fn turn(&mut self, now: MonoNs, hand_over: &mut impl FnMut(ThreadWindow)) {
        while let Some(cut) = self.next_cut().filter(|cut| *cut <= now) {
            // What was due before the cut belongs before it, however late this thread is.
            self.notice(cut);
            self.end_window(cut, hand_over);
            self.advance_phase(cut);
        }
        self.notice(now);
        self.expire(now);
        self.take_up(now);
        if self.job.control.is_held_back() {
            self.probe(now);
        }
        self.check_stop(now, hand_over);
    }

    /// Waits until `instant` at most and handles what completed.
    fn wait_and_handle(&mut self, instant: MonoNs, now: MonoNs) {
        let is_urgent = !self.pool.ready.is_empty();
        let due_ns = self.next_send().filter(|_| !is_urgent).map(|due| due.since(now));
        let other_ns = if is_urgent { 0 } else { instant.since(now) };
        let sleep_ns = self.spin.sleep_ns(now, due_ns, other_ns);
        let gather = self.gather(now);
        self.carrier.wait(Duration::from_nanos(sleep_ns), gather);
        let mut next = self.carrier.next();
        if next.is_some() && self.job.route.stamps {
            self.wall_offset.refresh(now);
        }
        if sleep_ns == 0 {
            self.spin.note(clock::now(), next.is_none());
        }
        while let Some((slot, news)) = next {
            let now = clock::now();
            self.pace.note(&news);
            self.handle(slot, news, now);
            if self.next_send().is_some_and(|due| due <= now) {
                self.notice(now);
            }
            next = self.carrier.next();
        }
    }

    /// How many responses the next wait is for.
    #[inline]
    fn gather(&mut self, now: MonoNs) -> Gather {
        let is_shared = self.job.plan.streams() > 1;
        if !self.job.route.stamps || is_shared && self.job.is_open {
            return Gather::NOTHING;
        }
        let awaited = Awaited { in_flight: self.pool.in_flight, is_shared, is_open: self.job.is_open };
        self.pace.want(now, awaited, clock::thread_cpu_ns)
    }

    /// Waits for an instant before the begin without missing what happens to the connections.
    fn sleep_until(&mut self, instant: MonoNs) {
        loop {
            let now = clock::now();
            if now >= instant {
                return;
            }
            self.wait_and_handle(instant, now);
        }
    }

    /// When something is to be sent next, before it is drained.
    #[inline]
    fn next_send(&self) -> Option<MonoNs> {
        if self.phases.is_held_back() {
            return self.phases.next_probe.filter(|_| self.phases.is_sending());
        }
        match &self.content.users {
            None => self.arrivals.next_due(),
            Some(users) => users.next_due().filter(|_| self.phases.is_sending()),
        }
    }

    /// The earliest instant at which something is to be done without the kernel saying so.
    fn next_instant(&self) -> MonoNs {
        let instants = [
            self.next_send(),
            self.next_cut(),
            self.pool.next_due(),
            self.clients.next_begin(),
            self.arrivals.next_deadline(),
            self.phases.drain_end(),
        ];
        instants.into_iter().flatten().min().unwrap_or(MonoNs(u64::MAX))
    }

    fn next_cut(&self) -> Option<MonoNs> {
        self.phases.next_cut(self.windows.next_second(self.phases.begin))
    }

    fn advance_phase(&mut self, now: MonoNs) {
        if self.phases.is_sending() && self.phases.phase_end().is_some_and(|end| end <= now) {
            self.enter_phase(self.phases.current + 1, now);
        }
    }

    fn enter_phase(&mut self, phase: u32, now: MonoNs) {
        if let Some(longest) = self.phases.enter(phase, self.share) {
            self.start_drain(now, longest);
        }
    }

    /// Stops sending; what waits for a connection is never sent.
    fn start_drain(&mut self, now: MonoNs, longest: Duration) {
        self.phases.drain(now.after(longest));
        self.arrivals.end();
        self.give_up_backlog(now);
    }

    /// Goes over to the drain when the load was stopped or all its requests have begun.
    fn check_stop(&mut self, now: MonoNs, hand_over: &mut impl FnMut(ThreadWindow)) {
        if !self.phases.is_sending() {
            return;
        }
        let longest = if self.job.control.is_stopped() {
            super::STOP_GRACE
        } else if self.has_begun_all() {
            // The outcome of each request of a plan that counts them is awaited as long as it may take.
            self.job.plan.deadlines.total.duration()
        } else {
            return;
        };
        self.end_window(now, hand_over);
        self.start_drain(now, longest);
    }

    /// Whether the last phase counts requests and all of them have begun.
    fn has_begun_all(&self) -> bool {
        let is_exhausted =
            if self.is_closed_loop() { self.phases.quota == 0 } else { self.arrivals.is_exhausted() };
        is_exhausted && self.phases.is_last_phase() && self.phases.phase_end().is_none()
    }

    fn end_window(&mut self, end: MonoNs, hand_over: &mut impl FnMut(ThreadWindow)) {
        let open = Open {
            in_flight: self.pool.in_flight,
            users: self.content.users.as_ref().map(Users::active_count),
        };
        hand_over(self.windows.cut(end, self.phases.current, open, &mut self.spin));
    }
}
