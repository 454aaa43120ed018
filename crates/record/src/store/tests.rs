//! The store as a whole: round trip, cut and changed files, hostile folders, newer and older formats.

use super::sample::{self, STARTED};
use super::*;
use crate::RecordError;
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
    assert_eq!(run.analysis, Some(sample::analysis()));
    assert_eq!(run.events, (0..3).map(sample::event).collect::<Vec<_>>());
    assert_eq!(run.probe, (1..4).map(sample::probe_reply).collect::<Vec<_>>());
    assert_eq!(run.series.values("a_count", "host").expect("a column")[2], Some(3.0));
    let mut latency = sample::latency(2, 0);
    latency.merge(&sample::latency(2, 1));
    for kind in LatencyKind::ALL {
        assert_eq!(counts(&run.latency[&2], kind), counts(&latency, kind));
    }
}

/// Every file of a finished run that is digested.
const DIGESTED: [&str; 10] =
    [PLAN, FACTS, TRIALS, INTERVALS, LATENCY, SERIES, EVENTS, PROBE, ANALYSIS, MANIFEST];

fn totals(latency: &LatencySet) -> u64 {
    LatencyKind::ALL.iter().map(|kind| latency.get(*kind).count()).sum()
}

/// Asserts that `cut` holds nothing that `whole` does not, in its order.
fn assert_prefix(cut: &Run, whole: &Run, what: &str) {
    assert!(whole.intervals.starts_with(&cut.intervals), "{what}");
    assert!(whole.events.starts_with(&cut.events), "{what}");
    assert!(whole.probe.starts_with(&cut.probe), "{what}");
    assert!(whole.series.windows().starts_with(cut.series.windows()), "{what}");
    for column in cut.series.columns() {
        let values = |run: &Run| run.series.values(&column.name, &column.scope).expect("a column").to_vec();
        assert!(values(whole).starts_with(&values(cut)), "{what}");
    }
    assert!(cut.trials.len() <= whole.trials.len(), "{what}");
    for (mine, theirs) in cut.trials.iter().zip(&whole.trials) {
        assert_eq!(mine.begin, theirs.begin, "{what}");
        assert!(mine.end.is_none() || mine.end == theirs.end, "{what}");
    }
    for (trial, latency) in &cut.latency {
        let whole = &whole.latency[trial];
        for kind in LatencyKind::ALL {
            let written = counts(whole, kind);
            let is_part = |(value, count): &(u64, u64)| written.iter().any(|(v, c)| v == value && c >= count);
            assert!(counts(latency, kind).iter().all(is_part), "{what}");
        }
    }
    assert!(cut.plan.is_none() || cut.plan == whole.plan, "{what}");
    assert!(cut.facts.is_none() || cut.facts == whole.facts, "{what}");
    assert!(cut.analysis.is_none() || cut.analysis == whole.analysis, "{what}");
}

#[test]
fn a_file_cut_at_any_byte_is_read_as_a_prefix() {
    let (_runs, path) = finished();
    // Decoding histograms takes most of the time, and is needed only where they are cut.
    let latency = std::fs::read(path.join(LATENCY)).expect("reads");
    for name in DIGESTED {
        let bytes = std::fs::read(path.join(name)).expect("reads");
        std::fs::write(path.join(LATENCY), if name == LATENCY { &latency[..] } else { b"" }).expect("writes");
        let whole = Run::open(&path, &nobody).expect("opens");
        for length in 0..bytes.len() {
            std::fs::write(path.join(name), &bytes[..length]).expect("writes");
            let what = format!("{name} cut to {length} bytes");
            match Run::open(&path, &nobody) {
                // A document may lose its last newline without losing anything.
                Err(_) => assert_eq!(name, MANIFEST, "{what}"),
                Ok(cut) => {
                    assert!(cut.damage.iter().any(|text| text.contains(name)) || name == MANIFEST, "{what}");
                    assert_prefix(&cut, &whole, &what);
                }
            }
        }
        std::fs::write(path.join(name), &bytes).expect("writes");
    }
}

