//! The probe as its users meet it: alone, interrupted, asked, into the void, and beside a load.

use crate::rig::hostile::{Hostile, Verb, closed_port};
use crate::rig::program::{Outcome, Program, Running, Target};
use crate::rig::{find_program, has, skip, wait_until};
use rustix::process::Signal;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);
const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// The lines of operations: a wall-clock instant with milliseconds, and a number.
fn operations(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.contains("  seq ")).collect()
}

#[track_caller]
fn check_stamp(line: &str) {
    let shape: String =
        line.chars().map(|letter| if letter.is_ascii_digit() { '9' } else { letter }).collect();
    assert!(shape.starts_with("9999-99-99T99:99:99.999Z  "), "{line}");
}

fn lines_of(file: &Path) -> usize {
    std::fs::read_to_string(file).map_or(0, |text| text.lines().count())
}

#[track_caller]
fn count(outcome: &Outcome, name: &str) -> u64 {
    outcome.json()["probe"][name].as_u64().unwrap_or_else(|| panic!("no '{name}' in {outcome}"))
}

#[test]
fn every_operation_has_a_line_with_its_time_and_the_result_follows() {
    let target = Target::start(&[]);
    let program = Program::new();
    let outcome = program.run(["probe", target.url(), "-c", "5", "-i", "20ms", "--log", "lines.txt"]);
    outcome.expect_code(0);
    let lines = operations(&outcome.stdout);
    assert_eq!(lines.len(), 5, "{outcome}");
    lines.iter().for_each(|line| check_stamp(line));
    assert!(lines.iter().all(|line| line.contains("status 200")), "{outcome}");
    for text in ["5 sent, 5 received, 0 lost (0%)", "min ", "mdev ", "p99 – (needs 1,000)"] {
        assert!(outcome.stdout.contains(text), "'{text}' is not in {outcome}");
    }
    let logged = std::fs::read_to_string(program.runs().join("lines.txt")).expect("the log is there");
    assert_eq!(operations(&logged), lines, "{outcome}");
    assert_eq!(logged.lines().next(), outcome.stdout.lines().next(), "the log begins as the output does");
    assert_eq!(program.run_folder(), None, "a probe on its own records no run");
}

#[test]
fn tcp_is_probed_by_its_form_and_by_kind() {
    let target = Target::start(&[]);
    let address = target.url().trim_start_matches("http://").trim_end_matches('/');
    for arguments in [vec!["probe", address], vec!["probe", target.url(), "--kind", "tcp"]] {
        let outcome = Program::new().run([&arguments[..], &["-c", "3", "-i", "10ms", "--json"]].concat());
        outcome.expect_code(0);
        assert_eq!((count(&outcome, "sent_count"), count(&outcome, "received_count")), (3, 3), "{outcome}");
        assert_eq!(outcome.json()["probe"]["kind"], "tcp", "{outcome}");
    }
}

#[test]
fn what_is_not_answered_is_counted_as_lost_and_ends_with_1() {
    let silent = Hostile::start(vec![Verb::Expect, Verb::Drain]);
    let url = silent.url();
    let lost = ["-c", "4", "-i", "10ms", "-W", "300ms", "--json"];
    let outcome = Program::new().run([&["probe", &url][..], &lost].concat());
    outcome.expect_code(1);
    assert_eq!(count(&outcome, "received_count"), 0, "{outcome}");
    assert_eq!(count(&outcome, "lost_count"), 4, "{outcome}");
    assert_eq!(count(&outcome, "failed_count"), 0, "{outcome}");
    let refused = closed_port().to_string();
    let outcome = Program::new().run([&["probe", &refused][..], &lost].concat());
    outcome.expect_code(1);
    assert_eq!(outcome.json()["probe"]["failures"]["connect_refused"], 4, "{outcome}");
}

/// A probe that goes on, once so many operations are over.
fn start_and_await(program: &Program, url: &str, lines: usize) -> Running {
    let running = program.start(["probe", url, "-i", "10ms", "--log", "lines.txt"]);
    let log = program.runs().join("lines.txt");
    assert!(wait_until(LIMIT, || lines_of(&log) >= lines), "no lines");
    running
}

#[test]
fn an_interrupt_ends_it_with_the_result() {
    let server = Hostile::start(vec![Verb::Expect, Verb::Send(GOOD.as_bytes()), Verb::Again]);
    for signal in [Signal::INT, Signal::TERM] {
        let program = Program::new();
        let running = start_and_await(&program, &server.url(), 3);
        running.signal(signal);
        let outcome = running.finish(LIMIT);
        outcome.expect_code(0);
        assert!(operations(&outcome.stdout).len() >= 3, "{outcome}");
        let result = outcome.stdout.lines().find(|line| line.contains(" sent, ") && line.contains(" lost ("));
        assert!(result.is_some(), "{outcome}");
    }
}

