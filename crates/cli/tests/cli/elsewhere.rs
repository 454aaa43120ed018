//! An nginx whose requests wait for somebody who cannot be looked into: the address is named, and so is the time.

use crate::rig::nginx::Nginx;
use crate::rig::program::Program;
use crate::rig::{find_program, skip};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

const NEEDS: &[&str] = &["nginx", "python3", "iproute2", "root", "namespaces"];

/// Answers each request after 60 ms, in a network namespace that only a thread of it was in: like another host's, its sockets
/// are in no list of this one.
const LATE: &str = r#"
import asyncio, ctypes, os, socket, sys, threading
made = []
def listen():
    inside = os.open("/run/netns/" + sys.argv[1], os.O_RDONLY)
    if ctypes.CDLL(None).setns(inside, 0x40000000) == 0:
        made.append(socket.create_server((sys.argv[2], 8080)))
thread = threading.Thread(target=listen)
thread.start()
thread.join()
async def serve(reader, writer):
    while await reader.readuntil(b"\r\n\r\n"):
        await asyncio.sleep(0.06)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nlate\n")
async def main():
    server = await asyncio.start_server(serve, sock=made[0])
    print("ready", flush=True)
    await server.serve_forever()
asyncio.run(main())
"#;

/// Of the link's other end.
const MAC: &str = "02:00:00:4f:00:02";

/// The server and its namespace, gone with the value. Each test has a network.
struct Elsewhere {
    network: u8,
    namespace: String,
    server: Option<Child>,
}

impl Elsewhere {
    /// `None` without the rights and the programs.
    fn start(network: u8) -> Option<Elsewhere> {
        let namespace = format!("sysdyno-e{network}-{}", std::process::id());
        let mut made = Elsewhere { network, namespace, server: None };
        let (inside, link) = (made.namespace.as_str(), made.link());
        let is_made = ip(&["netns", "add", inside])
            && ip(&["link", "add", &link, "type", "veth", "peer", "name", "e1", "netns", inside])
            && ip(&["addr", "add", &format!("10.79.{network}.1/24"), "dev", &link])
            && ip(&["link", "set", &link, "up"])
            && ip(&["-n", inside, "addr", "add", &format!("{}/24", made.address()), "dev", "e1"])
            && ip(&["-n", inside, "link", "set", "e1", "address", MAC])
            && ip(&["-n", inside, "link", "set", "e1", "up"])
            && ip(&["neigh", "add", &made.dead(), "lladdr", MAC, "dev", &link]);
        if !is_made {
            return None;
        }
        let mut command = Command::new(find_program("python3")?);
        command.args(["-c", LATE, inside, &made.address()]).stdout(Stdio::piped());
        let mut server = command.stderr(Stdio::null()).spawn().ok()?;
        let mut line = String::new();
        let is_said = BufReader::new(server.stdout.take()?).read_line(&mut line);
        made.server = Some(server);
        (is_said.is_ok() && line == "ready\n").then_some(made)
    }

    fn link(&self) -> String {
        format!("sysdyno-e{}", self.network)
    }

    fn address(&self) -> String {
        format!("10.79.{}.2", self.network)
    }

    /// Packets to this address arrive there, and nobody answers.
    fn dead(&self) -> String {
        format!("10.79.{}.3", self.network)
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = (server.kill(), server.wait());
        }
        ip(&["link", "del", &self.link()]);
        ip(&["netns", "del", &self.namespace]);
    }
}

fn ip(arguments: &[&str]) -> bool {
    let Some(program) = find_program("ip") else { return false };
    Command::new(program).args(arguments).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[test]
fn an_event_loop_that_waits_for_another_host_has_that_as_its_bottleneck() {
    let test = "an_event_loop_that_waits_for_another_host_has_that_as_its_bottleneck";
    let Some(elsewhere) = Elsewhere::start(0) else { return skip(test, NEEDS) };
    let location = format!(
        "location / {{ proxy_pass http://{}:8080; proxy_http_version 1.1; proxy_set_header Connection ''; }}",
        elsewhere.address()
    );
    let Some(nginx) = Nginx::start(&location) else { return skip(test, NEEDS) };
    let program = Program::new();
    program.run(["load", &nginx.url("/"), "-c", "8", "-d", "4s"]).expect_code(0);
    let explained = program.run(["explain", "--json"]).json();
    let path = explained["path"].as_array().expect("is a list");
    assert_eq!((&path[0]["name"], &path[1]["name"]), (&"nginx".into(), &"10.79.0.2:8080".into()), "{path:?}");
    assert_eq!(path[1]["is_outside"], true);
    let requests = &path[0]["requests"];
    let waiting_ns = requests["asked"][0]["waiting_ns"].as_f64().expect("is a number");
    assert!((60e6..90e6).contains(&waiting_ns), "{requests}");
    assert!(requests["elsewhere_ratio"].as_f64().is_some_and(|ratio| ratio.abs() < 0.15), "{requests}");
    let findings = explained["findings"].as_array().expect("is a list");
    let found = findings.iter().find(|finding| finding["id"] == "A05").expect("a finding");
    assert!(matches!(found["confidence"].as_str(), Some("likely" | "confirmed")), "{found}");
    assert!(found["title"].as_str().is_some_and(|title| title.contains("10.79.0.2:8080")), "{found}");
}

/// What is asked first is dead, and somebody else answers after that.
#[test]
fn an_event_loop_whose_connects_nobody_answers_has_that_as_its_bottleneck() {
    let test = "an_event_loop_whose_connects_nobody_answers_has_that_as_its_bottleneck";
    let Some(elsewhere) = Elsewhere::start(1) else { return skip(test, NEEDS) };
    let kept = "proxy_http_version 1.1; proxy_set_header Connection '';";
    let locations = format!(
        "location / {{ proxy_pass http://{}:8080; proxy_connect_timeout 300ms; error_page 504 = @living; }} \
         location @living {{ proxy_pass http://{}:8080; {kept} }}",
        elsewhere.dead(),
        elsewhere.address()
    );
    let Some(nginx) = Nginx::start(&locations) else { return skip(test, NEEDS) };
    let program = Program::new();
    program.run(["load", &nginx.url("/"), "-c", "8", "-d", "4s"]).expect_code(0);
    let explained = program.run(["explain", "--json"]).json();
    let findings = explained["findings"].as_array().expect("is a list");
    let found = findings.iter().find(|finding| finding["id"] == "A05").expect("a finding");
    assert!(matches!(found["confidence"].as_str(), Some("likely" | "confirmed")), "{found}");
    let title = found["title"].as_str().expect("is text");
    assert!(title.contains("10.79.1.3:8080, where nobody answers connects"), "{title}");
    assert!(found["remedy"].as_str().is_some_and(|remedy| remedy.contains("firewall")), "{found}");
}
