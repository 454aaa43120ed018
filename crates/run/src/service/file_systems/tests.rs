//! Trials of journals on images, with the real programs: what comes back, after which deaths, and what is refused.

use super::*;
use std::fs;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use sysdyno_record::change::SettingChange;
use sysdyno_record::units::{SpanNs, WallNs};
use sysdyno_tune::{
    ArmGuardian, Armed, GuardOrder, HeldTrial, Now, Recovery, StateFolder, TrialOrder, TuneError, TuneRoots,
    UndoOutcome,
};

/// A guardian that died at once.
struct Dead;

impl ArmGuardian for Dead {
    fn arm(&mut self, _: &GuardOrder) -> io::Result<Box<dyn Armed>> {
        Ok(Box::new(Dead))
    }
}

impl Armed for Dead {
    fn detach(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The real programs, until the process that asks for them dies: when it is about to ask once more than this often.
#[derive(Debug)]
struct Mortal(AtomicU32);

impl Mortal {
    fn new(calls: u32) -> &'static Mortal {
        // Programs live as long as the one who asks them.
        Box::leak(Box::new(Mortal(AtomicU32::new(calls))))
    }

    fn live(&self) {
        let left = self.0.load(Ordering::Relaxed);
        if left == 0 {
            resume_unwind(Box::new("dead"));
        }
        self.0.store(left - 1, Ordering::Relaxed);
    }
}

impl FileSystems for Mortal {
    fn inspect(&self, file: &File) -> io::Result<FileSystem> {
        FILE_SYSTEM_PROGRAMS.inspect(file)
    }

    fn check_programs(&self) -> io::Result<()> {
        FILE_SYSTEM_PROGRAMS.check_programs()
    }

    fn check(&self, file: &File) -> io::Result<()> {
        self.live();
        FILE_SYSTEM_PROGRAMS.check(file)
    }

    fn remove_journal(&self, file: &File) -> io::Result<()> {
        self.live();
        FILE_SYSTEM_PROGRAMS.remove_journal(file)
    }

    fn add_journal(&self, file: &File, size_mib: u64) -> io::Result<()> {
        self.live();
        FILE_SYSTEM_PROGRAMS.add_journal(file, size_mib)
    }
}

/// A tree with an image in it, one at a time: a program that another test is just starting holds the locks of this process
/// until it is executed, as if what died here had a guardian.
struct Host {
    folder: tempfile::TempDir,
    state: StateFolder,
    _alone: MutexGuard<'static, ()>,
}

static ALONE: Mutex<()> = Mutex::new(());

const TEXT: &str = "what was there before is there after\n";

impl Host {
    /// Makes a file system of 128 MiB with a journal of 8; `None` where the programs are not there.
    fn new(kind: &str) -> Option<Host> {
        let is_there = ["mkfs.ext4", "tune2fs", "e2fsck", "debugfs"].iter().all(|name| find(&[name]).is_ok());
        if !is_there {
            sysdyno_needs::skip("programs of file systems", &["e2fsprogs"]);
            return None;
        }
        // In memory where that can be: every program syncs, and files in memory can be leased.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let host = Host { state: StateFolder::below(Some(&folder.path().join("var"))), folder, _alone };
        host.boot("first");
        host.make(kind);
        Some(host)
    }

    fn make(&self, kind: &str) {
        let files = self.folder.path().join("files");
        fs::create_dir_all(&files).expect("makes");
        fs::write(files.join("text"), TEXT).expect("writes");
        let mut words = kind.split(' ');
        let mkfs = find(&["mkfs.ext4"]).expect("is there");
        let made = Command::new(mkfs)
            .args(["-q", "-F", "-t", words.next().expect("a type"), "-d"])
            .arg(&files)
            .args(words)
            .arg(self.image())
            .arg("128M")
            .output()
            .expect("runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("disk.img")
    }

    /// Starts a script about the image. Nothing here opens it for writing: a program that another test is just starting
    /// would have it open too, for a moment.
    fn shell(&self, script: &str) -> Child {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(self.image()).stdin(Stdio::piped()).stdout(Stdio::piped());
        shell.spawn().expect("starts")
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("is in a folder")).expect("makes");
        fs::write(path, text).expect("writes");
    }

    fn boot(&self, name: &str) {
        self.put("proc/sys/kernel/random/boot_id", name);
    }

    fn roots(&self, programs: &'static dyn FileSystems) -> TuneRoots {
        TuneRoots::at(self.folder.path()).with_file_systems(programs)
    }

