//! Puts settings back: by undo, by a guardian, and by recovery after any death.
//!
//! The rule, for each intent, last first: if its members are what they were, nothing is to be done; if each is either
//! what it was or what we made of it, they are put back and read again; if one is anything else, somebody has changed it
//! since, and it is theirs. Nothing here waits for the journal: what cannot be written down is done all the same.

use crate::error::TuneError;
use crate::journal::{Intent, Journal, Member, Outcome, Phase, Record, Transaction, Witness};
use crate::netns;
use crate::roots::Roots;
use crate::setting;
use crate::state::{StateFolder, is_guarded};
use crate::tunable::Scope;
use std::io;
use std::path::{Path, PathBuf};

/// What became of one journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Recovery {
    /// Its name.
    pub id: String,
    /// What became of each setting.
    pub restored: Vec<Restored>,
    /// Whether its journal is damaged, so that it does not say what else was changed.
    pub is_damaged: bool,
    /// What else there is to say: damage, a journal that could not be closed.
    pub notes: Vec<String>,
}

/// What became of one setting.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Restored {
    /// The setting.
    pub key: String,
    /// What became of it.
    pub outcome: Outcome,
    /// What it was before the trial.
    pub old: String,
    /// What the trial had made of it.
    pub new: String,
    /// What was found; `None` if it could not be read.
    pub found: Option<String>,
    /// Why it failed; `None` unless it did.
    pub cause: Option<String>,
}

impl Recovery {
    /// Whether every setting is what it was.
    pub fn is_clean(&self) -> bool {
        !self.is_damaged && self.restored.iter().all(|restored| restored.outcome.is_clean())
    }
}

/// Undoes every trial whose guardian is dead.
///
/// # Errors
/// The state folder cannot be used, somebody else is at it, or a journal is of a newer version.
pub fn recover(state: &StateFolder, roots: &Roots) -> Result<Vec<Recovery>, TuneError> {
    if !state.open().is_dir() {
        return Ok(Vec::new());
    }
    state.prepare()?;
    let _lock = state.lock()?;
    recover_abandoned(state, roots)
}

/// Undoes every trial whose guardian is dead; the caller holds `lock`.
pub(crate) fn recover_abandoned(state: &StateFolder, roots: &Roots) -> Result<Vec<Recovery>, TuneError> {
    state.remove_drafts()?;
    let mut recoveries = Vec::new();
    for path in StateFolder::journals(&state.open())? {
        if is_guarded(&path) {
            continue;
        }
        recoveries.push(recover_one(&path, state, roots)?);
    }
    Ok(recoveries)
}

/// Recovers one journal; the caller holds `lock`.
pub(crate) fn recover_one(path: &Path, state: &StateFolder, roots: &Roots) -> Result<Recovery, TuneError> {
    let (mut journal, transaction) = Journal::open(path)?;
    let Some(transaction) = transaction else {
        let id = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        journal.move_to(&state.damaged())?;
        let notes =
            vec![format!("the journal {id} cannot be read; no setting was touched; it is kept in 'damaged'")];
        return Ok(Recovery { id, is_damaged: true, notes, ..Recovery::default() });
    };
    Ok(finish(&mut journal, &transaction, state, roots))
}

/// Keeps the settings of the trial that is held.
///
/// # Errors
/// There is no such trial, or that it is kept could not be made durable: then it is still a trial.
pub fn commit(state: &StateFolder, roots: &Roots, id: Option<&str>) -> Result<String, TuneError> {
    state.prepare()?;
    let _lock = state.lock()?;
    recover_abandoned(state, roots)?;
    let path = open_trial("commit", state, id)?;
    let (mut journal, transaction) = Journal::open(&path)?;
    // A commit that died before it could move the journal is completed here.
    let held = transaction.filter(|transaction| matches!(transaction.phase, Phase::Held | Phase::Kept));
    let held = held.ok_or_else(|| no_trial("commit", "its settings are not all written"))?;
    if held.phase == Phase::Held {
        journal.append_durably(&Record::Keep {})?;
    }
    journal.move_to(&state.done())?;
    Ok(held.begin.id)
}

