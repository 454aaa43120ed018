//! sysdyno's own folders: opened step by step from `/`, checked at each step, and from then on held by their descriptors.
//!
//! Whoever can write to a folder can rename its entries and replace them. So every folder on the path must belong to root or
//! to the user who tunes, and nobody else may write to it, as sshd requires for the path to `authorized_keys`
//! (`misc.c: safe_path`). A folder with the sticky bit is allowed on the path, since only the owner of an entry can rename
//! it there. Each step is opened relative to the last one and checked by its descriptor, so the folder that was checked is
//! the folder that is used.

use crate::error::TuneError;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Most symbolic links on a way. Source: `include/linux/namei.h` (`MAXSYMLINKS`).
const MAX_LINKS: u32 = 40;

/// A folder, held open.
#[derive(Debug)]
pub(crate) struct HeldFolder {
    file: File,
    path: PathBuf,
}

/// What is done about folders that are not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Tell,
    /// They are made, mode 0700, each on the disk before the next.
    Make,
}

impl HeldFolder {
    /// Opens one of sysdyno's folders; `None` if it does not exist.
    ///
    /// # Errors
    /// Somebody else could write to it or move it, or it cannot be opened.
    pub(crate) fn open(path: &Path) -> Result<Option<HeldFolder>, TuneError> {
        Walk::new(path)?.go(Missing::Tell)
    }

    /// Opens one of sysdyno's folders, creating missing parts.
    ///
    /// # Errors
    /// As for [`HeldFolder::open`].
    pub(crate) fn make(path: &Path) -> Result<HeldFolder, TuneError> {
        let missing = || TuneError::not_durable("open", path)(io::ErrorKind::NotFound.into());
        Walk::new(path)?.go(Missing::Make)?.ok_or_else(missing)
    }

    /// Opens a folder in it, wherever it is now, and makes it if it is missing.
    ///
    /// # Errors
    /// As for [`HeldFolder::open`].
    pub(crate) fn make_within(&self, name: &str) -> Result<HeldFolder, TuneError> {
        let at = self.file.try_clone().map_err(TuneError::not_durable("open", &self.path))?;
        let walk = Walk { at, path: self.path.clone(), left: VecDeque::from([name.into()]), links_count: 0 };
        let missing =
            || TuneError::not_durable("open", &self.path.join(name))(io::ErrorKind::NotFound.into());
        walk.go(Missing::Make)?.ok_or_else(missing)
    }

    /// Where it was when it was opened, without symbolic links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether its path still leads to it.
    pub(crate) fn is_in_place(&self) -> bool {
        is_at(&self.path, &self.file)
    }

    /// Opens a file in it, never through a link.
    pub(crate) fn open_file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        Ok(File::from(rustix::fs::openat(&self.file, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    /// Whether a name in it is that of this file.
    pub(crate) fn has(&self, name: &str, file: &File) -> bool {
        let found = rustix::fs::statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| file.metadata().is_ok_and(|held| is_same(&held, &found)))
    }

    /// Names of files in it with this ending, sorted.
    pub(crate) fn names(&self, ending: &str) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for entry in Dir::read_from(&self.file)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            if Path::new(name.as_ref()).extension().is_some_and(|of_it| of_it == ending) {
                found.push(name.into_owned());
            }
        }
        found.sort();
        Ok(found)
    }

    /// Moves a file of it to another folder, and puts both folders on the disk.
    pub(crate) fn move_file(&self, name: &str, to: &HeldFolder) -> io::Result<()> {
        rustix::fs::renameat(&self.file, name, &to.file, name)?;
        self.sync()?;
        to.sync()
    }

    /// Gives a file of it another name, which must be free.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let renamed = rustix::fs::renameat_with(&self.file, from, &self.file, to, RenameFlags::NOREPLACE);
        match renamed {
            // Some file systems do not know the flag.
            Err(Errno::INVAL | Errno::NOSYS) => Ok(rustix::fs::renameat(&self.file, from, &self.file, to)?),
            renamed => Ok(renamed?),
        }
    }

    /// Whether there is anything of this name in it.
    pub(crate) fn holds(&self, name: &str) -> bool {
        rustix::fs::statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Removes a file of it.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.file, name, AtFlags::empty())?)
    }

    /// Puts on the disk which names it holds.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

/// Refuses a folder that somebody else could write to or move; one that is not there is judged as far as the way to it is.
///
/// # Errors
/// Why it is refused.
pub fn judge_folder(path: &Path) -> io::Result<()> {
    HeldFolder::open(path).map(drop).map_err(|error| match error {
        TuneError::NotDurable { operation, path, source } => {
            io::Error::new(source.kind(), format!("cannot {operation} '{}': {source}", path.display()))
        }
        other => io::Error::other(other.to_string()),
    })
}

