//! What a browser may start and stop, where `--allow-runs` was given: one command of this program at a time.
//!
//! Promise: nothing but `load`, `run`, and `tune undo` is ever started, each with values in the places meant for them: what was typed
//! can become neither an option nor another command. The commands decide themselves what may be loaded, as in a terminal, and
//! ask nobody: their standard input is closed. What runs when the server ends is interrupted and waited for, so that its record is whole.
//! A command is interrupted once at most, since a second time would end it at once; it has a process group of its own, so that
//! the terminal's Ctrl-C is not the first time.

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest value, and most of what a command said that is kept. Unit: bytes.
const VALUE_BYTES: usize = 400;
const SAID_BYTES: usize = 4 << 10;

/// How often, and how many times, it is seen whether a command that was interrupted has ended. After half a minute the server goes
/// without it: it has deadlines of its own.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
const ENDING_LOOKS: u32 = 1_500;

/// An order from a browser. Empty values are the command's own defaults.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BrowserOrder {
    command: Ordered,
    #[serde(default)]
    url: String,
    #[serde(default)]
    connections: String,
    #[serde(default)]
    rate: String,
    #[serde(default)]
    duration: String,
    #[serde(default)]
    objective: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ordered {
    Load,
    Run,
    Undo,
}

/// The command that was started last, as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct JobStatus {
    /// Its words after the name of the program; the page quotes them.
    pub(crate) words: Vec<String>,
    pub(crate) is_running: bool,
    /// Whether it was interrupted.
    pub(crate) is_interrupted: bool,
    /// Its exit code; `None` while it runs, or if a signal ended it.
    pub(crate) code: Option<i32>,
    /// The last of what it said, once it has ended. Untrusted.
    pub(crate) said: String,
}

/// Why an order is not carried out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Declined {
    /// It makes no sense.
    Wrong(String),
    /// Another command runs.
    Busy,
    /// The system refused.
    Failed(String),
}

/// Carries out orders.
pub(crate) struct Orders {
    program: PathBuf,
    runs_dir: PathBuf,
    job: Mutex<Option<Job>>,
}

struct Job {
    child: Child,
    status: JobStatus,
    said: Said,
}

/// The last of what a command says, kept while it runs: a pipe that nobody reads would stop it.
type Said = Arc<Mutex<Vec<u8>>>;

impl BrowserOrder {
    /// The words of the command.
    fn words(&self) -> Result<Vec<String>, String> {
        let mut words: Vec<String> = match self.command {
            Ordered::Undo => return Ok(vec!["tune".into(), "undo".into()]),
            Ordered::Load => vec!["load".into()],
            Ordered::Run => vec!["run".into(), "--effort=quick".into()],
        };
        let values = match self.command {
            Ordered::Run => vec![("objective", &self.objective)],
            _ => vec![("connections", &self.connections), ("rate", &self.rate), ("duration", &self.duration)],
        };
        if self.url.trim().is_empty() {
            return Err("cannot start it: the URL is missing".into());
        }
        for value in values.iter().map(|(_, value)| *value).chain([&self.url]) {
            if value.len() > VALUE_BYTES || value.chars().any(char::is_control) {
                return Err("cannot start it: a value is too long, or has control characters".into());
            }
        }
        let given = values.into_iter().filter(|(_, value)| !value.trim().is_empty());
        words.extend(given.map(|(name, value)| format!("--{name}={}", value.trim())));
        words.extend(["--".into(), self.url.trim().to_owned()]);
        Ok(words)
    }
}

impl Orders {
    pub(crate) fn new(program: PathBuf, runs_dir: PathBuf) -> Orders {
        Orders { program, runs_dir, job: Mutex::new(None) }
    }

    /// Starts a command, unless one runs.
    pub(crate) fn start(&self, order: &BrowserOrder) -> Result<JobStatus, Declined> {
        let words = order.words().map_err(Declined::Wrong)?;
        let mut job = self.job();
        if job.as_mut().is_some_and(|job| job.look().is_running) {
            return Err(Declined::Busy);
        }
        let mut command = Command::new(&self.program);
        command.args(["--color", "never"]).args(&words).env("SYSDYNO_RUNS_DIR", &self.runs_dir);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut child =
            command.spawn().map_err(|error| Declined::Failed(format!("cannot start it: {error}")))?;
        let said = Said::default();
        if let Some(pipe) = child.stderr.take() {
            let said = Arc::clone(&said);
            std::thread::spawn(move || listen(pipe, &said));
        }
        let status =
            JobStatus { words, is_running: true, is_interrupted: false, code: None, said: String::new() };
        Ok(job.insert(Job { child, status, said }).status.clone())
    }

    /// The command that was started last; `None`: none was.
    pub(crate) fn status(&self) -> Option<JobStatus> {
        self.job().as_mut().map(|job| job.look().clone())
    }

    /// Interrupts it, if it runs and was not interrupted before.
    pub(crate) fn stop(&self) {
        if let Some(job) = self.job().as_mut() {
            job.interrupt();
        }
    }

