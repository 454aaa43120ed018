//! One worker on files: turn after turn, it hands over its counts and latencies once a second.

use super::files::WorkFolder;
use super::{Message, Shift};
use crate::clock;
use crate::error::RunError;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::sync::mpsc::Sender;
use sysdyno_record::load::{LatencyKind, LatencySet};
use sysdyno_record::units::MonoNs;
use sysdyno_record::work::{FileOperation, FileWindow, FileWork, WorkLine};

/// Length of a window. Unit: nanoseconds.
const WINDOW_NS: u64 = 1_000_000_000;

pub(super) fn work(
    shift: &Shift<'_>,
    worker: u32,
    ground: &WorkFolder,
    files: &FileWork,
    sender: &Sender<Message>,
) -> Result<(), RunError> {
    let mut plot = ground.plot(worker, files)?;
    let mut second = Second::begin(shift.begin);
    while shift.ticket().is_some() {
        plot.turn(&mut |operation, [begin, end], done| second.note(operation, [begin, end], done));
        let now = clock::monotonic();
        if now.since(second.begin) >= WINDOW_NS {
            second.hand_over(now, sender);
            second = Second::begin(now);
        }
    }
    second.hand_over(clock::monotonic(), sender);
    Ok(())
}

/// What one worker did since a begin.
struct Second {
    begin: MonoNs,
    operations: BTreeMap<FileOperation, Done>,
}

#[derive(Default)]
struct Done {
    ok_count: u64,
    failures: BTreeMap<String, u64>,
    latency: LatencySet,
}

impl Second {
    fn begin(begin: MonoNs) -> Second {
        Second { begin, operations: BTreeMap::new() }
    }

    fn note(&mut self, operation: FileOperation, [begin, end]: [MonoNs; 2], done: Result<(), Errno>) {
        let entry = self.operations.entry(operation).or_default();
        match done {
            Ok(()) => {
                entry.ok_count += 1;
                entry.latency.get_mut(LatencyKind::Service).record(end.since(begin));
            }
            Err(errno) => *entry.failures.entry(errno_name(errno)).or_default() += 1,
        }
    }

    fn hand_over(&mut self, end: MonoNs, sender: &Sender<Message>) {
        for (operation, done) in std::mem::take(&mut self.operations) {
            let steps = done.latency.get(LatencyKind::Service).as_hdr().iter_recorded();
            let window = FileWindow {
                begin_mono_ns: self.begin,
                end_mono_ns: end,
                operation,
                ok_count: done.ok_count,
                failures: done.failures,
                steps: steps
                    .map(|step| [step.value_iterated_to(), step.count_since_last_iteration()])
                    .collect(),
            };
            // Whoever keeps the book outlives the workers.
            let _ = sender.send(Message::Line(WorkLine::Files(window)));
        }
    }
}

/// The kernel's name of an error that these calls can return, else its number.
fn errno_name(errno: Errno) -> String {
    let name = match errno {
        Errno::NOSPC => "ENOSPC",
        Errno::DQUOT => "EDQUOT",
        Errno::IO => "EIO",
        Errno::ROFS => "EROFS",
        Errno::NOENT => "ENOENT",
        Errno::EXIST => "EEXIST",
        Errno::MFILE => "EMFILE",
        Errno::AGAIN => "EAGAIN",
        Errno::NOLCK => "ENOLCK",
        Errno::ACCESS => "EACCES",
        other => return format!("errno {}", other.raw_os_error()),
    };
    name.to_owned()
}
