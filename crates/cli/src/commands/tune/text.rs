//! Settings, plans and trials as text.

use std::fmt::Write;
use sysdyno_record::units::SpanNs;
use sysdyno_report::escape;
use sysdyno_run::agent::TuneAnswer;
use sysdyno_tune::{
    Persisted, PlannedChange, Recovery, Restored, SettingsTrial, Tunable, TunePlan, UndoOutcome,
};

/// Longest value that is shown. Unit: characters.
const MAX_VALUE: usize = 80;

/// An answer as text.
pub(super) fn answer(answer: &TuneAnswer) -> String {
    match answer {
        TuneAnswer::Plan(plan) => planned(plan),
        TuneAnswer::Nothing => "all settings already have these values; nothing was changed".into(),
        TuneAnswer::Held { id, plan, deadline } => held(id, plan, *deadline),
        TuneAnswer::Kept { id } => {
            format!("{id} is kept until the next boot\nundo: sysdyno tune undo {id}")
        }
        TuneAnswer::Persisted(kept) => persisted(kept),
        TuneAnswer::Recovered(recoveries) if recoveries.is_empty() => "nothing to recover".into(),
        TuneAnswer::Recovered(recoveries) => lines(recoveries.iter().map(recovered)),
        TuneAnswer::Trials { trials, .. } if trials.is_empty() => "no trials".into(),
        TuneAnswer::Trials { trials, now_boot_ns } => {
            lines(trials.iter().map(|trial| summary(trial, *now_boot_ns)))
        }
    }
}

fn lines(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join("\n")
}

fn shown(text: &str) -> String {
    escape::terminal(text, MAX_VALUE)
}

/// The definition of a setting for programs.
pub(super) fn definition(tunable: &Tunable) -> serde_json::Value {
    serde_json::json!({
        "id": tunable.id,
        "path": tunable.place(),
        "takes": tunable.kind.describe(),
        "unit": tunable.unit,
        "scope": tunable.scope,
        "effect": tunable.effect,
        "risk": tunable.risk,
        "counterpart": tunable.counterpart,
        "resets": tunable.followers,
        "persists_in": tunable.persists_in(),
        "does": tunable.does,
        "source": tunable.source,
    })
}

/// A setting in a line: its name and what it does.
pub(super) fn line(tunable: &Tunable) -> String {
    format!("{:<34} {}", tunable.id, tunable.does)
}

/// The definition of a setting.
pub(super) fn described(tunable: &Tunable) -> String {
    let mut text = format!("{}  ({}; {})\n", tunable.id, tunable.kind.describe(), tunable.unit);
    let scope = tunable.scope.words();
    let _ =
        writeln!(text, "  {scope}; takes effect {}; risk {}", tunable.effect.words(), tunable.risk.word());
    if let Some(other) = tunable.counterpart {
        let _ = writeln!(text, "  zeroes {other}; both are restored together");
    }
    if !tunable.followers.is_empty() {
        let _ = writeln!(
            text,
            "  resets the following, which are restored with it: {}",
            tunable.followers.join(" ")
        );
    }
    let _ = writeln!(text, "  {}", tunable.does);
    text
}

fn planned(plan: &TunePlan) -> String {
    let mut text = lines(plan.changes.iter().map(change));
    if !plan.is_initial_network {
        text.push_str("\nnetwork settings are those of the current network namespace");
    }
    text
}

fn change(change: &PlannedChange) -> String {
    let (old, new) = (shown(&change.old), shown(&change.new));
    if change.is_same {
        return format!("{}: already {new}; nothing to write\n", change.key);
    }
    let mut text = format!("{}: {old} -> {new}  ({})\n", change.key, change.unit);
    let mut line = |name: &str, what: &str| text.push_str(&format!("  {name:<8} {what}\n"));
    line("writes", &change.path);
    line("reaches", &format!("{}; takes effect {}", change.scope.words(), change.effect.words()));
    line("risk", change.risk.word());
    if let Some(other) = change.counterpart {
        line("group", &format!("the kernel zeroes {other}; both are restored together"));
    }
    if !change.resets.is_empty() {
        line(
            "group",
            &format!("the kernel resets these; they are restored with it: {}", change.resets.join(" ")),
        );
    }
    for undo in &change.undo {
        line("undo", &escape::terminal(undo, 400));
    }
    for rival in &change.rivals {
        let last = if rival.is_last { " (applied last at boot)" } else { "" };
        line("also", &format!("{}: {}{last}", shown(&rival.who), shown(&rival.sets)));
    }
    match change.persists_in {
        None if change.survives_boot => line("reboot", "kept once committed: it is in the file"),
        Some(folder) => line("reboot", &format!("lost; `sysdyno tune persist` keeps it, in {folder}")),
        None => line("reboot", "lost"),
    }
    if let Some(blocked) = &change.blocked {
        line("blocked", blocked);
    }
    line("what", change.does);
    text
}

