//! A server to watch and a light load on it, so that the cost is that of a real run: sockets that are used, threads
//! that are switched, caches that others use too.
//!
//! The server is this program again, as a child process that ends with its parent; the load comes from threads of the
//! parent, as it does in a run.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The argument that makes this program the server.
pub const SERVE_ARGUMENT: &str = "--serve";
/// Threads of the load.
const LOAD_THREADS: usize = 2;
/// Requests that a thread of the load sends at once.
const AT_ONCE: usize = 6;
/// Rest of a thread between such requests: a few thousand requests per second in all.
const PAUSE: Duration = Duration::from_millis(4);

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Serves with so many threads, each with one connection at a time, until the standard input ends; says its address on the
/// standard output.
pub fn serve(threads: usize) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    for _ in 0..threads {
        let listener = listener.try_clone()?;
        std::thread::spawn(move || {
            while let Ok((connection, _)) = listener.accept() {
                // A connection that ends in an error is ended like any other.
                let _ = answer(connection);
            }
        });
    }
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

/// Answers each request, which comes in one piece, until the connection ends.
fn answer(mut connection: TcpStream) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut buffer = [0; REQUEST.len()];
    while connection.read(&mut buffer)? > 0 {
        connection.write_all(RESPONSE)?;
    }
    Ok(())
}

/// A server with a load on it; both end when it is dropped.
pub struct LoadedServer {
    /// Where the server listens.
    pub address: SocketAddr,
    server: Child,
    load: Vec<JoinHandle<io::Result<()>>>,
    must_end: Arc<AtomicBool>,
    answers: Arc<AtomicU64>,
}

impl LoadedServer {
    /// Starts both.
    pub fn start(threads: usize) -> Result<LoadedServer, Box<dyn std::error::Error>> {
        let mut server = Command::new(std::env::current_exe()?)
            .args([SERVE_ARGUMENT, &threads.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(server.stdout.take().ok_or("the server has no output")?).read_line(&mut line)?;
        let mut started = LoadedServer {
            address: line.trim().parse()?,
            server,
            load: vec![],
            must_end: Arc::default(),
            answers: Arc::default(),
        };
        for _ in 0..LOAD_THREADS {
            let (address, answers) = (started.address, Arc::clone(&started.answers));
            let must_end = Arc::clone(&started.must_end);
            let connections = threads / LOAD_THREADS;
            started.load.push(std::thread::spawn(move || load(address, connections, &must_end, &answers)));
        }
        Ok(started)
    }

    /// Responses so far.
    pub fn answers_count(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }
}

impl Drop for LoadedServer {
    fn drop(&mut self) {
        self.must_end.store(true, Ordering::Relaxed);
        for thread in self.load.drain(..) {
            if !matches!(thread.join(), Ok(Ok(()))) {
                // Nothing is left to be done about it but to say so.
                let _ = writeln!(io::stderr(), "a thread of the load failed: the cost is that of less load");
            }
        }
        drop(self.server.stdin.take());
        let _ = self.server.wait();
    }
}

/// A few requests, a rest, and the next ones over other connections.
fn load(address: SocketAddr, count: usize, must_end: &AtomicBool, answers: &AtomicU64) -> io::Result<()> {
    let mut connections = Vec::new();
    for _ in 0..count {
        let connection = TcpStream::connect(address)?;
        connection.set_nodelay(true)?;
        connections.push(connection);
    }
    let mut buffer = [0; RESPONSE.len()];
    while !must_end.load(Ordering::Relaxed) {
        for together in connections.chunks_mut(AT_ONCE) {
            for connection in together.iter_mut() {
                connection.write_all(REQUEST)?;
            }
            for connection in together {
                connection.read_exact(&mut buffer)?;
                answers.fetch_add(1, Ordering::Relaxed);
            }
            std::thread::sleep(PAUSE);
        }
    }
    Ok(())
}
