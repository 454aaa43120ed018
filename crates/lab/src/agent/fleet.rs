//! Several hosts that send one load together, asked as if they were one agent.
//!
//! ```text
//!   host 0 ─┐ windows, by their pipes           ┌─► link: intervals, phases
//!   host 1 ─┼───────────► this value ─► merge ──┤
//!   host n ─┘ ◄─ orders: connect, begin, stop   └─► answer: one outcome
//! ```
//! A load is split over the hosts as it is over threads (`sysdyno_load::spread`); everything else is done by the agent of
//! this process. All begin at one instant: each is told it on its own clock, whose offset is measured before every load.
//! A host that is gone is told to the link, which stops the others.

use super::remote::Heard;
use super::wire::Order;
use super::{Agent, Answer, Link, LocalAgent, Notice, PartCall, Proceed, RemoteAgent, Request};
use crate::error::LabError;
use crate::execute::clock;
use std::cell::RefCell;
use std::time::Duration;
use sysdyno_load::{Control, Generators, Part, Said, Sink, SpreadHost, spread};
use sysdyno_observe::describe_process;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::load::{Interval, LatencySet};
use sysdyno_record::plan::{LoadPlan, PhaseEnd, PhaseKind, SpinChoice};
use sysdyno_record::spread::{GeneratorHost, PartReady, PartReport};
use sysdyno_record::units::MonoNs;

/// Between two questions whether to go on. Unit: nanoseconds.
const TICK_NS: u64 = 50_000_000;

/// How long nothing is waited for.
const MOMENT: Duration = Duration::from_millis(5);

/// How long the hosts may take to set their threads up, and to connect beyond the deadline for that.
const SET_UP: Duration = Duration::from_secs(60);

/// From the last connection to the first request, at least. Unit: nanoseconds.
const BEGIN_DELAY_NS: u64 = 20_000_000;

/// How many of the longest round trips the order to begin may take.
const ROUND_TRIPS: u64 = 4;

/// How long a load may go on beyond its plan before a host that does not end it is taken for lost.
const OVERTIME: Duration = Duration::from_secs(30);

/// Hosts that send a load together, with the agent of this one.
pub struct Fleet {
    local: LocalAgent,
    hosts: Vec<RemoteAgent>,
}

impl Fleet {
    /// A fleet of these hosts, of which there is at least one.
    pub fn new(hosts: Vec<RemoteAgent>) -> Fleet {
        Fleet { local: LocalAgent::default(), hosts }
    }

    /// Who the hosts are.
    ///
    /// # Errors
    /// One of them is lost, or does not say what it is.
    pub fn describe_hosts(&mut self) -> Result<Vec<GeneratorHost>, LabError> {
        let describe = |host: &mut RemoteAgent| {
            let Answer::Facts(facts) = host.call(Request::Facts, &mut Deaf)? else {
                return Err(LabError::Answer { request: "facts" });
            };
            Ok(GeneratorHost {
                name: host.host().to_owned(),
                agent_version: host.version().to_owned(),
                is_same_machine: host.is_same_machine(),
                clock: host.clock(),
                clock_at_end: None,
                facts,
            })
        };
        self.hosts.iter_mut().map(describe).collect()
    }

    /// The same with their clocks measured again, as far as they are not lost.
    pub fn at_end(&mut self, mut described: Vec<GeneratorHost>) -> Vec<GeneratorHost> {
        for (host, told) in self.hosts.iter_mut().zip(&mut described) {
            told.clock_at_end = host.measure_clock().ok();
        }
        described
    }

    /// The processes of the hosts that run on this machine.
    fn own_processes(&self) -> Vec<WatchedProcess> {
        let pids = self.hosts.iter().filter_map(RemoteAgent::local_pid);
        pids.filter_map(|pid| describe_process(pid, ProcessRole::Generator).ok()).collect()
    }

