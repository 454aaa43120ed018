//! Comparisons as others see them while they last: a line for each side, pair, and change of a setting, and the variant as a metric.
//!
//! Settings are those of a tree of files, so that no rights are needed and the host is not touched.

use crate::live::{lines, of_kind, scrape};
use crate::rig::program::Running;
use crate::tryout::Bench;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(180);

/// What a comparison on the bench is told besides.
fn fixed(bench: &Bench) -> Vec<String> {
    let state = bench.program.runs().join("state").display().to_string();
    ["--root", &bench.root().display().to_string(), "--state-dir", &state].map(str::to_owned).to_vec()
}

fn try_words(bench: &Bench, pairs: &str, more: &[&str]) -> Vec<String> {
    let small = ["--pairs", pairs, "--window", "200ms", "--warmup", "50ms", "--connections", "4"];
    let words = ["try", "vm.swappiness=59", "--noisy"].into_iter().chain(small).chain(more.iter().copied());
    let words = words.map(str::to_owned).chain(fixed(bench));
    words.chain(["--".to_owned(), bench.target.url().to_owned()]).collect()
}

/// What was done to the setting, in order.
fn steps(lines: &[Value]) -> Vec<&str> {
    let events = of_kind(lines, "event").into_iter().filter(|line| line["event"]["key"] == "vm.swappiness");
    events.filter_map(|line| line["event"]["kind"].as_str()).collect()
}

#[test]
fn a_try_tells_each_side_each_change_and_each_pair_as_it_happens() {
    let bench = Bench::new(&["--workers", "8", "--hold-ms", "5"]);
    let words = try_words(&bench, "8", &["--output", "jsonl"]);
    let outcome = Running::start(bench.program.command(&words)).finish(LIMIT);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let lines = lines(&outcome.stdout);
    assert_eq!((&lines[0]["line"], &lines[0]["kind"]), (&"begin".into(), &"try".into()));
    assert_eq!(lines[1]["variants"][1]["action"]["settings"][0]["key"], "vm.swappiness", "{}", lines[1]);
    let (sides, ends) = (of_kind(&lines, "side_begin"), of_kind(&lines, "side_end"));
    let pairs_count = of_kind(&lines, "pair").len();
    assert!(pairs_count > 0, "{outcome}");
    assert_eq!((sides.len(), ends.len()), (2 * pairs_count, 2 * pairs_count), "{outcome}");
    assert!(sides.iter().all(|side| (side["arm"] == "b") == (side["name"] == "B")), "{sides:?}");
    assert!(!of_kind(&lines, "interval").is_empty() && !of_kind(&lines, "standing").is_empty());
    // Of a setting, a change is followed by its end, and the load of B comes between them.
    let steps = steps(&lines);
    assert!(!steps.is_empty() && steps.len().is_multiple_of(2), "{steps:?}");
    assert!(steps.chunks(2).all(|two| two == ["setting_changed", "setting_undone"]), "{steps:?}");
    let mut is_changed = false;
    let mut arm = &Value::Null;
    for line in &lines {
        match line["event"]["kind"].as_str() {
            Some("setting_changed") => is_changed = true,
            Some("setting_undone") => is_changed = false,
            _ => {}
        }
        if line["line"] == "side_begin" {
            arm = &line["arm"];
        }
        assert!(line["line"] != "trial_begin" || arm.is_null() || is_changed == (arm == "b"), "{line}");
    }
    let conclusion = of_kind(&lines, "conclusion")[0];
    let shown = bench.program.run(["show", "--json"]);
    assert_eq!(conclusion["headline"], shown.json()["headline"]);
    let end = lines.last().expect("an end");
    assert_eq!((&end["line"], &end["status"]), (&"end".into(), &"complete".into()));
    assert!(bench.is_as_before());
}

