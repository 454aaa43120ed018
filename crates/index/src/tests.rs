//! Tests of the index against the folders that it is built from: the golden run, copied and changed.

use crate::{FoundRuns, IndexedRun, RefreshMoment, RunIndex, RunQuery, RunSort};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use sysdyno_record::analysis::VerdictStatus;
use sysdyno_record::manifest::{RunKind, RunStatus};
use sysdyno_record::store::RunLabel;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/golden/sysdyno.run-1");

/// Folders of runs and of the index.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Stage {
        let stage = Stage { folder: tempfile::tempdir().expect("a directory") };
        fs::create_dir(stage.runs()).expect("creates");
        stage
    }

    fn runs(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    /// A run of this number: later, faster, and with a higher p99 than those before it.
    fn add(&self, number: u64) -> String {
        let name = format!("20261124-{number:06}-load-abcd");
        let path = self.runs().join(&name);
        fs::create_dir(&path).expect("creates");
        for file in ["manifest.json", "analysis.json", "plan.json"] {
            fs::write(path.join(file), changed(file, &name, number)).expect("writes");
        }
        name
    }

    fn open(&self) -> RunIndex {
        let mut index = RunIndex::open(&self.runs(), Some(&self.cache())).expect("opens");
        refresh(&mut index);
        index
    }

    fn is_kept(&self) -> bool {
        fs::read_dir(self.cache()).is_ok_and(|mut entries| entries.next().is_some())
    }
}

/// A file of the golden run as that of another one.
fn changed(file: &str, name: &str, number: u64) -> String {
    let text = fs::read_to_string(Path::new(GOLDEN).join(file)).expect("the golden run is there");
    let mut document: serde_json::Value = serde_json::from_str(&text).expect("parses");
    match file {
        "manifest.json" => {
            document["id"] = name.into();
            document["started_unix_ns"] = format!("{}", 1_790_000_000_000_000_000 + number).into();
        }
        "analysis.json" => {
            document["capacity"] = serde_json::Value::Null;
            document["rates"]["goodput_hz"] = (1_000.0 + number as f64).into();
            document["response_time_ns"]["count"] = 1_000.into();
            document["response_time_ns"]["p99"] = (1_000_000 + number).into();
            document["verdict"]["status"] = ["VALID", "SUSPECT", "INVALID"][number as usize % 3].into();
            document["limit"] = format!("Bottleneck Number {number}").into();
        }
        _ => {}
    }
    document.to_string()
}

fn refresh(index: &mut RunIndex) -> usize {
    // Long after the files were written: what has ended is settled.
    let moment = RefreshMoment { now: SystemTime::now() + Duration::from_secs(60), living: &|_, _| false };
    let mut read_count = 0;
    loop {
        let refreshed = index.refresh(&moment).expect("refreshes");
        read_count += refreshed.read_count;
        if refreshed.left_count == 0 {
            return read_count;
        }
    }
}

fn find(index: &RunIndex, query: RunQuery) -> FoundRuns {
    index.find(&query).expect("finds")
}

fn names(found: &FoundRuns) -> Vec<&str> {
    found.runs.iter().map(|run| run.name.as_str()).collect()
}

#[test]
fn a_row_says_what_its_folder_says() {
    let stage = Stage::new();
    let name = stage.add(3);
    let index = stage.open();
    let IndexedRun { answer, kind, status, is_incomplete, url, .. } =
        index.run(&name).expect("reads").expect("it is there");
    let answer = answer.expect("it is concluded");
    assert_eq!((kind, status, is_incomplete), (Some(RunKind::Load), Some(RunStatus::Complete), false));
    assert_eq!((answer.verdict, answer.rate_hz), (Some(VerdictStatus::Valid), Some(1_003.0)));
    assert_eq!(answer.p99_ns, Some(1_000_003));
    assert!(url.is_some_and(|url| url.starts_with("http://")));
    assert!(index.run("../runs").expect("reads").is_none());
}

