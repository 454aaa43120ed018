//! One worker of commands: prepare, run, clean, until there is no ticket left.

use super::command::{Setting, run};
use super::{Message, Shift};
use crate::error::LabError;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use sysdyno_record::experiment::CommandSpec;
use sysdyno_record::work::{CacheChoice, CommandRun, CommandWork, Ending, Step, WorkLine};

pub(super) fn work(
    shift: &Shift<'_>,
    worker: u32,
    commands: &CommandWork,
    sender: &Sender<Message>,
) -> Result<(), LabError> {
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
    fn round(&self, number: u64, step: Step) -> Result<(), LabError> {
        for commands in self.commands.round() {
            if self.turn(commands, number, step)? != Ending::Exit(0) {
                break;
            }
        }
        Ok(())
    }

    /// One run with what comes before and after it.
    fn turn(&self, commands: &CommandWork, number: u64, step: Step) -> Result<Ending, LabError> {
        let name = commands.name.as_deref();
        if let Some(prepare) = &commands.prepare {
            let ending = self.step((prepare, name), number, Step::Prepare, &self.shift.stop);
            demand(prepare, "prepare a run with", &ending)?;
            if ending == Ending::Interrupted {
                return Ok(ending);
            }
        }
        let ended = self.step((&commands.run, name), number, step, &self.shift.stop);
        if let Some(clean) = &commands.clean {
            // What was begun is cleaned up, interrupted or not; only its own time ends that.
            let ending = self.step((clean, name), number, Step::Clean, &AtomicBool::new(false));
            demand(clean, "clean up with", &ending)?;
        }
        Ok(ended)
    }

    fn step(
        &self,
        (command, name): (&CommandSpec, Option<&str>),
        number: u64,
        step: Step,
        stop: &AtomicBool,
    ) -> Ending {
        let setting = Setting {
            words: &command.words,
            worker: self.worker,
            number,
            timeout: self.shift.plan.timeout,
            is_shown: self.shift.is_shown,
        };
        let ran = run(&setting, stop);
        let line = CommandRun {
            number,
            worker: self.worker,
            name: name.map(str::to_owned),
            step,
            begin_mono_ns: ran.begin,
            end_mono_ns: ran.end,
            ending: ran.ending.clone(),
            usage: ran.usage,
        };
        // Whoever keeps the book outlives the workers.
        let _ = self.sender.send(Message::Line(WorkLine::Command(line)));
        ran.ending
    }
}

/// A command that a run depends on must succeed.
fn demand(command: &CommandSpec, operation: &'static str, ending: &Ending) -> Result<(), LabError> {
    let cause = match ending {
        Ending::Exit(0) | Ending::Interrupted => return Ok(()),
        Ending::Exit(code) => {
            format!("it ended with exit code {code}\nhint: --show-output shows what it says")
        }
        Ending::Signal(signal) => format!("signal {signal} ended it"),
        Ending::TimedOut => "its time was over\nhint: --timeout sets it".into(),
        Ending::NotStarted(cause) => cause.clone(),
    };
    let object = format!("'{}'", command.text.escape_debug());
    Err(LabError::Process { operation, object, source: std::io::Error::other(cause) })
}
