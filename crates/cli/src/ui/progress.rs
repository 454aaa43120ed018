//! Progress on standard error: a few lines that are drawn over on a terminal, a plain line per trial elsewhere, nothing if none
//! is wanted.
//!
//! Elsewhere, a trial that lasts is heard of every ten seconds, so that a log shows that something goes on. On a terminal
//! that is too low for the lines there is one.

use super::block::Block;
use super::{ProbeLog, Signals, Ui};
use std::io::{IsTerminal, Write};
use sysdyno_analyze::live::{HostNow, LiveRun};
use sysdyno_analyze::outcome::TrialOutcome;
use sysdyno_analyze::probe::ProbesTally;
use sysdyno_analyze::tryout::{Standing, forecast};
use sysdyno_record::load::{Interval, LatencySet, TrialBegin};
use sysdyno_record::plan::PhaseKind;
use sysdyno_record::probe::{ProbeReply, ProbedTarget};
use sysdyno_record::progress::RunProgress;
use sysdyno_record::tryout::{TryLine, TryPlan};
use sysdyno_record::units::SpanNs;
use sysdyno_report::{number, probe, progress};
use sysdyno_run::clock;
use sysdyno_run::execute::{SoFar, Watcher};

/// Between two drawings on a terminal. Unit: nanoseconds.
const DRAW_INTERVAL_NS: u64 = 200_000_000;

/// Between two lines of one trial elsewhere. Unit: nanoseconds.
const LINE_INTERVAL_NS: u64 = 10_000_000_000;

/// Looks on from a console.
#[derive(Debug)]
pub struct Console {
    ui: Ui,
    signals: Signals,
    form: Form,
    live: LiveRun,
    block: Block,
    drawn_ns: Option<u64>,
    shown: Option<(u32, PhaseKind)>,
    probe: Option<ProbeWatch>,
    tryout: Option<TryPlan>,
}

/// What progress looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// There is none.
    Nothing,
    /// Lines that stay.
    Lines,
    /// Lines that are drawn over.
    Picture,
}

/// What is kept of the probes beside the load.
#[derive(Debug)]
struct ProbeWatch {
    /// Of the present trial.
    tally: ProbesTally,
    trial: u32,
    log: Option<ProbeLog>,
}

impl Console {
    /// A console that listens to signals.
    pub fn new(ui: Ui, signals: Signals) -> Console {
        let form = match std::io::stderr().is_terminal() {
            _ if ui.is_quiet => Form::Nothing,
            true => Form::Picture,
            false => Form::Lines,
        };
        Console {
            ui,
            signals,
            form,
            live: LiveRun::default(),
            block: Block::default(),
            drawn_ns: None,
            shown: None,
            probe: None,
            tryout: None,
        }
    }

    /// The same, looking at a tryout, whose pairs matter and not its trials.
    pub fn of_tryout(self, plan: &TryPlan) -> Console {
        Console { live: LiveRun::of_tryout(plan), tryout: Some(plan.clone()), ..self }
    }

    /// The same, looking at probes beside the load as well, whose lines go into the log.
    pub fn with_probes(mut self, targets: Vec<ProbedTarget>, log: Option<ProbeLog>) -> Console {
        let has_any = !targets.is_empty();
        self.probe = has_any.then(|| ProbeWatch { tally: ProbesTally::new(targets), trial: 0, log });
        self
    }

    /// Gives the log of the probe back, to be ended.
    pub fn take_probe_log(&mut self) -> Option<ProbeLog> {
        self.probe.as_mut()?.log.take()
    }

    /// Takes the lines of progress away.
    pub fn clear(&mut self) {
        self.block.clear(self.ui.progress_columns());
    }

    /// Prints something that stays, above what is drawn over.
    fn note(&mut self, text: &str) {
        self.clear();
        self.ui.note(text);
    }

    fn draw(&mut self) {
        let style = self.ui.progress_style();
        let picture = self.live.picture();
        let lines = match style.rows {
            Some(rows) if rows <= progress::ROWS_MAX => vec![progress::line(&picture.progress, &style)],
            _ => progress::picture(picture, &style),
        };
        self.block.draw(&lines, self.ui.progress_columns());
    }

    /// Whether something that is done so often is due now.
    fn is_due(last_ns: &mut Option<u64>, now_ns: u64, interval_ns: u64) -> bool {
        let is_due = last_ns.is_none_or(|last_ns| now_ns.saturating_sub(last_ns) >= interval_ns);
        if is_due {
            *last_ns = Some(now_ns);
        }
        is_due
    }

