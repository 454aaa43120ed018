//! Work on this host: real commands, a real Subversion working copy, and files that are gone afterwards.

use crate::rig::program::{Outcome, Program};
use crate::rig::{has, wait_until};
use rustix::process::Signal;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// A number of the summary.
#[track_caller]
fn number(outcome: &Outcome, path: &str) -> f64 {
    let json = outcome.json();
    let value = path.split('.').fold(&json["summary"], |value, key| &value[key]);
    value.as_f64().unwrap_or_else(|| panic!("no number '{path}' in {outcome}"))
}

fn tool(program: &str, folder: &Path, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).current_dir(folder).status();
    assert!(status.is_ok_and(|status| status.success()), "{program} {arguments:?}");
}

#[test]
fn a_subversion_update_is_measured_run_by_run() {
    if !has("a_subversion_update_is_measured_run_by_run", &["subversion"]) {
        return;
    }
    let program = Program::new();
    let folder = program.runs();
    tool("svnadmin", folder, &["create", "repository"]);
    let url = format!("file://{}/repository", folder.display());
    tool("svn", folder, &["checkout", "-q", &url, "wc"]);
    for revision in 1..=2 {
        for file in 0..40 {
            std::fs::write(folder.join(format!("wc/f{file}")), format!("{revision}\n")).expect("is written");
        }
        tool("svn", folder, &["add", "-q", "--force", "wc"]);
        tool("svn", folder, &["commit", "-q", "-m", "", "wc"]);
    }
    let line = [
        "load",
        "--command",
        "svn update -q -r 2 wc",
        "--prepare",
        "svn update -q -r 1 wc",
        "-n",
        "4",
        "--json",
    ];
    let outcome = program.start(line).finish(LIMIT);
    outcome.expect_code(0);
    assert_eq!(number(&outcome, "runs_count"), 4.0, "{outcome}");
    assert_eq!(number(&outcome, "ok_count"), 4.0, "{outcome}");
    // Forty files are written anew each time, and a database is locked and unlocked.
    assert!(number(&outcome, "io_calls_count.min") > 80.0, "{outcome}");
    assert!(number(&outcome, "user_us.median") + number(&outcome, "system_us.median") > 0.0, "{outcome}");
    assert!(number(&outcome, "wall_ns.min") > 0.0, "{outcome}");
    assert_eq!(std::fs::read_to_string(folder.join("wc/f0")).expect("is there"), "2\n");
    let steps = |step: &str| {
        let json = outcome.json();
        let lines = json["operations"].as_array().expect("a list").clone();
        lines.iter().filter(|line| line["command"]["step"] == step).count()
    };
    assert_eq!((steps("prepare"), steps("run"), steps("clean")), (4, 4, 0), "{outcome}");
}

#[test]
fn a_run_of_commands_is_shown_again_and_has_a_page() {
    let program = Program::new();
    let outcome = program
        .start(["load", "--command", "sh -c 'test {number} != 2'", "-n", "3", "--workers", "2"])
        .finish(LIMIT);
    outcome.expect_code(0);
    assert!(
        outcome.stdout.contains("SUSPECT") && outcome.stdout.contains("1 of 3 runs failed: exit code 1 (1)"),
        "{outcome}"
    );
    assert!(outcome.stdout.contains("3 runs = 2 ok + 1 failed + 0 timed out"), "{outcome}");
    let again = program.run(["show", "--verify"]);
    again.expect_code(0);
    assert_eq!(again.stdout, outcome.stdout);
    program.run(["report"]).expect_code(0);
    let runs: Vec<_> = std::fs::read_dir(program.runs()).expect("is there").collect();
    assert_eq!(runs.len(), 1);
    let page =
        std::fs::read_to_string(program.run_folder().expect("a run").join("report.html")).expect("a page");
    assert!(page.contains("<h1>SUSPECT: ") && page.contains("exit 1") && !page.contains("<script"), "{page}");
    program.run(["show", "--output", "csv"]).expect_code(2);
}

