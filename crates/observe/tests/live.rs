//! The sampler on the live host, with servers that the tests are themselves.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketType};
use std::collections::HashMap;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use sysdyno_observe::{
    ListenerFilter, Roots, Sampler, SamplerPlan, Sampling, describe_process, find_listeners,
};
use sysdyno_record::event::ProcessRole;
use sysdyno_record::series::{Column, Row, SeriesLine};

/// The columns and the row of a sample, with values by `name@scope`.
struct Sample {
    columns: Vec<Column>,
    row: Row,
}

impl Sample {
    fn take(sampler: &mut Sampler) -> Sample {
        let mut lines = Vec::new();
        sampler.sample(&mut lines);
        let columns = sampler.header();
        let Some(SeriesLine::Row(row)) = lines.pop() else { panic!("a row comes last") };
        assert_eq!(columns.len(), row.values.len());
        Sample { columns, row }
    }

    fn value(&self, key: &str) -> Option<f64> {
        let position =
            self.columns.iter().position(|column| format!("{}@{}", column.name, column.scope) == key);
        self.row.values[position.unwrap_or_else(|| panic!("there is no column {key}"))]
    }
}

fn sampler(plan: SamplerPlan) -> Sampler {
    Sampler::new(plan).expect("this host can be sampled")
}

/// A process that waits until its input ends, and is ended with its owner.
struct Waiting(Child);

impl Waiting {
    fn start() -> Waiting {
        Waiting(
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("there is a cat"),
        )
    }

    fn end(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().expect("ends");
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.end();
    }
}

#[test]
fn the_accept_queue_and_its_connections_are_counted() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let address = listener.local_addr().expect("is bound");
    let mut waiting: Vec<TcpStream> =
        (0..3).map(|_| TcpStream::connect(address).expect("connects")).collect();
    waiting[0].write_all(b"unread").expect("writes");
    let target_port = Some(ListenerFilter::Tcp(address));
    let mut sampler = sampler(SamplerPlan { target_port, ..SamplerPlan::host() });
    let scope = format!("listener:{address}");
    await_value(&mut sampler, &format!("listener.queue_count@{scope}"), 3.0);
    let sample = Sample::take(&mut sampler);
    assert!(sample.value(&format!("listener.limit_count@{scope}")).is_some_and(|limit| limit >= 3.0));
    drop(listener.accept().expect("one waits"));
    let sample = Sample::take(&mut sampler);
    assert_eq!(sample.value(&format!("listener.queue_count@{scope}")), Some(2.0));
}

/// Samples until a value is `expected`: a connection may come to the other side a moment after the call that made it.
fn await_value(sampler: &mut Sampler, key: &str, expected: f64) {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let value = Sample::take(sampler).value(key);
        if value == Some(expected) {
            return;
        }
        assert!(Instant::now() < deadline, "{key} is {value:?}, not {expected}");
    }
}

/// A listening socket that lets others listen at its address.
fn listen_beside(address: SocketAddr) -> TcpListener {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("opens");
    rustix::net::sockopt::set_socket_reuseport(&socket, true).expect("is allowed");
    rustix::net::bind(&socket, &address).expect("binds");
    rustix::net::listen(&socket, 16).expect("listens");
    TcpListener::from(socket)
}

#[test]
fn a_listener_that_is_replaced_is_followed_at_the_next_sample() {
    let first = listen_beside(([127, 0, 0, 1], 0).into());
    let address = first.local_addr().expect("is bound");
    let target_port = Some(ListenerFilter::Tcp(address));
    let mut sampler = sampler(SamplerPlan { target_port, ..SamplerPlan::host() });
    let queue = format!("listener.queue_count@listener:{address}");
    assert_eq!(Sample::take(&mut sampler).value(&queue), Some(0.0));
    assert_eq!(Sample::take(&mut sampler).value(&queue), Some(0.0));
    let second = listen_beside(address);
    drop(first);
    // A process that another test is just starting may have a copy of the first one, which then takes connections still.
    let waits_there = || {
        let mut polled = [PollFd::new(&second, PollFlags::IN)];
        poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 100_000_000 })) == Ok(1)
    };
    let mut connections = Vec::new();
    while !waits_there() {
        assert!(connections.len() < 100, "none comes there");
        connections.push(TcpStream::connect(address).expect("connects"));
    }
    let waiting = Sample::take(&mut sampler).value(&queue);
    assert!(waiting >= Some(1.0), "{waiting:?}");
    assert!(Sample::take(&mut sampler).value(&queue) >= waiting);
}

