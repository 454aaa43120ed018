//! Whatever dies at whatever point, settings are what they were: kills and failures at every system call.
//!
//! Runs in network and mount namespaces of its own, so that the host's settings are not at risk; the host's are compared
//! too. `make test` takes a sample of the points, `make crash-test` (`SYSDYNO_CRASH_TESTS=all`) all of them. Figures are
//! printed. `SYSDYNO_CRASH_ONLY=losses` runs one part alone. Needs root, strace and unshare.
#![expect(clippy::print_stdout, reason = "a test without a harness prints its own figures")]

mod hangs;
mod kinds;
mod losses;
#[path = "../namespaces/mod.rs"]
mod namespaces;
mod rig;
mod scenarios;
mod snapshot;
mod sweep;

use namespaces::Test;
use rig::Rig;
use snapshot::Snapshot;
use std::process::ExitCode;

const SETTINGS: Test<Snapshot> = Test {
    title: "crash tests of settings",
    namespaces: &["--net", "--mount"],
    snapshot: Snapshot::take,
    differences: Snapshot::differences,
    inside,
};

fn main() -> ExitCode {
    SETTINGS.run()
}

fn inside() -> ExitCode {
    let mut rig = Rig::new();
    snapshot::check_mask();
    let only = std::env::var("SYSDYNO_CRASH_ONLY").ok();
    let mut part = |name: &str, run: fn(&mut Rig)| {
        if only.as_deref().is_none_or(|only| only == name) {
            run(&mut rig);
        }
    };
    part("scenarios", scenarios::run);
    part("sweep", sweep::run);
    part("losses", losses::run);
    part("kinds", kinds::run);
    rig.figures()
}
