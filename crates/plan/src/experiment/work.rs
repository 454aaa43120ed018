//! Commands whose time an experiment measures.

use super::combination::check_name;
use crate::command::command;
use crate::host::PlanHost;
use crate::options::{CommandTable, LevelTable, WorkTable};
use anyhow::{Context, ensure};
use std::collections::BTreeSet;
use sysdyno_record::command::CommandSpec;
use sysdyno_record::plan::PhaseEnd;
use sysdyno_record::units::SpanNs;
use sysdyno_record::work::{CacheChoice, CommandWork, ServiceCounter, WorkKind, WorkPlan};

const DEFAULT_TIMEOUT: SpanNs = SpanNs::from_secs(600);
const ROUNDS_MAX: u32 = 1000;
const COMMANDS_MAX: usize = 16;

/// Most texts that are looked for in the output of a command, of each kind, and the longest of them. Unit: bytes.
const TEXTS_MAX: usize = 16;
const TEXT_MAX: usize = 1000;

/// The placeholder for this program in a command.
const ITSELF: &str = "{{sysdyno}}";

/// What levels say of the commands, in the place of what the file says.
pub(super) fn merged(file: &WorkTable, parts: &[&LevelTable]) -> anyhow::Result<WorkTable> {
    let levels = || parts.iter().filter_map(|part| part.work.clone());
    ensure!(
        levels().filter(|level| !level.commands.is_empty()).count() <= 1,
        "two of its levels have commands"
    );
    Ok(levels().fold(file.clone(), |base, level| WorkTable {
        rounds: level.rounds.or(base.rounds),
        timeout: level.timeout.or(base.timeout),
        counter: level.counter.or(base.counter),
        remount: level.remount.or(base.remount),
        commands: if level.commands.is_empty() { base.commands } else { level.commands },
    }))
}

/// The plan of a trial.
pub(super) fn plan(table: &WorkTable, here: &dyn PlanHost) -> anyhow::Result<WorkPlan> {
    let rounds = table.rounds.unwrap_or(1);
    ensure!((1..=ROUNDS_MAX).contains(&rounds), "it has {rounds} rounds: use 1 to {ROUNDS_MAX}");
    ensure!(table.commands.len() <= COMMANDS_MAX, "it has more than {COMMANDS_MAX} commands");
    let mut names = BTreeSet::new();
    for command in &table.commands {
        ensure!(names.insert(&command.name), "two of its commands have the name '{}'", command.name);
    }
    let commands =
        table.commands.iter().map(|command| one(command, here)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut commands = commands.into_iter();
    let first = commands.next().context("its [work] has no [[work.command]]")?;
    Ok(WorkPlan {
        kind: WorkKind::Command(Box::new(CommandWork { then: commands.collect(), ..first })),
        workers: 1,
        end: PhaseEnd::Requests(u64::from(rounds)),
        timeout: table.timeout.map_or(DEFAULT_TIMEOUT, |timeout| timeout.0),
        cache: CacheChoice::AsIs,
        remounts: table.remount.unwrap_or(false),
        counter: table.counter.as_deref().map(counter).transpose()?,
    })
}

/// `SERVICE.COUNTER`.
fn counter(text: &str) -> anyhow::Result<ServiceCounter> {
    let (service, metric) = text.split_once('.').with_context(|| {
        format!("cannot count operations by '{}': write SERVICE.COUNTER", text.escape_debug())
    })?;
    Ok(ServiceCounter { service: service.to_owned(), metric: metric.to_owned() })
}

fn one(table: &CommandTable, here: &dyn PlanHost) -> anyhow::Result<CommandWork> {
    check_name("a command", &table.name)?;
    for texts in [&table.expect_output, &table.reject_output] {
        let is_good = |text: &String| !text.is_empty() && text.len() <= TEXT_MAX;
        ensure!(
            texts.len() <= TEXTS_MAX && texts.iter().all(is_good),
            "command '{}' expects too many texts, or one that is empty or too long",
            table.name
        );
    }
    let spec = |text: &String| naming_itself(text, here);
    Ok(CommandWork {
        name: Some(table.name.clone()),
        run: spec(&table.run)?,
        prepare: table.prepare.as_ref().map(spec).transpose()?,
        clean: table.clean.as_ref().map(spec).transpose()?,
        expect_output: table.expect_output.clone(),
        reject_output: table.reject_output.clone(),
        then: Vec::new(),
    })
}

/// A command in which this program may be named.
fn naming_itself(text: &str, here: &dyn PlanHost) -> anyhow::Result<CommandSpec> {
    let mut spec = command(text, false)?;
    if spec.words.iter().any(|word| word.contains(ITSELF)) {
        let program = here.program()?;
        let program = program.to_str().context("the path of this program is not UTF-8")?;
        spec.words.iter_mut().for_each(|word| *word = word.replace(ITSELF, program));
    }
    Ok(spec)
}

/// All texts of a plan in which places of services may stand.
pub(super) fn texts(plan: &WorkPlan) -> Vec<&str> {
    let WorkKind::Command(command) = &plan.kind else { return Vec::new() };
    let specs = command.round().flat_map(|one| [Some(&one.run), one.prepare.as_ref(), one.clean.as_ref()]);
    specs.flatten().flat_map(|spec| &spec.words).map(String::as_str).collect()
}

/// The plan with its words changed.
pub fn with_words<E>(plan: &WorkPlan, change: &dyn Fn(&str) -> Result<String, E>) -> Result<WorkPlan, E> {
    let mut plan = plan.clone();
    if let WorkKind::Command(command) = &mut plan.kind {
        fill(command, change)?;
    }
    Ok(plan)
}

fn fill<E>(command: &mut CommandWork, change: &dyn Fn(&str) -> Result<String, E>) -> Result<(), E> {
    let specs = [Some(&mut command.run), command.prepare.as_mut(), command.clean.as_mut()];
    for word in specs.into_iter().flatten().flat_map(|spec| &mut spec.words) {
        *word = change(word)?;
    }
    command.then.iter_mut().try_for_each(|other| fill(other, change))
}