#[test]
fn what_is_dear_is_read_twice_a_second() {
    let mut sampler = sampler(SamplerPlan::host());
    // All of these are taken within far less than half a second, but for a halt of the machine: then there is one more.
    let samples: Vec<Sample> = (0..20).map(|_| Sample::take(&mut sampler)).collect();
    let span_ns = samples[19].row.end_mono_ns.0 - samples[0].row.begin_mono_ns.0;
    let count = |key: &str| samples.iter().filter(|sample| sample.value(key).is_some()).count() as u64;
    let most = 1 + span_ns.div_ceil(400_000_000);
    let sockets = count("sockstat.tcp_inuse_count@netns:target");
    assert!((1..=most).contains(&sockets), "{sockets} in {span_ns} ns");
    assert!(samples[0].value("memory.total_bytes@host").is_some());
    assert!(samples[1].value("kernel.running_count@host").is_some());
}

#[test]
fn connections_with_unread_and_with_unsent_bytes_are_counted() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let address = listener.local_addr().expect("is bound");
    let mut clients: Vec<TcpStream> =
        (0..3).map(|_| TcpStream::connect(address).expect("connects")).collect();
    let mut servers: Vec<TcpStream> = (0..3).map(|_| listener.accept().expect("one waits").0).collect();
    clients[1].write_all(b"unread").expect("writes");
    // More than the buffers of both ends take, to a client that does not read.
    servers[0].set_nonblocking(true).expect("is set");
    while servers[0].write(&[0; 65_536]).is_ok() {}
    let target_port = Some(ListenerFilter::Tcp(address));
    let mut sampler = sampler(SamplerPlan { target_port, ..SamplerPlan::host() });
    await_value(&mut sampler, &format!("connections.unread_count@listener:{address}"), 1.0);
    await_value(&mut sampler, &format!("connections.established_count@listener:{address}"), 3.0);
    await_value(&mut sampler, &format!("connections.unsent_count@listener:{address}"), 1.0);
    await_value(&mut sampler, &format!("listener.sockets_count@listener:{address}"), 1.0);
    await_value(&mut sampler, &format!("listener.waiting_sockets_count@listener:{address}"), 0.0);
    let _waiting = TcpStream::connect(address).expect("connects");
    await_value(&mut sampler, &format!("listener.waiting_sockets_count@listener:{address}"), 1.0);
}

/// Values of a sampler's first sample.
fn first_sample(plan: SamplerPlan) -> HashMap<String, Option<f64>> {
    let sample = Sample::take(&mut sampler(plan));
    let keys = sample.columns.iter().map(|column| format!("{}@{}", column.name, column.scope));
    keys.zip(sample.row.values).collect()
}

#[test]
fn nobody_listening_is_a_reason() {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("binds");
    assert_eq!(find_listeners(&ListenerFilter::Tcp(address)).expect("asks"), []);
    let target_port = Some(ListenerFilter::Tcp(address));
    let mut sampler = sampler(SamplerPlan { target_port, ..SamplerPlan::host() });
    let sample = Sample::take(&mut sampler);
    let queue =
        sample.columns.iter().find(|column| column.name == "listener.queue_count").expect("is listed");
    assert_eq!(queue.unavailable.as_deref(), Some("nothing listens there"));
}

