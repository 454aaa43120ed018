//! `sysdyno tune`: settings by hand, with the same safety as everywhere.

mod guard;
mod text;

use crate::args::{TuneArgs, TuneCommand};
use crate::exit::Exit;
use crate::here::program;
use crate::ui::Ui;
use anyhow::bail;
use std::path::PathBuf;
use sysdyno_record::change::SettingChange;
use sysdyno_record::units::SpanNs;
use sysdyno_run::RunError;
use sysdyno_run::agent::{Generator, Lasts, LocalAgent, TrialKind, TuneAnswer, TuneRequest, TuneTask};
use sysdyno_tune::{Phase, Recovery, StateFolder, TUNABLES, Terminal, Tunable, TuneError, TuneRoots};

/// Longest trial. It bounds for how long a forgotten one can stay.
const MAX_TRIAL: SpanNs = SpanNs::from_secs(24 * 3600);

pub fn tune(args: TuneArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let place = Place { root: args.root, state: args.state_dir, is_json: args.json };
    match args.command {
        TuneCommand::List { part, all } => list(part.as_deref(), all, place.is_json, ui),
        TuneCommand::Plan { changes } => place.ask(TuneTask::Plan { changes: parse(&changes)? }, ui),
        TuneCommand::Apply { changes, deadline } => place.ask(apply(&changes, deadline)?, ui),
        TuneCommand::Commit { id } => place.ask(TuneTask::Commit { id }, ui),
        TuneCommand::Undo { id, print_shell: true } => place.print_shell(id.as_deref(), ui),
        TuneCommand::Undo { id, print_shell: false } => place.ask(TuneTask::Undo { id }, ui),
        TuneCommand::Status => place.ask(TuneTask::List { which: TrialKind::Open }, ui),
        TuneCommand::History => place.ask(TuneTask::List { which: TrialKind::Over }, ui),
        TuneCommand::Persist { settings, remove: true } => place.ask(TuneTask::Forget { keys: settings }, ui),
        TuneCommand::Persist { settings, remove: false } => {
            place.ask(TuneTask::Persist { changes: parse(&settings)? }, ui)
        }
        TuneCommand::Recover => place.ask(TuneTask::Recover, ui),
        TuneCommand::Guard { id, terminal, terminal_uid } => {
            let terminal = terminal.zip(terminal_uid).map(|(path, uid)| Terminal { path, uid });
            guard::guard(place.root, place.state, id, terminal, ui)
        }
    }
}

/// Says so if a trial was left behind by a guardian that died. It costs one look into two folders.
pub fn remind(ui: &Ui) {
    let state = StateFolder::below(std::env::var_os("SYSDYNO_STATE_DIR").map(PathBuf::from).as_deref());
    let roots = TuneRoots::host();
    if state.unfinished(&roots).abandoned_count + sysdyno_tune::abandoned_count(&roots) > 0 {
        ui.note("warning: this host still has settings of a trial whose guardian died");
        ui.note("hint: `sysdyno tune recover` restores them");
    }
}

fn parse(changes: &[String]) -> anyhow::Result<Vec<SettingChange>> {
    Ok(changes.iter().map(|text| text.parse()).collect::<Result<_, _>>()?)
}

fn apply(changes: &[String], deadline: SpanNs) -> anyhow::Result<TuneTask> {
    if deadline > MAX_TRIAL {
        bail!(
            "cannot start a trial of {deadline}: the maximum is {MAX_TRIAL}\nhint: `sysdyno tune commit` \
             keeps its changes"
        );
    }
    let program = program()?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Ok(TuneTask::Apply { changes: parse(changes)?, deadline, program, version, lasts: Lasts::UntilDeadline })
}

/// Where settings and journals lie, and how answers are printed.
struct Place {
    root: PathBuf,
    state: Option<PathBuf>,
    is_json: bool,
}

impl Place {
    /// Has the agent do it, prints the answer, and says how it ended.
    fn ask(&self, task: TuneTask, ui: &Ui) -> anyhow::Result<Exit> {
        let request = TuneRequest { root: self.root.clone(), state: self.state.clone(), task };
        match LocalAgent::default().tune(request) {
            Ok(answer) => {
                match self.is_json {
                    true => ui.print_json(&document(&answer))?,
                    false => ui.print(&text::answer(&answer)),
                }
                Ok(exit(&answer))
            }
            Err(RunError::Tune(error)) => failed(&error, ui),
            Err(error) => Err(error.into()),
        }
    }

