//! `sysdyno experiment`: every combination in blocks, each under its settings, and gone on with after a kill.
//!
//! Settings are those of a tree of files, so that no rights are needed and the host is not touched.

use crate::profile::can_profile;
use crate::rig::hostile::closed_port;
use crate::rig::program::{Outcome, Running, Target};
use crate::rig::wait_until;
use crate::tryout::Bench;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(180);

/// A file of two settings of `vm.swappiness` times two ways to send; prepare commands write to `log`.
fn file(bench: &Bench, requests: u32) -> PathBuf {
    let log = bench.program.runs().join("log");
    let say = |word: &str| format!("sh -c \"echo {word} >> '{}'\"", log.display());
    let text = format!(
        "name = 'pages'\nurl = '{}'\nblocks = 2\nseed = 5\nnoisy = true\nmetric = 'goodput'\n\
         [load]\nconnections = 4\nrequests = {requests}\nwarmup = '0s'\n\
         [[factor]]\nname = 'swap'\n\
         [[factor.level]]\nname = 'as it is'\nprepare = ['''{}''']\n\
         [[factor.level]]\nname = '59'\nsettings = ['vm.swappiness=59']\nprepare = ['''{}''']\n\
         [[factor]]\nname = 'reuse'\n\
         [[factor.level]]\nname = 'kept'\n\
         [[factor.level]]\nname = 'anew'\ntarget = {{ no-keepalive = true }}\n",
        bench.target.url(),
        say("plain"),
        say("changed"),
    );
    let path = bench.program.runs().join("experiment.toml");
    fs::write(&path, text).expect("writes");
    path
}

fn start(bench: &Bench, command: &str, what: &str) -> Running {
    let (root, state) = (bench.root(), bench.program.runs().join("state"));
    let [root, state] = [root, state].map(|path| path.display().to_string());
    bench.program.start(["experiment", command, what, "--root", &root, "--state-dir", &state, "--json"])
}

fn begin(bench: &Bench, requests: u32) -> Running {
    file(bench, requests);
    run(bench)
}

fn run(bench: &Bench) -> Running {
    let runs = bench.program.runs();
    let (path, folder) = (runs.join("experiment.toml"), runs.join("matrices"));
    let (root, state) = (bench.root(), bench.program.runs().join("state"));
    let [path, folder, root, state] = [path, folder, root, state].map(|path| path.display().to_string());
    let fixed = ["experiment", "run", &path, "--folder", &folder, "--root", &root, "--state-dir", &state];
    bench.program.start([&fixed, ["--json"].as_slice()].concat())
}

/// The folder of the only experiment.
fn folder(bench: &Bench) -> Option<PathBuf> {
    let mut entries = fs::read_dir(bench.program.runs().join("matrices")).ok()?;
    entries.find_map(|entry| {
        entry.ok().map(|entry| entry.path()).filter(|path| path.join("matrix.json").exists())
    })
}

fn lines(bench: &Bench, kind: &str) -> Vec<Value> {
    let text = folder(bench).and_then(|folder| fs::read_to_string(folder.join("trials.jsonl")).ok());
    let all = text.unwrap_or_default();
    let all = all.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    all.filter_map(|line| line.get(kind).cloned()).collect()
}

/// Names of the sides with the number of their runs.
fn sides(outcome: &Outcome) -> Vec<(String, usize)> {
    let document = outcome.json();
    let sides = document["sides"].as_array().expect("sides are a list");
    let name = |side: &Value| side["name"].as_str().expect("a name").to_owned();
    sides.iter().map(|side| (name(side), side["runs"].as_array().map_or(0, Vec::len))).collect()
}

fn all_sides() -> Vec<(String, usize)> {
    ["as it is, kept", "as it is, anew", "59, kept", "59, anew"].map(|name| (name.to_owned(), 2)).to_vec()
}

#[test]
fn every_combination_is_measured_in_blocks_under_its_settings_which_are_undone() {
    let bench = Bench::new(&[]);
    let outcome = begin(&bench, 400).finish(LIMIT);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    assert_eq!(sides(&outcome), all_sides(), "{outcome}");
    assert!(bench.is_as_before(), "{outcome}");
    let folder = folder(&bench).expect("there is one");
    assert!(folder.join("report.html").exists());
    // What a level prepares and changes belongs to its trials and to no others: the facts of each run tell.
    let prepared = fs::read_to_string(bench.program.runs().join("log")).expect("commands ran");
    let prepared: Vec<&str> = prepared.lines().collect();
    let began = lines(&bench, "began");
    let expected: Vec<&str> = began
        .iter()
        .map(|line| if line["variant"].as_u64() < Some(2) { "plain" } else { "changed" })
        .collect();
    assert_eq!(prepared, expected);
    let blocks: Vec<u64> = began.iter().filter_map(|line| line["variant"].as_u64()).collect();
    let back: Vec<u64> = blocks[4..].iter().rev().copied().collect();
    assert_eq!(blocks[..4], back, "the second block has the order of the first from behind");
    let again = start(&bench, "report", &folder.display().to_string()).finish(LIMIT);
    assert_eq!(again.json()["headline"], outcome.json()["headline"]);
}

