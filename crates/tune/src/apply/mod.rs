//! Applies a plan's changes as a trial: first the journal, then the guardian, then the writes.

use crate::error::TuneError;
use crate::journal::{Intent, JournalRecord, Member, Transaction, TrialStart, Twin, Write};
use crate::netns;
use crate::plan::{TunePlan, plan_alone};
use crate::process::start_ticks;
use crate::restore::{self, Recovery};
use crate::roots::TuneRoots;
use crate::spool;
use crate::state::StateFolder;
use crate::store::{Lock, PATIENCE, Store, StoreSection};
use crate::text::one_line;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use sysdyno_record::change::SettingChange;
use sysdyno_record::units::{SpanNs, WallNs};

/// The present, which the caller reads.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// On `CLOCK_BOOTTIME`. Unit: nanoseconds.
    pub boot_ns: u64,
    /// On the wall clock.
    pub wall: WallNs,
}

/// A trial that is to be made.
#[derive(Clone, Debug)]
pub struct TrialOrder<'a> {
    /// Where settings are.
    pub roots: &'a TuneRoots,
    /// Where the journal is kept.
    pub state: &'a StateFolder,
    /// The changes.
    pub changes: &'a [SettingChange],
    /// After which time the guardian undoes them.
    pub deadline: SpanNs,
    /// The present.
    pub now: Now,
    /// Version of this program.
    pub tool: &'a str,
}

/// What a guardian has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardOrder {
    /// The state folder, with `tune` at its end.
    pub state: PathBuf,
    /// The root of the settings.
    pub root: PathBuf,
    /// The journal.
    pub id: String,
}

/// Starts guardians; processes are not started by this crate.
pub trait ArmGuardian {
    /// Starts a guardian and returns when it holds its journal.
    ///
    /// # Errors
    /// It could not be started, or did not say that it is armed.
    fn arm(&mut self, order: &GuardOrder) -> io::Result<Box<dyn Armed>>;
}

/// A guardian that watches over a trial. It undoes the trial when this value is dropped.
pub trait Armed {
    /// Lets the guardian wait for the deadline alone, whatever becomes of this process.
    ///
    /// # Errors
    /// It is dead.
    fn detach(&mut self) -> io::Result<()>;
}

/// A trial that is held.
pub struct HeldTrial {
    /// The name of its journal.
    pub id: String,
    /// What was planned.
    pub plan: TunePlan,
    guardian: Box<dyn Armed>,
    state: Arc<Store>,
    roots: TuneRoots,
    twin: Twin,
    transaction: Transaction,
}

impl HeldTrial {
    /// Leaves the trial to its guardian, which undoes it at the deadline.
    ///
    /// # Errors
    /// The guardian is dead; the trial was undone.
    pub fn detach(mut self) -> Result<TunePlan, TuneError> {
        match self.guardian.detach() {
            Ok(()) => Ok(self.plan),
            Err(source) => Err(self.undo_alone(source)),
        }
    }

    /// Undoes it by what this process holds of it, since its guardian is dead.
    fn undo_alone(mut self, source: io::Error) -> TuneError {
        let state = Arc::clone(&self.state);
        let lock = state.lock("apply", PATIENCE);
        if let Err(error) = lock {
            return TuneError::GuardianDied { source, afterwards: error.to_string(), is_restored: false };
        }
        let now = self.twin.reread().filter(Transaction::is_whole).unwrap_or(self.transaction);
        let recovery = restore::finish(&mut self.twin, &now, &self.roots, None);
        TuneError::GuardianDied {
            source,
            afterwards: afterwards(&recovery),
            is_restored: recovery.is_clean(),
        }
    }
}

/// Makes a trial of changes; `None` if all settings are what they should become.
///
/// # Errors
/// See [`TuneError`]: whatever it is, either nothing was written or all was restored, or the text says what was not.
pub fn apply(
    order: &TrialOrder<'_>,
    guardians: &mut dyn ArmGuardian,
) -> Result<Option<HeldTrial>, TuneError> {
    // Wrong changes are named before anything of ours is made.
    plan_alone(order.changes, order.roots)?.check_unblocked()?;
    let state = Arc::new(order.state.hold()?);
    let spool = Arc::new(spool::hold(order.roots, &state)?);
    let lock = state.lock("apply", Duration::ZERO)?;
    restore::recover_abandoned(&state, Some(&spool), order.roots)?;
    restore::recover_lost(&spool, order.roots)?;
    refuse_second(&state, &spool)?;
    let plan = plan_alone(order.changes, order.roots)?;
    let intents = plan.intents();
    if intents.is_empty() {
        return Ok(None);
    }
    let begin = begin(order, (&state, &spool), intents.len())?;
    let records = [JournalRecord::Begin(begin.clone())]
        .into_iter()
        .chain(intents.iter().cloned().map(JournalRecord::Intent));
    let records: Vec<JournalRecord> = records.collect();
    let mut twin = Twin::create(&state, &spool, &begin.id, &records)?;
    let mut transaction = Transaction::of(records).expect("the first record is the begin");
    let root = order.roots.path().into();
    let guard = GuardOrder { state: state.path().into(), root, id: begin.id.clone() };
    let guardian = match guardians.arm(&guard) {
        Ok(guardian) => guardian,
        Err(source) => {
            restore::finish(&mut twin, &transaction, order.roots, None);
            return Err(TuneError::Guardian { source });
        }
    };
    if let Err(failed) = write_all(&mut transaction, &mut twin, order.roots) {
        return Err(roll_back(failed, (&mut twin, &transaction), order));
    }
    drop::<Lock<'_>>(lock);
    let roots = order.roots.clone();
    Ok(Some(HeldTrial { id: begin.id, plan, guardian, state, roots, twin, transaction }))
}

