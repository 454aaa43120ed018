//! The client side of an agent that runs in another process, behind a pipe or a tunnel.
//!
//! ```text
//!   heartbeat ─► pings ─┐
//!   this value ─► calls ┴─► process of the agent ─► reader ─► bounded queue ─► this value
//! ```
//! All input is treated as hostile: frames and fields are bounded, readings must be on the time axis and in order, and an
//! agent that breaks a rule counts as lost. So does one that was silent for [`LEASE`]. A lost agent stays lost.

use super::check::ReadingCheck;
use super::frame::{FrameDecoder, encode};
use super::offset::{CLOCK_EXCHANGES, ClockExchange, clock_offset, is_enough, moved};
use super::serve::{LEASE, hello, is_readable};
use super::transport::{AgentConnection, AgentPipes};
use super::wire::{FromAgent, Hello, PROTOCOL, PartSignal, ToAgent};
use super::{
    Agent, AgentAnswer, AgentLink, AgentRequest, ListeningAddress, Notice, PartCall, Proceed, logged,
    processes,
};
use crate::clock;
use crate::error::{RunError, escaped};
use crate::links;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sysdyno_record::profile::Profile;
use sysdyno_record::remote::{ClockOffset, RemoteHost};
use sysdyno_record::series::SeriesLine;
use sysdyno_record::spread::PartReport;
use sysdyno_record::units::MonoNs;

/// How long an agent may take to say hello: a program is uploaded, and started.
const HELLO: Duration = Duration::from_secs(60);

/// Interval between two questions whether to continue.
const TICK: Duration = Duration::from_millis(50);

/// Sequence numbers from here on are those of measurements, below are heartbeats.
const MEASUREMENT: u64 = 1 << 32;

/// Maximum number of queued messages; beyond it, the pipe is not read.
const WAITING_COUNT: usize = 4096;

/// What the reader hands on.
enum Incoming {
    Message { message: Box<FromAgent>, at: MonoNs },
    Lost { cause: String },
}

/// What is heard of an agent that has a part of a load.
#[derive(Debug)]
pub(super) enum PartNews {
    /// It continues; instants are on this host's clock.
    Report(PartReport),
    /// Its request is answered.
    Done,
}

/// An agent in another process.
pub struct RemoteAgent {
    host: String,
    hello: Hello,
    offset: ClockOffset,
    incoming: Receiver<Incoming>,
    input: Arc<Mutex<File>>,
    check: ReadingCheck,
    next_sequence: u64,
    /// Why it is lost, once it is.
    lost: Option<String>,
    /// Dropped with this value, which ends the heartbeat.
    _heartbeat: Sender<()>,
    /// Its process ends when this is dropped.
    connection: AgentConnection,
}

impl RemoteAgent {
    /// Waits for the agent's hello, answers it, and measures its clock.
    ///
    /// # Errors
    /// It did not come up, speaks another version's language, or was lost at once.
    pub fn meet(mut connection: AgentConnection, version: &str) -> Result<RemoteAgent, RunError> {
        let host = connection.host().to_owned();
        let own = hello(version)?;
        let AgentPipes { input, output } = connection.take_pipes();
        let span = connection.heartbeat();
        let (sender, incoming) = mpsc::sync_channel(WAITING_COUNT);
        std::thread::spawn(move || read(output, &sender));
        let theirs = match incoming.recv_timeout(HELLO) {
            Ok(Incoming::Message { message, .. }) => greeting(*message),
            Ok(Incoming::Lost { cause }) => Err(cause),
            Err(_) => Err(format!("it did not respond within {} s", HELLO.as_secs())),
        };
        let theirs = theirs.map_err(|cause| connection.failure(&cause))?;
        let input = Arc::new(Mutex::new(input));
        let (heartbeat, ended) = mpsc::channel();
        let mut agent = RemoteAgent {
            offset: ClockOffset {
                offset_ns: 0,
                uncertainty_ns: 0,
                round_trip_ns: 0,
                exchanges_count: 0,
                is_same_clock: false,
            },
            check: ReadingCheck::default(),
            next_sequence: MEASUREMENT,
            hello: theirs,
            host,
            incoming,
            input: Arc::clone(&input),
            lost: None,
            _heartbeat: heartbeat,
            connection,
        };
        agent.say(&ToAgent::Hello(own.clone()))?;
        std::thread::spawn(move || beat(span, &ended, &input));
        agent.offset = agent.measure_clock()?;
        Ok(agent)
    }

    /// The host, as it was typed.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// What is recorded of it, now that it begins; `link` takes what is read meanwhile.
    ///
    /// # Errors
    /// It is lost, or does not say what it is.
    pub fn describe_host(&mut self, link: &mut dyn AgentLink) -> Result<RemoteHost, RunError> {
        let facts = self.facts(link)?;
        Ok(RemoteHost {
            name: self.host.clone(),
            agent_version: self.hello.version.clone(),
            is_same_machine: self.is_same_machine(),
            clock: self.offset,
            clock_at_end: None,
            facts,
        })
    }

