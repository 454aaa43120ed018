//! Follows a file from its current end: returns the lines appended since the last look.
//!
//! While its size is unchanged there is nothing to read. A file that became shorter was truncated and is read from its
//! beginning. Data beyond what one look can read is skipped and counted, and reading resumes with the first whole line
//! after the gap.

use super::lines::LineSplitter;
use crate::clock;
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// Most of one file in one look. Unit: bytes.
const MAX_LOOK_BYTES: u64 = 256 << 10;

/// Read at once. Unit: bytes.
const PIECE_BYTES: usize = 32 << 10;

/// Which file it is, whatever it is named. Source: `st_dev` and `st_ino`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

/// Where reading begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartAt {
    /// What is there is old.
    End,
    /// It came in place of another one, and all of it is new.
    Beginning,
}

/// A file that is followed.
#[derive(Debug)]
pub(crate) struct FollowedFile {
    file: OwnedFd,
    identity: FileIdentity,
    position: u64,
    lines: LineSplitter,
    /// Appended, but not read. Unit: bytes.
    skipped_bytes: u64,
}

impl FollowedFile {
    /// The regular file behind a path, which may be a link of `/proc/PID/fd`.
    ///
    /// It is looked at before it is opened, so that no pipe or device is. *Errors*: it is not a regular file, or must not be read.
    pub(crate) fn open(path: &Path, roots: &crate::roots::Roots, start: StartAt) -> io::Result<FollowedFile> {
        let seen = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let stat = rustix::fs::fstat(&seen)?;
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        let same = roots.in_proc(&format!("self/fd/{}", seen.as_raw_fd()));
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        // Only its owner may read a file without a trace in its time of access.
        let quiet = rustix::fs::open(&same, flags | OFlags::NOATIME, Mode::empty());
        let file = quiet.or_else(|_| rustix::fs::open(&same, flags, Mode::empty()))?;
        let position = match start {
            StartAt::End => u64::try_from(stat.st_size).unwrap_or(0),
            StartAt::Beginning => 0,
        };
        let identity = FileIdentity { device: stat.st_dev, inode: stat.st_ino };
        Ok(FollowedFile { file, identity, position, lines: LineSplitter::default(), skipped_bytes: 0 })
    }

    /// Which file it is.
    pub(crate) fn identity(&self) -> FileIdentity {
        self.identity
    }

    /// What was appended and not read. Unit: bytes.
    pub(crate) fn skipped_bytes(&self) -> u64 {
        self.skipped_bytes
    }

    /// What was skipped of the file that this one came in place of counts, too. Unit: bytes.
    pub(crate) fn add_skipped(&mut self, skipped_bytes: u64) {
        self.skipped_bytes = self.skipped_bytes.saturating_add(skipped_bytes);
    }

    /// Reads what was appended, until the thread has used CPU time up to `until_cpu_ns`; `each` gets its lines.
    pub(crate) fn read(
        &mut self,
        buffer: &mut Vec<u8>,
        until_cpu_ns: u64,
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let size = u64::try_from(rustix::fs::fstat(&self.file)?.st_size).unwrap_or(0);
        if size < self.position {
            self.position = 0;
            self.lines.restart();
        }
        let end = size.min(self.position.saturating_add(MAX_LOOK_BYTES));
        buffer.resize(buffer.len().max(PIECE_BYTES), 0);
        while self.position < end && clock::thread_cpu_ns() < until_cpu_ns {
            let wanted = usize::try_from(end - self.position).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
            let length = match rustix::io::pread(&self.file, &mut buffer[..wanted], self.position) {
                Err(rustix::io::Errno::INTR) => continue,
                read => read?,
            };
            if length == 0 {
                // It became shorter meanwhile; the next look sees that.
                return Ok(());
            }
            self.position += length as u64;
            self.lines.push(&buffer[..length], &mut each);
        }
        if self.position < size {
            self.add_skipped(size - self.position);
            self.position = size;
            self.lines.tear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roots::Roots;
    use std::io::Write;

    fn follow(path: &Path, start: StartAt) -> io::Result<FollowedFile> {
        FollowedFile::open(path, &Roots::host(), start)
    }

    fn read(file: &mut FollowedFile) -> Vec<String> {
        let (mut lines, mut buffer) = (Vec::new(), Vec::new());
        let each = |line: &[u8]| lines.push(String::from_utf8_lossy(line).into_owned());
        file.read(&mut buffer, u64::MAX, each).expect("reads");
        lines
    }

    fn append(path: &Path, text: &[u8]) {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        file.and_then(|mut file| file.write_all(text)).expect("writes");
    }

    #[test]
    fn only_what_was_appended_is_read_and_a_shorter_file_from_its_beginning() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let path = folder.path().join("error.log");
        append(&path, b"old\nhal");
        let mut file = follow(&path, StartAt::End).expect("opens");
        assert!(read(&mut file).is_empty());
        append(&path, b"f\nnew\nop");
        assert_eq!(read(&mut file), ["f", "new"]);
        std::fs::write(&path, "again\n").expect("empties");
        assert_eq!(read(&mut file), ["again"]);
        append(&path, b"more\n");
        assert_eq!(read(&mut file), ["more"]);
        assert_eq!(file.skipped_bytes(), 0);
        let mut whole = follow(&path, StartAt::Beginning).expect("opens");
        assert_eq!(read(&mut whole), ["again", "more"]);
        assert_eq!(whole.identity(), file.identity());
    }

    #[test]
    fn a_flood_is_skipped_and_counted() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let path = folder.path().join("flood");
        append(&path, b"");
        let mut file = follow(&path, StartAt::End).expect("opens");
        let flood = b"sockets disabled\n".repeat(100_000);
        append(&path, &flood);
        let lines = read(&mut file);
        assert!(lines.iter().all(|line| line == "sockets disabled"));
        assert_eq!(file.skipped_bytes(), flood.len() as u64 - MAX_LOOK_BYTES);
        append(&path, b"last of one\nwhole\n");
        assert_eq!(read(&mut file), ["whole"]);
        append(&path, b"without time\n");
        file.read(&mut Vec::new(), 0, |_| panic!("there was no time")).expect("looks");
        assert_eq!(file.skipped_bytes(), flood.len() as u64 - MAX_LOOK_BYTES + 13);
    }

    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let folder = tempfile::tempdir().expect("makes a folder");
        assert!(follow(folder.path(), StartAt::End).is_err());
        assert!(follow(Path::new("/dev/null"), StartAt::End).is_err());
        assert!(follow(&folder.path().join("none"), StartAt::End).is_err());
        let socket = folder.path().join("socket.log");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("binds");
        assert!(follow(&socket, StartAt::End).is_err());
    }
}