#[test]
fn what_is_asked_for_is_found_in_its_order_and_counted() {
    let stage = Stage::new();
    let all: Vec<String> = (0..9).map(|number| stage.add(number)).collect();
    let index = stage.open();
    let newest = find(&index, RunQuery { limit: Some(2), offset: 1, ..RunQuery::default() });
    assert_eq!((names(&newest), newest.total_count), (vec![all[7].as_str(), &all[6]], 9));
    let rate = find(&index, RunQuery { sort: RunSort::Rate, limit: Some(1), ..RunQuery::default() });
    assert_eq!(names(&rate), [&all[8]]);
    let p99 = find(&index, RunQuery { sort: RunSort::P99, limit: Some(1), ..RunQuery::default() });
    assert_eq!(names(&p99), [&all[0]]);
    let worst = find(&index, RunQuery { sort: RunSort::Verdict, limit: Some(1), ..RunQuery::default() });
    assert_eq!(names(&worst), [&all[8]]);
    let valid = find(&index, RunQuery { verdict: Some(VerdictStatus::Valid), ..RunQuery::default() });
    assert_eq!((names(&valid), valid.total_count), (vec![all[6].as_str(), &all[3], &all[0]], 3));
    let texts = vec!["bottleneck number 4".to_owned(), "LOAD-".to_owned()];
    assert_eq!(names(&find(&index, RunQuery { texts, ..RunQuery::default() })), [&all[4]]);
    let texts = vec!["%' OR 1=1 --".to_owned()];
    assert_eq!(find(&index, RunQuery { texts, ..RunQuery::default() }).total_count, 0);
}

#[test]
fn a_run_is_read_once_and_again_only_if_its_folder_is_another_one() {
    let stage = Stage::new();
    let name = stage.add(1);
    stage.add(2);
    let mut index = stage.open();
    assert_eq!(refresh(&mut index), 0);
    let third = stage.add(3);
    assert_eq!(refresh(&mut index), 1);
    fs::remove_dir_all(stage.runs().join(&third)).expect("removes");
    assert_eq!(refresh(&mut index), 0);
    assert_eq!(find(&index, RunQuery::default()).total_count, 2);
    // Another run of the same name; the first one is kept elsewhere, so that its inode is not given again.
    fs::rename(stage.runs().join(&name), stage.folder.path().join("elsewhere")).expect("renames");
    fs::create_dir(stage.runs().join(&name)).expect("creates");
    fs::write(stage.runs().join(&name).join("manifest.json"), "{}").expect("writes");
    refresh(&mut index);
    assert_eq!(index.unreadable().expect("reads").len(), 1);
    assert_eq!(find(&index, RunQuery::default()).total_count, 1);
}

#[test]
fn a_label_is_found_as_soon_as_it_is_written_though_its_run_has_ended() {
    let stage = Stage::new();
    let all: Vec<String> = (0..3).map(|number| stage.add(number)).collect();
    let mut index = stage.open();
    let label = |name: &str, tags: &[&str], note: &str| {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        RunLabel { tags, note: note.into() }.write(&stage.runs().join(name)).expect("can be written");
    };
    label(&all[1], &["baseline", "kernel-6"], "Before the NEW kernel");
    label(&all[2], &["kernel-6.18"], "");
    assert_eq!(refresh(&mut index), 2);
    assert_eq!(refresh(&mut index), 0);
    let tagged = |index: &RunIndex, tags: &[&str]| {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        find(index, RunQuery { tags, ..RunQuery::default() })
    };
    assert_eq!(names(&tagged(&index, &["kernel-6"])), [&all[1]]);
    assert_eq!(names(&tagged(&index, &["kernel-6", "baseline"])), [&all[1]]);
    assert_eq!(tagged(&index, &["kernel-6", "kernel-6.18"]).total_count, 0);
    let texts = vec!["new kernel".to_owned()];
    let noted = find(&index, RunQuery { texts, ..RunQuery::default() });
    assert_eq!(names(&noted), [&all[1]]);
    assert_eq!(noted.runs[0].label.tags, ["baseline", "kernel-6"]);
    assert_eq!(noted.runs[0].label.note, "Before the NEW kernel");
    label(&all[1], &[], "");
    refresh(&mut index);
    assert_eq!(tagged(&index, &["baseline"]).total_count, 0);
    assert_eq!(names(&tagged(&stage.open(), &["kernel-6.18"])), [&all[2]], "a new index");
}

