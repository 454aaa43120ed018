//! Progress on standard error: one line that is drawn over on a terminal, a plain line per trial elsewhere.
//!
//! Elsewhere, a trial that lasts is heard of every ten seconds, so that a log shows that something goes on.

use super::{ProbeLog, Signals, Ui};
use std::io::{IsTerminal, Write};
use std::time::Duration;
use sysdyno_analyze::probe::ProbeTally;
use sysdyno_analyze::tryout::{Standing, forecast};
use sysdyno_record::plan::PhaseKind;
use sysdyno_record::probe::{ProbePlan, ProbeReply};
use sysdyno_record::progress::RunProgress;
use sysdyno_record::tryout::{Settled, TryPlan};
use sysdyno_record::units::SpanNs;
use sysdyno_report::{number, probe, progress};
use sysdyno_run::clock;
use sysdyno_run::execute::{SoFar, Watcher};

/// Between two drawings on a terminal. Unit: nanoseconds.
const DRAW_INTERVAL_NS: u64 = 100_000_000;

/// Between two lines of one trial elsewhere. Unit: nanoseconds.
const LINE_INTERVAL_NS: u64 = 10_000_000_000;

/// Looks on from a console.
#[derive(Debug)]
pub struct Console {
    ui: Ui,
    signals: Signals,
    is_terminal: bool,
    drawn_ns: Option<u64>,
    shown: Option<(u32, PhaseKind)>,
    probe: Option<ProbeWatch>,
    tryout: Option<TryWatch>,
}

/// What is kept of a tryout: the pilot first, then how it stands.
#[derive(Debug)]
struct TryWatch {
    plan: TryPlan,
    line: String,
}

/// What is kept of a probe beside the load.
#[derive(Debug)]
struct ProbeWatch {
    plan: ProbePlan,
    /// Of the present trial.
    tally: ProbeTally,
    trial: u32,
    log: Option<ProbeLog>,
}

impl Console {
    /// A console that listens to signals.
    pub fn new(ui: Ui, signals: Signals) -> Console {
        let is_terminal = std::io::stderr().is_terminal();
        Console { ui, signals, is_terminal, drawn_ns: None, shown: None, probe: None, tryout: None }
    }

    /// The same, looking at a tryout, whose pairs matter and not its trials.
    pub fn of_tryout(mut self, plan: &TryPlan) -> Console {
        self.tryout = Some(TryWatch { plan: plan.clone(), line: "pilot".into() });
        self
    }

    /// The same, looking at a probe beside the load as well, whose lines go into the log.
    pub fn with_probe(mut self, plan: Option<ProbePlan>, log: Option<ProbeLog>) -> Console {
        self.probe = plan.map(|plan| ProbeWatch { plan, tally: ProbeTally::default(), trial: 0, log });
        self
    }

    /// Gives the log of the probe back, to be ended.
    pub fn take_probe_log(&mut self) -> Option<ProbeLog> {
        self.probe.as_mut()?.log.take()
    }

    /// Takes the line of progress away.
    pub fn clear(&mut self) {
        if self.is_terminal {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }

    fn draw(&self, line: &str) {
        let mut out = std::io::stderr().lock();
        // A closed standard error costs the progress, not the run.
        let _ = if self.is_terminal { write!(out, "\r\x1b[K{line}") } else { writeln!(out, "{line}") };
        let _ = out.flush();
    }
}

impl Watcher for Console {
    fn progress(&mut self, progress: &RunProgress) {
        let interval_ns = if self.is_terminal { DRAW_INTERVAL_NS } else { LINE_INTERVAL_NS };
        let begin_ns = *self.drawn_ns.get_or_insert(progress.elapsed_ns);
        let is_due = progress.elapsed_ns.saturating_sub(begin_ns) >= interval_ns;
        let is_new = self.shown != Some((progress.trial, progress.phase));
        self.shown = Some((progress.trial, progress.phase));
        // Where lines stay, the one of a trial says how it went.
        let is_wanted = is_due || is_new && (self.is_terminal || progress.phase == PhaseKind::Drain);
        if let Some(tryout) = &self.tryout {
            if self.is_terminal && is_due {
                self.drawn_ns = Some(progress.elapsed_ns);
                let gone = number::clock(Duration::from_nanos(progress.elapsed_ns));
                let line = format!("{} · {gone} of {}", tryout.line, tryout.plan.budget);
                self.draw(&progress::cut(&line, &self.ui.progress_style()));
            }
            return;
        }
        if progress.trial > 0 && is_wanted {
            self.drawn_ns = Some(progress.elapsed_ns);
            self.draw(&progress::line(progress, &self.ui.progress_style()));
        }
    }

    fn settled(&mut self, settled: &Settled) {
        let Some(tryout) = &mut self.tryout else { return };
        let forecast = forecast(&tryout.plan, settled.trial, SpanNs(0));
        let rate = settled.rate_hz.map_or(String::new(), |rate_hz| format!("at {} ", number::rate(rate_hz)));
        let span = |span: SpanNs| number::clock(span.duration());
        tryout.line = "no pair yet".into();
        let mut text = format!(
            "trials {rate}with a warm-up of {}: expect a verdict in {} to {}",
            settled.warmup,
            span(forecast.shortest),
            span(forecast.longest)
        );
        if forecast.is_budget_short {
            text.push_str(
                "\nwarning: the budget is too short for a verdict\nhint: raise --budget, or \
                           shorten --window",
            );
        }
        self.clear();
        self.ui.note(&text);
    }

    fn standing(&mut self, standing: &Standing) {
        let Some(tryout) = &mut self.tryout else { return };
        tryout.line.clone_from(&standing.line);
        if !self.is_terminal {
            self.ui.note(&standing.line);
        }
    }

    fn is_interrupted(&mut self) -> bool {
        self.signals.is_interrupted()
    }

    fn probe(&mut self, reply: &ProbeReply) {
        let Some(watch) = &mut self.probe else { return };
        if watch.trial != reply.trial {
            (watch.trial, watch.tally) = (reply.trial, ProbeTally::default());
        }
        watch.tally.add(reply);
        if let Some(log) = &mut watch.log {
            log.write(&probe::line(reply, clock::pair().wall(reply.end_mono_ns)));
        }
    }

    fn look(&mut self, progress: &RunProgress, so_far: &SoFar) {
        if self.signals.take_asked() {
            self.clear();
            self.ui.note(&statistics(progress, so_far));
            if let Some(watch) = &self.probe {
                let summary = watch.tally.summary(&watch.plan);
                let line = probe::statistics(&summary, &self.ui.progress_style());
                self.ui.note(&format!("probe ({}): {line}", watch.plan.kind.name()));
            }
        }
    }
}

/// What Ctrl-\ prints: the present trial so far.
fn statistics(progress: &RunProgress, so_far: &SoFar) -> String {
    let SoFar { counts, in_flight } = so_far;
    format!(
        "trial {}: {} sent, {} ok, {} failed, {} timed out, {} in flight, {} unsent",
        progress.trial, counts.sent, counts.ok, counts.failed, counts.timed_out, in_flight, counts.unsent
    )
}
