//! What is going to be written, before anything is: every write, its undo, and who else sets the same.
//!
//! A plan reads and never writes. It refuses what cannot be undone, and all of it at once: either every change of a plan
//! is in order, or none is made.

mod rivals;

use crate::change::Change;
use crate::error::{Refusal, TuneError};
use crate::journal::{Intent, Member, Write};
use crate::netns;
use crate::roots::Roots;
use crate::setting;
use crate::tunable::{Effect, Risk, Scope, Tunable, find, nearest, never};
use crate::value::{is_same, one_line};
pub use rivals::Rival;
use rustix::io::Errno;
use std::collections::BTreeSet;

/// Most changes of a plan.
const MAX_CHANGES: usize = 256;

/// A plan, with nothing left to decide.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Plan {
    /// Its changes, in the order in which they are made.
    pub changes: Vec<PlannedChange>,
    /// Whether settings of the network are those of the namespace that the host was booted with.
    pub is_initial_network: bool,
}

/// One change of a plan.
#[derive(Clone, Debug, serde::Serialize)]
pub struct PlannedChange {
    /// The setting.
    pub key: String,
    /// Its file, from the root.
    pub path: String,
    /// Unit of its numbers.
    pub unit: &'static str,
    /// What it is, on one line.
    pub old: String,
    /// What it becomes.
    pub new: String,
    /// Whether it is that already, so that nothing is written.
    pub is_same: bool,
    /// How far it reaches.
    pub scope: Scope,
    /// When it is felt.
    pub effect: Effect,
    /// What a wrong value can do.
    pub risk: Risk,
    /// The setting that changes with it; `None` if none does.
    pub counterpart: Option<&'static str>,
    /// What it does.
    pub does: &'static str,
    /// Where that is said.
    pub source: &'static str,
    /// Lines of shell that undo it, without this program.
    pub undo: Vec<String>,
    /// Files and programs that set it too.
    pub rivals: Vec<Rival>,
    /// The folder in which it could be kept over a reboot.
    pub persists_in: &'static str,
    /// Why it cannot be made by this user, in this place; `None` if it can.
    pub blocked: Option<String>,
    #[serde(skip)]
    pub(crate) intent: Intent,
}

impl Plan {
    /// Changes that are not there already.
    pub fn effective(&self) -> impl Iterator<Item = &PlannedChange> {
        self.changes.iter().filter(|change| !change.is_same)
    }

    /// Refuses a plan that cannot be carried out by this user, in this place.
    pub(crate) fn check_unblocked(&self) -> Result<(), TuneError> {
        let blocked = |change: &PlannedChange| Some(Refusal::new(&change.key, change.blocked.clone()?));
        let refusals: Vec<Refusal> = self.effective().filter_map(blocked).collect();
        if refusals.is_empty() { Ok(()) } else { Err(TuneError::Refused(refusals)) }
    }

    /// The intents of the changes that are not there already, numbered.
    pub(crate) fn intents(&self) -> Vec<Intent> {
        let numbered = self.effective().zip(0..);
        numbered.map(|(change, number)| Intent { number, ..change.intent.clone() }).collect()
    }
}

/// Plans changes.
///
/// # Errors
/// Every change that is not in order, with its reason; or one of them could not be read.
pub fn plan(changes: &[Change], roots: &Roots) -> Result<Plan, TuneError> {
    let mut refusals = clashes(changes);
    let rivals = rivals::Rivals::find(roots);
    let is_initial_network = netns::is_initial(roots);
    let mut planned = Vec::new();
    for change in changes.iter().take(MAX_CHANGES) {
        match one(change, roots, is_initial_network) {
            Ok(one) => planned.push(PlannedChange { rivals: rivals.of(&one.key), ..one }),
            Err(refusal) => refusals.push(refusal),
        }
    }
    if refusals.is_empty() {
        Ok(Plan { changes: planned, is_initial_network })
    } else {
        Err(TuneError::Refused(refusals))
    }
}

/// Changes that cannot be in one plan.
fn clashes(changes: &[Change]) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if changes.len() > MAX_CHANGES {
        refusals.push(Refusal::new(
            &changes[MAX_CHANGES].text(),
            format!("a plan has at most {MAX_CHANGES} changes"),
        ));
    }
    let mut seen = BTreeSet::new();
    for change in changes {
        if !seen.insert(&change.key) {
            refusals.push(Refusal::new(&change.text(), "the plan changes it twice").hint("keep one of them"));
        }
        let other = find(&change.key).and_then(|tunable| tunable.counterpart);
        if let Some(other) = other.filter(|other| seen.iter().any(|key| key == other)) {
            let cause = format!("the kernel zeroes it when '{other}' is set, which the plan does too");
            refusals.push(Refusal::new(&change.text(), cause).hint("keep one of them"));
        }
    }
    refusals
}

