//! Whatever dies at whatever point, settings are what they were: kills and failures at every system call.
//!
//! Runs in network and mount namespaces of its own, so that the host's settings are not at risk; the host's are compared
//! too. `make test` takes a sample of the points, `make crash-test` (`SYSDYNO_CRASH_TESTS=all`) all of them. Figures are
//! printed. Needs root, strace and unshare.
#![expect(clippy::print_stdout, reason = "a test without a harness prints its own figures")]

mod kinds;
mod rig;
mod scenarios;
mod snapshot;
mod sweep;

use rig::Rig;
use snapshot::Snapshot;
use std::process::{Command, ExitCode};

/// Set for the process inside of the namespaces.
const INSIDE: &str = "SYSDYNO_CRASH_INSIDE";

fn main() -> ExitCode {
    // Runners that only list tests find none here.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    if let Some(needs) = missing() {
        println!("skipped: crash tests of settings: needs {needs}");
        return ExitCode::SUCCESS;
    }
    let before = Snapshot::take();
    let own = std::env::current_exe().expect("this program has a path");
    let status = Command::new("unshare").args(["--net", "--mount"]).arg(own).env(INSIDE, "1").status();
    let status = status.expect("unshare can be run");
    let differences = before.differences(&Snapshot::take());
    for difference in &differences {
        println!("FAILED: the host's own settings: {difference}");
    }
    if status.success() && differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn missing() -> Option<&'static str> {
    let is_there = |program: &str| {
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    if !rustix::process::geteuid().is_root() {
        return Some("root");
    }
    ["strace", "unshare"].into_iter().find(|program| !is_there(program))
}

fn inside() -> ExitCode {
    let mut rig = Rig::new();
    snapshot::check_mask();
    scenarios::run(&mut rig);
    sweep::run(&mut rig);
    kinds::run(&mut rig);
    rig.figures()
}
