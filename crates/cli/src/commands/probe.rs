//! `sysdyno probe`: what an outsider waits, operation by operation.
//!
//! The probe has a thread of its own, so that a terminal that is slow to print delays no operation.

use crate::args::ProbeArgs;
use crate::exit::Exit;
use crate::fence::{self, Others};
use crate::here::Here;
use crate::settings::SettingsFile;
use crate::ui::{ProbeLog, Signals, Ui};
use anyhow::Context;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;
use sysdyno_analyze::probe::ProbeTally;
use sysdyno_load::probe::{Probe, ProbeJob, ProbeSink};
use sysdyno_plan::ProbeDraft;
use sysdyno_record::probe::{ProbeReply, ProbeSummary};
use sysdyno_report::{json, probe as text};
use sysdyno_run::clock;

/// Between two looks at the signals.
const TICK: Duration = Duration::from_millis(50);

pub fn probe(args: &ProbeArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let job = ProbeDraft {
        target: args.target.clone(),
        kind: args.kind,
        count: args.count,
        duration: args.duration.map(|span| span.0),
        interval: args.interval.map(|span| span.0),
        timeout: args.timeout.map(|span| span.0),
    }
    .finish(&Here)?;
    let mut guard = fence::guard(&SettingsFile::read()?.target, args.fence, None)?;
    fence::pass(&[fence::probe_goal(&job)], &mut guard, Others::default(), ui)?;
    let signals = Signals::listen().context("cannot listen to signals")?;
    let mut log = args.log.as_deref().map(ProbeLog::create).transpose()?;
    let probe = Probe::open(&job)?;
    if !args.json {
        ui.print(&text::opening(&job.plan, &job.way.shown()));
    }
    let console = Console { ui, signals: &signals, is_quiet: args.json };
    let summary = console.watch(&job, probe, log.as_mut())?;
    if let Some(log) = log {
        log.finish()?;
    }
    let is_interrupted = signals.is_interrupted();
    if args.json {
        ui.print(&format!("{:#}", json::probe_document(&summary, &job.way.shown(), is_interrupted)));
    } else {
        ui.print(&text::result(&summary, &ui.style()));
    }
    Ok(match (summary.received_count, is_interrupted) {
        (0, true) => Exit::Interrupted,
        (0, false) => Exit::CheckFailed,
        _ => Exit::Done,
    })
}

/// Where lines and statistics go while the probe runs.
struct Console<'a> {
    ui: &'a Ui,
    signals: &'a Signals,
    is_quiet: bool,
}

impl Console<'_> {
    fn watch(
        &self,
        job: &ProbeJob,
        probe: Probe<'_>,
        mut log: Option<&mut ProbeLog>,
    ) -> anyhow::Result<ProbeSummary> {
        let (sender, replies) = mpsc::channel();
        let is_over = AtomicBool::new(false);
        let mut tally = ProbeTally::default();
        std::thread::scope(|scope| {
            let mut outgoing = Outgoing { sender, is_over: &is_over };
            let probing = scope.spawn(move || probe.run(&mut outgoing));
            while let Some(reply) = self.next(&replies, &is_over, || tally.summary(&job.plan)) {
                tally.add(&reply);
                let line = text::line(&reply, clock::pair().wall(reply.end_mono_ns));
                if let Some(log) = log.as_deref_mut() {
                    log.write(&line);
                }
                // Who reads no more lines needs no more operations.
                if !self.is_quiet && !self.ui.try_print(&line) {
                    is_over.store(true, Ordering::Relaxed);
                }
            }
            probing.join().expect("the probe's thread does not panic")
        })?;
        Ok(tally.summary(&job.plan))
    }

    /// The next operation that is over; `None`: there is none left. Meanwhile, does what signals ask for.
    fn next(
        &self,
        replies: &Receiver<ProbeReply>,
        is_over: &AtomicBool,
        summary: impl Fn() -> ProbeSummary,
    ) -> Option<ProbeReply> {
        loop {
            if self.signals.is_interrupted() {
                is_over.store(true, Ordering::Relaxed);
            }
            if self.signals.take_asked() {
                self.ui.note(&text::statistics(&summary(), &self.ui.progress_style()));
            }
            match replies.recv_timeout(TICK) {
                Ok(reply) => return Some(reply),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

/// The probe's end of the channel.
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