#[test]
fn the_lines_that_were_written_are_there_after_the_death_of_the_writer() {
    let runs = tempfile::tempdir().expect("a directory");
    let writer = sample::write_run(runs.path(), 7);
    let path = writer.path().to_owned();
    // What a killed process leaves: nothing is dropped, flushed or finished.
    std::mem::forget(writer);
    let run = Run::open(&path, &nobody).expect("opens");
    assert!(run.is_incomplete);
    assert_eq!(run.manifest.status, RunStatus::Running);
    assert_eq!((run.trials.len(), run.intervals.len(), run.events.len()), (2, 4, 3));
    assert_eq!(totals(&run.latency[&1]), 400);
    assert!(run.plan.is_some() && run.facts.is_some() && run.damage.is_empty());
    assert!(!Run::open(&path, &|pid, ticks| (pid, ticks) == (4242, 777)).expect("opens").is_incomplete);
    assert_eq!(run.verify().expect("reads").len(), 1);
}

#[test]
fn any_changed_bit_is_found() {
    let (_runs, path) = finished();
    for name in DIGESTED {
        let bytes = std::fs::read(path.join(name)).expect("reads");
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            std::fs::write(path.join(name), &changed).expect("writes");
            let folder = folder::Folder::open(&path).expect("opens");
            let is_found = match run::read_manifest(&folder) {
                Err(_) => true,
                Ok(manifest) => !verify::differences(&folder, &manifest).expect("reads").is_empty(),
            };
            assert!(is_found, "{name}: byte {at}");
        }
        std::fs::write(path.join(name), &bytes).expect("writes");
    }
}

#[test]
fn links_pipes_and_folders_are_refused_and_never_block() {
    let outside = tempfile::tempdir().expect("a directory");
    for name in DIGESTED {
        let (_runs, path) = finished();
        let file = path.join(name);
        let elsewhere = outside.path().join(name);
        std::fs::rename(&file, &elsewhere).expect("moves");
        let refused = |what: &str| {
            let error = Run::open(&path, &nobody).expect_err(what).to_string();
            assert!(error.contains(what), "{name}: {error}");
        };
        std::os::unix::fs::symlink(&elsewhere, &file).expect("links");
        refused("a symbolic link");
        std::fs::remove_file(&file).expect("removes");
        std::fs::hard_link(&elsewhere, &file).expect("links");
        refused("a hard link");
        std::fs::remove_file(&file).expect("removes");
        let pipe = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &file, pipe, rustix::fs::Mode::RUSR, 0).expect("makes");
        refused("not a regular file");
        std::fs::remove_file(&file).expect("removes");
        std::fs::create_dir(&file).expect("makes");
        refused("a folder");
    }
}

#[test]
fn latency_of_a_trial_that_is_not_there_is_left_out() {
    let (_runs, path) = finished();
    std::fs::write(path.join(TRIALS), "").expect("writes");
    let run = Run::open(&path, &nobody).expect("opens");
    assert!(run.trials.is_empty() && run.latency.is_empty());
    let told = "'latency.hlog': skipped 8 lines of an unknown kind or trial".to_owned();
    assert!(run.damage.contains(&told), "{:?}", run.damage);
}

/// The run that every later version must still open; `UPDATE_EXPECT=1` makes it again, until the first release.
#[test]
fn the_golden_run_of_schema_1_opens() {
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/sysdyno.run-1");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let (_runs, path) = finished();
        let _ = std::fs::remove_dir_all(&golden);
        std::fs::create_dir_all(&golden).expect("makes");
        for name in DIGESTED {
            std::fs::copy(path.join(name), golden.join(name)).expect("copies");
        }
    }
    let run = Run::open(&golden, &nobody).expect("opens");
    assert_eq!(run.damage, Vec::<String>::new());
    assert_eq!(run.verify().expect("reads"), Vec::<String>::new());
    assert_eq!((run.trials.len(), run.intervals.len(), run.events.len()), (2, 4, 3));
    assert_eq!(run.trials[0].end.as_ref().map(|end| end.summary.total.ok), Some(200));
    assert_eq!(run.latency[&2].get(LatencyKind::Service).quantile(1.0), Some(213_759));
    assert_eq!(run.series.values("a_count", "host").map(<[_]>::len), Some(5));
    assert_eq!(run.analysis.map(|analysis| analysis.headline), Some(sample::analysis().headline));
}

