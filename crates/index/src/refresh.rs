//! Brings the table up to date with the folders: new runs are read, deleted ones are removed, finished ones are left alone.
//!
//! A folder of runs changes when a run starts, is removed, or is replaced; then its names and inodes are compared with the
//! rows. A run in progress is read again at every refresh. A finished run is settled a few seconds after its last manifest:
//! nothing writes to it anymore but labels, and whoever writes one says whose it is in `.labels`.

use crate::row::{INSERT, Stamp, write};
use crate::{IndexError, RunIndex};
use rusqlite::OptionalExtension;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirEntryExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use sysdyno_record::manifest::RunStatus;
use sysdyno_record::store::{RunListing, changed_labels};

/// Clocks of file systems are as coarse as this: what changed within it may change again without a later time.
const COARSE: Duration = Duration::from_secs(2);

/// After its last manifest, a run is left alone by whoever wrote it.
const SETTLED_AFTER: Duration = Duration::from_secs(10);

/// A run whose files grew within this is written by somebody, on this host or another one that has the folder, too.
const GROWS: Duration = Duration::from_secs(15);

/// Most folders that one refresh reads.
const READ_MAX: usize = 1_000;

/// When the index is refreshed, and who lives.
#[derive(Clone, Copy)]
pub struct RefreshMoment<'a> {
    /// Now.
    pub now: SystemTime,
    /// Whether the process with this pid and start time still runs.
    pub living: &'a dyn Fn(u32, u64) -> bool,
}

impl std::fmt::Debug for RefreshMoment<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("RefreshMoment").field("now", &self.now).finish_non_exhaustive()
    }
}

/// What a refresh did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Folders that were read.
    pub read_count: usize,
    /// New folders that are left to the next refresh; 0: the table is what the folder is.
    pub left_count: usize,
    /// Rows that were removed.
    pub gone_count: usize,
}

/// A folder among the runs.
struct Entry {
    name: OsString,
    inode: u64,
}

impl RunIndex {
    /// Brings the table up to date, by at most a thousand new folders. A folder that does not exist has no runs.
    ///
    /// # Errors
    /// The folder of runs cannot be read, or the table cannot be written.
    pub fn refresh(&mut self, moment: &RefreshMoment<'_>) -> Result<Refreshed, IndexError> {
        let changed_ns = self.changed_ns()?;
        let known_ns: i64 = self.db.query_row("SELECT changed_ns FROM folder", [], |row| row.get(0))?;
        let is_quiet = nanoseconds(moment.now) - changed_ns > COARSE.as_nanos() as i64;
        let (mut new, mut gone) = (Vec::new(), Vec::new());
        if changed_ns != known_ns || !is_quiet {
            (new, gone) = self.differences()?;
        }
        let labels_bytes: i64 = self.db.query_row("SELECT labels_bytes FROM folder", [], |row| row.get(0))?;
        let (labelled, labels_end) = changed_labels(&self.runs_dir, labels_bytes as u64);
        let labelled = self.entries_of(labelled)?;
        let left_count = new.len().saturating_sub(READ_MAX);
        new.truncate(READ_MAX);
        // While there are new ones to read, those that are known can wait.
        let known = if left_count == 0 { self.unsettled()? } else { Vec::new() };
        let is_there = |entry: &Entry| !gone.contains(&entry.name);
        let to_read: Vec<Entry> = known.into_iter().chain(labelled).filter(is_there).chain(new).collect();
        let transaction = self.db.transaction()?;
        {
            let mut delete = transaction.prepare("DELETE FROM runs WHERE name = ?1")?;
            for name in &gone {
                delete.execute([name.as_bytes()])?;
            }
            let mut insert = transaction.prepare(INSERT)?;
            for entry in &to_read {
                let listing = RunListing::read(self.runs_dir.join(&entry.name));
                write(&mut insert, &listing, stamp(&listing, entry.inode, moment))?;
            }
        }
        transaction.execute("UPDATE folder SET labels_bytes = ?1", [labels_end as i64])?;
        if left_count == 0 {
            transaction.execute("UPDATE folder SET changed_ns = ?1", [changed_ns])?;
        }
        transaction.commit()?;
        Ok(Refreshed { read_count: to_read.len(), left_count, gone_count: gone.len() })
    }

