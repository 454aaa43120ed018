//! The sentence about the limit: wrong answers before it, and what could not be checked beside it.

use super::*;
use sysdyno_record::load::LatencyKind;
use sysdyno_record::series::{Column, ReadingKind, SeriesLine};

/// The same readings, with columns that could not be read.
fn hide(series: &Series, columns: &[(&str, &str)], reason: &str) -> Series {
    let mut all: Vec<Column> = series.columns().to_vec();
    let kept = all.len();
    all.extend(columns.iter().map(|(name, scope)| Column {
        name: (*name).into(),
        scope: (*scope).into(),
        unit: "count".into(),
        kind: ReadingKind::Counter,
        unavailable: Some(reason.into()),
    }));
    let positions: Vec<usize> = (0..kept).collect();
    let mut hidden = Series::default();
    hidden.push(SeriesLine::header(all));
    hidden.extend(series.rows(&positions).map(|mut row| {
        row.values.resize(kept + columns.len(), None);
        row
    }));
    hidden
}

fn analyze_hidden(specimen: &Specimen, columns: &[(&str, &str)]) -> Analysis {
    let series = hide(&specimen.readings.build(), columns, "/sys/fs/cgroup is empty\u{1b}");
    analyze_readings(specimen, &series)
}

#[test]
fn what_nothing_explains_is_said_beside_no_limit_found() {
    let slow = Specimen::open(2_000.0, 10.0).edit(|case| {
        case.fill(LatencyKind::Response, crate::corpus::spread(20_000, 100e6));
    });
    let limit = analyze_load(slow.cpu(0.2, 0.1, 0.0)).limit;
    let said = "No bottleneck found on this host, although p99 of response time was ";
    assert!(limit.starts_with(said) && limit.contains(" at 2,000 req/s: "), "{limit}");
}

#[test]
fn a_finding_that_an_unreadable_column_takes_away_is_named_beside_no_limit_found() {
    let calm = Specimen::open(1_000.0, 10.0).cpu(0.2, 0.1, 0.0);
    let analysis = analyze_hidden(&calm, &[("cgroup.throttled_count", "cgroup:target")]);
    assert!(analysis.limit.starts_with("No bottleneck found"), "{}", analysis.limit);
    let said = ". Not checked: cfs-throttled (C03): /sys/fs/cgroup is empty";
    assert!(analysis.limit.contains(said), "{}", analysis.limit);
    assert!(!analysis.limit.contains('\u{1b}'));
    let [item] = analysis.unchecked.as_slice() else { panic!("{:?}", analysis.unchecked) };
    assert_eq!((item.id.as_str(), item.column.as_str()), ("C03", "cgroup.throttled_count"));
    // What is the generator's, or optional, takes nothing away.
    let analysis = analyze_hidden(
        &calm,
        &[("cgroup.throttled_count", "cgroup:generator"), ("cgroup.quota_ratio", "cgroup:target")],
    );
    assert_eq!((analysis.unchecked.len(), analysis.limit.contains("Not checked")), (0, false));
}

#[test]
fn a_named_limit_stands_without_what_was_not_checked() {
    let busy = Specimen::closed(16, 1_000.0, 10.0).cpu(0.8, 0.19, 0.0).server(1.9);
    let analysis = analyze_hidden(&busy, &[("cgroup.throttled_count", "cgroup:target")]);
    assert!(!analysis.unchecked.is_empty());
    let is_named = analysis.findings.iter().any(|finding| finding.confidence >= Confidence::Likely);
    assert_eq!(analysis.limit.contains("Not checked"), !is_named, "{}", analysis.limit);
}

#[test]
fn every_rule_of_the_server_needs_columns_and_is_named_when_they_cannot_be_read() {
    // Long enough to tell a stall from the usual second.
    let calm = Specimen::open(1_000.0, 20.0);
    for rule in crate::findings::RULES.iter().filter(|rule| rule.place == crate::findings::Place::Server) {
        assert!(!rule.needs.is_empty(), "{}", rule.id);
        let needed = rule.needs[0];
        let scope = if needed.name.starts_with("cgroup") { "cgroup:target" } else { "hidden" };
        let analysis = analyze_hidden(&calm, &[(needed.name, scope)]);
        let is_judged = analysis.findings.iter().any(|finding| finding.id == rule.id);
        let is_named = analysis.unchecked.iter().any(|item| item.id == rule.id);
        assert!(is_judged || is_named, "{} vanished without {}", rule.id, needed.name);
    }
}

#[test]
fn wrong_answers_are_named_before_any_limit_with_what_the_server_said() {
    let failing = |count: u64| {
        Specimen::open(1_000.0, 10.0).fail(FailureClass::Status, count).edit(|case| {
            let clause = "it answered 500 'Too many connections'";
            case.end.summary.measured.told.note(FailureClass::Status, || clause.into());
        })
    };
    let analysis = analyze_load(failing(5_000));
    let first = "% of the responses are wrong: the server answered 500 'Too many connections'. ";
    assert!(analysis.limit.contains(first), "{}", analysis.limit);
    assert!(analysis.limit.starts_with(|digit: char| digit.is_ascii_digit()), "{}", analysis.limit);
    assert!(analysis.headline.contains("Too many connections"), "{}", analysis.headline);
    let busy = analyze_load(failing(5_000).cpu(0.8, 0.19, 0.0).server(1.9));
    let is_beside = |finding: &Finding| finding.id == "C13" && finding.explained_ratio < Some(0.1);
    assert!(busy.findings.iter().any(is_beside), "{:?}", busy.findings);
    assert!(!busy.limit.contains("The CPUs are the bottleneck"), "{}", busy.limit);
    let few = analyze_load(failing(20));
    assert!(!few.limit.contains("responses are wrong"), "{}", few.limit);
}
