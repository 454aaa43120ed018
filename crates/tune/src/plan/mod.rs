//! Plans changes before anything is written: every write, its undo, and what else sets the same setting.
//!
//! A plan reads and never writes. It refuses changes that cannot be undone, all or nothing: either every change of a plan is
//! acceptable, or none is made.

mod rivals;

use crate::error::{Refusal, TuneError};
use crate::journal::{Intent, Member, Write};
use crate::netns;
use crate::roots::TuneRoots;
use crate::setting::{AtBoot, SettingPlace};
use crate::text::one_line;
use crate::tunable::{EffectTime, Located, Risk, Scope, Tunable, find, nearest, never};
use crate::value::ValueContext;
pub use rivals::Rival;
pub(crate) use rivals::rivals_of;
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::io;
use sysdyno_record::change::SettingChange;

/// Most changes of a plan.
const MAX_CHANGES: usize = 256;

/// A plan, with nothing left to decide.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TunePlan {
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
    pub effect: EffectTime,
    /// What a wrong value can do.
    pub risk: Risk,
    /// The setting that changes with it; `None` if none does.
    pub counterpart: Option<&'static str>,
    /// Files that the kernel resets with it, and that are restored with it.
    pub resets: Vec<String>,
    /// What it does.
    pub does: &'static str,
    /// The source for that.
    pub source: &'static str,
    /// Lines of shell that undo it, without this program.
    pub undo: Vec<String>,
    /// Files and programs that set it too.
    pub rivals: Vec<Rival>,
    /// Whether it is kept over a reboot as it is, once it is committed.
    pub survives_boot: bool,
    /// The folder in which it could be kept over a reboot; `None` if there is none.
    pub persists_in: Option<&'static str>,
    /// Why it cannot be made by this user, in this place; `None` if it can.
    pub blocked: Option<String>,
    #[serde(skip)]
    pub(crate) intent: Intent,
}

impl PlannedChange {
    /// What sets it again at boot.
    pub(crate) fn at_boot(&self) -> AtBoot<'_> {
        self.intent.members[0].place.at_boot()
    }

    /// Whether it is made by replacing a file, with all other changes of that file.
    fn is_of_file(&self) -> bool {
        self.scope == Scope::Service
    }
}

impl TunePlan {
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
        let mut files = BTreeSet::new();
        let is_first = |change: &&PlannedChange| !change.is_of_file() || files.insert(change.path.clone());
        let numbered = self.effective().filter(is_first).zip(0..);
        numbered.map(|(change, number)| Intent { number, ..change.intent.clone() }).collect()
    }
}

/// Plans changes.
///
/// # Errors
/// Every change that is not in order, with its reason; or one of them could not be read.
pub fn plan(changes: &[SettingChange], roots: &TuneRoots) -> Result<TunePlan, TuneError> {
    let mut plan = plan_alone(changes, roots)?;
    let rivals = rivals::Rivals::find(roots);
    plan.changes.iter_mut().for_each(|change| change.rivals = rivals.of(&change.key));
    Ok(plan)
}

/// Plans changes, and does not look for who else sets the same.
pub(crate) fn plan_alone(changes: &[SettingChange], roots: &TuneRoots) -> Result<TunePlan, TuneError> {
    let mut refusals = clashes(changes);
    let is_initial_network = netns::is_initial(roots);
    let mut planned = Vec::new();
    for change in changes.iter().take(MAX_CHANGES) {
        match one(change, roots, is_initial_network, &planned) {
            Ok(one) => {
                // One write replaces a file by a text with all changes of the plan in it.
                let mut one = one;
                let is_same_file = |other: &PlannedChange| one.is_of_file() && other.path == one.path;
                let file: Vec<usize> = (0..planned.len()).filter(|at| is_same_file(&planned[*at])).collect();
                if let Some(last) = file.last() {
                    one.intent.key = format!("{}, {}", planned[*last].intent.key, one.key);
                }
                file.into_iter().for_each(|at| planned[at].intent = one.intent.clone());
                planned.push(one);
            }
            Err(refusal) => refusals.push(refusal),
        }
    }
    refusals.extend(overlaps(&planned));
    if refusals.is_empty() {
        Ok(TunePlan { changes: planned, is_initial_network })
    } else {
        Err(TuneError::Refused(refusals))
    }
}