    /// Which part of a plan each host has.
    fn parts(&self, plan: &LoadPlan) -> Vec<Part> {
        let hosts = self.hosts.len() as u32;
        let threads_of = |host: u32| (host..plan.threads).step_by(hosts as usize).count() as u32;
        let is_beside =
            |one: u32, other: u32| self.hosts[one as usize].boot_id() == self.hosts[other as usize].boot_id();
        let part = |host: u32| Part {
            host,
            hosts,
            threads_before: (0..host).filter(|other| is_beside(host, *other)).map(threads_of).sum(),
            machine_threads: (0..hosts).filter(|other| is_beside(host, *other)).map(threads_of).sum(),
        };
        (0..hosts).map(part).collect()
    }

    /// Has all hosts set up and connected.
    fn set_up(&mut self, trial: u32, plan: &LoadPlan) -> Result<Vec<SpreadHost>, LabError> {
        let parts = self.parts(plan);
        for (host, part) in self.hosts.iter_mut().zip(parts) {
            host.set_clock()?;
            let is_crowded = host.is_same_machine() && plan.spin == SpinChoice::Auto;
            let spin = if is_crowded { SpinChoice::Off } else { plan.spin };
            let plan = LoadPlan { spin, ..plan.clone() };
            host.ask(Request::Part(Box::new(PartCall::new(trial, part, plan))))?;
        }
        let span = SET_UP + plan.deadlines.connect.duration();
        let ready = |host: &mut RemoteAgent| {
            let ready = await_report(host, span, |report| match report {
                PartReport::Ready(ready) => Some(bounded(ready)),
                _ => None,
            })?;
            Ok(SpreadHost { name: host.host().to_owned(), clock: host.clock(), ready })
        };
        let hosts = self.hosts.iter_mut().map(ready).collect::<Result<Vec<_>, LabError>>()?;
        self.hosts.iter_mut().try_for_each(|host| host.order(Order::Connect))?;
        for host in &mut self.hosts {
            await_report(host, span, |report| matches!(report, PartReport::Connected).then_some(()))?;
        }
        Ok(hosts)
    }

    fn load(&mut self, trial: u32, plan: &LoadPlan, link: &mut dyn Link) -> Result<Answer, LabError> {
        let hosts = self.set_up(trial, plan)?;
        let trip_ns = hosts.iter().map(|host| host.clock.round_trip_ns).max().unwrap_or(0);
        let delay_ns = BEGIN_DELAY_NS.max(ROUND_TRIPS.saturating_mul(trip_ns));
        let begin = clock::monotonic().after(Duration::from_nanos(delay_ns));
        self.hosts.iter_mut().try_for_each(|host| host.order(Order::Begin(begin)))?;
        let control = Control::new();
        let shared = RefCell::new(Shared { link, failure: None });
        let mut heard = Hearing {
            local: &mut self.local,
            is_over: vec![false; self.hosts.len()],
            hosts: &mut self.hosts,
            shared: &shared,
            control: &control,
            is_stopped: false,
            next: 0,
            ticked: MonoNs(0),
            give_up: span(plan).map(|span| begin.after(span + OVERTIME)),
        };
        let outcome = spread(plan, trial, &control, hosts, &mut heard, &mut ToLink(&shared))?;
        heard.await_answers()?;
        match shared.into_inner().failure {
            Some(failure) => Err(failure),
            None => Ok(Answer::Loaded(Box::new(outcome))),
        }
    }
}

impl Agent for Fleet {
    fn call(&mut self, request: Request, link: &mut dyn Link) -> Result<Answer, LabError> {
        match request {
            Request::Load { trial, plan } => self.load(trial, &plan, link),
            Request::Describe { .. } => match self.local.call(request, link)? {
                Answer::Processes(found) => {
                    Ok(Answer::Processes(found.into_iter().chain(self.own_processes()).collect()))
                }
                other => Ok(other),
            },
            other => self.local.call(other, &mut Attentive { link, hosts: &mut self.hosts }),
        }
    }
}

