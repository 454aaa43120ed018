//! Files of a fleet: below its state folder, readable for their owner only, never through a link.

use rustix::fs::{Mode, OFlags};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

/// Makes a folder and those above it that are missing; one that is there must be this user's, and nobody else may write to it.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let known = fs::symlink_metadata(path)?;
    if !known.is_dir() || known.uid() != rustix::process::geteuid().as_raw() || known.mode() & 0o022 != 0 {
        return Err(io::Error::other("it belongs to another user, or others can write to it"));
    }
    Ok(())
}

/// Opens a file to read and append to; it is created if needed.
pub(crate) fn open_to_append(path: &Path) -> io::Result<File> {
    open(path, OFlags::CREATE | OFlags::APPEND | OFlags::RDWR)
}

/// Opens a file that must not exist yet, to write and read.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    open(path, OFlags::CREATE | OFlags::EXCL | OFlags::RDWR)
}

/// Opens a file to read, which must be a regular one.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    let file = open(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(File::from(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?))
}

/// Replaces a file as a whole: whoever reads it sees the old text or the new one.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let next = path.with_extension("new");
    remove(&next)?;
    let mut file = create_new(&next)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&next, path)
}

/// Renames a file; one of the new name is gone.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn files_are_for_their_owner_and_no_link_is_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deep").join("er");
        make_folder(&path).expect("makes");
        replace(&path.join("a"), "one").expect("writes");
        replace(&path.join("a"), "two").expect("writes");
        assert_eq!(fs::read_to_string(path.join("a")).expect("reads"), "two");
        assert_eq!(fs::metadata(path.join("a")).expect("is there").mode() & 0o777, 0o600);
        std::os::unix::fs::symlink(path.join("a"), path.join("link")).expect("links");
        assert!(open_to_append(&path.join("link")).is_err() && open_to_read(&path.join("link")).is_err());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("sets");
        assert!(make_folder(&path).is_err());
    }
}
