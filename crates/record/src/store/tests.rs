use super::sample::{self, STARTED};
use super::*;
use crate::load::{LatencyKind, LatencySet};
use crate::manifest::RunStatus;
use crate::plan::Plan;
use crate::units::WallNs;
use std::path::PathBuf;

fn nobody(_: u32, _: u64) -> bool {
    false
}

/// A finished run in a directory that is removed with the first value.
fn finished() -> (tempfile::TempDir, PathBuf) {
    let runs = tempfile::tempdir().expect("a directory");
    let writer = sample::write_run(runs.path(), 1);
    let path = writer.path().to_owned();
    writer.finish(RunStatus::Complete, None, WallNs(STARTED.0 + 5_000_000_000)).expect("finishes");
    (runs, path)
}

fn counts(set: &LatencySet, kind: LatencyKind) -> Vec<(u64, u64)> {
    let steps = set.get(kind).as_hdr().iter_recorded();
    steps.map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
}

#[test]
fn what_is_written_is_read_back() {
    let (_runs, path) = finished();
    let run = Run::open(&path, &nobody).expect("opens");
    assert_eq!(run.damage, Vec::<String>::new());
    assert_eq!(run.verify().expect("reads"), Vec::<String>::new());
    assert!(!run.is_incomplete);
    assert_eq!(run.manifest.status, RunStatus::Complete);
    assert_eq!(run.manifest.id, "20260921-141320-load-baaa");
    assert_eq!(run.manifest.ended_unix_ns, Some(WallNs(STARTED.0 + 5_000_000_000)));
    assert_eq!(run.facts, Some(sample::facts()));
    let Some(Plan::Load(plan)) = &run.plan else { panic!("no load plan") };
    assert_eq!(plan.request.headers[0].value, "«redacted»");
    assert_eq!(plan.request.headers[1], sample::load_plan().request.headers[1]);
    assert_eq!(run.trials.len(), 2);
    assert_eq!(run.trials[1].begin.plan, *plan);
    assert_eq!(run.trials[1].end, Some(sample::trial_end(2)));
    assert_eq!(run.intervals[3], sample::interval(2, 1));
    assert_eq!(run.events, (0..3).map(sample::event).collect::<Vec<_>>());
    assert_eq!(run.series.values("a_count", "host").expect("a column")[2], Some(3.0));
    let mut latency = sample::latency(2, 0);
    latency.merge(&sample::latency(2, 1));
    for kind in LatencyKind::ALL {
        assert_eq!(counts(&run.latency[&2], kind), counts(&latency, kind));
    }
}