/// Changes that cannot be in one plan.
fn clashes(changes: &[SettingChange]) -> Vec<Refusal> {
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
            let cause = format!("the kernel zeroes it when '{other}' is set, and the plan sets both");
            refusals.push(Refusal::new(&change.text(), cause).hint("keep one of them"));
        }
    }
    refusals
}

/// Changes of which one resets what another one sets.
fn overlaps(planned: &[PlannedChange]) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for (index, change) in planned.iter().enumerate() {
        let has = |other: &&PlannedChange| {
            other
                .intent
                .members
                .iter()
                .any(|member| change.intent.members.iter().any(|own| own.place == member.place))
        };
        let other = planned[..index].iter().find(has);
        let is_allowed = |other: &PlannedChange| {
            other.key == change.key || other.counterpart.is_some() || change.is_of_file()
        };
        if let Some(other) = other.filter(|other| !is_allowed(other)) {
            let cause = format!("it changes together with '{}', which the plan also sets", other.key);
            refusals.push(Refusal::new(&change.key, cause).hint("try and commit one first, then the other"));
        }
    }
    refusals
}

fn one(
    change: &SettingChange,
    roots: &TuneRoots,
    is_initial_network: bool,
    earlier: &[PlannedChange],
) -> Result<PlannedChange, Refusal> {
    let refuse = |cause: String| Refusal::new(&change.text(), cause);
    let tunable = known(change)?;
    let located = tunable.locate(&change.key, roots).map_err(refuse)?;
    let place = located.places[0].clone();
    let old = match read_twice(roots, &place) {
        Err(Unreadable::Absent(_)) if tunable.scope == Scope::InitialNetwork && !is_initial_network => {
            return Err(of_initial_network(change));
        }
        old => old.map_err(|error| refuse(error.to_string()))?,
    };
    let file = |path: &str| std::fs::read_to_string(roots.place(&tunable.filled(path, &change.key))).ok();
    let context = ValueContext { unit: tunable.unit, old: &old, file: &file };
    let value = tunable.kind.parse(&change.value, &context).map_err(refuse)?;
    // Of several directives of one file, each is laid over those before it.
    let base = earlier.iter().map(|planned| &planned.intent.members[0]).find(|member| member.place == place);
    let base = base.map_or(old.as_str(), |member| member.expected.as_str());
    let new = tunable.edited(&change.key, base, value).map_err(refuse)?;
    place.check_fits(roots, &new).map_err(refuse)?;
    let (shown_old, shown_new) = (place.shown(&old, &new), place.shown(&new, &old));
    let intent = intent((change, tunable), located, (old, new), roots).map_err(refuse)?;
    let is_same = intent.members.iter().all(|member| member.follows() || member.is_expected(&member.old));
    let followers = intent.members.iter().filter(|member| member.follows());
    let blocked = place.unwritable(roots).map(|error| blocked(error, tunable, is_initial_network));
    Ok(PlannedChange {
        key: change.key.clone(),
        unit: tunable.unit,
        old: shown_old,
        new: shown_new,
        path: place.text().to_owned(),
        is_same,
        scope: tunable.scope,
        effect: tunable.effect,
        risk: tunable.risk,
        counterpart: tunable.counterpart,
        resets: followers.map(|member| member.place.text().to_owned()).collect(),
        does: tunable.does,
        source: tunable.source,
        undo: undo_lines(&intent, roots),
        rivals: Vec::new(),
        survives_boot: tunable.scope.survives_boot(),
        persists_in: tunable.persists_in(),
        blocked,
        intent,
    })
}

fn of_initial_network(change: &SettingChange) -> Refusal {
    let cause = "it belongs to the initial network namespace, but this is another one";
    let hint = "plan it on the host itself; from there, it applies to all namespaces";
    Refusal::new(&change.text(), cause).hint(hint)
}

fn known(change: &SettingChange) -> Result<&'static Tunable, Refusal> {
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

/// Why a setting has no text that could be restored.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("{0}")]
    Absent(String),
    #[error("{0}")]
    Other(String),
}

