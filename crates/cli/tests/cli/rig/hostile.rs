//! A TCP server that does what its script says, however wrong that is.
//!
//! Each connection runs the script from its begin, on a thread of its own. The server listens on a free loopback port
//! and is gone, threads and all, when the value is dropped. What a script awaits it awaits as an event: the end of a
//! request head, the peer's going away, or the server's stop.

use rustix::net::{AddressFamily, SocketType, sockopt};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longest request head that the server reads.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// One step of a script.
#[derive(Clone, Copy, Debug)]
pub enum Verb {
    /// Reads to the end of a request's head; the connection ends if the peer goes away before.
    Expect,
    /// Reads what comes first: then the connection is established for the peer, too.
    ReadOnce,
    /// Sends these bytes at once.
    Send(&'static [u8]),
    /// Sends these bytes one at a time with this pause before each, again and again.
    SendSlow(&'static [u8], Duration),
    /// Sends these bytes again and again until the peer goes away.
    RepeatForever(&'static [u8]),
    /// Sends these bytes this many times.
    Repeat(&'static [u8], usize),
    /// Does nothing, not even read, until the server stops.
    SleepUntilReleased,
    /// Reads and drops what comes until the peer goes away.
    Drain,
    /// Closes its side for sending and goes on.
    HalfClose,
    /// Closes the connection.
    Fin,
    /// Resets the connection.
    Rst,
    /// Goes on with the script from its begin, on the same connection.
    Again,
}

/// The server.
pub struct Hostile {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared {
    script: Vec<Verb>,
    is_stopped: Mutex<bool>,
    stopped: Condvar,
    is_closing: AtomicBool,
    /// Weak, since a reset is sent only when the last owner closes.
    streams: Mutex<Vec<Weak<TcpStream>>>,
    connections_count: AtomicU64,
    requests_count: AtomicU64,
}

impl Hostile {
    pub fn start(script: Vec<Verb>) -> Hostile {
        Hostile::start_with_buffer(script, None)
    }

    /// The same with receive buffers of this size, so that a server that does not read is soon full.
    pub fn start_with_buffer(script: Vec<Verb>, receive_bytes: Option<usize>) -> Hostile {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free loopback port");
        if let Some(bytes) = receive_bytes {
            sockopt::set_socket_recv_buffer_size(&listener, bytes).expect("a buffer size can be set");
        }
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            script,
            is_stopped: Mutex::new(false),
            stopped: Condvar::new(),
            is_closing: AtomicBool::new(false),
            streams: Mutex::new(Vec::new()),
            connections_count: AtomicU64::new(0),
            requests_count: AtomicU64::new(0),
        });
        let acceptor = std::thread::spawn({
            let shared = shared.clone();
            move || accept(&listener, &shared)
        });
        Hostile { address, shared, acceptor: Some(acceptor) }
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Connections that were accepted so far.
    pub fn connections_count(&self) -> u64 {
        self.shared.connections_count.load(Ordering::SeqCst)
    }

    /// Request heads that were read so far.
    pub fn requests_count(&self) -> u64 {
        self.shared.requests_count.load(Ordering::SeqCst)
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.shared.is_closing.store(true, Ordering::SeqCst);
        *self.shared.is_stopped.lock().expect("no holder panics") = true;
        self.shared.stopped.notify_all();
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads = Vec::new();
    for stream in listener.incoming() {
        if shared.is_closing.load(Ordering::SeqCst) {
            break;
        }
        let Ok(stream) = stream.map(Arc::new) else { continue };
        shared.connections_count.fetch_add(1, Ordering::SeqCst);
        shared.streams.lock().expect("no holder panics").push(Arc::downgrade(&stream));
        let shared = shared.clone();
        threads.push(std::thread::spawn(move || {
            let _ = Connection { stream, shared, unread: Vec::new() }.run();
        }));
    }
    for stream in shared.streams.lock().expect("no holder panics").iter().filter_map(Weak::upgrade) {
        let _ = stream.shutdown(Shutdown::Both);
    }
    threads.into_iter().for_each(|thread| drop(thread.join()));
}

struct Connection {
    stream: Arc<TcpStream>,
    shared: Arc<Shared>,
    /// Read beyond the end of the last head.
    unread: Vec<u8>,
}

impl Connection {
    fn run(mut self) -> io::Result<()> {
        self.stream.set_nodelay(true)?;
        let shared = self.shared.clone();
        let mut at = 0;
        while let Some(verb) = shared.script.get(at) {
            at += 1;
            match verb {
                Verb::Expect => self.expect()?,
                Verb::ReadOnce => drop((&*self.stream).read(&mut [0; 65536])?),
                Verb::Send(bytes) => (&*self.stream).write_all(bytes)?,
                Verb::SendSlow(bytes, gap) => self.send_slow(bytes, *gap)?,
                Verb::RepeatForever(bytes) => loop {
                    (&*self.stream).write_all(bytes)?;
                },
                // A write for each would be a test of how fast this server is.
                Verb::Repeat(bytes, times) => (&*self.stream).write_all(&bytes.repeat(*times))?,
                Verb::SleepUntilReleased => self.sleep_until_released(),
                Verb::Drain => while (&*self.stream).read(&mut [0; 65536])? > 0 {},
                Verb::HalfClose => self.stream.shutdown(Shutdown::Write)?,
                Verb::Fin => return Ok(()),
                Verb::Rst => return Ok(sockopt::set_socket_linger(&*self.stream, Some(Duration::ZERO))?),
                Verb::Again => at = 0,
            }
        }
        Ok(())
    }

    fn expect(&mut self) -> io::Result<()> {
        loop {
            if let Some(end) = self.unread.windows(4).position(|four| four == b"\r\n\r\n") {
                self.unread.drain(..end + 4);
                self.shared.requests_count.fetch_add(1, Ordering::SeqCst);
                return Ok(());
            }
            let mut buffer = [0; 4096];
            let count = (&*self.stream).read(&mut buffer)?;
            if count == 0 || self.unread.len() > MAX_HEAD_BYTES {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.unread.extend_from_slice(&buffer[..count]);
        }
    }

    fn send_slow(&self, bytes: &[u8], gap: Duration) -> io::Result<()> {
        for byte in bytes.iter().cycle() {
            let stopped = self.shared.is_stopped.lock().expect("no holder panics");
            let (stopped, _) = self.shared.stopped.wait_timeout(stopped, gap).expect("no holder panics");
            if *stopped {
                break;
            }
            drop(stopped);
            (&*self.stream).write_all(&[*byte])?;
        }
        Ok(())
    }

    fn sleep_until_released(&self) {
        let mut stopped = self.shared.is_stopped.lock().expect("no holder panics");
        while !*stopped {
            stopped = self.shared.stopped.wait(stopped).expect("no holder panics");
        }
    }
}

/// A port on which connections are never completed: its queue of length 0 is full, so the kernel drops every SYN.
pub struct FullQueue {
    pub address: SocketAddr,
    _listener: TcpListener,
    _filler: Vec<TcpStream>,
}

impl FullQueue {
    pub fn start() -> FullQueue {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free loopback port");
        rustix::net::listen(&listener, 0).expect("a listening socket may listen again");
        let address = listener.local_addr().expect("a bound socket has an address");
        let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(200)).ok();
        let filler = std::iter::from_fn(connect).take(16).collect();
        FullQueue { address, _listener: listener, _filler: filler }
    }
}

/// A loopback port that nobody listens on, and nobody can until this process ends.
pub fn closed_port() -> SocketAddr {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    rustix::net::bind(&socket, &SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free loopback port");
    let bound = TcpListener::from(socket);
    let address = bound.local_addr().expect("a bound socket has an address");
    std::mem::forget(bound);
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connect(server: &Hostile) -> TcpStream {
        let stream = TcpStream::connect(server.address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout can be set");
        stream
    }

    #[test]
    fn a_script_is_followed_verb_by_verb() {
        let server = Hostile::start(vec![Verb::Expect, Verb::Send(b"first"), Verb::Again]);
        let mut stream = connect(&server);
        for _ in 0..2 {
            stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            let mut answer = [0; 5];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"first");
        }
        assert_eq!((server.connections_count(), server.requests_count()), (1, 2));
    }

    #[test]
    fn fin_and_rst_differ() {
        let read_end = |verb: Verb| {
            let server = Hostile::start(vec![Verb::Expect, verb]);
            let mut stream = connect(&server);
            stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            stream.read(&mut [0; 16]).map_err(|error| error.kind())
        };
        assert_eq!(read_end(Verb::Fin), Ok(0));
        assert_eq!(read_end(Verb::Rst), Err(io::ErrorKind::ConnectionReset));
    }

    #[test]
    fn sleepers_and_repeaters_end_with_the_server() {
        for verb in [Verb::SleepUntilReleased, Verb::RepeatForever(b"x"), Verb::Drain] {
            let server = Hostile::start(vec![verb]);
            let stream = connect(&server);
            assert!(super::super::wait_until(Duration::from_secs(10), || server.connections_count() == 1));
            drop(server);
            drop(stream);
        }
    }

    #[test]
    fn a_full_queue_completes_no_connection() {
        let full = FullQueue::start();
        let result = TcpStream::connect_timeout(&full.address, Duration::from_millis(300));
        assert_eq!(result.map(drop).map_err(|error| error.kind()), Err(io::ErrorKind::TimedOut));
    }
}