    fn job(&self) -> MutexGuard<'_, Option<Job>> {
        // A thread that panicked left a job that is as good as any.
        self.job.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Orders {
    fn drop(&mut self) {
        self.stop();
        for _ in 0..ENDING_LOOKS {
            if self.status().is_none_or(|job| !job.is_running) {
                return;
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
    }
}

impl Job {
    fn look(&mut self) -> &JobStatus {
        if self.status.is_running
            && let Ok(Some(end)) = self.child.try_wait()
        {
            (self.status.is_running, self.status.code) = (false, end.code());
        }
        if !self.status.is_running {
            // The last words may come a little later.
            let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
            self.status.said = String::from_utf8_lossy(&said).trim().to_owned();
        }
        &self.status
    }

    /// It is not reaped before it was seen to have ended, so that its id is its own.
    fn interrupt(&mut self) {
        if self.look().is_running && !std::mem::replace(&mut self.status.is_interrupted, true) {
            let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
        }
    }
}

/// Keeps the last of what comes through a pipe, to its end.
fn listen(mut pipe: impl Read, said: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1 << 10];
    loop {
        let length = match pipe.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend_from_slice(&buffer[..length]);
        let surplus = said.len().saturating_sub(SAID_BYTES);
        said.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn order(text: &str) -> Result<Vec<String>, String> {
        serde_json::from_str::<BrowserOrder>(text).map_err(|error| error.to_string())?.words()
    }

    #[test]
    fn values_are_never_options_or_commands() {
        let words = order(
            r#"{"command":"load","url":" --help ","connections":"-c 5","rate":"","duration":"10s","objective":"p99<1ms"}"#,
        );
        assert_eq!(
            words.expect("an order"),
            ["load", "--connections=-c 5", "--duration=10s", "--", "--help"]
        );
        let words = order(r#"{"command":"run","url":"http://127.0.0.1/","objective":"p99<20ms","rate":"5"}"#);
        assert_eq!(
            words.expect("an order"),
            ["run", "--effort=quick", "--objective=p99<20ms", "--", "http://127.0.0.1/"]
        );
        assert_eq!(order(r#"{"command":"undo","url":"x"}"#).expect("an order"), ["tune", "undo"]);
    }

    #[test]
    fn what_is_no_order_is_declined() {
        for text in [
            r#"{"command":"tune","url":"x"}"#,
            r#"{"command":"load","url":"x","command_line":"y"}"#,
            r#"{"command":"load","url":"  "}"#,
            r#"{"command":"load","url":"http://a/\n-d"}"#,
        ] {
            order(text).expect_err(text);
        }
        let long = format!(r#"{{"command":"load","url":"{}"}}"#, "x".repeat(VALUE_BYTES + 1));
        order(&long).expect_err("too long");
    }

    /// A command that says more than a pipe holds, and counts how often it is interrupted until it ends of itself.
    /// A shell cannot catch an interrupt that it was started to ignore, as it is where tests run in the background.
    const TALKER: &str = r#"#!/usr/bin/env -S --default-signal=INT sh
times=0
trap 'times=$((times + 1))' INT
head -c 300000 /dev/zero | tr '\0' x >&2
while [ $times = 0 ]; do sleep 0.05; done
sleep 0.3
echo "interrupted $times" >&2
exit 5
"#;

    #[test]
    fn one_command_runs_at_a_time_is_interrupted_once_and_leaves_its_last_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("talker");
        std::fs::write(&program, TALKER).expect("writes");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("sets");
        let orders = Orders::new(program, folder.path().to_owned());
        assert!(orders.status().is_none());
        let order: BrowserOrder = serde_json::from_str(r#"{"command":"load","url":"x"}"#).expect("an order");
        let started = orders.start(&order).expect("it starts");
        assert!(started.is_running && !started.is_interrupted);
        assert_eq!(orders.start(&order), Err(Declined::Busy));
        let wait = |is_so: &dyn Fn(&JobStatus) -> bool| {
            let mut looks = (0..ENDING_LOOKS).inspect(|_| std::thread::sleep(LOOK_INTERVAL));
            looks.any(|_| orders.status().is_some_and(|job| is_so(&job)))
        };
        // Before it has said all, it has not set its trap, or is not beyond the pipe.
        let has_said =
            || orders.job().as_ref().is_some_and(|job| job.said.lock().expect("held").len() == SAID_BYTES);
        let mut looks = (0..ENDING_LOOKS).inspect(|_| std::thread::sleep(LOOK_INTERVAL));
        assert!(looks.any(|_| has_said()), "what it says is not read");
        orders.stop();
        orders.stop();
        assert!(orders.status().expect("it was started").is_interrupted);
        assert!(wait(&|job| !job.is_running && job.said.ends_with("interrupted 1")), "{:?}", orders.status());
        assert_eq!(orders.status().expect("it was started").code, Some(5));
    }
}
