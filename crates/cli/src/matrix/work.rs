//! Commands whose time a matrix measures.

use crate::args::{CommandTable, WorkTable};
use crate::experiment::command;
use anyhow::{Context, ensure};
use std::collections::BTreeSet;
use sysdyno_record::plan::PhaseEnd;
use sysdyno_record::units::SpanNs;
use sysdyno_record::work::{CacheChoice, CommandWork, WorkKind, WorkPlan};

const DEFAULT_TIMEOUT: SpanNs = SpanNs::from_secs(600);
const ROUNDS_MAX: u32 = 1000;
const COMMANDS_MAX: usize = 16;

/// The plan of a trial.
pub(super) fn plan(table: &WorkTable) -> anyhow::Result<WorkPlan> {
    let rounds = table.rounds.unwrap_or(1);
    ensure!((1..=ROUNDS_MAX).contains(&rounds), "it has {rounds} rounds: give 1 to {ROUNDS_MAX}");
    ensure!(table.commands.len() <= COMMANDS_MAX, "it has more than {COMMANDS_MAX} commands");
    let mut names = BTreeSet::new();
    for command in &table.commands {
        ensure!(names.insert(&command.name), "two of its commands have the name '{}'", command.name);
    }
    let commands = table.commands.iter().map(one).collect::<anyhow::Result<Vec<_>>>()?;
    let mut commands = commands.into_iter();
    let first = commands.next().context("its [work] has no [[work.command]]")?;
    Ok(WorkPlan {
        kind: WorkKind::Command(CommandWork { then: commands.collect(), ..first }),
        workers: 1,
        end: PhaseEnd::Requests(u64::from(rounds)),
        timeout: table.timeout.map_or(DEFAULT_TIMEOUT, |timeout| timeout.0),
        cache: CacheChoice::AsIs,
    })
}

fn one(table: &CommandTable) -> anyhow::Result<CommandWork> {
    super::check_name("a command", &table.name)?;
    let spec = |text: &String| command(text, false);
    Ok(CommandWork {
        name: Some(table.name.clone()),
        run: spec(&table.run)?,
        prepare: table.prepare.as_ref().map(spec).transpose()?,
        clean: table.clean.as_ref().map(spec).transpose()?,
        then: Vec::new(),
    })
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