fn one(change: &Change, roots: &Roots, is_initial_network: bool) -> Result<PlannedChange, Refusal> {
    let refuse = |cause: &str| Refusal::new(&change.text(), cause);
    let tunable = known(change)?;
    let path = tunable.path();
    if !setting::exists(roots, &path) {
        return Err(match tunable.scope {
            Scope::InitialNetwork if !is_initial_network => {
                refuse("it belongs to the initial network namespace, and this is another one")
                    .hint("plan it on the host itself; it reaches all namespaces from there")
            }
            _ => refuse(&format!("this kernel has no '{path}'")),
        });
    }
    let listed = |file: &str| setting::read(roots, file).ok();
    let new = tunable.kind.parse(&change.value, tunable.unit, &listed).map_err(|cause| refuse(&cause))?;
    let old = read_twice(roots, &path).map_err(|cause| refuse(&cause))?;
    let is_same = is_same(&old, &new);
    let intent = intent(tunable, old, &new, roots).map_err(|cause| refuse(&cause))?;
    let blocked = setting::unwritable(roots, &path).map(|error| blocked(error, tunable, is_initial_network));
    Ok(PlannedChange {
        key: tunable.id.into(),
        path,
        unit: tunable.unit,
        old: one_line(&intent.members[0].old),
        new,
        is_same,
        scope: tunable.scope,
        effect: tunable.effect,
        risk: tunable.risk,
        counterpart: tunable.counterpart,
        does: tunable.does,
        source: tunable.source,
        undo: undo_lines(&intent, roots),
        rivals: Vec::new(),
        persists_in: tunable.persists_in(),
        blocked,
        intent,
    })
}

fn known(change: &Change) -> Result<&'static Tunable, Refusal> {
    let refuse = |cause: &str| Refusal::new(&change.text(), cause);
    if let Some(reason) = never(&change.key) {
        return Err(refuse(&format!("{reason}; sysdyno does not change '{}'", change.key)));
    }
    find(&change.key).ok_or_else(|| {
        let refusal = refuse(&format!("'{}' is not a setting that sysdyno knows how to undo", change.key));
        match nearest(&change.key) {
            Some(id) => refusal.hint(format!("did you mean '{id}'? `sysdyno tune list` shows all")),
            None => refusal.hint("`sysdyno tune list` shows all"),
        }
    })
}

/// The text of a setting, if it is the same when it is read again.
fn read_twice(roots: &Roots, path: &str) -> Result<String, String> {
    let read = || setting::read(roots, path).map_err(|error| format!("cannot read '{path}': {error}"));
    let (first, second) = (read()?, read()?);
    if first == second { Ok(first) } else { Err("its value changes by itself".into()) }
}

fn intent(tunable: &Tunable, old: String, new: &str, roots: &Roots) -> Result<Intent, String> {
    let write = |member: usize, text: &str| Write { member, text: text.into() };
    let restore = one_line(&old);
    let mut members = vec![Member { path: tunable.path(), old, expected: new.into() }];
    let mut undo = vec![write(0, &restore)];
    if let Some(other) = tunable.counterpart.and_then(find) {
        let old = read_twice(roots, &other.path())?;
        let text = one_line(&old);
        undo = match (restore.as_str(), text.as_str()) {
            ("0", "0") => return Err(format!("both it and '{}' are 0, which cannot be put back", other.id)),
            ("0", _) => vec![write(1, &text)],
            (_, "0") => undo,
            _ => return Err(format!("both it and '{}' are in force, which cannot be put back", other.id)),
        };
        members.push(Member { path: other.path(), old, expected: "0".into() });
    }
    Ok(Intent {
        number: 0,
        key: tunable.id.into(),
        scope: tunable.scope,
        members,
        apply: vec![write(0, new)],
        restore: undo,
    })
}

fn blocked(error: Errno, tunable: &Tunable, is_initial_network: bool) -> String {
    let is_root = rustix::process::geteuid().is_root();
    match error {
        Errno::ROFS => "'/proc/sys' is read-only here, as in most containers: change it on the host".into(),
        Errno::ACCESS | Errno::PERM if !is_root => "only root may write it: run with sudo".into(),
        Errno::ACCESS | Errno::PERM if tunable.scope == Scope::InitialNetwork && !is_initial_network => {
            "it belongs to the initial network namespace, and this is another one: change it on the host"
                .into()
        }
        Errno::ACCESS | Errno::PERM => "the kernel does not let this process write it".into(),
        other => format!("it cannot be written: {other}"),
    }
}

/// Lines of shell that undo a change.
pub(crate) fn undo_lines(intent: &Intent, roots: &Roots) -> Vec<String> {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let line = |write: &Write| {
        let place = roots.place(&intent.members[write.member].path);
        let place = place.display().to_string();
        let is_plain = place.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
        let place = if is_plain { place } else { quoted(&place) };
        format!("echo {} > {place}", quoted(&write.text))
    };
    intent.restore.iter().map(line).collect()
}

#[cfg(test)]
mod tests;