    /// What the superblock says, after all of the structure was found in order, and with the text that is in it.
    fn look(&self) -> (FileSystem, String) {
        let file = File::open(self.image()).expect("opens");
        FILE_SYSTEM_PROGRAMS.check(&file).expect("is in order");
        let debugfs = find(&["debugfs"]).expect("is there");
        let cat = Command::new(debugfs).args(["-R", "cat /text"]).arg(self.image()).output().expect("runs");
        (FILE_SYSTEM_PROGRAMS.inspect(&file).expect("is there"), String::from_utf8_lossy(&cat.stdout).into())
    }

    fn journal_mib(&self) -> Option<u64> {
        self.look().0.journal_bytes.map(|bytes| bytes >> 20)
    }

    fn apply(
        &self,
        size_mib: &str,
        programs: &'static dyn FileSystems,
    ) -> Result<Option<HeldTrial>, TuneError> {
        let changes: [SettingChange; 1] =
            [format!("ext4:/disk.img:journal_mib={size_mib}").parse().expect("is one")];
        let order = TrialOrder {
            roots: &self.roots(programs),
            state: &self.state,
            changes: &changes,
            deadline: SpanNs::from_secs(600),
            now: Now { boot_ns: 1_000, wall: WallNs(1_795_179_000_000_000_000) },
            tool: "0.0.0",
        };
        sysdyno_tune::apply(&order, &mut Dead)
    }

    fn refusal(&self, size_mib: &str) -> String {
        self.apply(size_mib, &FILE_SYSTEM_PROGRAMS).err().expect("is refused").to_string()
    }

    fn recover(&self, programs: &'static dyn FileSystems) -> Vec<Recovery> {
        sysdyno_tune::recover(&self.state, &self.roots(programs)).expect("recovers")
    }

    /// Changes and undoes; both may die.
    fn live(&self, programs: &'static dyn FileSystems) {
        let trial = self.apply("16", programs).expect("applies").expect("changes something");
        assert_eq!(self.journal_mib(), Some(16));
        let undone = sysdyno_tune::undo(&self.state, &self.roots(programs), Some(&trial.id));
        assert!(undone.expect("undoes").is_clean());
    }
}

fn is_dead(what: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(what)).is_err_and(|cause| match cause.downcast_ref::<&str>() {
        Some(&"dead") => true,
        _ => resume_unwind(cause),
    })
}

#[test]
fn a_journal_changes_its_size_and_changes_back() {
    for kind in
        ["ext4 -J size=8", "ext3 -J size=8", "ext4 -b 1024 -J size=8", "ext4 -O ^metadata_csum,^64bit"]
    {
        let Some(host) = Host::new(kind) else { return };
        let before = host.look();
        assert_eq!(before.1, TEXT);
        host.live(&FILE_SYSTEM_PROGRAMS);
        assert_eq!(host.look(), before, "{kind}");
    }
}

/// A change asks for four programs, and so does its undoing: each is the last one in turn, and then in recovery again.
#[test]
fn whatever_dies_between_two_programs_the_old_size_comes_back() {
    let Some(host) = Host::new("ext4 -J size=8") else { return };
    let before = host.look();
    for first in 0..8 {
        assert!(is_dead(|| host.live(Mortal::new(first))), "at {first}");
        let is_changed = (2..7).contains(&first);
        let mut deaths = 0;
        loop {
            let mut found = Vec::new();
            if is_dead(|| found = host.recover(Mortal::new(deaths))) {
                deaths += 1;
            } else if !is_changed || !found.is_empty() {
                break;
            } else {
                // A program that another test is just starting has the lock of the trial, which is left alone meanwhile.
                std::thread::yield_now();
            }
        }
        // Recovery dies before each program that it needs, and gets one further each time.
        assert_eq!(deaths, if is_changed { 3 } else { 0 }, "at {first}");
        assert_eq!(host.look(), before, "at {first}");
        assert!(host.recover(&FILE_SYSTEM_PROGRAMS).is_empty(), "at {first}");
    }
}