/// Until when a load lasts after its begin; `None`: no time ends it.
fn span(plan: &LoadPlan) -> Option<Duration> {
    let spans = plan.phases.iter().map(|phase| match phase.end {
        PhaseEnd::After(span) => Some(span.duration()),
        PhaseEnd::Requests(_) => None,
    });
    let sending: Duration = spans.sum::<Option<Duration>>()?;
    Some(sending + plan.deadlines.drain.duration() + plan.deadlines.total.duration())
}

/// Waits for a report of a host.
fn await_report<T>(
    host: &mut RemoteAgent,
    span: Duration,
    take: impl Fn(PartReport) -> Option<T>,
) -> Result<T, LabError> {
    let end = clock::monotonic().after(span);
    loop {
        let left = Duration::from_nanos(end.since(clock::monotonic()));
        match host.hear(left)? {
            Some(Heard::Report(report)) => match take(report) {
                Some(taken) => return Ok(taken),
                None => return Err(host.refuse("it answered what was not asked")),
            },
            Some(Heard::Done) => return Err(host.refuse("it ended before it began")),
            None if left.is_zero() => {
                return Err(host.refuse(&format!("it was not ready within {} s", span.as_secs())));
            }
            None => {}
        }
    }
}

/// What a host says that it sends with, as far as a host can have it.
fn bounded(mut ready: PartReady) -> PartReady {
    let short = |text: &str| text.chars().filter(|letter| !letter.is_control()).take(200).collect::<String>();
    ready.cpus.truncate(8192);
    ready.io = short(&ready.io);
    ready.io_fallback = ready.io_fallback.as_deref().map(short);
    ready
}

/// What merging and hearing have in common.
struct Shared<'a> {
    link: &'a mut dyn Link,
    /// Something could not be written down.
    failure: Option<LabError>,
}

impl Shared<'_> {
    fn notice(&mut self, notice: Notice) {
        if self.failure.is_none() {
            self.failure = self.link.notice(notice).err();
        }
    }
}

/// Passes on what was merged.
struct ToLink<'a, 'b>(&'a RefCell<Shared<'b>>);

impl Sink for ToLink<'_, '_> {
    fn phase(&mut self, begin: MonoNs, phase: PhaseKind, rate_hz: Option<f64>) {
        self.0.borrow_mut().notice(Notice::Phase { begin, phase, rate_hz });
    }

    fn interval(&mut self, interval: Interval, latency: &LatencySet) {
        self.0.borrow_mut().notice(Notice::Interval(Box::new(interval), Box::new(latency.clone())));
    }
}

/// Hears the hosts while they send, and this host's sampler beside them.
struct Hearing<'a, 'b> {
    local: &'a mut LocalAgent,
    hosts: &'a mut [RemoteAgent],
    /// Hosts that have answered, or are lost.
    is_over: Vec<bool>,
    shared: &'a RefCell<Shared<'b>>,
    control: &'a Control,
    /// Whether the hosts were told to stop.
    is_stopped: bool,
    /// The host that is heard next, in turn.
    next: usize,
    ticked: MonoNs,
    /// When hosts that have not ended are taken for lost.
    give_up: Option<MonoNs>,
}

impl Hearing<'_, '_> {
    /// What there is to be done beside hearing.
    fn tick(&mut self) {
        let now = clock::monotonic();
        if now.since(self.ticked) < TICK_NS {
            return;
        }
        self.ticked = now;
        let mut shared = self.shared.borrow_mut();
        let passed = self.local.pass_on(&mut *shared.link);
        shared.failure = shared.failure.take().or(passed.err());
        if shared.link.tick() == Proceed::Stop || shared.failure.is_some() {
            self.control.stop();
        }
        drop(shared);
        if self.control.is_stopped() && !self.is_stopped {
            self.is_stopped = true;
            self.give_up = Some(now.after(OVERTIME));
            // One that cannot be told is found lost when it is heard.
            self.hosts.iter_mut().for_each(|host| drop(host.order(Order::Stop)));
        }
    }