    /// A line that stays: of the trial that has ended, or of one that lasts.
    fn tell(&mut self, progress: &RunProgress) {
        let begin_ns = *self.drawn_ns.get_or_insert(progress.elapsed_ns);
        let is_due = progress.elapsed_ns.saturating_sub(begin_ns) >= LINE_INTERVAL_NS;
        let is_new =
            self.shown.replace((progress.trial, progress.phase)) != Some((progress.trial, progress.phase));
        // The line of a trial says how it went.
        let is_wanted = is_due || is_new && progress.phase == PhaseKind::Drain;
        if self.tryout.is_none() && progress.trial > 0 && is_wanted {
            self.drawn_ns = Some(progress.elapsed_ns);
            // A closed standard error costs the progress, not the run.
            let line = progress::line(progress, &self.ui.progress_style());
            let _ = writeln!(std::io::stderr().lock(), "{line}");
        }
    }
}

impl Watcher for Console {
    fn progress(&mut self, progress: &RunProgress) {
        self.live.progress(progress);
        match self.form {
            Form::Nothing => {}
            Form::Lines => self.tell(progress),
            Form::Picture => {
                let is_due = Console::is_due(&mut self.drawn_ns, progress.elapsed_ns, DRAW_INTERVAL_NS);
                if is_due && (progress.trial > 0 || self.tryout.is_some()) {
                    self.draw();
                }
            }
        }
    }

    fn begun(&mut self, begin: &TrialBegin) {
        self.live.begin(begin);
    }

    fn interval(&mut self, interval: &Interval, _: &LatencySet) {
        self.live.interval(interval);
    }

    fn tried(&mut self, outcome: &TrialOutcome) {
        self.live.tried(outcome);
    }

    fn host(&mut self, now: &HostNow) {
        self.live.uses(&now.uses);
    }

    fn planned(&mut self, plan: &TryPlan) {
        self.tryout = Some(plan.clone());
    }

    fn told(&mut self, line: &TryLine) {
        let (Some(plan), TryLine::Settled(settled)) = (&self.tryout, line) else { return };
        let forecast = forecast(plan, settled.trial, SpanNs(0));
        let rate = settled.rate_hz.map_or(String::new(), |rate_hz| format!("at {} ", number::rate(rate_hz)));
        let span = |span: SpanNs| number::clock(span.duration());
        let (shortest, longest) = (span(forecast.shortest), span(forecast.longest));
        let is_one = forecast.shortest.0 >= forecast.longest.0 || shortest == longest;
        let expected = if is_one { longest } else { format!("{shortest} to {longest}") };
        let mut text =
            format!("trials {rate}with a warm-up of {}: expect a verdict in {expected}", settled.warmup);
        if forecast.is_budget_short {
            text.push_str(
                "\nwarning: the budget is too short for a verdict\nhint: raise --budget, or \
                           shorten --window",
            );
        }
        self.live.say("no pair yet");
        self.note(&text);
    }

    fn standing(&mut self, standing: &Standing) {
        self.live.standing(standing);
        if self.form == Form::Lines {
            self.ui.note(&standing.line);
        }
    }

    fn is_interrupted(&mut self) -> bool {
        self.signals.is_interrupted()
    }

    fn probe(&mut self, reply: &ProbeReply) {
        let Some(watch) = &mut self.probe else { return };
        if watch.trial != reply.trial {
            (watch.trial, watch.tally) = (reply.trial, ProbesTally::new(watch.tally.targets().to_vec()));
        }
        watch.tally.add(reply);
        if let Some(log) = &mut watch.log {
            log.write(&probe::line(reply, clock::pair().wall(reply.end_mono_ns), watch.tally.targets()));
        }
    }

    fn look(&mut self, progress: &RunProgress, so_far: &SoFar) {
        if self.signals.take_asked() {
            self.note(&statistics(progress, so_far));
            if let Some(watch) = &self.probe {
                let (targets, summaries) = (watch.tally.targets(), watch.tally.summaries());
                let lines = probe::statistics(targets, &summaries, &self.ui.progress_style());
                let lead = match targets {
                    [one] => format!("probe ({}): ", one.plan.kind.name()),
                    _ => String::new(),
                };
                self.ui.note(&format!("{lead}{lines}"));
            }
        }
    }
}

/// What Ctrl-\ prints: the present trial so far.
fn statistics(progress: &RunProgress, so_far: &SoFar) -> String {
    let SoFar { counts, in_flight } = so_far;
    let told = [
        (counts.sent, "sent"),
        (counts.ok, "ok"),
        (counts.failed, "failed"),
        (counts.timed_out, "timed out"),
        (*in_flight, "in flight"),
        (counts.unsent, "unsent"),
    ];
    let told = told.map(|(value, what)| format!("{} {what}", number::count(value)));
    format!("trial {}: {}", progress.trial, told.join(", "))
}