    /// When the folder of runs last got or lost a name. Unit: nanoseconds since 1970.
    fn changed_ns(&self) -> Result<i64, IndexError> {
        match std::fs::metadata(&self.runs_dir).and_then(|metadata| metadata.modified()) {
            Ok(changed) => Ok(nanoseconds(changed)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(source) => Err(IndexError::Folder { path: self.runs_dir.clone(), source }),
        }
    }

    /// Folders that have no row, or that of another folder of their name; and names of rows that have no folder.
    fn differences(&self) -> Result<(Vec<Entry>, Vec<OsString>), IndexError> {
        let mut known = self.known()?;
        let mut new = Vec::new();
        for entry in self.entries()? {
            if known.remove(&entry.name) != Some(entry.inode) {
                new.push(entry);
            }
        }
        // The newest first: names begin with the time.
        new.sort_by(|one, other| other.name.cmp(&one.name));
        Ok((new, known.into_keys().collect()))
    }

    fn entries(&self) -> Result<Vec<Entry>, IndexError> {
        let fail = |source| IndexError::Folder { path: self.runs_dir.clone(), source };
        let entries = match std::fs::read_dir(&self.runs_dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fail(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(fail)?;
            let name = entry.file_name();
            // A folder that is being made has no name yet.
            if !name.as_bytes().starts_with(b".") && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                found.push(Entry { name, inode: entry.ino() });
            }
        }
        Ok(found)
    }

    fn known(&self) -> Result<HashMap<OsString, u64>, IndexError> {
        let mut select = self.db.prepare("SELECT name, inode FROM runs")?;
        let rows = select
            .query_map([], |row| Ok((name(&row.get::<_, Vec<u8>>(0)?), row.get::<_, i64>(1)? as u64)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Those of these folders that have rows, each once.
    fn entries_of(&self, mut names: Vec<OsString>) -> Result<Vec<Entry>, IndexError> {
        names.sort_unstable();
        names.dedup();
        let mut select = self.db.prepare("SELECT inode FROM runs WHERE name = ?1")?;
        let mut found = Vec::new();
        for name in names {
            let inode = select.query_row([name.as_bytes()], |row| row.get::<_, i64>(0)).optional()?;
            found.extend(inode.map(|inode| Entry { name, inode: inode as u64 }));
        }
        Ok(found)
    }

    fn unsettled(&self) -> Result<Vec<Entry>, IndexError> {
        let mut select = self.db.prepare("SELECT name, inode FROM runs WHERE is_settled = 0")?;
        let entry = |row: &rusqlite::Row<'_>| {
            Ok(Entry { name: name(&row.get::<_, Vec<u8>>(0)?), inode: row.get::<_, i64>(1)? as u64 })
        };
        let entries = select.query_map([], entry)?;
        Ok(entries.collect::<Result<_, _>>()?)
    }
}

fn stamp(listing: &RunListing, inode: u64, moment: &RefreshMoment<'_>) -> Stamp {
    let is_older = |at: Option<SystemTime>, than: Duration| {
        at.is_some_and(|at| moment.now.duration_since(at).is_ok_and(|age| age > than))
    };
    let changed = listing.changed();
    let Ok(manifest) = &listing.manifest else {
        return Stamp { inode, changed_ns: 0, is_settled: false, is_living: false };
    };
    let is_running = manifest.status == RunStatus::Running;
    let grows = || listing.written().is_some_and(|written| !is_older(Some(written), GROWS));
    let is_living = is_running && ((moment.living)(manifest.pid, manifest.pid_start_ticks) || grows());
    let is_settled = !is_running && is_older(changed, SETTLED_AFTER);
    Stamp { inode, changed_ns: changed.map_or(0, nanoseconds), is_settled, is_living }
}

fn nanoseconds(at: SystemTime) -> i64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

fn name(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_owned()
}
