//! Clocks: read in few places only, so that everything else can be run on a clock of its test's choosing.

use super::Violations;
use super::places::{CodePlace, Sign, check_place};
use super::tree::Tree;

/// Who may read a clock, and what reading one looks like.
const CLOCKS: CodePlace = CodePlace {
    rule: "clock",
    within: &["crates/"],
    allowed: &[
        "crates/load/src/clock.rs",
        "crates/observe/src/clock",
        "crates/run/src/clock.rs",
        "crates/cli/",
    ],
    sign: Sign::Code(&[
        "Instant::now",
        "SystemTime::now",
        "clock_gettime",
        "UNIX_EPOCH.elapsed",
        "gettimeofday",
    ]),
    message: "clocks are read in load::clock, observe::clock, run::clock and the program; elsewhere time is a parameter",
};

/// Checks all production code.
pub fn check(tree: &Tree, found: &mut Violations) {
    check_place(tree, &CLOCKS, found);
}
