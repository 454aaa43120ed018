//! A report from a run folder is the report from memory: what `run` printed, `show` prints again.

use crate::fixture::SampleRecord;
use std::path::Path;
use sysdyno_record::load::LatencySet;
use sysdyno_record::manifest::RunStatus;
use sysdyno_record::series::{Row, SeriesLine};
use sysdyno_record::store::{NewRun, Run, RunWriter};
use sysdyno_record::units::WallNs;
use sysdyno_report::ReportInput;
use sysdyno_report::terminal::{Style, render};

/// Writes everything but the end of the sample into a folder below `runs_dir`.
fn write(record: &SampleRecord, runs_dir: &Path) -> RunWriter {
    let manifest = &record.manifest;
    let new = NewRun {
        kind: manifest.kind,
        tool: manifest.tool.clone(),
        clock: manifest.clock,
        command: manifest.command.clone(),
        pid: manifest.pid,
        pid_start_ticks: manifest.pid_start_ticks,
        suffix: 7,
    };
    let mut writer = RunWriter::create(runs_dir, new).expect("the folder is made");
    writer.plan(&record.plan).expect("writes");
    writer.facts(&record.facts).expect("writes");
    for trial in &record.trials {
        writer.trial_begin(&trial.begin).expect("writes");
        trial.end.iter().for_each(|end| writer.trial_end(end).expect("writes"));
    }
    for interval in &record.intervals {
        writer.interval(interval, &LatencySet::default()).expect("writes");
    }
    let series = &record.series;
    writer.series(&SeriesLine::header(series.columns().to_vec())).expect("writes");
    for (row, window) in series.windows().iter().enumerate() {
        let values = (0..series.columns().len()).map(|position| series.values_at(position)[row]).collect();
        let row =
            Row { begin_mono_ns: window[0], end_mono_ns: window[1], values, condensed: None, logged: vec![] };
        writer.series(&SeriesLine::Row(row)).expect("writes");
    }
    record.events.iter().for_each(|event| writer.event(event).expect("writes"));
    writer.analysis(&record.analysis).expect("writes");
    writer
}

fn open(path: &Path) -> Run {
    Run::open(path, &|_, _| false).expect("opens")
}

/// The sample as it would be shown while its folder and manifest are those of `run`.
fn from_memory<'a>(record: &'a SampleRecord, run: &'a Run) -> ReportInput<'a> {
    ReportInput { folder: run.folder_view(), ..record.input() }
}

#[test]
fn a_report_from_the_folder_is_the_report_from_memory() {
    let mut record = SampleRecord::run();
    // What is written here has no histograms.
    record.latency_windows.clear();
    let folder = tempfile::tempdir().expect("a folder");
    let writer = write(&record, folder.path());
    let path = writer.path().to_owned();
    let ended = WallNs(record.manifest.started_unix_ns.0 + 61_400_000_000);
    writer.finish(RunStatus::Complete, None, ended).expect("ends");
    let run = open(&path);
    let analysis = run.analysis.clone().expect("it was written");
    let (read, kept) = (ReportInput::new(&run, &analysis), from_memory(&record, &run));
    assert_eq!(run.damage, Vec::<String>::new());
    assert_eq!(render(&read, &Style::default()), render(&kept, &Style::default()));
    assert_eq!(sysdyno_report::json::run_document(&read), sysdyno_report::json::run_document(&kept));
    assert!(sysdyno_report::html::render(&read) == sysdyno_report::html::render(&kept), "the pages differ");
}

#[test]
fn a_folder_whose_writer_died_is_shown_as_incomplete() {
    let record = SampleRecord::run();
    let folder = tempfile::tempdir().expect("a folder");
    let writer = write(&record, folder.path());
    let path = writer.path().to_owned();
    drop(writer);
    let plan = path.join("plan.json");
    std::fs::remove_file(plan).expect("it was written");
    let run = open(&path);
    let input = ReportInput::new(&run, &record.analysis);
    let screen = render(&input, &Style::default());
    assert!(screen.contains("▲ record   incomplete"), "{screen}");
    assert!(
        screen.contains("http://10.0.0.5:8080/index.html"),
        "the URL is that of the first trial:\n{screen}"
    );
    assert!(sysdyno_report::html::render(&input).contains("\"is_incomplete\":true"));
}
