//! An answer that was measured is given, whatever write of its record fails: disks of every size, and an error of the
//! disk at every system call that writes a run folder or a report.
//!
//! Runs in network and mount namespaces of its own. `make test` takes a sample of the points, `make crash-test`
//! (`SYSDYNO_CRASH_TESTS=all`) all of them. Figures are printed. Needs root, strace and unshare.
#![expect(clippy::print_stdout, reason = "a test without a harness prints its own figures")]

mod calls;
mod disks;
#[path = "../namespaces/mod.rs"]
mod namespaces;
mod rig;

use namespaces::Test;
use rig::Rig;
use std::process::ExitCode;

const RECORDS: Test<()> = Test {
    title: "failing writes of records",
    namespaces: &["--net", "--mount"],
    snapshot: || (),
    differences: |(), ()| Vec::new(),
    inside,
};

fn main() -> ExitCode {
    RECORDS.run()
}

fn inside() -> ExitCode {
    let mut rig = Rig::new();
    disks::run(&mut rig);
    calls::run(&mut rig);
    rig.figures()
}
