//! Records events twice: in the run folder for good, and in memory for the decisions of the next minute.

use super::recent::Recent;
use super::watched::{news, of_targets};
use crate::agent::{AgentLink, Notice, Proceed};
use crate::clock;
use crate::error::RunError;
use sysdyno_analyze::TrialView;
use sysdyno_analyze::live::{HostNow, HostReadings, host_now};
use sysdyno_analyze::outcome::TrialOutcome;
use sysdyno_analyze::tryout::{NextTrial, Standing};
use sysdyno_record::RecordError;
use sysdyno_record::analysis::Verdict;
use sysdyno_record::column::Quantity;
use sysdyno_record::event::{Event, EventKind, SettingHeld, WatchedProcess, undone};
use sysdyno_record::facts::HostFacts;
use sysdyno_record::load::{Counts, Interval, LatencySet, TrialBegin, TrialEnd};
use sysdyno_record::log::LogLines;
use sysdyno_record::plan::{LoadPlan, PhaseKind};
use sysdyno_record::probe::ProbeReply;
use sysdyno_record::profile::{Profile, ProfiledLoad};
use sysdyno_record::progress::RunProgress;
use sysdyno_record::remote::{ClockOffset, RemoteHost};
use sysdyno_record::series::{Series, SeriesLine};
use sysdyno_record::squeeze::SqueezeConclusion;
use sysdyno_record::store::{Remains, RunWriter, Trial};
use sysdyno_record::tryout::{TryConclusion, TryLine, TryPlan};
use sysdyno_record::units::{MonoNs, SpanNs};
use sysdyno_record::view::ServerView;

/// Most processes of a run, those included that came and went while it lasted.
const MAX_WATCHED_COUNT: usize = 4096;

/// Between two looks at what the server's host does. Unit: nanoseconds.
const HOST_INTERVAL_NS: u64 = 1_000_000_000;

/// Most events of logs in a run, those of both hosts together.
const MAX_LOGGED_COUNT: usize = 400;

/// An observer of a running plan.
pub trait Watcher {
    /// Something changed.
    fn progress(&mut self, progress: &RunProgress);

    /// Is asked several times a second whether the plan is to be stopped.
    fn is_interrupted(&mut self) -> bool;

    /// A trial begins.
    fn begun(&mut self, _begin: &TrialBegin) {}

    /// About a second of a load is over, with the latencies of it.
    fn interval(&mut self, _interval: &Interval, _latency: &LatencySet) {}

    /// A mark on the time axis was set.
    fn marked(&mut self, _event: &Event) {}

    /// A trial is over, and that is what its numbers are worth.
    fn ended(&mut self, _end: &TrialEnd, _verdict: &Verdict) {}

    /// A trial of a search is judged.
    fn tried(&mut self, _outcome: &TrialOutcome) {}

    /// Is told once a second what the server's host does.
    fn host(&mut self, _now: &HostNow) {}

    /// The comparisons of a squeeze are known.
    fn planned(&mut self, _plan: &TryPlan) {}

    /// A trial of a tryout begins: which side it is of.
    fn next(&mut self, _next: &NextTrial) {}

    /// A line of a tryout was written.
    fn told(&mut self, _line: &TryLine) {}

    /// A pair of a tryout is complete; the state of the tryout so far.
    fn standing(&mut self, _standing: &Standing) {}

    /// An operation of the probe is over.
    fn probe(&mut self, _reply: &ProbeReply) {}

    /// Is told what the present trial has come to so far, a few times a second; prints statistics if it was asked to.
    fn look(&mut self, _progress: &RunProgress, _so_far: &SoFar) {}
}

/// What a trial has come to.
#[derive(Clone, Copy, Debug, Default)]
pub struct SoFar {
    /// Requests by outcome.
    pub counts: Counts,
    /// Requests on their way when the last interval ended.
    pub in_flight: u64,
}

/// The memory of a plan that runs. It does not grow with the length of a trial.
pub struct RunJournal<'a> {
    writer: &'a mut RunWriter,
    watcher: &'a mut dyn Watcher,
    facts: HostFacts,
    watched: Vec<WatchedProcess>,
    logged_count: usize,
    series: Recent,
    /// The server's host, where it is another one, and its readings.
    server: Option<RemoteHost>,
    server_series: Recent,
    /// Why the agent on another host is lost, once one is.
    lost: Option<String>,
    /// Intervals, events and operations of the probe of the present trial.
    intervals: Vec<Interval>,
    events: Vec<Event>,
    probe: Vec<ProbeReply>,
    so_far: SoFar,
    /// When the server's host was last looked at.
    host_read: Option<MonoNs>,
    /// The last trial and lines of a tryout, where they could not be written.
    unwritten_trial: Option<(Trial, LatencySet)>,
    unwritten_lines: Vec<TryLine>,
    progress: RunProgress,
    begin: MonoNs,
    trial_begin: MonoNs,
    phase_open: Option<PhaseKind>,
    /// The load of the present trial, and when it began, where it rises or falls.
    changing: Option<(LoadPlan, Option<MonoNs>)>,
    is_interrupted: bool,
}

