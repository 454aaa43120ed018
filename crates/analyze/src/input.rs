//! What an analysis is made from, and how the trials are taken out of it.

use crate::outcome::TrialOutcome;
use crate::search::Search;
use crate::verdict::check_trial;
use crate::view::{ServerView, TrialView};
use std::collections::BTreeMap;
use sysdyno_record::analysis::Verdict;
use sysdyno_record::event::{Event, EventKind, WatchedProcess};
use sysdyno_record::facts::HostFacts;
use sysdyno_record::load::{Interval, LatencySet, LatencyWindow};
use sysdyno_record::plan::{Objective, Plan, RunPlan};
use sysdyno_record::probe::ProbeReply;
use sysdyno_record::series::Series;
use sysdyno_record::store::Trial;

/// One record, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct AnalyzeInput<'a> {
    /// What was to be done.
    pub plan: &'a Plan,
    /// The host.
    pub facts: &'a HostFacts,
    /// The trials, in the order in which they began.
    pub trials: &'a [Trial],
    /// All intervals, in order of time.
    pub intervals: &'a [Interval],
    /// Readings of the kernel.
    pub series: &'a Series,
    /// The server's host where it is another one; `None`: there is one host.
    pub server: Option<ServerView<'a>>,
    /// Marks on the time axis.
    pub events: &'a [Event],
    /// Operations of the probe; empty without one.
    pub probe: &'a [ProbeReply],
    /// Latency of the measured phases, by trial.
    pub latency: &'a BTreeMap<u32, LatencySet>,
    /// The same window by window; without it, intervals of percentiles are not known.
    pub latency_windows: &'a BTreeMap<u32, Vec<LatencyWindow>>,
}

/// The parts of a record that the views of its trials borrow from, sorted by trial.
pub(crate) struct Sorted {
    intervals: BTreeMap<u32, Vec<Interval>>,
    watched: Vec<WatchedProcess>,
    empty: LatencySet,
}

impl Sorted {
    pub(crate) fn new(input: &AnalyzeInput) -> Sorted {
        let mut intervals: BTreeMap<u32, Vec<Interval>> = BTreeMap::new();
        for interval in input.intervals {
            intervals.entry(interval.trial).or_default().push(interval.clone());
        }
        Sorted { intervals, watched: watched(input.events), empty: LatencySet::default() }
    }
}

/// Every process that was watched at some time, once.
fn watched(events: &[Event]) -> Vec<WatchedProcess> {
    let mut processes: Vec<WatchedProcess> = Vec::new();
    for event in events {
        if let EventKind::Watched(process) = &event.event
            && !processes.iter().any(|known| known.is_same(process))
        {
            processes.push(process.clone());
        }
    }
    processes
}

/// The trials that have ended, with what the checks say and what came of each.
pub(crate) struct Examined<'a> {
    pub(crate) views: Vec<TrialView<'a>>,
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) outcomes: Vec<TrialOutcome>,
    /// Trials that were cut off.
    pub(crate) cut_off: usize,
}

impl<'a> Examined<'a> {
    pub(crate) fn new(input: &AnalyzeInput<'a>, sorted: &'a Sorted) -> Examined<'a> {
        // That of `load` only sorts out its one trial.
        let objective = match input.plan {
            Plan::Run(run) => run.objective,
            Plan::Load(_) | Plan::Experiment(_) | Plan::Work(_) => Objective::default(),
        };
        let mut examined =
            Examined { views: Vec::new(), verdicts: Vec::new(), outcomes: Vec::new(), cut_off: 0 };
        for trial in input.trials {
            let Some(end) = &trial.end else {
                examined.cut_off += 1;
                continue;
            };
            let view = TrialView {
                begin: &trial.begin,
                end,
                intervals: sorted.intervals.get(&trial.begin.trial).map_or(&[], Vec::as_slice),
                series: input.series,
                facts: input.facts,
                server: input.server,
                watched: &sorted.watched,
                latency: input.latency.get(&trial.begin.trial).unwrap_or(&sorted.empty),
                events: input.events,
                probe: input.probe,
            };
            let verdict = check_trial(&view);
            examined.outcomes.push(TrialOutcome::of(&trial.begin, end, &verdict, &objective));
            examined.verdicts.push(verdict);
            examined.views.push(view);
        }
        examined
    }

    /// Whether a search with these outcomes had come to its end.
    pub(crate) fn is_finished(&self, plan: &RunPlan) -> bool {
        Search::with_outcomes(plan, self.outcomes.clone()).next().is_none()
            && !self.outcomes.iter().any(|outcome| outcome.is_interrupted)
    }

    /// Whether it ended because its time was up.
    pub(crate) fn is_out_of_time(&self, plan: &RunPlan) -> bool {
        Search::with_outcomes(plan, self.outcomes.clone()).is_out_of_time()
    }
}
