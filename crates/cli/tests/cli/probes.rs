//! A probe of several targets: whose line it is, which of two paths lost what, and what is kept of it.

use crate::rig::hostile::{Hostile, Verb, closed_port};
use crate::rig::pair::Pair;
use crate::rig::program::{Outcome, Program, Running, Target};
use crate::rig::{skip, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Lines of a file that contain a text.
fn lines_with(file: &Path, text: &str) -> usize {
    let read = std::fs::read_to_string(file).unwrap_or_default();
    read.lines().filter(|line| line.contains(text)).count()
}

fn named(result: &Value, name: &str) -> Value {
    let targets = result["probes"]["targets"].as_array().expect("a list");
    targets.iter().find(|target| target["name"] == name).unwrap_or(&Value::Null).clone()
}

/// The data of a page.
fn data_of(page: &str) -> Value {
    let begin = page.find("type=\"application/json\"").expect("the page has a data block");
    let block = page[begin..].split_once('>').and_then(|(_, rest)| rest.split_once("</script>"));
    serde_json::from_str(block.expect("the block ends").0).expect("is JSON")
}

fn two_targets(target: &Target) -> [String; 2] {
    [format!("up={}", target.url()), format!("down={}", closed_port())]
}

#[test]
fn each_line_names_its_target_and_the_table_says_which_lost() {
    let target = Target::start(&[]);
    let [up, down] = two_targets(&target);
    let outcome = Program::new().run(["probe", &up, &down, "-c", "30", "-i", "10ms"]);
    outcome.expect_code(1);
    for (name, words) in [("up", "status 200"), ("down", "lost: connect_refused")] {
        let lines: Vec<&str> =
            outcome.stdout.lines().filter(|line| line.contains(&format!("Z  {name}  seq "))).collect();
        assert_eq!(lines.len(), 30, "{outcome}");
        assert!(lines.iter().all(|line| line.contains(words)), "{outcome}");
        assert!(outcome.stdout.contains(&format!("{name}: ")), "no heading of {name}: {outcome}");
    }
    assert!(
        outcome.stdout.contains("down lost 30 of 30 probes (100%) in 1 window that up did not see"),
        "{outcome}"
    );
    assert!(outcome.stdout.contains("Loss windows (UTC)"), "{outcome}");
}

#[test]
fn the_document_has_each_target_and_the_windows() {
    let target = Target::start(&[]);
    let [up, down] = two_targets(&target);
    let outcome = Program::new().run(["probe", &up, &down, "-c", "30", "-i", "10ms", "--json"]);
    outcome.expect_code(1);
    let result = outcome.json();
    assert!(result["probe"].is_null() && result["target"].is_null(), "{outcome}");
    assert_eq!(named(&result, "up")["received_count"], 30, "{outcome}");
    assert_eq!(named(&result, "down")["lost_count"], 30, "{outcome}");
    assert_eq!(result["probes"]["windows_count"], 1, "{outcome}");
    let window = &result["probes"]["windows"][0];
    assert_eq!(
        (&window["targets"][0]["sight"], &window["targets"][1]["sight"]),
        (&"clear".into(), &"lost".into())
    );
}

#[test]
fn what_was_piped_into_a_file_has_the_same_result_and_a_page() {
    let target = Target::start(&[]);
    let [up, down] = two_targets(&target);
    let program = Program::new();
    let printed = program.run(["probe", &up, &down, "-c", "25", "-i", "10ms", "--log", "own.txt"]);
    printed.expect_code(1);
    std::fs::write(program.runs().join("piped.txt"), &printed.stdout).expect("writes");
    for file in ["piped.txt", "own.txt"] {
        let shown = program.run(["show", file, "--json"]);
        shown.expect_code(1);
        let result = shown.json();
        assert_eq!(named(&result, "up")["received_count"], 25, "{file}: {shown}");
        assert_eq!(named(&result, "down")["failures"]["connect_refused"], 25, "{file}: {shown}");
        let report = program.run(["report", file]);
        report.expect_code(0);
        assert_eq!(report.stdout.trim(), format!("{file}.html"), "{report}");
        let page = std::fs::read_to_string(program.runs().join(format!("{file}.html"))).expect("is there");
        let data = data_of(&page);
        assert_eq!(data["schema"], "sysdyno.probe-report/1");
        let names: Vec<&Value> =
            data["strips"].as_array().expect("a list").iter().map(|one| &one["name"]).collect();
        assert_eq!(names, ["up", "down"]);
    }
    std::fs::write(program.runs().join("other.txt"), "PING 10.0.0.1\n64 bytes\n").expect("writes");
    let refused = program.run(["report", "other.txt"]);
    refused.expect_code(2);
    assert!(refused.stderr.starts_with("error: cannot read probe lines 'other.txt'"), "{refused}");
}

#[test]
fn a_recorded_probe_is_shown_listed_and_reported_again() {
    let target = Target::start(&[]);
    let [up, down] = two_targets(&target);
    let program = Program::new();
    let first = program.run(["probe", &up, &down, "-c", "25", "-i", "10ms", "--json", "--record"]);
    first.expect_code(1);
    let folder = program.run_folder().expect("the run is kept");
    assert_eq!(first.json()["run"].as_str().map(Path::new), Some(folder.as_path()), "{first}");
    assert_eq!(lines_with(&folder.join("probe.jsonl"), "\"sequence\""), 50);
    let shown = program.run(["show", &folder.display().to_string(), "--json", "--verify"]);
    shown.expect_code(1);
    assert_eq!(shown.json()["probes"], first.json()["probes"], "{shown}");
    let listed = program.run(["runs", "--kind", "probe", "--json"]);
    listed.expect_code(0);
    assert!(listed.stdout.contains("down lost 25 of 25 probes"), "{listed}");
    let page = std::fs::read_to_string(folder.join("report.html")).expect("is there");
    assert_eq!(data_of(&page)["probes"]["targets"][1]["failed_count"], 25);
    std::fs::remove_file(folder.join("report.html")).expect("is there");
    program.run(["report", &folder.display().to_string()]).expect_code(0);
    assert_eq!(std::fs::read_to_string(folder.join("report.html")).expect("is there"), page);
    let explained = program.run(["explain", &folder.display().to_string()]);
    assert!(explained.stderr.contains("it is no load"), "{explained}");
}

#[test]
fn quit_prints_the_statistics_of_every_target() {
    const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let server = Hostile::start(vec![Verb::Expect, Verb::Send(GOOD.as_bytes()), Verb::Again]);
    let program = Program::new();
    let [a, b] = [format!("a={}", server.url()), format!("b={}", server.url())];
    let running = program.start(["probe", &a, &b, "-i", "10ms", "--log", "lines.txt"]);
    let log = program.runs().join("lines.txt");
    assert!(wait_until(LIMIT, || lines_with(&log, "  b  seq ") >= 5), "no lines");
    running.signal(Signal::QUIT);
    let before = lines_with(&log, "  b  seq ");
    assert!(wait_until(LIMIT, || lines_with(&log, "  b  seq ") > before + 20), "it does not go on");
    running.signal(Signal::INT);
    let outcome = running.finish(LIMIT);
    outcome.expect_code(0);
    for name in ["a: ", "b: "] {
        let lines = outcome.stderr.lines().filter(|line| line.starts_with(name) && line.contains(" sent, "));
        assert_eq!(lines.count(), 1, "{outcome}");
    }
}

#[test]
fn beside_a_load_several_targets_are_recorded_and_shown() {
    let (target, other) = (Target::start(&["--delays-us", "2000"]), Target::start(&[]));
    let program = Program::new();
    let beside = format!("other={}", other.url());
    let load = ["load", target.url(), "--rate", "100/s", "-d", "3s", "--probe-interval", "50ms", "--json"];
    let probes = ["--probe", "http", "--probe", "tcp", "--probe", &beside, "--probe-log", "lines.txt"];
    let outcome = program.run([&load[..], &probes].concat());
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let result = outcome.json();
    let names: Vec<&Value> = result["probes"]["targets"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|target| &target["name"])
        .collect();
    assert_eq!(names, ["http", "tcp", "other"], "{outcome}");
    assert_eq!(result["probe"]["kind"], "http", "{outcome}");
    assert_eq!(result["probe"]["sent_count"], named(&result, "http")["sent_count"], "{outcome}");
    assert!(named(&result, "other")["received_count"].as_u64().is_some_and(|count| count > 20), "{outcome}");
    let folder = program.run_folder().expect("the run is kept");
    let recorded = std::fs::read_to_string(folder.join("probe.jsonl")).expect("is there");
    let logged = std::fs::read_to_string(program.runs().join("lines.txt")).expect("is there");
    assert_eq!(recorded.lines().count(), logged.lines().count());
    assert!(logged.contains("  other  trial 1  seq 1  "), "{logged}");
    let folder = folder.display().to_string();
    let shown = program.run(["show", &folder, "--verify"]);
    for row in ["  http ", "  tcp ", "  other "] {
        assert!(
            shown.stdout.lines().any(|line| line.starts_with(row) && line.contains("lost ")),
            "{row}: {shown}"
        );
    }
    let page = std::fs::read_to_string(Path::new(&folder).join("report.html")).expect("is there");
    assert_eq!(data_of(&page)["probes"].as_array().map(Vec::len), Some(3));
}

#[test]
fn targets_that_cannot_be_told_apart_or_are_too_many_are_refused() {
    let many: Vec<String> = (1..=17).map(|last| format!("127.0.0.{last}")).collect();
    let mut too_many = vec!["probe"];
    too_many.extend(many.iter().map(String::as_str));
    let wrong: &[(&[&str], &str)] = &[
        (&["probe", "127.0.0.1", "127.0.0.1"], "two targets called '127.0.0.1'"),
        (&["probe", "a=127.0.0.1", "a=127.0.0.2"], "two targets called 'a'"),
        (&["probe", "a=9.9.9.9", "b=9.9.9.9", "-i", "100ms"], "together"),
        (&too_many, "more than 16 targets"),
        (&["load", "http://127.0.0.1:1/", "--probe", "icmp", "--probe", "icmp"], "two targets called 'icmp'"),
        (&["load", "http://127.0.0.1:1/", "--probe-interval", "1s"], "--probe http"),
        (&["load", "http://127.0.0.1:1/", "--probe", "x=http://9.9.9.9/"], "public"),
    ];
    for (arguments, text) in wrong {
        let outcome = Program::new().run(arguments.iter().copied());
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome}");
        assert!(outcome.stderr.contains(text), "{arguments:?} does not say '{text}': {outcome}");
    }
}

