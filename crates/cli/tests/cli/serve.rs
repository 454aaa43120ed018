//! `sysdyno serve` as a process: where it listens, whom it answers, and how it ends. Its pages in a browser: `web/test/browser`.

use crate::rig::program::Program;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

#[test]
fn it_prints_a_url_that_lets_in_and_ends_with_a_signal() {
    let program = Program::new();
    let mut child = program.command(["serve"]).stderr(Stdio::null()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("its output is ours")).lines();
    let url = lines.next().expect("a line").expect("it can be read");
    let (address, token) = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once("/?token="))
        .unwrap_or_else(|| panic!("no URL with a token: {url}"));
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    assert_eq!(token.len(), 32);
    let get = |path: &str| {
        let mut stream = TcpStream::connect(address).expect("it listens");
        let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("sends");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("receives");
        response
    };
    assert!(get("/").starts_with("HTTP/1.1 403 "));
    assert!(get(&format!("/?token={token}")).starts_with("HTTP/1.1 303 "));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it is there");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn it_listens_on_loopback_only_and_says_what_to_type_instead() {
    let program = Program::new();
    let outcome = program.run(["serve", "--listen", "0.0.0.0:8080"]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("error: cannot listen on 0.0.0.0:8080: only loopback"), "{outcome}");
    assert!(
        outcome.stderr.contains("hint: on the other host, type `ssh -L 8080:127.0.0.1:8080 HOST`"),
        "{outcome}"
    );
}