#[test]
fn a_reboot_does_not_bring_a_journal_back_but_recovery_does() {
    let Some(host) = Host::new("ext4 -J size=8") else { return };
    let before = host.look();
    let outcome = |what: &[Recovery]| what[0].restored[0].outcome;
    drop(host.apply("16", &FILE_SYSTEM_PROGRAMS).expect("applies"));
    host.boot("second");
    assert_eq!(outcome(&host.recover(&FILE_SYSTEM_PROGRAMS)), UndoOutcome::Restored);
    assert_eq!(host.look(), before);
    // Somebody else decides.
    drop(host.apply("16", &FILE_SYSTEM_PROGRAMS).expect("applies"));
    let image = File::open(host.image()).expect("opens");
    FILE_SYSTEM_PROGRAMS.remove_journal(&image).expect("removes");
    FILE_SYSTEM_PROGRAMS.add_journal(&image, 12).expect("adds");
    drop(image);
    assert_eq!(outcome(&host.recover(&FILE_SYSTEM_PROGRAMS)), UndoOutcome::Conflict);
    assert_eq!(host.journal_mib(), Some(12));
    // Another file system is there.
    drop(host.apply("16", &FILE_SYSTEM_PROGRAMS).expect("applies"));
    host.make("ext4 -J size=16");
    assert_eq!(outcome(&host.recover(&FILE_SYSTEM_PROGRAMS)), UndoOutcome::Gone);
    assert_eq!(host.journal_mib(), Some(16));
}

#[test]
fn one_that_is_used_when_it_should_be_put_back_waits_for_the_next_recovery() {
    let Some(host) = Host::new("ext4 -J size=8") else { return };
    let before = host.look();
    drop(host.apply("16", &FILE_SYSTEM_PROGRAMS).expect("applies"));
    let backing = "sys/block/loop7/loop/backing_file";
    host.put(backing, &format!("{}\n", host.image().display()));
    let failed = &host.recover(&FILE_SYSTEM_PROGRAMS)[0].restored[0];
    assert_eq!(failed.outcome, UndoOutcome::Failed);
    assert_eq!(failed.cause.as_deref(), Some("it is attached as '/dev/loop7': detach it first"));
    assert_eq!(host.journal_mib(), Some(16));
    fs::remove_file(host.folder.path().join(backing)).expect("removes");
    assert!(host.recover(&FILE_SYSTEM_PROGRAMS)[0].is_clean());
    assert_eq!(host.look(), before);
}

#[test]
fn what_is_used_or_not_in_order_or_too_large_is_refused_before_anything_is_written() {
    let Some(host) = Host::new("ext4 -b 4096 -J size=8") else { return };
    let before = fs::read(host.image()).expect("reads");
    let refuses = |size_mib: &str, cause: &str| {
        let refusal = host.refusal(size_mib);
        assert!(refusal.contains(cause), "{refusal}");
    };
    refuses("3", "it takes 4 to");
    refuses("100", "at most half of the free space");
    refuses("0", "out of range");
    refuses("big", "is not a number");
    let mut writer = host.shell("exec 3<>\"$0\" && echo open && read line");
    let mut said = [0; 5];
    writer.stdout.as_mut().expect("is piped").read_exact(&mut said).expect("opens it");
    refuses("16", "another program has it open for writing");
    drop(writer.stdin.take());
    writer.wait().expect("ends");
    let at = |offset: u64, byte: u8| {
        let at = ext::SUPERBLOCK_OFFSET + offset;
        let script = format!("printf '\\{byte:03o}' | dd of=\"$0\" bs=1 seek={at} conv=notrunc status=none");
        assert!(host.shell(&script).wait().expect("ends").success());
    };
    let old = |offset: usize| before[ext::SUPERBLOCK_OFFSET as usize + offset];
    let wrong = [
        (0x60, old(0x60) | 4, "mount and unmount it"),
        (0x61, old(0x61) | 1, "the feature 'mmp'"),
        (0x3a, 3, "run e2fsck on it first"),
        (0x39, 0, "it is not ext3 or ext4"),
        (0xe0, 0, "its journal is on another device"),
        // What none of these fields tells, the check of the whole does.
        (0x64, old(0x64) ^ 1, "it is not clean"),
    ];
    for (offset, byte, cause) in wrong {
        at(offset as u64, byte);
        refuses("16", cause);
        at(offset as u64, old(offset));
    }
    assert!(fs::read(host.image()).expect("reads") == before, "not a byte was written");
    host.make("ext2");
    refuses("16", "it has no journal");
    let plain = TuneRoots::at(host.folder.path());
    let change: SettingChange = "ext4:/disk.img:journal_mib=16".parse().expect("is one");
    let alone = sysdyno_tune::plan(&[change], &plain).expect_err("is refused").to_string();
    assert!(alone.contains("no program is available to check it"), "{alone}");
}
