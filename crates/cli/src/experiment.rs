//! From what was typed behind `try` to the plan of an experiment.

use crate::args::{
    Allow, CapacityOptions, ConnectionsOption, Effort, ExperimentFile, LoadOptions, MetricOption, SideTable,
    TargetOptions, TryArgs, TryOptions, WorkloadOptions,
};
use crate::plan;
use crate::values;
use crate::workload;
use anyhow::{Context, anyhow, bail, ensure};
use std::path::Path;
use sysdyno_analyze::experiment::{check_plan, default_guardrails, variants_of};
use sysdyno_record::experiment::{
    Action, CommandSpec, EnvironmentLimits, ExperimentPlan, Metric, PairCaps, RatePlan, SettingChange,
    Variant, Workload,
};
use sysdyno_record::plan::{Endpoint, LoadPlan};
use sysdyno_record::units::SpanNs;
use sysdyno_tune::Change;

const DEFAULT_BUDGET: SpanNs = SpanNs::from_secs(20 * 60);
const DEFAULT_WINDOW: SpanNs = SpanNs::from_secs(10);
/// Window of the loads of a search for capacity inside a trial.
const SEARCH_WINDOW: SpanNs = SpanNs::from_millis(1500);
const DEFAULT_SHARE: f64 = 0.70;
const PAIRS_MIN: u32 = 8;
const PAIRS_MAX: u32 = 40;
/// Most pairs that can be asked for: each has two trials, and a folder is read back with so many.
const PAIRS_LIMIT: u32 = 400;
/// Most changes that are tried one by one and together.
const CHANGES_MAX: usize = 6;

/// What is compared, before anything else is known.
struct Sides {
    /// The server under load; `None`: commands are compared.
    url: Option<String>,
    variants: Vec<Variant>,
    options: TryOptions,
    target: TargetOptions,
    is_calibration: bool,
}

/// The plan of what was typed, joined with what files set.
pub fn plan(
    args: &TryArgs,
    options: TryOptions,
    target: TargetOptions,
    urls: &WorkloadOptions,
) -> anyhow::Result<ExperimentPlan> {
    let sides = match &args.experiment {
        Some(path) => sides_of_file(path, options, target)?,
        None => sides_of_arguments(args, options, target)?,
    };
    plan_of(sides, urls)
}

/// The plan that tries changes of settings on a server.
pub fn of_changes(
    changes: &[String],
    url: &str,
    options: TryOptions,
    target: TargetOptions,
) -> anyhow::Result<ExperimentPlan> {
    let variants = variants_of(&settings(changes, url)?);
    let sides = Sides { url: Some(url.to_owned()), variants, options, target, is_calibration: false };
    plan_of(sides, &WorkloadOptions::default())
}

fn plan_of(sides: Sides, urls: &WorkloadOptions) -> anyhow::Result<ExperimentPlan> {
    let metric = metric(&sides)?;
    let rate = rate(metric, &sides)?;
    let workload = workload_of(&sides, metric, urls)?;
    let seed = match &workload {
        Workload::Load(load) => load.seed,
        Workload::Capacity(run) => run.seed,
        Workload::Commands => sides.target.seed.unwrap_or_else(plan::draw_seed),
    };
    let options = &sides.options;
    let plan = ExperimentPlan {
        variants: with_targets(sides.variants, workload_load(&workload))?,
        metric,
        effect_ratio: options.effect.map_or_else(|| metric.default_margin(), |effect| effect.0),
        guardrails: default_guardrails(metric, rate),
        seed,
        pairs: pairs(options, sides.is_calibration)?,
        budget: options.budget.map_or(DEFAULT_BUDGET, |budget| budget.0),
        window: match &workload {
            Workload::Load(_) => options.window.map_or(DEFAULT_WINDOW, |window| window.0),
            Workload::Capacity(run) => run.search.window,
            Workload::Commands => SpanNs(0),
        },
        warmup: options.warmup.map(|warmup| warmup.0),
        rate,
        limits: if options.noisy == Some(true) { EnvironmentLimits::NOISY } else { EnvironmentLimits::QUIET },
        is_calibration: sides.is_calibration,
        keeps_better: options.keep == Some(true),
        watch_pids: sides.target.watch_pid.clone(),
        sampling_hz: plan::SAMPLING_HZ,
        workload,
    };
    let known_hz = if let RatePlan::Fixed(rate_hz) = rate { Some(rate_hz) } else { None };
    check_plan(&plan, known_hz)?;
    Ok(plan)
}

