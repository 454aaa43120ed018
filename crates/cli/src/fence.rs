//! The fence around this host: which lists there are, and the question that a terminal is asked once.

use crate::args::FenceOptions;
use crate::settings::SettingsFile;
use crate::ui::Ui;
use anyhow::{Context, anyhow, bail};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sysdyno_lab::AddressesBelow;
use sysdyno_load::target::Fence;
use sysdyno_plan::options::TargetOptions;
use sysdyno_record::plan::{LoadPlan, Plan};
use sysdyno_record::probe::ProbedTarget;
use sysdyno_record::route::AllowList;
use sysdyno_record::tryout::{Action, TryPlan};
use sysdyno_run::agent::{Fleet, LoadGuard, RemoteAgent};
use sysdyno_run::fence::{Goal, Parties, check};

/// Lists networks, as `[target] allow` does.
const VARIABLE: &str = "SYSDYNO_TARGET_ALLOW";

/// Names the state folder, as `--state-dir` does.
const STATE_VARIABLE: &str = "SYSDYNO_STATE_DIR";

/// What may be loaded, by the settings in `target`, the environment and the user's word; labs lie in a state folder.
pub fn guard(
    target: &TargetOptions,
    options: FenceOptions,
    state: Option<&Path>,
) -> anyhow::Result<LoadGuard> {
    let mut lists = target.allow.0.clone();
    lists.extend(list_of_environment()?);
    let fence = Fence { lists, is_target_mine: options.target_is_mine };
    let named = || std::env::var_os(STATE_VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    Ok(guard_with(fence, state.map(Path::to_owned).or_else(named)))
}

/// What this host may load for whoever has it send a part of a load: by its own lists.
pub fn guard_of_host(state: Option<PathBuf>) -> anyhow::Result<LoadGuard> {
    let mut lists = SettingsFile::read_system()?.target.allow.0;
    lists.extend(list_of_environment()?);
    Ok(guard_with(Fence { lists, is_target_mine: false }, state))
}

fn guard_with(fence: Fence, state: Option<PathBuf>) -> LoadGuard {
    LoadGuard { fence, labs: Some(Arc::new(AddressesBelow(state))) }
}

fn list_of_environment() -> anyhow::Result<Option<AllowList>> {
    let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else { return Ok(None) };
    let text = text.to_str().with_context(|| format!("cannot read {VARIABLE}: it is not UTF-8"))?;
    let read = |network: &str| {
        network.trim().parse().map_err(|error| anyhow!("cannot read {VARIABLE}: '{network}': {error}"))
    };
    let networks = text.split(',').map(read).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Some(AllowList { networks, source: VARIABLE.to_owned() }))
}

/// The hosts that have a part in a load, besides this process.
#[derive(Default)]
pub struct Others<'a> {
    /// Those that send it.
    pub fleet: Option<&'a mut Fleet>,
    /// That of the server, if it is read.
    pub server: Option<&'a mut RemoteAgent>,
}

/// Refuses goals that lie beyond the fence, and asks for the user's word where one takes it; a word that is given is kept.
pub fn pass(goals: &[Goal], guard: &mut LoadGuard, others: Others<'_>, ui: &Ui) -> anyhow::Result<()> {
    let Others { fleet, server } = others;
    let mut parties = Parties { guard, fleet, server };
    let mut asked: Vec<(&Goal, String)> = Vec::new();
    for goal in goals {
        let cause = check(goal, &mut parties)?;
        asked.extend(cause.map(|cause| (goal, cause)));
    }
    let Some((goal, cause)) = asked.first() else { return Ok(()) };
    let cannot = format!("cannot {} {}", goal.command, goal.target.url);
    let told =
        asked.iter().map(|(goal, cause)| format!("{}: {cause}\n", goal.target.url)).collect::<String>();
    match ui.ask(&format!("{told}Are you allowed to load it?"))? {
        Some(true) => guard.fence.is_target_mine = true,
        Some(false) => bail!("{cannot}: you are not allowed to"),
        None => bail!(
            "{cannot}: {cause}\nhint: if you are allowed to load it, add --target-is-mine, or list its \
             network in {VARIABLE} or under [target] allow in {}",
            crate::settings::SYSTEM_FILE
        ),
    }
    Ok(())
}

/// Where the loads of a plan and their probes go.
pub fn goals(plan: &Plan, command: &'static str) -> Vec<Goal> {
    match plan {
        Plan::Load(load) => load_goals(load, command),
        Plan::Run(run) => load_goals(&run.load, command),
        Plan::Try(tryout) => tryout_goals(tryout, command),
        Plan::Probe(plan) => plan.targets.iter().map(|probed| probe_goal(probed, command)).collect(),
        Plan::Squeeze(squeeze) => tryout_goals(&squeeze.tryout, command),
        Plan::Work(_) | Plan::Watch(_) => Vec::new(),
    }
}

fn load_goals(load: &LoadPlan, command: &'static str) -> Vec<Goal> {
    let own = Goal { command, target: load.target.clone(), sources: load.origin.sources.clone() };
    let probes = load.probes.iter().map(|probed| probe_goal(probed, command));
    std::iter::once(own).chain(probes).collect()
}

fn tryout_goals(plan: &TryPlan, command: &'static str) -> Vec<Goal> {
    let of_variant = |action: &Action| match action {
        Action::Target(target) => Some(Goal { command, target: (**target).clone(), sources: Vec::new() }),
        _ => None,
    };
    let base = plan.load().map_or_else(Vec::new, |load| load_goals(load, command));
    base.into_iter().chain(plan.variants.iter().filter_map(|variant| of_variant(&variant.action))).collect()
}

/// Where a probe goes.
pub fn probe_goal(probed: &ProbedTarget, command: &'static str) -> Goal {
    Goal { command, target: probed.target.clone(), sources: Vec::new() }
}
