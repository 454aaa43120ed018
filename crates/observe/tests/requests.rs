//! What the kernel sees of requests at the connections of tiers: nginx, an event loop, in front of one that answers late.

use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use sysdyno_observe::{Sampler, SamplerPlan};
use sysdyno_record::plan::Endpoint;
use sysdyno_record::series::SeriesLine;

/// An event loop that answers each request after 40 ms, at the address that is its argument.
const LATE: &str = r#"
import asyncio, sys
async def serve(reader, writer):
    while await reader.readuntil(b"\r\n\r\n"):
        await asyncio.sleep(0.04)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nlate\n")
async def main():
    if sys.argv[1].startswith("/"):
        server = await asyncio.start_unix_server(serve, sys.argv[1])
        print(sys.argv[1], flush=True)
    else:
        server = await asyncio.start_server(serve, sys.argv[1], 0)
        print("%s:%d" % server.sockets[0].getsockname(), flush=True)
    await server.serve_forever()
asyncio.run(main())
"#;

/// How late it answers. Unit: nanoseconds.
const LATE_NS: f64 = 40e6;

/// A process that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = (self.0.kill(), self.0.wait());
    }
}

/// The late server, and where it listens.
fn late(at: &str) -> (Running, String) {
    started(LATE, at)
}

/// A server in Python, and where it listens.
fn started(program: &str, at: &str) -> (Running, String) {
    let mut command = Command::new("python3");
    let child = command.arg("-c").arg(program).arg(at).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut server = Running(child.expect("python3 starts"));
    let mut line = String::new();
    let out = server.0.stdout.take().expect("is piped");
    BufReader::new(out).read_line(&mut line).expect("says where it listens");
    (server, line.trim().to_owned())
}