fn sides_of_arguments(args: &TryArgs, options: TryOptions, target: TargetOptions) -> anyhow::Result<Sides> {
    let is_calibration = options.calibrate == Some(true);
    let variant = |name: &str, action| Variant { name: name.into(), action };
    let sides = |url, variants| Sides { url, variants, options, target, is_calibration };
    if let (Some(a), Some(b)) = (&args.command_a, &args.command_b) {
        let b = if is_calibration { a } else { b };
        let variants = vec![
            variant("A", Action::Command(command(a, args.shell)?)),
            variant("B", Action::Command(command(b, args.shell)?)),
        ];
        return Ok(sides(None, variants));
    }
    match (args.servers.as_slice(), args.changes.as_slice()) {
        ([], _) => bail!(
            "cannot try anything: no server to load\nhint: give its URL after '--', such as sysdyno try \
             'net.core.somaxconn=4096' -- http://127.0.0.1/"
        ),
        ([url], []) if is_calibration => {
            let same = vec![variant("A", Action::AsItIs), variant("B", Action::AsItIs)];
            Ok(sides(Some(url.clone()), same))
        }
        ([_], []) => bail!("cannot try nothing: give a change, a second URL, or --calibrate"),
        ([_], _) | ([_, _], _) if is_calibration => {
            bail!("cannot combine --calibrate with a change")
        }
        ([url], changes) => {
            let changes = settings(changes, url)?;
            ensure!(
                changes.len() <= CHANGES_MAX,
                "cannot try {} changes: the maximum is {CHANGES_MAX}",
                changes.len()
            );
            Ok(sides(Some(url.clone()), variants_of(&changes)))
        }
        ([a, b], []) => {
            let url = |url: &str| SideTable { url: Some(url.into()), ..SideTable::default() };
            let variants = vec![variant("A", action(&url(a), a)?), variant("B", action(&url(b), a)?)];
            Ok(sides(Some(a.clone()), variants))
        }
        _ => bail!("cannot compare two servers and change a setting at the same time"),
    }
}

fn sides_of_file(path: &Path, options: TryOptions, target: TargetOptions) -> anyhow::Result<Sides> {
    use crate::settings::Combine;
    let cannot = || format!("cannot read experiment '{}'", path.display());
    let text = crate::file::read(path).with_context(cannot)?;
    let file: ExperimentFile = toml::from_str(&text).with_context(cannot)?;
    check_no_fence(&file.target).with_context(cannot)?;
    let url = file.url.clone().or_else(|| file.a.url.clone());
    let base = url.clone().unwrap_or_default();
    let variant = |name: &str, side: &SideTable| {
        Ok::<Variant, anyhow::Error>(Variant {
            name: name.into(),
            action: action(side, &base).with_context(cannot)?,
        })
    };
    let variants = vec![variant("A", &file.a)?, variant("B", &file.b)?];
    let is_command = |variant: &&Variant| matches!(variant.action, Action::Command(_));
    match variants.iter().filter(is_command).count() {
        0 => ensure!(url.is_some(), "{}: it has no url to load", cannot()),
        1 => bail!("{}: a command can only be compared with a command", cannot()),
        _ => {}
    }
    let options = options.or(file.options);
    ensure!(
        options.calibrate == Some(true) || variants[0].action != variants[1].action,
        "{}: A and B are the same\nhint: --calibrate compares the host with itself",
        cannot()
    );
    let is_calibration = options.calibrate == Some(true);
    let commands = variants.iter().any(|variant| is_command(&variant));
    Ok(Sides {
        url: url.filter(|_| !commands),
        variants,
        options,
        target: target.or(file.target),
        is_calibration,
    })
}

/// Refuses a fence in a file that says what is loaded.
pub fn check_no_fence(target: &TargetOptions) -> anyhow::Result<()> {
    ensure!(target.allow == Allow::default(), "'allow' can only be set in sysdyno.toml, not in experiments");
    Ok(())
}

/// What one side does, of which it may say one thing.
fn action(side: &SideTable, url: &str) -> anyhow::Result<Action> {
    let given = usize::from(!side.settings.is_empty())
        + [&side.command, &side.prepare, &side.url].into_iter().flatten().count();
    ensure!(given <= 1, "a side has one of settings, command, prepare, or url");
    if !side.settings.is_empty() {
        return Ok(Action::Settings(settings(&side.settings, url)?));
    }
    if let Some(text) = &side.command {
        return Ok(Action::Command(command(text, false)?));
    }
    if let Some(text) = &side.prepare {
        return Ok(Action::Prepare(command(text, false)?));
    }
    match &side.url {
        Some(url) => Ok(Action::Target(Box::new(sysdyno_load::target::resolve(url)?))),
        None => Ok(Action::AsItIs),
    }
}

