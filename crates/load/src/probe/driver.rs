//! The loop of a probe: begins due operations, reports those that ended, and times out those that take too long.

use super::http::HttpProber;
use super::icmp::IcmpProber;
use super::prober::{ProbeEnd, Prober};
use super::tcp::TcpProber;
use super::{ProbeJob, ProbeSink, Way};
use crate::clock;
use crate::engine::Aside;
use crate::error::LoadError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::num::NonZeroU64;
use std::time::Duration;
use sysdyno_record::probe::{ProbeOutcome, ProbeReply};
use sysdyno_record::units::MonoNs;

/// Longest sleep, so that a request to stop is noticed. Unit: nanoseconds.
const TICK_NS: u64 = 50_000_000;

/// A probe that is ready to be sent.
pub struct Probe<'a> {
    job: &'a ProbeJob,
    prober: Box<dyn Prober + Send>,
}

impl<'a> Probe<'a> {
    /// Opens what a probe needs; sends nothing.
    ///
    /// # Errors
    /// The probe is not permitted, or its socket cannot be opened.
    pub fn open(job: &'a ProbeJob) -> Result<Probe<'a>, LoadError> {
        job.check()?;
        let prober: Box<dyn Prober + Send> = match &job.way {
            Way::Http(plan) => Box::new(HttpProber::new(plan)?),
            Way::Tcp(address) => Box::new(TcpProber::new(address.address)),
            Way::Icmp(address) => Box::new(IcmpProber::open(address.address, job.seed)?),
        };
        Ok(Probe { job, prober })
    }

    /// Sends until all operations are sent or a stop is requested; blocks the calling thread.
    ///
    /// # Errors
    /// The kernel refuses to wait; what was open then is reported as in flight.
    pub fn run(self, sink: &mut dyn ProbeSink) -> Result<(), LoadError> {
        let Probe { job, prober } = self;
        let _aside = (job.generator_threads > 0).then(|| Aside::step(job.generator_threads));
        // Sleeps end when they should, not when it suits other timers (default slack: 50 µs).
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let begin = clock::now().after(job.offset.duration());
        let mut driver = Driver { job, prober, begin, next: 1, open: Vec::new() };
        loop {
            match driver.step(sink) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) => {
                    driver.leave_open(sink);
                    return Err(error);
                }
            }
        }
    }
}

struct Driver<'a> {
    job: &'a ProbeJob,
    prober: Box<dyn Prober + Send>,
    begin: MonoNs,
    /// The operation that is due next.
    next: u64,
    /// Operations that were begun and have not ended, in their order.
    open: Vec<Open>,
}

struct Open {
    sequence: u64,
    sent: MonoNs,
}

impl Driver<'_> {
    /// One turn; whether there is another.
    fn step(&mut self, sink: &mut dyn ProbeSink) -> Result<bool, LoadError> {
        let mut ended = Vec::new();
        self.begin_due(&mut ended, sink);
        self.report(&mut ended, sink);
        if !sink.goes_on() {
            self.leave_open(sink);
            return Ok(false);
        }
        if !self.has_more() && self.open.is_empty() {
            return Ok(false);
        }
        let ready = self.wait()?;
        self.prober.advance(&ready, &mut ended);
        self.report(&mut ended, sink);
        self.give_up_late(clock::now(), sink);
        Ok(true)
    }

    fn intended(&self, sequence: u64) -> MonoNs {
        MonoNs(self.begin.0.saturating_add((sequence - 1).saturating_mul(self.job.plan.interval.0)))
    }

    fn deadline(&self, sequence: u64) -> MonoNs {
        self.intended(sequence).after(self.job.plan.timeout.duration())
    }

    fn has_more(&self) -> bool {
        self.job.count.is_none_or(|count| self.next <= count)
    }

    fn begin_due(&mut self, ended: &mut Vec<ProbeEnd>, sink: &mut dyn ProbeSink) {
        while self.has_more() {
            let (sequence, now) = (self.next, clock::now());
            if self.intended(sequence) > now {
                break;
            }
            self.next += 1;
            if self.deadline(sequence) <= now {
                sink.reply(self.reply(sequence, None, self.deadline(sequence), ProbeOutcome::Unsent));
                continue;
            }
            self.open.push(Open { sequence, sent: now });
            self.prober.begin(sequence, ended);
        }
    }

    fn reply(&self, sequence: u64, sent: Option<MonoNs>, end: MonoNs, outcome: ProbeOutcome) -> ProbeReply {
        ProbeReply {
            trial: self.job.trial,
            target: self.job.target,
            sequence,
            intended_mono_ns: self.intended(sequence),
            sent_mono_ns: sent,
            end_mono_ns: end,
            outcome,
            connect_ns: None,
            status: None,
        }
    }

    /// Hands on what ended; an end after the deadline is none, and one of an operation that is not open is nobody's.
    fn report(&mut self, ended: &mut Vec<ProbeEnd>, sink: &mut dyn ProbeSink) {
        for end in ended.drain(..) {
            let Some(place) = self.open.iter().position(|open| open.sequence == end.sequence) else {
                continue;
            };
            let open = self.open.remove(place);
            let deadline = self.deadline(end.sequence);
            let is_late = end.at > deadline;
            let outcome = if is_late { ProbeOutcome::TimedOut } else { end.outcome };
            let reply = self.reply(end.sequence, Some(open.sent), end.at.min(deadline), outcome);
            sink.reply(ProbeReply { connect_ns: end.connect_ns, status: end.status, ..reply });
        }
    }

    fn give_up_late(&mut self, now: MonoNs, sink: &mut dyn ProbeSink) {
        // Deadlines pass in the order of the operations.
        while let Some(open) = self.open.first() {
            let (sequence, sent) = (open.sequence, open.sent);
            let deadline = self.deadline(sequence);
            if deadline > now {
                break;
            }
            self.prober.abandon(sequence);
            self.open.remove(0);
            sink.reply(self.reply(sequence, Some(sent), deadline, ProbeOutcome::TimedOut));
        }
    }

    fn leave_open(&mut self, sink: &mut dyn ProbeSink) {
        let now = clock::now();
        self.give_up_late(now, sink);
        for open in std::mem::take(&mut self.open) {
            sink.reply(self.reply(open.sequence, Some(open.sent), now, ProbeOutcome::InFlight));
        }
    }

    /// Waits until something is ready or due.
    fn wait(&self) -> Result<Vec<PollFlags>, LoadError> {
        let due = self.has_more().then(|| self.intended(self.next));
        let deadline = self.open.first().map(|open| self.deadline(open.sequence));
        let now = clock::now();
        let until = due.into_iter().chain(deadline).min().map_or(TICK_NS, |at| at.since(now));
        let span = Duration::from_nanos(until.min(TICK_NS));
        let timeout = Timespec { tv_sec: span.as_secs() as i64, tv_nsec: i64::from(span.subsec_nanos()) };
        let mut watched = self.prober.watched();
        match poll(&mut watched, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(watched.iter().map(PollFd::revents).collect()),
            Err(errno) => Err(LoadError::system("wait for the replies of a probe")(errno)),
        }
    }
}
