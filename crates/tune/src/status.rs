//! The open trial, and past trials.

use crate::error::TuneError;
use crate::journal::{self, Intent, Phase, Transaction, UndoOutcome};
use crate::netns;
use crate::plan;
use crate::roots::TuneRoots;
use crate::spool;
use crate::state::StateFolder;
use crate::store::{self, StoreSection};
use std::path::{Path, PathBuf};
use sysdyno_record::units::WallNs;

/// A trial, open or over.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SettingsTrial {
    /// Its name.
    pub id: String,
    /// How far it has come.
    pub phase: Phase,
    /// When it began.
    pub started_unix_ns: WallNs,
    /// When it is undone, on `CLOCK_BOOTTIME` of its boot. Unit: nanoseconds.
    pub deadline_boot_ns: u64,
    /// The process that made it.
    pub pid: u32,
    /// Whether a guardian watches over it.
    pub is_guarded: bool,
    /// Whether the host was booted since.
    pub is_of_earlier_boot: bool,
    /// Why it was undone before its time; `None` if it was not.
    pub cause: Option<String>,
    /// The state folder that it was made with, if its journal is not there and only its second copy is known.
    pub lost_state: Option<String>,
    /// Its settings.
    pub settings: Vec<SettingNow>,
}

/// A setting of a trial, and what it is now.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SettingNow {
    /// The setting.
    pub key: String,
    /// What it was before.
    pub old: String,
    /// What the trial made of it.
    pub new: String,
    /// What it is now; `None` if it cannot be read from here, as one of another network namespace.
    pub now: Option<String>,
    /// Whether somebody else has changed it since.
    pub is_foreign: bool,
    /// What became of it when it was undone; `None` if it was not.
    pub outcome: Option<UndoOutcome>,
}

/// Trials that are open, and those of this boot that were undone because their state folder was lost.
///
/// # Errors
/// The state folder cannot be read.
pub fn status(state: &StateFolder, roots: &TuneRoots) -> Result<Vec<SettingsTrial>, TuneError> {
    let mut found = summaries(&state.journals(StoreSection::Open)?, roots)?;
    found.extend(copies(StoreSection::Open, roots)?);
    found.extend(copies(StoreSection::Done, roots)?.into_iter().filter(|trial| !trial.is_of_earlier_boot));
    Ok(found)
}

/// Trials that are over, oldest first.
///
/// # Errors
/// The state folder cannot be read.
pub fn history(state: &StateFolder, roots: &TuneRoots) -> Result<Vec<SettingsTrial>, TuneError> {
    let mut found = summaries(&state.journals(StoreSection::Done)?, roots)?;
    found.extend(copies(StoreSection::Done, roots)?);
    found.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(found)
}

/// Trials whose second copy is all that is known of them; none for users who may not look.
fn copies(section: StoreSection, roots: &TuneRoots) -> Result<Vec<SettingsTrial>, TuneError> {
    let paths = store::journals(&spool::path(roots).join(section.name())).unwrap_or_default();
    let mut found = Vec::new();
    for path in paths {
        let Ok(Some(transaction)) = journal::read(&path) else { continue };
        let lost_state = transaction.begin.state.clone();
        let is_there = |state: &String| {
            path.file_name().is_some_and(|name| Path::new(state).join("open").join(name).exists())
        };
        // One that is open is told by its journal, if that is there; one that is over was undone without it.
        if section != StoreSection::Open || !lost_state.as_ref().is_some_and(is_there) {
            found.push(SettingsTrial { lost_state, ..summary(&path, &transaction, roots)? });
        }
    }
    Ok(found)
}

/// Lines of shell that undo a trial, or the open one, without this program.
///
/// # Errors
/// There is none, or its journal cannot be read.
pub fn undo_lines(
    state: &StateFolder,
    roots: &TuneRoots,
    id: Option<&str>,
) -> Result<Vec<String>, TuneError> {
    let is_it = |path: &&PathBuf| {
        path.file_stem().is_some_and(|stem| id.is_none_or(|id| stem.to_string_lossy() == id))
    };
    let mut journals = state.journals(StoreSection::Open)?;
    journals.extend(spool::open_copies(roots));
    if id.is_some() {
        journals.extend(state.journals(StoreSection::Done)?);
    }
    let missing =
        || TuneError::NoTrial { operation: "print how to undo", cause: "there is no such trial".into() };
    let path = journals.iter().find(is_it).ok_or_else(missing)?;
    let transaction = journal::read(path).map_err(TuneError::io("read", path))?.ok_or_else(missing)?;
    Ok(transaction.intents.iter().rev().flat_map(|intent| plan::undo_lines(intent, roots)).collect())
}

fn summaries(paths: &[PathBuf], roots: &TuneRoots) -> Result<Vec<SettingsTrial>, TuneError> {
    let mut found = Vec::new();
    for path in paths {
        let transaction = journal::read(path).map_err(TuneError::io("read", path))?;
        if let Some(transaction) = transaction {
            found.push(summary(path, &transaction, roots)?);
        }
    }
    Ok(found)
}

fn summary(path: &Path, transaction: &Transaction, roots: &TuneRoots) -> Result<SettingsTrial, TuneError> {
    let is_of_earlier_boot = transaction.begin.boot_id != crate::restore::boot_id(roots)?;
    let is_live = !transaction.phase.is_undone() && !is_of_earlier_boot;
    let (begun, here) = (transaction.begin.netns, netns::current(roots));
    let is_elsewhere = begun.zip(here).is_some_and(|(begun, here)| !here.is_same(begun));
    let is_here = |intent: &Intent| !(is_elsewhere && intent.scope.is_of_network());
    let setting = |intent: &Intent| setting_now(intent, transaction, roots, is_live && is_here(intent));
    Ok(SettingsTrial {
        id: transaction.begin.id.clone(),
        phase: transaction.phase,
        started_unix_ns: transaction.begin.started_unix_ns,
        deadline_boot_ns: transaction.begin.deadline_boot_ns,
        pid: transaction.begin.pid,
        is_guarded: journal::is_guarded(path),
        is_of_earlier_boot,
        cause: transaction.cause.clone(),
        lost_state: None,
        settings: transaction.intents.iter().map(setting).collect(),
    })
}

fn setting_now(intent: &Intent, transaction: &Transaction, roots: &TuneRoots, is_live: bool) -> SettingNow {
    let outcome = transaction.restored.get(&intent.number).copied();
    let Some(member) = intent.members.first() else {
        let (old, new) = (String::new(), String::new());
        return SettingNow { key: intent.key.clone(), old, new, now: None, is_foreign: false, outcome };
    };
    let now = is_live.then(|| member.place.read(roots).ok()).flatten();
    SettingNow {
        key: intent.key.clone(),
        old: member.shown_old(),
        new: member.shown_new(),
        is_foreign: now.as_ref().is_some_and(|now| !member.is_old(now) && !member.is_expected(now)),
        now: now.map(|now| member.shown(&now)),
        outcome,
    }
}
