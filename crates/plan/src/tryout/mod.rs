//! Turns the arguments of `try`, or its file, into a plan.

mod sides;

use crate::draft::{BaseDraft, Checked};
use crate::host::PlanHost;
use crate::load::LoadDraft;
use crate::options::{
    CapacityOptions, ConnectionsOption, Effort, LoadOptions, TargetOptions, TryOptions, Typed,
    WorkloadOptions,
};
use crate::request::SAMPLING_HZ;
use crate::search::{SearchDraft, SearchUse};
use anyhow::ensure;
use sides::Sides;
use std::path::PathBuf;
use sysdyno_analyze::tryout::{check_plan, default_guardrails};
use sysdyno_record::tryout::{
    Action, EnvironmentLimits, Metric, PairCaps, RatePlan, TryPlan, TryWorkload, Variant,
};
use sysdyno_record::units::SpanNs;

const DEFAULT_BUDGET: SpanNs = SpanNs::from_secs(20 * 60);
const DEFAULT_WINDOW: SpanNs = SpanNs::from_secs(10);
/// Window of the loads of a search for capacity inside a trial.
const SEARCH_WINDOW: SpanNs = SpanNs::from_millis(1500);
const DEFAULT_SHARE: f64 = 0.70;
const PAIRS_MIN: u32 = 8;
const PAIRS_MAX: u32 = 40;
/// Most pairs that can be asked for: each has two trials, and a folder is read back with so many.
const PAIRS_LIMIT: u32 = 400;

/// The options of a trial of changes.
#[derive(Clone, Debug, Default)]
pub struct TryDraft {
    /// Settings and what B makes of them, as `KEY=VALUE`.
    pub changes: Vec<String>,
    /// The server under load; of two, the second is B.
    pub servers: Vec<String>,
    /// Commands that are A and B; `None`: none was typed.
    pub commands: Option<[String; 2]>,
    /// The command that is timed under A and B; `None`: none was typed.
    pub command: Option<TimedCommand>,
    /// Whether a shell reads these commands.
    pub has_shell: bool,
    /// The file that says what A and B are, instead of all that.
    pub file: Option<PathBuf>,
    /// How it goes.
    pub options: TryOptions,
    /// The request and its response.
    pub target: TargetOptions,
    /// What is sent instead of one request.
    pub workload: WorkloadOptions,
}

/// A command that is timed, and those around it.
#[derive(Clone, Debug, Default)]
pub struct TimedCommand {
    /// The command.
    pub run: String,
    /// What runs before each of its runs.
    pub prepare: Option<String>,
    /// What runs after each of its runs.
    pub clean: Option<String>,
}

impl TryDraft {
    /// The plan.
    ///
    /// # Errors
    /// Whatever is wrong with the options, or with the files that they name.
    pub fn finish(&self, here: &dyn PlanHost) -> anyhow::Result<Checked<TryPlan>> {
        let sides = match &self.file {
            Some(path) => sides::of_file(path, self)?,
            None => sides::of_arguments(self)?,
        };
        let metric = metric(&sides)?;
        let rate = rate(metric, &sides)?;
        let Checked { plan: workload, notes } = workload(&sides, metric, &self.workload, here)?;
        let plan = plan(sides, (metric, rate), workload, here)?;
        check_targets(&plan)?;
        let known_hz = if let RatePlan::Fixed(rate_hz) = rate { Some(rate_hz) } else { None };
        check_plan(&plan, known_hz)?;
        Ok(Checked { plan, notes })
    }
}

fn plan(
    sides: Sides,
    (metric, rate): (Metric, RatePlan),
    workload: TryWorkload,
    here: &dyn PlanHost,
) -> anyhow::Result<TryPlan> {
    let seed = match &workload {
        TryWorkload::Load(load) => load.seed,
        TryWorkload::Capacity(run) => run.seed,
        TryWorkload::Commands => sides.target.seed.unwrap_or_else(|| here.seed()),
    };
    let options = &sides.options;
    Ok(TryPlan {
        command: sides.command,
        variants: sides.variants,
        contrasts: Vec::new(),
        metric,
        effect_ratio: options.effect.map_or_else(|| metric.default_margin(), |effect| effect.0),
        guardrails: default_guardrails(metric, rate),
        seed,
        pairs: pairs(options, sides.is_calibration)?,
        budget: options.budget.map_or(DEFAULT_BUDGET, |budget| budget.0),
        window: match &workload {
            TryWorkload::Load(_) => options.window.map_or(DEFAULT_WINDOW, |window| window.0),
            TryWorkload::Capacity(run) => run.search.window,
            TryWorkload::Commands => SpanNs(0),
        },
        warmup: options.warmup.map(|warmup| warmup.0),
        rate,
        limits: if options.noisy == Some(true) { EnvironmentLimits::NOISY } else { EnvironmentLimits::QUIET },
        is_calibration: sides.is_calibration,
        keeps_better: options.keep == Some(true),
        watch_pids: sides.target.watch_pid.clone(),
        sampling_hz: SAMPLING_HZ,
        workload,
    })
}

