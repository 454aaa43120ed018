//! The readiness back end: epoll, edge-triggered, registered once per connection.
//!
//! One `epoll_ctl` when a socket is created and none after. Edges are safe because a socket is read until a short read: a
//! read that does not fill the buffer has drained the socket, and later data is a new edge. If the peer closed before the
//! read, `EPOLLRDHUP` in the same event says so, and reading continues to the end. Waiting uses `epoll_pwait2`, whose
//! timeout is in nanoseconds; before Linux 5.11 it is in milliseconds, which the engine notices when it measures its timer.

use super::origin::{Ends, header};
use super::route::NO_CONGESTION_CONTROL;
use super::{Completion, ConnectionRoute, Gather, Message, Send, Slot, Submitted, TICK, Transport};
use crate::error::LoadError;
use crate::sys::bind::bind_address;
use crate::sys::epoll::{self as sys, Event};
use crate::sys::{ports, stamp};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::time::Duration;
use sysdyno_record::plan::Endpoint;

/// Bytes that one receive takes at most.
const RECEIVE_BUFFER_BYTES: usize = 64 * 1024;

/// Events that one wait takes at most.
const EVENTS_COUNT: usize = 256;

/// Stands for the timer among the slots.
const TICK_SLOT: Slot = Slot::MAX;

/// The epoll back end of one thread.
pub(crate) struct Epoll {
    epoll: OwnedFd,
    route: ConnectionRoute,
    sockets: Vec<Socket>,
    events: Vec<Event>,
    next_event: usize,
    /// The event that is being worked off, with the flags that are left of it.
    current: Current,
    buffer: Box<[u8]>,
    stamp_ns: u64,
    /// The timer behind the ticks; `None` inside if there cannot be one.
    ticks: Option<Option<OwnedFd>>,
    /// Keeps the kernel stamping.
    _stamping: Option<OwnedFd>,
}

#[derive(Default)]
struct Socket {
    fd: Option<OwnedFd>,
    /// Tells events of this socket from those of its predecessors in the slot.
    generation: u32,
    is_connecting: bool,
    is_send_partial: bool,
    /// Bytes of the engine's own making that are not all in the socket, and how many of them are.
    outgoing: Vec<u8>,
    outgoing_sent: usize,
}

impl Socket {
    /// Sends what is left of the outgoing bytes.
    fn flush(&mut self) -> Send {
        let Some(fd) = &self.fd else { return Send::Failed(Errno::NOTCONN) };
        while self.outgoing_sent < self.outgoing.len() {
            let rest = &self.outgoing[self.outgoing_sent..];
            match net::send(fd, rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(length) => self.outgoing_sent += length,
                Err(Errno::AGAIN) => {
                    self.is_send_partial = true;
                    return Send::Pending;
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Send::Failed(errno),
            }
        }
        self.drop_outgoing();
        Send::Complete
    }

    fn drop_outgoing(&mut self) {
        self.outgoing.clear();
        self.outgoing_sent = 0;
    }

    /// There is room again for the rest of a send.
    fn send_on(&mut self) -> Option<Completion> {
        self.is_send_partial = false;
        if self.outgoing.is_empty() {
            return Some(Completion::Writable);
        }
        match self.flush() {
            Send::Complete => Some(Completion::Sent),
            Send::Failed(errno) => Some(Completion::Failed(errno)),
            Send::Partial(_) | Send::Pending | Send::Refused(_) => None,
        }
    }
}

#[derive(Clone, Copy)]
struct Current {
    slot: Slot,
    generation: u32,
    flags: EventFlags,
}

impl Epoll {
    fn open(&mut self, slot: Slot) -> Result<Submitted, Errno> {
        let fd = make_socket(&self.route)?;
        if let Some(source) = self.route.origin.source(slot) {
            bind_address(fd.as_fd(), source)?;
        }
        let is_connecting = start_connecting(&fd, &self.route.endpoint)?;
        if !is_connecting {
            greet(&fd, &self.route)?;
        }
        let socket = &mut self.sockets[slot as usize];
        socket.generation = socket.generation.wrapping_add(1);
        let data = EventData::new_u64(u64::from(socket.generation) << 32 | u64::from(slot));
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &fd, data, flags)?;
        socket.fd = Some(fd);
        socket.is_connecting = is_connecting;
        socket.is_send_partial = false;
        socket.drop_outgoing();
        Ok(if is_connecting { Submitted::Pending } else { Submitted::Complete })
    }

    /// Whether the ticks come that end a wait without a time-out; begins them with the first question.
    fn has_ticks(&mut self) -> bool {
        if self.ticks.is_none() {
            let made = make_ticks(&self.epoll);
            self.ticks = Some(made.ok());
        }
        self.ticks.as_ref().is_some_and(Option::is_some)
    }