/// Whether a path leads to this file. What cannot be told, because the way there cannot be looked at now, counts as yes.
pub(crate) fn is_at(path: &Path, file: &File) -> bool {
    match (fs::metadata(path), file.metadata()) {
        (Ok(found), Ok(held)) => (found.dev(), found.ino()) == (held.dev(), held.ino()),
        (Err(error), _) => {
            let gone = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP].map(Errno::raw_os_error);
            !error.raw_os_error().is_some_and(|errno| gone.contains(&errno))
        }
        (Ok(_), Err(_)) => true,
    }
}

fn is_same(held: &fs::Metadata, found: &Stat) -> bool {
    (held.dev(), held.ino()) == (found.st_dev, found.st_ino)
}

/// A walk from `/` to a folder.
struct Walk {
    /// The folder that was reached.
    at: File,
    path: PathBuf,
    /// Steps that are left.
    left: VecDeque<OsString>,
    links_count: u32,
}

impl Walk {
    fn new(path: &Path) -> Result<Walk, TuneError> {
        let failed = TuneError::not_durable("find", path);
        let absolute = std::path::absolute(path).map_err(failed)?;
        let mut walk = Walk { at: root()?, path: "/".into(), left: VecDeque::new(), links_count: 0 };
        walk.push(&absolute);
        Ok(walk)
    }

    /// Puts the steps of a path before those that are left.
    fn push(&mut self, path: &Path) {
        let steps = path.components().rev().filter_map(|step| match step {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        });
        steps.for_each(|step| self.left.push_front(step));
    }

    fn go(mut self, missing: Missing) -> Result<Option<HeldFolder>, TuneError> {
        let mut is_judged = false;
        while let Some(step) = self.left.pop_front() {
            if !is_judged {
                self.judge(&step)?;
            }
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            is_judged = false;
            match rustix::fs::openat(&self.at, &step, flags, Mode::empty()) {
                Ok(folder) => self.step(&step, File::from(folder)),
                Err(Errno::LOOP | Errno::NOTDIR) => self.follow(&step)?,
                Err(Errno::NOENT) if missing == Missing::Tell => return Ok(None),
                Err(Errno::NOENT) => {
                    self.make(&step)?;
                    self.left.push_front(step);
                    is_judged = true;
                }
                Err(error) => return Err(self.failed("open", &step)(error.into())),
            }
        }
        self.check_ours()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.at, ".", flags, Mode::empty());
        let file = file.map_err(|error| TuneError::not_durable("open", &self.path)(error.into()))?;
        Ok(Some(HeldFolder { file: File::from(file), path: self.path }))
    }

    fn step(&mut self, step: &OsStr, folder: File) {
        match step == ".." {
            true => drop(self.path.pop()),
            false => self.path.push(step),
        }
        self.at = folder;
    }

    /// Goes where a link leads, which must belong to somebody who could move what it leads to.
    fn follow(&mut self, step: &OsStr) -> Result<(), TuneError> {
        let path = self.path.join(step);
        let failed = |error: Errno| TuneError::not_durable("open", &path)(error.into());
        let found = rustix::fs::statat(&self.at, step, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::Symlink {
            return Err(self.refused(&path, "it is not a folder".into()));
        }
        if !is_trusted(found.st_uid) {
            let cause = format!("it is a symbolic link owned by user {}, who can redirect it", found.st_uid);
            return Err(self.refused(&path, cause));
        }
        self.links_count += 1;
        if self.links_count > MAX_LINKS {
            return Err(failed(Errno::LOOP));
        }
        let target = rustix::fs::readlinkat(&self.at, step, Vec::new()).map_err(failed)?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if target.is_absolute() {
            (self.at, self.path) = (root()?, "/".into());
        }
        self.push(&target);
        Ok(())
    }

    fn make(&self, step: &OsStr) -> Result<(), TuneError> {
        match rustix::fs::mkdirat(&self.at, step, Mode::RWXU) {
            // Somebody else has just made it; it is judged like any other.
            Err(Errno::EXIST) => {}
            made => made.map_err(|error| self.failed("make folder", step)(error.into()))?,
        }
        // Only a folder that is open to be read can be synced.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let above = rustix::fs::openat(&self.at, ".", flags, Mode::empty()).map_err(io::Error::from);
        let synced = above.and_then(|above| File::from(above).sync_all());
        synced.map_err(TuneError::not_durable("sync folder", &self.path))
    }

    /// Refuses a folder on the way in which somebody else can rename `next`.
    fn judge(&self, next: &OsStr) -> Result<(), TuneError> {
        let found = self.look()?;
        let next = Path::new(next).display();
        if !is_trusted(found.uid()) {
            let cause = format!("it belongs to user {}, who can rename '{next}' in it", found.uid());
            return Err(self.refused(&self.path, cause));
        }
        let is_sticky = found.mode() & 0o1000 != 0;
        if found.mode() & 0o022 != 0 && !is_sticky {
            return Err(self.refused(
                &self.path,
                format!(
                    "other users can write to it and rename '{next}' in \
                                                         it"
                ),
            ));
        }
        Ok(())
    }

    /// Refuses a folder that is not ours alone.
    fn check_ours(&self) -> Result<(), TuneError> {
        let found = self.look()?;
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Err(self.refused(&self.path, "it belongs to another user".into()));
        }
        if found.mode() & 0o022 != 0 {
            return Err(self.refused(&self.path, "other users can write to it".into()));
        }
        Ok(())
    }

    fn look(&self) -> Result<fs::Metadata, TuneError> {
        self.at.metadata().map_err(TuneError::not_durable("look at", &self.path))
    }

    fn failed(&self, operation: &'static str, step: &OsStr) -> impl FnOnce(io::Error) -> TuneError + use<> {
        TuneError::not_durable(operation, &self.path.join(step))
    }

    fn refused(&self, path: &Path, cause: String) -> TuneError {
        TuneError::not_durable("trust", path)(io::Error::other(cause))
    }
}

