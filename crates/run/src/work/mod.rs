//! Work on this host instead of requests to a server: workers that run commands or handle many small files.
//!
//! ```text
//!   facts ─► readings of the kernel ‖ worker 0 … n: { ticket ─► (cold cache) ─► prepare ─► run ─► clean } ─► lines
//! ```
//! Run numbers are handed out in order. However the work ends, each started command is awaited or killed, and the files
//! created are removed.

mod command;
mod commands;
mod files;
mod handling;

use crate::clock;
use crate::error::RunError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;
use sysdyno_observe::{Roots, SamplerPlan, Sampling};
use sysdyno_record::RecordError;
use sysdyno_record::event::{Event, EventKind};
use sysdyno_record::plan::PhaseEnd;
use sysdyno_record::series::SeriesLine;
use sysdyno_record::store::RunWriter;
use sysdyno_record::units::MonoNs;
use sysdyno_record::work::{WorkKind, WorkLine, WorkPlan};

/// Interval between two questions whether to continue.
const TICK: Duration = Duration::from_millis(50);

/// An observer of work in progress.
pub trait Overseer {
    /// Is told of each line that was written.
    fn line(&mut self, line: &WorkLine);

    /// Is told what could not be cleared away.
    fn left(&mut self, told: &str);

    /// Is asked several times a second whether the work is to be stopped.
    fn is_interrupted(&mut self) -> bool;
}

/// How to do the work, besides its plan.
#[derive(Clone, Copy, Default)]
pub struct Manner<'a> {
    /// Whether the output of commands goes to standard error.
    pub is_shown: bool,
    /// Asks the service that counts operations, before and after each command; `None`: nothing counts them.
    pub count: Option<&'a (dyn Fn() -> Option<Count> + Sync)>,
    /// Mounts the volumes of the lab again, before each command of a plan that asks for it; `None`: there are none.
    pub remount: Option<&'a (dyn Fn() -> Result<(), RunError> + Sync)>,
}

/// What a service that counts operations tells at one instant, and the kernel of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Its counter.
    pub operations_count: u64,
    /// CPU time of its processes; `None`: they are not seen. Unit: microseconds.
    pub cpu_us: Option<u64>,
    /// CPUs that they may run on; empty: not known.
    pub cpus: Vec<u32>,
}

/// What the workers say.
enum Message {
    Series(SeriesLine),
    Line(WorkLine),
    /// The work cannot continue.
    Failed(RunError),
}

/// What the workers share.
struct Shift<'a> {
    plan: &'a WorkPlan,
    manner: Manner<'a>,
    begin: MonoNs,
    stop: AtomicBool,
    handed_out: AtomicU64,
}

impl Shift<'_> {
    /// The number of the next operation, from 1; `None`: no other begins.
    fn ticket(&self) -> Option<u64> {
        let is_over = match self.plan.end {
            PhaseEnd::After(span) => clock::monotonic() >= self.begin.after(span.duration()),
            PhaseEnd::Requests(_) => false,
        };
        if is_over || self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let number = self.handed_out.fetch_add(1, Ordering::Relaxed) + 1;
        let is_left = match self.plan.end {
            PhaseEnd::Requests(count) => number <= count,
            PhaseEnd::After(_) => true,
        };
        is_left.then_some(number)
    }
}

/// Does the work of a plan and writes down what comes of it; returns the lines that could not be written, from the first
/// failed write on, with which the work is stopped.
///
/// # Errors
/// A command cannot be prepared, or the folder of the files cannot be used.
pub fn run(
    plan: &WorkPlan,
    manner: Manner<'_>,
    writer: &mut RunWriter,
    overseer: &mut dyn Overseer,
) -> Result<Vec<WorkLine>, RunError> {
    let written = writer.facts(&sysdyno_observe::facts(&Roots::host()));
    let mut book = Book { writer, overseer, unwritten: Vec::new() };
    book.kept(written)?;
    let ground = match &plan.kind {
        WorkKind::Files(work) => Some(files::WorkFolder::prepare(&work.folder)?),
        WorkKind::Command(_) => None,
    };
    let done = oversee(plan, manner, ground.as_ref(), &mut book);
    if let Some(told) = ground.and_then(files::WorkFolder::clear) {
        book.overseer.left(&told);
    }
    done.map(|()| book.unwritten)
}

