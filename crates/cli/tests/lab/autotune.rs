//! A server that is tuned in a lab: the whole way, a kill in the middle, and the way on from there.

use crate::rig::{Ended, Rig, finish, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use sysdyno_needs::has;

const LIMIT: Duration = Duration::from_secs(60);

/// As long as the lab and some trials take.
const KILL_SPAN: Duration = Duration::from_secs(10);

/// Instants at which it is killed, where all are tried.
const KILLS: usize = 100;

/// An nginx that closes every connection after one request, which is what there is to find.
const FILE: &str = r#"
name = "tuned"
url = "http://{{front}}/page.html"
seed = 5
noisy = true
[lab]
host = [{ name = "client" }, { name = "server" }]
link = [{ between = ["client", "server"], addresses = ["10.78.0.1/24", "10.78.0.2/24"] }]
[[lab.service]]
name = "front"
host = "server"
recipe = "nginx"
with = { workers = 4, keepalive_requests = 1, tcp_nopush = false }
files = [{ path = "page.html", text = "hello" }]
[load]
connections = 2
requests = 300
warmup = "0s"
[autotune]
race-blocks = 2
proof-blocks = 3
rounds = 1
"#;

pub fn run(rig: &mut Rig) {
    if !has("autotune with nginx", &["nginx"]) {
        return;
    }
    wrong_ones_are_refused(rig);
    an_interrupted_one_says_how_it_goes_on(rig);
    a_killed_one_goes_on_to_its_end_and_leaves_nothing(rig);
    one_that_is_killed_at_any_moment_restores_its_server_and_ends_all_the_same(rig);
}

fn file(rig: &Rig, text: &str) -> String {
    let path = rig.folder().join("tuned.toml");
    fs::write(&path, text).expect("can be written");
    path.display().to_string()
}

fn command(rig: &Rig, arguments: &[&str]) -> Command {
    let mut command = rig.program(&[], &[&["autotune"], arguments].concat());
    command.env("SYSDYNO_EXPERIMENTS_DIR", rig.folder().join("tunings"));
    command.env("HOME", rig.folder());
    command
}

fn ask(rig: &Rig, arguments: &[&str]) -> Ended {
    finish(command(rig, arguments).spawn().expect("starts"))
}

/// The folder of the only autotune.
fn folder(rig: &Rig) -> Option<PathBuf> {
    let mut entries = fs::read_dir(rig.folder().join("tunings")).ok()?.flatten();
    entries.find_map(|entry| Some(entry.path()).filter(|path| path.join("tuning.json").exists()))
}

/// What was written down, line by line.
fn lines(folder: &std::path::Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("steps.jsonl")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn wrong_ones_are_refused(rig: &Rig) {
    let kept = ask(rig, &[&file(rig, FILE), "--keep"]);
    assert_eq!(kept.code, Some(2), "{kept:?}");
    assert!(kept.stderr.contains("cannot keep changes in a lab"), "{kept:?}");
    let unknown = ask(rig, &[&file(rig, &FILE.replace("rounds = 1", "rounds = 0"))]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("cannot use 0 rounds"), "{unknown:?}");
    let nowhere = ask(rig, &["--resume", "/no/such/folder"]);
    assert_eq!(nowhere.code, Some(2), "{nowhere:?}");
    let planned = ask(rig, &[&file(rig, FILE), "--dry-run"]);
    assert!(planned.code == Some(0) && planned.stdout.contains("nginx-keepalive"), "{planned:?}");
    assert!(folder(rig).is_none(), "nothing was begun");
}

fn an_interrupted_one_says_how_it_goes_on(rig: &mut Rig) {
    let child = command(rig, &[&file(rig, FILE)]).spawn().expect("starts");
    let has_begun = || folder(rig).is_some_and(|folder| !lines(&folder).is_empty());
    assert!(wait_until(LIMIT, has_begun), "it did not begin");
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is ours");
    let ended = finish(child);
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let resume = format!("hint: sysdyno autotune --resume '{}'", folder(rig).expect("is there").display());
    assert!(ended.stderr.contains(&resume), "{ended:?}");
    rig.check("an autotune that was interrupted");
    fs::remove_dir_all(rig.folder().join("tunings")).expect("is there");
}

fn a_killed_one_goes_on_to_its_end_and_leaves_nothing(rig: &mut Rig) {
    let path = file(rig, FILE);
    let mut child = command(rig, &[&path, "--json"]).spawn().expect("starts");
    let is_racing = || {
        let begun = folder(rig).map(|folder| lines(&folder)).unwrap_or_default();
        begun.iter().any(|line| line["began"]["kind"] == "race")
    };
    assert!(wait_until(LIMIT, is_racing), "it did not come to a race");
    child.kill().expect("is killed");
    child.wait().expect("ends");
    let folder = folder(rig).expect("is there");
    let before = lines(&folder);
    let ended = ask(rig, &["--resume", &folder.display().to_string(), "--json"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let after = lines(&folder);
    assert_eq!(after[..before.len()], before[..], "what was written stays");
    let found: Value = serde_json::from_str(&ended.stdout).expect("is JSON");
    assert_eq!(found["schema"], "sysdyno.autotune-result/1");
    let tried: Vec<&str> = found["tried"]
        .as_array()
        .expect("is a list")
        .iter()
        .filter_map(|one| one["candidate"]["remedy"].as_str())
        .collect();
    assert!(tried.contains(&"nginx-keepalive"), "{tried:?}");
    assert_ne!(found["ending"], "interrupted");
    // Whether it is proven depends on how busy this machine is; that it is told again does not.
    let shown = finish(
        rig.program(&[], &["show", &folder.display().to_string(), "--output", "json"])
            .spawn()
            .expect("starts"),
    );
    let again: Value = serde_json::from_str(&shown.stdout).expect("is JSON");
    assert_eq!(again, found);
    let page = fs::read_to_string(folder.join("report.html")).expect("is there");
    assert!(page.contains("sysdyno.report-autotune/1"));
    rig.check("an autotune that was killed and went on");
    fs::remove_dir_all(rig.folder().join("tunings")).expect("is there");
}

/// Killed again and again, each time as far into what it does as an instant of [`KILL_SPAN`] is, and begun again from there. The file
/// that its changes are written into is what it was, byte by byte, after each kill: the guardian has seen to that.
fn one_that_is_killed_at_any_moment_restores_its_server_and_ends_all_the_same(rig: &mut Rig) {
    let path = file(rig, FILE);
    let configuration = rig.state().join("lab/tuned/front/nginx.conf");
    let read = || fs::read(&configuration).ok();
    let mut child = command(rig, &[&path]).spawn().expect("starts");
    let has_begun = || folder(rig).is_some_and(|folder| !lines(&folder).is_empty());
    assert!(wait_until(LIMIT, has_begun), "it did not begin");
    let original = read().expect("the lab is up");
    let folder = folder(rig).expect("is there").display().to_string();
    let mut changed_count = 0;
    for number in 0..rig.sample.unwrap_or(KILLS) {
        std::thread::sleep(KILL_SPAN.mul_f64((number as f64 * 0.618_033_988_75).fract()));
        child.kill().expect("is a child");
        child.wait().expect("ends");
        rig.kills_count += 1;
        changed_count += usize::from(read().is_some_and(|now| now != original));
        // The next one takes the lab away and puts it up anew, which is no restoring.
        let is_restored = || read().is_none_or(|now| now == original);
        assert!(wait_until(LIMIT, is_restored), "kill {number}: {:?}", read().map(String::from_utf8));
        child = command(rig, &["--resume", &folder]).spawn().expect("starts");
    }
    assert!(rig.sample.is_some() || changed_count > 0, "no kill met a change");
    let ended = finish(child);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    rig.check("an autotune that was killed at many moments");
    fs::remove_dir_all(rig.folder().join("tunings")).expect("is there");
}