    /// Waits on a kernel that knows milliseconds only.
    fn wait_milliseconds(&mut self, timeout: Duration) {
        let timeout =
            Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) };
        let mut events: Vec<epoll::Event> = Vec::with_capacity(EVENTS_COUNT);
        let _ = epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&timeout));
        self.events.extend(events.iter().map(|event| {
            let (flags, data) = (event.flags, event.data);
            Event { events: flags.bits(), u64: data.u64() }
        }));
    }

    /// Takes the next event of a socket that still is the one it was registered for.
    fn advance(&mut self) -> bool {
        while let Some(event) = self.events.get(self.next_event) {
            self.next_event += 1;
            let data = event.u64;
            let flags = EventFlags::from_bits_retain(event.events);
            let current = Current { slot: data as u32, generation: (data >> 32) as u32, flags };
            if current.slot == TICK_SLOT {
                self.tick();
            } else if self.is_alive(current) {
                self.current = current;
                return true;
            }
        }
        false
    }

    /// Lets the next tick come: the kernel goes on with a periodic timer when it is read.
    fn tick(&mut self) {
        if let Some(Some(timer)) = &self.ticks {
            // Already read: it goes on.
            let _ = rustix::io::read(timer, &mut [0; 8]);
        }
    }

    fn is_alive(&self, current: Current) -> bool {
        let socket = &self.sockets[current.slot as usize];
        socket.fd.is_some() && socket.generation == current.generation
    }

    /// The next completion of the current event; `None` when nothing is left of it.
    fn work_off(&mut self) -> Option<Completion> {
        let broken = EventFlags::ERR | EventFlags::HUP;
        let readable = broken | EventFlags::IN | EventFlags::RDHUP;
        let flags = self.current.flags;
        let socket = &mut self.sockets[self.current.slot as usize];
        let fd = socket.fd.as_ref()?;
        if socket.is_connecting {
            if flags.intersects(broken) {
                self.current.flags = EventFlags::empty();
                let cause = net::sockopt::socket_error(fd).ok().and_then(Result::err);
                return Some(Completion::Failed(cause.unwrap_or(Errno::CONNRESET)));
            }
            if !flags.contains(EventFlags::OUT) {
                self.current.flags = EventFlags::empty();
                return None;
            }
            socket.is_connecting = false;
            self.current.flags -= EventFlags::OUT;
            return Some(greet(fd, &self.route).map_or_else(Completion::Failed, |()| Completion::Connected));
        }
        if socket.is_send_partial && flags.contains(EventFlags::OUT) {
            self.current.flags -= EventFlags::OUT;
            return socket.send_on();
        }
        if !flags.intersects(readable) {
            self.current.flags = EventFlags::empty();
            return None;
        }
        let received = if self.route.stamps {
            stamp::receive(fd.as_fd(), &mut self.buffer).map(|(length, stamp_ns)| {
                self.stamp_ns = stamp_ns;
                length
            })
        } else {
            net::recv(fd, &mut self.buffer[..], RecvFlags::DONTWAIT).map(|(length, _)| length)
        };
        self.read(received)
    }

    fn read(&mut self, received: Result<usize, Errno>) -> Option<Completion> {
        let ending = EventFlags::ERR | EventFlags::HUP | EventFlags::RDHUP;
        let is_drained = match received {
            Ok(length) => length < RECEIVE_BUFFER_BYTES && !self.current.flags.intersects(ending),
            Err(_) => true,
        };
        if is_drained || received == Ok(0) {
            self.current.flags = EventFlags::empty();
        }
        match received {
            Ok(0) => Some(Completion::Ended),
            Ok(length) => Some(Completion::Received(length)),
            Err(Errno::AGAIN | Errno::INTR) => None,
            Err(errno) => Some(Completion::Failed(errno)),
        }
    }
}

