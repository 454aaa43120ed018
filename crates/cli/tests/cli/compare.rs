//! `sysdyno compare`: what may not be compared is refused, and what can be told is told with its interval.
//!
//! The machine may be busy with other things, so that runs are allowed to differ in what the host did besides.

use crate::rig::hostile::{Hostile, Verb};
use crate::rig::program::{Outcome, Program, Target};
use serde_json::Value;

/// What a shared machine does to runs, and what comparisons of these tests let pass.
const NOISE: &[&str] = &["--allow", "foreign-load", "--allow", "steal", "--allow", "cache-state"];

/// Loads a target with these arguments, and gives the run's name; `None`: the machine did something else, which makes the run
/// INVALID, and nothing can be compared. For too few seconds to tell that a machine changed meanwhile (M10).
fn load(program: &Program, target: &[&str], options: &[&str]) -> Option<String> {
    let target = Target::start(target);
    let common = ["--connections", "4", "--duration", "3s", "--warmup", "0s", "--json"];
    run_of(&program.run([&["load", target.url()], common.as_slice(), options].concat()))
}

/// The name of the run of a load; `None`: it was spoilt.
fn run_of(load: &Outcome) -> Option<String> {
    let folder = load.json()["run"].as_str().expect("a folder").to_owned();
    folder.rsplit('/').next().filter(|_| !load.is_spoilt()).map(str::to_owned)
}

fn compare(program: &Program, arguments: &[&str]) -> Outcome {
    program.run([&["compare"], arguments, NOISE].concat())
}

fn gate<'a>(document: &'a Value, id: &str) -> Option<&'a Value> {
    document["gates"].as_array().expect("gates are a list").iter().find(|gate| gate["id"] == id)
}

fn metric<'a>(document: &'a Value, name: &str) -> &'a Value {
    let metrics = document["operations"][0]["metrics"].as_array().expect("metrics are a list");
    metrics
        .iter()
        .find(|metric| metric["metric"] == name)
        .unwrap_or_else(|| panic!("no {name} in {document}"))
}

#[test]
fn an_error_page_is_refused_and_both_numbers_are_shown() {
    let program = Program::new();
    let Some(good) = load(&program, &["--delays-us", "1000"], &[]) else { return };
    let answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno";
    let server = Hostile::start(vec![Verb::Expect, Verb::Send(answer), Verb::Again]);
    let load = ["load", &server.url(), "-c", "4", "--requests", "1200", "--warmup", "0s", "--json"];
    let Some(bad) = run_of(&program.run(load)) else { return };
    let outcome = compare(&program, &[&good, &bad, "--fail-if", "worse"]);
    outcome.expect_code(3);
    for text in ["✘ REFUSED", "C01 invalid-run", "goodput", "no difference shown"] {
        assert!(outcome.stdout.contains(text), "no '{text}' in {outcome}");
    }
    let document = compare(&program, &[&good, &bad, "--json"]).json();
    assert_eq!(gate(&document, "C03").map(|gate| gate["severity"].clone()), Some("refused".into()));
    assert_eq!(metric(&document, "goodput")["effects"], serde_json::json!([]));
    assert!(metric(&document, "goodput")["sides"][0]["median"].as_f64().is_some_and(|hz| hz > 0.0));
}

#[test]
fn requests_that_timed_out_are_lower_bounds_and_so_is_the_difference() {
    let program = Program::new();
    let load = |delays_us: &str| {
        let target = Target::start(&["--delays-us", delays_us]);
        let common =
            ["--connections", "16", "--timeout", "100ms", "--duration", "2s", "--warmup", "0s", "--json"];
        run_of(&program.run([&["load", target.url()], common.as_slice()].concat()))
    };
    let (Some(good), Some(bad)) = (load("2000"), load("2000,400000,400000")) else { return };
    let outcome = compare(&program, &[&good, &bad, "--fail-if", "worse"]);
    outcome.expect_code(1);
    for text in ["Median latency of B is worse: at least × ", "▲ C03", "≥ ", "▼ worse      at least × "]
    {
        assert!(outcome.stdout.contains(text), "no '{text}' in {outcome}");
    }
    let document = compare(&program, &[&good, &bad, "--json"]).json();
    assert_eq!(gate(&document, "C03").map(|gate| gate["severity"].clone()), Some("bounded".into()));
    let side = &metric(&document, "p50")["sides"][1];
    assert_eq!(side["is_lower_bound"], true, "{side}");
    // The deadline, in the precision of a histogram.
    assert!(side["median"].as_f64().is_some_and(|ns| ns > 99e6), "{side}");
    let effect = &metric(&document, "p50")["effects"][0];
    assert_eq!((&effect["effect"], &effect["bound"]["side"]), (&Value::Null, &"at_least".into()));
    assert!(metric(&document, "goodput")["sides"][1]["median"].is_null(), "nothing else is known of it");
    let back = compare(&program, &[&bad, &good, "--json"]).json();
    assert_eq!(back["verdicts"][0]["verdict"]["word"], "better");
    assert_eq!(metric(&back, "p50")["effects"][0]["bound"]["side"], "at_most");
}

#[test]
fn another_page_is_refused_unless_it_is_allowed() {
    let program = Program::new();
    let one = load(&program, &["--delays-us", "1000"], &[]);
    let other = load(&program, &["--delays-us", "1000", "--body-bytes", "900"], &[]);
    let (Some(one), Some(other)) = (one, other) else { return };
    let outcome = compare(&program, &[&one, &other]);
    outcome.expect_code(3);
    assert!(outcome.stdout.contains("A has a body of 612 bytes, B has 900"), "{outcome}");
    let outcome = compare(&program, &[&one, &other, "--allow", "C05", "--allow", "other-body"]);
    outcome.expect_code(0);
    assert!(outcome.stdout.contains("allowed: A has a body of 612 bytes"), "{outcome}");
    let outcome = compare(&program, &[&one, &other, "--allow", "invalid-run"]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("cannot allow 'invalid-run'"), "{outcome}");
}

