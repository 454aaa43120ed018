//! A test without a harness that runs in namespaces of its own, and compares what the host is before and after.

use std::env;
use std::process::{Command, ExitCode};

/// Set for the process inside of the namespaces.
const INSIDE: &str = "SYSDYNO_TEST_INSIDE";

/// What such a test needs.
const NEEDS: [&str; 3] = ["root", "strace", "unshare"];

/// What runs inside, and what of the host must not change meanwhile.
pub struct Test<S> {
    /// What is tested, for those who read that it was skipped.
    pub title: &'static str,
    /// Options of `unshare`: the namespaces that it has of its own.
    pub namespaces: &'static [&'static str],
    /// Takes down what the host is.
    pub snapshot: fn() -> S,
    /// What differs between two of them, in words.
    pub differences: fn(&S, &S) -> Vec<String>,
    /// The test itself.
    pub inside: fn() -> ExitCode,
}

impl<S> Test<S> {
    /// The main function of the test; without root or the programs that it needs, it says so and passes.
    pub fn run(&self) -> ExitCode {
        // Runners that only list tests find none here.
        if env::args().any(|argument| argument == "--list") {
            return ExitCode::SUCCESS;
        }
        if env::var_os(INSIDE).is_some() {
            return (self.inside)();
        }
        if !sysdyno_needs::has(self.title, &NEEDS) {
            return ExitCode::SUCCESS;
        }
        let before = (self.snapshot)();
        let own = env::current_exe().expect("this program has a path");
        let status = Command::new("unshare").args(self.namespaces).arg(own).env(INSIDE, "1").status();
        let status = status.expect("unshare can be run");
        let differences = (self.differences)(&before, &(self.snapshot)());
        for difference in &differences {
            println!("FAILED: the host is not as it was: {difference}");
        }
        if status.success() && differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
