//! What an earlier version wrote is opened, and says what it said then.
//!
//! `tests/recorded/VERSION.tar.gz` holds a run folder of each kind, an experiment, the journals of a trial of settings and of a
//! lab, and in `answers/` commands with the JSON that they printed. A later version may say more. Whatever was said
//! then still is, under the same name.

use crate::rig::has;
use crate::rig::program::{Outcome, Program, Running};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use sysdyno_tune::frame::{self, Chain};

const ARCHIVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded/0.1.0.tar.gz");

/// Where the archive takes itself to be.
const HOME: &str = "/recorded";

const LIMIT: Duration = Duration::from_secs(60);

/// The archive, unpacked.
struct Recorded {
    program: Program,
    folder: PathBuf,
}

impl Recorded {
    fn unpack() -> Recorded {
        let program = Program::new();
        let folder = program.runs().join("recorded");
        fs::create_dir(&folder).expect("makes");
        let unpacked = Command::new("tar").args(["-xzf", ARCHIVE, "-C"]).arg(&folder).status();
        assert!(unpacked.is_ok_and(|status| status.success()), "'{ARCHIVE}' can be unpacked");
        Recorded { program, folder }
    }

    /// A text of the archive, with the folder that it now is in.
    fn here(&self, text: &str) -> String {
        text.replace(HOME, &self.folder.display().to_string())
    }

    fn run<I: AsRef<str>>(&self, words: impl IntoIterator<Item = I>) -> Outcome {
        let mut command = self.program.command(words);
        command.env("SYSDYNO_RUNS_DIR", self.folder.join("runs"));
        Running::start(command).finish(LIMIT)
    }

    fn entries(&self, folder: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.join(folder)).expect("is there");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("is there").path()).collect();
        paths.sort();
        paths
    }

    /// Puts a journal where its program would look for it, of the folder that it is in now.
    fn place_journal(&self, name: &str, place: &str) {
        let text = fs::read_to_string(self.folder.join(name)).expect("is text");
        let frames = frame::read(text.as_bytes());
        assert_eq!(frames.length, text.len(), "'{name}' has whole frames only");
        let mut chain = Chain::default();
        let moved: String = frames.texts.iter().map(|json| chain.frame(&self.here(json))).collect();
        let path = self.folder.join(place);
        fs::create_dir_all(path.parent().expect("is in a folder")).expect("makes");
        fs::write(path, moved).expect("writes");
    }
}

/// Where `now` lacks something of `then`, or has it otherwise.
fn lost(then: &Value, now: &Value, place: &str, found: &mut Vec<String>) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            for (name, value) in then {
                match now.get(name) {
                    Some(other) => lost(value, other, &format!("{place}.{name}"), found),
                    None => found.push(format!("{place}.{name} is gone")),
                }
            }
        }
        (Value::Array(then), Value::Array(now)) if then.len() == now.len() => {
            let pairs = then.iter().zip(now).enumerate();
            pairs.for_each(|(index, (a, b))| lost(a, b, &format!("{place}[{index}]"), found));
        }
        (Value::Number(then), Value::Number(now)) => {
            let (a, b) = (then.as_f64().expect("finite"), now.as_f64().expect("finite"));
            // The last bits of a logarithm are the C library's.
            if (a - b).abs() > 1e-9 * a.abs() {
                found.push(format!("{place} was {a} and is {b}"));
            }
        }
        _ if then == now => {}
        _ => found.push(format!("{place} was {then} and is {now}")),
    }
}

