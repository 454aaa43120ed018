//! The fence: nothing is sent through a router without the user's word, nothing at all beyond what a list allows, and nothing
//! to another host than the one that is read.

use crate::rig::pair::{Pair, SERVER_ADDRESS};
use crate::rig::program::{Outcome, Program, Running};
use crate::rig::{has, skip};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(90);
const NEEDS: &[&str] = &["root", "iproute2", "namespaces"];

/// An address outside of the fence that `.cargo/config.toml` puts around all tests.
const OUTSIDE: &str = "10.97.7.7";

/// An address of the server's host that the generator reaches through a router only.
const FAR: &str = "10.99.7.7";

/// A server behind a router.
struct Far {
    pair: Pair,
    program: Program,
}

impl Far {
    fn make() -> Option<Far> {
        let pair = Pair::make()?;
        pair.route_through_server(FAR);
        Some(Far { pair, program: Program::new() })
    }

    /// The program in the generator's namespace, in a fence of this list; `None`: of none.
    fn command(&self, allow: Option<&str>, arguments: &[&str]) -> Command {
        let mut command = self.pair.command(&self.program, arguments);
        command.env_remove("SYSDYNO_TARGET_ALLOW").envs(allow.map(|allow| ("SYSDYNO_TARGET_ALLOW", allow)));
        command
    }

    fn run(&self, allow: Option<&str>, arguments: &[&str]) -> Outcome {
        Running::start(self.command(allow, arguments)).finish(LIMIT)
    }

    /// The same on a terminal, on which `typed` is typed.
    fn on_terminal(&self, typed: &str, arguments: &[&str]) -> Outcome {
        let words: Vec<&str> =
            [env!("CARGO_BIN_EXE_sysdyno")].into_iter().chain(arguments.iter().copied()).collect();
        let mut command = self.pair.generator_command("script");
        command.args(["-qec", &words.join(" "), "/dev/null"]).env_remove("SYSDYNO_TARGET_ALLOW");
        command.env("SYSDYNO_RUNS_DIR", self.program.runs()).current_dir(self.program.runs());
        let mut input = tempfile::tempfile().expect("a file");
        input.write_all(typed.as_bytes()).expect("writes");
        std::io::Seek::rewind(&mut input).expect("is a file");
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running::start(command).finish(LIMIT)
    }

    /// Connections and echoes that the generator's host has begun.
    fn begun_count(&self) -> u64 {
        let read = self.pair.generator_command("cat").arg("/proc/net/snmp").output().expect("is read");
        let text = String::from_utf8(read.stdout).expect("is text");
        let count = |group: &str, name: &str| {
            let mut lines = text.lines().filter(|line| line.starts_with(group));
            let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
            let place = names.split(' ').position(|one| one == name).expect("is counted");
            values.split(' ').nth(place).expect("has a value").parse::<u64>().expect("is a number")
        };
        count("Tcp:", "ActiveOpens") + count("Icmp:", "OutEchos")
    }
}

