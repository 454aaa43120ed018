//! Sends the load again to profile it: after the measurement, so that no measured window contains the profiler.
//!
//! This is not a trial: only its stacks are recorded, and the number of responses that they cover.

use super::steps::{Bench, trial_plan};
use crate::agent::{Agent, AgentLink, Notice, Proceed, RemoteAgent};
use crate::clock;
use crate::error::RunError;
use crate::profiling::{ProfileRequest, take_profile};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use sysdyno_analyze::search::{Search, TrialRequest};
use sysdyno_record::event::EventKind;
use sysdyno_record::plan::{LoadPlan, PhaseEnd, PhaseKind, PhasePlan};
use sysdyno_record::profile::{Profile, ProfiledLoad};
use sysdyno_record::series::SeriesLine;
use sysdyno_record::units::SpanNs;

/// Before the profile, so that connections are open and caches warm. As long as an interval: the first one ends with it.
const WARMUP: SpanNs = SpanNs::from_secs(1);

/// A low load, as a share of the highest: no queue is left, and what is sampled is still enough to be told from chance.
const LOW_RATIO: f64 = 0.2;

/// Longest profile.
const PROFILE_MAX: SpanNs = SpanNs::from_secs(10);

impl Bench<'_, '_> {
    /// Sends the load of a plan again, and keeps a profile of its steady part. A failure is only told: what was measured is valid.
    pub(super) fn profile(
        &mut self,
        load: ProfiledLoad,
        plan: &LoadPlan,
        request: &ProfileRequest,
    ) -> Result<(), RunError> {
        if self.journal.is_stopped() {
            return Ok(());
        }
        let plan = profiled_plan(plan);
        let request = ProfileRequest { duration: steady_span(&plan), ..request.clone() };
        match self.send_profiled(&plan, &request)? {
            Ok(Some(profile)) => self.journal.keep_profile(load, &profile),
            Ok(None) => self.warn("the load ended before it could be profiled".into()),
            Err(error) => self.warn(error.to_string()),
        }
    }

    /// Profiles the highest load of a search that met the objective, and a fifth of it.
    pub(super) fn profile_capacity(
        &mut self,
        plan: &LoadPlan,
        search: &Search,
        request: &ProfileRequest,
    ) -> Result<(), RunError> {
        let Some(highest) = search.highest_met() else {
            return self.warn("no trial met the objective".into());
        };
        for (load, ratio) in [(ProfiledLoad::Measured, 1.0), (ProfiledLoad::Low, LOW_RATIO)] {
            let repeated = TrialRequest { window: PROFILE_MAX, ..highest.scaled(ratio) };
            self.profile(load, &trial_plan(plan, &repeated), request)?;
        }
        Ok(())
    }

    fn warn(&mut self, text: String) -> Result<(), RunError> {
        self.journal.event(clock::monotonic(), EventKind::Warning { text: format!("no profile: {text}") })
    }

    /// `None`: the steady part was not reached.
    fn send_profiled(
        &mut self,
        plan: &LoadPlan,
        request: &ProfileRequest,
    ) -> Result<Result<Option<Profile>, RunError>, RunError> {
        let (begin, begun) = mpsc::channel();
        let is_over = &AtomicBool::new(false);
        let server = self.server.as_deref_mut().filter(|server| server.lost().is_none());
        let trial = self.trial + 1;
        let (outcome, (profile, lines)) = std::thread::scope(|scope| {
            let profiling = scope.spawn(move || match begun.recv() {
                Ok(()) => profile_server(server, request, is_over),
                // The load is over.
                Err(_) => (Ok(None), Vec::new()),
            });
            let mut link = Unrecorded { journal: self.journal, begin };
            let outcome = self.agent.load(trial, plan, &mut link);
            drop(link);
            is_over.store(true, Ordering::Relaxed);
            (outcome, profiling.join().expect("the profiler's thread does not panic"))
        });
        // The columns may have changed meanwhile.
        lines.into_iter().try_for_each(|line| self.journal.keep_server_series(line))?;
        let measured = outcome?.summary.measured;
        Ok(profile.map(|profile| {
            profile.map(|profile| Profile { requests_count: Some(measured.counts.ok), ..profile })
        }))
    }
}

/// Profiles the host of the server, which may be this one, until the load is over. Returns also what was read there meanwhile.
fn profile_server(
    server: Option<&mut RemoteAgent>,
    request: &ProfileRequest,
    is_over: &AtomicBool,
) -> (Result<Option<Profile>, RunError>, Vec<SeriesLine>) {
    let Some(server) = server else {
        let profile = take_profile(request, || !is_over.load(Ordering::Relaxed));
        return (profile.map(Some), Vec::new());
    };
    let mut link = UntilOver { is_over, lines: Vec::new() };
    let profile = server.profile(request.clone(), &mut link);
    let host = Some(server.host().to_owned());
    (profile.map(|profile| Some(Profile { host, ..profile })), link.lines)
}

/// The other side of a profile of the server's host.
struct UntilOver<'a> {
    is_over: &'a AtomicBool,
    lines: Vec<SeriesLine>,
}

impl AgentLink for UntilOver<'_> {
    fn notice(&mut self, notice: Notice) -> Result<(), RunError> {
        if let Notice::Series(line) = notice {
            self.lines.push(line);
        }
        Ok(())
    }

    fn tick(&mut self) -> Proceed {
        if self.is_over.load(Ordering::Relaxed) { Proceed::Stop } else { Proceed::Continue }
    }
}

/// The other side of the load: nothing is kept, and the beginning of the steady part is passed on. An interval is told of when it
/// has ended, and so is a phase with its first one: the end of the warm-up's interval is the first that is heard of it.
struct Unrecorded<'a, 'b> {
    journal: &'a mut super::RunJournal<'b>,
    begin: Sender<()>,
}

impl AgentLink for Unrecorded<'_, '_> {
    fn notice(&mut self, notice: Notice) -> Result<(), RunError> {
        if matches!(notice, Notice::Interval(..)) {
            // Nobody listens any more if it failed.
            let _ = self.begin.send(());
        }
        Ok(())
    }

    fn tick(&mut self) -> Proceed {
        self.journal.tick()
    }
}

/// The same load for a shorter time, without its probes: the rate of its last steady phase, after a short warm-up.
fn profiled_plan(plan: &LoadPlan) -> LoadPlan {
    let steady = plan.phases.iter().rev().find(|phase| phase.kind == PhaseKind::Steady);
    let rate_hz = steady.and_then(|phase| phase.rate_hz);
    let span = match steady.map(|phase| phase.end) {
        Some(PhaseEnd::After(span)) => span.min(PROFILE_MAX),
        Some(PhaseEnd::Requests(_)) | None => PROFILE_MAX,
    };
    let phase = |kind, span| PhasePlan { kind, rate_hz, end: PhaseEnd::After(span) };
    let phases = vec![phase(PhaseKind::Warmup, WARMUP), phase(PhaseKind::Steady, span)];
    LoadPlan { phases, probe: None, probes: Vec::new(), ..plan.clone() }
}

fn steady_span(plan: &LoadPlan) -> SpanNs {
    let last = plan.phases.last().map(|phase| phase.end);
    if let Some(PhaseEnd::After(span)) = last { span } else { PROFILE_MAX }
}
