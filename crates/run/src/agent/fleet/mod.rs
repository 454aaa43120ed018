//! Several hosts that send one load together and act as one agent.
//!
//! ```text
//!   host 0 ─┐ windows, by their pipes           ┌─► link: intervals, phases
//!   host 1 ─┼───────────► this value ─► merge ──┤
//!   host n ─┘ ◄─ orders: connect, begin, stop   └─► answer: one outcome
//! ```
//! A load is split over hosts as it is over threads (`sysdyno_load::spread`); this process's own agent does everything
//! else. All hosts begin at one instant, which each receives in the time of its own clock; the clocks' offsets are
//! measured before every load. When a host is lost, the link is notified and stops the other hosts, unless enough of them are
//! left to go on without it.

mod hearing;

use self::hearing::{Hearing, Shared, ToLink};
use super::remote::PartNews;
use super::wire::PartSignal;
use super::{
    Agent, AgentAnswer, AgentLink, AgentRequest, Deaf, Generator, LoadGuard, LocalAgent, Notice, PartCall,
    Proceed, RemoteAgent, RouteCall, RouteReport, TuneAnswer, TuneRequest,
};
use crate::clock;
use crate::error::RunError;
use std::cell::RefCell;
use std::time::Duration;
use sysdyno_analyze::tryout::CommandOutcome;
use sysdyno_load::{Control, LoadOutcome, Part, SpreadHost, spread};
use sysdyno_observe::describe_process;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::plan::{LoadPlan, PhaseEnd, SpinChoice};
use sysdyno_record::remote::RemoteHost;
use sysdyno_record::spread::{PartReady, PartReport};
use sysdyno_record::units::{MonoNs, SpanNs};

/// How long nothing is waited for.
const MOMENT: Duration = Duration::from_millis(5);

/// How long the hosts may take to set their threads up, and to connect beyond the deadline for that.
const SET_UP: Duration = Duration::from_secs(60);

/// From the last connection to the first request, at least. Unit: nanoseconds.
const BEGIN_DELAY_NS: u64 = 20_000_000;

/// How many of the longest round trips the order to begin may take.
const ROUND_TRIPS: u64 = 4;

/// How long a load may exceed its plan before a host that does not end it counts as lost.
const OVERTIME: Duration = Duration::from_secs(30);

/// Hosts that send a load together, with the agent of this one.
pub struct Fleet {
    local: LocalAgent,
    hosts: Vec<RemoteAgent>,
    /// A load goes on while at least so many hosts are left.
    least: usize,
}

impl Fleet {
    /// A fleet of these hosts, of which there is at least one. A load stops when one is lost.
    pub fn new(hosts: Vec<RemoteAgent>) -> Fleet {
        Fleet { local: LocalAgent::default(), least: hosts.len(), hosts }
    }

    /// The same, whose loads go on while at least so many hosts are left; the part of a lost one is missing.
    pub fn with_least(self, least: usize) -> Fleet {
        Fleet { least: least.clamp(1, self.hosts.len().max(1)), ..self }
    }

    /// Who the hosts are.
    ///
    /// # Errors
    /// One of them is lost, or does not say what it is.
    pub fn describe_hosts(&mut self) -> Result<Vec<RemoteHost>, RunError> {
        self.hosts.iter_mut().map(|host| host.describe_host(&mut Deaf)).collect()
    }

    /// Sets what may be loaded from now on; each host also applies its own lists.
    pub fn guard(&mut self, guard: LoadGuard) {
        self.local.guard(guard);
    }

    /// Each host's report, with its name, on its way to an address.
    ///
    /// # Errors
    /// One of them is lost, or does not say it.
    pub fn routes(&mut self, call: &RouteCall) -> Result<Vec<(String, RouteReport)>, RunError> {
        let ask = |host: &mut RemoteAgent| Ok((host.host().to_owned(), host.route(call.clone(), &mut Deaf)?));
        self.hosts.iter_mut().map(ask).collect()
    }