fn refuse_second(state: &Store, spool: &Arc<Store>) -> Result<(), TuneError> {
    let Some(name) = state.journals(StoreSection::Open)?.into_iter().next() else {
        return restore::refuse_lost(spool, state);
    };
    let id = name.trim_end_matches(".wal");
    let cause = format!(
        "trial {id} is still open\nhint: `sysdyno tune commit` keeps its changes, `sysdyno tune undo` undoes \
         them"
    );
    Err(TuneError::Busy { cause })
}

/// A name that no journal has had: of the second and this process, and numbered if it makes several trials in a second.
fn free_id(wall: WallNs, (state, spool): (&Store, &Store)) -> String {
    let stamp: String = wall.to_string().chars().filter(char::is_ascii_digit).collect();
    let id = format!("{}-{}-{}", &stamp[..8], &stamp[8..14], std::process::id());
    let numbered = (2..).map(|number: u32| format!("{id}-{number}"));
    let mut ids = std::iter::once(id.clone()).chain(numbered);
    ids.find(|id| !state.knows(id) && !spool.knows(id)).unwrap_or(id)
}

fn begin(
    order: &TrialOrder<'_>,
    (state, spool): (&Store, &Store),
    intents: usize,
) -> Result<TrialStart, TuneError> {
    let pid = std::process::id();
    let no_text = || TuneError::not_durable("name", state.path())(io::Error::other("its path is not UTF-8"));
    Ok(TrialStart {
        id: free_id(order.now.wall, (state, spool)),
        state: Some(state.path().to_str().ok_or_else(no_text)?.to_owned()),
        tool: order.tool.into(),
        boot_id: restore::boot_id(order.roots)?,
        netns: netns::current(order.roots),
        pid,
        start_ticks: start_ticks(pid).unwrap_or(0),
        uid: rustix::process::geteuid().as_raw(),
        started_unix_ns: order.now.wall,
        deadline_boot_ns: order.now.boot_ns.saturating_add(order.deadline.0),
        root: order.roots.path().display().to_string(),
        intents_count: u32::try_from(intents).expect("a plan has at most 256 changes"),
    })
}

/// What went wrong while settings were being written.
struct Failed {
    key: String,
    text: String,
    cause: String,
}

fn write_all(transaction: &mut Transaction, twin: &mut Twin, roots: &TuneRoots) -> Result<(), Failed> {
    for intent in &transaction.intents {
        let failed = |cause: String| Failed {
            key: intent.key.clone(),
            text: intent.members.first().map(Member::shown_new).unwrap_or_default(),
            cause,
        };
        let found = write_one(intent, roots).map_err(failed)?;
        let record = JournalRecord::Applied { number: intent.number, found: found.clone() };
        transaction.applied.insert(intent.number, found.clone());
        twin.append(&record).map_err(|error| failed(error.to_string()))?;
        let is_expected = intent.members.iter().zip(&found).all(|(member, found)| member.is_expected(found));
        if !is_expected {
            return Err(failed(format!("it reads back as '{}'", one_line(&found[0]))));
        }
    }
    let failed = |cause: String| Failed { key: "the trial".into(), text: "held".into(), cause };
    twin.append_durably(&JournalRecord::Hold {}).map_err(|error| failed(error.to_string()))?;
    match twin.is_in_place() {
        true => Ok(()),
        // Its guardian would undo it at once.
        false => Err(failed(format!("'{}' was moved or removed in the meantime", twin.path().display()))),
    }
}

/// Writes one change, if its members are still what they were, and reads them back.
fn write_one(intent: &Intent, roots: &TuneRoots) -> Result<Vec<String>, String> {
    let read = |member: &Member| {
        member.read(roots).map_err(|error| format!("cannot read '{}': {error}", member.place.text()))
    };
    for member in &intent.members {
        if read(member)? != member.old {
            return Err(format!("somebody else changed '{}' in the meantime", member.place.text()));
        }
    }
    let member = |write: &Write| &intent.members[write.member].place;
    let written = intent.apply.iter().try_for_each(|write| member(write).write(roots, &write.text));
    let told = || intent.members.iter().try_for_each(|member| member.place.take_effect(roots));
    written.and_then(|()| told()).map_err(|error| error.to_string())?;
    intent.members.iter().map(read).collect()
}

fn roll_back(failed: Failed, what: (&mut Twin, &Transaction), order: &TrialOrder<'_>) -> TuneError {
    let (twin, transaction) = what;
    let recovery = restore::finish(twin, transaction, order.roots, None);
    let (afterwards, is_restored) = (afterwards(&recovery), recovery.is_clean());
    TuneError::Write { key: failed.key, text: failed.text, cause: failed.cause, afterwards, is_restored }
}

fn afterwards(recovery: &Recovery) -> String {
    if recovery.is_clean() { "all settings have their old values".into() } else { unclean(recovery) }
}

fn unclean(recovery: &Recovery) -> String {
    let left = recovery.restored.iter().filter(|restored| !restored.outcome.is_clean());
    let lines: Vec<String> = left.map(|restored| format!("not restored: {}", restored.key)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod file_tests;
#[cfg(test)]
mod tests;