#[test]
fn quit_prints_statistics_and_goes_on() {
    let server = Hostile::start(vec![Verb::Expect, Verb::Send(GOOD.as_bytes()), Verb::Again]);
    let program = Program::new();
    let running = start_and_await(&program, &server.url(), 3);
    let before = lines_of(&program.runs().join("lines.txt"));
    running.signal(Signal::QUIT);
    let log = program.runs().join("lines.txt");
    assert!(wait_until(LIMIT, || lines_of(&log) > before + 20), "it does not go on");
    running.signal(Signal::INT);
    let outcome = running.finish(LIMIT);
    outcome.expect_code(0);
    let statistics: Vec<&str> = outcome.stderr.lines().filter(|line| line.contains(" sent, ")).collect();
    assert_eq!(statistics.len(), 1, "{outcome}");
    assert!(statistics[0].contains("min ") && statistics[0].contains(" lost ("), "{outcome}");
}

#[test]
fn interrupted_with_nothing_it_ends_with_130() {
    let silent = Hostile::start(vec![Verb::Expect, Verb::Drain]);
    let program = Program::new();
    let running = program.start(["probe", &silent.url(), "-W", "20s", "--json"]);
    assert!(wait_until(LIMIT, || silent.requests_count() >= 1));
    running.signal(Signal::INT);
    let outcome = running.finish(LIMIT);
    outcome.expect_code(130);
    assert_eq!(outcome.json()["status"], "interrupted", "{outcome}");
    assert!(count(&outcome, "in_flight_count") >= 1, "{outcome}");
    assert_eq!(count(&outcome, "lost_count"), 0, "what is open is not lost: {outcome}");
}

/// A network namespace of our own, in which this is done first; `None` where none can be made.
fn in_namespace(prelude: &str, probe: &[&str]) -> Option<Outcome> {
    find_program("unshare")?;
    find_program("ip")?;
    let program = Program::new();
    let mut command = Command::new("unshare");
    let script = format!("set -e; ip link set lo up; {prelude}; echo ready >&2; exec \"$@\"");
    command.args(["-n", "/bin/sh", "-c", &script, "sh"]).arg(program_path());
    command.args(probe).current_dir(program.runs());
    command.stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let outcome = Running::start(command).finish(LIMIT);
    outcome.stderr.contains("ready").then_some(outcome)
}

fn program_path() -> &'static str {
    env!("CARGO_BIN_EXE_sysdyno")
}

/// An address to which packets go and from which none comes back: its frames reach nobody.
const VOID: &str = "ip link add v0 type veth peer name v1; ip addr add 10.99.0.1/24 dev v0; \
                    ip link set v0 up; ip link set v1 up; \
                    ip neigh add 10.99.0.2 lladdr 02:00:00:00:00:99 dev v0 nud permanent";

#[test]
fn into_the_void_everything_is_lost() {
    for target in ["10.99.0.2", "10.99.0.2:80"] {
        let probe = ["probe", target, "-c", "4", "-i", "50ms", "-W", "200ms", "--json"];
        let Some(outcome) = in_namespace(VOID, &probe) else {
            return skip("probe into the void", &["unshare", "iproute2", "namespaces"]);
        };
        outcome.expect_code(1);
        assert_eq!((count(&outcome, "lost_count"), count(&outcome, "failed_count")), (4, 0), "{outcome}");
        assert_eq!(outcome.json()["probe"]["lost_ratio"], 1.0, "{outcome}");
    }
}

#[test]
fn this_host_answers_echoes_on_both_kinds_of_socket() {
    for group_range in ["1 0", "0 2147483647"] {
        for target in ["127.0.0.1", "::1"] {
            let prelude = format!("echo '{group_range}' > /proc/sys/net/ipv4/ping_group_range");
            let probe = ["probe", target, "-c", "3", "-i", "20ms", "--json"];
            let Some(outcome) = in_namespace(&prelude, &probe) else {
                return skip("echoes", &["unshare", "iproute2", "namespaces"]);
            };
            outcome.expect_code(0);
            assert_eq!(count(&outcome, "received_count"), 3, "{group_range}: {outcome}");
        }
    }
}

#[test]
fn who_may_not_send_echoes_is_told_what_to_do() {
    if !has("echo without rights", &["setpriv"]) {
        return;
    }
    // The program may lie where others cannot look; a copy beside the runs can be read by all.
    let prelude = "echo '1 0' > /proc/sys/net/ipv4/ping_group_range; chmod 755 .; cp \"$1\" probe-copy; shift; \
                   set -- setpriv --reuid 65534 --regid 65534 --clear-groups ./probe-copy \"$@\"";
    let Some(outcome) = in_namespace(prelude, &["probe", "127.0.0.1", "-c", "1"]) else {
        return skip("echo without rights", &["unshare", "iproute2", "namespaces"]);
    };
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("cannot probe '127.0.0.1'"), "{outcome}");
    assert!(outcome.stderr.contains("hint: ") && outcome.stderr.contains("ping_group_range"), "{outcome}");
}

