//! Labs for real: put up, used, killed at any point, taken away, and nothing is left.
//!
//! Runs in network, mount and process namespaces of its own with an empty `/run`, so that every process, mount, namespace
//! and file that is there afterwards is a leftover; the host's links and names are compared too. `make test` takes a
//! sample of the points at which `up` and `down` are killed, `make crash-test` (`SYSDYNO_CRASH_TESTS=all`) all of them.
//! Services whose packages are not installed are skipped. Needs root, unshare and strace.
//! Labs with a host behind ssh meet a real sshd in namespaces of its own, and are skipped without one.
#![expect(clippy::print_stdout, reason = "a test without a harness prints its own figures")]

mod autotune;
#[path = "../disturbance/mod.rs"]
mod disturbance;
mod experiments;
mod far;
mod far_experiments;
mod faults;
mod fence;
mod images;
mod kills;
mod links;
#[path = "../namespaces/mod.rs"]
mod namespaces;
mod rig;
mod scenarios;
mod services;
mod shares;
mod users;
mod web20;

use namespaces::Test;
use rig::Rig;
use std::process::ExitCode;

const LABS: Test<Vec<String>> = Test {
    title: "labs",
    namespaces: &["--net", "--mount", "--pid", "--fork", "--mount-proc"],
    snapshot: rig::host_network,
    differences: |before, after| {
        if before == after { vec![] } else { vec![format!("its links were {before:?} and are {after:?}")] }
    },
    inside,
};

fn main() -> ExitCode {
    LABS.run()
}

fn inside() -> ExitCode {
    let mut rig = Rig::new();
    scenarios::run(&mut rig);
    fence::run(&mut rig);
    links::run(&mut rig);
    services::run(&mut rig);
    web20::run(&mut rig);
    images::run(&mut rig);
    experiments::run(&mut rig);
    users::run(&mut rig);
    autotune::run(&mut rig);
    faults::run(&mut rig);
    kills::run(&mut rig);
    shares::run(&mut rig);
    rig.figures()
}
