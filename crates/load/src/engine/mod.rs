//! A trial: starts the threads, merges what they hand over, asserts that no request vanished.
//!
//! ```text
//!   thread 1 ─┐ windows (1 s or less)          ┌─► sink: one Interval per window and phase
//!   thread 2 ─┼──────────────────► merge ──────┤
//!   thread n ─┘ ◄── empty tallies ──           └─► TrialSummary
//! ```
//! The threads share the compiled plan, read only, and hand over whole tallies by message; the merging thread sleeps
//! in between. Hard stops that need the sum over all threads are decided here.

mod affinity;
mod back_end;
mod churn;
pub mod clock;
mod connection;
mod control;
mod deadline;
mod gaps;
mod job;
mod merge;
mod pace;
mod spin;
mod summary;
mod tally;
mod worker;

pub use affinity::Aside;
pub use control::Control;

use crate::error::LoadError;
use crate::http2::Http2;
use crate::io::{Epoll, Gather, Io, Uring};
use crate::schedule::Share;
use crate::tls::Tls;
use back_end::BackEnd;
use job::Job;
use merge::Merge;
use std::num::NonZeroU64;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;
use sysdyno_record::load::{Interval, LatencySet, TimerError, TrialEnding, TrialSummary};
use sysdyno_record::plan::{LoadPlan, PhaseKind, SpinChoice};
use sysdyno_record::units::MonoNs;
use tally::{Tally, Window};
use worker::{Finish, Worker};

/// How long the drain of a stopped trial lasts at most.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// From the last connection to the first request. Unit: nanoseconds.
const BEGIN_DELAY_NS: u64 = 2_000_000;

/// Receives what a trial measures while it runs.
pub trait Sink {
    /// A phase began.
    fn phase(&mut self, begin: MonoNs, phase: PhaseKind, rate_hz: Option<f64>);

    /// An interval of a phase is complete over all threads.
    fn interval(&mut self, interval: Interval, latency: &LatencySet);
}

/// The result of a trial.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The numbers.
    pub summary: TrialSummary,
    /// Why it ended.
    pub ending: TrialEnding,
    /// When its drain was over.
    pub end: MonoNs,
    /// Histograms of the measured phases.
    pub latency: LatencySet,
}

/// The CPUs that so many generator threads would be pinned to on this host; `None` for one that stays free to move.
pub fn generator_cpus(threads: u32) -> Vec<Option<u32>> {
    affinity::choose(threads)
}

/// Runs the load of one trial to its end.
///
/// # Errors
/// A plan that contradicts itself, or a thread that cannot be set up; no request has been sent then.
///
/// # Panics
/// If a request vanished: scheduled ≠ sent + unsent, or sent ≠ ok + failed + timed out + in flight.
pub fn run(
    plan: &LoadPlan,
    trial: u32,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<Outcome, LoadError> {
    let job = Job::new(plan, control)?;
    job.prepare(trial)?;
    let back_end = BackEnd::choose(plan.io, plan.connections.div_ceil(plan.threads) as usize, &job.route)?;
    let cpus = affinity::choose(plan.threads);
    let _aside = Aside::step(plan.threads);
    let (to_merge, messages) = mpsc::channel();
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (thread, cpu) in (0..).zip(&cpus) {
            let (order_sender, orders) = mpsc::channel();
            let (spare_sender, spares) = mpsc::channel();
            let share = Share { thread, threads: plan.threads };
            let seat = Seat { share, cpu: *cpu, messages: to_merge.clone(), orders, spares };
            let (job, kind) = (&job, back_end.kind);
            std::thread::Builder::new()
                .name(format!("sysdyno-load-{thread}"))
                .spawn_scoped(scope, move || match kind {
                    back_end::Kind::Uring => seat.dress::<Uring>(job),
                    back_end::Kind::Epoll => seat.dress::<Epoll>(job),
                })
                .map_err(LoadError::system("start a generator thread"))?;
            threads.push(ThreadLine { orders: order_sender, spares: spare_sender });
        }
        drop(to_merge);
        let timer_error = start(&messages, &threads)?;
        let merge = Merge::new(&job, trial, &cpus, timer_error, back_end);
        Ok(merge.collect(&messages, &threads, sink))
    })
}

