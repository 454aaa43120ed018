//! A fleet: a broker and an nginx in the middle of a star, an agent on each of its ends, and a controller on the last one. Gone
//! with the value.

use super::pair::processes_with;
use super::program::{Program, Running};
use super::star::Star;
use super::{find_program, wait_until};
use serde_json::Value;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The address of broker and server.
const ADDRESS: &str = "10.78.0.1";

/// What tests of fleets need.
pub const NEEDS: &[&str] = &["root", "iproute2", "nginx", "namespaces", "nats-server"];

pub struct FleetRig {
    star: Star,
    state: TempDir,
    agents: Vec<Option<Child>>,
}

impl FleetRig {
    /// A broker, and so many agents that may send load, with a label `number` each. `None`: something is lacking.
    pub fn make(agents: usize) -> Option<FleetRig> {
        let mut rig = FleetRig::without_agents(agents)?;
        (0..agents).for_each(|number| rig.start_agent(number, &["--allow", "load"]));
        rig.await_agents(agents);
        Some(rig)
    }

    /// The same, whose agents have credentials and are not started.
    pub fn without_agents(agents: usize) -> Option<FleetRig> {
        find_program("nats-server")?;
        let star = Star::make(agents + 1)?;
        let none = (0..agents).map(|_| None).collect();
        let rig = FleetRig { star, state: TempDir::new().expect("a folder"), agents: none };
        let names: Vec<String> = (0..agents).map(|number| format!("a{number}")).collect();
        rig.fleet_up(&names.join(","));
        Some(rig)
    }

    pub fn star(&self) -> &Star {
        &self.star
    }

    pub fn state(&self) -> &Path {
        self.state.path()
    }

    /// Starts the broker, or starts it again.
    pub fn fleet_up(&self, agents: &str) {
        let mut command = self.star.server_command(env!("CARGO_BIN_EXE_sysdyno"));
        command.args(["fleet", "up", "--listen", ADDRESS, "--agents", agents]);
        let ended = command.env("SYSDYNO_STATE_DIR", self.state()).output().expect("it starts");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }

    /// The process of the broker.
    pub fn broker_pid(&self) -> u32 {
        broker_pid(self.state())
    }

    /// The process of an agent.
    pub fn agent_pid(&self, number: usize) -> u32 {
        self.agents[number].as_ref().expect("it was started").id()
    }

    /// The credentials of an agent.
    pub fn credentials(&self, number: usize) -> PathBuf {
        self.state().join(format!("fleet/agents/a{number}.creds"))
    }

    /// A command of an agent's host, not yet started.
    pub fn agent_command(&self, number: usize, options: &[&str]) -> Command {
        let mut command = self.star.generator_command(number, env!("CARGO_BIN_EXE_sysdyno"));
        let labels = format!("number={number},kind=test");
        command
            .args(["fleet", "agent", "--labels", &labels, "--creds"])
            .arg(self.credentials(number))
            .args(options);
        command.env("SYSDYNO_STATE_DIR", self.agent_state(number)).stdin(Stdio::null());
        command
    }

    /// The state folder of an agent's host.
    pub fn agent_state(&self, number: usize) -> PathBuf {
        self.state().join(format!("host{number}"))
    }