#[test]
fn counters_of_the_host_do_not_fall() {
    let mut sampler = sampler(SamplerPlan::host());
    let (first, second) = (Sample::take(&mut sampler), Sample::take(&mut sampler));
    assert!(first.row.begin_mono_ns <= first.row.end_mono_ns);
    assert!(first.row.end_mono_ns <= second.row.begin_mono_ns);
    for key in ["kernel.context_switches_count@host", "Tcp.InSegs@netns:target", "self.cpu_us@host"] {
        let (before, after) = (first.value(key), second.value(key));
        assert!(before.is_some() && before <= after, "{key}: {before:?} {after:?}");
    }
}

#[test]
fn a_process_is_watched_until_it_ends() {
    let mut process = Waiting::start();
    let pid = process.0.id();
    let watch = vec![describe_process(pid, ProcessRole::Target).expect("exists")];
    let mut sampler = sampler(SamplerPlan { watch, ..SamplerPlan::host() });
    let sample = Sample::take(&mut sampler);
    let key = format!("process.threads_count@process:{pid}");
    assert_eq!(sample.value(&key), Some(1.0));
    for name in ["process.cpu_us", "process.run_delay_us", "process.rss_bytes", "process.fds_limit_count"] {
        assert!(sample.value(&format!("{name}@process:{pid}")).is_some(), "{name}");
    }
    assert!(sample.value(&format!("process.fds_count@process:{pid}")).is_some_and(|count| count >= 3.0));
    assert!(sample.value(&format!("thread.cpu_us@thread:{pid}/{pid}")).is_some());
    process.end();
    let sample = Sample::take(&mut sampler);
    assert_eq!(sample.value(&key), None);
    let column =
        sample.columns.iter().find(|column| column.scope == format!("process:{pid}")).expect("keeps it");
    assert_eq!(column.unavailable.as_deref(), Some("the process has ended"));
}

#[test]
fn threads_of_a_process_are_followed() {
    let (sender, receiver) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || receiver.recv());
    let own = describe_process(std::process::id(), ProcessRole::Generator).expect("exists");
    let pid = own.pid;
    let sample = first_sample(SamplerPlan { watch: vec![own], ..SamplerPlan::host() });
    drop(sender);
    assert!(thread.join().expect("ends").is_err());
    let scope = format!("thread:{pid}/");
    let threads =
        sample.keys().filter(|key| key.starts_with("thread.cpu_us@") && key.contains(&scope)).count();
    assert!(threads >= 2);
    assert!(sample[&format!("process.threads_count@process:{pid}")].is_some_and(|count| count >= 2.0));
    assert!(sample.contains_key("cgroup.throttled_us@cgroup:generator"));
}

#[test]
fn a_sampling_takes_rows_at_its_rate_until_it_is_stopped() {
    const ROWS: usize = 5;
    let (sender, receiver) = mpsc::channel();
    let plan = SamplerPlan { hz: 500.0, ..SamplerPlan::host() };
    // The receiver may have gone when the last rows come.
    let sampling = Sampling::start(plan, move |line| drop(sender.send(line))).expect("starts");
    let mut rows: Vec<Row> = Vec::new();
    while rows.len() < ROWS {
        if let SeriesLine::Row(row) = receiver.recv().expect("goes on") {
            rows.push(row);
        }
    }
    let end = sampling.stop();
    assert!(end.samples >= ROWS as u64);
    assert!(rows.windows(2).all(|pair| pair[0].end_mono_ns <= pair[1].begin_mono_ns));
    let span_ns = rows[ROWS - 1].begin_mono_ns.since(rows[0].begin_mono_ns);
    let least_ns = (ROWS as u64 - 2) * 2_000_000;
    assert!(span_ns >= least_ns, "no two samples share a deadline: {span_ns}");
}

#[test]
fn plans_that_cannot_be_carried_out_are_refused() {
    for hz in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        assert!(Sampler::new(SamplerPlan { hz, ..SamplerPlan::host() }).is_err(), "{hz}");
    }
    let roots = Roots::at("/nowhere");
    let error =
        Sampler::new(SamplerPlan { roots, ..SamplerPlan::host() }).err().expect("is refused").to_string();
    assert_eq!(error, "cannot sample the host: '/nowhere/proc' is not a folder");
}
