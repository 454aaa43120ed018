//! A generator that is not given enough CPU says so, and does not blame the server.

use crate::rig::cgroup::CpuQuota;
use crate::rig::nginx::Nginx;
use crate::rig::pair::Pair;
use crate::rig::program::{Program, Running};
use crate::rig::{skip, wait_until};
use std::process::Stdio;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

/// More than a generator with one thread takes. Unit: percent of a CPU.
const AMPLE: u64 = 400;

/// Less than it gets on any machine, so that the quota is what it waits for, and not others. Unit: percent of a CPU.
const SCARCE: u64 = 5;

#[test]
fn a_generator_under_a_cpu_quota_is_invalid_with_m01_on_a_quiet_machine() {
    let test = "a_generator_under_a_cpu_quota_is_invalid_with_m01";
    let Some(nginx) = Nginx::start("location = /ok { return 200 'hello'; }") else {
        return skip(test, &["nginx"]);
    };
    let Some(quota) = CpuQuota::create("generator", AMPLE) else {
        return skip(test, &["root", "cgroup-cpu"]);
    };
    let url = nginx.url("/ok");
    let program = Program::alone();
    let load = ["load", &url, "--connections", "16", "--threads", "1", "--duration", "4s", "--json"];
    let running = Running::start(program.command_after(&quota.enter(), load));
    // It begins and concludes with as much as it wants: only the load is slowed down, whatever the machine is busy with.
    assert!(wait_until(LIMIT, || nginx.logged_count() > 0), "the load never begins");
    quota.set_percent(SCARCE).expect("a quota can be changed");
    let trials = || std::fs::read_to_string(program.run_folder()?.join("trials.jsonl")).ok();
    let is_over = || trials().is_some_and(|trials| trials.lines().any(|line| line.starts_with("{\"end\"")));
    assert!(wait_until(LIMIT, is_over), "the load never ends");
    quota.set_percent(AMPLE).expect("a quota can be changed");
    let outcome = running.finish(LIMIT);
    outcome.expect_code(3);
    assert_eq!(outcome.json()["verdict"]["status"], "INVALID", "{outcome}");
    assert!(outcome.reasons().contains(&"M01".to_owned()), "{outcome}");

    let folder = program.run_folder().expect("the run is kept");
    let shown = program.run(["show", &folder.display().to_string()]);
    assert!(shown.stdout.contains("at least"), "{shown}");
}

#[test]
fn a_servers_quota_is_found_from_within_a_namespace_that_hides_control_groups_on_a_quiet_machine() {
    let test = "a_servers_quota_is_found_from_within_a_namespace_that_hides_control_groups";
    let (Some(pair), Some(quota)) = (Pair::make(), CpuQuota::create("server", 10)) else {
        return skip(test, &["root", "iproute2", "namespaces", "cgroup-cpu"]);
    };
    let target = pair.target(&[]);
    quota.admit(target.pid());
    let program = Program::alone();
    // `ip netns exec` mounts a fresh /sys, in which no hierarchy of control groups is mounted.
    let mut command = pair.server_command(env!("CARGO_BIN_EXE_sysdyno"));
    command.args(["load", target.url(), "-c", "16", "-d", "4s", "--json"]);
    command.env("SYSDYNO_RUNS_DIR", program.runs()).current_dir(program.runs());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let outcome = Running::start(command).finish(Duration::from_secs(60));
    drop(target);
    let json = outcome.json();
    let findings = json["findings"].as_array().cloned().unwrap_or_default();
    let found = findings.iter().find(|finding| finding["id"] == "C03");
    assert!(found.is_some_and(|finding| finding["confidence"] != "excluded"), "{outcome}");
}