    /// The same hosts with their clocks measured again, except lost ones.
    pub fn at_end(&mut self, mut described: Vec<RemoteHost>) -> Vec<RemoteHost> {
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
    fn set_up(&mut self, trial: u32, plan: &LoadPlan) -> Result<Vec<SpreadHost>, RunError> {
        let parts = self.parts(plan);
        let is_target_mine = self.local.is_target_mine();
        for (host, part) in self.hosts.iter_mut().zip(parts) {
            host.set_clock()?;
            let is_crowded = host.is_same_machine() && plan.spin == SpinChoice::Auto;
            let spin = if is_crowded { SpinChoice::Off } else { plan.spin };
            let plan = LoadPlan { spin, ..plan.clone() };
            host.ask_part(PartCall::new(trial, part, plan, is_target_mine))?;
        }
        let span = SET_UP + plan.deadlines.connect.duration();
        let ready = |host: &mut RemoteAgent| {
            let ready = await_report(host, span, |report| match report {
                PartReport::Ready(ready) => Some(bounded(ready)),
                _ => None,
            })?;
            Ok(SpreadHost { name: host.host().to_owned(), clock: host.clock(), ready })
        };
        let hosts = self.hosts.iter_mut().map(ready).collect::<Result<Vec<_>, RunError>>()?;
        self.hosts.iter_mut().try_for_each(|host| host.order(PartSignal::Connect))?;
        for host in &mut self.hosts {
            await_report(host, span, |report| matches!(report, PartReport::Connected).then_some(()))?;
        }
        Ok(hosts)
    }
}

impl Agent for Fleet {
    fn call(&mut self, request: AgentRequest, link: &mut dyn AgentLink) -> Result<AgentAnswer, RunError> {
        let answer = self.local.call(request, &mut Attentive { link, hosts: &mut self.hosts })?;
        Ok(match answer {
            AgentAnswer::Describe(found) => {
                AgentAnswer::Describe(found.into_iter().chain(self.own_processes()).collect())
            }
            other => other,
        })
    }
}

impl Generator for Fleet {
    fn load(
        &mut self,
        trial: u32,
        plan: &LoadPlan,
        link: &mut dyn AgentLink,
    ) -> Result<LoadOutcome, RunError> {
        let hosts = self.set_up(trial, plan)?;
        let trip_ns = hosts.iter().map(|host| host.clock.round_trip_ns).max().unwrap_or(0);
        let delay_ns = BEGIN_DELAY_NS.max(ROUND_TRIPS.saturating_mul(trip_ns));
        let begin = clock::monotonic().after(Duration::from_nanos(delay_ns));
        self.hosts.iter_mut().try_for_each(|host| host.order(PartSignal::Begin(begin)))?;
        let control = Control::new();
        let shared = RefCell::new(Shared { link, failure: None });
        let mut heard = Hearing {
            local: &mut self.local,
            is_over: vec![false; self.hosts.len()],
            left: self.hosts.len(),
            hosts: &mut self.hosts,
            shared: &shared,
            control: &control,
            is_stopped: false,
            next: 0,
            ticked: MonoNs(0),
            give_up: span(plan).map(|span| begin.after(span + OVERTIME)),
            least: self.least,
        };
        let outcome = spread(plan, trial, &control, (hosts, self.least), &mut heard, &mut ToLink(&shared))?;
        heard.await_answers()?;
        match shared.into_inner().failure {
            Some(failure) => Err(failure),
            None => Ok(outcome),
        }
    }

    fn rest(&mut self, span: SpanNs, link: &mut dyn AgentLink) -> Result<(), RunError> {
        self.local.rest(span, &mut Attentive { link, hosts: &mut self.hosts })
    }

    fn command(
        &mut self,
        words: &[String],
        limit: SpanNs,
        link: &mut dyn AgentLink,
    ) -> Result<CommandOutcome, RunError> {
        self.local.command(words, limit, &mut Attentive { link, hosts: &mut self.hosts })
    }

    fn tune(&mut self, request: TuneRequest) -> Result<TuneAnswer, RunError> {
        self.local.tune(request)
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
) -> Result<T, RunError> {
    let end = clock::monotonic().after(span);
    loop {
        let left = Duration::from_nanos(end.since(clock::monotonic()));
        match host.hear(left)? {
            Some(PartNews::Report(report)) => match take(report) {
                Some(taken) => return Ok(taken),
                None => return Err(host.refuse("it sent an unexpected answer")),
            },
            Some(PartNews::Done) => return Err(host.refuse("it stopped before it started")),
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

/// The other side of a request to this host, which keeps an ear on the hosts meanwhile.
struct Attentive<'a> {
    link: &'a mut dyn AgentLink,
    hosts: &'a mut [RemoteAgent],
}

impl AgentLink for Attentive<'_> {
    fn notice(&mut self, notice: Notice) -> Result<(), RunError> {
        self.link.notice(notice)
    }

    fn tick(&mut self) -> Proceed {
        for host in self.hosts.iter_mut().filter(|host| host.lost().is_none()) {
            if host.pass_on(&mut |_| Ok(())).is_err() {
                let reason = host.lost().unwrap_or_default().to_owned();
                let notice = Notice::HostLost { host: host.host().to_owned(), reason, goes_on: false };
                if self.link.notice(notice).is_err() {
                    return Proceed::Stop;
                }
            }
        }
        self.link.tick()
    }
}
