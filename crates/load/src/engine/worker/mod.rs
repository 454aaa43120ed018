//! One generator thread: its event loop, its connections, its share of the schedule, its tallies.
//!
//! A turn of the loop: close the windows that ended, notice the arrivals that are due, expire deadlines, take up the
//! connections that are ready; then wait for the kernel at most until the next of these instants; then handle what
//! completed. While completions are handled, the next arrival is looked at after each one, so that a batch of responses
//! does not delay a send.
//!
//! A response in a closed process is followed by the next request on the spot, without a way round the loop. Failures
//! are not: their connections go through the ready list, so that a server that fails at once cannot make the thread
//! recurse.

mod dispatch;
mod exchange;
mod outcome;
mod users;
mod values;

use super::churn::Churn;
use super::clock::{self, WallOffset};
use super::connection::{Connection, State};
use super::deadline::Deadlines;
use super::gaps::Gaps;
use super::job::Job;
use super::pace::{Awaited, Pace};
use super::spin::Spin;
use super::tally::{Tallies, Tally, Window};
use crate::io::{Gather, Io, Slot};
use crate::memcached::Source;
use crate::schedule::{Due, Schedule, Share};
use crate::workload::Kind;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use sysdyno_record::load::GapSample;
use sysdyno_record::plan::{Arrival, LoadPlan, PhaseEnd, SpinChoice};
use sysdyno_record::units::MonoNs;
use users::Users;
use values::Values;

/// Longest wait, so that a stop is noticed soon. Unit: nanoseconds.
const MAX_WAIT_NS: u64 = 50_000_000;

/// Length of a window. Unit: nanoseconds.
const WINDOW_NS: u64 = 1_000_000_000;

/// How long a client waits after a connection that failed. Unit: nanoseconds.
const REDIAL_DELAY_NS: u64 = 50_000_000;

/// Sets the numbers that choose requests apart from those that choose instants.
const KIND_STREAM: u64 = 0x6b69_6e64;

/// An arrival that waits for a free connection.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    intended: MonoNs,
    noticed: MonoNs,
    phase: u32,
    kind: Kind,
    user: u32,
}

/// How far a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Connections are made before the begin.
    Dialing,
    /// Requests are sent.
    Sending,
    /// What is in flight is awaited until this instant.
    Draining(MonoNs),
}

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
    /// Gaps between neighbouring arrivals, of those phases in which the timer can tell them apart.
    pub(super) fn single_gaps_ns(&self) -> impl Iterator<Item = u64> {
        let single = self.gaps.iter().filter(|sample| sample.arrivals_count == 1);
        single.flat_map(|sample| sample.gaps_ns.iter().copied())
    }
}

/// A generator thread.
pub(super) struct Worker<'a, I: Io> {
    io: I,
    job: &'a Job<'a>,
    share: Share,
    /// When the connections before the begin were begun.
    dial_begin: MonoNs,
    begin: MonoNs,
    stage: Stage,
    connections: Vec<Connection>,
    /// Where requests come from that are made one by one; `None`: all are the same.
    source: Option<Source>,
    /// Established connections without a request, longest free first; some may have been closed since.
    idle: VecDeque<Slot>,
    /// Connections without a socket and without a request.
    vacant: VecDeque<Slot>,
    /// Connections whose last request failed and that are to be used again.
    ready: VecDeque<Slot>,
    /// Connections that are to be used again after a delay, in order of the instant.
    delayed: VecDeque<(MonoNs, Slot)>,
    /// Clients of a closed process who are to begin, in order of the instant.
    starting: VecDeque<(MonoNs, Slot)>,
    /// When the client of each connection leaves; empty where clients neither come nor leave.
    leaves: Vec<MonoNs>,
    backlog: VecDeque<Waiting>,
    schedule: Schedule,
    next_due: Option<Due>,
    users: Option<Users>,
    /// What is put into requests that are not always the same; `None`: all are.
    values: Option<Values>,
    /// Draws what is sent; the schedule has a generator of its own.
    random: Xoshiro256PlusPlus,
    totals: Deadlines,
    connects: Deadlines,
    idles: Deadlines,
    tallies: Tallies,
    /// Tallies that come back empty.
    spares: Receiver<Box<Tally>>,
    phase: u32,
    /// Requests that the present phase of a closed process may still begin.
    quota: u64,
    in_flight: u64,
    failed_dials_in_a_row: u32,
    has_connected: bool,
    /// When the next probe is sent, where the load was cut down to probes.
    next_probe: Option<MonoNs>,
    gaps: Gaps,
    spin: Spin,
    wall_offset: WallOffset,
    pace: Pace,
    churn: Churn,
    backlog_max: u64,
    window_index: u32,
    window_begin: MonoNs,
    window_cpu_ns: u64,
}

