//! `sysdyno serve` as a process: where it listens, whom it answers, and how it ends. Its pages in a browser: `web/test/browser`.

use crate::rig::fleet::{NEAR_NEEDS, NearFleet};
use crate::rig::program::Program;
use crate::rig::{has, wait_until};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server of pages, killed with the value.
pub(crate) struct Served {
    child: Child,
    address: String,
    token: String,
}

impl Served {
    pub(crate) fn start(mut command: Command) -> Served {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output is ours")).lines();
        let url = lines.next().expect("a line").expect("it can be read");
        let (address, token) = url
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once("/?token="))
            .unwrap_or_else(|| panic!("no URL with a token: {url}"));
        Served { child, address: address.to_owned(), token: token.to_owned() }
    }

    /// The answer to a request of somebody with these head lines.
    fn get(&self, path: &str, lines: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let address = &self.address;
        let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{lines}\r\n");
        stream.write_all(head.as_bytes()).expect("sends");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("receives");
        response
    }

    /// The answer to a browser that was let in.
    pub(crate) fn page(&self, path: &str) -> String {
        let port = self.address.rsplit(':').next().unwrap_or_default();
        self.get(path, &format!("Cookie: sysdyno-{port}={}\r\n", self.token))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_prints_a_url_that_lets_in_and_ends_with_a_signal() {
    let program = Program::new();
    let mut served = Served::start(program.command(["serve"]));
    assert!(served.address.starts_with("127.0.0.1:"), "{}", served.address);
    assert_eq!(served.token.len(), 32);
    assert!(served.get("/", "").starts_with("HTTP/1.1 403 "));
    assert!(served.get(&format!("/?token={}", served.token), "").starts_with("HTTP/1.1 303 "));
    assert!(served.page("/fleet").ends_with("\r\n\r\n[]"), "there is no fleet");
    let pid = rustix::process::Pid::from_child(&served.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it is there");
    assert_eq!(served.child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn agents_of_a_fleet_are_shown_as_free_and_as_silent() {
    if !has("agents_of_a_fleet_are_shown_as_free_and_as_silent", NEAR_NEEDS) {
        return;
    }
    let Some(mut near) = NearFleet::make() else { return };
    near.start_agent(&["--allow", "load", "--labels", "site=east"]);
    let program = Program::new();
    let mut command = near.command(&["serve"]);
    command.env("SYSDYNO_RUNS_DIR", program.runs());
    let served = Served::start(command);
    let limit = Duration::from_secs(60);
    let is_shown = |state: &str| {
        served.page("/fleet").contains(&format!(r#""name":"a0","state":"{state}","labels":"site=east""#))
    };
    assert!(wait_until(limit, || is_shown("free")), "{}", served.page("/fleet"));
    near.stop_agent();
    assert!(wait_until(limit, || is_shown("silent")), "{}", served.page("/fleet"));
}

#[test]
fn credentials_that_cannot_be_read_are_told_before_it_listens() {
    let program = Program::new();
    let outcome = program.run(["serve", "--nats-creds", "/nowhere/controller.creds"]);
    assert!(outcome.expect_code(2).stderr.contains("/nowhere/controller.creds"), "{outcome}");
    assert_eq!(outcome.stdout, "");
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
