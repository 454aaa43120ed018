//! The users of a session: who does what, and when the next thing is due.
//!
//! ```text
//!   waiting ──due──► page ──ok──► object ──ok──► … ──► over: drawn are what comes next, and when ──► waiting
//!                      └── failed, timed out, never sent ──► over
//! ```
//! A user is a few dozen bytes; a thread keeps its users in one table and the due times in one heap. Connections come from
//! the pool: a user takes a free one for its page and, if possible, keeps it for the objects.

use super::Worker;
use super::arrivals::{NOBODY, Waiting};
use crate::carrier::Carrier;
use crate::clock;
use crate::schedule::Share;
use crate::workload::memory::Memory;
use crate::workload::session::{Cache, Tables, draw_ns};
use crate::workload::versions::{Version, Versions};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use sysdyno_record::session::{Pace, SessionPlan};
use sysdyno_record::units::MonoNs;

/// Users of one thread at most.
const MAX_USERS_COUNT: usize = 4 << 20;

/// Sets the arrivals of sessions apart from other numbers of the same seed.
const SESSION_STREAM: u64 = 0x7365_7373;

/// The users of one thread.
#[derive(Debug)]
pub(super) struct Users {
    users: Vec<User>,
    /// Who begins an operation when, the earliest first.
    due: BinaryHeap<Reverse<(MonoNs, u32)>>,
    /// Sessions that arrive by themselves; `None`: users stay.
    arrivals: Option<Sessions>,
    /// Users whose session is over.
    free: Vec<u32>,
    /// Users in a session.
    active_count: u64,
    /// What is known of the objects that pages embed.
    versions: Versions,
}

#[derive(Debug)]
struct Sessions {
    random: Xoshiro256PlusPlus,
    mean_ns: f64,
    next: MonoNs,
    count: u64,
}

#[derive(Clone, Debug)]
struct User {
    cache: Cache,
    random: SplitMix64,
    /// When the present operation was meant to begin, and when it did.
    intended: MonoNs,
    begun: MonoNs,
    /// What was drawn for its cycle.
    cycle_ns: u64,
    operation: u16,
    /// Number of its next request.
    step: u16,
    phase: u32,
    state: Doing,
    /// Requests whose values were drawn.
    asked_count: u32,
    /// Number among all users of the load, from 0.
    number: u64,
    /// Cookies, and what was taken from responses; `None`: nothing yet.
    memory: Option<Box<Memory>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// The first operation is to come.
    Nothing,
    /// An operation is under way.
    Operation,
    /// One is over, the next is to come.
    Waiting,
}

/// How a request of a user ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestEnd {
    Well,
    Badly,
}

impl Users {
    /// The users of a thread, who begin from `begin` on.
    pub(super) fn new(plan: &SessionPlan, tables: &Tables, share: Share, seed: u64) -> Users {
        let mut users = Users {
            users: Vec::new(),
            due: BinaryHeap::new(),
            arrivals: None,
            free: Vec::new(),
            active_count: 0,
            versions: Versions::new(tables.objects_count),
        };
        for number in (u64::from(share.thread)..u64::from(plan.users)).step_by(share.threads as usize) {
            let user = users.add(number, Tables::random_of(seed, number), tables);
            let at = MonoNs(plan.stagger.0.saturating_mul(number));
            users.due.push(Reverse((at, user)));
        }
        users.arrivals = plan.sessions_hz.map(|rate_hz| Sessions {
            random: Xoshiro256PlusPlus::seed_from_u64(
                seed ^ (u64::from(share.thread) << 32) ^ SESSION_STREAM,
            ),
            mean_ns: f64::from(share.threads) * 1e9 / rate_hz,
            next: MonoNs(0),
            count: u64::from(share.thread),
        });
        users
    }

    fn add(&mut self, number: u64, mut random: SplitMix64, tables: &Tables) -> u32 {
        let cache = tables.new_cache(&mut random);
        let user = User {
            cache,
            random,
            intended: MonoNs(0),
            begun: MonoNs(0),
            cycle_ns: 0,
            operation: tables.first,
            step: 0,
            phase: 0,
            state: Doing::Nothing,
            asked_count: 0,
            number,
            memory: None,
        };
        match self.free.pop() {
            Some(number) => {
                self.users[number as usize] = user;
                number
            }
            None => {
                self.users.push(user);
                self.users.len() as u32 - 1
            }
        }
    }

