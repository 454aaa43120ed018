//! An agent that serves requests from a pipe: `sysdyno agent --stdio`.
//!
//! ```text
//!   input ─► this thread: pings, calls ─► worker: LocalAgent ─► output
//! ```
//! It lives as long as the other side does. End of input, a silence of [`LEASE`], or an output that nobody reads any more
//! ends it, even in the middle of a request; then the guardians of its trials undo their settings.
//!
//! An agent that is started with a lease also stops its present request after a silence of that length, and a part of a load
//! says why it stopped; the agent itself waits for [`LEASE`]. A process that was stopped and continues notices how late it is.

use super::frame::{FrameDecoder, encode};
use super::wire::{FromAgent, Hello, PROTOCOL, PartSignal, ToAgent};
use super::{Agent, AgentLink, AgentRequest, Generator, LabShares, LoadGuard, LocalAgent, Notice, Proceed};
use crate::clock;
use crate::error::RunError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sysdyno_load::PartOrder;
use sysdyno_observe::{Roots, host_process, identity};
use sysdyno_record::units::SpanNs;

/// A side that has heard nothing of the other for so long takes it for dead.
pub const LEASE: Duration = Duration::from_secs(15);

/// How long a request may still take to end when the other side is gone.
const GRACE: Duration = Duration::from_secs(5);

/// How often a lease is looked at while it lasts.
const LOOKS: u32 = 16;

/// Between two looks for a request while readings are passed on.
const PASS_ON: SpanNs = SpanNs::from_millis(100);

/// Bytes that are read at a time.
const PIECE_BYTES: usize = 64 << 10;

/// Who this process is.
///
/// # Errors
/// The kernel does not report it.
pub(super) fn hello(version: &str) -> Result<Hello, RunError> {
    let identity = identity(&Roots::host())?;
    let (boot_id, time_namespace) = (identity.boot_id, identity.time_namespace);
    let pid = std::process::id();
    let start_ticks = host_process(pid).map_or(0, |own| own.start_ticks);
    Ok(Hello { protocol: PROTOCOL, version: version.to_owned(), boot_id, time_namespace, pid, start_ticks })
}

/// What an agent is started with.
pub struct Serving {
    /// Version of this program.
    pub version: String,
    /// What parts of loads may go to; the user's word comes with each part.
    pub guard: LoadGuard,
    /// Makes who carries out shares of labs here, in the thread that does it.
    pub shares: Box<dyn FnOnce() -> Box<dyn LabShares> + Send>,
    /// How long a part of a load may last without a word of the other side; `None`: as long as the agent lives.
    pub lease: Option<Duration>,
}

/// Serves requests until the other side is gone.
///
/// # Errors
/// What came is not what this version understands, or could not be read.
pub fn serve<O: Write + Send + 'static>(
    mut input: impl Read + AsFd,
    output: O,
    serving: Serving,
) -> Result<(), RunError> {
    let Serving { version, guard, shares, lease } = serving;
    let output = Output {
        sink: Arc::new(Mutex::new(output)),
        is_over: Arc::default(),
        is_stopped: Arc::default(),
        is_expired: Arc::default(),
        lease: lease.unwrap_or(LEASE),
    };
    output.say(&FromAgent::Hello(hello(&version)?));
    let (calls, asked) = mpsc::channel();
    let (orders, ordered) = mpsc::channel();
    let (done, ended) = mpsc::channel::<()>();
    let worker = output.clone();
    std::thread::spawn(move || {
        // Dropped at the end of the thread, however it comes.
        let _done = done;
        work(&asked, LocalAgent::serving(ordered, shares(), guard), &worker);
    });
    let listened = listen(&mut input, Senders { calls, orders }, &output);
    output.is_over.store(true, Ordering::Relaxed);
    // A worker that hangs in a read of the kernel does not keep this process alive.
    let _ = ended.recv_timeout(GRACE);
    listened
}

/// Ways to the worker; it ends when they are gone.
struct Senders {
    calls: Sender<AgentRequest>,
    orders: Sender<PartOrder>,
}

/// Hears the other side until it is gone.
fn listen<O: Write>(
    input: &mut (impl Read + AsFd),
    to_worker: Senders,
    output: &Output<O>,
) -> Result<(), RunError> {
    let (mut decoder, mut piece) = (FrameDecoder::default(), vec![0; PIECE_BYTES]);
    let (mut is_known, mut heard) = (false, clock::monotonic());
    let failed = |source| RunError::Process { operation: "read", object: "the other side".into(), source };
    while !output.is_over.load(Ordering::Relaxed) {
        let is_there = is_readable(input.as_fd(), output.lease / LOOKS).map_err(failed)?;
        let silence = Duration::from_nanos(clock::monotonic().since(heard));
        if silence >= output.lease {
            // Also of an input that has come since: whoever was stopped meanwhile has lost the lease.
            output.is_expired.store(true, Ordering::Relaxed);
        }
        if !is_there && silence >= LEASE {
            break;
        }
        if !is_there {
            continue;
        }
        heard = clock::monotonic();
        let length = input.read(&mut piece).map_err(failed)?;
        if length == 0 {
            break;
        }
        decoder.push(&piece[..length]);
        while let Some(message) = decoder.next_message().map_err(|error| talk(error.to_string()))? {
            let message = serde_json::from_slice(message).map_err(|error| talk(error.to_string()))?;
            match message {
                ToAgent::Hello(hello) if hello.protocol == PROTOCOL => is_known = true,
                _ if !is_known => return Err(talk("it sent an incompatible greeting".into())),
                ToAgent::Hello(_) => return Err(talk("it sent two greetings".into())),
                ToAgent::Ping { sequence } => {
                    output.say(&FromAgent::Pong { sequence, mono_ns: clock::monotonic() });
                }
                // A worker that is gone has said so, here and below.
                ToAgent::Call(call) => {
                    output.is_stopped.store(false, Ordering::Relaxed);
                    output.is_expired.store(false, Ordering::Relaxed);
                    drop(to_worker.calls.send(call));
                }
                ToAgent::Order(PartSignal::Stop) => output.is_stopped.store(true, Ordering::Relaxed),
                ToAgent::Order(PartSignal::Connect) => drop(to_worker.orders.send(PartOrder::Connect)),
                ToAgent::Order(PartSignal::Begin(at)) => drop(to_worker.orders.send(PartOrder::Begin(at))),
            }
        }
    }
    Ok(())
}

