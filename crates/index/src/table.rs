//! The table on disk: where it is, its schema, and when it is discarded.

use crate::{IndexError, KEPT_RUNS_MIN};
use rusqlite::{Connection, OpenFlags};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Changes with every change of the table or of what is put into it.
const VERSION: i64 = 4;

/// How long another process that writes is waited for.
const BUSY: Duration = Duration::from_secs(5);

/// Rows in memory, so that a search over all of them reads no file twice. Unit: KiB, negative as SQLite wants it.
const CACHE_KIB: i64 = -65_536;

const SCHEMA: &str = "
CREATE TABLE runs (
  name BLOB PRIMARY KEY, inode INTEGER NOT NULL, changed_ns INTEGER NOT NULL, is_settled INTEGER NOT NULL,
  unreadable TEXT, kind TEXT, status TEXT, is_living INTEGER NOT NULL, started_ns INTEGER NOT NULL, ended_ns INTEGER,
  command TEXT, url TEXT, verdict INTEGER, word TEXT, rate_hz REAL, p99_ns INTEGER NOT NULL, bottleneck TEXT, reason TEXT,
  words TEXT NOT NULL, tags TEXT NOT NULL, note TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX runs_searched ON runs
  (started_ns DESC, name DESC, unreadable, words, tags, kind, verdict, word, rate_hz, p99_ns);
CREATE INDEX runs_unsettled ON runs (is_settled) WHERE is_settled = 0;
CREATE TABLE folder (path BLOB NOT NULL, changed_ns INTEGER NOT NULL, labels_bytes INTEGER NOT NULL);
";

/// The runs of a folder as a table.
#[derive(Debug)]
pub struct RunIndex {
    pub(crate) db: Connection,
    pub(crate) runs_dir: PathBuf,
}

impl RunIndex {
    /// The index of a folder, kept in the folder `cache` where that is given and can be written, else in memory.
    ///
    /// It knows what it knew when it was last refreshed, which may be nothing.
    ///
    /// # Errors
    /// Not even a table in memory can be made.
    pub fn open(runs_dir: &Path, cache: Option<&Path>) -> Result<RunIndex, IndexError> {
        let kept = cache.and_then(|cache| kept(runs_dir, cache));
        let db = match kept {
            Some(db) => db,
            None => empty(Connection::open_in_memory()?, runs_dir)?,
        };
        Ok(RunIndex { db, runs_dir: runs_dir.to_owned() })
    }
}

/// The index in the user's cache; `None`: there can be none.
fn kept(runs_dir: &Path, cache: &Path) -> Option<Connection> {
    // Links are resolved, so that a folder has one index whatever it is called.
    let runs_dir = runs_dir.canonicalize().ok()?;
    let path = cache.join(file_name(&runs_dir));
    if !path.exists() && std::fs::read_dir(&runs_dir).ok()?.take(KEPT_RUNS_MIN).count() < KEPT_RUNS_MIN {
        return None;
    }
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(cache).ok()?;
    if let Some(db) = connect(&path).filter(|db| is_current(db, &runs_dir).unwrap_or(false)) {
        return Some(db);
    }
    // Whatever it was, it is made again.
    for ending in ["", "-wal", "-shm"] {
        let mut file = path.clone().into_os_string();
        file.push(ending);
        let _ = rustix::fs::unlink(&file);
    }
    let db = empty(connect(&path)?, &runs_dir).ok()?;
    let _ = rustix::fs::chmod(&path, rustix::fs::Mode::from_raw_mode(0o600));
    Some(db)
}

/// A name for each folder.
fn file_name(runs_dir: &Path) -> String {
    let digest = Sha256::digest(runs_dir.as_os_str().as_bytes());
    let mut name = String::from("runs-");
    for byte in digest.iter().take(12) {
        let _ = write!(name, "{byte:02x}");
    }
    name + ".sqlite"
}

fn connect(path: &Path) -> Option<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = Connection::open_with_flags(path, flags).ok()?;
    db.busy_timeout(BUSY).ok()?;
    // Readers do not wait for a writer; what the death of the host loses is made again.
    db.pragma_update(None, "journal_mode", "wal").ok()?;
    db.pragma_update(None, "synchronous", "normal").ok()?;
    db.pragma_update(None, "cache_size", CACHE_KIB).ok()?;
    Some(db)
}

fn is_current(db: &Connection, runs_dir: &Path) -> Result<bool, rusqlite::Error> {
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let path: Vec<u8> = db.query_row("SELECT path FROM folder", [], |row| row.get(0))?;
    let check: String = db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    Ok(version == VERSION && path == runs_dir.as_os_str().as_bytes() && check == "ok")
}

fn empty(db: Connection, runs_dir: &Path) -> Result<Connection, IndexError> {
    db.execute_batch(SCHEMA)?;
    db.execute("INSERT INTO folder VALUES (?1, 0, 0)", [runs_dir.as_os_str().as_bytes()])?;
    db.pragma_update(None, "user_version", VERSION)?;
    Ok(db)
}