#[test]
fn no_command_sends_a_packet_through_a_router_without_the_users_word() {
    let test = "no_command_sends_a_packet_through_a_router_without_the_users_word";
    let Some(far) = Far::make() else { return skip(test, NEEDS) };
    let target = far.pair.target_at(FAR, &[]);
    let (url, host) = (target.url(), far.pair.generator());
    let authority = url.trim_start_matches("http://").trim_end_matches('/');
    let file = far.program.runs().join("experiment.toml");
    let text = "blocks = 1\nname = 'x'\n[load]\nrequests = 5\nconnections = 1\n";
    let variants =
        format!("[[variant]]\nname = 'a'\nurl = '{url}'\n[[variant]]\nname = 'b'\nurl = '{url}x'\n");
    std::fs::write(&file, format!("{text}{variants}")).expect("writes");
    let (file, state) = (file.display().to_string(), far.program.runs().join("state").display().to_string());
    let commands: &[&[&str]] = &[
        &["load", url, "-n", "5", "-c", "1"],
        &["load", url, "-n", "5", "-c", "1", "--probe", "icmp"],
        &["load", url, "-n", "5", "-c", "1", "--source", "10.77.0.1"],
        &["load", url, "-n", "5", "-c", "1", "--load-from", &host],
        &["load", &url.replace("http", "memcached"), "-n", "5", "-c", "1"],
        &["run", url, "--effort", "quick"],
        &["try", "--calibrate", "--state-dir", &state, "--", url],
        &["try", "--state-dir", &state, "--", "http://10.77.0.2:9/", url],
        &["experiment", "run", &file, "--folder", &state, "--state-dir", &state],
        &["probe", authority, "-c", "1"],
        &["probe", url, "-c", "1"],
        &["probe", FAR, "-c", "1"],
    ];
    for command in commands {
        let outcome = far.run(None, command);
        outcome.expect_code(2);
        let told = "leave through 'v0' and router 10.77.0.2";
        assert!(outcome.stderr.contains(told), "{command:?}: {outcome}");
        assert!(outcome.stderr.contains("add --target-is-mine"), "{command:?}: {outcome}");
        let (verb, rest) = command.split_at(if command[0] == "experiment" { 2 } else { 1 });
        let insisting = [verb, &["--target-is-mine"], rest].concat();
        let beyond = far.run(Some("127.0.0.0/8,10.77.0.0/16"), &insisting);
        beyond.expect_code(2);
        let told = "SYSDYNO_TARGET_ALLOW allows only 127.0.0.0/8, 10.77.0.0/16";
        assert!(beyond.stderr.contains(told), "{command:?}: {beyond}");
        assert_eq!(far.begun_count(), 0, "{command:?} sent something: {outcome}{beyond}");
    }
    assert_eq!(far.program.run_folder().filter(|folder| *folder != far.program.runs().join("state")), None);
    let (word, listed) = (
        far.run(None, &["load", url, "-n", "5", "-c", "1", "--target-is-mine", "--json"]),
        far.run(Some("10.99.0.0/16"), &["load", url, "-n", "5", "-c", "1", "--json"]),
    );
    assert_eq!([word.count("ok"), listed.count("ok")], [5, 5], "{word}{listed}");
    let spread = far
        .run(None, &["load", url, "-n", "5", "-c", "1", "--target-is-mine", "--load-from", &host, "--json"]);
    assert_eq!(spread.count("ok"), 5, "{spread}");
    assert_eq!(target.counts()["requests"].as_u64(), Some(15));
}

#[test]
fn a_terminal_is_asked_once_and_its_answer_counts() {
    let test = "a_terminal_is_asked_once_and_its_answer_counts";
    if !has(test, &["script"]) {
        return;
    }
    let Some(far) = Far::make() else { return skip(test, NEEDS) };
    let target = far.pair.target_at(FAR, &[]);
    let asked = |outcome: &Outcome| outcome.stdout.matches("Are you allowed to load it? [y/N]").count();
    let load = ["load", target.url(), "-n", "5", "-c", "1"];
    let refused = far.on_terminal("n\n", &load);
    refused.expect_code(2);
    assert_eq!((asked(&refused), far.begun_count()), (1, 0), "{refused}");
    let sent = far.on_terminal("y\n", &load);
    assert_eq!(asked(&sent), 1, "{sent}");
    // Two servers, one question.
    let other = format!("{}x", target.url());
    let (state, window) = (far.program.runs().join("state").display().to_string(), "200ms");
    let compare = ["try", "--state-dir", &state, "--pairs", "8", "--window", window, "--budget", "1m", "--"];
    let compared = far.on_terminal("y\n", &[&compare[..], &[target.url(), &other]].concat());
    assert_eq!(asked(&compared), 1, "{compared}");
    let requests = target.counts()["requests"].as_u64();
    assert!(requests > Some(5), "{requests:?}: {sent}{compared}");
}