#[test]
fn a_missing_file_is_told() {
    for name in DIGESTED {
        let (_runs, path) = finished();
        std::fs::remove_file(path.join(name)).expect("removes");
        match Run::open(&path, &nobody) {
            Err(error) => assert_eq!(name, MANIFEST, "{error}"),
            Ok(run) => assert_eq!(run.damage.iter().filter(|text| text.contains(name)).count(), 1, "{name}"),
        }
    }
}

#[test]
fn long_lines_and_long_files_end_the_reading() {
    let (_runs, path) = finished();
    let caps = lines::Caps { line_bytes: 300, file_bytes: u64::MAX };
    let mut events = std::fs::read_to_string(path.join(EVENTS)).expect("reads");
    let long = events.lines().next().expect("a line").replace("nginx", &"x".repeat(400));
    events.push_str(&long);
    events.push('\n');
    let read = |caps| {
        let mut taken = 0;
        std::fs::write(path.join(EVENTS), &events).expect("writes");
        let folder = folder::Folder::open(&path).expect("opens");
        let mut reader = lines::FolderReader::new(&folder, caps);
        let take = |_: &[u8]| {
            taken += 1;
            lines::LineFate::Taken
        };
        reader.lines(EVENTS, take).expect("reads");
        (taken, reader.damage.join("; "))
    };
    assert_eq!(read(caps), (3, "'events.jsonl' line 4: too long; the rest of the file is dropped".into()));
    let first_bytes = std::fs::read(path.join(EVENTS)).expect("reads").iter().position(|byte| *byte == b'\n');
    let file_bytes = first_bytes.expect("has lines") as u64 + 20;
    let caps = lines::Caps { line_bytes: 1000, file_bytes };
    assert_eq!(
        read(caps),
        (1, "'events.jsonl' line 2: the file is too long; the rest of the file is dropped".into())
    );
    assert_eq!(read(lines::Caps::default()), (4, String::new()));
}

#[test]
fn two_writers_cannot_share_a_folder() {
    let runs = tempfile::tempdir().expect("a directory");
    let first = RunWriter::create(runs.path(), sample::new_run(5)).expect("creates");
    match RunWriter::create(runs.path(), sample::new_run(5)) {
        Err(RecordError::Io { source, .. }) => assert_eq!(source.kind(), std::io::ErrorKind::AlreadyExists),
        other => panic!("{other:?}"),
    }
    let other = RunWriter::create(runs.path(), sample::new_run(6)).expect("creates");
    assert_ne!(first.path(), other.path());
}

/// Replaces `from` by `to` in a file of the run.
fn edit(path: &std::path::Path, name: &str, from: &str, to: &str) {
    let text = std::fs::read_to_string(path.join(name)).expect("reads");
    assert!(text.contains(from), "{name} holds no {from}");
    std::fs::write(path.join(name), text.replacen(from, to, 1)).expect("writes");
}

#[test]
fn a_newer_format_is_refused_with_the_version_it_needs() {
    let (_runs, path) = finished();
    edit(&path, MANIFEST, "sysdyno.run/1", "sysdyno.run/2");
    edit(&path, MANIFEST, "\"0.1.0\"", "\"3.4.5\\u001b\"");
    let error = Run::open(&path, &nobody).expect_err("is refused").to_string();
    assert!(error.contains("'sysdyno.run/2'") && error.contains("3.4.5\\u{1b} or newer"), "{error}");
    edit(&path, MANIFEST, "sysdyno.run/2", "other/1");
    let error = Run::open(&path, &nobody).expect_err("is refused").to_string();
    assert!(error.contains("its schema is 'other/1'"), "{error}");
}

#[test]
fn what_a_newer_minor_version_adds_is_ignored() {
    let (_runs, path) = finished();
    edit(&path, MANIFEST, "\"kind\"", "\"new_field\": [1], \"kind\"");
    edit(&path, INTERVALS, "\"trial\"", "\"new_field\":{},\"trial\"");
    edit(&path, EVENTS, "\"kind\":\"warning\"", "\"kind\":\"new_kind\"");
    edit(&path, TRIALS, "{\"end\"", "{\"middle\":1}\n{\"end\"");
    let run = Run::open(&path, &nobody).expect("opens");
    assert_eq!((run.events.len(), run.trials.len(), run.intervals.len()), (2, 2, 4));
    assert!(run.damage.contains(&"'events.jsonl': skipped 1 lines of an unknown kind or trial".to_owned()));
}

