//! The target as its clients see it. Times are only ever compared with lower bounds.

use super::*;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread::JoinHandle;
use sysdyno_observe::clock::monotonic;
use sysdyno_record::units::MonoNs;

const GET: &str = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

/// A target in a thread of the test.
struct Running {
    address: ListenOn,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<TargetCounts, TargetError>>>,
}

impl Running {
    fn start(threads: u32, bottleneck: Option<Bottleneck>) -> Running {
        let listen = ListenOn::Tcp("127.0.0.1:0".parse().expect("an address"));
        Running::start_plan(TargetPlan { listen, threads, bottleneck, body_bytes: 100 })
    }

    fn start_plan(plan: TargetPlan) -> Running {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, receiver) = mpsc::channel();
        let is_stopping = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            serve(&plan, &is_stopping, |address| sender.send(address.clone()).expect("the test waits"))
        });
        let address = receiver.recv().expect("the target starts");
        Running { address, stop, thread: Some(thread) }
    }

    fn connect(&self) -> Client<TcpStream> {
        let ListenOn::Tcp(address) = &self.address else { panic!("listens on TCP") };
        Client::new(TcpStream::connect(address).expect("connects"))
    }

    fn end(mut self) -> TargetCounts {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("ends once");
        thread.join().expect("does not panic").expect("serves")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Client<S> {
    stream: S,
    input: Vec<u8>,
}

struct DueAnswer {
    head: String,
    body: Vec<u8>,
}

impl<S: Read + Write> Client<S> {
    fn new(stream: S) -> Client<S> {
        Client { stream, input: Vec::new() }
    }

    fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).expect("sends");
    }

    /// The next answer, with as much body as its head declares.
    fn receive(&mut self) -> DueAnswer {
        let end = self.read_until(|input| input.windows(4).position(|window| window == b"\r\n\r\n"));
        let head = String::from_utf8(self.input.drain(..end + 4).collect()).expect("is text");
        let length = head.split("Content-Length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        let length: usize = length.expect("has a length").parse().expect("is a number");
        let length = self.read_until(|input| (input.len() >= length).then_some(length));
        DueAnswer { head, body: self.input.drain(..length).collect() }
    }

    fn read_until(&mut self, found: impl Fn(&[u8]) -> Option<usize>) -> usize {
        loop {
            if let Some(at) = found(&self.input) {
                return at;
            }
            let mut buffer = [0; 4096];
            let count = self.stream.read(&mut buffer).expect("receives");
            assert!(count > 0, "the connection ended within an answer");
            self.input.extend_from_slice(&buffer[..count]);
        }
    }

    fn get(&mut self) -> DueAnswer {
        self.send(GET);
        self.receive()
    }

    /// All that still comes until the server closes.
    fn rest(mut self) -> Vec<u8> {
        self.stream.read_to_end(&mut self.input).expect("receives");
        self.input
    }
}

fn elapsed_ms(since: MonoNs) -> u64 {
    monotonic().since(since) / 1_000_000
}

#[test]
fn a_connection_is_kept_and_every_request_counted() {
    let target = Running::start(2, None);
    let mut client = target.connect();
    for _ in 0..3 {
        let answer = client.get();
        assert!(answer.head.starts_with("HTTP/1.1 200 OK\r\n"), "{}", answer.head);
        assert_eq!(answer.body.len(), 100);
    }
    let counts = target.end();
    assert_eq!((counts.requests, counts.connections), (3, 1));
    assert_eq!(counts.requests_by_thread.iter().sum::<u64>(), 3);
}

#[test]
fn counts_are_exact_over_threads_and_connections() {
    let target = Running::start(4, None);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..4 {
                    let mut client = target.connect();
                    (0..25).for_each(|_| assert_eq!(client.get().body.len(), 100));
                }
            });
        }
    });
    let mut client = target.connect();
    client.send("GET /sysdyno-counts HTTP/1.1\r\n\r\n");
    let text = String::from_utf8(client.receive().body).expect("is text");
    let counts = target.end();
    assert_eq!(text, counts.json());
    assert_eq!((counts.requests, counts.connections, counts.requests_by_thread.len()), (800, 33, 4));
    assert!(text.starts_with("{\"requests\":800,\"requests_by_thread\":["), "{text}");
}

