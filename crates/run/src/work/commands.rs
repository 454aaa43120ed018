//! One worker that runs commands: prepare, run, clean, until no ticket is left.

use super::command::{CommandOrder, Expected, run};
use super::{Count, Message, Shift};
use crate::error::RunError;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use sysdyno_record::command::CommandSpec;
use sysdyno_record::work::{CacheChoice, CommandRun, CommandWork, Ending, Served, Step, WorkLine};

pub(super) fn work(
    shift: &Shift<'_>,
    worker: u32,
    commands: &CommandWork,
    sender: &Sender<Message>,
) -> Result<(), RunError> {
    let worker = Worker { shift, worker, commands, sender };
    if shift.plan.cache == CacheChoice::Warm {
        worker.round(0, Step::WarmUp)?;
    }
    while let Some(number) = shift.ticket() {
        if shift.plan.cache == CacheChoice::Cold {
            sysdyno_tune::drop_caches()?;
        }
        worker.round(number, Step::Run)?;
    }
    Ok(())
}

struct Worker<'a> {
    shift: &'a Shift<'a>,
    worker: u32,
    commands: &'a CommandWork,
    sender: &'a Sender<Message>,
}

impl Worker<'_> {
    /// One run of each command; after one that did not succeed the others are left out.
    fn round(&self, number: u64, step: Step) -> Result<(), RunError> {
        for commands in self.commands.round() {
            if self.turn(commands, number, step)? != Ending::Exit(0) {
                break;
            }
        }
        Ok(())
    }

    /// One run with what comes before and after it.
    fn turn(&self, commands: &CommandWork, number: u64, step: Step) -> Result<Ending, RunError> {
        let name = commands.name.as_deref();
        if let Some(prepare) = &commands.prepare {
            let ending = self.step(Task::beside(prepare, name, Step::Prepare), number, &self.shift.stop);
            demand(prepare, "prepare a run with", &ending)?;
            if ending == Ending::Interrupted {
                return Ok(ending);
            }
        }
        if let Some(remount) = self.shift.manner.remount.filter(|_| self.shift.plan.remounts) {
            remount()?;
        }
        let expected = Expected { texts: &commands.expect_output, never: &commands.reject_output };
        let task = Task { command: &commands.run, name, step, expected };
        let ended = self.step(task, number, &self.shift.stop);
        if let Some(clean) = &commands.clean {
            // What was begun is cleaned up, interrupted or not; only its own time ends that.
            let task = Task::beside(clean, name, Step::Clean);
            let ending = self.step(task, number, &AtomicBool::new(false));
            demand(clean, "clean up with", &ending)?;
        }
        Ok(ended)
    }

    fn step(&self, task: Task<'_>, number: u64, stop: &AtomicBool) -> Ending {
        let setting = CommandOrder {
            words: &task.command.words,
            worker: self.worker,
            number,
            timeout: self.shift.plan.timeout,
            is_shown: self.shift.manner.is_shown,
            expected: task.expected,
        };
        let ask = self.shift.manner.count.filter(|_| task.step == Step::Run);
        let before = ask.and_then(|ask| ask());
        let ran = run(&setting, stop);
        let after = ask.and_then(|ask| ask());
        let line = CommandRun {
            number,
            worker: self.worker,
            name: task.name.map(str::to_owned),
            step: task.step,
            begin_mono_ns: ran.begin,
            end_mono_ns: ran.end,
            ending: ran.ending.clone(),
            usage: ran.usage,
            served: before.zip(after).map(|(before, after)| served(&before, after)),
            waits: ran.waits,
        };
        // Whoever keeps the book outlives the workers.
        let _ = self.sender.send(Message::Line(WorkLine::Command(Box::new(line))));
        ran.ending
    }
}

/// One command of a turn.
struct Task<'a> {
    command: &'a CommandSpec,
    name: Option<&'a str>,
    step: Step,
    expected: Expected<'a>,
}

impl<'a> Task<'a> {
    /// One that is not measured.
    fn beside(command: &'a CommandSpec, name: Option<&'a str>, step: Step) -> Task<'a> {
        Task { command, name, step, expected: Expected::default() }
    }
}

/// What the service did between two queries. A counter that fell has restarted, and does not cover the time before.
fn served(before: &Count, after: Count) -> Served {
    let grown = |from: u64, to: u64| to.checked_sub(from).unwrap_or(to);
    Served {
        operations_count: grown(before.operations_count, after.operations_count),
        cpu_us: before.cpu_us.zip(after.cpu_us).map(|(from, to)| grown(from, to)),
        cpus: after.cpus,
    }
}

/// A command that a run depends on must succeed.
fn demand(command: &CommandSpec, operation: &'static str, ending: &Ending) -> Result<(), RunError> {
    let cause = match ending {
        Ending::Exit(0) | Ending::Interrupted => return Ok(()),
        Ending::Exit(code) => {
            format!("it exited with code {code}\nhint: --show-output shows its output")
        }
        Ending::Signal(signal) => format!("it was killed by signal {signal}"),
        Ending::TimedOut => "it timed out\nhint: --timeout sets the limit".into(),
        Ending::NotStarted(cause) | Ending::Output(cause) => cause.clone(),
    };
    let object = format!("'{}'", command.text.escape_debug());
    Err(RunError::Process { operation, object, source: std::io::Error::other(cause) })
}
