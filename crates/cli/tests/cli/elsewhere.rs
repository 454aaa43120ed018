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

/// The server and its namespace, gone with the value.
struct Elsewhere {
    namespace: String,
    server: Option<Child>,
}

impl Elsewhere {
    const ADDRESS: &'static str = "10.79.0.2";

    /// `None` without the rights and the programs.
    fn start() -> Option<Elsewhere> {
        let namespace = format!("sysdyno-e{}", std::process::id());
        let mut made = Elsewhere { namespace, server: None };
        let inside = made.namespace.as_str();
        let link = ["link", "add", "sysdyno-e0", "type", "veth", "peer", "name", "e1", "netns", inside];
        let is_made = ip(&["netns", "add", inside])
            && ip(&link)
            && ip(&["addr", "add", "10.79.0.1/24", "dev", "sysdyno-e0"])
            && ip(&["link", "set", "sysdyno-e0", "up"])
            && ip(&["-n", inside, "addr", "add", &format!("{}/24", Elsewhere::ADDRESS), "dev", "e1"])
            && ip(&["-n", inside, "link", "set", "e1", "up"]);
        if !is_made {
            return None;
        }
        let mut command = Command::new(find_program("python3")?);
        command.args(["-c", LATE, inside, Elsewhere::ADDRESS]).stdout(Stdio::piped());
        let mut server = command.stderr(Stdio::null()).spawn().ok()?;
        let mut line = String::new();
        let is_said = BufReader::new(server.stdout.take()?).read_line(&mut line);
        made.server = Some(server);
        (is_said.is_ok() && line == "ready\n").then_some(made)
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = (server.kill(), server.wait());
        }
        ip(&["link", "del", "sysdyno-e0"]);
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
    let Some(_elsewhere) = Elsewhere::start() else { return skip(test, NEEDS) };
    let location = format!(
        "location / {{ proxy_pass http://{}:8080; proxy_http_version 1.1; proxy_set_header Connection ''; }}",
        Elsewhere::ADDRESS
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
