//! By HTTP/2 against a real nginx, with and without TLS: the requests are those that it logs.

use crate::rig::nginx::Nginx;
use crate::rig::program::Program;
use crate::rig::{skip, wait_until};
use std::time::Duration;

const LOCATIONS: &str = "location = /ok { return 200 'hello from a real server'; }";

/// Requests of each load.
const REQUESTS: u64 = 1200;

/// Ways to send that the counts must agree in.
const WAYS: &[(&str, &[&str])] = &[
    ("one stream", &["--connections", "4"]),
    ("32 streams", &["--connections", "2", "--streams", "32"]),
    (
        "32 streams, epoll, open",
        &["--connections", "2", "--streams", "32", "--rate", "3000/s", "--io", "epoll"],
    ),
    ("a connection per request", &["--connections", "4", "--no-keepalive"]),
];

#[test]
fn nginx_logs_the_requests_that_are_reported() {
    for (what, way) in WAYS {
        for is_secure in [false, true] {
            let Some(nginx) = Nginx::start(LOCATIONS) else {
                return skip("nginx_logs_the_requests_that_are_reported", &["nginx"]);
            };
            let url = if is_secure { nginx.secure_url("/ok") } else { nginx.prior_url("/ok") };
            let requests = REQUESTS.to_string();
            let fixed = ["load", &url, "--requests", &requests, "--json"];
            let kind: &[&str] =
                if is_secure { &["--http2", "alpn", "--insecure"] } else { &["--http2", "prior"] };
            let outcome = Program::new().run([&fixed[..], kind, way].concat());
            assert!(matches!(outcome.code, Some(0 | 3)), "{what} {is_secure}: {outcome}");
            assert_eq!(
                (outcome.count("ok"), outcome.count("sent")),
                (REQUESTS, REQUESTS),
                "{what} {is_secure}: {outcome}"
            );
            let has_all = || nginx.logged_count() >= outcome.count("written");
            assert!(wait_until(Duration::from_secs(5), has_all), "{what}: {}", nginx.logged_count());
            assert_eq!(nginx.logged_count(), REQUESTS, "{what} {is_secure}: {outcome}");
        }
    }
}

#[test]
fn a_server_without_http2_is_told_from_one_that_is_broken() {
    let Some(nginx) = Nginx::start(LOCATIONS) else {
        return skip("a_server_without_http2_is_told_from_one_that_is_broken", &["nginx"]);
    };
    let outcome =
        Program::new().run(["load", &nginx.url("/ok"), "--requests", "50", "--http2", "prior", "--json"]);
    outcome.expect_code(3);
    assert_eq!(outcome.count("ok"), 0, "{outcome}");
    assert!(outcome.json()["failures"]["not_http2"].as_u64() > Some(0), "{outcome}");
    assert!(
        outcome.json()["failure_texts"]["not_http2"].to_string().contains("It answered 'HTTP/1.1 400"),
        "{outcome}"
    );
}

#[test]
fn ways_that_do_not_fit_the_target_are_refused() {
    for (way, hint) in [
        (&["load", "http://127.0.0.1:1/", "--http2", "alpn"][..], "https://"),
        (&["load", "https://127.0.0.1:1/", "--http2", "prior"], "--http2 alpn"),
        (&["load", "http://127.0.0.1:1/", "--streams", "4"], "--http2"),
        (&["load", "memcached://127.0.0.1:1", "--http2", "prior"], "memcached"),
    ] {
        let outcome = Program::new().run(way);
        assert_eq!(outcome.code, Some(2), "{outcome}");
        assert!(outcome.stderr.contains(hint), "{outcome}");
    }
}
