//! `sysdyno demo`: the whole loop against a server whose bottleneck is known, and is named.

use crate::rig::program::Program;
use std::time::Duration;

/// About a minute on an idle machine; a busy one makes the search repeat trials.
const LIMIT: Duration = Duration::from_secs(300);

/// What the planted pool can serve: 8 workers that hold each request for 4 ms. Unit: requests per second.
const PLANTED_HZ: f64 = 8.0 / 0.004;

#[test]
fn the_planted_bottleneck_is_found_and_its_capacity_measured() {
    let program = Program::new();
    let outcome = program.start(["demo", "--bottleneck", "worker-pool", "--json"]).finish(LIMIT);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let json = outcome.json();
    let findings = json["findings"].as_array().expect("findings are a list");
    let pool = findings.iter().find(|finding| {
        let is_held = matches!(finding["confidence"].as_str(), Some("likely" | "confirmed"));
        is_held && finding["title"].as_str().is_some_and(|title| title.contains("all workers are busy"))
    });
    // Where others take the CPUs they are the limit, and the verdict says so.
    assert!(
        outcome.is_disturbed()
            || pool.is_some_and(|pool| pool["evidence"].as_array().is_some_and(|list| list.len() >= 2)),
        "{findings:?}\n{outcome}"
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

#[test]
fn the_loop_is_closed_the_remedy_of_what_was_found_is_tried_proved_and_undone_on_a_quiet_machine() {
    let program = Program::alone();
    let outcome = program.start(["demo", "--json"]).finish(LIMIT);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let json = outcome.json();
    let is_queue = |finding: &serde_json::Value| {
        finding["title"]
            .as_str()
            .is_some_and(|title| title.contains("accept queue") && title.contains("overflowed"))
    };
    assert!(json["findings"].as_array().is_some_and(|findings| findings.iter().any(is_queue)), "{outcome}");
    let remedy = &json["remedy"];
    assert_eq!(remedy["verdict"]["word"], "better", "{outcome}");
    assert_eq!(remedy["metric"], "p99");
    // The interval excludes that there is no effect.
    assert!(remedy["effect"]["high"].as_f64().is_some_and(|high| high < 1.0), "{outcome}");
    let change = &remedy["changes"][0];
    assert_eq!((change["before"].as_str(), change["after"].as_str()), (Some("1"), Some("1024")), "{outcome}");
    assert_eq!(remedy["is_kept"], false);
    let open = program.runs().join(".state/tune/open");
    assert_eq!(std::fs::read_dir(open).map_or(0, Iterator::count), 0, "a trial of settings is open");
}
