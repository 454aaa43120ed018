//! What is read on a screen, in a pipe, and in the list of runs: whole sentences, as wide as was asked for.

use crate::rig::program::{Outcome, Program, Running, Target};
use crate::rig::wait_until;
use rustix::process::Signal;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Columns of a line, where every character of ours takes one.
fn columns(line: &str) -> usize {
    line.chars().count()
}

fn with_columns(program: &Program, value: Option<&str>, arguments: &[&str]) -> Outcome {
    let mut command = program.command(arguments);
    match value {
        Some(value) => command.env("COLUMNS", value),
        None => command.env_remove("COLUMNS"),
    };
    Running::start(command).finish(LIMIT)
}

#[test]
fn a_pipe_gets_whole_sentences_and_columns_is_obeyed() {
    let program = Program::new();
    let target = Target::start(&["--workers", "2", "--hold-ms", "5"]);
    let load = program.run(["load", target.url(), "-c", "16", "-d", "2s", "--rate", "2k/s"]);
    assert!(matches!(load.code, Some(0 | 3)), "{load}");
    for (value, widest) in [(None, 100), (Some("60"), 60), (Some("160"), 160)] {
        let shown = with_columns(&program, value, &["show"]);
        assert!(!shown.stdout.contains('…'), "{shown}");
        let lines = shown.stdout.lines().filter(|line| !line.trim_start().starts_with("Report"));
        let most = lines.map(columns).max().unwrap_or(0);
        assert!(most <= widest, "{value:?}: {most} columns\n{shown}");
        assert!(widest == 60 || most > 60, "{value:?}: {most} columns\n{shown}");
        for part in ["p95", "Statuses", "200: "] {
            assert!(shown.stdout.contains(part), "{part} is not in {shown}");
        }
    }
}

#[test]
fn runs_are_listed_with_what_came_of_them_and_taken_away() {
    let program = Program::new();
    let target = Target::start(&[]);
    for connections in ["1", "2", "3"] {
        let load = program.run(["load", target.url(), "-c", connections, "-n", "200"]);
        assert!(matches!(load.code, Some(0 | 3)), "{load}");
    }
    let listed = program.run(["runs"]);
    let lines: Vec<&str> = listed.expect_code(0).stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{listed}");
    assert!(lines[0].contains("verdict") && lines[0].contains("p99"), "{listed}");
    assert!(lines[1..].iter().all(|line| line.contains("req/s") && line.contains("-load-")), "{listed}");
    let document = program.run(["runs", "--json", "--sort", "rate", "-n", "2"]);
    let document = document.expect_code(0).json();
    let rates: Vec<f64> = document
        .as_array()
        .expect("is a list")
        .iter()
        .filter_map(|run| run["answer"]["rate_hz"].as_f64())
        .collect();
    assert!(rates.len() == 2 && rates[0] >= rates[1], "{document}");
    assert!(program.run(["runs", "--kind", "try"]).stderr.contains("no matching runs"));
    assert_eq!(program.run(["runs", "--contains", "-c 2"]).stdout.lines().count(), 2);

    let kept = program.run(["runs", "prune", "--keep", "2", "--dry-run"]);
    assert_eq!(kept.expect_code(0).stderr.matches("would remove").count(), 1, "{kept}");
    program.run(["runs", "prune", "--keep", "2"]).expect_code(0);
    assert_eq!(program.run(["runs"]).stdout.lines().count(), 3);
    let name = document[0]["id"].as_str().expect("has a name");
    let other = document[1]["id"].as_str().expect("has a name");
    let newest = [name, other].into_iter().find(|id| program.runs().join(id).exists()).expect("one stayed");
    program.run(["runs", "rm", newest]).expect_code(0);
    assert!(!program.runs().join(newest).exists());
    std::fs::create_dir(program.runs().join("mine")).expect("makes");
    std::fs::write(program.runs().join("mine/file"), "kept").expect("writes");
    assert_ne!(program.run(["runs", "rm", "mine"]).code, Some(0), "it is not a run");
    program.run(["runs", "prune", "--keep", "0"]).expect_code(0);
    assert!(program.runs().join("mine/file").exists());
}