    /// What an agent has written into its log.
    pub fn audit(&self, number: usize) -> Vec<Value> {
        let path = self.agent_state(number).join(format!("fleet/agent/a{number}/audit.jsonl"));
        let text = fs::read_to_string(path).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    pub fn start_agent(&mut self, number: usize, options: &[&str]) {
        let mut command = self.agent_command(number, options);
        let log = fs::File::create(self.state().join(format!("agent{number}.log"))).expect("a file");
        command.stdout(Stdio::null()).stderr(log).process_group(0);
        self.agents[number] = Some(command.spawn().expect("it starts"));
    }

    /// Starts an agent that may send load and whose monotonic clock is so many seconds ahead of this host's.
    pub fn start_agent_ahead(&mut self, number: usize, seconds: u32) {
        let mut command = self.star.generator_command(number, "unshare");
        command.args(["--time", "--monotonic", &seconds.to_string(), "--fork", "--kill-child"]);
        command.args([env!("CARGO_BIN_EXE_sysdyno"), "fleet", "agent", "--allow", "load", "--creds"]);
        command.arg(self.credentials(number)).env("SYSDYNO_STATE_DIR", self.agent_state(number));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        self.agents[number] = Some(command.spawn().expect("it starts"));
    }

    /// What an agent has said.
    pub fn agent_log(&self, number: usize) -> String {
        fs::read_to_string(self.state().join(format!("agent{number}.log"))).unwrap_or_default()
    }

    /// The processes that work for controllers, of all agents.
    pub fn workers(&self) -> Vec<u32> {
        let own = self.state().as_os_str().as_encoded_bytes();
        let is_own = |pid: &u32| {
            let text = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            text.windows(own.len()).any(|piece| piece == own)
        };
        processes_with(&["agent", "--stdio", "--lease", "800ms"]).into_iter().filter(is_own).collect()
    }

    /// Kills an agent, and waits for its end.
    pub fn kill_agent(&mut self, number: usize) {
        let mut agent = self.agents[number].take().expect("it was started");
        agent.kill().expect("it can be killed");
        agent.wait().expect("it ends");
    }

    /// Waits until so many agents answer.
    pub fn await_agents(&self, count: usize) {
        let program = Program::new();
        let is_there = || self.listed(&program).len() == count;
        let logs: String = (0..self.agents.len()).map(|number| self.agent_log(number)).collect();
        assert!(wait_until(Duration::from_secs(30), is_there), "not all agents answer: {logs}");
    }

    /// The agents that answer.
    pub fn listed(&self, program: &Program) -> Vec<Value> {
        let outcome = self.start(program, ["fleet", "ls", "--json"]).finish(Duration::from_secs(20));
        assert_eq!(outcome.code, Some(0), "{outcome}");
        outcome.json()["agents"].as_array().cloned().unwrap_or_default()
    }

    /// Starts a command on the controller's host.
    pub fn start<I: AsRef<str>>(&self, program: &Program, arguments: impl IntoIterator<Item = I>) -> Running {
        let last = self.agents.len();
        let mut command = self.star.generator_command(last, env!("CARGO_BIN_EXE_sysdyno"));
        for argument in arguments {
            command.arg(argument.as_ref());
        }
        command.env("SYSDYNO_RUNS_DIR", program.runs()).env("SYSDYNO_STATE_DIR", self.state());
        command.current_dir(program.runs());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running::start(command)
    }
}

impl Drop for FleetRig {
    fn drop(&mut self) {
        for agent in self.agents.iter_mut().flatten() {
            // One that was stopped is killed as well.
            let _ = agent.kill();
            let _ = agent.wait();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_sysdyno"));
        let _ = command.args(["fleet", "down"]).env("SYSDYNO_STATE_DIR", self.state()).output();
    }
}

/// The process of a broker that was started with this state folder.
fn broker_pid(state: &Path) -> u32 {
    let text = fs::read_to_string(state.join("fleet/broker.json")).expect("a broker was started");
    let state: Value = serde_json::from_str(&text).expect("it is JSON");
    state["process"]["pid"].as_u64().expect("it has a process") as u32
}

/// What tests of fleets on the loopback interface need.
pub const NEAR_NEEDS: &[&str] = &["nats-server"];

/// A broker and one agent on the loopback interface, for which nobody need be root. Gone with the value.
pub struct NearFleet {
    state: TempDir,
    agent: Option<Child>,
}

impl NearFleet {
    /// A broker that knows agents 'a0' and 'a1'. `None`: nats-server is lacking.
    pub fn make() -> Option<NearFleet> {
        find_program("nats-server")?;
        let near = NearFleet { state: TempDir::new().expect("a folder"), agent: None };
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .and_then(|socket| socket.local_addr())
            .expect("a port");
        let ended =
            near.command(&["fleet", "up", "--listen", &port.to_string(), "--agents", "a0,a1"]).output();
        let ended = ended.expect("it starts");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        Some(near)
    }

    pub fn state(&self) -> &Path {
        self.state.path()
    }

    /// The process of the broker.
    pub fn broker_pid(&self) -> u32 {
        broker_pid(self.state())
    }

    /// A command on this host, not yet started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sysdyno"));
        command.args(arguments).env("SYSDYNO_STATE_DIR", self.state()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The credentials of an agent, or of a controller.
    pub fn credentials(&self, name: &str) -> PathBuf {
        match name {
            "controller" => self.state().join("fleet/controller.creds"),
            name => self.state().join(format!("fleet/agents/{name}.creds")),
        }
    }

    /// Starts agent 'a0', and waits until it answers.
    pub fn start_agent(&mut self, options: &[&str]) {
        let file = self.credentials("a0").display().to_string();
        let mut command = self.command(&["fleet", "agent", "--creds", &file]);
        let log = fs::File::create(self.state().join("agent.log")).expect("a file");
        command.args(options).stdout(Stdio::null()).stderr(log).process_group(0);
        self.agent = Some(command.spawn().expect("it starts"));
        let program = Program::new();
        let is_there = || self.run(&program, &["fleet", "ls", "--json"]).stdout.contains("\"a0\"");
        assert!(wait_until(Duration::from_secs(30), is_there), "it does not answer: {}", self.agent_log());
    }

    /// Ends the agent.
    pub fn stop_agent(&mut self) {
        let mut agent = self.agent.take().expect("it was started");
        agent.kill().expect("it can be killed");
        agent.wait().expect("it ends");
    }

    /// What the agent has said.
    pub fn agent_log(&self) -> String {
        fs::read_to_string(self.state().join("agent.log")).unwrap_or_default()
    }

    /// Runs a command to its end.
    pub fn run(&self, program: &Program, arguments: &[&str]) -> super::program::Outcome {
        self.start(program, arguments).finish(Duration::from_secs(60))
    }

    /// Starts a command.
    pub fn start(&self, program: &Program, arguments: &[&str]) -> Running {
        let mut command = self.command(arguments);
        command.env("SYSDYNO_RUNS_DIR", program.runs()).current_dir(program.runs());
        Running::start(command)
    }
}

impl Drop for NearFleet {
    fn drop(&mut self) {
        if let Some(agent) = &mut self.agent {
            let _ = agent.kill();
            let _ = agent.wait();
        }
        let _ = self.command(&["fleet", "down"]).output();
    }
}