/// Undoes the trial that is open, or a commitment that is named.
///
/// # Errors
/// There is none, or its journal cannot be used.
pub fn undo(state: &StateFolder, roots: &Roots, id: Option<&str>) -> Result<Recovery, TuneError> {
    state.prepare()?;
    let _lock = state.lock()?;
    state.remove_drafts()?;
    let open = open_trial("undo", state, id);
    let path = match (open, id) {
        (Ok(path), _) => path,
        (Err(_), Some(id)) => reopen(state, id)?,
        (Err(error), None) => return Err(error),
    };
    let (mut journal, transaction) = Journal::open(&path)?;
    if transaction.is_some_and(|transaction| transaction.phase == Phase::Kept) {
        journal.append_durably(&Record::Reopen {})?;
    }
    drop(journal);
    recover_one(&path, state, roots)
}

fn open_trial(operation: &'static str, state: &StateFolder, id: Option<&str>) -> Result<PathBuf, TuneError> {
    let name = |path: &PathBuf| {
        path.file_stem().is_some_and(|stem| id.is_none_or(|id| stem.to_string_lossy() == id))
    };
    let mut journals = StateFolder::journals(&state.open())?.into_iter().filter(name);
    journals.next().ok_or_else(|| match id {
        Some(id) => no_trial(operation, &format!("there is no open trial '{id}'")),
        None => {
            no_trial(operation, "no trial is open\nhint: `sysdyno tune history` shows those that are over")
        }
    })
}

/// Makes a trial of a commitment, so that it is undone whatever happens from here on.
fn reopen(state: &StateFolder, id: &str) -> Result<PathBuf, TuneError> {
    let is_it = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem.to_string_lossy() == id);
    let path = StateFolder::journals(&state.done())?.into_iter().find(is_it);
    let path = path.ok_or_else(|| no_trial("undo", &format!("there is no trial '{id}'")))?;
    let (mut journal, transaction) = Journal::open(&path)?;
    if !transaction.is_some_and(|transaction| transaction.phase == Phase::Kept) {
        return Err(no_trial("undo", &format!("the trial '{id}' was undone already")));
    }
    journal.append_durably(&Record::Reopen {})?;
    journal.move_to(&state.open())?;
    Ok(journal.path().to_owned())
}

fn no_trial(operation: &'static str, cause: &str) -> TuneError {
    TuneError::NoTrial { operation, cause: cause.into() }
}

/// Restores what has to be restored and closes the journal; the caller holds `lock`.
pub(crate) fn finish(
    journal: &mut Journal,
    transaction: &Transaction,
    state: &StateFolder,
    roots: &Roots,
) -> Recovery {
    let mut recovery = Recovery { id: transaction.begin.id.clone(), ..Recovery::default() };
    if transaction.begin.root != roots.path().display().to_string() {
        recovery
            .notes
            .push(format!("the journal {} is about another tree, '{}'", recovery.id, transaction.begin.root));
        return recovery;
    }
    let is_over = matches!(transaction.phase, Phase::Kept | Phase::Undone | Phase::Unclean);
    if !is_over {
        recovery.restored = restore_all(journal, transaction, roots);
    }
    let folder = if transaction.is_whole() {
        state.done()
    } else {
        recovery.is_damaged = true;
        recovery.notes.push(format!("the journal {} is damaged; it is kept in 'damaged'", recovery.id));
        state.damaged()
    };
    if recovery.restored.iter().any(|restored| restored.outcome == Outcome::Failed) {
        recovery.notes.push("the journal stays open: `sysdyno tune recover` tries again".into());
        return recovery;
    }
    let end = Record::End { is_clean: recovery.is_clean() };
    let ended = if is_over { Ok(()) } else { journal.append_durably(&end) };
    if let Err(error) = ended.and_then(|()| journal.move_to(&folder)) {
        recovery.notes.push(format!("{error}; the journal stays open"));
    }
    recovery
}