/// A second link of the pair.
fn second_link(pair: &Pair) -> bool {
    let done = |mut command: Command, arguments: &[&str]| {
        command.args(arguments).status().is_ok_and(|status| status.success())
    };
    let name = pair.server().trim_start_matches("netns:").to_owned();
    let generator = |arguments: &[&str]| done(pair.generator_command("ip"), arguments);
    let server = |arguments: &[&str]| done(pair.server_command("ip"), arguments);
    generator(&["link", "add", "v1", "type", "veth", "peer", "name", "v1", "netns", &name])
        && generator(&["addr", "add", "10.78.0.1/24", "dev", "v1"])
        && server(&["addr", "add", "10.78.0.2/24", "dev", "v1"])
        && generator(&["link", "set", "v1", "up"])
        && server(&["link", "set", "v1", "up"])
}

#[test]
fn of_two_paths_the_one_that_is_cut_off_saw_the_window_and_the_other_did_not() {
    let Some(pair) = Pair::make().filter(second_link) else {
        return skip("of_two_paths_the_one_that_is_cut_off", &["root", "iproute2", "namespaces"]);
    };
    let program = Program::new();
    let probe =
        ["probe", "a=10.77.0.2", "b=10.78.0.2", "-i", "20ms", "-W", "1s", "--json", "--log", "lines.txt"];
    let running = Running::start(pair.command(&program, probe));
    let log = program.runs().join("lines.txt");
    let set = |state: &str| {
        let status = pair.server_command("ip").args(["link", "set", "v1", state]).status();
        assert!(status.is_ok_and(|status| status.success()), "the link is not {state}");
    };
    let is_received = |text: &str| !text.contains("lost") && !text.contains("in flight");
    let received = |name: &str| {
        let read = std::fs::read_to_string(&log).unwrap_or_default();
        read.lines().filter(|line| line.contains(&format!("Z  {name}  ")) && is_received(line)).count()
    };
    assert!(wait_until(LIMIT, || received("a") > 20 && received("b") > 20), "no answers");
    set("down");
    assert!(
        wait_until(LIMIT, || lines_with(&log, "  b  ") > 0 && lines_with(&log, "lost: ") >= 20),
        "nothing is lost"
    );
    set("up");
    let before = received("b");
    assert!(wait_until(LIMIT, || received("b") > before + 20), "the path does not come back");
    running.signal(Signal::INT);
    let outcome: Outcome = running.finish(LIMIT);
    outcome.expect_code(0);
    let result = outcome.json();
    assert_eq!(named(&result, "a")["lost_count"], 0, "{outcome}");
    assert!(named(&result, "b")["lost_count"].as_u64().is_some_and(|count| count >= 20), "{outcome}");
    let windows = result["probes"]["windows"].as_array().expect("a list");
    let longest = windows.iter().max_by_key(|window| window["targets"][1]["lost_count"].as_u64());
    let sights = longest.map(|window| [&window["targets"][0]["sight"], &window["targets"][1]["sight"]]);
    assert_eq!(sights, Some([&"clear".into(), &"lost".into()]), "{outcome}");
}
