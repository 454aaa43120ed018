//! What a server asks is found by its connections, and who else uses the CPUs by their time: with real processes.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use sysdyno_observe::{Sampler, SamplerPlan};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::plan::Endpoint;
use sysdyno_record::series::SeriesLine;

/// Listens at its first argument, connects to its second one, and keeps what it accepts.
const SERVER: &str = r#"
import socket, sys
def end(text):
    if text.startswith("/"):
        return socket.socket(socket.AF_UNIX), text
    host, port = text.rsplit(":", 1)
    return socket.socket(), (host, int(port))
listening, address = end(sys.argv[1])
listening.bind(address)
listening.listen(8)
asking = []
for text in sys.argv[2:]:
    one, address = end(text)
    one.connect(address)
    asking.append(one)
print(sys.argv[1] if sys.argv[1].startswith("/") else "127.0.0.1:%d" % listening.getsockname()[1], flush=True)
while True:
    asking.append(listening.accept())
"#;

/// The same, but it accepts nothing, in a process of several threads.
const IDLER: &str = r#"
import socket, threading, time
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(8)
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
print("127.0.0.1:%d" % listening.getsockname()[1], flush=True)
time.sleep(600)
"#;

/// A process that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = (self.0.kill(), self.0.wait());
    }
}

impl Running {
    fn python(script: &str, arguments: &[&str]) -> Running {
        let mut command = Command::new("python3");
        command.arg("-c").arg(script).args(arguments).stdout(Stdio::piped());
        Running(command.spawn().expect("python3 starts"))
    }

    /// A server, and where it listens.
    fn server(arguments: &[&str]) -> (Running, String) {
        Running::listening(SERVER, arguments)
    }

    fn listening(script: &str, arguments: &[&str]) -> (Running, String) {
        let mut server = Running::python(script, arguments);
        let mut line = String::new();
        let out = server.0.stdout.take().expect("is piped");
        BufReader::new(out).read_line(&mut line).expect("says where it listens");
        (server, line.trim().to_owned())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

fn sampler(target: &str) -> Sampler {
    let target_port = Some(Endpoint::Tcp(target.parse().expect("is an address")));
    let plan = SamplerPlan { target_port, ..SamplerPlan::host() };
    Sampler::new(plan).expect("starts")
}

/// Waits until a column of a target has a value above zero.
fn wait_for(target: &str, name: &str) {
    let (mut sampler, mut position) = (sampler(target), None);
    let begin = Instant::now();
    let mut is_seen = false;
    while !is_seen {
        assert!(begin.elapsed() < Duration::from_secs(60), "{name} was never above zero");
        let mut lines = Vec::new();
        sampler.sample(&mut lines);
        for line in lines {
            match line {
                SeriesLine::Header { columns, .. } => {
                    position = columns.iter().position(|column| column.name == name);
                }
                SeriesLine::Row(row) => {
                    let value = position.and_then(|position| row.values.get(position).copied().flatten());
                    is_seen |= value.is_some_and(|value| value > 0.0);
                }
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The processes that a sampler of a target comes to watch, once `is_enough`.
fn watched(target: &str, is_enough: impl Fn(&[WatchedProcess]) -> bool) -> Vec<WatchedProcess> {
    let mut sampler = sampler(target);
    let mut all: Vec<WatchedProcess> = Vec::new();
    let begin = Instant::now();
    while !is_enough(&all) {
        assert!(begin.elapsed() < Duration::from_secs(60), "never found: {all:?}");
        let mut lines = Vec::new();
        sampler.sample(&mut lines);
        for line in lines {
            if let SeriesLine::Header { came, .. } = line {
                all.retain(|known| !came.iter().any(|process| process.is_same(known)));
                all.extend(came);
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    all
}

fn of(all: &[WatchedProcess], server: &Running) -> Option<WatchedProcess> {
    all.iter().find(|process| process.pid == server.pid()).cloned()
}

#[test]
fn what_a_server_asks_and_what_that_asks_are_its_tiers_and_who_asks_them_is_not() {
    if !sysdyno_needs::has("tiers of a server", &["python3", "root"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = folder.path().join("last.sock");
    let path = path.to_str().expect("is text");
    let (last, _) = Running::server(&[path]);
    let (middle, at_middle) = Running::server(&["127.0.0.1:0", path]);
    let (first, at_first) = Running::server(&["127.0.0.1:0", &at_middle]);
    // Both are connected to the server, neither is asked by it.
    let (client, _) = Running::server(&["127.0.0.1:0", &at_first]);
    let (neighbor, _) = Running::server(&["127.0.0.1:0", &at_middle, path]);
    let all = watched(&at_first, |all| of(all, &last).is_some());
    let depth = |server| of(&all, server).map(|found| found.tier.map_or(0, |tier| tier.depth));
    assert_eq!([&first, &middle, &last].map(depth), [Some(0), Some(1), Some(2)]);
    assert_eq!([&client, &neighbor].map(depth), [None, None]);
    let tier = of(&all, &last).and_then(|found| found.tier).expect("is a tier");
    assert_eq!((tier.address, tier.asked_by_pid), (Endpoint::Unix(path.into()), middle.pid()));
}

#[test]
fn a_tier_that_accepts_nothing_is_found_by_the_connections_that_wait_for_it() {
    if !sysdyno_needs::has("a tier that accepts nothing", &["python3", "root"]) {
        return;
    }
    let (idler, at_idler) = Running::listening(IDLER, &[]);
    let (_first, at_first) = Running::server(&["127.0.0.1:0", &at_idler]);
    let all = watched(&at_first, |all| of(all, &idler).is_some_and(|found| found.tier.is_some()));
    assert_eq!(of(&all, &idler).and_then(|found| found.tier).map(|tier| tier.depth), Some(1));
}

#[test]
fn a_stopped_process_of_several_threads_is_seen_stopped() {
    if !sysdyno_needs::has("a stopped process", &["python3", "root"]) {
        return;
    }
    let (server, target) = Running::listening(IDLER, &[]);
    let stopped = Command::new("kill").args(["-STOP", &server.pid().to_string()]).status();
    assert!(stopped.is_ok_and(|status| status.success()));
    wait_for(&target, "waits.stopped_count");
}

#[test]
fn who_else_uses_a_cpu_has_a_name() {
    if !sysdyno_needs::has("who else uses a CPU", &["python3"]) {
        return;
    }
    let (_server, target) = Running::server(&["127.0.0.1:0"]);
    let busy = Running::python("while True: pass", &[]);
    let all = watched(&target, |all| of(all, &busy).is_some());
    let found = of(&all, &busy).expect("is there");
    assert_eq!(found.role, ProcessRole::Foreign);
    assert!(found.command.starts_with("python"), "{found:?}");
}