/// The words of a command: quotes group, nothing else has a meaning.
pub fn command(text: &str, has_shell: bool) -> anyhow::Result<CommandSpec> {
    let words = match has_shell {
        true => vec!["/bin/sh".to_owned(), "-c".to_owned(), text.to_owned()],
        false => shlex::split(text)
            .with_context(|| format!("cannot read command '{text}': a quote is not closed"))?,
    };
    ensure!(!words.is_empty(), "cannot run an empty command");
    Ok(CommandSpec { text: text.to_owned(), words })
}

/// Settings as typed; `listener.backlog` is that of the port of the URL.
pub fn settings(changes: &[String], url: &str) -> anyhow::Result<Vec<SettingChange>> {
    let read = |text: &String| {
        let change = text.parse::<Change>().map_err(|refusal| anyhow!("{refusal}"))?;
        let key = match change.key.as_str() {
            "listener.backlog" => format!("listener.{}.backlog", port(url)?),
            key => key.to_owned(),
        };
        Ok(SettingChange { key, value: change.value })
    };
    changes.iter().map(read).collect()
}

fn port(url: &str) -> anyhow::Result<u16> {
    match sysdyno_load::target::resolve(url)?.endpoint {
        Endpoint::Tcp(address) => Ok(address.port()),
        Endpoint::Unix(_) => bail!("cannot change the backlog of a Unix socket"),
    }
}

fn metric(sides: &Sides) -> anyhow::Result<Metric> {
    let has_commands = sides.url.is_none();
    let default = if has_commands { MetricOption::Time } else { MetricOption::Cpu };
    let chosen = sides.options.metric.unwrap_or(default);
    let is_of_command = matches!(chosen, MetricOption::Time | MetricOption::CpuTime);
    ensure!(
        is_of_command == has_commands,
        "cannot decide by '{}': {}",
        Metric::from(chosen).name(),
        if has_commands { "commands only have time and cpu-time" } else { "only commands have it" }
    );
    Ok(chosen.into())
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

fn workload_of(sides: &Sides, metric: Metric, urls: &WorkloadOptions) -> anyhow::Result<Workload> {
    let Some(url) = &sides.url else { return Ok(Workload::Commands) };
    let options = &sides.options;
    if metric == Metric::Capacity {
        let capacity = CapacityOptions {
            effort: Some(Effort::Quick),
            connections: options.connections.map(ConnectionsOption::Pool),
            window: Some(options.window.unwrap_or(crate::args::Typed(SEARCH_WINDOW))),
            arrival: options.arrival,
            ..CapacityOptions::default()
        };
        let mut run = plan::run(url, &capacity, &sides.target)?;
        // Pairs are the repetitions: one pass over the grid, and nothing is certified.
        (run.search.grid_replicates, run.search.certify_passes) = (1, 0);
        workload::add(&mut run.load, urls)?;
        values::add(&mut run.load)?;
        return Ok(Workload::Capacity(Box::new(run)));
    }
    let load = LoadOptions {
        connections: options.connections,
        rate: options.rate,
        arrival: options.arrival.filter(|_| options.rate.is_some()),
        ..LoadOptions::default()
    };
    let mut load = plan::load(url, &load, &sides.target)?;
    if let Some(arrival) = options.arrival {
        load.arrival = arrival.into();
    }
    workload::add(&mut load, urls)?;
    values::add(&mut load)?;
    Ok(Workload::Load(Box::new(load)))
}

fn workload_load(workload: &Workload) -> Option<&LoadPlan> {
    match workload {
        Workload::Load(load) => Some(load),
        Workload::Capacity(run) => Some(&run.load),
        Workload::Commands => None,
    }
}

/// Checks that what B changes can be loaded at all.
fn with_targets(variants: Vec<Variant>, load: Option<&LoadPlan>) -> anyhow::Result<Vec<Variant>> {
    let has_target = |variant: &Variant| matches!(variant.action, Action::Target(_));
    ensure!(
        load.is_none_or(|load| load.workload.operations.is_empty()) || !variants.iter().any(has_target),
        "cannot compare two servers with a list of URLs: the list names its own server"
    );
    Ok(variants)
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