impl<'a> RunJournal<'a> {
    /// Name of the run folder.
    pub fn run_id(&self) -> &str {
        self.writer.id()
    }

    /// A journal that writes to `writer`.
    pub fn new(writer: &'a mut RunWriter, watcher: &'a mut dyn Watcher) -> RunJournal<'a> {
        let begin = clock::monotonic();
        RunJournal {
            writer,
            watcher,
            facts: HostFacts::default(),
            watched: Vec::new(),
            logged_count: 0,
            series: Recent::default(),
            server: None,
            server_series: Recent::default(),
            lost: None,
            intervals: Vec::new(),
            events: Vec::new(),
            probe: Vec::new(),
            so_far: SoFar::default(),
            host_read: None,
            unwritten_trial: None,
            unwritten_lines: Vec::new(),
            progress: RunProgress::BEFORE,
            begin,
            trial_begin: begin,
            phase_open: None,
            changing: None,
            is_interrupted: false,
        }
    }

    /// Why the agent on another host was lost; `None`: none was.
    pub fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    /// Why nothing more can be written; `None`: all was.
    pub fn failure(&self) -> Option<&str> {
        self.writer.failure()
    }

    /// Tells how long the run will go on for; 0: that is not known.
    pub fn expect(&mut self, left: SpanNs) {
        self.writer.expect(left);
    }

    /// What was measured and could not be written; `None`: all was.
    pub fn remains(self) -> Option<Remains> {
        self.writer.failure()?;
        let (trial, latency) = self.unwritten_trial.unzip();
        Some(Remains {
            facts: Some(self.facts),
            trial,
            latency: latency.unwrap_or_default(),
            intervals: self.intervals,
            series: self.series.into_series(),
            server_series: self.server_series.into_series(),
            probe: self.probe,
            events: self.events,
            tryout: self.unwritten_lines,
            operations: Vec::new(),
        })
    }

    /// Whether the plan is to be stopped: a signal, or a host is lost.
    pub(super) fn is_stopped(&mut self) -> bool {
        self.lost.is_some() || self.is_interrupted()
    }

    /// Whether a signal stops the plan, or that nothing more can be written down: what was measured until then is told.
    pub(super) fn is_interrupted(&mut self) -> bool {
        if !self.is_interrupted && self.watcher.is_interrupted() {
            self.is_interrupted = true;
        }
        self.is_interrupted || self.writer.failure().is_some()
    }

    /// Goes on in memory where the folder cannot be written any more; the plan is stopped for it.
    fn kept<T: Default>(&self, written: Result<T, RecordError>) -> Result<T, RunError> {
        match written {
            Err(RecordError::Io { .. } | RecordError::Stopped { .. }) if self.writer.failure().is_some() => {
                Ok(T::default())
            }
            written => Ok(written?),
        }
    }

    pub(super) fn keep_facts(&mut self, facts: HostFacts) -> Result<(), RunError> {
        let written = self.writer.facts(&facts);
        self.kept(written)?;
        self.facts = facts;
        Ok(())
    }

    pub(super) fn keep_profile(&mut self, load: ProfiledLoad, profile: &Profile) -> Result<(), RunError> {
        let written = self.writer.profile(load, profile);
        self.kept(written)
    }

    pub(super) fn keep_server(&mut self, server: RemoteHost) -> Result<(), RunError> {
        let written = self.writer.server(&server);
        self.kept(written)?;
        self.server = Some(server);
        Ok(())
    }

    pub(super) fn keep_clock_at_end(&mut self, clock: ClockOffset) -> Result<(), RunError> {
        let Some(server) = self.server.take() else { return Ok(()) };
        self.keep_server(RemoteHost { clock_at_end: Some(clock), ..server })
    }

    /// Whether the server's host is another one.
    pub(super) fn has_server(&self) -> bool {
        self.server.is_some()
    }

    pub(super) fn keep_series(&mut self, line: SeriesLine) -> Result<(), RunError> {
        let line = self.keep_marks(line, None)?;
        let written = self.writer.series(&line);
        self.kept(written)?;
        self.series.push(line);
        Ok(())
    }

    pub(super) fn keep_server_series(&mut self, line: SeriesLine) -> Result<(), RunError> {
        let host = self.server.as_ref().map(|server| server.name.clone());
        let line = self.keep_marks(line, host.as_deref())?;
        let written = self.writer.server_series(&line);
        self.kept(written)?;
        self.server_series.push(line);
        Ok(())
    }

    /// Marks that the agent on the server's host is gone. An error that is not about that is handed back.
    pub(super) fn lose_server(
        &mut self,
        host: &str,
        reason: Option<&str>,
        error: RunError,
    ) -> Result<(), RunError> {
        match reason {
            Some(reason) => self.lose_host(host.to_owned(), reason.to_owned()),
            None => Err(error),
        }
    }

    /// Records that the agent on a host is gone; the first such event explains why the run failed.
    fn lose_host(&mut self, host: String, reason: String) -> Result<(), RunError> {
        let lost = RunError::Lost { host: host.clone(), cause: reason.clone() };
        self.lost.get_or_insert(lost.to_string());
        self.event(clock::monotonic(), EventKind::HostLost { host, reason, goes_on: false })
    }

    /// Writes down settings that are held from now on.
    ///
    /// # Errors
    /// The folder could not be written.
    pub fn keep_settings(&mut self, settings: &[SettingHeld]) -> Result<(), RunError> {
        let now = clock::monotonic();
        settings.iter().try_for_each(|setting| self.event(now, EventKind::Setting(setting.clone())))
    }

    /// Marks that changed settings are again what they were, apart from the keys in `left`, which something else has changed since.
    ///
    /// # Errors
    /// The folder could not be written.
    pub fn mark_undone(&mut self, changed: &[SettingHeld], left: &[String]) -> Result<(), RunError> {
        undone(changed, left).try_for_each(|event| self.event(clock::monotonic(), event))
    }

    /// Processes to measure from now on, in addition to earlier ones.
    pub(super) fn keep_watched(&mut self, watched: Vec<WatchedProcess>) -> Result<(), RunError> {
        for process in watched {
            self.event(clock::monotonic(), EventKind::Watched(process.clone()))?;
            match self.watched.iter_mut().find(|known| known.is_same(&process)) {
                Some(known) => *known = process,
                None => self.watched.push(process),
            }
        }
        Ok(())
    }

    /// Keeps as events what a sampler tells beside its readings; `host` is another one.
    fn keep_marks(&mut self, line: SeriesLine, host: Option<&str>) -> Result<SeriesLine, RunError> {
        match line {
            SeriesLine::Header { columns, came } => {
                self.keep_who_came(came)?;
                Ok(SeriesLine::header(columns))
            }
            SeriesLine::Row(mut row) => {
                self.keep_logged(std::mem::take(&mut row.logged), host)?;
                Ok(SeriesLine::Row(row))
            }
        }
    }

    fn keep_logged(&mut self, logged: Vec<LogLines>, host: Option<&str>) -> Result<(), RunError> {
        let room = MAX_LOGGED_COUNT.saturating_sub(self.logged_count);
        for lines in logged.into_iter().take(room) {
            self.logged_count += 1;
            let lines = LogLines { host: host.map(str::to_owned), ..lines };
            self.event(clock::monotonic(), EventKind::LogLines(lines))?;
        }
        Ok(())
    }

    /// Keeps the processes that a sampler has found as those that it was given.
    fn keep_who_came(&mut self, came: Vec<WatchedProcess>) -> Result<(), RunError> {
        let room = MAX_WATCHED_COUNT.saturating_sub(self.watched.len());
        let mut new = news(&self.watched, came);
        new.truncate(room);
        self.keep_watched(new)
    }

    pub(super) fn event(&mut self, at: MonoNs, kind: EventKind) -> Result<(), RunError> {
        let event = Event { mono_ns: at, event: kind };
        let written = self.writer.event(&event);
        self.watcher.marked(&event);
        self.kept(written)?;
        self.events.push(event);
        Ok(())
    }

    /// A trial begins; `left_ns` is what the whole plan still takes.
    pub(super) fn begin_trial(&mut self, begin: &TrialBegin, left_ns: u64) -> Result<(), RunError> {
        self.intervals.clear();
        self.probe.clear();
        self.so_far = SoFar::default();
        self.series.begin_trial();
        self.server_series.begin_trial();
        self.writer.expect(SpanNs(left_ns));
        self.trial_begin = begin.begin_mono_ns;
        self.progress.trial = begin.trial;
        self.progress.purpose = begin.purpose;
        self.progress.phase = begin.plan.phases.first().map_or(PhaseKind::Steady, |phase| phase.kind);
        self.progress.offered_hz = begin.plan.phases.last().and_then(|phase| phase.rate_hz);
        self.progress.clients_count = None;
        self.changing = begin.plan.changes().map(|_| (begin.plan.clone(), None));
        (self.progress.achieved_hz, self.progress.p99_ns) = (None, None);
        (self.progress.errors_count, self.progress.done_count) = (0, 0);
        self.progress.left_ns = Some(left_ns);
        self.watcher.begun(begin);
        let written = self.writer.trial_begin(begin);
        self.kept(written)?;
        self.show();
        Ok(())
    }

    /// A trial ended; returns what its numbers are worth.
    pub(super) fn end_trial(
        &mut self,
        begin: &TrialBegin,
        end: &TrialEnd,
        latency: &LatencySet,
    ) -> Result<Verdict, RunError> {
        self.close_phase(end.end_mono_ns)?;
        let last = self.writer.close_interval();
        self.intervals.extend(self.kept(last)?);
        let written = self.writer.trial_end(end);
        self.kept(written)?;
        if self.writer.failure().is_some() {
            let trial = Trial { begin: begin.clone(), end: Some(end.clone()) };
            self.unwritten_trial = Some((trial, latency.clone()));
        }
        let watched = &self.watched;
        let verdict = sysdyno_analyze::verdict::check_trial(&self.view((begin, end), latency, watched));
        self.watcher.ended(end, &verdict);
        Ok(verdict)
    }

    fn view<'b>(
        &'b self,
        (begin, end): (&'b TrialBegin, &'b TrialEnd),
        latency: &'b LatencySet,
        watched: &'b [WatchedProcess],
    ) -> TrialView<'b> {
        TrialView {
            begin,
            end,
            intervals: &self.intervals,
            series: self.series.series(),
            facts: &self.facts,
            server: self.server.as_ref().map(|host| ServerView { host, series: self.server_series.series() }),
            watched,
            latency,
            events: &self.events,
            probe: &self.probe,
        }
    }

    /// What `look` sees of the trial that ended last, of these targets and what they have started only where more are watched.
    pub(super) fn last_trial<T>(
        &self,
        (begin, end): (&TrialBegin, &TrialEnd),
        latency: &LatencySet,
        targets: &[WatchedProcess],
        look: impl FnOnce(&TrialView<'_>) -> T,
    ) -> T {
        look(&self.view((begin, end), latency, &of_targets(&self.watched, targets)))
    }

    /// The readings of the present trial so far.
    pub(super) fn series(&self) -> &Series {
        self.series.series()
    }

    /// The digest of the plan as it was written.
    pub(super) fn plan_sha256(&self) -> String {
        self.writer.plan_sha256().unwrap_or_default().to_owned()
    }

    pub(super) fn keep_line(&mut self, line: &TryLine) -> Result<(), RunError> {
        self.watcher.told(line);
        let written = self.writer.tryout(line);
        if written.is_err() {
            self.unwritten_lines.push(line.clone());
        }
        self.kept(written)
    }

    /// Shows which comparisons a squeeze will make.
    pub(super) fn show_plan(&mut self, plan: &TryPlan) {
        self.watcher.planned(plan);
    }

    pub(super) fn keep_squeeze(&mut self, conclusion: &SqueezeConclusion) -> Result<(), RunError> {
        let written = self.writer.squeeze(conclusion);
        self.kept(written)
    }

    pub(super) fn keep_conclusion(&mut self, conclusion: &TryConclusion) -> Result<(), RunError> {
        let written = self.writer.conclusion(conclusion);
        self.kept(written)
    }

    pub(super) fn show_tried(&mut self, outcome: &TrialOutcome) {
        self.watcher.tried(outcome);
    }

    pub(super) fn show_next(&mut self, next: &NextTrial) {
        self.watcher.next(next);
    }

    pub(super) fn show_standing(&mut self, standing: &Standing) {
        self.watcher.standing(standing);
    }

    /// How long the plan has run so far. Unit: nanoseconds.
    pub(super) fn elapsed_ns(&self) -> u64 {
        clock::monotonic().since(self.begin)
    }

    /// The last reading of a column on the server's host, for the decision whether the host is at rest.
    pub(super) fn last_reading(&self, gauge: Quantity) -> Option<f64> {
        let recent = if self.server.is_some() { &self.server_series } else { &self.series };
        let series = recent.series();
        let scopes = series.scopes(gauge.name);
        let last = scopes.filter_map(|scope| *series.values(gauge.name, scope)?.last()?);
        last.reduce(f64::max)
    }

    fn close_phase(&mut self, at: MonoNs) -> Result<(), RunError> {
        let trial = self.progress.trial;
        self.writer.boundary(at);
        match self.phase_open.take() {
            Some(phase) => self.event(at, EventKind::PhaseEnd { trial, phase }),
            None => Ok(()),
        }
    }

    fn keep_interval(&mut self, interval: Interval, latency: &LatencySet) -> Result<(), RunError> {
        let written = self.writer.interval(&interval, latency);
        match self.writer.failure() {
            None => self.intervals.extend(written?),
            Some(_) => self.intervals.push(interval.clone()),
        }
        self.watcher.interval(&interval, latency);
        self.so_far.counts.add(&interval.counts);
        self.so_far.in_flight = interval.in_flight_at_end;
        self.progress.phase = interval.phase;
        self.progress.errors_count += interval.counts.failed + interval.counts.timed_out;
        self.progress.done_count += interval.counts.ok + interval.counts.failed + interval.counts.timed_out;
        let seconds = interval.end_mono_ns.seconds_since(interval.begin_mono_ns);
        if seconds > 0.0 && interval.counts.scheduled > 0 {
            self.progress.achieved_hz = Some(interval.counts.ok as f64 / seconds);
            self.progress.p99_ns = interval.p99_ns.or(self.progress.p99_ns);
        }
        Ok(())
    }

    fn show(&mut self) {
        let elapsed_ns = clock::monotonic().since(self.begin);
        let passed_ns = elapsed_ns - self.progress.elapsed_ns.min(elapsed_ns);
        self.progress.elapsed_ns = elapsed_ns;
        self.progress.left_ns = self.progress.left_ns.map(|left_ns| left_ns.saturating_sub(passed_ns));
        self.show_what_is_offered_now();
        self.watcher.progress(&self.progress);
        self.watcher.look(&self.progress, &self.so_far);
        let now = clock::monotonic();
        if self.host_read.is_some_and(|read| now.since(read) < HOST_INTERVAL_NS) {
            return;
        }
        self.host_read = Some(now);
        let (own, other) = (self.series.series(), self.server_series.series());
        let server = match &self.server {
            Some(host) => HostReadings { series: other, has_generator: host.is_same_machine },
            None => HostReadings { series: own, has_generator: true },
        };
        if let Some(now) = host_now(server, own, &self.watched, clock::wall()) {
            self.writer.now(&now.told());
            self.watcher.host(&now);
        }
    }
}

