//! System folders for sysdyno's own files, created so that they survive a crash of the host.

use crate::error::TuneError;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
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
