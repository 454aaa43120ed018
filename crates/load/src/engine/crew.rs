//! The threads of a load in this process: started together, given orders together.

use super::affinity;
use super::back_end;
use super::job::Job;
use super::tally::{Tally, ThreadWindow};
use super::worker::{Finish, Worker};
use crate::carrier::{Carrier, Http2};
use crate::clock;
use crate::error::LoadError;
use crate::schedule::Share;
use crate::transport::tls::Tls;
use crate::transport::{ConnectionRoute, Epoll, Gather, Transport, Uring};
use std::num::NonZeroU64;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::Scope;
use sysdyno_record::load::TimerError;
use sysdyno_record::plan::SpinChoice;
use sysdyno_record::units::MonoNs;

/// An order to a generator thread.
#[derive(Clone, Copy)]
pub(super) enum Order {
    Connect,
    Begin(MonoNs),
}

/// What a generator thread says.
pub(super) enum CrewMessage {
    Ready(TimerError),
    Failed(LoadError),
    Window(u32, ThreadWindow),
    Finished(u32, Finish),
}

/// A generator thread that is to be: its share of the load, and its CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Post {
    pub share: Share,
    pub cpu: Option<u32>,
}

/// The threads of a load in this process.
pub(super) struct Crew {
    lines: Vec<ThreadLine>,
    pub messages: Receiver<CrewMessage>,
}

/// What is held of a generator thread.
struct ThreadLine {
    thread: u32,
    orders: Sender<Order>,
    spares: Sender<Box<Tally>>,
}

impl Crew {
    /// Starts a thread for each post; they end with the scope.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub(super) fn muster<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        job: &'env Job<'_>,
        posts: &[Post],
        kind: back_end::BackEndKind,
    ) -> Result<Crew, LoadError> {
        let (to_merge, messages) = mpsc::channel();
        let mut lines = Vec::new();
        for post in posts {
            let (order_sender, orders) = mpsc::channel();
            let (spare_sender, spares) = mpsc::channel();
            let seat = Seat { post: *post, messages: to_merge.clone(), orders, spares };
            let thread = post.share.thread;
            std::thread::Builder::new()
                .name(format!("sysdyno-load-{thread}"))
                .spawn_scoped(scope, move || match kind {
                    back_end::BackEndKind::Uring => seat.dress::<Uring>(job),
                    back_end::BackEndKind::Epoll => seat.dress::<Epoll>(job),
                })
                .map_err(LoadError::system("start a generator thread"))?;
            lines.push(ThreadLine { thread, orders: order_sender, spares: spare_sender });
        }
        Ok(Crew { lines, messages })
    }

    /// Waits until each thread has said that it is ready; the worst of their timers.
    ///
    /// # Errors
    /// A thread could not be set up.
    pub(super) fn await_all(&self) -> Result<TimerError, LoadError> {
        let mut worst = TimerError::default();
        for _ in &self.lines {
            match self.messages.recv() {
                Ok(CrewMessage::Ready(error)) => {
                    worst = if error.p99_ns > worst.p99_ns { error } else { worst }
                }
                Ok(CrewMessage::Failed(error)) => return Err(error),
                Ok(CrewMessage::Window(..) | CrewMessage::Finished(..)) | Err(_) => {
                    return Err(LoadError::plan("a generator thread exited before it started"));
                }
            }
        }
        Ok(worst)
    }

    /// Tells all threads the same.
    pub(super) fn tell(&self, order: Order) {
        self.lines.iter().for_each(|line| {
            // A thread that is gone cannot be told; its missing windows end the trial.
            let _ = line.orders.send(order);
        });
    }

    /// Gives a thread a tally back, empty.
    pub(super) fn give_back(&self, thread: u32, mut spare: Box<Tally>) {
        spare.clear();
        if let Some(line) = self.lines.iter().find(|line| line.thread == thread) {
            // A thread that has finished needs no spare.
            let _ = line.spares.send(spare);
        }
    }
}

/// What a generator thread is given.
struct Seat {
    post: Post,
    messages: Sender<CrewMessage>,
    orders: Receiver<Order>,
    spares: Receiver<Box<Tally>>,
}

impl Seat {
    /// Works with what the load speaks on top of a back end.
    fn dress<T: Transport>(self, job: &Job<'_>) {
        match job.route.tls {
            None => self.carry::<T>(job),
            Some(_) => self.carry::<Tls<T>>(job),
        }
    }

    fn carry<T: Transport>(self, job: &Job<'_>) {
        match job.http2.clone() {
            None => self.work(job, T::new),
            Some(settings) => self.work(job, |slots, route| Http2::<T>::new(slots, route, settings)),
        }
    }

    fn work<C: Carrier>(
        self,
        job: &Job<'_>,
        make: impl FnOnce(usize, &ConnectionRoute) -> Result<C, LoadError>,
    ) {
        let share = self.post.share;
        let thread = share.thread;
        // The merging thread outlives this one; if it is gone, nobody is left to be told.
        let say = |message| drop(self.messages.send(message));
        self.post.cpu.map(affinity::pin);
        if job.plan.spin == SpinChoice::On {
            affinity::prefer();
        }
        // Sleeps end when they should, not when it suits other timers (default slack: 50 µs).
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let route = job.route.from(share.before(u64::from(job.plan.connections)));
        let mut carrier = match make(job.slots(share), &route) {
            Ok(carrier) => carrier,
            Err(error) => return say(CrewMessage::Failed(error)),
        };
        let timer_error = clock::measure_timer_error(|span| carrier.wait(span, Gather::NOTHING));
        say(CrewMessage::Ready(timer_error));
        // An order that does not come means that another thread could not be set up.
        let Ok(Order::Connect) = self.orders.recv() else { return };
        let mut worker = Worker::new(carrier, job, share, self.spares, timer_error.p99_ns);
        worker.dial_all();
        say(CrewMessage::Ready(timer_error));
        if let Ok(Order::Begin(begin)) = self.orders.recv() {
            let finish = worker.run(begin, |window| say(CrewMessage::Window(thread, window)));
            say(CrewMessage::Finished(thread, finish));
        }
    }
}
