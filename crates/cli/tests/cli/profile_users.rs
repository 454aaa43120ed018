//! Profiles without rights: what an ordinary user sees of its own processes, and what it is told about the rest.

use crate::profile::can_profile;
use crate::rig::program::{Outcome, Running};
use crate::rig::wait_until;
use serde_json::Value;
use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// A user without any right.
const NOBODY: [&str; 5] = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];

/// A process of that user, until it is dropped.
struct Own(Child);

impl Own {
    fn start(words: &[&str]) -> Own {
        let mut command = Command::new("setpriv");
        command.args(NOBODY).args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let own = Own(command.spawn().expect("starts"));
        let name = || std::fs::read_to_string(format!("/proc/{}/comm", own.0.id())).unwrap_or_default();
        assert!(wait_until(LIMIT, || name().trim() == words[0]), "{words:?} does not start");
        own
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program as that user, who need not reach the folder that it is in: it is run by way of its open file.
fn as_nobody(words: &[&str]) -> Outcome {
    let program = File::open(env!("CARGO_BIN_EXE_sysdyno")).expect("is there");
    let mut command = Command::new("setpriv");
    command.args(NOBODY).arg("/proc/self/fd/0").args(words).current_dir("/");
    command.env("HOME", "/nonexistent").env_remove("XDG_CONFIG_HOME");
    command.stdin(program).stdout(Stdio::piped()).stderr(Stdio::piped());
    Running::start(command).finish(LIMIT)
}

/// The value of `kernel.perf_event_paranoid`, by which the kernel decides; `None`: the test cannot be made here.
fn paranoid(test: &str) -> Option<i32> {
    if !can_profile(test, &["setpriv"]) {
        return None;
    }
    std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}

fn is_of_kernel(frame: &Value) -> bool {
    frame["kind"] != "user"
}

#[test]
fn without_rights_own_programs_are_sampled_and_the_kernels_part_is_said_to_be_missing() {
    let Some(paranoid) =
        paranoid("without_rights_own_programs_are_sampled_and_the_kernels_part_is_said_to_be_missing")
    else {
        return;
    };
    // One that never leaves its code, and one that is hardly ever there.
    let programs = [
        Own::start(&["sh", "-c", "while :; do :; done"]),
        Own::start(&["dd", "if=/dev/zero", "of=/dev/null"]),
    ];
    let [own, other] = [programs[0].pid(), programs[1].pid()];
    let words = ["profile", "-p", &own, "-p", &other, "-d", "1s", "-F", "499"];
    let outcome = as_nobody(&[&words[..], &["--json"]].concat());
    if paranoid > 2 {
        outcome.expect_code(2);
        assert!(outcome.stderr.starts_with(&format!("error: cannot profile process {own}")), "{outcome}");
        return;
    }
    outcome.expect_code(0);
    let json = outcome.json();
    let (taken, summary) = (&json["profile"], &json["summary"]);
    assert!(taken["counts"]["samples_count"].as_u64() > Some(0), "{outcome}");
    let frames = taken["frames"].as_array().expect("is a list");
    let unseen = &taken["kernel_unseen"];
    assert_eq!(paranoid == 2, !frames.iter().any(is_of_kernel), "{outcome}");
    assert_eq!(paranoid == 2, unseen.is_object(), "{outcome}");
    if paranoid == 2 {
        assert_eq!(unseen["perf_event_paranoid"], 2, "{outcome}");
        let cpu_ns = unseen["processes_cpu_ns"].as_u64().expect("is counted");
        assert!(Some(cpu_ns) > summary["value_ns"].as_u64(), "{cpu_ns} of both in {outcome}");
        assert!(summary["kernel_unseen_ratio"].as_f64() > Some(0.05), "{summary}");
        let screen = as_nobody(&words);
        for text in ["busy in user code", "Not seen", "kernel.perf_event_paranoid is 2"] {
            assert!(screen.stdout.contains(text), "'{text}' is not in {screen}");
        }
    }
}

#[test]
fn children_that_begin_during_a_profile_are_sampled_without_rights() {
    let test = "children_that_begin_during_a_profile_are_sampled_without_rights";
    if paranoid(test).is_none_or(|level| level > 2) {
        return;
    }
    let parent = Own::start(&["sh", "-c", "while :; do expr 1 + 1 >/dev/null; done"]);
    let outcome = as_nobody(&["profile", "-p", &parent.pid(), "-d", "1s", "-F", "999", "--json"]);
    outcome.expect_code(0);
    let json = outcome.json();
    let processes = json["profile"]["processes"].as_array().expect("is a list");
    let children = processes.iter().filter(|process| process["name"] == "expr").count();
    assert!(children > 0, "{outcome}");
}

#[test]
fn what_needs_rights_is_refused_before_anything_is_announced() {
    let test = "what_needs_rights_is_refused_before_anything_is_announced";
    let Some(paranoid) = paranoid(test).filter(|level| *level > 0) else { return };
    let own = Own::start(&["sleep", "1000"]);
    let roots = std::process::id().to_string();
    let host = as_nobody(&["profile", "-d", "1s"]);
    let other = as_nobody(&["profile", "-p", &roots, "-d", "1s"]);
    let waits = as_nobody(&["profile", "-p", &own.pid(), "--off-cpu", "-d", "200ms"]);
    let host_text = "cannot profile this host: Permission denied";
    let mut refused =
        vec![(&host, host_text.to_owned()), (&other, format!("cannot profile process {roots}"))];
    if paranoid > 1 {
        let is_of_own = paranoid == 2;
        let what = if is_of_own { "cannot record what process" } else { "cannot profile process" };
        refused.push((&waits, format!("{what} {}", own.pid())));
    } else {
        waits.expect_code(0);
    }
    for (outcome, text) in refused {
        outcome.expect_code(2);
        assert!(outcome.stderr.starts_with(&format!("error: {text}")), "{outcome}");
        assert!(outcome.stderr.contains("\nhint: run it with `sudo`"), "{outcome}");
    }
    assert_eq!(host.stderr.contains("`-p PID`"), paranoid <= 2, "{host}");
}
