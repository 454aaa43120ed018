//! Kernel files that are read repeatedly: opened once, then read from the start into a reused buffer.

use crate::courtesy;
use crate::error::ObserveError;
use rustix::fs::{Mode, OFlags};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// No file of the kernel that is read here is longer; what is, is cut off and fails to parse. Unit: bytes.
const MAX_TEXT_BYTES: usize = 8 << 20;

/// The buffer's first size, which most files fit into. Unit: bytes.
const FIRST_BUFFER_BYTES: usize = 16 << 10;

/// A file that stays open between readings.
#[derive(Debug)]
pub(crate) struct KeptFile {
    path: PathBuf,
    file: Option<OwnedFd>,
    is_kept: bool,
    shape: Shape,
}

/// How the kernel hands a text out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Whole (`single_open` of `fs/seq_file.c`): a reading that leaves room in the buffer was the last one.
    Whole,
    /// Record by record: only a reading of nothing is the end.
    Records,
}

impl KeptFile {
    /// A file that is opened when it is first read.
    pub(crate) fn new(path: PathBuf, shape: Shape) -> KeptFile {
        KeptFile { path, file: None, is_kept: true, shape }
    }

    /// Its path, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it stays open from now on; else it is opened and closed at each reading.
    pub(crate) fn keep(&mut self, is_kept: bool) {
        self.is_kept = is_kept;
        self.file = self.file.take().filter(|_| is_kept);
    }

    /// Reads the whole text into `buffer`.
    ///
    /// A file that could not be read is closed, and opened again at the next call.
    pub(crate) fn read<'a>(&mut self, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], ObserveError> {
        if self.file.is_none() {
            self.file = Some(open(&self.path)?);
        }
        let file = self.file.as_ref().expect("was opened just now");
        let result = read_from_start(file, self.shape, buffer);
        if result.is_err() || !self.is_kept {
            self.file = None;
        }
        let length = result.map_err(|source| ObserveError::io("read", &self.path)(source.into()))?;
        Ok(&buffer[..length])
    }
}

/// Reads a file once.
pub(crate) fn read_once<'a>(path: &Path, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], ObserveError> {
    let file = open(path)?;
    let length = read_from_start(&file, Shape::Records, buffer)
        .map_err(|source| ObserveError::io("read", path)(source.into()))?;
    Ok(&buffer[..length])
}

fn open(path: &Path) -> Result<OwnedFd, ObserveError> {
    // Non-blocking, since a recorded or hostile tree may hold a pipe.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    rustix::fs::open(path, flags, Mode::empty())
        .map_err(|source| ObserveError::io("open", path)(source.into()))
}

fn read_from_start(file: &OwnedFd, shape: Shape, buffer: &mut Vec<u8>) -> rustix::io::Result<usize> {
    courtesy::give_way();
    if buffer.len() < FIRST_BUFFER_BYTES {
        buffer.resize(FIRST_BUFFER_BYTES, 0);
    }
    let mut length = 0;
    loop {
        if length == buffer.len() {
            if length >= MAX_TEXT_BYTES {
                return Ok(length);
            }
            buffer.resize(length * 2, 0);
        }
        match rustix::io::pread(file, &mut buffer[length..], length as u64) {
            Ok(0) => return Ok(length),
            Ok(read) => {
                length += read;
                if shape == Shape::Whole && length < buffer.len() {
                    return Ok(length);
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_file_is_read_again_from_its_start() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let path = folder.path().join("counter");
        std::fs::write(&path, vec![b'7'; FIRST_BUFFER_BYTES + 1]).expect("writes");
        let (mut file, mut buffer) = (KeptFile::new(path.clone(), Shape::Whole), Vec::new());
        assert_eq!(file.read(&mut buffer).expect("reads").len(), FIRST_BUFFER_BYTES + 1);
        std::fs::write(&path, "8\n").expect("writes");
        assert_eq!(file.read(&mut buffer).expect("reads"), b"8\n");
    }

    #[test]
    fn a_file_that_appears_later_is_found() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let (mut file, mut buffer) = (KeptFile::new(folder.path().join("late"), Shape::Records), Vec::new());
        let error = file.read(&mut buffer).expect_err("is not there").to_string();
        assert!(error.starts_with("cannot open '") && error.contains("No such file"), "{error}");
        std::fs::write(file.path(), "1").expect("writes");
        assert_eq!(file.read(&mut buffer).expect("reads"), b"1");
    }
}
