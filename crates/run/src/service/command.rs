//! A command of a tryout: started without a shell, in its own process group, and awaited by a thread.
//!
//! Its output is discarded: it would mix with the progress on the terminal, and printing it would take time.

use crate::clock;
use crate::error::RunError;
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use sysdyno_analyze::tryout::CommandOutcome;
use sysdyno_observe::reaped_cpu_seconds;
use sysdyno_record::units::MonoNs;

/// A command that runs.
pub(crate) struct RunningCommand {
    group: Option<Pid>,
    outcome: Receiver<CommandOutcome>,
}

impl RunningCommand {
    /// Starts it.
    ///
    /// # Errors
    /// There is no such program, or it cannot be started.
    pub(crate) fn start(words: &[String]) -> Result<RunningCommand, RunError> {
        let (program, arguments) =
            words.split_first().map_or(("", &[][..]), |(program, rest)| (program, rest));
        let cpu_before = reaped_cpu_seconds();
        let begin = clock::monotonic();
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|source| RunError::Process {
                operation: "start",
                object: format!("'{}'", program.escape_debug()),
                source,
            })?;
        let group = Pid::from_child(&child);
        let (sender, outcome) = mpsc::channel();
        std::thread::spawn(move || {
            // Whoever started it may have gone.
            let _ = sender.send(wait(child, begin, cpu_before));
        });
        Ok(RunningCommand { group: Some(group), outcome })
    }

    /// The result, if that is known within `span`.
    pub(crate) fn wait(&self, span: Duration) -> Option<CommandOutcome> {
        self.outcome.recv_timeout(span).ok()
    }

    /// Ends it, and all that it started in its group.
    pub(crate) fn end(&self) {
        if let Some(group) = self.group {
            // It may have ended meanwhile.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        if self.outcome.try_recv().is_err_and(|error| error == mpsc::TryRecvError::Empty) {
            self.end();
        }
    }
}

fn wait(mut child: Child, begin: MonoNs, cpu_before: Option<f64>) -> CommandOutcome {
    let ended = child.wait();
    let end = clock::monotonic();
    let cpu_seconds = reaped_cpu_seconds().zip(cpu_before).map(|(after, before)| (after - before).max(0.0));
    let failure = match ended {
        Ok(status) if status.success() => None,
        Ok(status) => Some(told(status)),
        Err(error) => Some(format!("cannot wait for it: {error}")),
    };
    CommandOutcome { begin, end, cpu_seconds, failure }
}

fn told(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it exited with code {code}"),
        (None, Some(signal)) => format!("it was killed by signal {signal}"),
        (None, None) => "it exited for an unknown reason".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> CommandOutcome {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let running = RunningCommand::start(&words).expect("starts");
        running.wait(Duration::from_secs(60)).expect("ends")
    }

    #[test]
    fn a_command_is_timed_and_its_failure_told() {
        let slept = run(&["sleep", "0.2"]);
        assert!(slept.failure.is_none() && slept.end.seconds_since(slept.begin) >= 0.2);
        assert_eq!(run(&["false"]).failure.as_deref(), Some("it exited with code 1"));
        // Arguments are arguments, whatever is in them.
        assert!(run(&["test", "$(id); `id`", "=", "$(id); `id`"]).failure.is_none());
        assert!(RunningCommand::start(&["/nowhere/at/all".to_owned()]).is_err());
    }

    #[test]
    fn a_command_can_be_ended_with_all_that_it_started() {
        let words = ["sh", "-c", "sleep 600 & sleep 600"].map(str::to_owned);
        let running = RunningCommand::start(&words).expect("starts");
        assert_eq!(running.wait(Duration::from_millis(20)), None);
        running.end();
        let outcome = running.wait(Duration::from_secs(60)).expect("ends");
        assert_eq!(outcome.failure.as_deref(), Some("it was killed by signal 9"));
    }
}
