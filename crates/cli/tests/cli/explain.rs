//! `sysdyno explain`: what diagnoses mean, and why a run of a real nginx has its bottleneck.

use crate::rig::nginx::Nginx;
use crate::rig::program::Program;
use crate::rig::skip;

#[test]
fn every_diagnosis_is_listed_and_explained_by_number_or_name() {
    let program = Program::new();
    let list = program.run(["explain", "--list", "--json"]);
    list.expect_code(0);
    let all = list.json();
    let all = all.as_array().expect("is a list");
    let ids: Vec<&str> = all.iter().filter_map(|diagnosis| diagnosis["id"].as_str()).collect();
    assert!(ids.contains(&"T01") && ids.contains(&"M01"), "{ids:?}");
    let screen = program.run(["explain", "--list"]);
    assert!(ids.iter().all(|id| screen.stdout.contains(id)), "{screen}");
    for word in ["t01", "accept-overflow"] {
        let one = program.run(["explain", word]);
        one.expect_code(0);
        assert!(one.stdout.contains("T01") && one.stdout.contains("TcpExt.ListenOverflows"), "{one}");
    }
    let nothing = program.run(["explain", "no-such-run"]);
    nothing.expect_code(2);
    assert!(nothing.stderr.contains("cannot find run 'no-such-run'"), "{nothing}");
    assert!(nothing.stderr.contains("hint: `sysdyno explain --list`"), "{nothing}");
}

#[test]
fn what_the_servers_log_says_of_failures_is_the_explanation() {
    // Port 1 of the loopback interface answers nobody.
    let Some(nginx) = Nginx::start("location / { proxy_pass http://127.0.0.1:1/; }") else {
        return skip("what_the_servers_log_says_of_failures_is_the_explanation", &["nginx"]);
    };
    let program = Program::new();
    let load = program.run(["load", &nginx.url("/"), "-r", "100/s", "-c", "4", "-d", "3s"]);
    load.expect_code(3);
    let explained = program.run(["explain", "--json"]).json();
    let findings = explained["findings"].as_array().expect("is a list");
    let log = findings.iter().find(|finding| finding["id"] == "L01").expect("a finding");
    let title = log["title"].as_str().expect("is text");
    assert!(title.starts_with("A back end is not there: nginx logged it"), "{title}");
    let line = log["evidence"][0]["text"].as_str().expect("is text");
    assert!(line.contains("'connect() failed (111: Connection refused)"), "{line}");
    let screen = program.run(["explain"]);
    screen.expect_code(0);
    assert!(screen.stdout.contains("(server-log, L01)") && screen.stdout.contains("Ruled out"), "{screen}");
}
