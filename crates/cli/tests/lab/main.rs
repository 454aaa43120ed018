//! Labs for real: put up, used, killed at any point, taken away, and nothing is left.
//!
//! Runs in network, mount and process namespaces of its own with an empty `/run`, so that every process, mount, namespace
//! and file that is there afterwards is a leftover; the host's links and names are compared too. `make test` takes a
//! sample of the points at which `up` and `down` are killed, `make crash-test` (`SYSDYNO_CRASH_TESTS=all`) all of them.
//! Services whose packages are not installed are skipped. Needs root, unshare and strace.
#![expect(clippy::print_stdout, reason = "a test without a harness prints its own figures")]

mod kills;
mod rig;
mod scenarios;
mod services;

use rig::Rig;
use std::process::{Command, ExitCode};

/// Set for the process inside of the namespaces.
const INSIDE: &str = "SYSDYNO_LAB_INSIDE";

fn main() -> ExitCode {
    // Runners that only list tests find none here.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    if let Some(needs) = missing() {
        println!("skipped: labs: needs {needs}");
        return ExitCode::SUCCESS;
    }
    let before = rig::host_network();
    let own = std::env::current_exe().expect("this program has a path");
    let namespaces = ["--net", "--mount", "--pid", "--fork", "--mount-proc"];
    let status = Command::new("unshare").args(namespaces).arg(own).env(INSIDE, "1").status();
    let status = status.expect("unshare can be run");
    let after = rig::host_network();
    if before != after {
        println!("FAILED: the host's own network: {before:?} is now {after:?}");
    }
    if status.success() && before == after { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn missing() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("root");
    }
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    ["unshare", "strace"].into_iter().find(|program| !is_there(program))
}

fn inside() -> ExitCode {
    let mut rig = Rig::new();
    scenarios::run(&mut rig);
    services::run(&mut rig);
    kills::run(&mut rig);
    rig.figures()
}