#[test]
fn what_never_succeeds_is_not_a_result() {
    let outcome = Program::new().run(["load", "--command", "/nowhere/at/all", "-n", "2", "--json"]);
    outcome.expect_code(3);
    let reason = &outcome.json()["verdict"]["reasons"][0];
    assert_eq!(reason["id"], "W02", "{outcome}");
    assert!(reason["text"].to_string().contains("cannot start '/nowhere/at/all'"), "{outcome}");
    assert!(outcome.json()["summary"]["wall_ns"].is_null(), "{outcome}");
    let outcome = Program::new().run(["load", "--command", "sleep 600", "-n", "1", "-T", "100ms", "--json"]);
    outcome.expect_code(3);
    assert_eq!(number(&outcome, "timed_out_count"), 1.0, "{outcome}");
}

#[test]
fn a_command_that_prepares_and_fails_ends_it() {
    let program = Program::new();
    let outcome = program.run(["load", "--command", "true", "--prepare", "false", "-n", "3"]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("cannot prepare a run with 'false': it exited with code 1"), "{outcome}");
}

#[test]
fn an_interrupt_ends_the_command_and_cleans_up_after_it() {
    let program = Program::new();
    let line =
        ["load", "--shell", "--command", "echo > begun; sleep 600", "--clean", "echo > cleaned", "--json"];
    let running = program.start(line);
    let has_begun = wait_until(LIMIT, || program.runs().join("begun").exists());
    running.signal(Signal::INT);
    let outcome = running.finish(LIMIT);
    assert!(has_begun && !outcome.is_overdue, "{outcome}");
    outcome.expect_code(130);
    assert!(program.runs().join("cleaned").exists(), "{outcome}");
    assert_eq!(number(&outcome, "interrupted_count"), 1.0, "{outcome}");
}

#[test]
fn files_are_handled_and_all_of_them_removed() {
    let program = Program::new();
    let line = [
        "load",
        "--files",
        "ground",
        "-n",
        "60",
        "--file-count",
        "10",
        "--file-size",
        "1KiB",
        "--workers",
        "2",
        "--json",
    ];
    let outcome = program.start(line).finish(LIMIT);
    outcome.expect_code(0);
    let json = outcome.json();
    let files = json["summary"]["files"].as_array().expect("a list");
    let counts: Vec<_> =
        files.iter().map(|kind| (kind["operation"].clone(), kind["ok_count"].clone())).collect();
    assert_eq!(counts[0], ("create".into(), 60.into()), "{outcome}");
    // Each of two workers keeps ten files.
    assert_eq!(counts[4], ("unlink".into(), 40.into()), "{outcome}");
    assert!(!program.runs().join("ground").exists(), "{outcome}");
}

#[test]
fn an_interrupt_removes_the_files_and_nothing_else() {
    let program = Program::new();
    let ground = program.runs().join("ground");
    let running = program.start(["load", "--files", "ground", "-d", "10m", "--json"]);
    let has_begun = wait_until(LIMIT, || ground.join("w0000").exists());
    running.signal(Signal::INT);
    let outcome = running.finish(LIMIT);
    assert!(has_begun && !outcome.is_overdue, "{outcome}");
    outcome.expect_code(130);
    assert!(!ground.exists(), "{outcome}");
    std::fs::create_dir(&ground).expect("is made");
    std::fs::write(ground.join("theirs"), "x").expect("is written");
    let outcome = program.run(["load", "--files", "ground", "-n", "1"]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("it contains 'theirs'"), "{outcome}");
    assert_eq!(std::fs::read_to_string(ground.join("theirs")).expect("is there"), "x");
}

#[test]
fn what_makes_no_sense_for_work_is_refused() {
    for (line, text) in [
        (&["--command", "true", "http://127.0.0.1/"][..], "cannot be used"),
        (&["--command", "true", "--files", "d"], "cannot be used"),
        (&["--command", "true", "--rate", "5/s"], "--workers"),
        (&["--command", "true", "-c", "5"], "--workers"),
        (&["--command", "it's"], "a quote is not closed"),
        (&["--command", "true", "--cache", "cold"], "--accept-drop-caches"),
        (&["--prepare", "true", "http://127.0.0.1/"], "--command"),
        (&["--workers", "5", "http://127.0.0.1/"], "-c sets connections"),
        (&["--command", "true", "--output", "ab"], "it is for requests"),
    ] {
        let program = Program::new();
        let outcome = program.run([&["load"], line].concat());
        outcome.expect_code(2);
        assert!(outcome.stderr.contains(text), "{line:?}: {outcome}");
        assert_eq!(program.run_folder(), None, "{line:?}");
    }
}