#[test]
fn tags_and_a_note_say_what_a_run_was_and_find_it() {
    let program = Program::new();
    let target = Target::start(&[]);
    let load = program.run(["load", target.url(), "-c", "1", "-n", "20"]);
    assert!(matches!(load.code, Some(0 | 3)), "{load}");
    let listed = program.run(["runs", "--json"]).json();
    let name = listed[0]["id"].as_str().expect("has a name");
    let tagged = program.run(["runs", "tag", name, "baseline", "v2"]);
    assert!(tagged.expect_code(0).stderr.contains("tags: baseline v2"), "{tagged}");
    program.run(["runs", "note", name, "before the \u{1b}[31mchange"]).expect_code(0);
    program.run(["runs", "tag", name, "--remove", "v2"]).expect_code(0);
    let found = program.run(["runs", "--tag", "baseline", "--contains", "before the"]);
    assert!(found.stdout.contains("#baseline “before the"), "{found}");
    assert!(!found.stdout.contains('\u{1b}') && found.stdout.lines().count() == 2, "{found}");
    assert_eq!(program.run(["runs", "--tag", "v2"]).stdout, "", "it was removed");
    let labelled = program.run(["runs", "--json"]).json();
    assert_eq!(labelled[0]["label"]["tags"], serde_json::json!(["baseline"]), "{labelled}");
    let refused = program.run(["runs", "tag", name, "two words"]);
    assert!(refused.stderr.contains("cannot set tag 'two words': a tag has no spaces"), "{refused}");
    std::fs::create_dir(program.runs().join("mine")).expect("makes");
    let mine = program.runs().join("mine").display().to_string();
    assert_ne!(program.run(["runs", "tag", &mine, "baseline"]).code, Some(0), "it is not a run");
    let verified = program.run(["show", name, "--verify"]);
    assert!(matches!(verified.code, Some(0 | 3)) && !verified.to_string().contains("label"), "{verified}");
}

#[test]
fn runs_says_why_a_run_is_not_to_be_trusted_and_nothing_of_what_was_not_found() {
    let program = Program::new();
    let target = Target::start(&[]);
    program.run(["load", target.url(), "-n", "200", "-c", "1"]).expect_code(0);
    program.run(["load", target.url(), "-n", "200", "-c", "1", "--expect-status", "404"]).expect_code(3);
    let listed = program.run(["runs"]);
    let lines: Vec<&str> = listed.expect_code(0).stdout.lines().collect();
    assert!(lines[1].contains("100% of the requests failed"), "{listed}");
    assert!(lines[2].ends_with("No bottleneck found on this host"), "{listed}");
}

#[test]
fn what_other_tools_call_their_options_is_answered_with_what_to_type_alone() {
    let program = Program::new();
    for (line, typed) in
        [("--data x", "-p FILE"), ("-d a=1", "-p FILE"), ("-L", "redirects are not followed")]
    {
        let words = ["load", "http://127.0.0.1:1/"].into_iter().chain(line.split(' '));
        let refused = program.run(words);
        let said: Vec<&str> = refused.expect_code(2).stderr.lines().collect();
        assert!(said.len() == 2 && said[0].starts_with("error: ") && said[1].contains(typed), "{refused}");
    }
    let refused = program.run(["http://127.0.0.1:1/"]);
    assert!(refused.expect_code(2).stderr.contains("hint: sysdyno load URL"), "{refused}");
}

#[test]
fn a_search_that_is_stopped_gives_no_capacity() {
    let program = Program::new();
    let target = Target::start(&["--workers", "4", "--hold-ms", "10"]);
    let search = program.start(["run", target.url(), "--effort", "quick", "--json"]);
    let trials = || {
        let folder = program.run_folder();
        folder
            .and_then(|folder| std::fs::read_to_string(folder.join("trials.jsonl")).ok())
            .unwrap_or_default()
    };
    assert!(wait_until(LIMIT, || trials().matches("\"end\"").count() >= 4), "{}", trials());
    search.signal(Signal::INT);
    let stopped = search.finish(LIMIT);
    let document = stopped.expect_code(130).json();
    let capacity = &document["capacity"];
    assert_eq!((capacity["rate_hz"].as_f64(), capacity["certified_hz"].as_f64()), (None, None), "{stopped}");
    assert_eq!(capacity["ended_by"], "interrupted", "{stopped}");
    let headline = document["headline"].as_str().expect("has one");
    assert!(!headline.contains(" takes ") && !headline.contains("interval"), "{headline}");
}
