//! A run folder as a descriptor: every file is created, replaced, and opened relative to it.
//!
//! Invariants: a folder is created with mode 0700 and its files with 0600, whatever the umask says; files are opened for
//! reading only if they are regular, have one name, and are reached without a link; opening never blocks.

use crate::RecordError;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// An open run folder.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    fd: OwnedFd,
}

/// A folder that is not yet seen under its name.
#[derive(Debug)]
pub(super) struct Draft {
    folder: Folder,
    runs: OwnedFd,
    name: String,
}

impl Draft {
    /// The folder, to be written to.
    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Gives the folder its name; fails if another has it.
    pub(super) fn publish(self) -> Result<Folder, RecordError> {
        let Draft { folder, runs, name } = self;
        fs::renameat_with(&runs, hidden(&name), &runs, &name, RenameFlags::NOREPLACE)
            .map_err(|errno| io_error("create", &folder.path, errno))?;
        fs::fsync(&runs).map_err(|errno| io_error("sync", &folder.path, errno))?;
        Ok(folder)
    }
}

/// The name of a folder that has no manifest yet; listings pass it over.
fn hidden(name: &str) -> String {
    format!(".{name}.new")
}

/// Removes what is left of a folder that was to be called `name` and was never published.
///
/// Only who alone makes folders of that name may do this: another's draft would go too.
pub(super) fn remove_draft(runs_dir: &Path, name: &str) -> Result<(), RecordError> {
    let path = runs_dir.join(hidden(name));
    match std::fs::remove_dir_all(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(RecordError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

impl Folder {
    /// Creates a folder in `runs_dir`, hidden until it is published as `name`. `runs_dir` is created if it does not exist.
    pub(super) fn create(runs_dir: &Path, name: &str) -> Result<Draft, RecordError> {
        let path = runs_dir.join(name);
        let hidden = hidden(name);
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(FOLDER_MODE)
            .create(runs_dir)
            .map_err(RecordError::io("create", runs_dir))?;
        let runs = open_directory(runs_dir)?;
        let mode = Mode::from_raw_mode(FOLDER_MODE);
        fs::mkdirat(&runs, &hidden, mode).map_err(|errno| io_error("create", &path, errno))?;
        let made = fs::statat(&runs, &hidden, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| io_error("open", &path, errno))?;
        let is_private = Mode::from_raw_mode(made.st_mode) == mode;
        if FileType::from_raw_mode(made.st_mode) == FileType::Directory && !is_private {
            fs::chmodat(&runs, &hidden, mode, AtFlags::empty())
                .map_err(|errno| io_error("create", &path, errno))?;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = fs::openat(&runs, &hidden, flags, Mode::empty())
            .map_err(|errno| io_error("open", &path, errno))?;
        Ok(Draft { folder: Folder { path, fd }, runs, name: name.to_owned() })
    }

    /// Opens an existing folder. The path itself may be a link: the user chose it.
    pub(super) fn open(path: &Path) -> Result<Folder, RecordError> {
        Ok(Folder { path: path.to_owned(), fd: open_directory(path)? })
    }

    /// Where the folder is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file, for messages.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Creates a file that must not exist, for appending.
    pub(super) fn create_file(&self, name: &str) -> Result<File, RecordError> {
        let flags = OFlags::WRONLY
            | OFlags::CREATE
            | OFlags::EXCL
            | OFlags::APPEND
            | OFlags::NOFOLLOW
            | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(FILE_MODE);
        let fd = fs::openat(&self.fd, name, flags, mode)
            .and_then(|fd| fs::fchmod(&fd, mode).map(|()| fd))
            .map_err(|errno| io_error("create", &self.path_of(name), errno))?;
        Ok(File::from(fd))
    }

    /// Opens a file of lines to append to it; anything after its last whole line is cut off.
    pub(super) fn append_file(&self, name: &str) -> Result<File, RecordError> {
        let cut = |error| RecordError::io("cut", self.path_of(name))(error);
        let mut whole = 0;
        if let Some(file) = self.open_file(name)? {
            for (position, byte) in io::BufReader::new(file).bytes().enumerate() {
                if byte.map_err(cut)? == b'\n' {
                    whole = position as u64 + 1;
                }
            }
        }
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = fs::openat(&self.fd, name, flags, Mode::empty())
            .map_err(|errno| io_error("open", &self.path_of(name), errno))?;
        let file = File::from(fd);
        file.set_len(whole).map_err(cut)?;
        Ok(file)
    }

    /// Puts `bytes` in the place of the file `name`: after a crash at any instant the old or the new content is there.
    pub(super) fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), RecordError> {
        let (temporary, _) =
            self.write_temporary(name, |file| file.write_all(bytes).and_then(|()| file.sync_all()))?;
        fs::renameat(&self.fd, &temporary, &self.fd, name)
            .map_err(|errno| io_error("write", &self.path_of(name), errno))?;
        self.sync()
    }

    /// As [`Self::replace`], without making it durable: the death of the host may leave the old, the new or no content.
    /// The file, to append to.
    pub(super) fn replace_unsynced(&self, name: &str, bytes: &[u8]) -> Result<File, RecordError> {
        let (temporary, file) = self.write_temporary(name, |file| file.write_all(bytes))?;
        fs::renameat(&self.fd, &temporary, &self.fd, name)
            .map_err(|errno| io_error("write", &self.path_of(name), errno))?;
        Ok(file)
    }

    /// Removes a file that is not needed any more.
    pub(super) fn remove(&self, name: &str) -> Result<(), RecordError> {
        fs::unlinkat(&self.fd, name, AtFlags::empty())
            .map_err(|errno| io_error("remove", &self.path_of(name), errno))
    }

    /// Writes a new file beside the one of this name; its own name, and the file.
    fn write_temporary(
        &self,
        name: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(String, File), RecordError> {
        let temporary = format!("{name}.new");
        match fs::unlinkat(&self.fd, &temporary, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(io_error("write", &self.path_of(&temporary), errno)),
        }
        let mut file = self.create_file(&temporary)?;
        if let Err(source) = write(&mut file) {
            // The space that the temporary file took may be what is missing. Whether this works changes nothing.
            let _ = fs::unlinkat(&self.fd, &temporary, AtFlags::empty());
            return Err(RecordError::Io { operation: "write", path: self.path_of(name), source });
        }
        Ok((temporary, file))
    }

    /// Makes the names in the folder durable.
    pub(super) fn sync(&self) -> Result<(), RecordError> {
        fs::fsync(&self.fd).map_err(|errno| io_error("sync", &self.path, errno))
    }

    /// Opens a file for reading.
    ///
    /// `None`: it is not there. Errors: it is a link, has more than one name, or is not a regular file.
    pub(super) fn open_file(&self, name: &str) -> Result<Option<File>, RecordError> {
        let refuse = |cause: &str| RecordError::NotARun {
            path: self.path.clone(),
            cause: format!("'{}' is {cause}", name.escape_debug()),
        };
        if !is_plain_name(name) {
            return Err(refuse("not the name of a file in the folder"));
        }
        let fail = |errno| io_error("open", &self.path_of(name), errno);
        // Looked at before it is opened, since opening a device can have effects; and again after, on what was opened.
        match fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => check_regular(&stat).map_err(refuse)?,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(fail(errno)),
        }
        let fd = match open_beneath(&self.fd, name) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(fail(errno)),
        };
        check_regular(&fs::fstat(&fd).map_err(fail)?).map_err(refuse)?;
        Ok(Some(File::from(fd)))
    }

    /// Reads a whole file of at most `cap_bytes`.
    ///
    /// `None`: it is not there.
    pub(super) fn read_whole(&self, name: &str, cap_bytes: u64) -> Result<Option<Vec<u8>>, RecordError> {
        let Some(file) = self.open_file(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(cap_bytes + 1)
            .read_to_end(&mut bytes)
            .map_err(RecordError::io("read", self.path_of(name)))?;
        if bytes.len() as u64 > cap_bytes {
            let cause = format!("'{name}' is longer than {cap_bytes} bytes");
            return Err(RecordError::NotARun { path: self.path.clone(), cause });
        }
        Ok(Some(bytes))
    }
}

/// Whether `name` can only mean an entry of the folder itself.
pub(super) fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && name != "."
        && name != ".."
        && !name.chars().any(|character| character == '/' || character.is_control())
}

fn open_directory(path: &Path) -> Result<OwnedFd, RecordError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    fs::open(path, flags, Mode::empty()).map_err(|errno| io_error("open", path, errno))
}

/// `openat2` where the kernel has it and the sandbox allows it; else `openat`, which for a plain name is as strict.
fn open_beneath(folder: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match fs::openat2(folder, name, flags, Mode::empty(), resolve) {
        Err(Errno::NOSYS | Errno::PERM) => fs::openat(folder, name, flags, Mode::empty()),
        opened => opened,
    }
}

fn check_regular(stat: &fs::Stat) -> Result<(), &'static str> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if stat.st_nlink <= 1 => Ok(()),
        FileType::RegularFile => Err("a hard link to a file that has other names"),
        FileType::Symlink => Err("a symbolic link"),
        FileType::Directory => Err("a folder"),
        _ => Err("not a regular file"),
    }
}

fn io_error(operation: &'static str, path: &Path, errno: Errno) -> RecordError {
    RecordError::io(operation, path)(io::Error::from(errno))
}