#[test]
fn an_experiment_that_was_killed_goes_on_where_it_stood() {
    let bench = Bench::new(&[]);
    let running = begin(&bench, 4000);
    let is_under_way = || lines(&bench, "ended").len() >= 2 && lines(&bench, "began").len() >= 3;
    assert!(wait_until(LIMIT, is_under_way), "no two trials ended");
    running.signal(Signal::KILL);
    running.finish(LIMIT);
    // What was changed then, its guardian undoes.
    assert!(wait_until(LIMIT, || bench.is_as_before()), "not undone");
    let measured = lines(&bench, "ended").len();
    let folder = folder(&bench).expect("there is one").display().to_string();
    let outcome = start(&bench, "resume", &folder).finish(LIMIT);
    assert_eq!(sides(&outcome), all_sides(), "{outcome}");
    assert_eq!(lines(&bench, "ended").len(), 8, "none is measured twice, {measured} were measured before");
    assert!(bench.is_as_before(), "{outcome}");
}

#[test]
fn an_experiment_that_may_end_early_ends_once_its_differences_are_decided_on_a_quiet_machine() {
    let bench = Bench::new(&["--workers", "8", "--hold-ms", "5"]);
    let text = format!(
        "name = 'pages'\nurl = '{}'\nblocks = 8\nuntil-decided = true\nseed = 5\nnoisy = true\n\
         metric = 'goodput'\neffect = '3%'\n\
         [load]\nduration = '1s'\nwarmup = '0s'\n\
         [[variant]]\nname = 'one'\nload.connections = 1\n\
         [[variant]]\nname = 'eight'\nload.connections = 8\n",
        bench.target.url()
    );
    fs::write(file(&bench, 1), text).expect("writes");
    let outcome = run(&bench).finish(LIMIT);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    if outcome.is_refused_for_a_disturbance() {
        return;
    }
    let settled = lines(&bench, "settled");
    assert_eq!(settled.len(), 1, "{outcome}");
    assert_eq!(settled[0]["variants"], serde_json::json!([0, 1]));
    let (document, trials) = (outcome.json(), lines(&bench, "ended").len() as u64);
    assert!(trials < 16, "{outcome}");
    assert_eq!(document["matrix"]["planned_count"], trials, "what is settled is planned no more");
    assert_eq!(document["verdicts"][0]["verdict"]["word"], "better", "{outcome}");
    assert!(outcome.stderr.contains("all differences are decided"), "{outcome}");
    let folder = folder(&bench).expect("there is one").display().to_string();
    start(&bench, "resume", &folder).finish(LIMIT);
    assert_eq!(lines(&bench, "ended").len() as u64, trials, "nothing is left to resume");
}

#[test]
fn a_variant_that_times_out_is_worse_on_a_quiet_machine() {
    let bench = Bench::new(&["--delays-us", "2000"]);
    // Two of three requests take longer than they may.
    let slow = Target::start(&["--delays-us", "2000,400000,400000"]);
    let text = format!(
        "name = 'pages'\nurl = '{}'\nblocks = 2\nseed = 5\nnoisy = true\nmetric = 'p50'\n\
         [load]\nconnections = 16\nduration = '2s'\nwarmup = '0s'\n[target]\ntimeout = '100ms'\n\
         [[variant]]\nname = 'fast'\n[[variant]]\nname = 'as fast'\n\
         [[variant]]\nname = 'slow'\nurl = '{}'\n",
        bench.target.url(),
        slow.url()
    );
    fs::write(file(&bench, 1), text).expect("writes");
    let outcome = run(&bench).finish(LIMIT);
    if outcome.is_refused_for_a_disturbance() {
        return;
    }
    outcome.expect_code(0);
    let document = outcome.json();
    let metric = &document["operations"][0]["metrics"][0];
    assert_eq!((&metric["metric"], &metric["sides"][2]["is_lower_bound"]), (&"p50".into(), &true.into()));
    let slow = &metric["effects"][1];
    assert_eq!((&slow["effect"], &slow["verdict"]["word"]), (&Value::Null, &"worse".into()), "{outcome}");
    assert_eq!(
        (&slow["bound"]["side"], &slow["method"]),
        (&"at_least".into(), &"blocks".into()),
        "{outcome}"
    );
    assert!(slow["bound"]["ratio"].as_f64().is_some_and(|ratio| ratio > 1.0), "{outcome}");
    assert!(
        metric["effects"][0]["effect"]["point"].is_number(),
        "the others are compared as ever: {outcome}"
    );
    let goodput = &document["operations"][0]["metrics"][1];
    assert!(
        goodput["sides"][2]["missing"].as_str().is_some_and(|why| why.contains("timed out")),
        "{outcome}"
    );
}

