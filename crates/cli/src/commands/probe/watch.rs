//! Looks on while a probe runs: prints a line for each operation, and statistics whenever Ctrl-\ asks for them.

use super::kept::Keeper;
use crate::ui::{ProbeLog, Signals, Ui};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;
use sysdyno_analyze::probe::ProbesTally;
use sysdyno_load::LoadError;
use sysdyno_load::probe::{Probe, ProbeSink};
use sysdyno_record::probe::{ProbeConclusion, ProbeReply, ProbedTarget};
use sysdyno_report::probe as text;
use sysdyno_run::clock;

/// Between two looks at the signals.
const TICK: Duration = Duration::from_millis(50);

/// Where lines and statistics go while the probe runs.
pub(super) struct ProbeConsole<'a> {
    pub(super) ui: &'a Ui,
    pub(super) signals: &'a Signals,
    pub(super) is_quiet: bool,
}

impl ProbeConsole<'_> {
    /// Sends all probes to their end.
    pub(super) fn watch(
        &self,
        targets: &[ProbedTarget],
        probes: Vec<Probe<'_>>,
        mut log: Option<&mut ProbeLog>,
        mut keeper: Option<&mut Keeper>,
    ) -> anyhow::Result<ProbeConclusion> {
        let (sender, replies) = mpsc::channel();
        let is_over = AtomicBool::new(false);
        let mut tally = ProbesTally::new(targets.to_vec());
        std::thread::scope(|scope| {
            let mut probing = Vec::new();
            for probe in probes {
                let mut outgoing = Outgoing { sender: sender.clone(), is_over: &is_over };
                probing.push(scope.spawn(move || probe.run(&mut outgoing)));
            }
            // The channel ends with the last of the probes.
            drop(sender);
            while let Some(reply) = self.next(&replies, &is_over, &tally) {
                tally.add(&reply);
                if let Some(keeper) = keeper.as_deref_mut() {
                    keeper.add(&reply);
                }
                let line = text::line(&reply, clock::pair().wall(reply.end_mono_ns), targets);
                if let Some(log) = log.as_deref_mut() {
                    log.write(&line);
                }
                // Who reads no more lines needs no more operations.
                if !self.is_quiet && !self.ui.try_print(&line) {
                    is_over.store(true, Ordering::Relaxed);
                }
            }
            let ended =
                probing.into_iter().map(|thread| thread.join().expect("a probe's thread does not panic"));
            ended.collect::<Result<Vec<()>, LoadError>>()
        })?;
        Ok(tally.conclusion())
    }

    /// The next operation that is over; `None`: there is none left. Meanwhile, does what signals ask for.
    fn next(
        &self,
        replies: &Receiver<ProbeReply>,
        is_over: &AtomicBool,
        tally: &ProbesTally,
    ) -> Option<ProbeReply> {
        loop {
            if self.signals.is_interrupted() {
                is_over.store(true, Ordering::Relaxed);
            }
            if self.signals.take_asked() {
                let style = self.ui.progress_style();
                self.ui.note(&text::statistics(tally.targets(), &tally.summaries(), &style));
            }
            match replies.recv_timeout(TICK) {
                Ok(reply) => return Some(reply),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

/// A probe's end of the channel.
struct Outgoing<'a> {
    sender: Sender<ProbeReply>,
    is_over: &'a AtomicBool,
}

impl ProbeSink for Outgoing<'_> {
    fn reply(&mut self, reply: ProbeReply) {
        // The receiver waits until this end is gone.
        let _ = self.sender.send(reply);
    }

    fn goes_on(&mut self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }
}