    /// A host is gone.
    fn lose(&mut self, host: usize, error: &LabError) -> Said {
        self.is_over[host] = true;
        let agent = &self.hosts[host];
        let reason = match agent.lost() {
            Some(reason) => reason.to_owned(),
            None => error.to_string(),
        };
        let notice = Notice::HostLost { host: agent.host().to_owned(), reason: reason.clone() };
        self.shared.borrow_mut().notice(notice);
        Said::Lost(reason)
    }

    /// What one host says within a moment, or at once if there is something.
    fn hear(&mut self, host: usize, span: Duration) -> Option<(usize, Said)> {
        if self.is_over[host] {
            return None;
        }
        match self.hosts[host].hear(span) {
            Ok(Some(Heard::Report(report))) => Some((host, Said::Report(report))),
            Ok(Some(Heard::Done)) => {
                self.is_over[host] = true;
                // Of no account if its part is over, as it should be.
                Some((host, Said::Lost("it ended before its part was over".into())))
            }
            Ok(None) => None,
            Err(error) => Some((host, self.lose(host, &error))),
        }
    }

    /// Takes those for lost that should have ended long ago.
    fn overdue(&mut self) -> Option<(usize, Said)> {
        let is_late = self.give_up.is_some_and(|end| clock::monotonic() > end);
        let host = self.is_over.iter().position(|is_over| !is_over).filter(|_| is_late)?;
        let error = self.hosts[host].refuse("it did not come to an end");
        Some((host, self.lose(host, &error)))
    }

    /// Waits until each host has answered, so that it can be asked again.
    fn await_answers(&mut self) -> Result<(), LabError> {
        let end = clock::monotonic().after(OVERTIME);
        for host in 0..self.hosts.len() {
            while !self.is_over[host] {
                if self.hear(host, MOMENT).is_none() && clock::monotonic() > end {
                    let error = self.hosts[host].refuse("it did not come to an end");
                    self.lose(host, &error);
                }
                self.tick();
            }
        }
        Ok(())
    }
}

impl Generators for Hearing<'_, '_> {
    fn next(&mut self) -> Option<(usize, Said)> {
        self.tick();
        let count = self.hosts.len();
        for _ in 0..count {
            let host = self.next;
            self.next = (host + 1) % count;
            if let Some(said) = self.hear(host, Duration::ZERO) {
                return Some(said);
            }
        }
        if let Some(late) = self.overdue() {
            return Some(late);
        }
        let living = (0..count).find(|host| !self.is_over[*host])?;
        self.hear(living, MOMENT)
    }

    fn refuse(&mut self, host: usize, cause: &str) {
        let error = self.hosts[host].refuse(cause);
        self.lose(host, &error);
    }
}

/// The other side of a request to this host, which keeps an ear on the hosts meanwhile.
struct Attentive<'a> {
    link: &'a mut dyn Link,
    hosts: &'a mut [RemoteAgent],
}

impl Link for Attentive<'_> {
    fn notice(&mut self, notice: Notice) -> Result<(), LabError> {
        self.link.notice(notice)
    }

    fn tick(&mut self) -> Proceed {
        for host in self.hosts.iter_mut().filter(|host| host.lost().is_none()) {
            if host.pass_on(&mut |_| Ok(())).is_err() {
                let reason = host.lost().unwrap_or_default().to_owned();
                let notice = Notice::HostLost { host: host.host().to_owned(), reason };
                if self.link.notice(notice).is_err() {
                    return Proceed::Stop;
                }
            }
        }
        self.link.tick()
    }
}

/// Hears nothing of what is read meanwhile.
struct Deaf;

impl Link for Deaf {
    fn notice(&mut self, _: Notice) -> Result<(), LabError> {
        Ok(())
    }

    fn tick(&mut self) -> Proceed {
        Proceed::Continue
    }
}