#[test]
fn requests_may_come_in_one_piece_or_byte_by_byte() {
    let target = Running::start(1, None);
    let mut client = target.connect();
    client.send(&GET.repeat(500));
    (0..500).for_each(|_| assert_eq!(client.receive().body.len(), 100));
    client.stream.set_nodelay(true).expect("is a socket");
    for byte in GET.bytes() {
        client.stream.write_all(&[byte]).expect("sends");
    }
    assert_eq!(client.receive().body.len(), 100);
    assert_eq!(target.end().requests, 501);
}

#[test]
fn bodies_are_skipped_and_head_has_none() {
    let target = Running::start(1, None);
    let mut client = target.connect();
    let body = "GET / HTTP/1.1\r\n\r\n".repeat(5000);
    client.send(&format!(
        "POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}HEAD / HTTP/1.1\r\n\r\n",
        body.len()
    ));
    assert_eq!(client.receive().body.len(), 100);
    let end = client.read_until(|input| input.windows(4).position(|window| window == b"\r\n\r\n"));
    assert_eq!(client.input.len(), end + 4);
    client.input.clear();
    assert_eq!(client.get().body.len(), 100);
    assert_eq!(target.end().requests, 3);
}

#[test]
fn a_connection_is_closed_when_the_client_says_so() {
    let target = Running::start(1, None);
    for request in ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"] {
        let mut client = target.connect();
        client.send(&format!("{GET}{request}{GET}"));
        assert!(client.receive().head.contains("Connection: keep-alive"));
        assert!(client.receive().head.contains("Connection: close"));
        assert_eq!(client.rest(), b"");
    }
    assert_eq!(target.end().requests, 4);
}

#[test]
fn garbage_is_refused_and_hurts_nobody_else() {
    let target = Running::start(1, None);
    let mut good = target.connect();
    good.get();
    for garbage in ["\0\u{1}\r\n\r\n".repeat(2000), "x".repeat(50_000), "GET / HTTP/9\r\n\r\n".into()] {
        let mut client = target.connect();
        client.send(&garbage);
        let answer = client.receive();
        assert!(
            answer.head.starts_with("HTTP/1.1 4") || answer.head.starts_with("HTTP/1.1 505"),
            "{}",
            answer.head
        );
        assert_eq!(client.rest(), b"");
        good.get();
    }
    assert_eq!(target.end().requests, 4);
}

#[test]
fn a_client_that_does_not_read_stops_being_read() {
    let target = Running::start(1, None);
    let mut deaf = target.connect();
    deaf.stream.set_nonblocking(true).expect("is a socket");
    let requests = GET.repeat(1000);
    let mut sent_bytes = 0;
    // Ends only when the target leaves requests in the socket, since it keeps at most 1 MiB of answers.
    let mut blocked_count = 0;
    while blocked_count < 200 {
        match deaf.stream.write(requests.as_bytes()) {
            Ok(count) => (sent_bytes, blocked_count) = (sent_bytes + count, 0),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                blocked_count += 1;
                // Another connection's answer shows that the target has had its turn.
                target.connect().get();
            }
            Err(error) => panic!("{error}"),
        }
    }
    let served = target.end().requests;
    assert!((served as usize) < sent_bytes / GET.len(), "{served} of {sent_bytes} bytes were served");
}

#[test]
fn a_unix_socket_is_served_and_removed() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("socket");
    let plan =
        TargetPlan { listen: ListenOn::Unix(path.clone()), threads: 2, bottleneck: None, body_bytes: 7 };
    let target = Running::start_plan(plan.clone());
    let error = serve(&plan, &AtomicBool::new(true), |_| {}).expect_err("is taken").to_string();
    assert!(error.starts_with("cannot listen on 'unix:") && error.contains("in use"), "{error}");
    let mut clients: Vec<_> =
        (0..20).map(|_| Client::new(UnixStream::connect(&path).expect("connects"))).collect();
    clients.iter_mut().for_each(|client| assert_eq!(client.get().body.len(), 7));
    assert_eq!(target.end().requests, 20);
    assert!(!path.exists());
}

