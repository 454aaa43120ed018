//! Turns options into the plan of a search for the capacity.

use crate::draft::{BaseDraft, Checked, checks};
use crate::host::PlanHost;
use crate::options::{CapacityOptions, ConnectionsOption, Effort, NeedOptions, ProveOptions};
use crate::request::{LoadShape, SAMPLING_HZ};
use crate::{spread, workload};
use sysdyno_analyze::search::Search;
use sysdyno_record::plan::{
    Arrival, Objective, PhaseEnd, PhaseKind, PhasePlan, RunPlan, SearchMethod, SearchPlan,
};
use sysdyno_record::units::SpanNs;

const DEFAULT_POOL: u32 = 256;

/// A quick search takes this many times as long as was said before it, at most.
const QUICK_OVERTIME: f64 = 1.25;

/// The options of a search.
#[derive(Clone, Debug, Default)]
pub struct SearchDraft {
    /// What all loads have.
    pub draft: BaseDraft,
    /// How the capacity is looked for.
    pub capacity: CapacityOptions,
    /// Real traffic that the capacity is held against.
    pub need: NeedOptions,
    /// How its findings are tried.
    pub prove: ProveOptions,
    /// What its answer is used for.
    pub used: SearchUse,
}

/// What the answer of a search is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchUse {
    /// It stands for itself: a quick search is held to the time that is said before it.
    #[default]
    Alone,
    /// It is compared with other searches, which have to end at the same stage, however long that takes.
    Compared,
    /// It is one trial of a pair: pairs are the repetitions, so one pass over the grid does, and nothing is certified.
    Paired,
}

impl SearchDraft {
    /// The plan.
    ///
    /// # Errors
    /// Whatever is wrong with the options, or with the files that they name.
    pub fn finish(&self, here: &dyn PlanHost) -> anyhow::Result<Checked<RunPlan>> {
        let capacity = &self.capacity;
        let (connections, search) = self.search();
        let arrival = capacity.arrival.map_or(Arrival::Poisson, |word| word.0);
        let end = PhaseEnd::After(search.window);
        let phases = vec![PhasePlan { kind: PhaseKind::Steady, rate_hz: Some(1.0), end }];
        let fail_if = checks(&capacity.fail_if, true)?;
        let need = workload::need(&self.need)?.map(Box::new);
        let load = self.draft.finish(LoadShape { arrival, connections, phases }, here, |_| {
            spread::check_points(&search.method, &self.draft.servers.load_from)
        })?;
        let mut plan = RunPlan {
            objective: capacity.objective.map_or_else(Objective::default, |option| option.0),
            search,
            watch_pids: self.draft.target.watch_pid.clone(),
            sampling_hz: SAMPLING_HZ,
            seed: load.plan.seed,
            fail_if,
            need,
            prove: self.prove.plan(),
            load: load.plan,
        };
        if self.used == SearchUse::Alone && capacity.effort.unwrap_or_default() == Effort::Quick {
            let expected_s = Search::new(&plan).remaining().seconds();
            plan.search.limit = Some(SpanNs((QUICK_OVERTIME * expected_s * 1e9) as u64));
        }
        Ok(Checked { plan, notes: load.notes })
    }

    /// Connections and stages of the search.
    fn search(&self) -> (u32, SearchPlan) {
        let capacity = &self.capacity;
        let chosen = capacity.connections.clone().unwrap_or(ConnectionsOption::Pool(DEFAULT_POOL));
        let (connections, method) = match chosen {
            ConnectionsOption::Pool(pool) => (pool, SearchMethod::OfferedRate),
            ConnectionsOption::Curve(points) => {
                (points.last().copied().unwrap_or(1), SearchMethod::Connections(points))
            }
        };
        let base = effort(capacity.effort.unwrap_or_default());
        let is_paired = self.used == SearchUse::Paired;
        let search = SearchPlan {
            method,
            max_rate_hz: capacity.max_rate.map(|rate| rate.0.0),
            window: capacity.window.map_or(base.window, |window| window.0),
            grid_replicates: if is_paired { 1 } else { base.grid_replicates },
            certify_passes: if is_paired { 0 } else { base.certify_passes },
            ..base
        };
        (connections, search)
    }
}

/// The search of an effort; windows and counts of `Thorough` are those of the method's proof runs.
fn effort(effort: Effort) -> SearchPlan {
    let plan = |probe_ms, window_ms, warmup_ms, grid: [u32; 2], certify_passes| SearchPlan {
        method: SearchMethod::OfferedRate,
        probe: SpanNs::from_millis(probe_ms),
        window: SpanNs::from_millis(window_ms),
        warmup: SpanNs::from_millis(warmup_ms),
        grid_rates: grid[0],
        grid_replicates: grid[1],
        certify_passes,
        max_rate_hz: None,
        limit: None,
    };
    match effort {
        Effort::Quick => plan(1_500, 2_500, 500, [4, 2], 1),
        Effort::Standard => plan(3_000, 8_000, 1_000, [5, 3], 3),
        Effort::Thorough => plan(10_000, 30_000, 3_000, [5, 3], 5),
    }
}