impl Transport for Epoll {
    fn new(slots: usize, route: &ConnectionRoute) -> Result<Epoll, LoadError> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(LoadError::system("create an epoll instance"))?;
        let stamping = route.stamps.then(stamp::hold).transpose();
        let stamping = stamping.map_err(LoadError::system("enable timestamps"))?;
        let mut sockets = Vec::new();
        sockets.resize_with(slots, Socket::default);
        Ok(Epoll {
            epoll,
            route: route.clone(),
            sockets,
            events: Vec::with_capacity(EVENTS_COUNT),
            next_event: 0,
            current: Current { slot: 0, generation: 0, flags: EventFlags::empty() },
            buffer: vec![0; RECEIVE_BUFFER_BYTES].into_boxed_slice(),
            stamp_ns: 0,
            ticks: None,
            _stamping: stamping,
        })
    }

    fn connect(&mut self, slot: Slot) -> Submitted {
        self.open(slot).unwrap_or_else(Submitted::Failed)
    }

    #[inline]
    fn send(&mut self, slot: Slot, message: Message, offset: usize) -> Send {
        let bytes = &self.route.messages[message.position()];
        let socket = &mut self.sockets[slot as usize];
        let Some(fd) = &socket.fd else { return Send::Failed(Errno::NOTCONN) };
        let mut sent = offset;
        while sent < bytes.len() {
            match net::send(fd, &bytes[sent..], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(length) => sent += length,
                Err(Errno::AGAIN) => {
                    socket.is_send_partial = true;
                    return Send::Partial(sent);
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Send::Failed(errno),
            }
        }
        Send::Complete
    }

    #[inline]
    fn outgoing(&mut self, slot: Slot) -> &mut Vec<u8> {
        &mut self.sockets[slot as usize].outgoing
    }

    #[inline]
    fn flush(&mut self, slot: Slot) -> Send {
        let socket = &mut self.sockets[slot as usize];
        // Bytes that wait for room are sent when there is some.
        if socket.is_send_partial { Send::Pending } else { socket.flush() }
    }

    fn close(&mut self, slot: Slot) {
        let socket = &mut self.sockets[slot as usize];
        socket.fd = None;
        socket.drop_outgoing();
    }

    fn wait(&mut self, timeout: Duration, gather: Gather) {
        self.next_event = 0;
        self.current.flags = EventFlags::empty();
        if let Gather::Span(span) = gather
            && span < timeout
        {
            sleep(span);
        }
        let is_long = timeout >= TICK && self.has_ticks();
        // An interrupted wait is an early end of it; the engine looks at the clock in any case.
        let waited = sys::wait(self.epoll.as_fd(), &mut self.events, (!is_long).then_some(timeout));
        if waited == Err(Errno::NOSYS) {
            self.wait_milliseconds(timeout);
        }
    }

    #[inline]
    fn complete(&mut self) -> Option<(Slot, Completion)> {
        loop {
            let has_current = !self.current.flags.is_empty() && self.is_alive(self.current);
            if !has_current && !self.advance() {
                return None;
            }
            if let Some(completion) = self.work_off() {
                return Some((self.current.slot, completion));
            }
        }
    }

    #[inline]
    fn received(&self, length: usize) -> &[u8] {
        &self.buffer[..length]
    }

    #[inline]
    fn stamp_ns(&self) -> u64 {
        self.stamp_ns
    }
}

/// Sleeps; an interrupted sleep is an early end of it.
fn sleep(span: Duration) {
    let span = Timespec { tv_sec: span.as_secs() as i64, tv_nsec: i64::from(span.subsec_nanos()) };
    let _ = rustix::thread::nanosleep(&span);
}

/// A timer whose events are those of no socket.
fn make_ticks(epoll: &OwnedFd) -> Result<OwnedFd, Errno> {
    let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
    let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
    let period = Timespec { tv_sec: 0, tv_nsec: i64::from(TICK.subsec_nanos()) };
    timerfd_settime(
        &timer,
        TimerfdTimerFlags::empty(),
        &Itimerspec { it_interval: period, it_value: period },
    )?;
    epoll::add(epoll, &timer, EventData::new_u64(u64::from(TICK_SLOT)), EventFlags::IN)?;
    Ok(timer)
}

fn make_socket(route: &ConnectionRoute) -> Result<OwnedFd, Errno> {
    let family = match &route.endpoint {
        Endpoint::Tcp(address) if address.is_ipv4() => AddressFamily::INET,
        Endpoint::Tcp(_) => AddressFamily::INET6,
        Endpoint::Unix(_) => AddressFamily::UNIX,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = net::socket_with(family, SocketType::STREAM, flags, None)?;
    if route.needs_nodelay() {
        net::sockopt::set_tcp_nodelay(&fd, true)?;
    }
    if route.needs_no_congestion_control() {
        // Where an administrator forbids it, the system's own will do.
        let _ = net::sockopt::set_tcp_congestion(&fd, NO_CONGESTION_CONTROL);
    }
    if family != AddressFamily::UNIX {
        ports::take_in_turn(fd.as_fd());
    }
    if route.stamps {
        stamp::enable(fd.as_fd())?;
    }
    Ok(fd)
}

/// Says who the client is on a fresh connection, which has room for it.
fn greet(fd: &OwnedFd, route: &ConnectionRoute) -> Result<(), Errno> {
    let Some(version) = route.origin.proxy_protocol else { return Ok(()) };
    let ends = match &route.endpoint {
        Endpoint::Tcp(server) => Some(Ends { client: net::getsockname(fd)?.try_into()?, server: *server }),
        Endpoint::Unix(_) => None,
    };
    let header = header(version, ends);
    let sent = net::send(fd, &header, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?;
    if sent == header.len() { Ok(()) } else { Err(Errno::NOBUFS) }
}

/// Begins to connect; whether that goes on after the call.
fn start_connecting(fd: &OwnedFd, endpoint: &Endpoint) -> Result<bool, Errno> {
    let address = match endpoint {
        Endpoint::Tcp(address) => address,
        Endpoint::Unix(path) => return net::connect(fd, &SocketAddrUnix::new(path)?).map(|()| false),
    };
    let mut started = net::connect(fd, address);
    if started == Err(Errno::INPROGRESS) && address.ip().is_loopback() {
        // Over loopback the handshake is over by now; asking again is cheaper than an event.
        started = net::connect(fd, address);
    }
    match started {
        Ok(()) | Err(Errno::ISCONN) => Ok(false),
        Err(Errno::INPROGRESS | Errno::ALREADY) => Ok(true),
        Err(errno) => Err(errno),
    }
}
