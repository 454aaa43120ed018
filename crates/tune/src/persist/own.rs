//! A file of sysdyno's own: recognized by its first line, replaced as a whole; other programs' files are never written.

use crate::error::TuneError;
use crate::files::{make_folder, sync_folder};
use crate::roots::TuneRoots;
use crate::setting::UNITS;
use rustix::fs::{Mode, OFlags};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

/// The first line, by which a file is known to be ours.
pub(super) const HEADER: &str =
    "# Written by sysdyno; `sysdyno tune persist --remove` takes this file away again.";

/// Longest file of sysdyno's own. Unit: bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The text of one of sysdyno's files; `None` if it does not exist.
///
/// # Errors
/// It is there and is not ours, or cannot be read.
pub(super) fn read(file: &str, roots: &TuneRoots) -> Result<Option<String>, TuneError> {
    let path = roots.place(file);
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = match rustix::fs::open(&path, flags, Mode::empty()) {
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => {
            let link = io::Error::other("it is a symbolic link, which sysdyno did not make");
            return Err(TuneError::io("change", &path)(link));
        }
        opened => File::from(opened.map_err(|error| TuneError::io("open", &path)(error.into()))?),
    };
    let mut text = String::new();
    opened.take(MAX_BYTES).read_to_string(&mut text).map_err(TuneError::io("read", &path))?;
    if text.lines().next() != Some(HEADER) {
        let foreign = io::Error::other("it was not written by sysdyno: its first line is different");
        return Err(TuneError::io("change", &path)(foreign));
    }
    Ok(Some(text))
}

/// Replaces a file of ours, or makes it, by the first line and `text`; what was there has been read before.
pub(super) fn write(file: &str, text: &str, roots: &TuneRoots) -> Result<(), TuneError> {
    let path = roots.place(file);
    let folder = path.parent().expect("the file is in a folder");
    make_readable(folder)?;
    replace(&path, &format!("{HEADER}\n{text}")).map_err(TuneError::io("write", &path))?;
    sync_folder(folder)
}

/// Makes a folder and those above it that are missing; programs that are not root's read what is kept there.
fn make_readable(folder: &Path) -> Result<(), TuneError> {
    if folder.is_dir() {
        return Ok(());
    }
    folder.parent().map_or(Ok(()), make_readable)?;
    make_folder(folder)?;
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder, open).map_err(TuneError::io("accessible to other users", folder))
}

/// Removes one of sysdyno's files, and its folder if that was created for it and is empty.
pub(super) fn remove(file: &str, roots: &TuneRoots) -> Result<(), TuneError> {
    let path = roots.place(file);
    fs::remove_file(&path).map_err(TuneError::io("remove", &path))?;
    let Some(folder) = path.parent() else { return Ok(()) };
    let is_drop_in = folder.extension().is_some_and(|ending| ending == "d") && file.starts_with(UNITS);
    if is_drop_in && fs::remove_dir(folder).is_ok() {
        return folder.parent().map_or(Ok(()), sync_folder);
    }
    sync_folder(folder)
}

/// Replaces a file as a whole.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A name with this ending is read by none of the programs that the folders belong to.
    let mut draft = path.as_os_str().to_owned();
    draft.push(".sysdyno-new");
    let draft = Path::new(&draft);
    let flags = OFlags::CREATE | OFlags::TRUNC | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = File::from(rustix::fs::open(draft, flags, Mode::from_raw_mode(0o644))?);
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let moved = written.and_then(|()| fs::rename(draft, path));
    if moved.is_err() {
        // The draft is not read by anything; without it the folder is as it was.
        let _ = fs::remove_file(draft);
    }
    moved
}
