//! Against a real Apache: both sides count the same requests, also where it closes each connection after its hundredth one,
//! and users with warm caches are told that what they have is still good.

use crate::rig::apache::Apache;
use crate::rig::program::Program;
use crate::rig::{skip, wait_until};
use std::time::Duration;

/// Ways to send that the counts must agree in.
const WAYS: [&[&str]; 4] = [
    &["--connections", "8"],
    &["--connections", "4", "--no-keepalive"],
    &["--connections", "8", "--rate", "1500/s"],
    &["--connections", "4", "--io", "epoll"],
];

#[test]
fn apache_counts_what_was_sent() {
    for way in WAYS {
        let Some(apache) = Apache::start() else { return skip("apache_counts_what_was_sent", &["apache"]) };
        let url = apache.url("/page.html");
        let outcome = Program::new().run([&["load", &url, "--requests", "1500", "--json"], way].concat());
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        assert_eq!((outcome.count("ok"), outcome.count("sent")), (1500, 1500), "{way:?}: {outcome}");
        wait_until(Duration::from_secs(5), || apache.logged_count("") >= 1500);
        assert_eq!(apache.logged_count("GET /page.html HTTP/1.1 200"), 1500, "{way:?}: {outcome}");
        assert_eq!(apache.logged_count(""), 1500, "{way:?}: {outcome}");
    }
}

#[test]
fn apache_says_to_warm_caches_that_what_they_have_is_still_good() {
    let Some(apache) = Apache::start() else {
        return skip("apache_says_to_warm_caches_that_what_they_have_is_still_good", &["apache"]);
    };
    let program = Program::new();
    let session = program.runs().join("warm.toml");
    let text = "cold-share = 0.0\n[[operation]]\nname = 'Page'\npath = '/page.html?page'\nthink = '20ms'\n\
                next = { Page = 1 }\nobjects = ['/page.html']\n";
    std::fs::write(&session, text).expect("a file can be written");
    let session = session.to_str().expect("is text");
    let url = apache.url("/");
    let outcome =
        program.run(["load", &url, "--session", session, "--users", "5", "-d", "1s", "-t", "1", "--json"]);
    assert!(matches!(outcome.code, Some(0 | 1 | 3)), "{outcome}");
    wait_until(Duration::from_secs(5), || apache.logged_count("") >= outcome.count("written"));
    assert_eq!(apache.logged_count(""), outcome.count("written"), "{outcome}");
    // Before the first answer nobody has anything to ask by: each of the five users fetches it once at most.
    let (fetched, unmodified) = (
        apache.logged_count("GET /page.html HTTP/1.1 200"),
        apache.logged_count("GET /page.html HTTP/1.1 304"),
    );
    assert!(
        (1..=5).contains(&fetched) && unmodified > 0,
        "{fetched} fetched, {unmodified} not modified: {outcome}"
    );
    assert_eq!(outcome.json()["operations"][0]["not_modified_count"], unmodified, "{outcome}");
}
