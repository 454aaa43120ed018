//! Wrong use is refused with exit code 2, says what is wrong, and what to type instead.

use crate::rig::program::{Outcome, Program};

/// What is typed, and what stderr must contain.
const WRONG: &[(&[&str], &str)] = &[
    (&["--no-such-flag"], "--no-such-flag"),
    (&["no-such-command"], "no-such-command"),
    (&["load"], "URL"),
    (&["load", "http://127.0.0.1:1/", "--no-such-flag"], "--no-such-flag"),
    (&["load", "http://127.0.0.1:1/", "--duration", "10x"], "30s"),
    (&["load", "http://127.0.0.1:1/", "--duration", "0s"], "duration"),
    (&["load", "http://127.0.0.1:1/", "--rate", "fast"], "5k/s"),
    (&["load", "http://127.0.0.1:1/", "--rate", "-5"], "-5"),
    (&["load", "http://127.0.0.1:1/", "--connections", "0"], "connections"),
    (&["load", "http://127.0.0.1:1/", "--connections", "many"], "many"),
    (&["load", "http://127.0.0.1:1/", "--threads", "0"], "threads"),
    (&["load", "http://127.0.0.1:1/", "--max-body", "1.5B"], "64KiB"),
    (&["load", "http://127.0.0.1:1/", "--arrival", "sometimes"], "poisson"),
    (&["load", "http://127.0.0.1:1/", "--expect-status", "2xx"], "2xx"),
    (&["load", "http://127.0.0.1:1/", "-H", "no colon"], "no colon"),
    (&["load", "http://127.0.0.1:1/", "-H", "Name: value\r\nOther: value"], "header"),
    (&["load", "http://127.0.0.1:1/", "--body-file", "/no/such/file"], "/no/such/file"),
    (&["load", "http://127.0.0.1:1/", "--fail-if", "p97>20ms"], "'p97' is not a metric"),
    (&["load", "http://127.0.0.1:1/", "--fail-if", "p99>20"], "'20' is not a limit"),
    (&["load", "http://127.0.0.1:1/", "--fail-if", "slow"], "hint: write METRIC OP LIMIT"),
    (&["load", "http://127.0.0.1:1/", "--fail-if", "capacity<5k/s"], "only `sysdyno run`"),
    (&["load", "ftp://127.0.0.1/"], "ftp"),
    (&["load", "http://"], "http://"),
    (&["load", "http://127.0.0.1:99999/"], "99999"),
    (&["load", "http://no-such-host.invalid/"], "no-such-host.invalid"),
    (&["show", "/no/such/run"], "/no/such/run"),
];

fn run(arguments: &[&str]) -> Outcome {
    Program::new().run(arguments)
}

#[test]
fn wrong_use_is_refused_and_explained() {
    for (arguments, text) in WRONG {
        let outcome = run(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome}");
        assert_eq!(outcome.stdout, "", "{arguments:?}: {outcome}");
        assert!(outcome.stderr.starts_with("error: "), "{arguments:?}: {outcome}");
        assert!(outcome.stderr.contains(text), "{arguments:?} does not say '{text}': {outcome}");
    }
}

#[test]
fn what_a_file_holds_does_not_reach_the_terminal_unescaped() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.toml");
    std::fs::write(&path, "name = 'x'\nmetric = '\\u001b[2J'\n\"\\u001b[2J\" = 1\n").expect("writes");
    let outcome = run(&["experiment", "plan", path.to_str().expect("UTF-8")]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("[2J") && !outcome.stderr.contains('\u{1b}'), "{outcome}");
    assert!(outcome.stderr.lines().count() > 2, "lines stay lines: {outcome}");
}

/// Addresses that are not ours to load: public ones, and those that are nobody's.
const REFUSED: &[&str] = &[
    "http://8.8.8.8/",
    "http://[2606:4700::1111]/",
    "http://[::ffff:8.8.8.8]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://192.0.2.1/",
    "http://224.0.0.1/",
    "http://0.0.0.0:80/",
    "http://255.255.255.255/",
];

#[test]
fn addresses_of_others_are_refused_before_anything_is_sent() {
    for url in REFUSED {
        let program = Program::new();
        let outcome = program.run(["load", url, "--requests", "1", "--timeout", "1s", "--json"]);
        assert_eq!(outcome.code, Some(2), "{url}: {outcome}");
        assert!(outcome.stderr.starts_with("error: "), "{url}: {outcome}");
        assert_eq!(outcome.stdout, "", "{url}: {outcome}");
        assert_eq!(program.run_folder(), None, "{url}: a run was begun");
    }
    let outcome = run(&["load", "http://8.8.8.8/", "--requests", "1"]);
    assert!(outcome.stderr.contains("hint: "), "{outcome}");
}

#[test]
fn no_warm_up_can_be_asked_for() {
    let url = format!("http://{}/", crate::rig::hostile::closed_port());
    let outcome = run(&["load", &url, "--warmup", "0s", "--requests", "1", "--json"]);
    outcome.expect_code(3);
    assert_eq!(outcome.count("sent"), 1, "{outcome}");
}

#[test]
fn help_goes_to_stdout_and_names_the_commands() {
    for arguments in [&["--help"][..], &["help"]] {
        let outcome = run(arguments);
        outcome.expect_code(0);
        for command in ["run", "load", "probe", "demo", "facts", "show", "report", "runs"] {
            assert!(outcome.stdout.contains(command), "'{command}' is not in {outcome}");
        }
        assert_eq!(outcome.stderr, "");
    }
    let outcome = run(&["load", "--help"]);
    outcome.expect_code(0);
    for flag in ["--connections", "--duration", "--rate", "--arrival", "--expect-status", "--json"] {
        assert!(outcome.stdout.contains(flag), "'{flag}' is not in {outcome}");
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let outcome = run(&["--version"]);
    outcome.expect_code(0);
    assert_eq!(outcome.stdout.trim(), concat!("sysdyno ", env!("CARGO_PKG_VERSION")));
}