#[test]
fn what_is_no_probe_is_refused_before_anything_is_sent() {
    let wrong: &[(&[&str], &str)] = &[
        (&["probe"], "TARGET"),
        (&["probe", "127.0.0.1", "-i", "1ms"], "10ms"),
        (&["probe", "9.9.9.9", "-i", "50ms"], "100ms"),
        (&["probe", "9.9.9.9:53", "-i", "99ms"], "public"),
        (&["probe", "http://9.9.9.9/", "-c", "1"], "public"),
        (&["probe", "224.0.0.1"], "multicast"),
        (&["probe", "169.254.169.254"], "metadata"),
        (&["probe", "127.0.0.1", "-i", "10ms", "-W", "1h"], "open"),
        (&["probe", "https://127.0.0.1/"], "https"),
        (&["probe", "unix:/run/x.sock", "--kind", "tcp"], "Unix"),
        (&["probe", "127.0.0.1", "-c", "0"], "0"),
        (&["load", "unix:/run/x.sock", "--probe", "icmp"], "Unix"),
        (&["load", "http://127.0.0.1:1/", "--probe", "udp"], "icmp"),
        (&["load", "http://127.0.0.1:1/", "--probe-log", "x"], "--probe http"),
    ];
    for (arguments, text) in wrong {
        let program = Program::new();
        let outcome = program.run(arguments.iter().copied());
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome}");
        assert!(
            outcome.stderr.starts_with("error: ") && outcome.stdout.is_empty(),
            "{arguments:?}: {outcome}"
        );
        assert!(outcome.stderr.contains(text), "{arguments:?} does not say '{text}': {outcome}");
        assert_eq!(program.run_folder(), None, "{arguments:?}: a run was begun");
    }
}

#[test]
fn beside_a_load_the_probe_is_recorded_logged_and_shown() {
    let target = Target::start(&["--delays-us", "2000"]);
    for kind in ["http", "tcp"] {
        let program = Program::new();
        let load = ["load", target.url(), "--rate", "100/s", "-d", "3s", "--json"];
        let outcome = program.run([&load[..], &["--probe", kind, "--probe-log", "lines.txt"]].concat());
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        assert_eq!(outcome.json()["probe"]["kind"], kind, "{outcome}");
        let sent = count(&outcome, "sent_count");
        assert!((1..=31).contains(&sent), "{outcome}");
        assert_eq!(count(&outcome, "received_count") + count(&outcome, "lost_count"), sent, "{outcome}");
        let logged = std::fs::read_to_string(program.runs().join("lines.txt")).expect("the log is there");
        assert!(
            operations(&logged).len() as u64 >= sent && logged.contains("  trial 1  seq 1  "),
            "{logged}"
        );
        operations(&logged).iter().for_each(|line| check_stamp(line));
        let folder = program.run_folder().expect("the run is kept");
        let recorded = lines_of(&folder.join("probe.jsonl"));
        assert_eq!(recorded, logged.lines().count(), "{logged}");
        let folder = folder.display().to_string();
        let shown = program.run(["show", &folder, "--verify"]);
        assert!(!shown.stderr.contains("differs"), "{shown}");
        let row = shown.stdout.lines().find(|line| line.trim_start().starts_with("probe "));
        assert!(row.is_some_and(|row| row.contains(kind) && row.contains("lost ")), "{shown}");
    }
}

/// Half a second's stall of every second: a closed look at single requests would hardly see it, an outsider does.
#[test]
fn the_probe_beside_a_stalling_server_sees_the_stall() {
    let target = Target::start(&["--stall-every-ms", "1000", "--stall-for-ms", "500"]);
    let load = ["load", target.url(), "-c", "2", "-d", "3s", "--probe", "http", "--json"];
    let outcome = Program::new().run(load);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let longest_ns = outcome.json()["probe"]["response_time_ns"]["max"].as_f64().expect("a greatest time");
    assert!(longest_ns > 0.2e9, "{longest_ns}: {outcome}");
}

/// One connection to a server that holds each request for 15 ms carries 67 requests a second, so that most of 100 wait
/// for the connection; an outsider, who has one of his own, does not.
#[test]
fn an_outsider_who_waits_otherwise_than_the_load_makes_it_suspect() {
    let target = Target::start(&["--delays-us", "15000"]);
    let load = ["load", target.url(), "--rate", "100/s", "-c", "1", "-d", "4s", "--probe", "http", "--json"];
    let outcome = Program::new().run(load);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let json = outcome.json();
    let reasons = json["verdict"]["reasons"].as_array().expect("reasons are a list");
    let reason = reasons.iter().find(|reason| reason["id"] == "V40");
    let reason = reason.unwrap_or_else(|| panic!("nothing is said about the outsider: {outcome}"));
    assert_eq!(reason["status"], "SUSPECT", "{outcome}");
    let text = reason["text"].as_str().expect("a text");
    assert!(text.starts_with("median latency: probe ") && text.contains(", load "), "{text}");
}
