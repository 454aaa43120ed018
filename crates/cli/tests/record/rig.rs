//! What the tests stand on: the program, its target, and what has to hold of a run whose record could not be written.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;
use tempfile::TempDir;

/// Requests of a load.
pub const REQUESTS: u64 = 40;

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A load on the built-in target.
    Load,
    /// A command, measured.
    Work,
}

/// How a run of the program ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Whether the run is INVALID, which a noisy machine makes it on a disk that holds all of it.
    pub fn is_invalid(&self) -> bool {
        let verdict = |document: Value| document["verdict"]["status"].clone();
        self.code == Some(3)
            && serde_json::from_str(&self.stdout).is_ok_and(|document| verdict(document) == "INVALID")
    }
}

/// Counts of what was seen.
#[derive(Debug, Default)]
struct Counts {
    points: u32,
    answered: u32,
    unharmed: u32,
    before: u32,
    wrong: u32,
}

/// The stage.
pub struct Rig {
    folder: TempDir,
    target: Child,
    url: String,
    counts: Counts,
    /// Whether all points are taken, or a sample.
    pub is_whole: bool,
    begun: Instant,
}

impl Rig {
    pub fn new() -> Rig {
        let up = Command::new("ip").args(["link", "set", "lo", "up"]).status();
        assert!(up.is_ok_and(|status| status.success()), "the loopback interface of the namespace comes up");
        let mut target = Command::new(env!("CARGO_BIN_EXE_sysdyno"))
            .args(["target", "--listen", "127.0.0.1:0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be run");
        let lines = BufReader::new(target.stdout.take().expect("is piped")).lines();
        let found = lines.map_while(Result::ok).find_map(|line| {
            let from = line.find("http://")?;
            line[from..].split_whitespace().next().map(str::to_owned)
        });
        Rig {
            folder: tempfile::tempdir().expect("a folder"),
            target,
            url: found.expect("the target says where it listens"),
            counts: Counts::default(),
            is_whole: std::env::var("SYSDYNO_CRASH_TESTS").is_ok_and(|which| which == "all"),
            begun: Instant::now(),
        }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Arguments of a run whose record goes to `runs`.
    pub fn arguments(&self, kind: Kind, runs: &Path) -> Vec<String> {
        let (requests, runs) = (REQUESTS.to_string(), runs.display().to_string());
        let words: Vec<&str> = match kind {
            Kind::Load => vec!["load", &self.url, "-n", &requests, "-c", "2", "--json", "--runs-dir", &runs],
            Kind::Work => vec!["load", "--command", "true", "-n", "3", "--json", "--runs-dir", &runs],
        };
        words.into_iter().map(str::to_owned).collect()
    }

    /// Runs a command to its end.
    pub fn end_of(command: &mut Command) -> Ended {
        let output = command.stdin(Stdio::null()).output().expect("can be run");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Checks what has to hold after a run, some write of whose record may have failed.
    pub fn check(&mut self, kind: Kind, runs: &Path, ended: &Ended, what: &str) {
        self.counts.points += 1;
        match self.judge(kind, runs, ended) {
            Ok(()) => {}
            Err(wrong) => {
                println!("FAILED: {what}: {wrong}\n  exit {:?}: {}", ended.code, ended.stderr.trim());
                self.counts.wrong += 1;
                assert!(self.counts.wrong < 20, "too much is wrong to go on");
            }
        }
    }

    fn judge(&mut self, kind: Kind, runs: &Path, ended: &Ended) -> Result<(), String> {
        if ended.stderr.contains("panicked") {
            return Err("it panicked".into());
        }
        let (folder, manifest) = newest(runs);
        if ended.code == Some(2) {
            // Nothing was measured: what kept it from that is the error.
            self.counts.before += 1;
            let is_told = ended.stdout.is_empty() && ended.stderr.contains("error: cannot ");
            return is_told.then_some(()).ok_or_else(|| "it cannot run, and does not say why".into());
        }
        let document: Value =
            serde_json::from_str(&ended.stdout).map_err(|error| format!("no result on stdout: {error}"))?;
        check_result(kind, &document, ended)?;
        let said = "error: the record of this run is incomplete: cannot ";
        if ended.code == Some(0) || (ended.is_invalid() && !ended.stderr.contains(said)) {
            self.counts.unharmed += 1;
            let status = manifest.as_ref().map(|manifest| manifest["status"].clone());
            let is_whole = status == Some("complete".into());
            return is_whole.then_some(()).ok_or_else(|| format!("no error, and the folder is {status:?}"));
        }
        self.counts.answered += 1;
        if ended.code != Some(3) || !ended.stderr.contains(said) {
            return Err("neither exit 3 nor what could not be written".into());
        }
        self.judge_folder(folder.as_deref(), manifest.as_ref())
    }

    /// What the folder says of itself: that it failed and why; or, where even that could not be written, that it never ended.
    fn judge_folder(&self, folder: Option<&Path>, manifest: Option<&Value>) -> Result<(), String> {
        let (Some(folder), Some(manifest)) = (folder, manifest) else {
            return Err("there is no folder".into());
        };
        match manifest["status"].as_str() {
            Some("failed") if manifest["reason"].as_str().is_some_and(|why| why.contains("cannot ")) => {}
            Some("running") => {}
            _ => {
                return Err(format!(
                    "the folder says {} because of {}",
                    manifest["status"], manifest["reason"]
                ));
            }
        }
        let mut show = Command::new(env!("CARGO_BIN_EXE_sysdyno"));
        let shown = Rig::end_of(show.arg("show").arg(folder));
        let names_report = shown.stdout.lines().any(|line| line.trim_start().starts_with("Report "));
        if !matches!(shown.code, Some(0 | 1 | 3)) {
            return Err(format!("show cannot open it: {}", shown.stderr));
        }
        if names_report && !folder.join("report.html").exists() {
            return Err("show names a report that is not there".into());
        }
        Ok(())
    }

    /// Prints what was seen.
    pub fn figures(mut self) -> ExitCode {
        drop(self.target.stdin.take());
        let _ = self.target.wait();
        let Counts { points, answered, unharmed, before, wrong } = self.counts;
        println!(
            "record tests: {points} points at which the disk was full or broken: {answered} results given with what was not \
             written, {unharmed} not harmed, {before} refused before anything was measured, {wrong} wrong; {:.0} s",
            self.begun.elapsed().as_secs_f64()
        );
        if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn check_result(kind: Kind, document: &Value, ended: &Ended) -> Result<(), String> {
    let is_stopped_early = ended.code == Some(3);
    match kind {
        Kind::Load => {
            let count = |name: &str| document["counts"][name].as_u64().unwrap_or(u64::MAX);
            let is_whole = count("ok") == REQUESTS;
            if count("ok") > REQUESTS || (!is_whole && !is_stopped_early) {
                return Err(format!("the result has counts {}", document["counts"]));
            }
        }
        Kind::Work => {
            let runs = document["operations"].as_array().map_or(0, Vec::len);
            if runs > 3 || (runs < 3 && !is_stopped_early) {
                return Err(format!("the result has {runs} runs"));
            }
        }
    }
    Ok(())
}

/// The one run in a folder of runs, and its manifest.
fn newest(runs: &Path) -> (Option<PathBuf>, Option<Value>) {
    let entries = fs::read_dir(runs).into_iter().flatten().flatten().map(|entry| entry.path());
    let folder = entries.into_iter().find(|path| path.join("manifest.json").exists());
    let manifest = folder.as_ref().and_then(|folder| fs::read(folder.join("manifest.json")).ok());
    (folder, manifest.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}
