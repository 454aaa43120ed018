//! Where connections come from, as a real nginx sees it: addresses, PROXY headers, new connections, IPv6.

use crate::rig::nginx::Nginx;
use crate::rig::program::{Outcome, Program};
use crate::rig::{skip, wait_until};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::time::Duration;

/// Logs who asks, by the socket and by the PROXY header, and the number of the connection.
const WHO: &str = "location = /who { access_log who.log who; return 200 'x'; }";

/// A port that was free a moment ago.
fn free_port(address: &str) -> Option<u16> {
    TcpListener::bind(address).and_then(|listener| listener.local_addr()).ok().map(|address| address.port())
}

/// The log of who asked, once it has this many lines, as counts of what `pick` makes of each.
fn who(nginx: &Nginx, lines_count: u64, pick: impl Fn(&[&str]) -> String) -> BTreeMap<String, u64> {
    let log = || nginx.read("who.log");
    wait_until(Duration::from_secs(5), || log().lines().count() as u64 >= lines_count);
    let log = log();
    assert_eq!(log.lines().count() as u64, lines_count, "{log}");
    let mut counts = BTreeMap::new();
    log.lines().for_each(|line| *counts.entry(pick(&line.split(' ').collect::<Vec<_>>())).or_default() += 1);
    counts
}

fn load(url: &str, more: &[&str]) -> Outcome {
    load_with(&Program::new(), url, more)
}

fn load_with(program: &Program, url: &str, more: &[&str]) -> Outcome {
    let outcome = program.run([&["load", url, "--json"], more].concat());
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    assert_eq!(outcome.count("ok"), outcome.count("sent"), "{outcome}");
    outcome
}

#[test]
fn connections_come_from_each_source_in_turn() {
    let Some(nginx) = Nginx::start(WHO) else {
        return skip("connections_come_from_each_source_in_turn", &["nginx"]);
    };
    let sources = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
    let line = ["-n", "90", "-c", "9", "-t", "2", "--no-keepalive", "--source", &sources.join(",")];
    let outcome = load(&nginx.url("/who"), &line);
    assert_eq!(outcome.count("written"), 90, "{outcome}");
    let counts = who(&nginx, 90, |words| words[0].to_owned());
    assert_eq!(counts.keys().collect::<Vec<_>>(), sources, "{counts:?}");
    // Connections are spread evenly; which of them sends how many of the requests is up to the server.
    assert!(counts.values().all(|count| *count >= 3), "{counts:?}");
    assert_eq!(outcome.json()["generator"]["io"], "epoll", "{outcome}");
}

#[test]
fn a_proxy_header_says_the_connections_own_addresses() {
    for version in ["v1", "v2"] {
        let port = free_port("127.0.0.1:0").expect("a port");
        let Some(nginx) = Nginx::start(&format!("listen 127.0.0.1:{port} proxy_protocol; {WHO}")) else {
            return skip("a_proxy_header_says_the_connections_own_addresses", &["nginx"]);
        };
        let url = format!("http://127.0.0.1:{port}/who");
        let line = ["-n", "20", "-c", "2", "--proxy-protocol", version, "--source", "127.0.0.5"];
        load(&url, &line);
        let counts = who(&nginx, 20, |words| format!("{} {}", words[1], words[2] == words[3]));
        assert_eq!(counts.keys().collect::<Vec<_>>(), ["127.0.0.5 true"], "{version}: {counts:?}");
    }
}

#[test]
fn connections_are_made_anew_at_the_rate_that_was_asked_for_on_a_quiet_machine() {
    let Some(nginx) = Nginx::start(WHO) else {
        return skip(
            "connections_are_made_anew_at_the_rate_that_was_asked_for_on_a_quiet_machine",
            &["nginx"],
        );
    };
    let program = Program::alone();
    // Of a number of requests each thread sends its share: one that is done with it makes no more connections while
    // the other goes on.
    let ways =
        [&["-r", "500/s", "--arrival", "constant", "-d", "2s", "-t", "2"][..], &["-n", "3000", "-t", "1"]];
    for way in ways {
        let more = [way, &["-c", "4", "--churn", "50/s"]].concat();
        let outcome = load_with(&program, &nginx.url("/who"), &more);
        let json = outcome.json();
        let seconds = outcome.count("ok") as f64 / json["rates"]["achieved_hz"].as_f64().expect("a rate");
        let connections = who(&nginx, outcome.count("written"), |words| words[4].to_owned()).len() as f64;
        // Four of the begin, and one at each instant that was followed by a response.
        let expected = 4.0 + 50.0 * seconds;
        assert!(
            (connections - expected).abs() <= 6.0,
            "{connections} connections, not {expected}: {outcome}"
        );
        nginx.empty("who.log");
    }
}

#[test]
fn a_server_on_ipv6_is_loaded_from_an_ipv6_address() {
    let Some(port) = free_port("[::1]:0") else {
        return skip("a_server_on_ipv6_is_loaded_from_an_ipv6_address", &["ipv6"]);
    };
    let Some(nginx) = Nginx::start(&format!("listen [::1]:{port}; {WHO}")) else {
        return skip("a_server_on_ipv6_is_loaded_from_an_ipv6_address", &["nginx"]);
    };
    let url = format!("http://[::1]:{port}/who");
    load(&url, &["-n", "20", "-c", "2"]);
    load(&url, &["-n", "20", "-c", "2", "--source", "::1"]);
    assert_eq!(who(&nginx, 40, |words| words[0].to_owned()), [("::1".to_owned(), 40)].into());
}

#[test]
fn what_cannot_come_from_here_is_refused_before_anything_is_written() {
    for (line, text) in [
        (&["--source", "192.0.2.7"][..], "not an address of this host"),
        (&["--source", "::1"], "a different family"),
        (&["--source", "nowhere"], "nowhere"),
        (&["-c", "1000000"], "hint: send from"),
        (&["--churn", "90M/s"], "each of which occupies its port"),
        (&["--churn", "5/s", "--no-keepalive"], "each connection already carries a single request"),
    ] {
        let program = Program::new();
        let outcome = program.run([&["load", "http://127.0.0.1:1/"], line].concat());
        outcome.expect_code(2);
        assert!(outcome.stderr.contains(text), "{line:?}: {outcome}");
        assert_eq!(program.run_folder(), None, "{line:?}");
    }
}