/// A thread's share of the users of a plan.
fn users(job: &Job<'_>, share: Share) -> Option<Users> {
    let (plan, tables) = job.plan.workload.session.as_deref().zip(job.requests.session.as_ref())?;
    Some(Users::new(plan, tables, share, job.plan.seed))
}

/// A thread's share of the arrivals of a plan.
fn schedule(plan: &LoadPlan, share: Share) -> Schedule {
    let schedule = Schedule::new(plan.arrival, &plan.phases, share, plan.seed);
    let schedule = schedule.with_slopes(&plan.workload.slopes);
    match &plan.workload.log {
        Some(log) => schedule.with_trace(&log.arrivals),
        None => schedule,
    }
}

impl<'a, I: Io> Worker<'a, I> {
    pub(super) fn new(
        io: I,
        job: &'a Job<'a>,
        share: Share,
        spares: Receiver<Box<Tally>>,
        timer_error_ns: u64,
    ) -> Worker<'a, I> {
        let slots = share.of(u64::from(job.plan.connections)) as usize * job.plan.streams() as usize;
        let phases = job.plan.phases.len();
        Worker {
            io,
            job,
            share,
            dial_begin: clock::now(),
            begin: MonoNs(0),
            stage: Stage::Dialing,
            connections: (0..slots).map(|_| Connection::new(job)).collect(),
            source: job.memcached.as_ref().map(|load| Source::new(load.plan, job.plan.seed, share.thread)),
            idle: VecDeque::with_capacity(slots),
            vacant: VecDeque::with_capacity(slots),
            ready: VecDeque::with_capacity(slots),
            delayed: VecDeque::with_capacity(slots),
            starting: VecDeque::new(),
            leaves: vec![MonoNs(0); if job.plan.workload.clients.is_empty() { 0 } else { slots }],
            backlog: VecDeque::with_capacity(1024),
            schedule: schedule(job.plan, share),
            next_due: None,
            users: users(job, share),
            values: Values::new(job, share, slots),
            random: Xoshiro256PlusPlus::seed_from_u64(
                job.plan.seed ^ (u64::from(share.thread) << 32) ^ KIND_STREAM,
            ),
            totals: Deadlines::new(slots),
            connects: Deadlines::new(slots),
            idles: Deadlines::new(slots),
            // One more for connections that are opened before or after all phases.
            tallies: Tallies::new(phases + 1, job.is_open, job.requests.operations_count),
            spares,
            phase: 0,
            quota: 0,
            in_flight: 0,
            failed_dials_in_a_row: 0,
            has_connected: false,
            next_probe: None,
            gaps: Gaps::new(timer_error_ns),
            spin: Spin::new(job.plan.spin == SpinChoice::On),
            wall_offset: WallOffset::default(),
            pace: Pace::default(),
            churn: Churn::new(job.plan.origin.churn_hz, share),
            backlog_max: 0,
            window_index: 0,
            window_begin: MonoNs(0),
            window_cpu_ns: 0,
        }
    }

    /// Whether only probes are sent.
    #[inline]
    fn is_held_back(&self) -> bool {
        self.next_probe.is_some()
    }

    fn is_closed_loop(&self) -> bool {
        self.job.plan.arrival == Arrival::Closed
    }

    /// Number of the drain, which comes after the planned phases.
    fn drain_phase(&self) -> u32 {
        self.job.plan.phases.len() as u32
    }

    /// Makes the connections before the begin, as far as there is time for that. The others go on in the load, or are begun
    /// there by their first requests.
    pub(super) fn dial_all(&mut self) {
        self.dial_begin = clock::now();
        let end = self.dial_begin.after(self.job.dial_limit());
        for slot in 0..self.connections.len() as Slot {
            let now = clock::now();
            if self.job.keeps_connections() && now < end && !self.job.control.is_stopped() {
                self.dial(slot, now);
                // One that is established is noticed before the next is begun, or its time would be that of both.
                self.wait_and_handle(now, now);
            } else {
                self.vacant.push_back(slot);
            }
        }
        while self.connections.iter().any(|connection| connection.state == State::Dialing) {
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
    pub(super) fn run(mut self, begin: MonoNs, mut hand_over: impl FnMut(Window)) -> Finish {
        self.begin = begin;
        self.churn.begin(begin, self.share);
        self.window_begin = begin;
        self.window_cpu_ns = clock::thread_cpu_ns();
        self.stage = Stage::Sending;
        self.next_due = self.schedule.next();
        if let Some(users) = &mut self.users {
            users.begin(begin);
        }
        self.sleep_until(begin);
        self.enter_phase(0, begin);
        self.start_clients(clock::now());
        loop {
            let now = clock::now();
            self.turn(now, &mut hand_over);
            if self.is_done(now) {
                break;
            }
            self.wait_and_handle(MonoNs(now.0 + MAX_WAIT_NS).min(self.next_instant()), now);
        }
        let now = clock::now();
        self.close_all(now);
        self.io.finish();
        self.end_window(now, &mut hand_over);
        let gaps = self.gaps.into_samples(super::gaps::MAX_GAPS_COUNT / self.share.threads.max(1) as usize);
        Finish { gaps, backlog_max: self.backlog_max, spin_ended: self.spin.into_ended(), end: now }
    }

    /// Does all that is due at `now`.
    fn turn(&mut self, now: MonoNs, hand_over: &mut impl FnMut(Window)) {
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
        let is_urgent = !self.ready.is_empty();
        let due_ns = self.next_send().filter(|_| !is_urgent).map(|due| due.since(now));
        let other_ns = if is_urgent { 0 } else { instant.since(now) };
        let sleep_ns = self.spin.sleep_ns(now, due_ns, other_ns);
        let gather = self.gather(now);
        self.io.wait(Duration::from_nanos(sleep_ns), gather);
        let mut completion = self.io.complete();
        if completion.is_some() && self.job.route.stamps {
            self.wall_offset.refresh(now);
        }
        if sleep_ns == 0 {
            self.spin.note(clock::now(), completion.is_none());
        }
        while let Some((slot, what)) = completion {
            let now = clock::now();
            self.pace.note(&what);
            self.handle(slot, what, now);
            if self.next_send().is_some_and(|due| due <= now) {
                self.notice(now);
            }
            completion = self.io.complete();
        }
    }

    /// How many responses the next wait is for.
    #[inline]
    fn gather(&mut self, now: MonoNs) -> Gather {
        let is_shared = self.job.plan.streams() > 1;
        if !self.job.route.stamps || is_shared && self.job.is_open {
            return Gather::NOTHING;
        }
        let awaited = Awaited { in_flight: self.in_flight, is_shared, is_open: self.job.is_open };
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
        if self.is_held_back() {
            return self.next_probe.filter(|_| self.stage == Stage::Sending);
        }
        match &self.users {
            None => self.next_due.map(|due| self.instant(due)),
            Some(users) => users.next_due().filter(|_| self.stage == Stage::Sending),
        }
    }

    fn instant(&self, due: Due) -> MonoNs {
        MonoNs(self.begin.0 + due.offset_ns)
    }

    /// The earliest instant at which something is to be done without the kernel saying so.
    fn next_instant(&self) -> MonoNs {
        let drain_end = match self.stage {
            Stage::Draining(end) => Some(end),
            Stage::Dialing | Stage::Sending => None,
        };
        let overdue = self
            .backlog
            .front()
            .map(|waiting| waiting.intended.after(self.job.plan.deadlines.total.duration()));
        let instants = [
            self.next_send(),
            if self.stage == Stage::Dialing { None } else { self.next_cut() },
            self.totals.next_due(),
            self.connects.next_due(),
            self.idles.next_due(),
            self.delayed.front().map(|(at, _)| *at),
            self.starting.front().map(|(at, _)| *at),
            overdue,
            drain_end,
        ];
        instants.into_iter().flatten().min().unwrap_or(MonoNs(u64::MAX))
    }

    /// The next end of a window: a whole second since the begin, or the end of the phase.
    fn next_cut(&self) -> Option<MonoNs> {
        let windows = self.window_begin.since(self.begin) / WINDOW_NS + 1;
        let second = MonoNs(self.begin.0 + windows * WINDOW_NS);
        match self.stage {
            Stage::Sending => Some(self.phase_end().map_or(second, |end| end.min(second))),
            Stage::Draining(_) => Some(second),
            Stage::Dialing => None,
        }
    }

    /// When the present phase ends, if time ends it.
    fn phase_end(&self) -> Option<MonoNs> {
        let ends = self.job.phase_end_offsets_ns.get(self.phase as usize).copied().flatten();
        ends.map(|offset_ns| MonoNs(self.begin.0 + offset_ns))
    }

    fn advance_phase(&mut self, now: MonoNs) {
        if self.stage == Stage::Sending && self.phase_end().is_some_and(|end| end <= now) {
            self.enter_phase(self.phase + 1, now);
        }
    }

    fn enter_phase(&mut self, phase: u32, now: MonoNs) {
        self.phase = phase;
        match self.job.plan.phases.get(phase as usize).map(|plan| plan.end) {
            None => self.start_drain(now, self.job.drain_limit(self.begin.since(self.dial_begin))),
            Some(PhaseEnd::After(_)) => self.quota = u64::MAX,
            Some(PhaseEnd::Requests(count)) => self.quota = self.share.of(count),
        }
    }

    /// Stops sending; what waits for a connection is never sent.
    fn start_drain(&mut self, now: MonoNs, longest: Duration) {
        self.stage = Stage::Draining(now.after(longest));
        self.phase = self.drain_phase();
        self.next_due = None;
        self.give_up_backlog(now);
    }

    /// Goes over to the drain when the load was stopped or all its requests have begun.
    fn check_stop(&mut self, now: MonoNs, hand_over: &mut impl FnMut(Window)) {
        if self.stage != Stage::Sending {
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
        let is_last = self.phase as usize + 1 == self.job.plan.phases.len();
        let counts = self.phase_end().is_none();
        let is_exhausted = if self.is_closed_loop() {
            self.quota == 0
        } else {
            self.next_due.is_none() && self.backlog.is_empty()
        };
        is_last && counts && is_exhausted
    }

    fn is_done(&self, now: MonoNs) -> bool {
        match self.stage {
            Stage::Draining(end) => self.in_flight == 0 || now >= end,
            Stage::Dialing | Stage::Sending => false,
        }
    }

    fn end_window(&mut self, end: MonoNs, hand_over: &mut impl FnMut(Window)) {
        let cpu_ns = clock::thread_cpu_ns();
        hand_over(Window {
            index: self.window_index,
            begin: self.window_begin,
            end,
            phase: self.phase,
            tallies: self.tallies.take(),
            in_flight: self.in_flight,
            cpu_ns: cpu_ns - self.window_cpu_ns,
            spun_ns: self.spin.take_ns(),
        });
        while let Ok(spare) = self.spares.try_recv() {
            self.tallies.add_spare(spare);
        }
        self.window_index += 1;
        self.window_begin = end;
        self.window_cpu_ns = cpu_ns;
    }
}