    /// By how much its instants are moved.
    pub fn clock(&self) -> ClockOffset {
        self.offset
    }

    /// Whether it runs under the kernel of this process.
    pub fn is_same_machine(&self) -> bool {
        sysdyno_observe::identity(&sysdyno_observe::Roots::host())
            .is_ok_and(|own| own.boot_id == self.hello.boot_id)
    }

    /// What it reported about itself.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// What names its machine: the boot of the kernel below it.
    pub(super) fn boot_id(&self) -> &str {
        &self.hello.boot_id
    }

    /// Its process, where it runs under the kernel of this process.
    pub(super) fn local_pid(&self) -> Option<u32> {
        self.is_same_machine().then_some(self.hello.pid)
    }

    /// Why it is lost; `None`: it is not.
    pub fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    /// Measures the offset of its clock from this host's.
    ///
    /// Where both read the same clock the offset is 0, and only the round trip was measured.
    ///
    /// # Errors
    /// It is lost.
    pub fn measure_clock(&mut self) -> Result<ClockOffset, RunError> {
        let measured = self.exchange_clocks()?;
        let own = hello("")?;
        let is_same = own.boot_id == self.hello.boot_id && own.time_namespace == self.hello.time_namespace;
        Ok(match is_same {
            true => ClockOffset { offset_ns: 0, uncertainty_ns: 0, is_same_clock: true, ..measured },
            false => measured,
        })
    }

    /// The offset of its clock as exchanges show it, whatever else is known of it.
    fn exchange_clocks(&mut self) -> Result<ClockOffset, RunError> {
        let mut exchanges = Vec::with_capacity(CLOCK_EXCHANGES);
        let begin = clock::monotonic();
        while !is_enough(exchanges.len(), clock::monotonic().since(begin)) {
            self.next_sequence += 1;
            let sequence = self.next_sequence;
            let sent = clock::monotonic();
            self.say(&ToAgent::Ping { sequence })?;
            let (there, arrived) = loop {
                match self.wait(LEASE)? {
                    Some((FromAgent::Pong { sequence: answered, mono_ns }, at)) if answered == sequence => {
                        break (mono_ns, at);
                    }
                    Some((FromAgent::Pong { .. }, _)) => {}
                    Some(_) => return Err(self.lose("it sent an unexpected answer".into())),
                    None => return Err(self.silent()),
                }
            };
            exchanges.push(ClockExchange { sent, there, arrived });
        }
        clock_offset(&exchanges).ok_or(RunError::Answer { request: "ping" })
    }

    /// Hands on the readings that have come, without waiting.
    ///
    /// # Errors
    /// It is lost, or a reading could not be written down.
    pub fn pass_on(
        &mut self,
        take: &mut dyn FnMut(SeriesLine) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        while let Some((message, _)) = self.wait(Duration::ZERO)? {
            match message {
                FromAgent::Series(line) => take(self.placed(line)?)?,
                FromAgent::Pong { .. } => {}
                _ => return Err(self.lose("it sent an unexpected answer".into())),
            }
        }
        Ok(())
    }

    /// Asks for a part of a load, of which [`RemoteAgent::hear`] tells.
    pub(super) fn ask_part(&mut self, call: PartCall) -> Result<(), RunError> {
        self.say(&ToAgent::Call(AgentRequest::Part(Box::new(call))))
    }

    /// Gives an order for the part of a load that it has; instants are on this host's clock.
    pub(super) fn order(&mut self, order: PartSignal) -> Result<(), RunError> {
        let order = match order {
            PartSignal::Begin(at) => PartSignal::Begin(moved(at, self.offset.offset_ns.saturating_neg())),
            PartSignal::Connect | PartSignal::Stop => order,
        };
        self.say(&ToAgent::Order(order))
    }

    /// What is heard of a part of a load within `span`.
    ///
    /// # Errors
    /// The agent is lost, or reports that the request failed.
    pub(super) fn hear(&mut self, span: Duration) -> Result<Option<PartNews>, RunError> {
        let Some((message, _)) = self.wait(span)? else { return Ok(None) };
        match message {
            FromAgent::Part(report) => Ok(Some(PartNews::Report(self.placed_part(report)))),
            FromAgent::Reply(answer) if matches!(*answer, AgentAnswer::Part(())) => Ok(Some(PartNews::Done)),
            FromAgent::Pong { .. } => Ok(None),
            FromAgent::Failed { text } => Err(self.there(&text)),
            _ => Err(self.lose("it sent an unexpected answer".into())),
        }
    }