#[test]
fn damage_in_the_middle_is_an_error_that_names_the_line() {
    let check = |name: &str, from: &str, to: &str, expected: &str| {
        let (_runs, path) = finished();
        edit(&path, name, from, to);
        let error = Run::open(&path, &nobody).expect_err(expected).to_string();
        assert!(error.contains(&format!("{name}': line ")) && error.contains(expected), "{error}");
    };
    check(EVENTS, "\"warning\"", "\"warning", "line 2");
    check(INTERVALS, "\"trial\":1", "\"trial\":-1", "line 1");
    check(INTERVALS, "\"begin_mono_ns\":6000000000", "\"begin_mono_ns\":9900000000", "ends before it begins");
    check(INTERVALS, "\"ok\":100", "\"ok\":18446744073709551615", "impossibly great");
    check(TRIALS, "\"begin\":{\"trial\":1", "\"begin\":{\"trial\":2", "line 2");
    check(SERIES, "\"begin_mono_ns\":6000000000", "\"begin_mono_ns\":6100000000", "window");
    check(SERIES, "[1.5,", "[1e999,", "line 3");
    check(SERIES, "\"columns\"", "\"columns\":3,\"values\"", "line 1");
    check(LATENCY, ",HIST", ",H!ST", "not base64");
}

#[test]
fn the_newest_run_is_listed_first_and_a_broken_one_last() {
    let runs = tempfile::tempdir().expect("a directory");
    let broken = RunWriter::create(runs.path(), sample::new_run(1)).expect("creates");
    std::fs::write(broken.path().join(MANIFEST), "{").expect("writes");
    for (suffix, later_ns) in [(2, 1), (3, 9), (4, 5)] {
        let mut new = sample::new_run(suffix);
        new.clock.unix_ns = WallNs(new.clock.unix_ns.0 + later_ns * 1_000_000_000);
        RunWriter::create(runs.path(), new).expect("creates");
    }
    std::fs::write(runs.path().join("a file"), "").expect("writes");
    let listed = list(runs.path()).expect("lists");
    let ids: Vec<_> = listed
        .iter()
        .map(|run| run.path.to_string_lossy()[run.path.to_string_lossy().len() - 4..].to_owned())
        .collect();
    assert_eq!(ids, ["daaa", "eaaa", "caaa", "baaa"]);
    assert!(listed[3].manifest.is_err() && listed[..3].iter().all(|run| run.manifest.is_ok()));
    assert!(list(&runs.path().join("nothing")).expect("lists").is_empty());
}

#[test]
fn secrets_of_the_plan_are_not_written() {
    let (_runs, path) = finished();
    for entry in std::fs::read_dir(&path).expect("reads") {
        let file = entry.expect("an entry").path();
        let bytes = std::fs::read(&file).expect("reads");
        assert!(!bytes.windows(6).any(|window| window == b"canary"), "{}", file.display());
    }
}

#[test]
fn a_report_is_not_digested_and_can_be_made_again() {
    let (_runs, path) = finished();
    let run = Run::open(&path, &nobody).expect("opens");
    run.write_report("<p>1</p>").expect("writes");
    run.write_report("<p>2</p>").expect("writes");
    assert_eq!(std::fs::read_to_string(path.join(REPORT)).expect("reads"), "<p>2</p>");
    assert_eq!(run.verify().expect("reads"), Vec::<String>::new());
}

#[test]
fn the_specification_names_every_file_and_every_field_of_the_manifest() {
    let specification = include_str!("../../../../docs/reference/formats/run.md");
    for name in DIGESTED.into_iter().chain([REPORT]) {
        assert!(specification.contains(&format!("\n  {name} ")), "{name}");
    }
    let (_runs, path) = finished();
    let text = std::fs::read_to_string(path.join(MANIFEST)).expect("reads");
    let manifest: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).expect("parses");
    let table: String = specification.lines().filter(|line| line.starts_with("| `")).collect();
    for field in manifest.keys() {
        assert!(table.contains(&format!("`{field}`")), "{field}");
    }
}
