//! A file of lines being appended to, with the digest of everything written so far.

use super::folder::Folder;
use super::verify::hexadecimal;
use crate::RecordError;
use crate::manifest::FileDigest;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Write};

/// A file of lines.
#[derive(Debug)]
pub(super) struct Log {
    name: &'static str,
    file: File,
    bytes: u64,
    hash: Sha256,
}

impl Log {
    /// A new file, which must not exist.
    pub(super) fn create(folder: &Folder, name: &'static str) -> Result<Log, RecordError> {
        Ok(Log { name, file: folder.create_file(name)?, bytes: 0, hash: Sha256::new() })
    }

    /// A new file that holds `bytes`, in the place of the one of this name, if there is one.
    pub(super) fn replace(folder: &Folder, name: &'static str, bytes: &[u8]) -> Result<Log, RecordError> {
        let file = folder.replace_unsynced(name, bytes)?;
        let mut hash = Sha256::new();
        hash.update(bytes);
        Ok(Log { name, file, bytes: bytes.len() as u64, hash })
    }

    /// Its name in the folder.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Appends whole lines.
    pub(super) fn append(&mut self, folder: &Folder, bytes: &[u8]) -> Result<(), RecordError> {
        self.try_append(bytes).map_err(RecordError::io("write", folder.path_of(self.name)))
    }

    fn try_append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.file.write_all(bytes) {
            // A part of the line may be there. Shortening needs no space; if it fails, readers drop a torn last line.
            let _ = self.file.set_len(self.bytes);
            return Err(error);
        }
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Forgets all that was appended.
    pub(super) fn empty(&mut self, folder: &Folder) -> Result<(), RecordError> {
        self.file.set_len(0).map_err(RecordError::io("write", folder.path_of(self.name)))?;
        (self.bytes, self.hash) = (0, Sha256::new());
        Ok(())
    }

    /// Makes it durable against the death of the host.
    pub(super) fn sync(&self, folder: &Folder) -> Result<(), RecordError> {
        self.file.sync_all().map_err(RecordError::io("sync", folder.path_of(self.name)))
    }

    /// Its length and digest.
    pub(super) fn digest(&self) -> FileDigest {
        FileDigest { bytes: self.bytes, sha256: hexadecimal(&self.hash.clone().finalize()) }
    }

    /// Puts another file in the place of the one that is written to.
    #[cfg(test)]
    pub(super) fn write_to(&mut self, file: File) {
        self.file = file;
    }
}