    fn print_shell(&self, id: Option<&str>, ui: &Ui) -> anyhow::Result<Exit> {
        let state = StateFolder::below(self.state.as_deref());
        match sysdyno_tune::undo_lines(&state, &TuneRoots::at(&self.root), id) {
            Ok(lines) => {
                ui.print(&lines.join("\n"));
                Ok(Exit::Done)
            }
            Err(error) => failed(&error, ui),
        }
    }
}

/// Prints an error of tuning with the exit code that is its own.
fn failed(error: &TuneError, ui: &Ui) -> anyhow::Result<Exit> {
    let exit = match error {
        TuneError::NotDurable { .. } => Exit::NotDurable,
        TuneError::Write { is_restored: false, .. } | TuneError::GuardianDied { is_restored: false, .. } => {
            Exit::NotRestored
        }
        _ => Exit::CannotRun,
    };
    ui.note(&format!("error: {error}"));
    Ok(exit)
}

fn exit(answer: &TuneAnswer) -> Exit {
    let is_dirty = |recoveries: &[Recovery]| recoveries.iter().any(|recovery| !recovery.is_clean());
    match answer {
        TuneAnswer::Recovered(recoveries) if is_dirty(recoveries) => Exit::NotRestored,
        _ => Exit::Done,
    }
}

fn document(answer: &TuneAnswer) -> serde_json::Value {
    match answer {
        TuneAnswer::Plan(plan) => serde_json::json!({ "plan": plan }),
        TuneAnswer::Nothing => serde_json::json!({ "held": null }),
        TuneAnswer::Held { id, plan, deadline } => {
            serde_json::json!({ "held": { "id": id, "deadline_ns": deadline, "plan": plan } })
        }
        TuneAnswer::Kept { id } => serde_json::json!({ "kept": { "id": id } }),
        TuneAnswer::Persisted(persisted) => serde_json::json!({ "persisted": persisted }),
        TuneAnswer::Recovered(recoveries) => serde_json::json!({ "recovered": recoveries }),
        TuneAnswer::Trials { trials, now_boot_ns } => {
            serde_json::json!({ "trials": trials, "now_boot_ns": now_boot_ns })
        }
    }
}

/// Settings that matter most often, in the order in which a request meets them.
const FIRST: [&str; 16] = [
    "net.core.somaxconn",
    "net.ipv4.tcp_max_syn_backlog",
    "listener.*.backlog",
    "process.*.nofile",
    "net.core.netdev_max_backlog",
    "netdev.*.rx-*.rps_cpus",
    "irq.*.cpus",
    "netdev.*.channels",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_congestion_control",
    "vm.swappiness",
    "vm.dirty_ratio",
    "thp.enabled",
    "block.*.scheduler",
];

fn list(part: Option<&str>, all: bool, is_json: bool, ui: &Ui) -> anyhow::Result<Exit> {
    if part.is_none() && !all && !is_json {
        ui.print(&first());
        return Ok(Exit::Done);
    }

    let is_meant = |tunable: &&Tunable| part.is_none_or(|part| tunable.id.contains(part));
    let found: Vec<&Tunable> = TUNABLES.iter().copied().flatten().filter(is_meant).collect();
    if found.is_empty() {
        bail!(
            "cannot find a setting with '{}' in its name\nhint: `sysdyno tune list` shows all",
            part.unwrap_or("")
        );
    }
    match is_json {
        true => ui.print_json(&found.into_iter().map(text::definition).collect::<Vec<_>>())?,
        false => ui.print(&found.into_iter().map(text::described).collect::<Vec<_>>().join("\n")),
    }
    Ok(Exit::Done)
}

/// The settings that matter most often, a line each, and how to see the others.
fn first() -> String {
    let all: Vec<&Tunable> = TUNABLES.iter().copied().flatten().collect();
    let known = FIRST.iter().filter_map(|id| all.iter().find(|tunable| tunable.id == *id));
    let lines: Vec<String> = known.map(|tunable| text::line(tunable)).collect();
    format!(
        "{}\n\n{} more: sysdyno tune list --all; by part of a name: sysdyno tune list tcp_\npreview a \
         change: sysdyno tune plan net.core.somaxconn=8192",
        lines.join("\n"),
        all.len() - lines.len()
    )
}

/// The word for a phase.
fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Applying => "begun",
        Phase::Held => "held",
        Phase::Kept => "committed",
        Phase::Undone => "undone",
        Phase::Unclean => "undone, except for settings that somebody else had changed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_first_is_there() {
        let all: Vec<&str> = TUNABLES.iter().copied().flatten().map(|tunable| tunable.id).collect();
        for id in FIRST {
            assert!(all.contains(&id), "{id}");
        }
        assert_eq!(first().lines().count(), FIRST.len() + 3);
    }
}