/// The text of a setting, if it is the same when it is read again.
fn read_twice(roots: &TuneRoots, place: &SettingPlace) -> Result<String, Unreadable> {
    let read = || {
        place.read(roots).map_err(|error| match place.absent(&error) {
            Some(cause) => Unreadable::Absent(cause),
            None => Unreadable::Other(format!("cannot read '{}': {error}", place.text())),
        })
    };
    let (first, second) = (read()?, read()?);
    let changes = || Unreadable::Other("its value changes on its own".into());
    if first == second { Ok(first) } else { Err(changes()) }
}

/// What is written down of a change. The first place has been read by now.
fn intent(
    (change, tunable): (&SettingChange, &Tunable),
    located: Located,
    (old, new): (String, String),
    roots: &TuneRoots,
) -> Result<Intent, String> {
    let write = |member: usize, text: &str| Write { member, text: text.into() };
    let is_open = tunable.kind.is_open();
    let mut places = located.places.into_iter();
    let first = places.next().map(|place| Member { place, old, expected: new.clone(), is_open });
    let mut members: Vec<Member> = first.into_iter().collect();
    for place in places {
        let old = read_twice(roots, &place).map_err(|error| error.to_string())?;
        members.push(Member { place, old, expected: new.clone(), is_open });
    }
    let apply = (0..members.len()).map(|index| write(index, &new)).collect();
    let olds = members.iter().map(|member| member.place.writable(&member.old)).enumerate();
    let mut restore: Vec<Write> = olds.map(|(index, old)| write(index, &old)).rev().collect();
    if let Some(other) = tunable.counterpart.and_then(find) {
        let place = other.locate(other.id, roots)?.places.remove(0);
        let old = read_twice(roots, &place).map_err(|error| error.to_string())?;
        let text = one_line(&old);
        restore = match (restore[0].text.as_str(), text.as_str()) {
            ("0", "0") => return Err(format!("both it and '{}' are 0, which cannot be restored", other.id)),
            ("0", _) => vec![write(1, &text)],
            (_, "0") => restore,
            _ => return Err(format!("both it and '{}' are in force, which cannot be restored", other.id)),
        };
        members.push(Member { place, old, expected: "0".into(), is_open: false });
    }
    let unknown = |error: io::Error| format!("cannot tell which settings are reset with it: {error}");
    for place in tunable.followers(&change.key, roots).map_err(unknown)? {
        let mut member = Member { place, old: String::new(), expected: String::new(), is_open: true };
        member.old = match member.read(roots).or_else(|_| member.read(roots)) {
            Ok(old) => old,
            Err(error) if is_for_writing_only(&error) => continue,
            Err(error) => return Err(unknown(error)),
        };
        if !member.old.is_empty() {
            restore.push(write(members.len(), &one_line(&member.old)));
        }
        members.push(member);
    }
    Ok(Intent {
        number: 0,
        key: change.key.clone(),
        scope: tunable.scope,
        members,
        witnesses: located.witnesses,
        apply,
        restore,
    })
}

/// Whether a file of `/sys` says by this that it has no text: it is then no setting of this device.
fn is_for_writing_only(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::IO | Errno::ACCESS | Errno::PERM | Errno::OPNOTSUPP))
}

fn blocked(error: Errno, tunable: &Tunable, is_initial_network: bool) -> String {
    let is_root = rustix::process::geteuid().is_root();
    match error {
        Errno::ROFS if tunable.scope == Scope::Service => "its folder is read-only here".into(),
        Errno::ROFS if tunable.scope == Scope::FileSystem => "the file system that it is on is read-only \
                                                              here"
            .into(),
        Errno::ROFS => "'/proc/sys' is read-only here, as in most containers: change it on the host".into(),
        Errno::ACCESS | Errno::PERM if !is_root => "only root can write it: run with sudo".into(),
        Errno::ACCESS | Errno::PERM if tunable.scope == Scope::InitialNetwork && !is_initial_network => {
            "it belongs to the initial network namespace, but this is another one: change it on the host"
                .into()
        }
        Errno::ACCESS | Errno::PERM => "the kernel does not let this process write it".into(),
        other => format!("it cannot be written: {other}"),
    }
}

/// Lines of shell that undo a change.
pub(crate) fn undo_lines(intent: &Intent, roots: &TuneRoots) -> Vec<String> {
    let line = |write: &Write| intent.members[write.member].place.shell_line(roots, &write.text);
    intent.restore.iter().map(line).collect()
}

#[cfg(test)]
mod tests;