/// Where lines go.
struct Book<'a> {
    writer: &'a mut RunWriter,
    overseer: &'a mut dyn Overseer,
    unwritten: Vec<WorkLine>,
}

impl Book<'_> {
    /// Goes on without the folder where it cannot be written any more.
    fn kept(&self, written: Result<(), RecordError>) -> Result<(), RunError> {
        match written {
            Err(RecordError::Io { .. } | RecordError::Stopped { .. }) if self.is_stopped() => Ok(()),
            written => Ok(written?),
        }
    }

    /// Whether nothing more can be written.
    fn is_stopped(&self) -> bool {
        self.writer.failure().is_some()
    }

    /// Records log messages as events, without the row.
    fn keep_logged(&mut self, line: &mut SeriesLine) -> Result<(), RunError> {
        let SeriesLine::Row(row) = line else { return Ok(()) };
        for lines in std::mem::take(&mut row.logged) {
            let event = Event { mono_ns: clock::monotonic(), event: EventKind::LogLines(lines) };
            let written = self.writer.event(&event);
            self.kept(written)?;
        }
        Ok(())
    }

    fn take(&mut self, message: Message) -> Result<(), RunError> {
        match message {
            Message::Series(mut line) => {
                self.keep_logged(&mut line)?;
                let written = self.writer.series(&line);
                self.kept(written)?;
            }
            Message::Line(line) => {
                let written = self.writer.operation(&line);
                self.overseer.line(&line);
                if written.is_err() {
                    self.unwritten.push(line);
                }
                self.kept(written)?;
            }
            Message::Failed(error) => return Err(error),
        }
        Ok(())
    }
}

fn oversee(
    plan: &WorkPlan,
    manner: Manner<'_>,
    ground: Option<&files::WorkFolder>,
    book: &mut Book<'_>,
) -> Result<(), RunError> {
    let (sender, messages) = mpsc::channel();
    let to_book = sender.clone();
    let sampling = Sampling::start(SamplerPlan::host(), move |line| {
        // Readings after the end are nobody's.
        let _ = to_book.send(Message::Series(line));
    })?;
    let begin = clock::monotonic();
    let shift = Shift { plan, manner, begin, stop: AtomicBool::new(false), handed_out: AtomicU64::new(0) };
    let mut done = Ok(());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..plan.workers)
            .map(|worker| {
                let (shift, sender) = (&shift, sender.clone());
                scope.spawn(move || work(shift, worker, ground, &sender))
            })
            .collect();
        while !workers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            match messages.recv_timeout(TICK) {
                Ok(message) if done.is_ok() => done = book.take(message),
                Ok(_) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if done.is_err() || book.is_stopped() || book.overseer.is_interrupted() {
                shift.stop.store(true, Ordering::Relaxed);
            }
        }
    });
    sampling.stop();
    while let (true, Ok(message)) = (done.is_ok(), messages.try_recv()) {
        done = book.take(message);
    }
    done
}

fn work(shift: &Shift<'_>, worker: u32, ground: Option<&files::WorkFolder>, sender: &Sender<Message>) {
    let worked = match (&shift.plan.kind, ground) {
        (WorkKind::Command(command), _) => commands::work(shift, worker, command, sender),
        (WorkKind::Files(files), Some(ground)) => handling::work(shift, worker, ground, files, sender),
        (WorkKind::Files(_), None) => Ok(()),
    };
    if let Err(error) = worked {
        // Whoever keeps the book outlives the workers, here and below.
        let _ = sender.send(Message::Failed(error));
        shift.stop.store(true, Ordering::Relaxed);
    }
}
