//! What is being tried, and what was.

use crate::error::TuneError;
use crate::journal::{self, Intent, Outcome, Phase, Transaction};
use crate::plan;
use crate::roots::Roots;
use crate::setting;
use crate::state::{StateFolder, is_guarded};
use std::path::{Path, PathBuf};
use sysdyno_record::units::WallNs;

/// A trial, open or over.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TrialSummary {
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
    /// What it is now; `None` if it cannot be read from here.
    pub now: Option<String>,
    /// Whether somebody else has changed it since.
    pub is_foreign: bool,
    /// What became of it when it was undone; `None` if it was not.
    pub outcome: Option<Outcome>,
}

/// Trials that are open.
///
/// # Errors
/// The state folder cannot be read.
pub fn status(state: &StateFolder, roots: &Roots) -> Result<Vec<TrialSummary>, TuneError> {
    summaries(&state.open(), roots)
}

/// Trials that are over, oldest first.
///
/// # Errors
/// The state folder cannot be read.
pub fn history(state: &StateFolder, roots: &Roots) -> Result<Vec<TrialSummary>, TuneError> {
    summaries(&state.done(), roots)
}

/// Lines of shell that undo a trial, or the open one, without this program.
///
/// # Errors
/// There is none, or its journal cannot be read.
pub fn undo_lines(state: &StateFolder, roots: &Roots, id: Option<&str>) -> Result<Vec<String>, TuneError> {
    let is_it = |path: &&PathBuf| {
        path.file_stem().is_some_and(|stem| id.is_none_or(|id| stem.to_string_lossy() == id))
    };
    let mut journals = StateFolder::journals(&state.open())?;
    if id.is_some() {
        journals.extend(StateFolder::journals(&state.done())?);
    }
    let missing =
        || TuneError::NoTrial { operation: "print how to undo", cause: "there is no such trial".into() };
    let path = journals.iter().find(is_it).ok_or_else(missing)?;
    let transaction = journal::read(path).map_err(TuneError::io("read", path))?.ok_or_else(missing)?;
    Ok(transaction.intents.iter().rev().flat_map(|intent| plan::undo_lines(intent, roots)).collect())
}

fn summaries(folder: &Path, roots: &Roots) -> Result<Vec<TrialSummary>, TuneError> {
    let mut found = Vec::new();
    let boot_id = crate::restore::boot_id(roots)?;
    for path in StateFolder::journals(folder)? {
        let transaction = journal::read(&path).map_err(TuneError::io("read", &path))?;
        if let Some(transaction) = transaction {
            let is_of_earlier_boot = transaction.begin.boot_id != boot_id;
            let is_open = !matches!(transaction.phase, Phase::Undone | Phase::Unclean);
            let setting =
                |intent: &Intent| setting_now(intent, &transaction, roots, is_open && !is_of_earlier_boot);
            found.push(TrialSummary {
                id: transaction.begin.id.clone(),
                phase: transaction.phase,
                started_unix_ns: transaction.begin.started_unix_ns,
                deadline_boot_ns: transaction.begin.deadline_boot_ns,
                pid: transaction.begin.pid,
                is_guarded: is_guarded(&path),
                is_of_earlier_boot,
                settings: transaction.intents.iter().map(setting).collect(),
            });
        }
    }
    Ok(found)
}

fn setting_now(intent: &Intent, transaction: &Transaction, roots: &Roots, is_live: bool) -> SettingNow {
    let outcome = transaction.restored.get(&intent.number).copied();
    let Some(member) = intent.members.first() else {
        let (old, new) = (String::new(), String::new());
        return SettingNow { key: intent.key.clone(), old, new, now: None, is_foreign: false, outcome };
    };
    let shown = |text: &str, beside: &str| setting::shown(&member.path, text, beside);
    let now = Some(&member.path).filter(|_| is_live).and_then(|path| setting::read(roots, path).ok());
    SettingNow {
        key: intent.key.clone(),
        old: shown(&member.old, &member.expected),
        new: shown(&member.expected, &member.old),
        is_foreign: now.as_ref().is_some_and(|now| !member.is_old(now) && !member.is_expected(now)),
        now: now.map(|now| shown(&now, &member.old)),
        outcome,
    }
}