#[test]
fn the_hosts_own_file_is_a_fence_that_nothing_widens() {
    let test = "the_hosts_own_file_is_a_fence_that_nothing_widens";
    let Some(far) = Far::make() else { return skip(test, NEEDS) };
    if !has(test, &["unshare"]) {
        return;
    }
    let target = far.pair.target_at(FAR, &[]);
    let etc = far.program.runs().join("etc");
    std::fs::create_dir(&etc).expect("makes a folder");
    let file = etc.join("sysdyno.toml");
    // Another /etc, for these commands only.
    let run = |allow: Option<&str>, text: &str, options: &[&str]| {
        std::fs::write(&file, text).expect("writes");
        let mut command = far.pair.generator_command("unshare");
        command.args([
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            "mount --bind \"$0\" /etc && exec \"$@\"",
        ]);
        command.arg(&etc).arg(env!("CARGO_BIN_EXE_sysdyno")).args([
            "load",
            target.url(),
            "-n",
            "5",
            "-c",
            "1",
        ]);
        command.args(options).env_remove("SYSDYNO_TARGET_ALLOW");
        command.envs(allow.map(|allow| ("SYSDYNO_TARGET_ALLOW", allow)));
        command.env("SYSDYNO_RUNS_DIR", far.program.runs()).current_dir(far.program.runs());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running::start(command).finish(LIMIT)
    };
    let other = "[target]\nallow = ['127.0.0.0/8', '10.77.0.0/16']\n";
    std::fs::write(far.program.runs().join("sysdyno.toml"), "[target]\nallow = ['0.0.0.0/0']\n")
        .expect("writes");
    let host = far.pair.generator();
    for options in [&["--target-is-mine"][..], &["--target-is-mine", "--load-from", &host]] {
        let outcome = run(Some("0.0.0.0/0"), other, options);
        outcome.expect_code(2);
        let told = "'/etc/sysdyno.toml' allows only 127.0.0.0/8, 10.77.0.0/16";
        assert!(outcome.stderr.contains(told), "{outcome}");
    }
    let outcome = run(None, "[target]\nallow = ['10.99.0.0/16', 'x']\n", &[]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("cannot read settings '/etc/sysdyno.toml'"), "{outcome}");
    assert_eq!(far.begun_count(), 0);
    let allowed = run(None, "[target]\nallow = ['10.99.0.0/16']\n", &["--json"]);
    assert_eq!(allowed.count("ok"), 5, "{allowed}");
}

#[test]
fn a_target_that_is_not_on_the_host_that_is_read_is_refused_with_what_would_do() {
    let test = "a_target_that_is_not_on_the_host_that_is_read_is_refused_with_what_would_do";
    let Some(pair) = Pair::make() else { return skip(test, NEEDS) };
    let (target, program, server) = (pair.target(&[]), Program::new(), pair.server());
    let port = target.url().rsplit(':').next().expect("has a port").trim_end_matches('/').to_owned();
    let refused = [
        ("10.77.0.1", "the address does not belong to host"),
        ("10.77.0.9", "the address does not belong to host"),
        ("127.0.0.1", "this host has this address itself"),
    ];
    for (address, cause) in refused {
        let url = format!("http://{address}:{port}/x");
        let load = ["load", &url, "-n", "5", "-c", "1", "--target-is-mine", "--server", &server];
        let outcome = Running::start(pair.command(&program, load)).finish(LIMIT);
        outcome.expect_code(2);
        assert!(outcome.stderr.contains(cause), "{outcome}");
        let hint =
            format!("host '{server}' has {SERVER_ADDRESS}: sysdyno load http://{SERVER_ADDRESS}:{port}/x");
        assert!(outcome.stderr.contains(&hint), "{outcome}");
    }
    let elsewhere =
        ["load", target.url(), "-n", "5", "-c", "1", "--load-from", &server, "--server", &pair.generator()];
    let outcome = Running::start(pair.command(&program, elsewhere)).finish(LIMIT);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("the address does not belong to host"), "{outcome}");
    assert_eq!(program.run_folder(), None);
    assert_eq!(target.counts()["requests"].as_u64(), Some(0));
}

