//! Several kinds of request in one load, against a real nginx: what it counts of each is what was sent of it.

use crate::rig::nginx::Nginx;
use crate::rig::program::{Outcome, Program};
use crate::rig::{skip, wait_until};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

const LOCATIONS: &str = "
    location = / { return 200 'the first page'; }
    location = /search { return 200 'what was found'; }
    location /static/ { return 200 'a picture'; }
    location = /login { return 200 'welcome'; }
";

fn file(program: &Program, name: &str, text: &str) -> PathBuf {
    let path = program.runs().join(name);
    std::fs::write(&path, text).expect("a file can be written");
    path
}

/// Asserts that nginx logged of each operation what the program says that it wrote of it, and nothing else.
#[track_caller]
fn check_operations(nginx: &Nginx, outcome: &Outcome) -> BTreeMap<String, u64> {
    let json = outcome.json();
    let operations = json["operations"].as_array().expect("operations are a list");
    let written: BTreeMap<String, u64> = operations
        .iter()
        .map(|operation| {
            let name = operation["name"].as_str().expect("has a name");
            let name = if name.starts_with('/') { format!("GET {name}") } else { name.to_owned() };
            (name, operation["total"]["written"].as_u64().expect("has a count"))
        })
        .filter(|(_, written)| *written > 0)
        .collect();
    wait_until(Duration::from_secs(5), || nginx.logged_count() >= written.values().sum());
    assert_eq!(nginx.logged_requests(), written, "{outcome}");
    written
}

#[test]
fn nginx_counts_each_url_of_a_list_as_often_as_it_was_sent() {
    let ways: &[&[&str]] = &[
        &["--connections", "8"],
        &["--connections", "16", "--rate", "800/s"],
        &["--connections", "4", "--no-keepalive"],
    ];
    for way in ways {
        let Some(nginx) = Nginx::start(LOCATIONS) else { return skip("a list of URLs", "nginx") };
        let program = Program::new();
        let list = format!("# shares\n60 /\n30 {}\n10 HEAD /static/a.png\n0 /login\n", nginx.url("/search"));
        let list = file(&program, "urls.txt", &list);
        let list = list.to_str().expect("is text");
        let url = nginx.url("/");
        let arguments =
            [&["load", &url, "--urls", list, "--requests", "2000", "--json", "--seed", "7"], *way].concat();
        let outcome = program.run(arguments);
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        assert_eq!(outcome.count("ok"), 2000, "{outcome}");
        let written = check_operations(&nginx, &outcome);
        assert_eq!(written.len(), 3, "{outcome}");
        // 1,200 expected, standard deviation 22.
        assert!((1080..1320).contains(&written["GET /"]), "{outcome}");
    }
}

