//! Two network namespaces with a link between them: a generator's and a server's host. Gone with the value.

use super::find_program;
use super::program::Program;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The server's address in its namespace.
pub const SERVER_ADDRESS: &str = "10.77.0.2";

/// Numbers of the pairs of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// The namespaces; they end when the value is dropped.
pub struct Pair {
    ip: PathBuf,
    generator: String,
    server: String,
}

impl Pair {
    /// Makes both. `None` without the rights, or without `ip`.
    pub fn make() -> Option<Pair> {
        let ip = find_program("ip")?;
        let tag = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let pair = Pair { ip, generator: format!("sysdyno-g{tag}"), server: format!("sysdyno-s{tag}") };
        let is_made = pair.ip(&["netns", "add", &pair.generator]) && pair.ip(&["netns", "add", &pair.server]);
        let (g, s) = (pair.generator.as_str(), pair.server.as_str());
        let server_address = format!("{SERVER_ADDRESS}/24");
        let is_linked = is_made
            && pair.ip(&["-n", g, "link", "add", "v0", "type", "veth", "peer", "name", "v0", "netns", s])
            && pair.ip(&["-n", g, "addr", "add", "10.77.0.1/24", "dev", "v0"])
            && pair.ip(&["-n", s, "addr", "add", &server_address, "dev", "v0"])
            && [g, s].iter().all(|name| {
                ["v0", "lo"].iter().all(|device| pair.ip(&["-n", name, "link", "set", device, "up"]))
            });
        is_linked.then_some(pair)
    }

    /// What a user types for the server's host.
    pub fn server(&self) -> String {
        format!("netns:{}", self.server)
    }

    /// A command of the program in the generator's namespace, not yet started.
    pub fn command<I: AsRef<str>>(
        &self,
        program: &Program,
        arguments: impl IntoIterator<Item = I>,
    ) -> Command {
        let mut command = self.inside(&self.generator, env!("CARGO_BIN_EXE_sysdyno"));
        for argument in arguments {
            command.arg(argument.as_ref());
        }
        command.env("SYSDYNO_RUNS_DIR", program.runs()).current_dir(program.runs());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A command in the server's namespace, not yet started.
    pub fn server_command(&self, program: &str) -> Command {
        self.inside(&self.server, program)
    }

    /// The built-in target in the server's namespace.
    pub fn target(&self, arguments: &[&str]) -> PairTarget {
        self.target_at(SERVER_ADDRESS, arguments)
    }

    /// The same at another address of it.
    pub fn target_at(&self, address: &str, arguments: &[&str]) -> PairTarget {
        let mut command = self.server_command(env!("CARGO_BIN_EXE_sysdyno"));
        command.args(["target", "--listen", &format!("{address}:0")]).args(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("is piped"));
        let mut url = String::new();
        output.read_line(&mut url).expect("it says where it listens");
        assert!(url.starts_with("http://"), "the target says {url:?}");
        PairTarget { child, output, url: url.trim().to_owned() }
    }

    /// A command in the generator's namespace, not yet started.
    pub fn generator_command(&self, program: &str) -> Command {
        self.inside(&self.generator, program)
    }

    /// What a user types for the generator's host.
    pub fn generator(&self) -> String {
        format!("netns:{}", self.generator)
    }

    /// Gives the server's host this address too, and leads the generator's packets for everything unknown there, as a router does.
    pub fn route_through_server(&self, address: &str) {
        let is_made = self.ip(&["-n", &self.server, "addr", "add", &format!("{address}/32"), "dev", "lo"])
            && self.ip(&["-n", &self.generator, "route", "add", "default", "via", SERVER_ADDRESS]);
        assert!(is_made, "a route can be made in a namespace of our own");
    }

    fn inside(&self, namespace: &str, program: &str) -> Command {
        let mut command = Command::new(&self.ip);
        command.args(["netns", "exec", namespace, program]);
        command
    }

    fn ip(&self, arguments: &[&str]) -> bool {
        let ended = Command::new(&self.ip).args(arguments).stderr(Stdio::null()).status();
        ended.is_ok_and(|status| status.success())
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in [&self.generator, &self.server] {
            self.ip(&["netns", "del", name]);
        }
    }
}

/// The built-in target; it ends when the value is dropped.
pub struct PairTarget {
    child: Child,
    output: BufReader<ChildStdout>,
    url: String,
}

impl PairTarget {
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it; what it counted.
    pub fn counts(mut self) -> Value {
        drop(self.child.stdin.take());
        let mut text = String::new();
        self.output.read_to_string(&mut text).expect("it says what it counted");
        serde_json::from_str(&text).expect("it says so in JSON")
    }
}

impl Drop for PairTarget {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ids of the processes whose command line holds all these words.
pub fn processes_with(words: &[&str]) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("processes are listed").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_all = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.iter().all(|word| line.contains(&word.as_bytes()))
    };
    pids.filter(has_all).collect()
}