fn talk(cause: String) -> RunError {
    RunError::Lost { host: "the other side".into(), cause }
}

/// Whether there is something to read, or an end, within `span`.
pub(super) fn is_readable(file: impl AsFd, span: Duration) -> io::Result<bool> {
    let end = clock::monotonic().after(span);
    loop {
        let left_ns = end.since(clock::monotonic());
        let left =
            Timespec { tv_sec: (left_ns / 1_000_000_000) as i64, tv_nsec: (left_ns % 1_000_000_000) as i64 };
        match poll(&mut [PollFd::new(&file, PollFlags::IN)], Some(&left)) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Does what is asked, one after the other, and passes readings on in between.
fn work<O: Write>(asked: &Receiver<AgentRequest>, mut agent: LocalAgent, output: &Output<O>) {
    let mut link = output.clone();
    while !output.is_over.load(Ordering::Relaxed) {
        match asked.try_recv() {
            Ok(call) => output.reply(&carry_out(&mut agent, call, &mut InCall(output.clone()))),
            Err(TryRecvError::Empty) => {
                // Its errors are those of the link, which notes them itself.
                let _ = agent.rest(PASS_ON, &mut link);
            }
            Err(TryRecvError::Disconnected) => break,
        }
    }
}

fn carry_out(agent: &mut LocalAgent, request: AgentRequest, link: &mut dyn AgentLink) -> FromAgent {
    match agent.call(request, link) {
        Ok(answer) => FromAgent::Reply(Box::new(answer)),
        Err(error) => FromAgent::Failed { text: error.to_string() },
    }
}

/// Where messages go to, from both threads.
struct Output<O> {
    sink: Arc<Mutex<O>>,
    /// Set when nobody listens any more.
    is_over: Arc<AtomicBool>,
    /// Set when the present request is to come to an end.
    is_stopped: Arc<AtomicBool>,
    /// Set when the lease of the present request has run out.
    is_expired: Arc<AtomicBool>,
    lease: Duration,
}

impl<O> Clone for Output<O> {
    fn clone(&self) -> Output<O> {
        Output {
            sink: Arc::clone(&self.sink),
            is_over: Arc::clone(&self.is_over),
            is_stopped: Arc::clone(&self.is_stopped),
            is_expired: Arc::clone(&self.is_expired),
            lease: self.lease,
        }
    }
}

impl<O: Write> Output<O> {
    fn say(&self, message: &FromAgent) {
        if self.try_say(message).is_err() {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }

    /// Says an answer, or that it is too long: a profile of many stacks may be.
    fn reply(&self, message: &FromAgent) {
        match self.try_say(message) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                self.say(&FromAgent::Failed { text: format!("cannot send the answer: {error}") });
            }
            Err(_) => self.is_over.store(true, Ordering::Relaxed),
            Ok(()) => {}
        }
    }

    fn try_say(&self, message: &FromAgent) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        let mut frame = Vec::with_capacity(text.len() + 8);
        let too_long = || io::Error::new(io::ErrorKind::FileTooLarge, "the message is too long");
        encode(&text, &mut frame).ok_or_else(too_long)?;
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        sink.write_all(&frame)?;
        sink.flush()
    }
}

impl<O: Write> AgentLink for Output<O> {
    fn notice(&mut self, notice: Notice) -> Result<(), RunError> {
        match notice {
            Notice::Series(line) => self.say(&FromAgent::Series(line)),
            Notice::Part(report) => self.say(&FromAgent::Part(report)),
            Notice::Profiling => self.say(&FromAgent::Profiling),
            Notice::Phase { .. } | Notice::Interval(..) | Notice::Probe(_) | Notice::HostLost { .. } => {}
        }
        Ok(())
    }

    fn tick(&mut self) -> Proceed {
        if self.is_over.load(Ordering::Relaxed) { Proceed::Stop } else { Proceed::Continue }
    }
}

/// The other side while a request lasts, which may be told to stop.
struct InCall<O>(Output<O>);

impl<O: Write> AgentLink for InCall<O> {
    fn notice(&mut self, notice: Notice) -> Result<(), RunError> {
        self.0.notice(notice)
    }

    fn tick(&mut self) -> Proceed {
        let is_stopped = self.0.is_stopped.load(Ordering::Relaxed) || self.stop_cause().is_some();
        if is_stopped { Proceed::Stop } else { self.0.tick() }
    }

    fn stop_cause(&self) -> Option<String> {
        let is_expired = self.0.lease < LEASE && self.0.is_expired.load(Ordering::Relaxed);
        is_expired.then(|| {
            format!(
                "the lease ran out: nothing was heard of the controller for {} ms",
                self.0.lease.as_millis()
            )
        })
    }
}
