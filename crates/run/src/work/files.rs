//! Operations on many small files, as in a version control system or a mail store: create and write, lock, sync, rename into
//! place, and remove when there are enough of them.
//!
//! Everything happens in a dedicated folder, which must be new or empty. A mark in it says whose it is, so that the next run
//! can remove what a killed process left. Names are opened relative to the descriptors of folders created here and never
//! through a link, and only names of the form used here are removed. Anything else found there stays and is reported.

use crate::clock;
use crate::error::RunError;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, Dir, FlockOperation, Mode, OFlags, flock, fsync, mkdirat, openat, renameat, unlinkat,
};
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};
use sysdyno_record::units::MonoNs;
use sysdyno_record::work::{FileOperation, FileWork};

/// The file that marks a folder's owner.
const MARK: &str = "made-by-sysdyno";

/// The folder of all workers.
pub(super) struct WorkFolder {
    path: PathBuf,
    folder: OwnedFd,
    is_made: bool,
}

impl WorkFolder {
    /// Makes the folder, or takes an empty one, or one that a killed process left.
    ///
    /// # Errors
    /// There is something in it that was not made here, or it cannot be made or opened.
    pub(super) fn prepare(path: &Path) -> Result<WorkFolder, RunError> {
        let failed = |operation| move |errno: Errno| error(operation, path, errno.into());
        let is_made = match mkdirat(CWD, path, Mode::RWXU) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(failed("make")(errno)),
        };
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(CWD, path, flags, Mode::empty()).map_err(failed("open"))?;
        let names = names_in(&folder).map_err(failed("read"))?;
        let is_left = names.iter().any(|name| name == MARK);
        let ground = WorkFolder { path: path.to_owned(), folder, is_made: is_made || is_left };
        if is_left {
            ground.empty();
        }
        let names = names_in(&ground.folder).map_err(failed("read"))?;
        if let Some(name) = names.first() {
            let cause = format!(
                "it is not empty: it contains '{}', which sysdyno did not create",
                name.escape_debug()
            );
            return Err(error("use", path, io::Error::other(cause)));
        }
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&ground.folder, MARK, flags, Mode::RUSR | Mode::WUSR).map_err(failed("write to"))?;
        Ok(ground)
    }

    /// The folder of one worker.
    pub(super) fn plot(&self, worker: u32, work: &FileWork) -> Result<Plot, RunError> {
        let name = folder_name(worker);
        let failed = |errno: Errno| error("make", &self.path.join(&name), errno.into());
        mkdirat(&self.folder, name.as_str(), Mode::RWXU).map_err(failed)?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(&self.folder, name.as_str(), flags, Mode::empty()).map_err(failed)?;
        let content = vec![b'x'; work.file_bytes as usize];
        Ok(Plot { folder, content, files_count: work.files_count.max(1), next: 0 })
    }

    /// Removes all that was made here; what is left, in a sentence.
    pub(super) fn clear(self) -> Option<String> {
        self.empty();
        let left = names_in(&self.folder).unwrap_or_default();
        let path = self.path.display();
        match left.iter().find(|name| *name != MARK) {
            Some(name) => Some(format!("'{path}' was not removed: it contains '{}'", name.escape_debug())),
            None if self.is_made => {
                let removed = unlinkat(CWD, &self.path, AtFlags::REMOVEDIR);
                removed.err().map(|errno| format!("'{path}' was not removed: {errno}"))
            }
            None => None,
        }
    }

    /// Removes what has a name of the form that is made here; the mark last.
    fn empty(&self) {
        for name in names_in(&self.folder).unwrap_or_default().iter().filter(|name| is_ours(name, 'w')) {
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(folder) = openat(&self.folder, name.as_str(), flags, Mode::empty()) else { continue };
            let files = names_in(&folder).unwrap_or_default();
            for file in files.iter().filter(|file| is_ours(file.trim_end_matches(".new"), 'f')) {
                // What cannot be removed is told in the end, by the folder that stays.
                let _ = unlinkat(&folder, file.as_str(), AtFlags::empty());
            }
            let _ = unlinkat(&self.folder, name.as_str(), AtFlags::REMOVEDIR);
        }
        if names_in(&self.folder).unwrap_or_default().iter().all(|name| name == MARK) {
            let _ = unlinkat(&self.folder, MARK, AtFlags::empty());
        }
    }
}

fn error(operation: &'static str, path: &Path, source: io::Error) -> RunError {
    RunError::Process { operation, object: format!("folder '{}'", path.display()), source }
}

/// Names in a folder, without `.` and `..`; one that is no UTF-8 is nobody's of ours, and shown as far as it can be.
fn names_in(folder: impl AsFd) -> Result<Vec<String>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    Ok(names)
}

fn folder_name(worker: u32) -> String {
    format!("w{worker:04}")
}

fn file_name(number: u64) -> String {
    format!("f{number:010}")
}

