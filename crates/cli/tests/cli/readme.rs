//! README.md as its readers use it: each of its commands is run, against a real nginx. Commands of the guide are known, with their
//! options.
//!
//! The commands are read from the page itself, so that a new one is run without being listed here. They are bounded by
//! variables for what they leave open (`SHORT`), and by shorter values for the lengths and rates that they name (`BOUNDED`).

use crate::rig::nginx::Nginx;
use crate::rig::program::{Program, Running};
use crate::rig::{skip, wait_until};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The server that the page speaks of.
const URL: &str = "http://127.0.0.1:8080/";

/// What the commands leave to their defaults, in a short form.
const SHORT: &[(&str, &str)] = &[
    ("SYSDYNO_EFFORT", "quick"),
    ("SYSDYNO_WINDOW", "300ms"),
    ("SYSDYNO_WARMUP", "100ms"),
    ("SYSDYNO_MAX_RATE", "500/s"),
    ("SYSDYNO_PAIRS", "8"),
];

/// Options whose value is replaced: a p99 of such a short window takes a high rate.
const BOUNDED: &[(&str, &str)] = &[("-d", "1s"), ("--rate", "5k/s")];

/// No command takes that long in its short form, on a machine that is busy too.
const LIMIT: Duration = Duration::from_secs(180);

#[test]
fn every_command_of_the_readme_runs_on_a_quiet_machine() {
    let Some(nginx) = Nginx::start("location / { return 200 'hello'; }") else {
        return skip("every_command_of_the_readme_runs_on_a_quiet_machine", &["nginx"]);
    };
    let program = Program::alone();
    let commands = commands(&page());
    for needed in ["make", "demo", "load", "run", "try"] {
        assert!(commands.iter().any(|words| words.iter().any(|word| word == needed)), "no '{needed}'");
    }
    for words in commands {
        match words[0].as_str() {
            "make" => make_knows(&words[1..]),
            "sysdyno" if words[1] == "demo" => demo_begins(&program),
            "sysdyno" => runs(&program, &words[1..], &nginx.url("/")),
            "sudo" if !rustix::process::geteuid().is_root() => skip(&words.join(" "), &["root"]),
            "sudo" => runs(&program, &words[2..], &nginx.url("/")),
            other => panic!("the page has a command that this test cannot run: '{other}'"),
        }
    }
}

#[test]
fn the_readme_is_short() {
    let lines = page().lines().count();
    assert!(lines <= 100, "{lines} lines");
}

#[test]
fn every_command_of_the_guide_is_known_with_its_options() {
    let program = Program::new();
    let mut known = BTreeMap::new();
    let mut count = 0;
    for entry in std::fs::read_dir(format!("{ROOT}/docs/guide")).expect("the guide is there") {
        let path = entry.expect("an entry can be read").path();
        for mut words in commands(&std::fs::read_to_string(&path).expect("a page can be read")) {
            words.retain(|word| word != "sudo");
            let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
            assert_eq!(words[0], "sysdyno", "{}: {words:?}", path.display());
            let help = help(&program, &words[1..end], &mut known);
            for option in words[1..end].iter().filter(|word| word.starts_with('-')) {
                let name = option.split('=').next().unwrap_or(option);
                let is_known = help.split([' ', '\n', ',', '[', '=']).any(|word| word == name);
                assert!(is_known, "{}: '{name}' in {words:?}", path.display());
                count += 1;
            }
        }
    }
    assert!(count > 20, "{count} options in the guide");
}

/// Help of the command that these words begin with.
fn help(program: &Program, words: &[String], known: &mut BTreeMap<String, String>) -> String {
    let mut ask = |words: &[String]| {
        let key = words.join(" ");
        let text =
            || program.run(words.iter().map(String::as_str).chain(["--help"])).expect_code(0).stdout.clone();
        known.entry(key).or_insert_with(text).clone()
    };
    let first = ask(&words[..1]);
    let is_command = |word: &String| {
        let list = first.split_once("Commands:").map_or("", |(_, list)| list);
        list.lines().any(|line| line.trim_start().split(' ').next() == Some(word))
    };
    if words.get(1).is_some_and(is_command) { ask(&words[..2]) } else { first }
}

fn page() -> String {
    std::fs::read_to_string(format!("{ROOT}/README.md")).expect("the page is there")
}

/// The words of each command in the blocks of a page that are marked `sh`.
fn commands(page: &str) -> Vec<Vec<String>> {
    let mut is_shell = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_shell = line == "```sh";
        } else if is_shell && !line.trim().is_empty() {
            found.push(shlex::split(line).unwrap_or_else(|| panic!("a shell cannot read '{line}'")));
        }
    }
    found
}

/// Whether there is such a target; the build itself is that of this test.
fn make_knows(arguments: &[String]) {
    let output = Command::new("make").arg("-n").args(arguments).current_dir(ROOT).output();
    let output = output.expect("make can be run");
    assert!(output.status.success(), "make {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The whole of it is run by the tests of the demo; here it is interrupted once its load is recorded.
fn demo_begins(program: &Program) {
    let mut demo = program.start(["demo"]);
    let is_recorded = wait_until(LIMIT, || program.run_folder().is_some() || !demo.is_running());
    assert!(is_recorded && demo.is_running(), "{}", demo.finish(LIMIT));
    demo.signal(rustix::process::Signal::INT);
    demo.finish(LIMIT).expect_code(130);
}

/// Runs a command in its short form, to an end that says that it could.
fn runs(program: &Program, words: &[String], url: &str) {
    let mut words = words.to_vec();
    for index in 0..words.len() {
        if let Some((_, value)) = BOUNDED.iter().find(|(option, _)| words[index] == *option) {
            words[index + 1] = String::from(*value);
        } else if words[index] == URL {
            words[index] = url.to_owned();
        }
    }
    let mut command = program.command(&words);
    command.envs(SHORT.iter().copied()).stdin(Stdio::null());
    let outcome = Running::start(command).finish(LIMIT);
    assert!(matches!(outcome.code, Some(0 | 3)), "{}: {outcome}", words.join(" "));
}