#[test]
fn a_run_that_goes_on_is_read_again_until_it_has_ended() {
    let stage = Stage::new();
    let name = stage.add(1);
    let manifest = stage.runs().join(&name).join("manifest.json");
    let ended = fs::read_to_string(&manifest).expect("reads");
    fs::write(&manifest, ended.replace("\"complete\"", "\"running\"")).expect("writes");
    let mut index = stage.open();
    let run = index.run(&name).expect("reads").expect("it is there");
    assert_eq!((run.status, run.is_incomplete), (Some(RunStatus::Running), true));
    let living = RefreshMoment { now: SystemTime::now(), living: &|_, _| true };
    index.refresh(&living).expect("refreshes");
    assert!(!index.run(&name).expect("reads").expect("it is there").is_incomplete);
    fs::write(&manifest, ended).expect("writes");
    refresh(&mut index);
    assert_eq!(index.run(&name).expect("reads").expect("it is there").status, Some(RunStatus::Complete));
}

#[test]
fn an_index_is_kept_of_many_runs_and_made_again_whatever_became_of_it() {
    let stage = Stage::new();
    (0..crate::KEPT_RUNS_MIN as u64 - 1).for_each(|number| drop(stage.add(number)));
    stage.open();
    assert!(!stage.is_kept(), "few runs need no index");
    stage.add(1_000);
    drop(stage.open());
    assert!(stage.is_kept());
    let mut again = RunIndex::open(&stage.runs(), Some(&stage.cache())).expect("opens");
    assert_eq!(refresh(&mut again), 0, "nothing is read twice");
    drop(again);
    for nonsense in ["", "nonsense", &"SQLite format 3\0 and nonsense".repeat(400)] {
        for entry in fs::read_dir(stage.cache()).expect("lists") {
            fs::write(entry.expect("an entry").path(), nonsense).expect("writes");
        }
        let index = stage.open();
        assert_eq!(find(&index, RunQuery::default()).total_count, crate::KEPT_RUNS_MIN as u64);
    }
}

#[test]
fn a_cache_that_cannot_be_written_costs_time_and_nothing_else() {
    let stage = Stage::new();
    (0..crate::KEPT_RUNS_MIN as u64).for_each(|number| drop(stage.add(number)));
    let nowhere = stage.folder.path().join("file/cache");
    fs::write(stage.folder.path().join("file"), "not a folder").expect("writes");
    let mut index = RunIndex::open(&stage.runs(), Some(&nowhere)).expect("opens");
    refresh(&mut index);
    assert_eq!(find(&index, RunQuery::default()).total_count, crate::KEPT_RUNS_MIN as u64);
}

#[test]
fn many_runs_are_read_in_several_steps_and_all_are_found() {
    let stage = Stage::new();
    let all: Vec<String> = (0..2_500).map(|number| stage.add(number)).collect();
    let mut index = RunIndex::open(&stage.runs(), Some(&stage.cache())).expect("opens");
    let moment = RefreshMoment { now: SystemTime::now(), living: &|_, _| false };
    let first = index.refresh(&moment).expect("refreshes");
    assert_eq!((first.read_count, first.left_count), (1_000, 1_500));
    let newest = find(&index, RunQuery { limit: Some(1), ..RunQuery::default() });
    assert_eq!(names(&newest), [&all[2_499]], "the newest are read first");
    refresh(&mut index);
    let texts = vec![all[1_234].clone()];
    assert_eq!(names(&find(&index, RunQuery { texts, ..RunQuery::default() })), [&all[1_234]]);
    assert_eq!(find(&index, RunQuery { limit: Some(0), ..RunQuery::default() }).total_count, 2_500);
}

#[test]
fn links_and_hidden_folders_are_no_runs() {
    let stage = Stage::new();
    let name = stage.add(1);
    std::os::unix::fs::symlink(stage.runs().join(&name), stage.runs().join("link")).expect("links");
    fs::rename(stage.runs().join(stage.add(2)), stage.runs().join(".hidden")).expect("renames");
    assert_eq!(names(&find(&stage.open(), RunQuery::default())), [&name]);
}

#[test]
fn a_folder_that_is_not_there_has_no_runs() {
    let stage = Stage::new();
    let mut index = RunIndex::open(&stage.folder.path().join("nowhere"), None).expect("opens");
    refresh(&mut index);
    assert_eq!(find(&index, RunQuery::default()).total_count, 0);
}