    /// Offsets become instants.
    pub(super) fn begin(&mut self, begin: MonoNs) {
        let due = std::mem::take(&mut self.due);
        self.due =
            due.into_iter().map(|Reverse((at, user))| Reverse((MonoNs(begin.0 + at.0), user))).collect();
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.next = begin;
            arrivals.advance();
        }
    }

    /// What a user remembers; `None`: nothing, or it is nobody.
    pub(super) fn memory(&self, user: u32) -> Option<&Memory> {
        self.users.get(user as usize)?.memory.as_deref()
    }

    /// The same, to be changed; `None`: it is nobody.
    pub(super) fn memory_mut(&mut self, user: u32) -> Option<&mut Option<Box<Memory>>> {
        Some(&mut self.users.get_mut(user as usize)?.memory)
    }

    /// The version of an object in the cache of a user; `None`: there is none, or it is nobody.
    pub(super) fn version(&self, user: u32, object: u8) -> Option<&Version> {
        let cache = &self.users.get(user as usize)?.cache;
        self.versions.get(object, cache.version(object))
    }

    /// A user has got an object, with this head.
    pub(super) fn learn_version(&mut self, user: u32, object: u8, head: &[u8]) {
        let number = self.versions.learn(object, head);
        if let Some(user) = self.users.get_mut(user as usize) {
            user.cache.set_version(object, number, &self.versions);
        }
    }

    /// Number of a user among all users of the load, from 0; `None`: it is nobody.
    pub(super) fn number(&self, user: u32) -> Option<u64> {
        Some(self.users.get(user as usize)?.number)
    }

    /// Counts a request of a user whose values are drawn; whose, and how many there were before.
    pub(super) fn asks(&mut self, user: u32) -> Option<(u64, u32)> {
        let user = self.users.get_mut(user as usize)?;
        user.asked_count = user.asked_count.wrapping_add(1);
        Some((user.number, user.asked_count.wrapping_sub(1)))
    }

    /// Users in a session.
    pub(super) fn active_count(&self) -> u64 {
        self.active_count
    }

    /// When somebody begins something next.
    #[inline]
    pub(super) fn next_due(&self) -> Option<MonoNs> {
        let user = self.due.peek().map(|Reverse((at, _))| *at);
        let session = self.arrivals.as_ref().map(|arrivals| arrivals.next);
        [user, session].into_iter().flatten().min()
    }

    /// Who begins an operation now, and when that was meant to be.
    fn pop(&mut self, now: MonoNs, tables: &Tables, seed: u64, threads: u32) -> Option<(MonoNs, u32)> {
        let is_session_first = |arrivals: &Sessions, due: &BinaryHeap<Reverse<(MonoNs, u32)>>| {
            arrivals.next <= now && due.peek().is_none_or(|Reverse((at, _))| *at >= arrivals.next)
        };
        if let Some(arrivals) =
            self.arrivals.as_mut().filter(|arrivals| is_session_first(arrivals, &self.due))
        {
            let (at, number) = (arrivals.next, arrivals.count);
            arrivals.count += u64::from(threads);
            arrivals.advance();
            if self.users.len() - self.free.len() >= MAX_USERS_COUNT {
                return None;
            }
            return Some((at, self.add(number, Tables::random_of(seed, number), tables)));
        }
        let Reverse((at, _)) = self.due.peek()?;
        if *at > now {
            return None;
        }
        self.due.pop().map(|Reverse(due)| due)
    }
}

impl Sessions {
    fn advance(&mut self) {
        let uniform: f64 = self.random.random();
        self.next = MonoNs(self.next.0 + (-(1.0 - uniform).ln() * self.mean_ns) as u64);
    }
}