#[test]
fn a_try_is_scraped_with_the_variant_that_is_measured_and_a_signal_undoes_the_change() {
    let bench = Bench::new(&[]);
    let words = try_words(&bench, "400", &["--prometheus", "127.0.0.1:0", "--effect", "0.1%"]);
    let mut command = bench.program.command(&words);
    let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
    let mut said = BufReader::new(child.stderr.take().expect("piped")).lines().map_while(Result::ok);
    let url = said.find_map(|line| line.strip_prefix("metrics: ").map(str::to_owned)).expect("its address");
    let address = url.strip_prefix("http://").and_then(|url| url.strip_suffix("/metrics")).expect("a URL");
    std::thread::spawn(move || said.for_each(drop));
    let [a, b] =
        ["sysdyno_variant{variant=\"A\",position=\"0\"}", "sysdyno_variant{variant=\"B\",position=\"1\"}"];
    let series = loop {
        let (_, series) = scrape(address, "text/plain");
        if series.get(b) == Some(&1.0) && series["sysdyno_setting_changes_total{step=\"changed\"}"] > 0.0 {
            break series;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!((series[a], series["sysdyno_setting_changes_total{step=\"kept\"}"]), (0.0, 0.0), "{series:?}");
    assert!(series["sysdyno_pair"] >= 1.0, "{series:?}");
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is there");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(bench.is_as_before());
}

#[test]
fn an_experiment_tells_its_runs_one_after_the_other_in_one_stream() {
    let bench = Bench::new(&[]);
    let text = format!(
        "name = 'pages'\nurl = '{}'\nblocks = 2\nseed = 5\nnoisy = true\nmetric = 'goodput'\n\
         [load]\nconnections = 4\nrequests = 400\nwarmup = '0s'\n\
         [[factor]]\nname = 'swap'\n[[factor.level]]\nname = 'as it is'\n\
         [[factor.level]]\nname = '59'\nsettings = ['vm.swappiness=59']\n",
        bench.target.url()
    );
    let runs = bench.program.runs();
    let (path, folder) = (runs.join("experiment.toml"), runs.join("matrices"));
    fs::write(&path, text).expect("writes");
    let [path, folder] = [path, folder].map(|path| path.display().to_string());
    let words = ["experiment", "run", &path, "--folder", &folder, "--output", "jsonl"].map(str::to_owned);
    let words: Vec<String> = words.into_iter().chain(fixed(&bench)).collect();
    let outcome = Running::start(bench.program.command(&words)).finish(LIMIT);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let lines = lines(&outcome.stdout);
    let kinds: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["line"].as_str())
        .filter(|kind| kind.starts_with("experiment") || matches!(*kind, "begin" | "end"))
        .collect();
    let trial = ["experiment_trial_begin", "begin", "end", "experiment_trial_end"];
    let trials = trial.iter().cycle().take(4 * trial.len()).copied();
    let expected: Vec<&str> =
        ["experiment_begin"].into_iter().chain(trials).chain(["experiment_end"]).collect();
    assert_eq!(kinds, expected, "{outcome}");
    assert_eq!((&lines[0]["trials_count"], &lines[0]["variants"][1]["name"]), (&4.into(), &"59".into()));
    assert_eq!(of_kind(&lines, "verdict").len(), 4);
    assert_eq!(steps(&lines), ["setting_changed", "setting_undone"].repeat(2));
    let end = lines.last().expect("an end");
    assert_eq!(end["status"], "complete");
    assert!(end["headline"].as_str().is_some_and(|headline| !headline.is_empty()), "{end}");
    assert!(bench.is_as_before());
}

#[test]
fn an_experiment_of_commands_tells_each_run_of_them() {
    let bench = Bench::new(&[]);
    let text = "name = 'naps'\nblocks = 2\nseed = 5\nnoisy = true\n[work]\nrounds = 2\n\
                [[work.command]]\nname = 'nothing'\nrun = 'true'\n\
                [[variant]]\nname = 'one'\n[[variant]]\nname = 'other'\n";
    let runs = bench.program.runs();
    let (path, folder) = (runs.join("experiment.toml"), runs.join("matrices"));
    fs::write(&path, text).expect("writes");
    let [path, folder] = [path, folder].map(|path| path.display().to_string());
    let outcome = bench.program.run(["experiment", "run", &path, "--folder", &folder, "--output", "jsonl"]);
    let lines = lines(&outcome.expect_code(0).stdout);
    let operations = of_kind(&lines, "operation");
    assert_eq!(operations.len(), 8, "{outcome}");
    assert!(operations.iter().all(|line| line["command"]["ending"]["exit"] == 0), "{operations:?}");
}
