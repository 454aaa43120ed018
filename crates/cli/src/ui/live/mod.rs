//! Who looks on while a run lasts, besides the console: whoever reads lines of JSON, and monitoring systems.
//!
//! All of it comes from what the journal of the run is told anyway, at most a few times a second, and none of it can make the
//! load wait.

mod compared;
mod lines;
mod metrics;

use self::lines::LineStream;
use self::metrics::MetricsOutput;
use super::{Console, Ui};
use crate::args::LiveOptions;
use sysdyno_analyze::live::{HostNow, RunMeter, second};
use sysdyno_analyze::outcome::TrialOutcome;
use sysdyno_analyze::tryout::{NextTrial, Standing};
use sysdyno_record::analysis::Verdict;
use sysdyno_record::comparison::RunsComparison;
use sysdyno_record::event::{Event, EventKind};
use sysdyno_record::live::LiveFinding;
use sysdyno_record::load::{Interval, LatencySet, TrialBegin, TrialEnd};
use sysdyno_record::manifest::{Manifest, RunKind, RunStatus};
use sysdyno_record::plan::Arrival;
use sysdyno_record::probe::ProbeReply;
use sysdyno_record::progress::{CpuUses, LoadSecond, RunProgress};
use sysdyno_record::tryout::TryLine;
use sysdyno_report::ReportInput;
use sysdyno_report::output::lines::{
    CpuLine, RunBegins, RunEnds, RunLine, SCHEMA, SeenLine, TrialBegins, TrialEnds, conclusions, render,
};
use sysdyno_run::clock;
use sysdyno_run::execute::{SoFar, Watcher};

/// How an experiment ends.
#[derive(Clone, Copy, Debug)]
pub struct ExperimentEnding<'a> {
    /// How far it got.
    pub status: RunStatus,
    /// Why it did not get further; `None`: it did.
    pub reason: Option<&'a str>,
    /// What its variants came to; `None`: there is nothing to compare.
    pub comparison: Option<&'a RunsComparison>,
}

/// Where a run goes while it lasts, besides the console.
#[derive(Debug, Default)]
pub struct LiveOutput {
    lines: Option<LineStream>,
    metrics: Option<MetricsOutput>,
    arrival: Option<Arrival>,
    /// Limits that were last seen, by their ids.
    seen: Vec<&'static str>,
    /// Names of what is compared.
    variants: Vec<String>,
    /// Whether other runs may follow a run that is over.
    is_experiment: bool,
}

impl LiveOutput {
    /// Where metrics go, if they were asked for.
    ///
    /// # Errors
    /// The address cannot be listened on, or the URL cannot be written to.
    pub fn start(options: &LiveOptions, ui: &Ui) -> anyhow::Result<LiveOutput> {
        Ok(LiveOutput { metrics: MetricsOutput::start(options, ui)?, ..LiveOutput::default() })
    }

    /// The same, as lines on standard output as well.
    pub fn with_lines(self, is_wanted: bool) -> LiveOutput {
        LiveOutput { lines: is_wanted.then(LineStream::to_stdout), ..self }
    }

    /// A run begins.
    pub fn begin(&mut self, run: &str, kind: RunKind) {
        self.line(&RunLine::Begin(RunBegins { schema: SCHEMA, run, kind, clock: clock::pair() }));
        self.measure(|meter| meter.run(run, kind.name()));
        self.seen.clear();
    }

    /// The run is over, and this came of it; `None`: nothing did. Whoever reads lines is waited for, for a while.
    pub fn end(&mut self, manifest: &Manifest, input: Option<&ReportInput<'_>>, ui: &Ui) {
        self.end_with(manifest, input.map(conclusions).unwrap_or_default(), ui);
    }

    fn end_with(&mut self, manifest: &Manifest, mut last: Vec<String>, ui: &Ui) {
        let Some(stream) = &mut self.lines else { return self.finish(Vec::new(), ui) };
        last.push(render(&RunLine::End(RunEnds {
            run: &manifest.id,
            status: manifest.status,
            reason: manifest.reason.as_deref(),
            end_mono_ns: clock::monotonic(),
            dropped_count: stream.dropped_count(),
        })));
        match self.is_experiment {
            true => last.into_iter().for_each(|line| stream.send_text(line)),
            false => self.finish(last, ui),
        }
    }