#[test]
fn another_plan_is_refused_and_says_what_differs() {
    let program = Program::new();
    let one = load(&program, &["--delays-us", "1000"], &[]);
    let other = load(&program, &["--delays-us", "1000"], &["--no-keepalive"]);
    let (Some(one), Some(other)) = (one, other) else { return };
    let outcome = compare(&program, &[&one, &other]);
    outcome.expect_code(3);
    assert!(outcome.stdout.contains("keep-alive (unlimited in A, 1 request in B)"), "{outcome}");
}

#[test]
fn a_slower_server_differs_for_the_worse_and_the_same_one_does_not() {
    let program = Program::new();
    let fast = load(&program, &["--delays-us", "4000"], &[]);
    let again = load(&program, &["--delays-us", "4000"], &[]);
    let slow = load(&program, &["--delays-us", "40000"], &[]);
    let (Some(fast), Some(again), Some(slow)) = (fast, again, slow) else { return };
    let outcome = compare(&program, &[&fast, &slow, "--fail-if", "worse"]);
    outcome.expect_code(1);
    assert!(outcome.stdout.contains("▼ worse"), "{outcome}");
    assert!(outcome.stdout.contains("not interleaved"), "{outcome}");
    let document = compare(&program, &[&fast, &slow, "--json"]).json();
    let verdict = &document["verdicts"][0];
    assert_eq!((&verdict["verdict"]["word"], &verdict["metric"]), (&"worse".into(), &"goodput".into()));
    let point = metric(&document, "goodput")["effects"][0]["effect"]["point"].as_f64().expect("has one");
    assert!(point < 0.3, "{point}");
    // Seen from the slow one, the fast one is better, which is no failure.
    compare(&program, &[&slow, &fast, "--fail-if", "worse"]).expect_code(0);
    compare(&program, &[&slow, &fast, "--fail-if", "different"]).expect_code(1);
    // Whatever the machine does meanwhile, the same server is not ten times slower than itself.
    let outcome = compare(&program, &[&fast, &again, "--effect", "95%", "--metric", "goodput", "--json"]);
    outcome.expect_code(0);
    let word = outcome.json()["verdicts"][0]["verdict"]["word"].clone();
    assert!(word == "same" || word == "cannot_tell", "{outcome}");
}

#[test]
fn groups_folders_and_series_are_typed_as_one_would() {
    let program = Program::new();
    let names =
        (0..4).map(|_| load(&program, &["--delays-us", "4000"], &[])).collect::<Option<Vec<String>>>();
    let Some(names) = names else { return };
    let [a, b, c, d] = [&names[0], &names[1], &names[2], &names[3]];
    let document = compare(&program, &[a, b, "--json", "--effect", "50%"]).json();
    assert_eq!(document["sides"].as_array().map(Vec::len), Some(2));
    let grouped = program.run([&["compare", a, b, "--json"], NOISE, &["--", c, d]].concat()).json();
    let runs = |side: usize| grouped["sides"][side]["runs"].as_array().map(Vec::len);
    assert_eq!((runs(0), runs(1)), (Some(2), Some(2)), "{grouped}");
    assert_eq!(metric(&grouped, "goodput")["effects"][0]["method"], "welch");
    let many = compare(&program, &[a, b, c, "--json"]).json();
    assert_eq!(metric(&many, "goodput")["letters"].as_array().map(Vec::len), Some(3), "{many}");
    let folder = program.runs().to_str().expect("is text").to_owned();
    let outcome = compare(&program, &["--trend", &folder]);
    outcome.expect_code(0);
    assert!(
        outcome.stdout.contains("Over 4 runs: goodput: too few runs to find a change (4 of 6)"),
        "{outcome}"
    );
}

#[test]
fn the_page_holds_the_comparison_and_wrong_use_is_refused_in_words() {
    let program = Program::new();
    let one = load(&program, &["--delays-us", "1000"], &[]);
    let other = load(&program, &["--delays-us", "1000"], &[]);
    let (Some(one), Some(other)) = (one, other) else { return };
    let page = program.runs().join("page.html");
    compare(&program, &[&one, &other, "--report", page.to_str().expect("is text")]).expect_code(0);
    let html = std::fs::read_to_string(&page).expect("the page was written");
    assert!(html.contains("sysdyno.comparison/1") && html.contains("B against A"));
    compare(&program, &[&one, &other]).expect_code(0);
    assert!(program.runs().join(format!("compare-{one}-{other}.html")).exists());
    for (arguments, text) in [
        (vec![one.as_str()], "cannot compare a single run"),
        (vec![one.as_str(), one.as_str()], "with itself"),
        (vec![one.as_str(), "no-such-run"], "cannot find run"),
        (vec![one.as_str(), other.as_str(), "--metric", "beauty"], "not a metric"),
        (vec![one.as_str(), other.as_str(), "--allow", "C99"], "not a gate"),
        (vec![one.as_str(), other.as_str(), "--effect", "0%"], "write a percentage"),
    ] {
        let outcome = compare(&program, &arguments);
        outcome.expect_code(2);
        assert!(outcome.stderr.contains(text), "no '{text}' in {outcome}");
    }
}