/// Lets all threads connect when all are set up, and begin when all are connected; the worst of their timers.
///
/// No connection is made before every thread has the descriptors that it needs for itself.
fn start(messages: &Receiver<Message>, threads: &[ThreadLine]) -> Result<TimerError, LoadError> {
    let worst = await_all(messages, threads)?;
    tell_all(threads, Order::Connect);
    await_all(messages, threads)?;
    tell_all(threads, Order::Begin(MonoNs(clock::now().0 + BEGIN_DELAY_NS)));
    Ok(worst)
}

fn await_all(messages: &Receiver<Message>, threads: &[ThreadLine]) -> Result<TimerError, LoadError> {
    let mut worst = TimerError::default();
    for _ in threads {
        match messages.recv() {
            Ok(Message::Ready(error)) => worst = if error.p99_ns > worst.p99_ns { error } else { worst },
            Ok(Message::Failed(error)) => return Err(error),
            Ok(Message::Window(..) | Message::Finished(..)) | Err(_) => {
                return Err(LoadError::plan("a generator thread ended before it began"));
            }
        }
    }
    Ok(worst)
}

fn tell_all(threads: &[ThreadLine], order: Order) {
    threads.iter().for_each(|thread| {
        // A thread that is gone cannot be told; its missing windows end the trial.
        let _ = thread.orders.send(order);
    });
}

/// What a generator thread is told.
#[derive(Clone, Copy)]
enum Order {
    Connect,
    Begin(MonoNs),
}

/// What the merging thread holds of a generator thread.
struct ThreadLine {
    orders: Sender<Order>,
    spares: Sender<Box<Tally>>,
}

/// What a generator thread says.
enum Message {
    Ready(TimerError),
    Failed(LoadError),
    Window(u32, Window),
    Finished(u32, Finish),
}

/// What a generator thread is given.
struct Seat {
    share: Share,
    cpu: Option<u32>,
    messages: Sender<Message>,
    orders: Receiver<Order>,
    spares: Receiver<Box<Tally>>,
}

impl Seat {
    /// Works with what the load speaks on top of a back end.
    fn dress<I: Io>(self, job: &Job<'_>) {
        match job.route.tls {
            None => self.dress_http2::<I>(job),
            Some(_) => self.dress_http2::<Tls<I>>(job),
        }
    }

    fn dress_http2<I: Io>(self, job: &Job<'_>) {
        match job.route.http2 {
            None => self.work::<I>(job),
            Some(_) => self.work::<Http2<I>>(job),
        }
    }

    fn work<I: Io>(self, job: &Job<'_>) {
        let thread = self.share.thread;
        // The merging thread outlives this one; if it is gone, nobody is left to be told.
        let say = |message| drop(self.messages.send(message));
        self.cpu.map(affinity::pin);
        if job.plan.spin == SpinChoice::On {
            affinity::prefer();
        }
        // Sleeps end when they should, not when it suits other timers (default slack: 50 µs).
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let slots = self.share.of(u64::from(job.plan.connections)) as usize * job.plan.streams() as usize;
        let mut io = match I::new(slots, &job.route.from(self.share.before(u64::from(job.plan.connections))))
        {
            Ok(io) => io,
            Err(error) => return say(Message::Failed(error)),
        };
        let timer_error = clock::measure_timer_error(|span| io.wait(span, Gather::NOTHING));
        say(Message::Ready(timer_error));
        // An order that does not come means that another thread could not be set up.
        let Ok(Order::Connect) = self.orders.recv() else { return };
        let mut worker = Worker::new(io, job, self.share, self.spares, timer_error.p99_ns);
        worker.dial_all();
        say(Message::Ready(timer_error));
        if let Ok(Order::Begin(begin)) = self.orders.recv() {
            let finish = worker.run(begin, |window| say(Message::Window(thread, window)));
            say(Message::Finished(thread, finish));
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use tests::plan_of as tests_plan;
