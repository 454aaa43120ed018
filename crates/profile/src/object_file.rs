//! The file of an object, opened by way of a process that has mapped it, so that those of containers and deleted ones are found.
//!
//! Whoever runs a process chooses what lies at its paths: only regular files are opened, and never waited for.

use crate::frames::{MappedObject, SeenAt};
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A path by which the file of an object can be opened; `None`: it has no file, or all processes that had it are gone and the path
/// leads elsewhere.
pub(crate) fn path_of(object: &MappedObject, seen: &[SeenAt]) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(&object.path));
    if !path.is_absolute() {
        return None;
    }
    let by_process = seen.iter().flat_map(|at| {
        let SeenAt { pid, begin, end } = *at;
        [
            PathBuf::from(format!("/proc/{pid}/map_files/{begin:x}-{end:x}")),
            Path::new(&format!("/proc/{pid}/root")).join(path.strip_prefix("/").unwrap_or(path)),
        ]
    });
    let mut paths = by_process.filter(|path| open_regular(path).is_some());
    paths.next().or_else(|| {
        // Without a process that leads there, only the same file will do.
        let file = open_regular(path)?.metadata().ok()?;
        (file.ino() == object.file.inode).then(|| path.to_owned())
    })
}

/// Opens a regular file; `None`: there is none.
pub(crate) fn open_regular(path: &Path) -> Option<File> {
    // Never block on anything but a regular file.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(openat(CWD, path, flags, Mode::empty()).ok()?);
    file.metadata().ok()?.is_file().then_some(file)
}
