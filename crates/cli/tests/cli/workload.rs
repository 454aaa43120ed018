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
        &["--connections", "8", "--load-from", "here"],
    ];
    for way in ways {
        let Some(nginx) = Nginx::start(LOCATIONS) else { return skip("a list of URLs", &["nginx"]) };
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
    let Some(nginx) = Nginx::start(LOCATIONS) else { return skip("a replayed log", &["nginx"]) };
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
fn what_nginx_has_logged_is_replayed_and_logged_again() {
    let combined = "location / { access_log FOLDER/combined.log combined; access_log FOLDER/access.log counted; return 200 'x'; }";
    let Some(nginx) = Nginx::start_with_files(combined, &[]) else {
        return skip("a replayed log of nginx", &["nginx"]);
    };
    let program = Program::new();
    let list = file(&program, "urls.txt", "5 /\n3 /search?q=a%20b\n2 HEAD /static/a.png\n");
    let (url, list) = (nginx.url("/"), list.to_str().expect("is text"));
    let first = program.run(["load", &url, "--urls", list, "--requests", "300", "-c", "4"]);
    wait_until(Duration::from_secs(5), || nginx.logged_count() >= 300);
    let before = nginx.logged_requests();
    assert_eq!(before.values().sum::<u64>(), 300, "{first}");
    let log = file(&program, "combined.log", &nginx.read("combined.log"));
    let log = log.to_str().expect("is text");
    let by_http2 = nginx.prior_url("/");
    let ways: [&[&str]; 2] =
        [&[&url], &[&by_http2, "--http2", "prior", "--streams", "8", "-c", "2", "-t", "1"]];
    for (times, way) in (2..).zip(ways) {
        let outcome = program.run([&["load", "--replay", log, "--json"], way].concat());
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        assert_eq!((outcome.count("sent"), outcome.count("ok")), (300, 300), "{outcome}");
        wait_until(Duration::from_secs(5), || nginx.logged_count() >= times * 300);
        let all = before.iter().map(|(request, count)| (request.clone(), times * count)).collect();
        assert_eq!(nginx.logged_requests(), all, "{outcome}");
    }
}

#[test]
fn a_mix_of_a_log_sends_what_stands_in_it() {
    let Some(nginx) = Nginx::start(LOCATIONS) else { return skip("the mix of a log", &["nginx"]) };
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