fn held(id: &str, plan: &TunePlan, deadline: SpanNs) -> String {
    let mut text = String::new();
    for change in plan.effective() {
        let _ = writeln!(text, "{}: {} -> {}", change.key, shown(&change.old), shown(&change.new));
    }
    let _ = write!(
        text,
        "trial {id} is active; the guardian undoes it in {deadline}\nkeep: sysdyno tune commit\nundo: \
         sysdyno tune undo"
    );
    text
}

fn persisted(kept: &Persisted) -> String {
    let mut text = String::new();
    if !kept.settings.is_empty() {
        let _ = write!(text, "{} will set at the next boot:", kept.file);
    }
    for (key, value) in &kept.settings {
        let _ = write!(text, "\n  {key} = {}", shown(value));
    }
    for other in &kept.overridden {
        let (who, sets) = (shown(&other.by.who), shown(&other.by.sets));
        let _ = write!(text, "\nwarning: {who} is read later and sets {} to {sets}", other.key);
    }
    for other in &kept.others {
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = write!(text, "{gap}{} will set at the next boot:", escape::terminal(&other.file, 400));
        for (key, line) in &other.lines {
            let _ = write!(text, "\n  {}: {}", shown(key), escape::terminal(line, 400));
        }
    }
    if text.is_empty() {
        return format!("{} is removed; sysdyno keeps no settings across a reboot", kept.file);
    }
    text.push_str("\nremove: sysdyno tune persist --remove");
    text
}

fn recovered(recovery: &Recovery) -> String {
    let cause = recovery.cause.iter().map(|cause| cause_line(&recovery.id, cause));
    let settings = recovery.restored.iter().map(restored);
    let notes = recovery.notes.iter().map(|note| format!("warning: {}", escape::terminal(note, 400)));
    let all: Vec<String> = cause.chain(settings).chain(notes).collect();
    if all.is_empty() { format!("{}: nothing to undo", recovery.id) } else { all.join("\n") }
}

fn cause_line(id: &str, cause: &str) -> String {
    format!("trial {id} was undone early: {}", escape::terminal(cause, 400))
}

/// What a guardian tells those who cannot see it.
pub(super) fn told(recovery: &Recovery) -> String {
    let text = recovered(recovery);
    match recovery.cause {
        Some(_) => text,
        None => format!("trial {} was undone:\n{text}", recovery.id),
    }
}

/// What did not go as it should, though the setting is back.
fn warning(restored: &Restored) -> String {
    let cause = restored.cause.as_deref().map(|cause| escape::terminal(cause, 400));
    cause.map_or(String::new(), |cause| format!("\nwarning: {cause}"))
}

fn restored(restored: &Restored) -> String {
    let Restored { key, .. } = restored;
    let (old, new) = (shown(&restored.old), shown(&restored.new));
    let found = shown(restored.found.as_deref().unwrap_or("?"));
    match restored.outcome {
        UndoOutcome::Restored => format!("{key}: {new} -> {old}, restored{}", warning(restored)),
        UndoOutcome::Already => format!("{key}: {old}, unchanged{}", warning(restored)),
        UndoOutcome::Conflict => format!(
            "{key}: {found}, changed by somebody else since; left alone (before the trial: {old}, during the \
             trial: {new})"
        ),
        UndoOutcome::Void => format!("{key}: reset by the last boot"),
        UndoOutcome::Gone => format!("{key}: gone, together with its network namespace or module"),
        UndoOutcome::Failed => {
            format!("{key}: cannot restore {old}: {}", shown(restored.cause.as_deref().unwrap_or("?")))
        }
    }
}

fn summary(trial: &SettingsTrial, now_boot_ns: u64) -> String {
    let mut text = format!("{}  {}", trial.id, super::phase(trial.phase));
    let is_open = matches!(trial.phase, sysdyno_tune::Phase::Applying | sysdyno_tune::Phase::Held);
    if is_open && trial.is_guarded {
        let left = SpanNs(trial.deadline_boot_ns.saturating_sub(now_boot_ns) / 1_000_000_000 * 1_000_000_000);
        let _ = write!(text, ", undone in {left}");
    } else if is_open {
        text.push_str("; its guardian died: `sysdyno tune recover` undoes it");
    } else if trial.is_of_earlier_boot {
        text.push_str(", before the last boot");
    }
    match (&trial.cause, &trial.lost_state) {
        (Some(cause), _) => {
            let _ = write!(text, ", early: {}", escape::terminal(cause, 400));
        }
        (None, Some(state)) => {
            let _ = write!(text, "; its journal is no longer in '{}'", escape::terminal(state, 400));
        }
        (None, None) => {}
    }
    for setting in &trial.settings {
        let _ = write!(text, "\n  {}: {} -> {}", setting.key, shown(&setting.old), shown(&setting.new));
        let foreign = if setting.is_foreign { ", set by somebody else" } else { "" };
        if let Some(now) = &setting.now {
            let _ = write!(text, ", now {}{foreign}", shown(now));
        }
    }
    text
}
