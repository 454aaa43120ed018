//! The forms that other tools' scripts read, compared with files in `tests/golden` and with what they promise.

use crate::fixture::{SampleRecord, hostile};
use crate::golden;
use sysdyno_record::load::{LatencyKind, LatencySet};
use sysdyno_report::output::{ab, csv, spectrum};

/// A thousand requests of 1 to 40 ms, most of them short.
fn latency(kind: LatencyKind) -> LatencySet {
    let mut set = LatencySet::default();
    for number in 0..1000u64 {
        let service_ns = 1_000_000 + number * number * 39;
        set.get_mut(LatencyKind::Service).record(service_ns);
        set.get_mut(LatencyKind::FirstByte).record(service_ns - 200_000);
        if kind == LatencyKind::Response {
            set.get_mut(kind).record(service_ns + 1_000_000);
        }
    }
    (0..64).for_each(|number| set.get_mut(LatencyKind::Connect).record(100_000 + number * 10_000));
    set
}

#[test]
fn the_text_of_ab_is_as_it_was() {
    let text = ab::render(&SampleRecord::run().input(), &latency(LatencyKind::Response));
    golden::compare("ab.txt", &text);
}

#[test]
fn a_percentage_that_few_requests_support_is_not_a_number() {
    let record = SampleRecord::run();
    let mut few = LatencySet::default();
    (1..=100u64).for_each(|ms| few.get_mut(LatencyKind::Service).record(ms * 1_000_000));
    let text = ab::render(&record.input(), &few);
    assert!(text.contains("\n  90%     90\n") && text.contains("\n  99%      -\n"), "{text}");
    assert!(text.contains("\n 100%    100 (longest request)\n"), "{text}");
    let nothing = ab::render(&record.input(), &LatencySet::default());
    assert!(!nothing.contains("100%") && !nothing.contains("Processing:"), "{nothing}");
}

#[test]
fn the_connect_row_is_there_also_where_all_connections_were_kept() {
    let mut kept = latency(LatencyKind::Service);
    *kept.get_mut(LatencyKind::Connect) = Default::default();
    for latency in [kept, LatencySet::default()] {
        let text = ab::render(&SampleRecord::run().input(), &latency);
        let row =
            "\n              min  mean[+/-sd] median   max\nConnect:        0    0   0.0      0       0\n";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("\n# no connection was opened during the measurement: Connect is 0"), "{text}");
    }
    let text = ab::render(&SampleRecord::run().input(), &latency(LatencyKind::Service));
    assert!(!text.contains("no connection was opened"), "{text}");
}

#[test]
fn the_table_has_one_header_and_a_line_for_each_measured_phase() {
    let record = SampleRecord::run();
    let text = csv::render(&record.input());
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let measured = record.trials.iter().filter_map(|trial| trial.end.as_ref());
    let phases = measured.flat_map(|end| &end.summary.phases).filter(|phase| phase.kind.is_measured());
    assert_eq!(lines.clone().count(), phases.count());
    for line in lines {
        // No text of the sample has a comma.
        assert_eq!(line.split(',').count(), names.len(), "{line}");
        assert!(!line.contains('\u{1b}'), "{line}");
    }
    golden::compare("phases.csv", &text);
    let text = csv::render(&hostile::record().input());
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn the_percentile_text_is_as_it_was_and_counts_everything() {
    let text = spectrum::render(&SampleRecord::run().input(), &latency(LatencyKind::Service));
    golden::compare("spectrum.txt", &text);
}
