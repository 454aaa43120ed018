//! The same load from another host, reached in each way that there is.

use super::{LIMIT, is_thorough};
use crate::rig::fleet::NEEDS;
use crate::rig::pair::Pair;
use crate::rig::program::{Outcome, Program, Running};
use crate::rig::ssh::Sshd;
use crate::rig::{find_program, skip, wait_until};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The generator's end of a pair, where the broker listens.
const GENERATOR_ADDRESS: &str = "10.77.0.1";

/// A broker on the generator's host of a pair, and an agent on the server's. Gone with the value.
struct PairFleet {
    state: TempDir,
    agent: Child,
}

impl PairFleet {
    fn start(pair: &Pair) -> PairFleet {
        let state = TempDir::new().expect("a folder");
        let mut up = pair.generator_command(env!("CARGO_BIN_EXE_sysdyno"));
        up.args(["fleet", "up", "--listen", GENERATOR_ADDRESS, "--agents", "a0"]);
        let ended = up.env("SYSDYNO_STATE_DIR", state.path()).output().expect("it starts");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        let mut agent = pair.server_command(env!("CARGO_BIN_EXE_sysdyno"));
        agent.args(["fleet", "agent", "--allow", "load,loopback", "--creds"]);
        agent.arg(state.path().join("fleet/agents/a0.creds"));
        agent.env("SYSDYNO_STATE_DIR", state.path().join("agent"));
        agent.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let fleet = PairFleet { agent: agent.spawn().expect("it starts"), state };
        let program = Program::new();
        let is_there = || fleet.run(pair, &program, &["fleet", "ls", "--json"]).stdout.contains("\"a0\"");
        assert!(wait_until(Duration::from_secs(30), is_there), "the agent does not answer");
        fleet
    }

    /// Runs a command on the generator's host.
    fn run(&self, pair: &Pair, program: &Program, words: &[&str]) -> Outcome {
        let mut command = pair.command(program, words);
        command.env("SYSDYNO_STATE_DIR", self.state.path());
        Running::start(command).finish(LIMIT)
    }
}

impl Drop for PairFleet {
    fn drop(&mut self) {
        let _ = self.agent.kill();
        let _ = self.agent.wait();
        let mut command = Command::new(env!("CARGO_BIN_EXE_sysdyno"));
        let _ = command.args(["fleet", "down"]).env("SYSDYNO_STATE_DIR", self.state.path()).output();
    }
}

#[test]
fn a_namespace_ssh_and_a_fleet_send_the_same_load() {
    let test = "a_namespace_ssh_and_a_fleet_send_the_same_load";
    if !is_thorough(test) {
        return;
    }
    if find_program("nats-server").is_none() {
        return skip(test, NEEDS);
    }
    let Some(pair) = Pair::make() else { return skip(test, &["root", "iproute2", "namespaces"]) };
    let Some(sshd) = Sshd::start(&pair) else { return skip(test, &["sshd", "ssh", "ssh-keygen"]) };
    let fleet = PairFleet::start(&pair);
    let config = sshd.config();
    let sent = [pair.server(), sshd.server(), "fleet:a0".to_owned()].map(|way| {
        let (target, program) = (pair.target(&[]), Program::new());
        let hosts = format!("here,{way}");
        let load =
            ["load", target.url(), "-c", "4", "-r", "500/s", "--arrival", "constant", "-d", "2s", "-t", "1"];
        let more = ["--load-from", &hosts, "--ssh-config", &config, "--json"];
        let outcome = fleet.run(&pair, &program, &[&load[..], &more].concat());
        assert_eq!(target.counts()["requests"].as_u64(), Some(outcome.count("written")), "{outcome}");
        let generators = outcome.json()["generators"].clone();
        ["/0/counts/scheduled", "/0/total/written", "/1/counts/scheduled", "/1/total/written"]
            .map(|count| generators.pointer(count).and_then(serde_json::Value::as_u64))
    });
    assert_eq!(sent, [[Some(500); 4]; 3], "by namespace, by ssh, by fleet");
}
