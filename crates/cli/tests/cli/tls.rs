//! Over TLS against a real nginx: requests and handshakes are those that it logs.

use crate::rig::nginx::Nginx;
use crate::rig::program::{Outcome, Program};
use crate::rig::{skip, wait_until};
use std::time::Duration;

const LOCATIONS: &str = "location = /ok { return 200 'hello from a real server'; }";

fn load(nginx: &Nginx, way: &[&str]) -> Outcome {
    let (url, trusted) = (nginx.secure_url("/ok"), nginx.certificate());
    let fixed =
        ["load", &url, "--requests", "600", "--tls-ca", &trusted, "--tls-name", "localhost", "--json"];
    Program::new().run([&fixed[..], way].concat())
}

/// Asserts that nginx logged as many requests, full handshakes and resumed ones as the program says.
#[track_caller]
fn check(way: &[&str]) -> Outcome {
    let nginx = Nginx::start(LOCATIONS).expect("it was there before");
    let outcome = load(&nginx, way);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    assert_eq!((outcome.count("ok"), outcome.count("sent")), (600, 600), "{outcome}");
    assert!(wait_until(Duration::from_secs(5), || nginx.logged_count() == 600), "{outcome}");
    let handshakes = &outcome.json()["handshakes"];
    // A dot stands for a session that was not resumed, the letter for one that was.
    assert_eq!(handshakes["full"], nginx.logged_connections("."), "{outcome}");
    assert_eq!(handshakes["resumed"], nginx.logged_connections("r"), "{outcome}");
    let count = handshakes["full"].as_u64().unwrap_or(0) + handshakes["resumed"].as_u64().unwrap_or(0);
    assert_eq!(outcome.json()["handshake_time_ns"]["count"], count, "{outcome}");
    outcome
}

#[test]
fn nginx_logs_the_requests_and_the_handshakes_that_are_reported() {
    if Nginx::start(LOCATIONS).is_none() {
        return skip("nginx_logs_the_requests_and_the_handshakes_that_are_reported", &["nginx"]);
    }
    check(&["--connections", "8"]);
    check(&["--connections", "8", "--rate", "2000/s", "--io", "epoll"]);
    for version in ["1.2", "1.3"] {
        let way = ["--connections", "4", "--no-keepalive", "--tls-resume", "75%", "--tls-version", version];
        let outcome = check(&way);
        let resumed = outcome.json()["handshakes"]["resumed"].as_u64().expect("a count");
        assert!((430..=450).contains(&resumed), "{version}: {outcome}");
    }
}

#[test]
fn a_certificate_that_is_not_trusted_is_no_result_unless_it_is_not_asked_for() {
    let Some(nginx) = Nginx::start(LOCATIONS) else {
        return skip("a_certificate_that_is_not_trusted_is_no_result_unless_it_is_not_asked_for", &["nginx"]);
    };
    let url = nginx.secure_url("/ok");
    let load = |more: &[&str]| Program::new().run([&["load", &url, "--requests", "100"], more].concat());
    let outcome = load(&["--tls-ca", &nginx.certificate(), "--json"]);
    outcome.expect_code(3);
    assert_eq!(outcome.count("ok"), 0, "{outcome}");
    assert!(outcome.json()["failures"]["tls_name"].as_u64() > Some(0), "{outcome}");
    let outcome = load(&["--insecure"]);
    assert!(outcome.stdout.contains("certificate not verified"), "{outcome}");
    let outcome = load(&["--insecure", "--json"]);
    let reasons = outcome.json()["verdict"]["reasons"].to_string();
    assert!(reasons.contains("V43") && reasons.contains("--insecure"), "{outcome}");
}

#[test]
fn options_of_tls_are_for_tls_only() {
    for way in [["--insecure", "--json"], ["--tls-resume", "50%"]] {
        let outcome = Program::new().run([&["load", "http://127.0.0.1:1/"][..], &way].concat());
        assert_eq!(outcome.code, Some(2), "{outcome}");
        assert!(outcome.stderr.contains("https://HOST"), "{outcome}");
    }
}
