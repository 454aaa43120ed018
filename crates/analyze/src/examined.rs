//! The finished trials of a run, each with the results of its checks and its outcome.

use crate::early::EarlyStop;
use crate::outcome::TrialOutcome;
use crate::search::Search;
use crate::verdict::check_trial;
use crate::view::TrialView;
use std::collections::BTreeMap;
use sysdyno_record::analysis::Verdict;
use sysdyno_record::event::{Event, EventKind, WatchedProcess};
use sysdyno_record::facts::HostFacts;
use sysdyno_record::load::{Interval, LatencySet};
use sysdyno_record::plan::{Objective, Plan, RunPlan};
use sysdyno_record::view::RunView;

/// The parts of a record that the views of its trials borrow from, sorted by trial.
pub(crate) struct Sorted {
    intervals: BTreeMap<u32, Vec<Interval>>,
    early: BTreeMap<u32, EarlyStop>,
    watched: Vec<WatchedProcess>,
    facts: HostFacts,
    empty: LatencySet,
}

impl Sorted {
    pub(crate) fn new(run: &RunView) -> Sorted {
        let mut intervals: BTreeMap<u32, Vec<Interval>> = BTreeMap::new();
        for interval in run.intervals {
            intervals.entry(interval.trial).or_default().push(interval.clone());
        }
        let early = run.trials.iter().filter_map(|trial| {
            let number = trial.begin.trial;
            let own = intervals.get(&number).map_or(&[][..], Vec::as_slice);
            Some((number, EarlyStop::of(trial.end.as_ref()?, own)?))
        });
        Sorted {
            early: early.collect(),
            intervals,
            watched: watched(run.events),
            facts: run.facts.cloned().unwrap_or_default(),
            empty: LatencySet::default(),
        }
    }
}

/// Every process that was watched at some time, once, as it was known last.
pub(crate) fn watched(events: &[Event]) -> Vec<WatchedProcess> {
    let mut processes: Vec<WatchedProcess> = Vec::new();
    for event in events {
        let EventKind::Watched(process) = &event.event else { continue };
        match processes.iter_mut().find(|known| known.is_same(process)) {
            Some(known) => *known = process.clone(),
            None => processes.push(process.clone()),
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
    /// What a search had to meet.
    pub(crate) sought: Option<Objective>,
    early: &'a BTreeMap<u32, EarlyStop>,
}

impl<'a> Examined<'a> {
    pub(crate) fn new(run: &RunView<'a>, sorted: &'a Sorted) -> Examined<'a> {
        let sought = match run.plan {
            Some(Plan::Run(plan)) => Some(plan.objective),
            Some(
                Plan::Load(_)
                | Plan::Try(_)
                | Plan::Squeeze(_)
                | Plan::Work(_)
                | Plan::Probe(_)
                | Plan::Watch(_),
            )
            | None => None,
        };
        // That of `load` only sorts out its one trial.
        let objective = sought.unwrap_or_default();
        let mut examined = Examined {
            views: Vec::new(),
            verdicts: Vec::new(),
            outcomes: Vec::new(),
            cut_off: 0,
            sought,
            early: &sorted.early,
        };
        for trial in run.trials {
            let Some(end) = &trial.end else {
                examined.cut_off += 1;
                continue;
            };
            let view = TrialView {
                begin: &trial.begin,
                end,
                intervals: sorted.intervals.get(&trial.begin.trial).map_or(&[], Vec::as_slice),
                series: run.series,
                facts: &sorted.facts,
                server: run.server,
                watched: &sorted.watched,
                latency: run.latency.get(&trial.begin.trial).unwrap_or(&sorted.empty),
                events: run.events,
                probe: run.probe,
            };
            let verdict = check_trial(&view);
            examined.outcomes.push(TrialOutcome::of(&trial.begin, end, &verdict, &objective));
            examined.verdicts.push(verdict);
            examined.views.push(view);
        }
        examined
    }

    /// A trial as findings look at it: with its warm-up, if it was stopped in it.
    pub(crate) fn diagnosed(&self, index: usize) -> TrialView<'a> {
        let view = self.views[index];
        match self.early.get(&view.begin.trial) {
            Some(EarlyStop { end, intervals }) => TrialView { end, intervals, ..view },
            None => view,
        }
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