impl RunJournal<'_> {
    /// What a load that rises or falls offers at this instant.
    fn show_what_is_offered_now(&mut self) {
        let Some((plan, Some(began))) = &self.changing else { return };
        let since = SpanNs(clock::monotonic().since(*began));
        self.progress.offered_hz = plan.offered_hz_at(since);
        self.progress.clients_count = plan.clients_at(since).map(|clients| clients.round() as u32);
    }
}

impl AgentLink for RunJournal<'_> {
    fn notice(&mut self, notice: Notice) -> Result<(), RunError> {
        match notice {
            Notice::Series(line) => self.keep_series(line),
            Notice::Probe(reply) => {
                let written = self.writer.probe(&reply);
                self.kept(written)?;
                self.watcher.probe(&reply);
                self.probe.push(reply);
                Ok(())
            }
            Notice::HostLost { host, reason, goes_on: false } => self.lose_host(host, reason),
            Notice::HostLost { host, reason, goes_on } => {
                self.event(clock::monotonic(), EventKind::HostLost { host, reason, goes_on })
            }
            // Whoever spreads a load merges it.
            Notice::Part(_) => Ok(()),
            // The profile says itself when it began.
            Notice::Profiling => Ok(()),
            Notice::Interval(interval, latency) => self.keep_interval(*interval, &latency),
            Notice::Phase { begin, phase, rate_hz } => {
                self.close_phase(begin)?;
                self.phase_open = Some(phase);
                if let Some((_, began)) = &mut self.changing {
                    began.get_or_insert(begin);
                }
                let trial = self.progress.trial;
                self.event(begin, EventKind::PhaseBegin { trial, phase, rate_hz })
            }
        }
    }

    fn tick(&mut self) -> Proceed {
        let was_interrupted = self.is_interrupted;
        let stops = self.is_interrupted();
        if self.is_interrupted && !was_interrupted {
            // The folder also says so in its status; the mark only adds when.
            let _ = self.event(clock::monotonic(), EventKind::Signal { name: "SIGINT".into() });
        }
        self.show();
        if stops || self.lost.is_some() { Proceed::Stop } else { Proceed::Continue }
    }
}