fn restore_all(journal: &mut Journal, transaction: &Transaction, roots: &Roots) -> Vec<Restored> {
    let begin = &transaction.begin;
    let failed = |cause: String| move |intent: &Intent| Found::failed(cause.clone()).of(intent);
    match boot_id(roots) {
        // What cannot be told is not taken for a reboot: the journal stays open.
        Err(error) => return note_all(journal, transaction, failed(error.to_string())),
        Ok(boot_id) if boot_id != begin.boot_id => {
            return note_all(journal, transaction, |intent| match intent.scope.survives_boot() {
                true => restore_one(intent, transaction, roots),
                false => Found::without(Outcome::Void).of(intent),
            });
        }
        Ok(_) => {}
    }
    let here = netns::current(roots);
    if begin.netns.is_some() && here.is_none() {
        return note_all(journal, transaction, failed("cannot tell which network namespace this is".into()));
    }
    let there = begin.netns.filter(|there| here.is_some_and(|here| !here.is_same(*there)));
    let restore = |intent: &Intent| restore_one(intent, transaction, roots);
    let gone = |intent: &Intent| match intent.scope {
        Scope::Network | Scope::InitialNetwork | Scope::NetworkDevice => {
            Found::without(Outcome::Gone).of(intent)
        }
        Scope::Host
        | Scope::Device
        | Scope::Service
        | Scope::Mount
        | Scope::FileSystem
        | Scope::Process
        | Scope::Listener => restore(intent),
    };
    // /sys shows the devices of the namespace that it was mounted in.
    let within = |intent: &Intent| match intent.scope {
        Scope::NetworkDevice => {
            Found::failed("it is a device of another network namespace: recover from within it".into())
                .of(intent)
        }
        _ => restore(intent),
    };
    match there {
        None => note_all(journal, transaction, restore),
        Some(there) => match netns::within(there, || note_all(journal, transaction, within)) {
            Ok(Some(restored)) => restored,
            Ok(None) => note_all(journal, transaction, gone),
            Err(error) => note_all(journal, transaction, failed(error.to_string())),
        },
    }
}

/// Does `what` with every intent, last first, and notes what became of it.
fn note_all(
    journal: &mut Journal,
    transaction: &Transaction,
    what: impl Fn(&Intent) -> Restored,
) -> Vec<Restored> {
    let mut all = Vec::new();
    for intent in transaction.intents.iter().rev() {
        let restored = what(intent);
        // It is done; that it cannot be noted does not undo it.
        let _ = journal.append(&Record::Restored {
            number: intent.number,
            outcome: restored.outcome,
            found: restored.found.iter().cloned().collect(),
            cause: restored.cause.clone(),
        });
        all.push(restored);
    }
    all
}

/// What was found, and what became of it.
struct Found {
    outcome: Outcome,
    texts: Vec<String>,
    cause: Option<String>,
}

impl Found {
    fn without(outcome: Outcome) -> Found {
        Found { outcome, texts: Vec::new(), cause: None }
    }

    fn failed(cause: String) -> Found {
        Found { cause: Some(cause), ..Found::without(Outcome::Failed) }
    }

    fn of(self, intent: &Intent) -> Restored {
        let first = intent.members.first();
        let shown = |text: fn(&Member) -> &String, beside: fn(&Member) -> &String| {
            first.map(|member| setting::shown(&member.path, text(member), beside(member))).unwrap_or_default()
        };
        let found = |text: &String| first.map(|member| setting::shown(&member.path, text, &member.old));
        Restored {
            key: intent.key.clone(),
            outcome: self.outcome,
            old: shown(|member| &member.old, |member| &member.expected),
            new: shown(|member| &member.expected, |member| &member.old),
            found: self.texts.first().and_then(found),
            cause: self.cause,
        }
    }
}

fn restore_one(intent: &Intent, transaction: &Transaction, roots: &Roots) -> Restored {
    let mut found = Found::without(Outcome::Failed);
    let is_another =
        |witness: &Witness| setting::read(roots, &witness.path).is_ok_and(|text| text != witness.text);
    if intent.witnesses.iter().any(is_another) {
        return Found::without(Outcome::Gone).of(intent);
    }
    intent.members.iter().for_each(|member| setting::clean(roots, &member.path));
    match read_members(intent, roots) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => found.outcome = Outcome::Gone,
        Err(error) => found.cause = Some(error.to_string()),
        Ok(texts) => {
            let made = Made::of(intent.number, transaction);
            (found.outcome, found.cause) = put_back(intent, &texts, &made, roots);
            found.texts = texts;
        }
    }
    found.of(intent)
}

