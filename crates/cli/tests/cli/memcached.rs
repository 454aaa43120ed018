//! Against a real memcached: both sides count the same keys, and a cache that is too small shows as misses.

use crate::rig::memcached::Memcached;
use crate::rig::program::{Outcome, Program};
use crate::rig::skip;

/// Ways to ask that the counts must agree in.
const WAYS: &[(&str, &[&str])] = &[
    ("text", &["--connections", "8"]),
    ("meta", &["--connections", "8", "--mc-protocol", "meta"]),
    ("text, ten keys", &["--connections", "4", "--mc-multiget", "10", "--mc-popularity", "zipf"]),
    ("meta, ten keys", &["--connections", "4", "--mc-multiget", "10", "--mc-protocol", "meta"]),
    ("etc, open, epoll", &["--mc-preset", "etc", "--rate", "2000/s", "--io", "epoll"]),
    ("a connection per seven requests", &["--connections", "4", "--requests-per-connection", "7"]),
];

fn load(url: &str, way: &[&str]) -> Outcome {
    let fixed = ["load", url, "--requests", "3000", "--mc-keys", "500", "--json"];
    Program::new().run([&fixed[..], way].concat())
}

/// Asserts that memcached counted what the program says that it did.
#[track_caller]
fn check(memcached: &Memcached, way: &[&str], what: &str) {
    let stats = || ["cmd_get", "get_hits", "get_misses", "cmd_set"].map(|name| memcached.stat(name));
    let before = stats();
    let outcome = load(&memcached.url(), way);
    assert!(matches!(outcome.code, Some(0 | 3)), "{what}: {outcome}");
    assert_eq!((outcome.count("ok"), outcome.count("sent")), (3000, 3000), "{what}: {outcome}");
    let cache = &outcome.json()["cache"];
    let count = |name: &str| cache[name].as_u64().expect("a number");
    let after = stats();
    let grown: Vec<u64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
    // The 500 keys were stored before the load.
    let expected = [count("hits") + count("misses"), count("hits"), count("misses"), count("stored") + 500];
    assert_eq!(grown, expected, "{what}: {outcome}");
    assert_eq!(count("misses"), 0, "{what}: {outcome}");
    assert!(count("stored") > 0 && count("hits") > 0, "{what}: {outcome}");
}

#[test]
fn memcached_counts_what_was_asked() {
    let Some(memcached) = Memcached::on_port(64) else {
        return skip("memcached_counts_what_was_asked", &["memcached"]);
    };
    WAYS.iter().for_each(|(what, way)| check(&memcached, way, what));
}

#[test]
fn memcached_on_a_unix_socket_counts_likewise() {
    let Some(memcached) = Memcached::on_socket() else {
        return skip("memcached_on_a_unix_socket_counts_likewise", &["memcached"]);
    };
    check(&memcached, &["--connections", "8"], "Unix socket");
}

#[test]
fn a_cache_that_is_too_small_misses() {
    let Some(memcached) = Memcached::on_port(2) else {
        return skip("a_cache_that_is_too_small_misses", &["memcached"]);
    };
    // 20 MB of values in 2 MB.
    let outcome = Program::new().run([
        "load",
        &memcached.url(),
        "--requests",
        "3000",
        "--mc-keys",
        "2000",
        "--mc-value-size",
        "10000",
        "--mc-gets",
        "100%",
    ]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let line =
        outcome.stdout.lines().find(|line| line.contains("hits")).unwrap_or_else(|| panic!("{outcome}"));
    assert!(line.contains("Cache") && !line.contains(" + 0 misses"), "{outcome}");
}

#[test]
fn memcached_over_tls_counts_likewise() {
    let Some(memcached) = Memcached::secure() else {
        return skip("memcached_over_tls_counts_likewise", &["memcached", "memcached-tls"]);
    };
    let trusted = memcached.certificate();
    let tls = ["--tls-ca", &trusted, "--tls-name", "localhost"];
    for (what, way) in WAYS {
        check(&memcached, &[way, &tls[..]].concat(), what);
    }
    for version in ["1.2", "1.3"] {
        check(&memcached, &["--insecure", "--tls-version", version], version);
    }
    // Without trust not one key is stored.
    let before = memcached.stat("cmd_set");
    let outcome = load(&memcached.url(), &tls[..2]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("cannot store the keys at 'memcacheds://"), "{outcome}");
    assert!(outcome.stderr.contains("hint: give the name in the certificate with --tls-name"), "{outcome}");
    assert_eq!(memcached.stat("cmd_set"), before);
}

#[test]
fn handshakes_with_memcached_are_counted_as_it_counts_them() {
    let Some(memcached) = Memcached::secure() else {
        return skip(
            "handshakes_with_memcached_are_counted_as_it_counts_them",
            &["memcached", "memcached-tls"],
        );
    };
    let before = memcached.stat("total_connections");
    let outcome = load(&memcached.url(), &["--insecure", "--no-keepalive", "--mc-no-preload"]);
    assert_eq!(outcome.count("ok"), 3000, "{outcome}");
    let handshakes = &outcome.json()["handshakes"];
    // It was asked once more, for its count.
    let seen = memcached.stat("total_connections") - before - 1;
    assert_eq!(
        (handshakes["full"].as_u64(), handshakes["resumed"].as_u64()),
        (Some(seen), Some(0)),
        "{outcome}"
    );
}

#[test]
fn options_of_tls_are_for_memcached_over_tls() {
    for way in [["--insecure", "--json"], ["--tls-ca", "/cert.pem"]] {
        let outcome = Program::new().run([&["load", "memcached://127.0.0.1:1"][..], &way].concat());
        assert_eq!(outcome.code, Some(2), "{outcome}");
        assert!(outcome.stderr.contains("memcacheds://HOST"), "{outcome}");
    }
}

#[test]
fn options_of_memcached_are_for_memcached_only() {
    let outcome = Program::new().run(["load", "http://127.0.0.1:1/", "--mc-keys", "5"]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("memcached[s]://HOST"), "{outcome}");
}
