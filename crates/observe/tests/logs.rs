//! Logs of a live process: what it appends while it is watched is counted, and errors are told once with their counts.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};
use sysdyno_observe::{Sampler, SamplerPlan, describe_process};
use sysdyno_record::column::{LOG_ERRORS, LOG_LINES, log_scope};
use sysdyno_record::event::ProcessRole;
use sysdyno_record::log::{LogLines, LogSeverity};
use sysdyno_record::series::{Series, SeriesLine};

const LIMIT: Duration = Duration::from_secs(60);

/// A process that writes to its standard error whatever it is told to.
struct Writer(Child, ChildStdin);

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = (self.0.kill(), self.0.wait());
    }
}

impl Writer {
    fn start(log: &Path) -> Writer {
        let append = |path: &Path| -> File {
            OpenOptions::new().append(true).create(true).open(path).expect("opens the log")
        };
        let mut command = Command::new("sh");
        command.args(["-c", "while read -r line; do echo \"$line\" >&2; done"]);
        let mut child = command.stdin(Stdio::piped()).stderr(append(log)).spawn().expect("sh starts");
        let input = child.stdin.take().expect("is piped");
        Writer(child, input)
    }

    fn write(&mut self, line: &str) {
        writeln!(self.1, "{line}").expect("it listens");
    }
}

/// Samples until there are enough of these messages.
fn sample(
    sampler: &mut Sampler,
    series: &mut Series,
    is_enough: impl Fn(&[LogLines]) -> bool,
) -> Vec<LogLines> {
    let (begin, mut told, mut lines) = (Instant::now(), Vec::new(), Vec::new());
    while !is_enough(&told) {
        assert!(begin.elapsed() < LIMIT, "{told:?}");
        std::thread::sleep(Duration::from_millis(100));
        sampler.sample(&mut lines);
        for line in lines.drain(..) {
            if let SeriesLine::Row(row) = &line {
                told.extend(row.logged.iter().filter(|lines| lines.pid.is_some()).cloned());
            }
            series.push(line);
        }
    }
    told
}

fn count(told: &[LogLines]) -> u64 {
    told.iter().map(|lines| lines.new_count).sum()
}

#[test]
fn what_a_watched_process_appends_is_counted_and_its_errors_are_told() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = folder.path().join("server.out");
    let mut writer = Writer::start(&path);
    writer.write("ERROR: before anybody looked");
    let process = describe_process(writer.0.id(), ProcessRole::Target).expect("lives");
    let begin = Instant::now();
    while std::fs::read(&path).expect("is there").is_empty() {
        assert!(begin.elapsed() < LIMIT);
        std::thread::sleep(Duration::from_millis(1));
    }
    let plan = SamplerPlan { watch: vec![process], ..SamplerPlan::host() };
    let (mut sampler, mut series) = (Sampler::new(plan).expect("samples"), Series::default());
    writer.write("hello");
    (0..3).for_each(|number| writer.write(&format!("WARNING: queue {number} is full")));
    (0..5)
        .for_each(|number| writer.write(&format!("[error] {number}: connect() failed, password=x{number}")));
    let told = sample(&mut sampler, &mut series, |told| count(told) == 8);
    let log = path.display().to_string();
    assert!(told.iter().all(|lines| lines.log == log && lines.pid == Some(writer.0.id())), "{told:?}");
    let errors: Vec<&LogLines> = told.iter().filter(|lines| lines.severity == LogSeverity::Error).collect();
    assert_eq!(errors.iter().map(|lines| lines.new_count).sum::<u64>(), 5, "{told:?}");
    assert_eq!(errors[0].template, "[error] #: connect() failed, password=x#");
    assert_eq!(errors[0].example, "[error] 0: connect() failed, password=«redacted»");
    assert!(errors.iter().all(|lines| lines.begin_mono_ns < lines.end_mono_ns));
    let last = |name: &str| {
        let values = series.values(name, &log_scope(&log)).expect("has a column");
        values.iter().rev().find_map(|value| *value)
    };
    assert_eq!((last(LOG_LINES.name), last(LOG_ERRORS.name)), (Some(9.0), Some(5.0)));
    std::fs::write(&path, "").expect("empties it");
    writer.write("FATAL: after it was emptied");
    let told = sample(&mut sampler, &mut series, |told| count(told) == 1);
    assert!(told[0].template.starts_with("FATAL:"), "{told:?}");
}