fn read_members(intent: &Intent, roots: &Roots) -> io::Result<Vec<String>> {
    let read = |member: &Member| setting::read_member(roots, &member.path, member.follows());
    intent.members.iter().map(read).collect()
}

/// What is known of whether a change was made.
enum Made<'a> {
    /// It was, and its members read back as this.
    As(&'a [String]),
    /// It is the one that was being made when the journal ends.
    Perhaps,
    /// The journal does not come so far.
    Unknown,
}

impl Made<'_> {
    fn of(number: u32, transaction: &Transaction) -> Made<'_> {
        match transaction.applied.get(&number) {
            Some(found) => Made::As(found),
            None if transaction.applied.len() == number as usize => Made::Perhaps,
            None => Made::Unknown,
        }
    }

    /// Whether the text of a member can only come from what it was or from us.
    fn is_ours(&self, intent: &Intent, texts: &[String], index: usize) -> bool {
        let (member, text) = (&intent.members[index], texts[index].as_str());
        let is_made = |at: usize| match self {
            Made::As(found) => found
                .get(at)
                .is_some_and(|found| setting::is_same(&intent.members[at].path, found, &texts[at])),
            Made::Perhaps | Made::Unknown => false,
        };
        if member.is_old(text) || is_made(index) || setting::is_between(&member.path, text) {
            return true;
        }
        match (member.follows(), self) {
            // While its leader is on the way back, it is whatever the kernel made of it.
            (true, Made::As(_)) => !is_made(0),
            (true, Made::Perhaps) => true,
            (true, Made::Unknown) => intent.members[0].is_expected(&texts[0]),
            (false, Made::As(_)) => !member.is_open && member.is_expected(text),
            (false, Made::Perhaps | Made::Unknown) => member.is_expected(text),
        }
    }
}

/// Has what was put back be felt; why that failed, if it did.
fn tell(intent: &Intent, roots: &Roots) -> Option<String> {
    let tell = |member: &Member| setting::take_effect(roots, &member.path).err();
    let failed = intent.members.iter().find_map(tell);
    failed.map(|error| format!("what was put back is not felt yet: {error}"))
}

fn put_back(intent: &Intent, texts: &[String], made: &Made<'_>, roots: &Roots) -> (Outcome, Option<String>) {
    let is_old =
        |texts: &[String]| intent.members.iter().zip(texts).all(|(member, text)| member.is_old(text));
    if is_old(texts) {
        // It may have been put back by a restore that died before it could tell.
        let cause = if matches!(made, Made::Unknown) { None } else { tell(intent, roots) };
        return (Outcome::Already, cause);
    }
    let shown = |texts: &[String]| {
        let pairs = intent.members.iter().zip(texts);
        pairs.map(|(member, text)| setting::shown(&member.path, text, &member.old)).collect::<Vec<_>>()
    };
    if !(0..texts.len()).all(|index| made.is_ours(intent, texts, index)) {
        return (Outcome::Conflict, None);
    }
    for write in &intent.restore {
        let Some(member) = intent.members.get(write.member) else {
            return (Outcome::Failed, Some("the journal names a setting that it does not hold".into()));
        };
        // What follows is written only if it did not come back with its leader.
        let is_back = member.follows()
            && setting::read_member(roots, &member.path, true).is_ok_and(|text| member.is_old(&text));
        if is_back {
            continue;
        }
        if let Err(error) = setting::put_back(roots, &member.path, &write.text) {
            return (Outcome::Failed, Some(error.to_string()));
        }
    }
    match read_members(intent, roots) {
        Ok(back) if is_old(&back) => (Outcome::Restored, tell(intent, roots)),
        Ok(back) => (Outcome::Failed, Some(format!("it reads back as '{}'", shown(&back).join("', '")))),
        Err(error) => (Outcome::Failed, Some(error.to_string())),
    }
}

/// The boot that volatile settings belong to.
pub(crate) fn boot_id(roots: &Roots) -> Result<String, TuneError> {
    let path = roots.place("/proc/sys/kernel/random/boot_id");
    let text = std::fs::read_to_string(&path).map_err(TuneError::io("read", &path))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests;
