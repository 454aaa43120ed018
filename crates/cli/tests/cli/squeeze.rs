//! Squeezes as a terminal interrupts them.

use crate::rig::program::{Program, Running, Target};
use crate::rig::{has, wait_until};
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Ctrl-C on a terminal is a signal to each process of the group, and so to what a squeeze has started.
#[test]
fn ctrl_c_ends_a_squeeze_with_the_pairs_that_it_has() {
    let test = "ctrl_c_ends_a_squeeze_with_the_pairs_that_it_has";
    if !has(test, &["root"]) {
        return;
    }
    let (program, target) = (Program::new(), Target::start(&[]));
    let state = program.runs().join("state").display().to_string();
    let runs = program.runs().join("runs");
    let words = ["squeeze", target.url(), "--only", "connections", "--noisy", "--json", "-c", "4"];
    let small = ["--window", "1s", "--warmup", "50ms", "--state-dir", &state, "--runs-dir"];
    let arguments = words.into_iter().chain(small).chain([runs.to_str().expect("is text")]);
    let mut command = program.command(arguments);
    let running = Running::start({
        command.process_group(0);
        command
    });
    let has_pair = || {
        let folders = std::fs::read_dir(&runs).into_iter().flatten().flatten();
        let mut lines =
            folders.filter_map(|folder| std::fs::read_to_string(folder.path().join("experiment.jsonl")).ok());
        lines.any(|lines| lines.contains("{\"pair\":"))
    };
    assert!(wait_until(LIMIT, has_pair), "no pair is made");
    let group = i32::try_from(running.pid()).ok().and_then(Pid::from_raw).expect("is a pid");
    kill_process_group(group, Signal::INT).expect("is there to be signalled");
    let outcome = running.finish(LIMIT);
    outcome.expect_code(130);
    let pairs = outcome.json()["pairs"].as_array().map(Vec::len);
    assert!(pairs >= Some(1), "{outcome}");
}