/// nginx in front of an address, and where it listens.
fn nginx(folder: &Path, behind: &str, keepalive: &str) -> (Running, SocketAddr) {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("is free");
    let server = if behind.starts_with('/') { format!("unix:{behind}") } else { behind.to_owned() };
    let text = format!(
        "daemon off; master_process off; pid {0}/pid; error_log {0}/error; events {{}}
         http {{ access_log off; client_body_temp_path {0}/b; proxy_temp_path {0}/p; fastcgi_temp_path {0}/f;
           uwsgi_temp_path {0}/u; scgi_temp_path {0}/s; keepalive_requests 100000;
           upstream late {{ server {server}; {keepalive} }}
           server {{ listen {free}; location / {{
             proxy_pass http://late; proxy_http_version 1.1; proxy_set_header Connection ''; }} }} }}",
        folder.display()
    );
    let file = folder.join("nginx.conf");
    fs::write(&file, text).expect("can be written");
    let mut command = Command::new(sysdyno_needs::find_program("nginx").expect("was looked for"));
    let child = command.arg("-c").arg(&file).arg("-p").arg(folder).stderr(Stdio::null()).spawn();
    let server = Running(child.expect("nginx starts"));
    let begin = Instant::now();
    while TcpStream::connect(free).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(20), "nginx does not listen");
        thread::sleep(Duration::from_millis(20));
    }
    (server, free)
}

/// Whether clients keep their connection for all requests.
#[derive(Clone, Copy, PartialEq)]
enum Connection {
    Kept,
    OfOneRequest,
}

/// Requests one after the other for so long; returns how many were answered, and the mean time of one. Unit: nanoseconds.
fn ask(target: SocketAddr, length: Duration, connection: Connection) -> (f64, f64) {
    let mut socket = TcpStream::connect(target).expect("connects");
    let (begin, mut count) = (Instant::now(), 0.0);
    let mut buffer = [0; 4096];
    while begin.elapsed() < length {
        if connection == Connection::OfOneRequest && count > 0.0 {
            // At high rates only a part of the time is watched, and some seconds are then not counted to a few per cent.
            thread::sleep(Duration::from_micros(250));
            socket = TcpStream::connect(target).expect("connects");
        }
        socket.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").expect("is sent");
        let mut answer = Vec::new();
        while !answer.ends_with(b"late\n") {
            let length = socket.read(&mut buffer).expect("is answered");
            assert!(length > 0, "closed: {}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&buffer[..length]);
        }
        count += 1.0;
    }
    (count, begin.elapsed().as_nanos() as f64 / count)
}

/// Counters by name and scope: how far they grew.
type Grown = HashMap<(String, String), f64>;

/// Samples a target while two clients ask it; returns what grew after the awaited counter was seen, and what the clients saw then.
fn measure(target: SocketAddr, connection: Connection, awaited: &str) -> (Grown, f64, f64) {
    let target_port = Some(Endpoint::Tcp(target));
    let plan = SamplerPlan { target_port, ..SamplerPlan::host() };
    let mut sampler = Sampler::new(plan).expect("starts");
    let mut read = |length: Duration| {
        let clients: Vec<_> =
            (0..2).map(|_| thread::spawn(move || ask(target, length, connection))).collect();
        let begin = Instant::now();
        let mut lines = Vec::new();
        while begin.elapsed() < length {
            sampler.sample(&mut lines);
            thread::sleep(Duration::from_millis(50));
        }
        let seen: Vec<_> = clients.into_iter().map(|client| client.join().expect("ends")).collect();
        // Twice a second it is read at all, or later on a busy host: until nothing is added any more.
        let mut known = None;
        loop {
            for _ in 0..12 {
                sampler.sample(&mut lines);
                thread::sleep(Duration::from_millis(50));
            }
            let values = last_values(&lines, &sampler.header());
            let sum: f64 =
                values.iter().filter(|((name, _), _)| name == awaited).map(|(_, value)| value).sum();
            if known.replace(sum) == Some(sum) {
                return (values, seen);
            }
        }
    };
    let begin = Instant::now();
    let mut before = read(Duration::from_secs(2)).0;
    while !before.keys().any(|(name, _)| name == awaited) {
        assert!(begin.elapsed() < Duration::from_secs(60), "{awaited} is not seen");
        before = read(Duration::from_secs(1)).0;
    }
    let (after, seen) = read(Duration::from_secs(2));
    let grown = after.into_iter().map(|(key, value)| {
        let from = before.get(&key).copied().unwrap_or(0.0);
        (key, value - from)
    });
    let count: f64 = seen.iter().map(|(count, _)| count).sum();
    let mean_ns = seen.iter().map(|(count, mean_ns)| count * mean_ns).sum::<f64>() / count;
    (grown.collect(), count, mean_ns)
}

fn last_values(lines: &[SeriesLine], now: &[sysdyno_record::series::Column]) -> Grown {
    let mut columns = now.to_vec();
    let mut values = Grown::new();
    for line in lines {
        match line {
            SeriesLine::Header { columns: new, .. } => columns = new.clone(),
            SeriesLine::Row(row) => {
                let known = columns.iter().zip(&row.values);
                values.extend(known.filter_map(|(column, value)| {
                    Some(((column.name.clone(), column.scope.clone()), (*value)?))
                }));
            }
        }
    }
    values
}

fn is_near(value: f64, expected: f64, part: f64) -> bool {
    (value / expected - 1.0).abs() < part
}

/// What was seen between a tier and an address that it asks, in the mean: exchanges per request, and their time. Unit: nanoseconds.
fn check(grown: &Grown, asked: &str, count: f64, mean_ns: f64) {
    let of = |name: &str, scope: &str| {
        *grown
            .get(&(name.to_owned(), scope.to_owned()))
            .unwrap_or_else(|| panic!("no {name}@{scope}: {grown:?}"))
    };
    let server = |name: &str| of(name, "tier:target") / count;
    let read = server("requests.read_count");
    assert!(is_near(read, 1.0, 0.05), "{read} per request, of {count}");
    let answered = server("requests.answered_count");
    assert!(is_near(answered, 1.0, 0.05), "{answered} per request, of {count}");
    assert_eq!(server("requests.merged_count"), 0.0);
    let served_ns = server("requests.unread_ns") + server("requests.inside_ns");
    assert!(is_near(served_ns, mean_ns, 0.15), "{served_ns} of {mean_ns}");
    let scope = format!("tier:target>{asked}");
    let client = |name: &str| of(name, &scope) / count;
    assert!(is_near(client("asked.sent_count"), 1.0, 0.05), "{grown:?}");
    assert!(is_near(client("asked.answered_count"), 1.0, 0.05));
    let waiting_ns = client("asked.waiting_ns");
    assert!(waiting_ns > 0.95 * LATE_NS && waiting_ns < server("requests.inside_ns"), "{waiting_ns}");
    assert!(client("asked.trailing_ns") + client("asked.unread_ns") < 0.2 * LATE_NS, "{grown:?}");
}

#[test]
fn an_event_loop_is_seen_waiting_for_a_tier_over_tcp() {
    if !sysdyno_needs::has("requests at TCP connections", &["nginx", "python3", "root"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("makes a folder");
    let (_late, behind) = late("127.0.0.1");
    let (_nginx, target) = nginx(folder.path(), &behind, "keepalive 8;");
    let (grown, count, mean_ns) = measure(target, Connection::Kept, "asked.sent_count");
    check(&grown, &behind, count, mean_ns);
    let inside = grown[&("requests.inside_ns".to_owned(), format!("tier:{behind}"))] / count;
    assert!(is_near(inside, LATE_NS, 0.15), "{inside}");
}

#[test]
fn an_event_loop_is_seen_waiting_for_a_tier_over_a_unix_socket_that_it_opens_each_time() {
    if !sysdyno_needs::has("requests at Unix sockets", &["nginx", "python3", "root"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = folder.path().join("late.sock");
    let (_late, behind) = late(path.to_str().expect("is text"));
    let (_nginx, target) = nginx(folder.path(), &behind, "");
    let (grown, count, mean_ns) = measure(target, Connection::Kept, "asked.sent_count");
    check(&grown, &format!("unix:{behind}"), count, mean_ns);
}

#[test]
fn a_tier_is_found_whose_connections_are_gone_before_anybody_looks_for_their_ends() {
    if !sysdyno_needs::has("tiers that are asked for an instant", &["nginx", "python3", "root"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("makes a folder");
    let (_prompt, behind) = started(&LATE.replace("sleep(0.04)", "sleep(0)"), "127.0.0.1");
    let (_nginx, target) = nginx(folder.path(), &behind, "");
    let target_port = Some(Endpoint::Tcp(target));
    let plan = SamplerPlan { target_port, ..SamplerPlan::host() };
    let mut sampler = Sampler::new(plan).expect("starts");
    let (begin, scope) = (Instant::now(), format!("tier:{behind}"));
    while !sampler.header().iter().any(|column| column.scope == scope) {
        assert!(begin.elapsed() < Duration::from_secs(60), "{behind} is no tier");
        ask(target, Duration::from_millis(1), Connection::Kept);
        sampler.sample(&mut Vec::new());
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn who_answers_late_is_seen_by_the_address_where_nobody_can_look_into_it() {
    if !sysdyno_needs::has("requests to somewhere else", &["nginx", "root"]) {
        return;
    }
    // This process is never taken for a part of the server, as little as another host's would be.
    let listening = TcpListener::bind("127.0.0.1:0").expect("listens");
    let behind = listening.local_addr().expect("has an address").to_string();
    thread::spawn(move || {
        for socket in listening.incoming().flatten() {
            thread::spawn(move || answer_late(socket));
        }
    });
    let folder = tempfile::tempdir().expect("makes a folder");
    let (_nginx, target) = nginx(folder.path(), &behind, "keepalive 8;");
    let (grown, count, mean_ns) = measure(target, Connection::Kept, "asked.sent_count");
    check(&grown, &behind, count, mean_ns);
}

/// Reads the beginning of a request, answers, and then reads the rest, as php-fpm does.
const READS_LATE: &str = r#"
import socket, sys, threading
def serve(connection):
    connection.recv(10)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nlate\n")
    connection.recv(100)
    connection.close()
server = socket.create_server((sys.argv[1], 0))
print("%s:%d" % server.getsockname(), flush=True)
while True:
    threading.Thread(target=serve, args=server.accept()[:1], daemon=True).start()
"#;

#[test]
fn what_is_read_of_a_request_after_its_answer_is_not_another_request() {
    if !sysdyno_needs::has("requests that are read late", &["python3", "root"]) {
        return;
    }
    let (_server, listening) = started(READS_LATE, "127.0.0.1");
    let (grown, count, _) =
        measure(listening.parse().expect("an address"), Connection::OfOneRequest, "requests.read_count");
    let of = |name: &str| grown[&(name.to_owned(), "tier:target".to_owned())] / count;
    assert!(is_near(of("requests.read_count"), 1.0, 0.05), "{grown:?}");
    assert!(of("requests.merged_count") < 0.01, "{grown:?}");
}

fn answer_late(mut socket: TcpStream) {
    let mut buffer = [0; 4096];
    while socket.read(&mut buffer).is_ok_and(|length| length > 0) {
        thread::sleep(Duration::from_nanos(LATE_NS as u64));
        if socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nlate\n").is_err() {
            return;
        }
    }
}

#[test]
fn the_program_in_the_repository_was_built_from_its_source() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let source = fs::read(here.join("bpf/requests.bpf.c")).expect("is there");
    let built = fs::read(here.join("assets/requests.bpf.o")).expect("is there");
    let digest: String = Sha256::digest(&source).iter().map(|byte| format!("{byte:02x}")).collect();
    let is_in = built.windows(digest.len()).any(|bytes| bytes == digest.as_bytes());
    assert!(is_in, "the program is not of this source: run scripts/build-bpf");
}