fn metric(sides: &Sides) -> anyhow::Result<Metric> {
    let has_commands = sides.url.is_none();
    let default = if has_commands { Metric::Time } else { Metric::Cpu };
    let chosen = sides.options.metric.map_or(default, |word| word.0);
    let is_of_command = matches!(chosen, Metric::Time | Metric::CpuTime);
    ensure!(
        is_of_command == has_commands,
        "cannot decide by '{}': {}",
        chosen.name(),
        if has_commands { "commands only have time and cpu-time" } else { "only commands have it" }
    );
    Ok(chosen)
}

fn rate(metric: Metric, sides: &Sides) -> anyhow::Result<RatePlan> {
    let options = &sides.options;
    let is_rated = !matches!(metric, Metric::Capacity | Metric::Time | Metric::CpuTime);
    ensure!(
        is_rated || options.rate.is_none() && options.share.is_none(),
        "cannot set a rate for metric '{}'",
        metric.name()
    );
    Ok(match (metric, options.rate, options.share) {
        _ if !is_rated => RatePlan::NotApplicable,
        (_, Some(rate), _) => RatePlan::Fixed(rate.0.0),
        (_, None, Some(share)) => RatePlan::ShareOfPilot(share.0),
        (Metric::Goodput, None, None) => RatePlan::Closed,
        _ => RatePlan::ShareOfPilot(DEFAULT_SHARE),
    })
}

/// What a trial sends.
fn workload(
    sides: &Sides,
    metric: Metric,
    urls: &WorkloadOptions,
    here: &dyn PlanHost,
) -> anyhow::Result<Checked<TryWorkload>> {
    let Some(url) = &sides.url else {
        return Ok(Checked { plan: TryWorkload::Commands, notes: Vec::new() });
    };
    let options = &sides.options;
    let (target, workload) = (sides.target.clone(), urls.clone());
    let draft = BaseDraft { url: url.clone(), target, workload, ..BaseDraft::default() };
    if metric == Metric::Capacity {
        let capacity = CapacityOptions {
            effort: Some(Effort::Quick),
            connections: options.connections.map(ConnectionsOption::Pool),
            window: Some(options.window.unwrap_or(Typed(SEARCH_WINDOW))),
            arrival: options.arrival,
            ..CapacityOptions::default()
        };
        let search = SearchDraft { draft, capacity, used: SearchUse::Paired, ..SearchDraft::default() };
        let Checked { plan, notes } = search.finish(here)?;
        return Ok(Checked { plan: TryWorkload::Capacity(Box::new(plan)), notes });
    }
    let load = LoadOptions {
        connections: options.connections,
        rate: options.rate,
        arrival: options.arrival.filter(|_| options.rate.is_some()),
        ..LoadOptions::default()
    };
    let Checked { mut plan, notes } = LoadDraft { draft, load, ..LoadDraft::default() }.finish(here)?;
    if let Some(arrival) = options.arrival {
        plan.arrival = arrival.0;
    }
    Ok(Checked { plan: TryWorkload::Load(Box::new(plan)), notes })
}

/// Checks that what B changes can be loaded at all.
fn check_targets(plan: &TryPlan) -> anyhow::Result<()> {
    let has_target = |variant: &Variant| matches!(variant.action, Action::Target(_));
    ensure!(
        plan.load().is_none_or(|load| load.workload.operations.is_empty())
            || !plan.variants.iter().any(has_target),
        "cannot compare two servers with a list of URLs: the list names its own server"
    );
    Ok(())
}

fn pairs(options: &TryOptions, is_calibration: bool) -> anyhow::Result<PairCaps> {
    let default = if is_calibration { PAIRS_MIN } else { PAIRS_MAX };
    let max_count = options.pairs.unwrap_or(default);
    ensure!(
        (PAIRS_MIN..=PAIRS_LIMIT).contains(&max_count),
        "cannot measure {max_count} pairs: use {PAIRS_MIN} to {PAIRS_LIMIT}"
    );
    Ok(PairCaps { min_count: PAIRS_MIN, max_count })
}
