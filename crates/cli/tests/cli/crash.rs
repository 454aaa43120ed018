//! After `kill -9` at any moment the run folder opens and is called incomplete.

use crate::rig::hostile::{Hostile, Verb};
use crate::rig::program::Program;
use crate::rig::wait_until;
use rustix::process::Signal;
use std::fs;
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);
const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A moment to die at, by what is in the run folder.
type Moment = (&'static str, fn(&Path) -> bool);

/// From the first file that makes the folder a run, to several seconds of data.
const MOMENTS: &[Moment] = &[
    ("the manifest is there", |folder| folder.join("manifest.json").exists()),
    ("the plan is there", |folder| folder.join("plan.json").exists()),
    ("the trial has begun", |folder| has_lines(folder, "trials.jsonl", 1)),
    ("the first readings are there", |folder| has_lines(folder, "series.jsonl", 3)),
    ("the first interval is there", |folder| has_lines(folder, "intervals.jsonl", 1)),
    ("three intervals are there", |folder| has_lines(folder, "intervals.jsonl", 3)),
];

fn has_lines(folder: &Path, file: &str, count: usize) -> bool {
    let bytes = fs::read(folder.join(file)).unwrap_or_default();
    bytes.iter().filter(|byte| **byte == b'\n').count() >= count
}

#[test]
fn a_killed_run_opens_and_is_called_incomplete() {
    let server = Hostile::start(vec![Verb::Expect, Verb::Send(GOOD.as_bytes()), Verb::Again]);
    for (moment, has_come) in MOMENTS {
        let program = Program::new();
        let url = server.url();
        let load = ["load", &url, "--connections", "2", "--duration", "60s", "--json"];
        let mut running = program.start(load);
        let came = wait_until(LIMIT, || {
            program.run_folder().is_some_and(|folder| has_come(&folder)) || !running.is_running()
        });
        running.signal(Signal::KILL);
        let killed = running.finish(LIMIT);
        assert!(came && killed.code.is_none(), "{moment}: {killed}");

        let folder = program.run_folder().expect("the run folder is there");
        let shown = program.run(["show", &folder.display().to_string()]);
        assert!(matches!(shown.code, Some(0 | 3)), "killed when {moment}: {shown}");
        let text = (shown.stdout.clone() + &shown.stderr).to_lowercase();
        assert!(text.contains("incomplete"), "killed when {moment}: {shown}");
        assert!(!shown.stderr.contains("panicked"), "killed when {moment}: {shown}");
        let reported = program.run(["report", &folder.display().to_string()]);
        reported.expect_code(0);
        let page = fs::read_to_string(folder.join("report.html")).expect("the report was written");
        assert!(
            page.to_lowercase().contains("incomplete"),
            "killed when {moment}: the report does not say so"
        );
    }
}

#[test]
fn every_prefix_of_a_finished_run_opens() {
    let server = Hostile::start(vec![Verb::Expect, Verb::Send(GOOD.as_bytes()), Verb::Again]);
    let program = Program::new();
    let url = server.url();
    let load = ["load", &url, "--connections", "2", "--duration", "1s", "--json"];
    let outcome = program.run(load);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let folder = program.run_folder().expect("the run is kept");
    for file in ["trials.jsonl", "intervals.jsonl", "series.jsonl", "events.jsonl", "latency.hlog"] {
        let path = folder.join(file);
        let whole = fs::read(&path).unwrap_or_default();
        // Cut within the last line, as a crash does.
        for kept in [whole.len() * 2 / 3, whole.len().saturating_sub(3), 0] {
            fs::write(&path, &whole[..kept]).expect("a file can be written");
            let shown = program.run(["show", &folder.display().to_string()]);
            assert!(
                shown.code.is_some() && !shown.stderr.contains("panicked"),
                "{file} cut to {kept}: {shown}"
            );
        }
        fs::write(&path, &whole).expect("a file can be written");
    }
}