    /// Measures its clock, and moves its instants by that from now on.
    ///
    /// # Errors
    /// It is lost.
    pub(super) fn set_clock(&mut self) -> Result<ClockOffset, RunError> {
        self.offset = self.measure_clock()?;
        Ok(self.offset)
    }

    /// Declares it lost because its message is impossible.
    pub(super) fn refuse(&mut self, cause: &str) -> RunError {
        self.lose(cause.to_owned())
    }

    /// What it measured on the clock of this host.
    fn placed_part(&self, report: PartReport) -> PartReport {
        let place = |at| moved(at, self.offset.offset_ns);
        match report {
            PartReport::Window(mut window) => {
                window.begin_mono_ns = place(window.begin_mono_ns);
                window.end_mono_ns = place(window.end_mono_ns);
                PartReport::Window(window)
            }
            PartReport::Finished(mut finish) => {
                finish.end_mono_ns = place(finish.end_mono_ns);
                PartReport::Finished(finish)
            }
            other @ (PartReport::Ready(_) | PartReport::Connected | PartReport::Over(_)) => other,
        }
    }

    /// An answer with its instants on the time axis of this host, cut to what a host can have.
    fn placed_answer(&mut self, answer: AgentAnswer) -> Result<AgentAnswer, RunError> {
        match answer {
            AgentAnswer::Profile(profile) => self.placed_profile(profile).map(AgentAnswer::Profile),
            answer => Ok(bounded(answer)),
        }
    }

    /// A profile on the clock of this host, if it may be believed.
    fn placed_profile(&mut self, profile: Profile) -> Result<Profile, RunError> {
        if !profile.is_sound() {
            return Err(self.lose("it sent a profile whose stacks have unknown processes or frames".into()));
        }
        let place = |at| moved(at, self.offset.offset_ns);
        let (begin_mono_ns, end_mono_ns) = (place(profile.begin_mono_ns), place(profile.end_mono_ns));
        Ok(Profile { begin_mono_ns, end_mono_ns, ..profile })
    }

    /// The request failed.
    fn there(&self, text: &str) -> RunError {
        // A message ends with its hint, in a line of its own; any other end of a line is somebody else's.
        let (cause, hint) =
            text.split_once("\nhint: ").map_or((text, None), |(cause, hint)| (cause, Some(hint)));
        let hint = hint.map_or(String::new(), |hint| format!("\nhint: {}", escaped(hint, 500)));
        RunError::There { host: self.host.clone(), cause: escaped(cause, 500) + &hint }
    }

    /// The next message and when it came; `None`: there was none within `span`.
    fn wait(&mut self, span: Duration) -> Result<Option<(FromAgent, MonoNs)>, RunError> {
        if let Some(cause) = &self.lost {
            return Err(RunError::Lost { host: self.host.clone(), cause: cause.clone() });
        }
        match self.incoming.recv_timeout(span) {
            Ok(Incoming::Message { message, at }) => Ok(Some((*message, at))),
            Ok(Incoming::Lost { cause }) => Err(self.lose(cause)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.lose("its process exited".into())),
        }
    }

    /// A reading on the clock of this host, if it may be believed.
    fn placed(&mut self, line: SeriesLine) -> Result<SeriesLine, RunError> {
        let line = match line {
            SeriesLine::Row(mut row) => {
                row.begin_mono_ns = moved(row.begin_mono_ns, self.offset.offset_ns);
                row.end_mono_ns = moved(row.end_mono_ns, self.offset.offset_ns);
                let place = |at| moved(at, self.offset.offset_ns);
                row.logged = logged::placed(std::mem::take(&mut row.logged), place);
                SeriesLine::Row(row)
            }
            SeriesLine::Header { columns, came } => {
                SeriesLine::Header { columns, came: processes::bounded(came) }
            }
        };
        let latest = clock::monotonic().after(Duration::from_nanos(self.offset.uncertainty_ns));
        match self.check.check(&line, latest) {
            Ok(()) => Ok(line),
            Err(cause) => Err(self.lose(cause.into())),
        }
    }

    fn silent(&mut self) -> RunError {
        self.lose(format!("it did not respond for {} s", LEASE.as_secs()))
    }

    /// Takes it for lost, and ends its process.
    fn lose(&mut self, cause: String) -> RunError {
        let cause = self.lost.get_or_insert(cause).clone();
        let said = self.connection.end();
        match said {
            // The process is at the other end of the tunnel, which knows more.
            Some(said) if self.connection.is_tunnel() => self.lost = Some(said),
            Some(said) if !cause.contains("silent") => self.lost = Some(format!("{cause}: {said}")),
            _ => {}
        }
        RunError::Lost { host: self.host.clone(), cause: self.lost.clone().unwrap_or_default() }
    }

