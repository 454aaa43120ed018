//! The program in this kernel, told to watch only some of the connections.

use super::party::ConnectionEnd;
use super::program::{SocketProgram, Sums, WIDTH};
use super::{OF_ASKED, RequestCollector, Shown};
use crate::discover::{Entrance, Entrances, Host};
use crate::roots::Roots;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};
use sysdyno_record::plan::Endpoint;

const CONNECTIONS: usize = 256;

/// Of each connection.
const REQUESTS: usize = 10;

/// The client's end and the server's end of each connection.
type Pairs = Vec<(TcpStream, TcpStream)>;

fn connect(listener: &TcpListener) -> Pairs {
    let address = listener.local_addr().expect("is bound");
    let pair = |_| {
        let client = TcpStream::connect(address).expect("connects");
        (client, listener.accept().expect("accepts").0)
    };
    (0..CONNECTIONS).map(pair).collect()
}

fn ask(pairs: &mut Pairs) {
    let mut byte = [0];
    for (client, server) in pairs {
        for _ in 0..REQUESTS {
            client.write_all(b"?").expect("is sent");
            server.read_exact(&mut byte).expect("is read");
            server.write_all(b"!").expect("is sent");
            client.read_exact(&mut byte).expect("is read");
        }
    }
}

fn of_server(program: &SocketProgram) -> Sums {
    let all = program.sums().expect("can be read");
    let server = all.into_iter().find(|(party, _)| party.role == ConnectionEnd::Server);
    server.map_or([0; WIDTH], |(_, sums)| sums)
}

#[test]
fn an_address_that_turns_out_to_be_a_tiers_has_no_values_of_its_own_any_more() {
    let asked = |port: u16| Shown::Asked(None, Endpoint::Tcp(([10, 1, 2, 3], port).into()));
    let mut collector = RequestCollector::default();
    collector.write(&[(asked(80), [5.0; WIDTH])].into());
    assert_eq!(collector.table.values(), [Some(5.0); OF_ASKED.len()]);
    collector.write(&[(asked(8080), [7.0; WIDTH])].into());
    let (before, after) = collector.table.values().split_at(OF_ASKED.len());
    assert_eq!((before, after), ([None; OF_ASKED.len()].as_slice(), [Some(7.0); OF_ASKED.len()].as_slice()));
}

/// The program, attached, and told that the tier that the load reaches listens here.
fn watching(listener: &TcpListener) -> SocketProgram {
    let mut program = SocketProgram::load(&Roots::host()).expect("is loaded");
    program.attach().expect("is attached");
    let namespace = std::fs::metadata("/proc/self/ns/net").expect("is there").ino();
    let port = listener.local_addr().expect("is bound").port();
    let mut entrances = Entrances::default();
    entrances.hosts.insert(Entrance::Tcp { namespace, port, address: None }, Host::Tier(None));
    program.set_entrances(&entrances).expect("are told");
    program
}

#[test]
fn the_wait_for_the_rest_of_a_request_is_told_from_the_time_after_it() {
    if !sysdyno_needs::has("requests that come in two parts", &["root"]) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("is free");
    let program = watching(&listener);
    let mut client = TcpStream::connect(listener.local_addr().expect("is bound")).expect("connects");
    let (mut server, _) = listener.accept().expect("accepts");
    let (mut byte, late) = ([0], Duration::from_millis(30));
    for part in [b"?", b"!"] {
        std::thread::sleep(late);
        client.write_all(part).expect("is sent");
        server.read_exact(&mut byte).expect("is read");
    }
    std::thread::sleep(late);
    server.write_all(b".").expect("is sent");
    let [begun, _, merged, _, inside_ns, _, _, partial_ns] = of_server(&program);
    assert_eq!((begun, merged), (1, 1));
    let late_ns = late.as_nanos() as u64;
    assert!(partial_ns >= late_ns && inside_ns >= partial_ns + late_ns, "{partial_ns} of {inside_ns}");
}

#[test]
fn some_of_the_connections_stand_for_all() {
    if !sysdyno_needs::has("connections that stand for others", &["root"]) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("is free");
    let mut program = watching(&listener);
    let mut pairs = connect(&listener);

    let all = (CONNECTIONS * REQUESTS) as u64;
    ask(&mut pairs);
    let [begun, answered, merged, ..] = of_server(&program);
    assert_eq!((begun, answered, merged), (all, all, 0), "all are watched at first");

    program.set_sampling([7, 20, 1]).expect("is told");
    let (before, start) = (of_server(&program), Instant::now());
    ask(&mut pairs);
    let grown: Vec<u64> = of_server(&program).iter().zip(before).map(|(now, before)| now - before).collect();
    assert_eq!(grown[0] % (8 * REQUESTS as u64), 0, "whole connections, eightfold: {grown:?}");
    // 32 of 256 connections by chance: one in ten thousand times outside of 12 to 52.
    assert!((all * 12 / 32..=all * 52 / 32).contains(&grown[0]), "{grown:?} of {all}");
    assert_eq!(grown[0], grown[1], "{grown:?}");
    assert!(u128::from(grown[3] + grown[4]) < start.elapsed().as_nanos() * 8, "{grown:?}");

    program.set_sampling([0, 2, 2]).expect("is told");
    let before = of_server(&program);
    ask(&mut pairs);
    assert_eq!(of_server(&program)[0] - before[0], all, "all are watched again");

    program.detach();
    let before = of_server(&program);
    ask(&mut pairs);
    assert_eq!(of_server(&program), before, "nothing is watched");
    program.attach().expect("is attached again");
    ask(&mut pairs);
    assert_eq!(of_server(&program)[0] - before[0], all, "all are watched again");
}

#[test]
fn who_answers_what_it_has_read_is_told_from_who_hands_it_on() {
    if !sysdyno_needs::has("threads that have requests", &["root"]) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("is free");
    let mut program = watching(&listener);
    program.set_sampling([0, 8, 1]).expect("is told");
    let handling = program.handling();
    let (pid, own) = (std::process::id(), rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs());
    let mut client = TcpStream::connect(listener.local_addr().expect("is bound")).expect("connects");
    let (mut server, _) = listener.accept().expect("accepts");
    let mut byte = [0];
    let mut read = |server: &mut TcpStream| {
        client.write_all(b"?").expect("is sent");
        server.read_exact(&mut byte).expect("is read");
    };
    let answer = |server: &mut TcpStream| server.write_all(b"!").expect("is sent");
    assert_eq!(handling.open_ns(own), None);
    for _ in 0..20 {
        read(&mut server);
        assert!(handling.open_ns(own).is_some(), "it was read and is not answered");
        answer(&mut server);
        assert_eq!(handling.open_ns(own), None);
    }
    assert_eq!(handling.share_of(pid), Some(1));
    read(&mut server);
    program.set_sampling([0, 8, 2]).expect("is told");
    answer(&mut server);
    assert!(handling.open_ns(own).is_some(), "its answer came in another turn");
    read(&mut server);
    answer(&mut server);
    assert_eq!(handling.open_ns(own), None);
    program.detach();
    assert_eq!(handling.share_of(pid), None, "nobody takes notes");
    program.attach().expect("is attached again");
    for _ in 0..20 {
        read(&mut server);
        std::thread::scope(|scope| scope.spawn(|| answer(&mut server)).join()).expect("no panic");
        assert_eq!(handling.open_ns(own), None, "another thread has answered");
    }
    assert_eq!(handling.share_of(pid), None);
}
