//! The HTTP probe: the request of a load, on a separate connection.
//!
//! One connection is kept between operations, unless the load opens one per request. While it is busy, or after it broke,
//! the next operation opens a new one, and that time counts: an outsider would wait for it too.
//!
//! ```text
//!   Connecting ─► Sending ─► Waiting ─► Idle (one at most)
//!       └────────────┴──────────┴─────► closed
//! ```

use super::prober::{ProbeEnd, Prober};
use super::stream;
use crate::clock;
use crate::error::LoadError;
use crate::failure;
use crate::protocol::Progress;
use crate::protocol::http1::{ResponseParser, Rules};
use crate::workload::values;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags};
use sysdyno_record::load::FailureClass;
use sysdyno_record::plan::{Endpoint, KeepAlive, LoadPlan};
use sysdyno_record::probe::ProbeOutcome;
use sysdyno_record::units::MonoNs;

/// Bytes that one receive takes at most.
const BUFFER_BYTES: usize = 64 * 1024;

/// Receives in a row, so that a server that never stops sending cannot keep the others waiting.
const MAX_RECEIVES_COUNT: usize = 64;

/// Connections with requests on them, and the kept one.
pub(super) struct HttpProber {
    endpoint: Endpoint,
    rules: Rules,
    request: Box<[u8]>,
    is_kept: bool,
    connections: Vec<Connection>,
    buffer: Box<[u8]>,
}

struct Connection {
    fd: OwnedFd,
    state: State,
    sequence: u64,
    parser: ResponseParser,
    /// When the connection of this operation was begun.
    since: MonoNs,
    connect_ns: Option<u64>,
}

enum State {
    Connecting,
    /// So many bytes of the request are in the socket.
    Sending(usize),
    Waiting,
    Idle,
    Closed,
}

/// What the bytes and errors of a connection came to.
enum Step {
    More,
    Done { keep_alive: bool, objection: Option<FailureClass> },
    Failed(FailureClass),
}

impl HttpProber {
    /// # Errors
    /// The request would not be valid HTTP.
    pub(super) fn new(plan: &LoadPlan) -> Result<HttpProber, LoadError> {
        // What other responses looked like is not known here.
        let mut own = plan.clone();
        own.validators.same_body = false;
        let bytes = values::likeness(&own)?;
        let is_kept = own.keep_alive != KeepAlive::Requests(1);
        Ok(HttpProber {
            rules: Rules::new(&own),
            request: if is_kept { bytes.keep } else { bytes.last },
            is_kept,
            endpoint: own.target.endpoint,
            connections: Vec::new(),
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
        })
    }

    /// Goes on with a connection as far as it goes; its operation may end.
    fn go_on(&mut self, place: usize, ended: &mut Vec<ProbeEnd>) {
        let step = self.step(place);
        let at = clock::now();
        let has_idle = self.connections.iter().any(|connection| matches!(connection.state, State::Idle));
        let connection = &mut self.connections[place];
        let (outcome, keep_alive) = match step {
            Step::More => return,
            Step::Done { keep_alive, objection } => {
                (objection.map_or(ProbeOutcome::Received, ProbeOutcome::Failed), keep_alive)
            }
            Step::Failed(class) => (ProbeOutcome::Failed(class), false),
        };
        let (sequence, connect_ns) = (connection.sequence, connection.connect_ns);
        ended.push(ProbeEnd { sequence, at, outcome, connect_ns, status: connection.parser.status() });
        connection.state = if keep_alive && self.is_kept && !has_idle { State::Idle } else { State::Closed };
    }

    fn forget_closed(&mut self) {
        self.connections.retain(|connection| !matches!(connection.state, State::Closed));
    }

    fn step(&mut self, place: usize) -> Step {
        let HttpProber { connections, request, rules, buffer, .. } = self;
        let connection = &mut connections[place];
        if matches!(connection.state, State::Connecting) {
            if let Err(errno) = stream::dialed(&connection.fd) {
                return Step::Failed(failure::of_connect(errno));
            }
            connection.connect_ns = Some(clock::now().since(connection.since));
            connection.state = State::Sending(0);
        }
        if let State::Sending(sent) = connection.state {
            match send(&connection.fd, request, sent) {
                Ok(sent) if sent == request.len() => connection.state = State::Waiting,
                Ok(sent) => connection.state = State::Sending(sent),
                Err(errno) => return Step::Failed(failure::of_exchange(errno)),
            }
        }
        connection.receive(buffer, rules)
    }
}

