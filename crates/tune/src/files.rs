//! Folders and files of ours, made so that they survive a crash of the host.

use crate::error::TuneError;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

/// Makes a folder and those above it that are missing, mode 0700, each on the disk before the next.
pub(crate) fn make_folder(path: &Path) -> Result<(), TuneError> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
        make_folder(above)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made.map_err(TuneError::not_durable("make folder", path))?,
    }
    sync_folder(path)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Puts what a folder holds on the disk.
pub(crate) fn sync_folder(path: &Path) -> Result<(), TuneError> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path).and_then(|folder| folder.sync_all()).map_err(TuneError::not_durable("sync folder", path))
}

/// Refuses a folder that somebody else could have written to.
pub(crate) fn check_owner(path: &Path) -> Result<(), TuneError> {
    let refuse = |cause: &str| Err(TuneError::not_durable("trust", path)(io::Error::other(cause.to_owned())));
    let found = fs::symlink_metadata(path).map_err(TuneError::not_durable("look at", path))?;
    if !found.is_dir() {
        return refuse("it is not a folder");
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return refuse("it belongs to another user");
    }
    if found.permissions().mode() & 0o022 != 0 {
        return refuse("others can write to it");
    }
    Ok(())
}

/// Moves a file to another folder, and puts both folders on the disk.
pub(crate) fn move_file(from: &Path, to: &Path) -> Result<(), TuneError> {
    fs::rename(from, to).map_err(TuneError::not_durable("move", from))?;
    [from, to].iter().filter_map(|path| path.parent()).try_for_each(sync_folder)
}