    fn say(&mut self, message: &ToAgent) -> Result<(), RunError> {
        say(&self.input, message).map_err(|error| self.lose(format!("it does not listen: {error}")))
    }
}

impl Agent for RemoteAgent {
    fn call(&mut self, request: AgentRequest, link: &mut dyn AgentLink) -> Result<AgentAnswer, RunError> {
        self.say(&ToAgent::Call(request))?;
        let mut is_told = false;
        loop {
            if link.tick() == Proceed::Stop && !is_told {
                is_told = true;
                self.say(&ToAgent::Order(PartSignal::Stop))?;
            }
            let Some((message, _)) = self.wait(TICK)? else { continue };
            match message {
                FromAgent::Series(line) => link.notice(Notice::Series(self.placed(line)?))?,
                FromAgent::Pong { .. } => {}
                FromAgent::Profiling => link.notice(Notice::Profiling)?,
                FromAgent::Failed { text } => return Err(self.there(&text)),
                FromAgent::Reply(answer) => return self.placed_answer(*answer),
                FromAgent::Hello(_) => return Err(self.lose("it sent two greetings".into())),
                FromAgent::Part(_) => return Err(self.lose("it sent an unexpected answer".into())),
            }
        }
    }
}

/// An answer, cut to what a host can have.
fn bounded(answer: AgentAnswer) -> AgentAnswer {
    match answer {
        AgentAnswer::Describe(found) => AgentAnswer::Describe(processes::bounded(found)),
        AgentAnswer::Route(report) => AgentAnswer::Route(report.bounded()),
        AgentAnswer::Links(aggregates) => AgentAnswer::Links(links::bounded(aggregates)),
        AgentAnswer::Survey(survey) => AgentAnswer::Survey(survey.bounded()),
        AgentAnswer::Listening(listening) => AgentAnswer::Listening(ListeningAddress::bounded(listening)),
        other @ (AgentAnswer::Facts(_)
        | AgentAnswer::Profile(_)
        | AgentAnswer::StartSampling(())
        | AgentAnswer::Read(())
        | AgentAnswer::StopSampling(())
        | AgentAnswer::Part(())
        | AgentAnswer::Share(_)) => other,
    }
}

/// What an agent's first message must be.
fn greeting(message: FromAgent) -> Result<Hello, String> {
    match message {
        FromAgent::Hello(hello) if hello.protocol == PROTOCOL => Ok(hello),
        FromAgent::Hello(hello) => Err(format!(
            "it is version '{}' with protocol {}, but this one uses protocol {PROTOCOL}",
            hello.version.chars().take(40).collect::<String>().escape_debug(),
            hello.protocol
        )),
        _ => Err("it did not send a greeting".into()),
    }
}

fn say(input: &Mutex<File>, message: &ToAgent) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let mut frame = Vec::with_capacity(text.len() + 8);
    encode(&text, &mut frame).ok_or_else(|| io::Error::other("the message is too long"))?;
    input.lock().unwrap_or_else(PoisonError::into_inner).write_all(&frame)
}

/// Says again and again that this side lives, until it does not.
fn beat(span: Duration, ended: &Receiver<()>, input: &Mutex<File>) {
    let mut sequence = 0;
    while ended.recv_timeout(span) == Err(RecvTimeoutError::Timeout) {
        sequence += 1;
        if say(input, &ToAgent::Ping { sequence }).is_err() {
            break;
        }
    }
}

/// Reads messages until there are no more, and returns the reason.
fn read(mut output: File, sender: &SyncSender<Incoming>) {
    let cause = match read_on(&mut output, sender) {
        Ok(()) => return,
        Err(cause) => cause,
    };
    // Whoever waited for it may have gone.
    let _ = sender.send(Incoming::Lost { cause });
}

/// As [`read`]; `Ok`: nobody listens any more.
fn read_on(output: &mut File, sender: &SyncSender<Incoming>) -> Result<(), String> {
    let (mut decoder, mut piece, mut is_met) = (FrameDecoder::default(), vec![0; 64 << 10], false);
    loop {
        let span = if is_met { LEASE } else { HELLO };
        let is_readable = is_readable(&*output, span).map_err(|error| error.to_string())?;
        if !is_readable {
            return Err(format!("it did not respond for {} s", span.as_secs()));
        }
        let length = output.read(&mut piece).map_err(|error| error.to_string())?;
        let at = clock::monotonic();
        if length == 0 {
            return Err("its process exited".into());
        }
        is_met = true;
        decoder.push(&piece[..length]);
        while let Some(message) = decoder.next_message().map_err(|error| error.to_string())? {
            let message = serde_json::from_slice(message)
                .map_err(|_| "it sent a message that this version does not know".to_owned())?;
            if sender.send(Incoming::Message { message: Box::new(message), at }).is_err() {
                return Ok(());
            }
        }
    }
}