fn root() -> Result<File, TuneError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open("/", flags, Mode::empty());
    opened.map(File::from).map_err(|error| TuneError::not_durable("open", Path::new("/"))(error.into()))
}

/// Whether a user may own a folder on the way: root, and the one who tunes.
fn is_trusted(uid: u32) -> bool {
    uid == 0 || uid == rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn allow(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("sets");
    }

    fn refusal(path: &Path) -> String {
        HeldFolder::make(path).expect_err("is refused").to_string()
    }

    #[test]
    fn a_folder_below_one_that_others_can_write_to_is_refused_and_nothing_is_made() {
        let top = tempfile::tempdir().expect("a folder");
        let (shared, state) = (top.path().join("shared"), top.path().join("shared/a/state"));
        fs::create_dir(&shared).expect("makes");
        for mode in [0o777, 0o775, 0o757] {
            allow(&shared, mode);
            let refused = refusal(&state);
            assert!(refused.contains("other users can write to it and rename 'a' in it"), "{refused}");
            assert!(refused.contains(&shared.display().to_string()), "{refused}");
            assert!(!shared.join("a").exists());
        }
        // In one with the sticky bit only the owner of an entry can rename it.
        allow(&shared, 0o1777);
        assert_eq!(HeldFolder::make(&state).expect("is made").path(), state);
        allow(&state, 0o1777);
        assert!(refusal(&state).contains("other users can write to it"));
    }

    #[test]
    fn a_folder_below_that_of_another_user_is_refused_if_this_is_root() {
        if !sysdyno_needs::has("a_folder_below_that_of_another_user_is_refused_if_this_is_root", &["root"]) {
            return;
        }
        let top = tempfile::tempdir().expect("a folder");
        let theirs = top.path().join("theirs");
        fs::create_dir_all(theirs.join("state")).expect("makes");
        std::os::unix::fs::chown(&theirs, Some(4711), None).expect("root may");
        let refused = refusal(&theirs.join("state"));
        assert!(refused.contains("belongs to user 4711, who can rename 'state' in it"), "{refused}");
        let link = top.path().join("link");
        symlink("/", &link).expect("makes");
        std::os::unix::fs::lchown(&link, Some(4711), None).expect("root may");
        assert!(refusal(&link.join("tmp")).contains("owned by user 4711"));
    }

    #[test]
    fn links_are_followed_and_what_they_lead_through_is_judged() {
        let top = tempfile::tempdir().expect("a folder");
        let real = top.path().join("real");
        fs::create_dir_all(real.join("common/state")).expect("makes");
        symlink("real/./common", top.path().join("link")).expect("makes");
        symlink(top.path().join("link"), top.path().join("twice")).expect("makes");
        let reached = HeldFolder::make(&top.path().join("twice/../common/state")).expect("is reached");
        assert_eq!(reached.path(), real.join("common/state"));
        allow(&real.join("common"), 0o777);
        assert!(refusal(&top.path().join("twice/state")).contains("rename 'state'"));
        symlink("loop", top.path().join("loop")).expect("makes");
        assert!(HeldFolder::open(&top.path().join("loop/state")).is_err());
        fs::write(top.path().join("file"), "").expect("writes");
        assert!(refusal(&top.path().join("file/state")).contains("it is not a folder"));
        assert!(HeldFolder::open(&top.path().join("none/state")).expect("looks").is_none());
    }

    #[test]
    fn a_folder_that_was_moved_is_known_to_be_elsewhere_and_still_held() {
        let top = tempfile::tempdir().expect("a folder");
        let folder = HeldFolder::make(&top.path().join("state")).expect("is made");
        let file = folder.open_file("a.wal", OFlags::CREATE | OFlags::RDWR).expect("makes");
        assert!(folder.is_in_place() && folder.has("a.wal", &file));
        fs::rename(folder.path(), top.path().join("elsewhere")).expect("moves");
        assert!(!folder.is_in_place() && folder.has("a.wal", &file));
        fs::create_dir(folder.path()).expect("makes");
        assert!(!folder.is_in_place(), "another folder has its name");
        assert_eq!(folder.names("wal").expect("lists"), ["a.wal"]);
    }
}
