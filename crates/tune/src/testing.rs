//! The basis of this crate's tests: a tree with settings, a state folder, guardians that only take notes.

use crate::apply::{ArmGuardian, Armed, GuardOrder, Now, TrialOrder};
use crate::journal::JournalFile;
use crate::roots::TuneRoots;
use crate::spool;
use crate::state::StateFolder;
use crate::store::{self, Store, StoreSection};
use std::cell::Cell;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use sysdyno_record::change::SettingChange;
use sysdyno_record::units::{SpanNs, WallNs};
use tempfile::TempDir;

/// A tree with a few settings.
pub(crate) struct Host {
    folder: TempDir,
    pub(crate) roots: TuneRoots,
    pub(crate) state: StateFolder,
}

impl Host {
    pub(crate) fn new() -> Host {
        // In memory where that can be: these tests ask for thousands of syncs, and no host dies in them.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
        let roots = TuneRoots::at(folder.path());
        let state = StateFolder::below(Some(&folder.path().join("srv")));
        let host = Host { folder, roots, state };
        host.boot("first");
        host.set("net.core.somaxconn", "4096\n");
        host.set("net.ipv4.tcp_rmem", "4096\t131072\t33554432\n");
        host.set("vm.swappiness", "60\n");
        host
    }

    /// A boot of this name begins.
    pub(crate) fn boot(&self, name: &str) {
        self.set("kernel.random.boot_id", name);
    }

    pub(crate) fn path(&self, key: &str) -> PathBuf {
        self.folder.path().join("proc/sys").join(key.replace('.', "/"))
    }

    pub(crate) fn set(&self, key: &str, text: &str) {
        let path = self.path(key);
        fs::create_dir_all(path.parent().expect("is in a folder")).expect("makes");
        fs::write(path, text).expect("writes");
    }

    /// Writes a file, by its path from the root.
    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.roots.place(path);
        fs::create_dir_all(path.parent().expect("is in a folder")).expect("makes");
        fs::write(path, text).expect("writes");
    }

    pub(crate) fn get(&self, key: &str) -> String {
        fs::read_to_string(self.path(key)).expect("reads")
    }

    /// All settings.
    pub(crate) fn all(&self) -> Vec<String> {
        ["net.core.somaxconn", "net.ipv4.tcp_rmem", "vm.swappiness"].map(|key| self.get(key)).to_vec()
    }

    pub(crate) fn order<'a>(&'a self, changes: &'a [SettingChange]) -> TrialOrder<'a> {
        let now = Now { boot_ns: 1_000, wall: WallNs(1_795_179_000_000_000_000) };
        TrialOrder {
            roots: &self.roots,
            state: &self.state,
            changes,
            deadline: SpanNs::from_secs(600),
            now,
            tool: "0.0.0",
        }
    }

    /// Journals in a folder of the state.
    pub(crate) fn journals(&self, folder: &str) -> Vec<PathBuf> {
        store::journals(&self.state.path().join(folder)).expect("lists")
    }

    /// Second copies in a folder of the spool.
    pub(crate) fn copies(&self, folder: &str) -> Vec<PathBuf> {
        store::journals(&spool::path(&self.roots).join(folder)).expect("lists")
    }

    /// Takes the second copies away, so that the journal has to do.
    pub(crate) fn lose_copies(&self) {
        let _ = fs::remove_dir_all(spool::path(&self.roots));
    }

    /// The state folder, held.
    pub(crate) fn store(&self) -> Arc<Store> {
        Arc::new(self.state.hold().expect("is there"))
    }

    /// The one journal that is open.
    pub(crate) fn journal(&self) -> JournalFile {
        let store = self.store();
        let name = store.journals(StoreSection::Open).expect("lists").remove(0);
        JournalFile::open(&store, StoreSection::Open, &name).expect("opens").0
    }
}

/// Asks until the answer is right, as when a process that another test is just starting has a copy of a socket; the last
/// answer, right or not.
pub(crate) fn eventually<T>(ask: impl Fn() -> T, is_right: impl Fn(&T) -> bool) -> T {
    let begin = Instant::now();
    loop {
        let answer = ask();
        if is_right(&answer) || begin.elapsed() > Duration::from_secs(10) {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub(crate) fn changes(texts: &[&str]) -> Vec<SettingChange> {
    texts.iter().map(|text| text.parse().expect("is a change")).collect()
}

/// Guardians that never act: as if they had died at once.
#[derive(Default)]
pub(crate) struct Dead {
    /// Whether arming fails.
    pub(crate) refuses: bool,
    /// Whether letting go fails.
    pub(crate) dies: bool,
    /// How many were armed.
    pub(crate) armed: Rc<Cell<u32>>,
}

struct DeadGuardian(bool);

impl ArmGuardian for Dead {
    fn arm(&mut self, _: &GuardOrder) -> io::Result<Box<dyn Armed>> {
        if self.refuses {
            return Err(io::Error::other("refused"));
        }
        self.armed.set(self.armed.get() + 1);
        Ok(Box::new(DeadGuardian(self.dies)))
    }
}

impl Armed for DeadGuardian {
    fn detach(&mut self) -> io::Result<()> {
        if self.0 { Err(io::Error::from(io::ErrorKind::BrokenPipe)) } else { Ok(()) }
    }
}
