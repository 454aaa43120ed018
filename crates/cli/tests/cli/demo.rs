//! `sysdyno demo`: the whole loop against a server whose bottleneck is known, and is named.

use crate::rig::program::Program;
use std::time::Duration;

/// About a minute on an idle machine; a busy one makes the search repeat trials.
const LIMIT: Duration = Duration::from_secs(300);

/// What the planted pool can serve: 8 workers that hold each request for 4 ms. Unit: requests per second.
const PLANTED_HZ: f64 = 8.0 / 0.004;

#[test]
fn the_planted_bottleneck_is_found_and_its_capacity_measured() {
    let program = Program::alone();
    let outcome = program.start(["demo", "--json"]).finish(LIMIT);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let json = outcome.json();
    let findings = json["findings"].as_array().expect("findings are a list");
    let pool = findings.iter().find(|finding| {
        let is_held = matches!(finding["confidence"].as_str(), Some("likely" | "confirmed"));
        is_held && finding["title"].as_str().is_some_and(|title| title.contains("worker pool"))
    });
    // Where others take the CPUs they are the limit, and the verdict says so.
    assert!(
        outcome.is_disturbed()
            || pool.is_some_and(|pool| pool["evidence"].as_array().is_some_and(|list| list.len() >= 2)),
        "{outcome}"
    );
    if outcome.code == Some(0) && !outcome.is_disturbed() {
        let rate_hz = json["capacity"]["rate_hz"].as_f64().expect("a sound run has a capacity");
        // The pool cannot do more than it can; how near to it p99 stays below 50 ms is for the queue to say.
        assert!((0.7..=1.02).contains(&(rate_hz / PLANTED_HZ)), "{rate_hz} of {PLANTED_HZ}: {outcome}");
    }
    let folder = program.run_folder().expect("the run is kept");
    assert_eq!(json["run"].as_str(), folder.to_str(), "{outcome}");
    let page = std::fs::read_to_string(folder.join("report.html")).expect("the report is there");
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "the report fetches something");
}