#[test]
fn a_log_is_replayed_request_for_request() {
    let Some(nginx) = Nginx::start(LOCATIONS) else { return skip("a replayed log", "nginx") };
    let program = Program::new();
    let line = |second: u32, request: &str| {
        format!("192.0.2.7 - - [20/Nov/2026:10:00:{second:02} +0100] \"{request}\" 200 5 \"-\" \"x\"\n")
    };
    let mut log = String::from("not a line of a log\n");
    for number in 0..40 {
        log.push_str(&line(number % 4, "GET / HTTP/1.1"));
        log.push_str(&line(number % 4, &format!("GET /static/{}.png?v={number} HTTP/1.1", number % 2)));
    }
    log.push_str(&line(2, "HEAD /login HTTP/1.1"));
    log.push_str(&line(3, "POST /login HTTP/1.1"));
    let log = file(&program, "access.log", &log);
    let (url, log) = (nginx.url("/"), log.to_str().expect("is text"));
    let outcome = program.run(["load", &url, "--replay", log, "--speed", "4x", "--json"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    assert_eq!((outcome.count("sent"), outcome.count("ok")), (81, 81), "{outcome}");
    // Responses of paths with and without a query are of one operation; the log of the server tells them apart.
    wait_until(Duration::from_secs(5), || nginx.logged_count() >= 81);
    let logged = nginx.logged_requests();
    assert_eq!((logged["GET /"], logged["HEAD /login"]), (40, 1), "{outcome}");
    assert_eq!(logged.keys().filter(|request| request.starts_with("GET /static/")).count(), 40, "{outcome}");
    let json = outcome.json();
    let names: Vec<_> =
        json["operations"].as_array().expect("a list").iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["/", "/static/0.png", "/static/1.png", "HEAD /login"], "{outcome}");
    let written = |name: &str| {
        let operations = json["operations"].as_array().expect("a list");
        let operation = operations.iter().find(|item| item["name"] == name).expect("is there");
        operation["total"]["written"].as_u64()
    };
    assert_eq!((written("/"), written("/static/1.png")), (Some(40), Some(20)), "{outcome}");
}

#[test]
fn a_mix_of_a_log_sends_what_stands_in_it() {
    let Some(nginx) = Nginx::start(LOCATIONS) else { return skip("the mix of a log", "nginx") };
    let program = Program::new();
    let line = |request: &str| format!("h - - [20/Nov/2026:10:00:00 +0100] \"{request}\" 200 5\n");
    let log = [line("GET / HTTP/1.1"), line("GET /search HTTP/1.1"), line("GET / HTTP/1.1")].concat();
    let log = file(&program, "access.log", &log);
    let (url, log) = (nginx.url("/"), log.to_str().expect("is text"));
    let outcome =
        program.run(["load", &url, "--mix", log, "--requests", "900", "-c", "4", "--json", "--seed", "3"]);
    let written = check_operations(&nginx, &outcome);
    // 600 expected, standard deviation 14.
    assert!((515..685).contains(&written["GET /"]), "{outcome}");
}

#[test]
fn a_wrong_list_is_refused_with_its_line_before_anything_is_sent() {
    let program = Program::new();
    let list = file(&program, "urls.txt", "/\nhttp://127.0.0.2/\n");
    let outcome = program.run([
        "load",
        "http://127.0.0.1:1/",
        "--urls",
        list.to_str().expect("is text"),
        "--requests",
        "1",
    ]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("urls.txt': line 2: 'http://127.0.0.2' is not the server"), "{outcome}");
    assert!(program.run_folder().is_none(), "{outcome}");
}

#[test]
fn users_of_web20_pass_its_rules_and_nginx_counts_their_requests() {
    let Some(nginx) = Nginx::start("location /web20/ { client_max_body_size 2m; return 200 'a page'; }")
    else {
        return skip("users of web20", "nginx");
    };
    let program = Program::new();
    // Time that runs a hundred times faster than that of people, with the same matrix.
    let session = include_str!("../../src/session/web20.toml");
    let fast = ["25s", "5s", "3s", "2s"].iter().fold(session.to_owned(), |text, span| {
        let number = span.trim_end_matches('s');
        let text = text.replace(&format!("mean = \"{span}\""), &format!("mean = \"{number}0ms\""));
        let text = text.replace(&format!("max = \"{span}\""), &format!("max = \"{number}0ms\""));
        text.replace(&format!("min = \"{span}\""), &format!("min = \"{number}0ms\""))
    });
    let file = file(&program, "fast.toml", &fast);
    let url = nginx.url("/");
    let outcome = program.run([
        "load",
        &url,
        "--session",
        file.to_str().expect("is text"),
        "--users",
        "10",
        "--warmup",
        "0s",
        "-d",
        "3s",
        "--pages-only",
        "--json",
        "--seed",
        "11",
    ]);
    // A busy machine may be too slow for cycles of 50 ms; what was counted is right all the same.
    assert!(matches!(outcome.code, Some(0 | 1 | 3)), "{outcome}");
    let json = outcome.json();
    let written: u64 = json["operations"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|operation| operation["total"]["written"].as_u64().expect("a count"))
        .sum();
    wait_until(Duration::from_secs(5), || nginx.logged_count() >= written);
    let logged = nginx.logged_requests();
    for operation in json["operations"].as_array().expect("a list") {
        let path = match operation["name"].as_str().expect("a name") {
            "HomePage" => "GET /web20/home",
            "Login" => "POST /web20/login",
            "TagSearch" => "GET /web20/tag",
            "EventDetail" => "GET /web20/event",
            "PersonDetail" => "GET /web20/person",
            "AddPerson" => "POST /web20/person/new",
            _ => "POST /web20/event/new",
        };
        let count = logged.get(path).copied().unwrap_or(0);
        assert_eq!(operation["total"]["written"].as_u64(), Some(count), "{path}: {outcome}");
    }
    let session = &json["session"];
    assert_eq!(session["operations"].as_array().map(Vec::len), Some(7), "{outcome}");
    let rule = |name: &str| {
        let rules = session["rules"].as_array().expect("a list");
        rules.iter().filter(|rule| rule["rule"] == name).all(|rule| rule["passed"] == true)
    };
    assert!(rule("errors") && rule("limit"), "{outcome}");
    let target = session["operations"][0]["mix_target_ratio"].as_f64().expect("a share");
    assert!((target - 0.2615).abs() < 0.0001, "{outcome}");
}
