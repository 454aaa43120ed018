//! What an agent says in a session, on its own disk until the controller has it, and for a while after that.
//!
//! ```text
//!   file: 'S' 'D' 'S' '1'  challenge, 32   then chunks: length, 4   CRC-32, 4   bytes
//! ```
//! The spool survives the death of the agent: one that starts again sends what the controller has not acknowledged. It is read
//! up to the first chunk that is torn. It is not forced to the disk, so a host that loses power may lose its last seconds,
//! which the controller then knows to be missing. Only the newest spools are kept ([`KEPT`]), and none grows beyond
//! [`MAX_SPOOL_BYTES`].

use crate::files;
use crate::message::{Nonce, SessionId};
use crate::stream::ChunkStore;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Spools that are kept.
pub(crate) const KEPT: usize = 16;

/// Longest spool: hours of a load with hundreds of connections. Unit: bytes.
pub(crate) const MAX_SPOOL_BYTES: u64 = 1 << 30;

const MAGIC: [u8; 4] = *b"SDS1";
const HEAD_BYTES: u64 = 36;
const MAX_CHUNK: u32 = 1 << 20;

/// The spool of a session.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    /// Where each chunk begins, and its length.
    chunks: Vec<(u64, u32)>,
    end: u64,
}

impl Spool {
    /// Begins the spool of a session, and removes the oldest ones.
    pub(crate) fn begin(folder: &Path, session: SessionId, nonce: &Nonce) -> io::Result<Spool> {
        files::make_folder(folder)?;
        tidy(folder)?;
        let mut file = files::create_new(&path(folder, session))?;
        file.write_all(&[&MAGIC[..], nonce].concat())?;
        Ok(Spool { file, chunks: Vec::new(), end: HEAD_BYTES })
    }

    /// Opens the spool of a session that another process has written, with its challenge; `None`: there is none.
    pub(crate) fn resume(folder: &Path, session: SessionId) -> io::Result<Option<(Spool, Nonce)>> {
        let file = match files::open_to_read(&path(folder, session)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let mut head = [0; HEAD_BYTES as usize];
        (&file).read_exact(&mut head)?;
        let (magic, nonce) = head.split_at(4);
        let nonce: Nonce = nonce.try_into().map_err(|_| damaged())?;
        if magic != MAGIC {
            return Err(damaged());
        }
        let mut spool = Spool { file, chunks: Vec::new(), end: HEAD_BYTES };
        while spool.take_chunk().is_some() {}
        Ok(Some((spool, nonce)))
    }

    /// The chunks that it holds.
    pub(crate) fn count(&self) -> u64 {
        self.chunks.len() as u64
    }

    /// Finds one more chunk that is whole.
    fn take_chunk(&mut self) -> Option<()> {
        let mut head = [0; 8];
        self.file.read_exact_at(&mut head, self.end).ok()?;
        let [a, b, c, d, sum @ ..] = head;
        let length = u32::from_be_bytes([a, b, c, d]);
        if length > MAX_CHUNK || self.end > MAX_SPOOL_BYTES {
            return None;
        }
        let mut bytes = vec![0; length as usize];
        self.file.read_exact_at(&mut bytes, self.end + 8).ok()?;
        if crc32fast::hash(&bytes) != u32::from_be_bytes(sum) {
            return None;
        }
        self.chunks.push((self.end + 8, length));
        self.end += 8 + u64::from(length);
        Some(())
    }
}

impl ChunkStore for Spool {
    fn append(&mut self, chunk: &[u8]) -> io::Result<()> {
        let length = u32::try_from(chunk.len()).ok().filter(|length| *length <= MAX_CHUNK);
        let length = length.ok_or_else(|| io::Error::other("the chunk is too long"))?;
        if self.end + u64::from(length) + 8 > MAX_SPOOL_BYTES {
            return Err(io::Error::other("the spool is full"));
        }
        let head = [length.to_be_bytes(), crc32fast::hash(chunk).to_be_bytes()].concat();
        self.file.write_all_at(&[&head[..], chunk].concat(), self.end)?;
        self.chunks.push((self.end + 8, length));
        self.end += 8 + u64::from(length);
        Ok(())
    }

