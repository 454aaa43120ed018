//! Users of the built-in profile against a real nginx that serves what they ask for: pages, what pages embed, and uploads.

use crate::rig::nginx::Nginx;
use crate::rig::program::{Outcome, Program};
use crate::rig::{skip, wait_until};
use std::collections::BTreeMap;
use std::time::Duration;

const SESSION: &str = include_str!("../../../plan/src/session/web20.toml");

/// Uploads are read to their end before they are answered: by a proxy, whose other side nobody counts.
const LOCATIONS: &str = r#"
    location /web20/ { root FOLDER/site; }
    location = /web20/login {
        add_header Set-Cookie "session=$request_id; Path=/web20";
        proxy_pass http://ADDRESS/taken;
    }
    location = /web20/person/new { client_max_body_size 1m; proxy_pass http://ADDRESS/taken; }
    location = /web20/event/new { client_max_body_size 1m; proxy_pass http://ADDRESS/taken; }
    location = /taken { access_log off; client_max_body_size 1m; return 200 'thank you'; }
"#;

/// Pages of web20, by operation.
const PAGES: [(&str, &str); 7] = [
    ("HomePage", "GET /web20/home"),
    ("Login", "POST /web20/login"),
    ("TagSearch", "GET /web20/tag"),
    ("EventDetail", "GET /web20/event"),
    ("PersonDetail", "GET /web20/person"),
    ("AddPerson", "POST /web20/person/new"),
    ("AddEvent", "POST /web20/event/new"),
];

/// What pages embed, and how many of each.
const EMBEDDED: [(&str, usize); 11] = [
    ("static/site", 16),
    ("static/home", 2),
    ("static/tag", 2),
    ("static/event", 5),
    ("static/person", 1),
    ("static/join", 2),
    ("static/add", 2),
    ("image/thumb", 10),
    ("image/found", 10),
    ("image/event", 1),
    ("image/person", 1),
];

const PAGE_BYTES: usize = 6_000;
const OBJECT_BYTES: usize = 3_000;

fn site() -> Vec<(String, Vec<u8>)> {
    let content =
        |name: &str, bytes: usize| name.bytes().chain(b" ".iter().copied()).cycle().take(bytes).collect();
    let pages = ["home", "tag", "event", "person"].map(|name| (name.to_owned(), PAGE_BYTES));
    let objects =
        EMBEDDED.iter().flat_map(|(name, count)| (1..=*count).map(move |number| format!("{name}-{number}")));
    let all = pages.into_iter().chain(objects.map(|name| (name, OBJECT_BYTES)));
    all.map(|(name, bytes)| (format!("site/web20/{name}"), content(&name, bytes))).collect()
}

/// The profile in a time that runs a hundred times faster than that of people, with the same matrix, and without what comes
/// before and after the measurement.
fn fast() -> String {
    let session = SESSION.replace("ramp-up = \"30s\"\n", "").replace("ramp-down = \"10s\"\n", "");
    ["25s", "5s", "3s", "2s"].iter().fold(session, |text, span| {
        let hundredth = format!("{}0ms", span.trim_end_matches('s'));
        ["mean", "max", "min"].iter().fold(text, |text, what| {
            text.replace(&format!("{what} = \"{span}\""), &format!("{what} = \"{hundredth}\""))
        })
    })
}

/// Asserts of every operation that nginx logged its page as often as the program says that it began to fetch it, and of all
/// requests that nginx logged as many as were written.
#[track_caller]
fn check_counts(nginx: &Nginx, outcome: &Outcome) {
    let json = outcome.json();
    let operations = json["operations"].as_array().expect("a list");
    let session = json["session"]["operations"].as_array().expect("a list");
    let written: u64 = operations.iter().filter_map(|operation| operation["total"]["written"].as_u64()).sum();
    wait_until(Duration::from_secs(5), || nginx.logged_count() >= written);
    assert_eq!(nginx.logged_count(), written, "{outcome}");
    let logged = nginx.logged_requests();
    let logged = by_path(&logged);
    for (users, (name, page)) in session.iter().zip(PAGES) {
        assert_eq!(users["measured"]["name"], name, "{outcome}");
        // A page that waited for a connection at the end is begun and never sent.
        let (begun, seen) =
            (users["measured"]["started_count"].as_u64(), logged.get(page).copied().unwrap_or(0));
        let unsent = outcome.count("unsent");
        assert!(
            begun.is_some_and(|begun| (seen..=seen + unsent).contains(&begun)),
            "{page}: {seen} of {outcome}"
        );
    }
}

/// Requests without what is asked for in their queries.
fn by_path(logged: &BTreeMap<String, u64>) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    for (request, count) in logged {
        *counts.entry(request.split('?').next().unwrap_or(request)).or_default() += count;
    }
    counts
}

/// What users of the profile do is what nginx logs, whatever is spoken.
#[track_caller]
fn check(nginx: &Nginx, url: &str, way: &[&str]) {
    let program = Program::alone();
    let file = program.runs().join("fast.toml");
    std::fs::write(&file, fast()).expect("a file can be written");
    let file = file.to_str().expect("is text");
    let fixed = ["load", url, "--session", file, "--users", "10", "-d", "4s", "--json", "--seed", "11"];
    let outcome = program.run([&fixed[..], way].concat());
    // A busy machine may be too slow for cycles of 50 ms; what was counted is right all the same.
    assert!(matches!(outcome.code, Some(0 | 1 | 3)), "{outcome}");
    check_counts(nginx, &outcome);
    let json = outcome.json();
    assert!(json["verdict"]["status"] == "VALID" || outcome.is_disturbed(), "{outcome}");
    let sum = |what: &str| {
        let operations = json["operations"].as_array().expect("a list");
        operations.iter().filter_map(|operation| operation[what].as_u64()).sum::<u64>()
    };
    // Who has a warm cache asks with what nginx gave, and nginx says that it is still good: three users in five.
    assert!(sum("not_modified_count") > outcome.count("ok") / 2, "{outcome}");
    assert_eq!(sum("not_modified_count"), nginx.logged_status(304), "{outcome}");
    assert_eq!(nginx.logged_count(), nginx.logged_status(304) + nginx.logged_status(200), "{outcome}");
    let bytes = nginx.logged_requests()["GET /web20/home"] * PAGE_BYTES as u64;
    assert!(sum("received_bytes") > bytes, "{outcome}");
    let rules = json["session"]["rules"].as_array().expect("a list");
    let names = |name: &'static str| rules.iter().filter(move |rule| rule["rule"] == name);
    assert!(names("errors").chain(names("limit")).all(|rule| rule["passed"] == true), "{outcome}");
    let counts =
        ["limit", "mix", "mix_relative", "cycle", "errors", "users_per_rate"].map(|name| names(name).count());
    assert_eq!(counts, [7, 7, 7, 7, 1, 1], "{outcome}");
    let target = json["session"]["operations"][0]["mix_target_ratio"].as_f64().expect("a share");
    assert!((target - 0.2615).abs() < 0.0001, "{outcome}");
}

fn start() -> Option<Nginx> {
    let nginx = Nginx::start_with_files(LOCATIONS, &site());
    if nginx.is_none() {
        skip("users of web20", &["nginx"]);
    }
    nginx
}

#[test]
fn users_of_web20_pass_its_rules_and_nginx_counts_their_requests_on_a_quiet_machine() {
    let Some(nginx) = start() else { return };
    check(&nginx, &nginx.url("/"), &[]);
}

#[test]
fn users_of_web20_do_the_same_by_http2_on_a_quiet_machine() {
    let Some(nginx) = start() else { return };
    check(&nginx, &nginx.prior_url("/"), &["--http2", "prior"]);
}

#[test]
fn users_of_web20_do_the_same_by_http2_on_many_streams_on_a_quiet_machine() {
    let Some(nginx) = start() else { return };
    let trusted = nginx.certificate();
    let tls = ["--tls-ca", &trusted, "--tls-name", "localhost"];
    let way = ["--http2", "alpn", "--connections", "2", "--streams", "16", "--io", "epoll"];
    check(&nginx, &nginx.secure_url("/"), &[&way[..], &tls].concat());
}