impl<C: Carrier> Worker<'_, C> {
    /// Lets all users begin what is due.
    pub(super) fn notice_users(&mut self, now: MonoNs) {
        let Some(tables) = &self.job.requests.session else { return };
        while self.phases.is_sending() {
            let Some(users) = &mut self.content.users else { return };
            let Some((intended, number)) = users.pop(now, tables, self.job.plan.seed, self.share.threads)
            else {
                return;
            };
            self.begin_operation(tables, number, intended);
        }
    }

    fn begin_operation(&mut self, tables: &Tables, number: u32, intended: MonoNs) {
        let Some(users) = &mut self.content.users else { return };
        let noticed = clock::now();
        let user = &mut users.users[number as usize];
        users.active_count += u64::from(user.state == Doing::Nothing);
        if user.state == Doing::Waiting {
            let before = self.windows.of(user.phase).session(user.operation);
            if matches!(tables.operations[user.operation as usize].pace, Pace::Cycle(_)) {
                before.record_cycle(user.cycle_ns, noticed.since(user.begun));
            }
            user.operation = tables.next(user.operation, &mut user.random);
        }
        let steps = &tables.operations[user.operation as usize];
        if steps.begins_session {
            user.cache = tables.new_cache(&mut user.random);
            if let Some(memory) = &mut user.memory {
                memory.forget();
            }
        }
        if let Pace::Cycle(distribution) = &steps.pace {
            user.cycle_ns = draw_ns(distribution, &mut user.random);
        }
        (user.intended, user.begun, user.phase) = (intended, noticed, self.phases.current);
        (user.step, user.state) = (0, Doing::Operation);
        self.windows.of(user.phase).session(user.operation).started += 1;
        if let Some(arrival) = self.next_request(tables, number, intended) {
            self.offer(arrival);
        }
    }

    /// The next request of a user's operation; `None` if it has all.
    fn next_request(&mut self, tables: &Tables, number: u32, intended: MonoNs) -> Option<Waiting> {
        let Users { users, versions, .. } = self.content.users.as_mut()?;
        let user = &mut users[number as usize];
        let (kind, after) = tables.request(user.operation, user.step, &mut user.cache, versions)?;
        user.step = after;
        let phase = self.phases.current;
        self.windows.count(phase, kind, |counts| counts.scheduled += 1);
        Some(Waiting { intended, noticed: intended.max(clock::now()), phase, kind, user: number })
    }

    /// A request of a user is over: the operation goes on, or ends.
    pub(super) fn user_goes_on(&mut self, number: u32, ended: RequestEnd, at: MonoNs, now: MonoNs) {
        let Some(tables) = self.job.requests.session.as_ref().filter(|_| number != NOBODY) else { return };
        if ended == RequestEnd::Well && self.phases.is_sending() {
            if let Some(arrival) = self.next_request(tables, number, now) {
                // Before all who wait: the connection that has just become free is this user's.
                return self.arrivals.backlog.push_front(arrival);
            }
        } else if ended == RequestEnd::Well && self.has_more(tables, number) {
            // Nothing is sent any more; what is left of the operation stays undone.
            return;
        }
        let Some(users) = &mut self.content.users else { return };
        let user = &mut users.users[number as usize];
        let tally = self.windows.of(user.phase).session(user.operation);
        match ended {
            RequestEnd::Well => tally.record_completed(at.since(user.intended)),
            RequestEnd::Badly => tally.failed += 1,
        }
        let steps = &tables.operations[user.operation as usize];
        if users.arrivals.is_some() && user.random.random::<f64>() < steps.exit_ratio {
            user.state = Doing::Nothing;
            users.free.push(number);
            users.active_count -= 1;
            return;
        }
        user.state = Doing::Waiting;
        let next = match &steps.pace {
            Pace::Cycle(_) => MonoNs(user.intended.0 + user.cycle_ns).max(now),
            Pace::Think(distribution) => MonoNs(now.0 + draw_ns(distribution, &mut user.random)),
        };
        users.due.push(Reverse((next, number)));
    }

    fn has_more(&self, tables: &Tables, number: u32) -> bool {
        let Some(users) = &self.content.users else { return false };
        let user = &users.users[number as usize];
        tables.request(user.operation, user.step, &mut user.cache.clone(), &users.versions).is_some()
    }

    /// What is not over in the end has lasted at least so long.
    pub(super) fn end_users(&mut self, now: MonoNs) {
        let Some(users) = &self.content.users else { return };
        for user in users.users.iter().filter(|user| user.state == Doing::Operation) {
            let tally = self.windows.of(user.phase).session(user.operation);
            tally.record_unfinished(now.since(user.intended));
        }
    }
}