#[test]
fn a_run_that_another_host_answered_is_invalid() {
    let test = "a_run_that_another_host_answered_is_invalid";
    let (Some(pair), Some(other)) = (Pair::make(), Pair::make()) else { return skip(test, NEEDS) };
    // Both servers' hosts have the address; the generator of `other` reaches its own only, and reads that of `pair`.
    let (target, idle) = (other.target(&[]), pair.target(&[]));
    let program = Program::new();
    let load = ["load", target.url(), "-n", "3000", "-c", "8", "--server", &pair.server(), "--json"];
    let outcome = Running::start(other.command(&program, load)).finish(LIMIT);
    outcome.expect_code(3);
    assert!(outcome.reasons().contains(&"M23".to_owned()), "{outcome}");
    assert_eq!(outcome.json()["verdict"]["status"], "INVALID", "{outcome}");
    assert_eq!(idle.counts()["requests"].as_u64(), Some(0));
    assert_eq!(target.counts()["requests"].as_u64(), Some(outcome.count("written")));
}

#[test]
fn nothing_outside_the_tests_own_networks_can_be_loaded_from_a_test() {
    let test = "nothing_outside_the_tests_own_networks_can_be_loaded_from_a_test";
    let Some(pair) = Pair::make() else { return skip(test, NEEDS) };
    pair.route_through_server(OUTSIDE);
    let target = pair.target_at(OUTSIDE, &[]);
    let program = Program::new();
    // Everything else that this suite starts gets the same environment.
    for more in [&[][..], &["--target-is-mine"]] {
        let load = [&["load", target.url(), "-n", "5", "-c", "1"], more].concat();
        let outcome = Running::start(pair.command(&program, load)).finish(LIMIT);
        outcome.expect_code(2);
        assert!(outcome.stderr.contains("SYSDYNO_TARGET_ALLOW allows only 127.0.0.0/8, "), "{outcome}");
    }
    assert_eq!(target.counts()["requests"], 0, "something was sent");
}

/// Notes the fence that it was started in, as a program of this name would be, and fails.
const NOTING: &str = "#!/bin/sh\necho \"$SYSDYNO_TARGET_ALLOW\" >> NOTES\nexit 2\n";

#[test]
fn every_script_that_sends_loads_does_so_in_the_fence_of_the_tests() {
    let folder = tempfile::tempdir().expect("a folder");
    let (program, notes) = (folder.path().join("sysdyno"), folder.path().join("notes"));
    let text = NOTING.replace("NOTES", &notes.display().to_string());
    std::fs::write(&program, text).expect("writes");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("is ours");
    let own = program.display().to_string();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let bench = "import sys; from bench import programs; programs.say([sys.argv[1]])";
    let demo = ["make", "-o", "build", "demo", &format!("PROGRAM={own}")].map(str::to_owned);
    let ways: [Vec<String>; 5] = [
        vec!["scripts/cases".into(), own.clone(), "experiments/generator-limits.toml".into()],
        vec!["scripts/test-hosts".into(), own.clone(), "1".into()],
        vec!["scripts/test-hadoop".into(), own.clone()],
        vec!["python3".into(), "-B".into(), "-c".into(), bench.into(), own],
        demo.into(),
    ];
    let test = "every_script_that_sends_loads_does_so_in_the_fence_of_the_tests";
    if !has(test, &["root", "python3", "nginx", "sshd", "ssh", "ssh-keygen"]) {
        return;
    }
    let fence = std::env::var("SYSDYNO_TARGET_ALLOW").expect("cargo sets it");
    for way in ways {
        let mut command = Command::new(&way[0]);
        command.args(&way[1..]).current_dir(root).env_remove("SYSDYNO_TARGET_ALLOW");
        let output = command.stdin(Stdio::null()).output().expect("it runs");
        let noted = std::fs::read_to_string(&notes).unwrap_or_default();
        assert!(!noted.is_empty(), "{way:?} did not start the program: {output:?}");
        assert!(noted.lines().all(|line| line == fence), "{way:?}: '{noted}' is not '{fence}'");
        std::fs::remove_file(&notes).expect("is there");
    }
}