#[test]
fn every_answer_that_was_given_is_still_given() {
    let recorded = Recorded::unpack();
    let answers = recorded.entries("answers");
    assert!(answers.len() >= 9, "{answers:?}");
    for path in answers {
        let text = recorded.here(&fs::read_to_string(&path).expect("is text"));
        let then: Value = serde_json::from_str(&text).expect("is JSON");
        let words: Vec<&str> =
            then["words"].as_array().expect("is a list").iter().filter_map(Value::as_str).collect();
        let outcome = recorded.run(&words);
        outcome.expect_code(then["code"].as_i64().expect("is a number") as i32);
        let mut found = Vec::new();
        lost(&then["answer"], &outcome.json(), "", &mut found);
        assert!(found.is_empty(), "{words:?}:\n{}", found.join("\n"));
    }
}

#[test]
fn every_folder_that_was_written_has_its_page() {
    let recorded = Recorded::unpack();
    let page = recorded.folder.join("page.html").display().to_string();
    for run in recorded.entries("runs") {
        let name = run.file_name().expect("has a name").to_str().expect("is ASCII").to_owned();
        recorded.run(["report", &run.display().to_string(), "--output", &page]).expect_code(0);
        let html = fs::read_to_string(&page).expect("is text");
        // The page of work names its command, not its run.
        let is_of_it = html.contains(&name) || run.join("work.json").exists();
        assert!(html.starts_with("<!doctype html>") && is_of_it, "the page of {name}");
    }
}

#[test]
fn a_trial_of_settings_that_was_open_is_undone() {
    let recorded = Recorded::unpack();
    let at = |path: &str| recorded.folder.join("tree").join(path);
    let settings = [("vm/swappiness", "10", "60"), ("net/core/somaxconn", "8192", "4096")];
    let set = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().expect("is in a folder")).expect("makes");
        fs::write(path, format!("{text}\n")).expect("writes");
    };
    set(&at("proc/sys/kernel/random/boot_id"), "first");
    settings.iter().for_each(|(name, new, _)| set(&at("proc/sys").join(name), new));
    let journal = "tune/open/20261124-083544-13938.wal";
    recorded.place_journal("tune.wal", &format!("state/{journal}"));
    recorded.place_journal("tune.wal", &format!("tree/var/spool/sysdyno/{journal}"));
    for folder in ["state/tune", "tree/var/spool/sysdyno/tune"] {
        fs::set_permissions(recorded.folder.join(folder), fs::Permissions::from_mode(0o700))
            .expect("is ours");
    }
    let (root, state) = (recorded.here("/recorded/tree"), recorded.here("/recorded/state"));
    let tune = |words: &[&str]| {
        recorded.run(["tune", "--root", &root, "--state-dir", &state].iter().chain(words).copied())
    };
    let status = tune(&["status", "--json"]);
    let trial = &status.expect_code(0).json()["trials"][0];
    assert_eq!((&trial["phase"], &trial["settings"][1]["old"]), (&"held".into(), &"4096".into()), "{status}");
    tune(&["undo"]).expect_code(0);
    for (name, _, old) in settings {
        assert_eq!(fs::read_to_string(at("proc/sys").join(name)).expect("reads").trim(), old, "{name}");
    }
}

#[test]
fn a_lab_of_an_earlier_boot_is_known_and_removed() {
    if !has("a lab of an earlier boot", &["root"]) {
        return;
    }
    let recorded = Recorded::unpack();
    recorded.place_journal("lab.wal", "state/lab/kept.wal");
    fs::create_dir(recorded.folder.join("state/lab/kept")).expect("makes");
    let state = recorded.here("/recorded/state");
    let lab = |words: [&str; 2]| recorded.run(["lab", "--state-dir", &state].into_iter().chain(words));
    let status = lab(["status", "kept"]);
    status.expect_code(1);
    for known in ["gone since the last boot", "eth0 10.77.0.2/24", "nginx on web, 10.77.0.2:80", "delay 2ms"]
    {
        assert!(status.stdout.contains(known), "'{known}' in {status}");
    }
    lab(["down", "kept"]).expect_code(0);
    assert!(
        !recorded.folder.join("state/lab/kept.wal").exists()
            && !recorded.folder.join("state/lab/kept").exists()
    );
}
