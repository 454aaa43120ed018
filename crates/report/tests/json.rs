//! The machine-readable documents against their contract.

use crate::fixture::probes::SampleProbe;
use crate::fixture::{SampleRecord, variants};
use crate::golden;
use serde_json::Value;
use sysdyno_record::analysis::VerdictStatus;
use sysdyno_report::json::{load_document, run_document};
use sysdyno_report::probe::{ProbeInput, document as document_of};

/// Whether `path`, in the notation of the contract, leads to a value in `document`.
fn has(document: &Value, path: &str) -> bool {
    path.split('.').try_fold(document, |value, key| value.get(key)).is_some()
}

const LOAD_CONTRACT: &str = "verdict.status verdict.reasons counts.sent counts.ok counts.failed counts.timed_out \
    counts.in_flight failures rates.offered_hz rates.achieved_hz rates.goodput_hz generator.cpu_seconds \
    generator.threads run";

#[test]
fn the_names_of_the_contract_are_there() {
    let record = SampleRecord::run();
    let load = load_document(&record.input());
    let run = run_document(&record.input());
    for document in [&load, &run] {
        for path in LOAD_CONTRACT.split_whitespace() {
            assert!(has(document, path), "{path}");
        }
        for kind in ["response_time_ns", "service_time_ns", "slip_ns"] {
            for key in ["p50", "p90", "p99", "p99_9", "max", "count"] {
                assert!(has(document, &format!("{kind}.{key}")), "{kind}.{key}");
            }
        }
        assert!(has(&document["verdict"]["reasons"][0], "id"));
        assert!(has(&document["verdict"]["reasons"][0], "text"));
        for key in ["id", "confidence", "title", "evidence"] {
            assert!(has(&document["findings"][0], key), "findings.{key}");
        }
        assert!(document["limit"].is_string());
    }
    for key in ["rate_hz", "low_hz", "high_hz", "ended_by"] {
        assert!(has(&run["capacity"], key), "capacity.{key}");
    }
    assert!(!has(&load, "capacity"));
}

#[test]
fn the_outcome_of_each_check_is_there() {
    let document = load_document(&variants::closed_load().input());
    let checks = document["checks"].as_array().expect("a list");
    assert_eq!(checks.len(), 2);
    assert_eq!((&checks[0]["text"], &checks[0]["passed"]), (&"p99>50ms".into(), &true.into()));
    assert_eq!((&checks[1]["passed"], &checks[1]["measured"]), (&false.into(), &43.6e6.into()));
    assert_eq!((&checks[1]["limit"], &checks[1]["unit"]), (&20e6.into(), &"ns".into()));
}

#[test]
fn what_the_probe_saw_is_there() {
    let record = variants::closed_load();
    let document = load_document(&record.input());
    let mut sample = SampleProbe::ordinary();
    sample.conclusion.targets.truncate(1);
    let summary = record.analysis.probe.as_ref().expect("the sample has one");
    sample.conclusion.targets[0].summary = summary.clone();
    let alone = document_of(&ProbeInput { is_interrupted: true, ..sample.input() });
    assert_eq!(document["probe"], alone["probe"]);
    for path in "kind interval_ns sent_count received_count lost_count lost_ratio in_flight_count failures min_ns \
                 mean_ns max_ns mdev_ns response_time_ns.p50 response_time_ns.p50_interval p90_interval service_time_ns"
        .split_whitespace()
    {
        assert!(has(&alone["probe"], path), "{path}");
    }
    assert_eq!((&alone["kind"], &alone["status"]), (&"probe".into(), &"interrupted".into()));
    assert_eq!(load_document(&SampleRecord::run().input())["probe"], Value::Null);
}

#[test]
fn what_several_targets_saw_is_there() {
    let beside = load_document(&variants::probed().input());
    let alone = document_of(&SampleProbe::ordinary().input());
    for probes in [&beside["probes"], &alone["probes"]] {
        for path in "headline windows_count targets windows".split_whitespace() {
            assert!(has(probes, path), "{path}");
        }
        assert_eq!(probes["targets"][1]["lost_count"], 30);
        assert_eq!(probes["windows"][0]["targets"][1]["sight"], "lost");
    }
    assert_eq!((&alone["probe"], &alone["target"]), (&Value::Null, &Value::Null));
    assert_eq!(beside["links"][0]["links"][0]["predicted_ratio"], 1.0);
}

#[test]
fn the_whole_document_is_as_it_was() {
    let text = serde_json::to_string_pretty(&run_document(&SampleRecord::run().input()));
    golden::compare("run.json", &(text.expect("serialises") + "\n"));
}

#[test]
fn an_invalid_run_has_no_estimate_in_any_field() {
    let mut record = SampleRecord::run();
    record.analysis.verdict.status = VerdictStatus::Invalid;
    let document = run_document(&record.input());
    for key in ["rate_hz", "low_hz", "high_hz", "certified_hz"] {
        assert_eq!(document["capacity"][key], Value::Null, "{key}");
    }
    record.analysis.capacity.as_mut().expect("the sample has one").is_lower_bound = true;
    let document = run_document(&record.input());
    assert_eq!(document["capacity"]["is_lower_bound"], true);
    assert!(document["capacity"]["rate_hz"].is_f64());
}

#[test]
fn what_was_not_measured_is_null() {
    let mut record = SampleRecord::run();
    record.analysis.rates.offered_hz = None;
    record.analysis.response_time_ns = Default::default();
    record.analysis.capacity = None;
    let document = run_document(&record.input());
    assert_eq!(document["rates"]["offered_hz"], Value::Null);
    assert_eq!(document["response_time_ns"]["p99"], Value::Null);
    assert_eq!(document["response_time_ns"]["count"], 0);
    assert_eq!(document["capacity"], Value::Null);
}