/// Whether a name is a letter and digits only.
fn is_ours(name: &str, letter: char) -> bool {
    let digits = name.strip_prefix(letter).unwrap_or_default();
    digits.len() >= 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Takes what was done: which operation, from when to when, and how it went.
pub(super) type Note<'a> = dyn FnMut(FileOperation, [MonoNs; 2], Result<(), Errno>) + 'a;

/// The folder of one worker.
pub(super) struct Plot {
    folder: OwnedFd,
    content: Vec<u8>,
    files_count: u32,
    /// Number of the next file.
    next: u64,
}

impl Plot {
    /// One file from its creation to its place; and one that is as old as there may be files is removed.
    ///
    /// An operation that fails ends the turn of this file.
    pub(super) fn turn(&mut self, note: &mut Note<'_>) {
        let (name, draft) = (file_name(self.next), format!("{}.new", file_name(self.next)));
        let oldest = self.next.checked_sub(u64::from(self.files_count)).map(file_name);
        self.next += 1;
        let mut timed = |operation, act: &dyn Fn() -> Result<(), Errno>| {
            let begin = clock::monotonic();
            let done = act();
            note(operation, [begin, clock::monotonic()], done);
            done.is_ok()
        };
        let is_placed = timed(FileOperation::Create, &|| self.create(&draft))
            && timed(FileOperation::Lock, &|| self.lock(&draft))
            && timed(FileOperation::Fsync, &|| fsync(self.open(&draft)?))
            && timed(FileOperation::Rename, &|| renameat(&self.folder, &*draft, &self.folder, &*name));
        if let Some(oldest) = oldest.filter(|_| is_placed) {
            timed(FileOperation::Unlink, &|| unlinkat(&self.folder, oldest.as_str(), AtFlags::empty()));
        }
    }

    fn create(&self, name: &str) -> Result<(), Errno> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.folder, name, flags, Mode::RUSR | Mode::WUSR)?;
        let mut rest = &self.content[..];
        while !rest.is_empty() {
            rest = &rest[rustix::io::write(&file, rest)?..];
        }
        Ok(())
    }

    fn lock(&self, name: &str) -> Result<(), Errno> {
        let file = self.open(name)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        flock(&file, FlockOperation::Unlock)
    }

    fn open(&self, name: &str) -> Result<OwnedFd, Errno> {
        openat(&self.folder, name, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn work(folder: &Path) -> FileWork {
        FileWork { folder: folder.to_owned(), files_count: 3, file_bytes: 100 }
    }

    #[test]
    fn each_file_sees_each_operation_and_nothing_is_left() {
        let above = tempfile::tempdir().expect("a folder");
        let path = above.path().join("ground");
        let ground = WorkFolder::prepare(&path).expect("is made");
        let mut plot = ground.plot(0, &work(&path)).expect("is made");
        let mut seen = Vec::new();
        for _ in 0..5 {
            plot.turn(&mut |operation, [begin, end], done| {
                assert!(done.is_ok() && end >= begin, "{operation:?}: {done:?}");
                seen.push(operation);
            });
        }
        let count = |operation| seen.iter().filter(|other| **other == operation).count();
        assert_eq!(FileOperation::ALL.map(count), [5, 5, 5, 5, 2]);
        let kept = fs::read_dir(path.join("w0000")).expect("is there").count();
        assert_eq!(kept, 3);
        assert_eq!(fs::metadata(path.join("w0000/f0000000004")).expect("is there").len(), 100);
        assert_eq!(ground.clear(), None);
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_with_anything_else_in_it_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("theirs"), "x").expect("is written");
        let error = WorkFolder::prepare(folder.path()).err().expect("is refused").to_string();
        assert!(error.contains("it contains 'theirs'"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).expect("is there").count(), 1);
        let file = folder.path().join("theirs");
        assert!(WorkFolder::prepare(&file).is_err(), "a file is no folder");
        std::os::unix::fs::symlink(folder.path(), folder.path().join("link")).expect("is made");
        assert!(WorkFolder::prepare(&folder.path().join("link")).is_err(), "a link is not followed");
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_others_put_there_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ground");
        let left = WorkFolder::prepare(&path).expect("is made");
        left.plot(7, &work(&path)).expect("is made").turn(&mut |_, _, _| {});
        drop(left);
        let ground = WorkFolder::prepare(&path).expect("is taken over");
        assert!(!path.join("w0007").exists());
        // A link in the place of a folder is not followed; what is not ours stays, and so does its folder.
        let theirs = folder.path().join("theirs");
        fs::create_dir(&theirs).expect("is made");
        fs::write(theirs.join("f0000000001"), "x").expect("is written");
        std::os::unix::fs::symlink(&theirs, path.join("w0001")).expect("is made");
        let told = ground.clear().expect("something is left");
        assert!(told.contains("w0001"), "{told}");
        assert!(theirs.join("f0000000001").exists() && path.exists());
    }

    #[test]
    fn an_empty_folder_is_used_and_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(WorkFolder::prepare(folder.path()).expect("is taken").clear(), None);
        assert!(folder.path().exists());
    }
}