#[test]
fn an_experiment_ends_when_nobody_listens() {
    let bench = Bench::new(&[]);
    let path = file(&bench, 50);
    let good = fs::read_to_string(&path).expect("was written");
    let gone = format!("http://{}/", closed_port());
    fs::write(&path, good.replace(&format!("url = '{}'", bench.target.url()), &format!("url = '{gone}'")))
        .expect("writes");
    let outcome = run(&bench).finish(LIMIT);
    outcome.expect_code(2);
    assert_eq!(lines(&bench, "began").len(), 1, "{outcome}");
    assert!(outcome.stderr.contains("refused every connection\nhint: resume it"), "{outcome}");
    assert!(bench.is_as_before(), "{outcome}");
}

#[test]
fn a_profile_follows_the_first_trial_of_each_variant_and_no_other() {
    if !can_profile("a_profile_follows_the_first_trial_of_each_variant_and_no_other", &[]) {
        return;
    }
    let bench = Bench::new(&[]);
    let text = format!(
        "name = 'pages'\nurl = '{}'\nblocks = 2\nseed = 5\nnoisy = true\nprofile = true\n\
         [load]\nduration = '1s'\nwarmup = '0s'\n\
         [[variant]]\nname = 'two'\nload.connections = 2\n\
         [[variant]]\nname = 'four'\nload.connections = 4\n",
        bench.target.url()
    );
    fs::write(file(&bench, 1), text).expect("writes");
    let outcome = run(&bench).finish(LIMIT);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let runs = folder(&bench).expect("there is one").join("runs");
    let began = lines(&bench, "began");
    let name = |line: &Value| line["run"].as_str().expect("a name").to_owned();
    let are_profiled: Vec<bool> =
        began.iter().map(|line| runs.join(name(line)).join("profile.json").exists()).collect();
    assert_eq!(are_profiled, [true, true, false, false], "{outcome}");
}

#[test]
fn what_is_wrong_with_a_file_is_said_before_anything_is_sent() {
    let bench = Bench::new(&[]);
    let good = fs::read_to_string(file(&bench, 100)).expect("was written");
    for (wrong, with, said) in [
        ("blocks = 2", "blocks = 0", "use 1 to 100"),
        ("name = 'pages'", "name = '../pages'", "may contain only letters"),
        ("metric = 'goodput'", "metric = 'speed'", "'speed' is not a metric"),
        ("name = 'anew'", "name = 'kept'", "two levels with the name 'kept'"),
        ("url = ", "urls = ", "urls"),
        ("name = 'pages'", "a = {}\nb = {}\nname = 'pages'", "hint: run it with `sysdyno try --experiment`"),
        ("name = 'pages'", "b = {}\nname = 'pages'", "hint: run it with `sysdyno try --experiment`"),
        ("vm.swappiness=59", "vm.swapiness=59", "vm.swapiness"),
        (
            "name = 'kept'",
            "name = 'kept'\nsettings = ['vm.swappiness=58']",
            "two of its levels change 'vm.swappiness'",
        ),
        ("http://127.0.0.1", "http://93.184.216.34", "93.184.216.34"),
    ] {
        assert!(good.contains(wrong), "{wrong}");
        let path = bench.program.runs().join("wrong.toml");
        fs::write(&path, good.replacen(wrong, with, 1)).expect("writes");
        let folder = bench.program.runs().join("matrices").display().to_string();
        let root = bench.root().display().to_string();
        let path = path.display().to_string();
        let outcome = bench.program.run(["experiment", "run", &path, "--folder", &folder, "--root", &root]);
        outcome.expect_code(2);
        assert!(outcome.stderr.contains(said), "{wrong}: {outcome}");
        assert!(!PathBuf::from(&folder).exists(), "{wrong}: a folder was made");
    }
}
