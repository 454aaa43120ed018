//! Restores the settings of a trial, intent by intent, last first.
//!
//! The rule for each intent: if all its members have their old values, there is nothing to do; if each has either its old
//! value or the trial's, they are restored and read back; if one has any other value, something else has changed it since,
//! and it is left alone. Nothing here waits for the journal: a restore proceeds even if it cannot be recorded.

use super::{Restored, boot_id};
use crate::journal::{Intent, JournalRecord, Member, Transaction, Twin, UndoOutcome, Witness};
use crate::netns;
use crate::roots::TuneRoots;
use crate::tunable::Scope;
use std::io;

/// Puts all settings of a trial back.
pub(super) fn restore_all(journal: &mut Twin, transaction: &Transaction, roots: &TuneRoots) -> Vec<Restored> {
    let begin = &transaction.begin;
    let failed = |cause: String| move |intent: &Intent| Found::failed(cause.clone()).of(intent);
    match boot_id(roots) {
        // What cannot be told is not taken for a reboot: the journal stays open.
        Err(error) => return note_all(journal, transaction, failed(error.to_string())),
        Ok(boot_id) if boot_id != begin.boot_id => {
            return note_all(journal, transaction, |intent| match intent.scope.survives_boot() {
                true => restore_one(intent, transaction, roots),
                false => Found::without(UndoOutcome::Void).of(intent),
            });
        }
        Ok(_) => {}
    }
    let here = netns::current(roots);
    if begin.netns.is_some() && here.is_none() {
        return note_all(journal, transaction, failed("cannot identify this network namespace".into()));
    }
    let there = begin.netns.filter(|there| here.is_some_and(|here| !here.is_same(*there)));
    let restore = |intent: &Intent| restore_one(intent, transaction, roots);
    let gone = |intent: &Intent| match intent.scope.is_of_network() {
        true => Found::without(UndoOutcome::Gone).of(intent),
        false => restore(intent),
    };
    // /sys shows the devices of the namespace that it was mounted in.
    let elsewhere = "it is a device of another network namespace: recover from within it";
    let within = |intent: &Intent| match intent.scope == Scope::NetworkDevice {
        true => Found::failed(elsewhere.into()).of(intent),
        false => restore(intent),
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
    journal: &mut Twin,
    transaction: &Transaction,
    what: impl Fn(&Intent) -> Restored,
) -> Vec<Restored> {
    let mut all = Vec::new();
    for intent in transaction.intents.iter().rev() {
        let restored = what(intent);
        journal.note(&JournalRecord::Restored {
            number: intent.number,
            outcome: restored.outcome,
            found: restored.found.iter().cloned().collect(),
            cause: restored.cause.clone(),
        });
        all.push(restored);
    }
    all
}

/// The outcome for each setting in a journal.
pub(super) fn told(transaction: &Transaction) -> Vec<Restored> {
    let told = |intent: &Intent| {
        let outcome = *transaction.restored.get(&intent.number)?;
        Some(Found::without(outcome).of(intent))
    };
    transaction.intents.iter().rev().filter_map(told).collect()
}

/// What was found, and what became of it.
struct Found {
    outcome: UndoOutcome,
    texts: Vec<String>,
    cause: Option<String>,
}

impl Found {
    fn without(outcome: UndoOutcome) -> Found {
        Found { outcome, texts: Vec::new(), cause: None }
    }

    fn failed(cause: String) -> Found {
        Found { cause: Some(cause), ..Found::without(UndoOutcome::Failed) }
    }

    fn of(self, intent: &Intent) -> Restored {
        let first = intent.members.first();
        let found = self.texts.first().zip(first).map(|(text, member)| member.shown(text));
        Restored {
            key: intent.key.clone(),
            outcome: self.outcome,
            old: first.map(Member::shown_old).unwrap_or_default(),
            new: first.map(Member::shown_new).unwrap_or_default(),
            found,
            cause: self.cause,
        }
    }
}

pub(super) fn restore_one(intent: &Intent, transaction: &Transaction, roots: &TuneRoots) -> Restored {
    let mut found = Found::without(UndoOutcome::Failed);
    let is_another = |witness: &Witness| witness.place.read(roots).is_ok_and(|text| text != witness.text);
    if intent.witnesses.iter().any(is_another) {
        return Found::without(UndoOutcome::Gone).of(intent);
    }
    intent.members.iter().for_each(|member| member.place.clean(roots));
    match read_members(intent, roots) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => found.outcome = UndoOutcome::Gone,
        Err(error) => found.cause = Some(error.to_string()),
        Ok(texts) => {
            let made = ChangeMade::of(intent.number, transaction);
            (found.outcome, found.cause) = put_back(intent, &texts, &made, roots);
            found.texts = texts;
        }
    }
    found.of(intent)
}