#[test]
fn impossible_plans_are_refused() {
    let check = |threads, body_bytes, bottleneck| {
        let listen = ListenOn::Tcp("127.0.0.1:0".parse().expect("an address"));
        let plan = TargetPlan { listen, threads, bottleneck, body_bytes };
        let refused = serve(&plan, &AtomicBool::new(true), |_| panic!("is not ready"));
        assert!(matches!(refused, Err(TargetError::Plan { .. })), "{plan:?}");
    };
    check(0, 0, None);
    check(1, MAX_BODY_BYTES + 1, None);
    check(1, 0, Some(Bottleneck::WorkerPool { workers: 0, hold_ms: 1 }));
    check(1, 0, Some(Bottleneck::WorkerPool { workers: 1, hold_ms: MAX_WAIT_MS + 1 }));
    check(1, 0, Some(Bottleneck::Stall { every_ms: 10, for_ms: 10 }));
    check(1, 0, Some(Bottleneck::Stall { every_ms: 0, for_ms: 0 }));
    check(1, 0, Some(Bottleneck::Latency(LatencyTable { delays_us: Vec::new() })));
}

#[test]
fn a_pool_serves_as_many_at_a_time_as_it_has_workers() {
    let target = Running::start(4, Some(Bottleneck::WorkerPool { workers: 2, hold_ms: 30 }));
    let begin = monotonic();
    std::thread::scope(|scope| {
        (0..4).for_each(|_| {
            scope.spawn(|| target.connect().get());
        });
        // Three more on one connection, which wait in its buffer.
        let mut client = target.connect();
        client.send(&GET.repeat(3));
        (0..3).for_each(|_| assert_eq!(client.receive().body.len(), 100));
    });
    assert!(elapsed_ms(begin) >= 120, "seven requests took {} ms", elapsed_ms(begin));
    assert_eq!(target.end().requests_by_thread, [7]);
}

#[test]
fn a_single_thread_does_all_the_work() {
    let target = Running::start(3, Some(Bottleneck::SingleThread { work_us: 5000 }));
    let begin = monotonic();
    std::thread::scope(|scope| {
        (0..3).for_each(|_| {
            scope.spawn(|| {
                let mut client = target.connect();
                (0..4).for_each(|_| assert_eq!(client.get().body.len(), 100));
            });
        });
    });
    assert!(elapsed_ms(begin) >= 60, "twelve requests took {} ms", elapsed_ms(begin));
    assert_eq!(target.end().requests_by_thread, [12, 0, 0]);
}

#[test]
fn a_slow_acceptor_keeps_connections_waiting_and_serves_them_quickly() {
    let target = Running::start(2, Some(Bottleneck::AcceptQueue { backlog: 16, accept_delay_ms: 50 }));
    let begin = monotonic();
    let mut clients: Vec<_> = (0..4).map(|_| target.connect()).collect();
    for client in &mut clients {
        (0..10).for_each(|_| assert_eq!(client.get().body.len(), 100));
    }
    assert!(elapsed_ms(begin) >= 150, "the fourth connection was served after {} ms", elapsed_ms(begin));
    assert_eq!(target.end().requests_by_thread, [20, 20]);
}

#[test]
fn nothing_is_answered_during_a_stall() {
    let (every_ms, for_ms) = (200, 100);
    let target = Running::start(2, Some(Bottleneck::Stall { every_ms, for_ms }));
    let grid = StallGrid { every_ns: every_ms * 1_000_000, for_ns: for_ms * 1_000_000 };
    let mut client = target.connect();
    let mut stalled_count = 0;
    while stalled_count < 3 {
        let sent = monotonic();
        assert_eq!(client.get().body.len(), 100);
        if let Some(end) = grid.end(sent) {
            assert!(monotonic() >= end, "answered {} ns before the end of the stall", end.since(monotonic()));
            stalled_count += 1;
        }
    }
}

#[test]
fn delays_are_taken_in_turn_and_answers_keep_their_order() {
    let delays_us = vec![30_000, 10_000, 1, 20_000];
    let table = LatencyTable { delays_us: delays_us.clone() };
    let target = Running::start(1, Some(Bottleneck::Latency(table)));
    let mut client = target.connect();
    for delay_us in delays_us {
        let sent = monotonic();
        client.get();
        assert!(monotonic().since(sent) >= u64::from(delay_us) * 1000, "{delay_us} µs");
    }
    let sent = monotonic();
    client.send(&format!("{GET}GET /sysdyno-counts HTTP/1.1\r\n\r\n"));
    assert_eq!(client.receive().body.len(), 100);
    assert!(client.receive().head.contains("application/json"));
    assert!(elapsed_ms(sent) >= 30);
}