    fn read(&mut self, number: u64) -> io::Result<Vec<u8>> {
        let found = usize::try_from(number).ok().and_then(|number| self.chunks.get(number));
        let (begin, length) = *found.ok_or_else(damaged)?;
        let mut bytes = vec![0; length as usize];
        self.file.read_exact_at(&mut bytes, begin)?;
        Ok(bytes)
    }

    /// The controller may still ask again, and an administrator look: the file stays.
    fn release(&mut self, _: u64) {}
}

fn damaged() -> io::Error {
    io::Error::other("the spool is damaged")
}

fn path(folder: &Path, session: SessionId) -> PathBuf {
    folder.join(format!("{session}.spool"))
}

/// Removes the oldest spools, so that there is room for one more.
fn tidy(folder: &Path) -> io::Result<()> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let is_spool = entry.path().extension().is_some_and(|end| end == "spool");
        if let (true, Ok(known)) = (is_spool, entry.metadata()) {
            found.push((known.modified()?, entry.path()));
        }
    }
    found.sort();
    let extra = (found.len() + 1).saturating_sub(KEPT);
    found.iter().take(extra).try_for_each(|(_, path)| files::remove(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nats::random;

    fn filled(folder: &Path) -> (SessionId, Nonce, PathBuf) {
        let (session, nonce) = (SessionId::new(), random());
        let mut spool = Spool::begin(folder, session, &nonce).expect("begins");
        spool.append(b"one").expect("appends");
        spool.append(b"").expect("appends");
        spool.append(&[7; 100]).expect("appends");
        (session, nonce, path(folder, session))
    }

    #[test]
    fn another_process_finds_every_chunk() {
        let folder = tempfile::tempdir().expect("a folder");
        let (session, nonce, _) = filled(folder.path());
        let (mut spool, found) = Spool::resume(folder.path(), session).expect("opens").expect("is there");
        assert_eq!((found, spool.count()), (nonce, 3));
        assert_eq!(spool.read(0).expect("reads"), b"one");
        assert_eq!(spool.read(2).expect("reads"), [7; 100]);
        assert!(spool.read(3).is_err());
        assert!(Spool::resume(folder.path(), SessionId::new()).expect("looks").is_none());
    }

    #[test]
    fn a_spool_cut_at_any_byte_or_changed_is_read_up_to_the_damage() {
        let folder = tempfile::tempdir().expect("a folder");
        let (session, _, path) = filled(folder.path());
        let whole = fs::read(&path).expect("reads");
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).expect("writes");
            let count =
                Spool::resume(folder.path(), session).map(|found| found.map(|(spool, _)| spool.count()));
            let expected = match length {
                0..36 => None,
                36..47 => Some(0),
                47..55 => Some(1),
                _ => Some(2),
            };
            assert_eq!(count.ok().flatten(), expected, "cut at {length}");
        }
        for at in 36..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x40;
            fs::write(&path, &changed).expect("writes");
            let found = Spool::resume(folder.path(), session).expect("opens").expect("is there");
            assert!(found.0.count() < 3, "changed at {at}");
        }
    }

    #[test]
    fn only_the_newest_spools_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let made: Vec<SessionId> = (0..KEPT + 3)
            .map(|number| {
                let (session, _, path) = filled(folder.path());
                let file = fs::File::options().write(true).open(path).expect("opens");
                let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(number as u64);
                file.set_modified(at).expect("sets");
                session
            })
            .collect();
        let is_there = |session: &SessionId| path(folder.path(), *session).exists();
        assert_eq!(made.iter().filter(|session| is_there(session)).count(), KEPT);
        assert!(!is_there(&made[0]) && is_there(&made[3]));
    }
}