pub(super) fn read_members(intent: &Intent, roots: &TuneRoots) -> io::Result<Vec<String>> {
    intent.members.iter().map(|member| member.read(roots)).collect()
}

/// What is known of whether a change was made.
pub(super) enum ChangeMade<'a> {
    /// It was, and its members read back as this.
    As(&'a [String]),
    /// It is the one that was being made when the journal ends.
    Perhaps,
    /// The journal does not come so far.
    Unknown,
}

impl ChangeMade<'_> {
    fn of(number: u32, transaction: &Transaction) -> ChangeMade<'_> {
        match transaction.applied.get(&number) {
            Some(found) => ChangeMade::As(found),
            None if transaction.applied.len() == number as usize => ChangeMade::Perhaps,
            None => ChangeMade::Unknown,
        }
    }

    /// Whether the text of a member can only come from what it was or from us.
    fn is_ours(&self, intent: &Intent, texts: &[String], index: usize) -> bool {
        let (member, text) = (&intent.members[index], texts[index].as_str());
        let is_made = |at: usize| match self {
            ChangeMade::As(found) => {
                found.get(at).is_some_and(|found| intent.members[at].place.is_same(found, &texts[at]))
            }
            ChangeMade::Perhaps | ChangeMade::Unknown => false,
        };
        if member.is_old(text) || is_made(index) || member.place.is_between(text) {
            return true;
        }
        match (member.follows(), self) {
            // While its leader is on the way back, it is whatever the kernel made of it.
            (true, ChangeMade::As(_)) => !is_made(0),
            (true, ChangeMade::Perhaps) => true,
            (true, ChangeMade::Unknown) => intent.members[0].is_expected(&texts[0]),
            (false, ChangeMade::As(_)) => !member.is_open && member.is_expected(text),
            (false, ChangeMade::Perhaps | ChangeMade::Unknown) => member.is_expected(text),
        }
    }
}

/// Makes restored settings take effect; returns why that failed, if it did.
fn tell(intent: &Intent, roots: &TuneRoots) -> Option<String> {
    let tell = |member: &Member| member.place.take_effect(roots).err();
    let failed = intent.members.iter().find_map(tell);
    failed.map(|error| format!("restored, but not yet in effect: {error}"))
}

pub(super) fn put_back(
    intent: &Intent,
    texts: &[String],
    made: &ChangeMade<'_>,
    roots: &TuneRoots,
) -> (UndoOutcome, Option<String>) {
    let is_old =
        |texts: &[String]| intent.members.iter().zip(texts).all(|(member, text)| member.is_old(text));
    if is_old(texts) {
        // It may have been put back by a restore that died before it could tell.
        let cause = if matches!(made, ChangeMade::Unknown) { None } else { tell(intent, roots) };
        return (UndoOutcome::Already, cause);
    }
    let shown = |texts: &[String]| {
        let pairs = intent.members.iter().zip(texts);
        pairs.map(|(member, text)| member.shown(text)).collect::<Vec<_>>()
    };
    if !(0..texts.len()).all(|index| made.is_ours(intent, texts, index)) {
        return (UndoOutcome::Conflict, None);
    }
    for write in &intent.restore {
        let Some(member) = intent.members.get(write.member) else {
            return (
                UndoOutcome::Failed,
                Some("the journal refers to a setting that it does not contain".into()),
            );
        };
        // What follows is written only if it did not come back with its leader.
        let is_back = member.follows() && member.read(roots).is_ok_and(|text| member.is_old(&text));
        if is_back {
            continue;
        }
        if let Err(error) = member.place.put_back(roots, &write.text) {
            return (UndoOutcome::Failed, Some(error.to_string()));
        }
    }
    match read_members(intent, roots) {
        Ok(back) if is_old(&back) => (UndoOutcome::Restored, tell(intent, roots)),
        Ok(back) => (UndoOutcome::Failed, Some(format!("it reads back as '{}'", shown(&back).join("', '")))),
        Err(error) => (UndoOutcome::Failed, Some(error.to_string())),
    }
}