    /// Ends the output with these lines, unless other runs follow.
    fn finish(&mut self, last: Vec<String>, ui: &Ui) {
        if self.is_experiment {
            return;
        }
        if let Some(metrics) = self.metrics.take() {
            metrics.finish(ui);
        }
        if self.lines.take().is_some_and(|stream| !stream.finish(last)) {
            ui.note("warning: whoever reads the lines has stopped; the rest of them was dropped");
        }
    }

    /// The run came to nothing, for this reason.
    pub fn fail(&mut self, manifest: &Manifest, reason: &str, ui: &Ui) {
        let failed =
            Manifest { status: RunStatus::Failed, reason: Some(reason.to_owned()), ..manifest.clone() };
        self.end(&failed, None, ui);
    }

    fn line(&mut self, line: &RunLine<'_>) {
        if let Some(lines) = &mut self.lines {
            lines.send(line);
        }
    }

    fn measure(&self, measure: impl FnOnce(&mut RunMeter)) {
        if let Some(metrics) = &self.metrics {
            measure(&mut metrics.meter());
        }
    }

    fn is_wanted(&self) -> bool {
        self.lines.is_some() || self.metrics.is_some()
    }

    fn second(&mut self, second: &LoadSecond, latency: &LatencySet) {
        self.measure(|meter| meter.second(second, latency));
        self.line(&RunLine::Interval(second));
    }

    /// A mark on the time axis was set.
    pub fn mark(&mut self, event: &Event) {
        match &event.event {
            EventKind::PhaseBegin { phase, .. } => self.measure(|meter| meter.phase(Some(*phase))),
            EventKind::PhaseEnd { .. } => self.measure(|meter| meter.phase(None)),
            _ => self.measure(|meter| meter.compared().mark(&event.event)),
        }
        self.line(&RunLine::Event(event));
    }

    fn host(&mut self, now: &HostNow) {
        self.measure(|meter| meter.host(now));
        let HostNow { frame, uses, .. } = now;
        if *uses != CpuUses::default() {
            self.line(&RunLine::Cpus(CpuLine { mono_ns: frame.mono_ns, uses }));
        }
        self.line(&RunLine::Host(frame));
        let is_known = |finding: &LiveFinding| self.seen.contains(&finding.id);
        if now.seen.len() != self.seen.len() || !now.seen.iter().all(is_known) {
            self.seen = now.seen.iter().map(|finding| finding.id).collect();
            self.line(&RunLine::Seen(SeenLine { mono_ns: frame.mono_ns, seen: &now.seen }));
        }
    }
}

/// The console and the others, as one who looks on.
#[derive(Debug)]
pub struct Onlookers<'a> {
    /// Whoever sits at the terminal.
    pub console: &'a mut Console,
    /// The others.
    pub live: &'a mut LiveOutput,
}

impl Watcher for Onlookers<'_> {
    fn progress(&mut self, progress: &RunProgress) {
        self.console.progress(progress);
    }

    fn is_interrupted(&mut self) -> bool {
        self.console.is_interrupted()
    }

    fn begun(&mut self, begin: &TrialBegin) {
        self.console.begun(begin);
        self.live.arrival = Some(begin.plan.arrival);
        self.live.measure(|meter| meter.begin(begin));
        self.live.line(&RunLine::TrialBegin(TrialBegins::of(begin)));
    }

    fn interval(&mut self, interval: &Interval, latency: &LatencySet) {
        self.console.interval(interval, latency);
        if let (true, Some(arrival)) = (self.live.is_wanted(), self.live.arrival) {
            self.live.second(&second(interval, latency, arrival), latency);
        }
    }

    fn marked(&mut self, event: &Event) {
        self.live.mark(event);
    }

    fn ended(&mut self, end: &TrialEnd, verdict: &Verdict) {
        self.live.measure(|meter| meter.end(verdict.status));
        self.live.line(&RunLine::TrialEnd(TrialEnds::of(end, verdict)));
    }

    fn tried(&mut self, outcome: &TrialOutcome) {
        self.console.tried(outcome);
    }

    fn host(&mut self, now: &HostNow) {
        self.console.host(now);
        self.live.host(now);
    }

    fn next(&mut self, next: &NextTrial) {
        self.live.side(next);
    }

    fn told(&mut self, line: &TryLine) {
        self.console.told(line);
        self.live.told(line);
    }

    fn standing(&mut self, standing: &Standing) {
        self.console.standing(standing);
        self.live.standing(standing);
    }

    fn probe(&mut self, reply: &ProbeReply) {
        self.console.probe(reply);
    }

    fn look(&mut self, progress: &RunProgress, so_far: &SoFar) {
        self.console.look(progress, so_far);
    }
}
