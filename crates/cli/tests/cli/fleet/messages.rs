//! Messages that a broker brings twice, or late: the load is sent once, and counted once.
//!
//! The broker is a real one whose configuration is changed: what controller and agent publish arrives under another name, where a
//! go-between in an account of its own takes it, and publishes it where it was meant to arrive, when and as often as it likes.

use super::{LEASE_LIMIT, LIMIT, is_thorough, signal};
use crate::rig::fleet::{NEAR_NEEDS, NearFleet};
use crate::rig::program::{Outcome, Program, Target};
use crate::rig::{skip, wait_until};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sysdyno_fleet::{Credentials, NatsClient, NatsMessage};

/// Subjects of sessions, and what they are called on their way.
const WAYS: [(&str, &str); 2] = [("sysdyno.1.from", "late.from"), ("sysdyno.1.to", "late.to")];

/// What the go-between does with each message.
#[derive(Clone, Copy, Debug)]
struct Way {
    delay: Duration,
    /// How much later it comes for the second time; `None`: it comes once.
    again: Option<Duration>,
}

/// Lets all messages of sessions take a way over the account of agent 'a1'.
fn divert(near: &NearFleet) {
    let path = near.state().join("fleet/broker.conf");
    let text = std::fs::read_to_string(&path).expect("is there");
    let (head, users) = text.split_once("authorization {").expect("it has users");
    let (_, users) = users.split_once("users: [\n").expect("a list");
    let (users, _) = users.rsplit_once("  ]").expect("it ends");
    // What somebody may publish is looked up under the other name; all that matters here is the way.
    let keys = |is_between: bool| {
        let chosen = users.lines().filter(move |user| user.contains("sysdyno.1.here.a1") == is_between);
        let keys = chosen.filter_map(|user| user.split('"').nth(1));
        keys.map(|key| format!("{{ nkey: \"{key}\" }}")).collect::<Vec<_>>().join(", ")
    };
    let list = |of: fn(&(&str, &str)) -> String| WAYS.iter().map(of).collect::<Vec<_>>().join(", ");
    let mappings =
        list(|(meant, late)| format!("\"{meant}.*.*\": \"{late}.{{{{wildcard(1)}}}}.{{{{wildcard(2)}}}}\""));
    let taken = list(|(_, late)| format!("{{ stream: \"{late}.*.*\" }}"));
    let given = list(|(meant, _)| format!("{{ stream: \"{meant}.*.*\" }}"));
    let takes = list(|(_, late)| format!("{{ stream: {{ account: FLEET, subject: \"{late}.*.*\" }} }}"));
    let gets = list(|(meant, _)| format!("{{ stream: {{ account: BETWEEN, subject: \"{meant}.*.*\" }} }}"));
    let accounts = format!(
        "accounts {{\n  FLEET {{\n    users: [ {} ]\n    mappings: {{ {mappings} }}\n    exports: [ {taken} ]\n    \
         imports: [ {gets} ]\n  }}\n  BETWEEN {{\n    users: [ {} ]\n    exports: [ {given} ]\n    \
         imports: [ {takes} ]\n  }}\n}}\n",
        keys(false),
        keys(true)
    );
    std::fs::write(&path, format!("{head}{accounts}")).expect("writes");
    signal(near.broker_pid(), Signal::HUP);
    let log = near.state().join("fleet/broker.log");
    let is_read =
        || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("Reloaded server configuration"));
    assert!(wait_until(Duration::from_secs(10), is_read), "{:?}", std::fs::read_to_string(&log));
}

/// A client in the account between the others.
fn between(near: &NearFleet) -> NatsClient {
    let Credentials { broker, login, .. } = Credentials::read(&near.credentials("a1"), None).expect("reads");
    let broker = broker.expect("is there");
    // The broker lets nobody in while it takes over its accounts.
    let connect = || NatsClient::connect(&broker, login.clone(), "between").ok();
    let mut client = None;
    let is_in = || {
        client = connect();
        client.is_some()
    };
    assert!(wait_until(LIMIT, is_in), "the broker does not let it in");
    client.expect("is in")
}

/// Brings messages until it is told to stop; how many came.
fn bring(client: &NatsClient, way: Way, stop: &AtomicBool) -> u64 {
    let queues = WAYS.map(|(_, late)| client.subscribe(&format!("{late}.*.*")));
    let (mut due, mut count): (Vec<(Instant, String, Vec<u8>)>, u64) = (Vec::new(), 0);
    while !stop.load(Ordering::Relaxed) {
        for ((meant, late), queue) in WAYS.iter().zip(&queues) {
            for NatsMessage { subject, payload } in queue.try_iter() {
                let (subject, at) = (subject.replacen(late, meant, 1), Instant::now() + way.delay);
                due.extend(way.again.map(|again| (at + again, subject.clone(), payload.clone())));
                due.push((at, subject, payload));
                count += 1;
            }
        }
        due.sort_by_key(|(at, ..)| *at);
        let ready = due.partition_point(|(at, ..)| *at <= Instant::now());
        for (_, subject, payload) in due.drain(..ready) {
            client.publish(&subject, &payload);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    count
}

/// Requests that the target has received.
fn served(url: &str) -> u64 {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).expect("connects");
    stream.write_all(b"GET /sysdyno-counts HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("asks");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("answers");
    let (_, body) = text.split_once("\r\n\r\n").expect("a response");
    let counts: serde_json::Value = serde_json::from_str(body.trim()).expect("JSON");
    counts["requests"].as_u64().expect("a count")
}

/// A load of 600 requests in three seconds by an agent whose messages take this way, and what the server counted. `None`:
/// something is lacking.
fn load(way: Way) -> Option<(Outcome, u64)> {
    let mut near = NearFleet::make()?;
    divert(&near);
    let client = between(&near);
    near.start_agent(&["--allow", "load,loopback"]);
    let (target, program) = (Target::start(&[]), Program::new());
    let rate = ["-c", "2", "-r", "200/s", "--arrival", "constant", "-d", "3s", "-t", "1"];
    let arguments = [&["load", target.url()], &rate[..], &["--load-from", "fleet:a0", "--json"]].concat();
    let stop = AtomicBool::new(false);
    let (outcome, count) = std::thread::scope(|scope| {
        let between = scope.spawn(|| bring(&client, way, &stop));
        let outcome = near.start(&program, &arguments).finish(LIMIT);
        stop.store(true, Ordering::Relaxed);
        (outcome, between.join().expect("does not panic"))
    });
    assert!(count > 10, "nothing went by the other way: {outcome}");
    let served = served(target.url());
    std::thread::sleep(LEASE_LIMIT);
    assert_eq!(self::served(target.url()), served, "it sends after the end: {outcome}");
    Some((outcome, served))
}

#[test]
fn messages_that_come_late_and_twice_are_taken_once() {
    let test = "messages_that_come_late_and_twice_are_taken_once";
    if !is_thorough(test) {
        return;
    }
    // The last one is later than the lease, which is about silence: what comes regularly renews it, however old it is.
    for (delay_ms, again_ms) in [(0, Some(0)), (0, Some(700)), (100, Some(30)), (1000, None)] {
        let way = Way { delay: Duration::from_millis(delay_ms), again: again_ms.map(Duration::from_millis) };
        let Some((outcome, served)) = load(way) else { return skip(test, NEAR_NEEDS) };
        assert!(outcome.code == Some(0) || outcome.is_disturbed(), "{way:?}: {outcome}");
        let counts = (outcome.count("scheduled"), outcome.count("ok"), served);
        assert_eq!(counts, (600, 600, 600), "{way:?}: {outcome}");
    }
}
