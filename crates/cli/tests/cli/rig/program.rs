//! The program under test, each time with a runs folder of its own.

use crate::disturbance::{DISTURBANCES, is_from_outside, is_spoilt, lowered};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Tests run side by side, except those that measure time: they wait for the others, and the others for them. Where all are run,
/// that costs time, so `scripts/test-rust` runs those with this in their names last.
const QUIET: &str = "_on_a_quiet_machine";
static MACHINE: RwLock<()> = RwLock::new(());

/// A runs folder that exists as long as this value, and commands that use it.
pub struct Program {
    runs: TempDir,
    _turn: Turn,
}

/// How the machine is used while a [`Program`] exists.
#[expect(dead_code, reason = "held, not read")]
enum Turn {
    Shared(RwLockReadGuard<'static, ()>),
    Alone(RwLockWriteGuard<'static, ()>),
}

/// How a command ended.
pub struct Outcome {
    /// Exit code; `None` if a signal or the rig ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub elapsed: Duration,
    /// Greatest resident size that was seen, `VmHWM` of `/proc/PID/status`.
    pub peak_rss_bytes: u64,
    /// Whether it had to be killed because it did not end in time.
    pub is_overdue: bool,
}

/// A command that runs.
pub struct Running {
    child: Child,
    begin: Instant,
    peak_rss_bytes: u64,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
}

impl Program {
    /// One beside others. A test has one at a time: while somebody waits to be alone, nobody gets a further one.
    pub fn new() -> Program {
        // A test that failed while it held the lock has not broken anything.
        Program::in_turn(Turn::Shared(MACHINE.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The same while no other test runs a program.
    pub fn alone() -> Program {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        assert!(name.ends_with(QUIET), "the name of a test that is alone ends with {QUIET}: {name}");
        Program::in_turn(Turn::Alone(MACHINE.write().unwrap_or_else(PoisonError::into_inner)))
    }

    fn in_turn(turn: Turn) -> Program {
        Program { runs: TempDir::new().expect("a folder for runs"), _turn: turn }
    }

    /// The folder below which runs are written.
    pub fn runs(&self) -> &Path {
        self.runs.path()
    }

    /// The only run folder, once there is one.
    pub fn run_folder(&self) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.runs()).ok()?;
        entries.filter_map(|entry| Some(entry.ok()?.path())).find(|path| path.is_dir())
    }

    /// A command with these arguments, not yet started.
    pub fn command<I: AsRef<str>>(&self, arguments: impl IntoIterator<Item = I>) -> Command {
        self.wrap(Command::new(env!("CARGO_BIN_EXE_sysdyno")), arguments)
    }

    /// The same under a shell that runs `prelude` first, for limits that a process sets on itself.
    pub fn command_after<I: AsRef<str>>(
        &self,
        prelude: &str,
        arguments: impl IntoIterator<Item = I>,
    ) -> Command {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("{prelude}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_sysdyno")]);
        self.wrap(shell, arguments)
    }

    fn wrap<I: AsRef<str>>(&self, mut command: Command, arguments: impl IntoIterator<Item = I>) -> Command {
        for argument in arguments {
            command.arg(argument.as_ref());
        }
        command.env("SYSDYNO_RUNS_DIR", self.runs());
        command.current_dir(self.runs());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a command with these arguments.
    pub fn start<I: AsRef<str>>(&self, arguments: impl IntoIterator<Item = I>) -> Running {
        Running::start(self.command(arguments))
    }

    /// Runs a command to its end, which must come within half a minute.
    pub fn run<I: AsRef<str>>(&self, arguments: impl IntoIterator<Item = I>) -> Outcome {
        self.start(arguments).finish(Duration::from_secs(30))
    }
}

impl Running {
    pub fn start(mut command: Command) -> Running {
        let begin = Instant::now();
        let mut child = command.spawn().expect("the program starts");
        let stdout = child.stdout.take().map(read_in_background);
        let stderr = child.stderr.take().map(read_in_background);
        Running { child, begin, peak_rss_bytes: 0, stdout, stderr }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("the program is there to be signalled");
    }

    /// Whether it still runs; also looks at its memory.
    pub fn is_running(&mut self) -> bool {
        self.peak_rss_bytes = self.peak_rss_bytes.max(peak_rss_bytes(self.pid()).unwrap_or(0));
        self.child.try_wait().expect("a child can be waited for").is_none()
    }

    /// Waits for its end; kills it after `limit` from its start.
    pub fn finish(mut self, limit: Duration) -> Outcome {
        let mut is_overdue = false;
        while self.is_running() {
            if self.begin.elapsed() > limit && !is_overdue {
                is_overdue = true;
                self.child.kill().expect("a child can be killed");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let elapsed = self.begin.elapsed();
        let status = self.child.wait().expect("a child can be waited for");
        let text =
            |thread: Option<JoinHandle<String>>| thread.expect("piped").join().expect("reads to the end");
        Outcome {
            code: status.code(),
            stdout: text(self.stdout.take()),
            stderr: text(self.stderr.take()),
            elapsed,
            peak_rss_bytes: self.peak_rss_bytes,
            is_overdue,
        }
    }
}

/// The built-in target, as a process of its own that ends with this value.
pub struct Target {
    child: Child,
    url: String,
}

impl Target {
    pub fn start(arguments: &[&str]) -> Target {
        Target::start_by(Command::new(env!("CARGO_BIN_EXE_sysdyno")), arguments)
    }

    /// One that the kernel runs before everything else, where this user may ask for that.
    pub fn start_first(arguments: &[&str]) -> Target {
        let mut command = Command::new("nice");
        command.args(["-n", "-20", env!("CARGO_BIN_EXE_sysdyno")]).stderr(Stdio::null());
        Target::start_by(command, arguments)
    }

    fn start_by(mut command: Command, arguments: &[&str]) -> Target {
        command.arg("target").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the target starts");
        let mut url = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        output.read_line(&mut url).expect("the target says where it listens");
        assert!(url.starts_with("http://"), "the target says {url:?}");
        Target { child, url: url.trim().to_owned() }
    }

    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // The end of its input ends it.
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Outcome {
    /// The JSON document on stdout.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in stdout of {self}"))
    }

    /// One of the counts in it.
    #[track_caller]
    pub fn count(&self, name: &str) -> u64 {
        self.json()["counts"][name].as_u64().unwrap_or_else(|| panic!("no count '{name}' in {self}"))
    }

    /// Whether the verdict was lowered because the machine did something else meanwhile; remarks do not count.
    pub fn is_disturbed(&self) -> bool {
        let json = self.json();
        let reasons = json["verdict"]["reasons"].as_array().expect("reasons are a list");
        reasons.iter().any(|reason| {
            let is_disturbance = reason["id"].as_str().is_some_and(|id| DISTURBANCES.contains(&id));
            is_disturbance && reason["status"] != "VALID"
        })
    }

    /// Whether an experiment was refused because something else used the machine during a run, as the hypervisor does: then there
    /// is nothing that could be judged. It is told.
    pub fn is_refused_for_a_disturbance(&self) -> bool {
        let names_it = |id: &&&str| self.stdout.contains(&format!("is INVALID: {id} "));
        let disturbance = DISTURBANCES.iter().find(names_it).filter(|_| self.code == Some(3));
        if let Some(id) = disturbance {
            let _ = writeln!(std::io::stderr(), "not judged: the machine was disturbed ({id})");
        }
        disturbance.is_some()
    }

    /// The ids of the verdict's reasons.
    #[track_caller]
    pub fn reasons(&self) -> Vec<String> {
        let json = self.json();
        let reasons = json["verdict"]["reasons"].as_array().expect("reasons are a list");
        reasons.iter().filter_map(|reason| Some(reason["id"].as_str()?.to_owned())).collect()
    }

    /// Fails the test unless the exit code is this one. Where the hypervisor or another process took so much CPU time that a load is
    /// INVALID, and for nothing else, it counts as one that succeeded, or whose check failed: that is no fault of the program. The test
    /// says so.
    #[track_caller]
    pub fn expect_code(&self, code: i32) -> &Outcome {
        if matches!(code, 0 | 1) && self.is_spoilt_from_outside() {
            let _ = writeln!(std::io::stderr(), "exit code 3: the machine was disturbed");
            return self;
        }
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Whether the machine did something else, and nothing besides makes the run INVALID.
    pub fn is_spoilt_from_outside(&self) -> bool {
        self.code == Some(3) && is_from_outside(&self.lowered())
    }

    /// Whether other processes or the hypervisor made the run INVALID, whatever else speaks against it. It is told.
    pub fn is_spoilt(&self) -> bool {
        let is_spoilt = is_spoilt(&self.lowered());
        if is_spoilt {
            let _ = writeln!(std::io::stderr(), "not judged: the machine was disturbed");
        }
        is_spoilt
    }

    /// The ids of what lowered the verdict, each with whether it made the run INVALID: of a document, or of what people read.
    fn lowered(&self) -> Vec<(String, bool)> {
        let Ok(document) = serde_json::from_str::<Value>(&self.stdout) else {
            let marked = |line: &str| {
                let (mark, rest) = line.trim_start().split_once(' ')?;
                let id = rest.split_whitespace().next()?;
                matches!(mark, "✘" | "▲").then(|| (id.to_owned(), mark == "✘"))
            };
            // The word for the verdict, which comes first, is no id.
            return self.stdout.lines().filter_map(marked).filter(|(id, _)| id.len() == 3).collect();
        };
        lowered(&document)
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Outcome { code, stdout, stderr, elapsed, .. } = self;
        write!(out, "exit code {code:?} after {elapsed:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

fn read_in_background(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Until a child runs its own program, its memory is this process's.
fn peak_rss_bytes(pid: u32) -> Option<u64> {
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    if std::env::current_exe().is_ok_and(|own| own == program) {
        return None;
    }
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[test]
fn a_load_that_another_process_spoilt_is_accepted_and_one_that_is_late_by_itself_is_not() {
    let is_spoilt_as = |stdout: String| {
        let (stderr, elapsed) = (String::new(), Duration::ZERO);
        let outcome =
            Outcome { code: Some(3), stdout, stderr, elapsed, peak_rss_bytes: 0, is_overdue: false };
        outcome.is_spoilt_from_outside()
    };
    let is_spoilt = |reasons: &[(&str, &str)]| {
        let reasons: Vec<Value> =
            reasons.iter().map(|(id, status)| serde_json::json!({ "id": id, "status": status })).collect();
        is_spoilt_as(serde_json::json!({ "verdict": { "reasons": reasons } }).to_string())
    };
    let read = "  ✘ INVALID  Not to be trusted: stolen\n  ✘ M12      stolen\n             → wait\n  ▲ V08      few\n";
    assert!(is_spoilt_as(read.to_owned()));
    assert!(!is_spoilt_as(format!("{read}  ✘ V01      wrong\n")));
    assert!(!is_spoilt_as("  ✘ INVALID  Not to be trusted: late\n  ✘ V06      late\n".to_owned()));
    assert!(is_spoilt(&[("M12", "INVALID")]));
    assert!(is_spoilt(&[("M12", "SUSPECT"), ("V06", "INVALID")]), "it was late for want of CPU time");
    assert!(!is_spoilt(&[("V06", "INVALID")]) && !is_spoilt(&[("M01", "INVALID")]));
    assert!(!is_spoilt(&[("M12", "INVALID"), ("V01", "INVALID")]), "there is another reason");
}