/// Sends what is left of the request; how much of it is in the socket then.
fn send(fd: &OwnedFd, request: &[u8], mut sent: usize) -> Result<usize, Errno> {
    while sent < request.len() {
        match net::send(fd, &request[sent..], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(length) => sent += length,
            Err(Errno::AGAIN) => break,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(sent)
}

impl Connection {
    fn receive(&mut self, buffer: &mut [u8], rules: &Rules) -> Step {
        for _ in 0..MAX_RECEIVES_COUNT {
            let progress = match net::recv(&self.fd, &mut *buffer, RecvFlags::DONTWAIT) {
                Ok((0, _)) => match self.parser.end(rules) {
                    Progress::More => Progress::Failed(FailureClass::EofBeforeHead),
                    progress => progress,
                },
                Ok((length, _)) => self.parser.feed(&buffer[..length], rules),
                Err(Errno::AGAIN) => return Step::More,
                Err(Errno::INTR) => Progress::More,
                Err(errno) => return Step::Failed(failure::of_exchange(errno)),
            };
            match progress {
                Progress::More => {}
                Progress::Failed(class) => return Step::Failed(class),
                Progress::Done(response) => {
                    let is_sent = matches!(self.state, State::Waiting);
                    let keep_alive = response.keep_alive && is_sent;
                    return Step::Done { keep_alive, objection: response.objection };
                }
            }
        }
        Step::More
    }
}

impl Prober for HttpProber {
    fn begin(&mut self, sequence: u64, ended: &mut Vec<ProbeEnd>) {
        let since = clock::now();
        let is_idle = |connection: &Connection| matches!(connection.state, State::Idle);
        if let Some(place) = self.connections.iter().position(is_idle) {
            let connection = &mut self.connections[place];
            connection.parser.reset();
            (connection.sequence, connection.since, connection.connect_ns) = (sequence, since, None);
            connection.state = State::Sending(0);
            self.go_on(place, ended);
            return self.forget_closed();
        }
        match stream::dial(&self.endpoint) {
            Ok(dialed) => {
                let parser = ResponseParser::default();
                let state = State::Connecting;
                self.connections.push(Connection {
                    fd: dialed.fd,
                    state,
                    sequence,
                    parser,
                    since,
                    connect_ns: None,
                });
                if !dialed.is_connecting {
                    self.go_on(self.connections.len() - 1, ended);
                    self.forget_closed();
                }
            }
            Err(errno) => {
                let outcome = ProbeOutcome::Failed(failure::of_connect(errno));
                ended.push(ProbeEnd { sequence, at: clock::now(), outcome, connect_ns: None, status: None });
            }
        }
    }

    fn watched(&self) -> Vec<PollFd<'_>> {
        let flags = |connection: &Connection| match connection.state {
            State::Connecting => PollFlags::OUT,
            State::Sending(_) => PollFlags::OUT | PollFlags::IN,
            State::Waiting | State::Idle | State::Closed => PollFlags::IN,
        };
        self.connections.iter().map(|connection| PollFd::new(&connection.fd, flags(connection))).collect()
    }

    fn advance(&mut self, ready: &[PollFlags], ended: &mut Vec<ProbeEnd>) {
        for (place, flags) in ready.iter().enumerate().take(self.connections.len()) {
            if flags.is_empty() {
                continue;
            }
            if matches!(self.connections[place].state, State::Idle) {
                // Closed by the server, or bytes that nobody asked for.
                self.connections[place].state = State::Closed;
            } else {
                self.go_on(place, ended);
            }
        }
        self.forget_closed();
    }

    fn abandon(&mut self, sequence: u64) {
        self.connections
            .retain(|connection| connection.sequence != sequence || matches!(connection.state, State::Idle));
    }
}
