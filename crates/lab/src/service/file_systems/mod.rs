//! File systems of ext3 and ext4, by e2fsprogs: their journals are removed, made and looked at.
//!
//! Every program gets the open and locked file as its standard input and works on that ([`PROGRAM_INPUT`]): on what was
//! looked at before, whatever a path means by now, and under a lock that lasts as long as the program.

use super::programs::{find, run};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::Stdio;
use sysdyno_observe::source::ext::{self, Journal};
use sysdyno_tune::{FileSystem, FileSystems, PROGRAM_INPUT};

/// File systems of this host, dealt with by the programs of e2fsprogs.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileSystemPrograms;

/// The one that there is.
pub(super) static FILE_SYSTEM_PROGRAMS: FileSystemPrograms = FileSystemPrograms;

impl FileSystems for FileSystemPrograms {
    fn inspect(&self, file: &File) -> io::Result<FileSystem> {
        let mut superblock = [0; ext::SUPERBLOCK_BYTES];
        let is_short = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other("it is too short for a file system"),
            _ => error,
        };
        file.read_exact_at(&mut superblock, ext::SUPERBLOCK_OFFSET).map_err(is_short)?;
        let parsed = ext::parse(&superblock).map_err(|_| io::Error::other("it is no ext3 or ext4"))?;
        let journal_bytes = match parsed.journal {
            Journal::Internal(inode) => Some(journal_bytes(file, &parsed, inode)?),
            Journal::None | Journal::External => None,
        };
        Ok(FileSystem {
            has_journal_elsewhere: parsed.journal == Journal::External,
            uuid: parsed.uuid,
            block_bytes: parsed.block_bytes,
            free_blocks: parsed.free_blocks,
            is_clean: parsed.is_clean,
            features: parsed.features,
            journal_bytes,
        })
    }

    fn check_programs(&self) -> io::Result<()> {
        ["tune2fs", "e2fsck"].into_iter().try_for_each(|name| find(&[name]).map(drop))
    }

    fn check(&self, file: &File) -> io::Result<()> {
        ask(file, "e2fsck", &["-fn"])
            .map_err(|error| io::Error::other(format!("it is not in order: {error}")))
    }

    fn remove_journal(&self, file: &File) -> io::Result<()> {
        ask(file, "tune2fs", &["-O", "^has_journal"])
    }

    fn add_journal(&self, file: &File, size_mib: u64) -> io::Result<()> {
        ask(file, "tune2fs", &["-J", &format!("size={size_mib}")])
    }
}

fn journal_bytes(file: &File, parsed: &ext::Superblock, inode: u32) -> io::Result<u64> {
    let odd = || io::Error::other("its journal is not where it should be");
    let mut descriptor = [0; ext::DESCRIPTOR_BYTES];
    file.read_exact_at(&mut descriptor, parsed.first_descriptor_offset())?;
    let offset = parsed.inode_offset(inode, &descriptor).ok_or_else(odd)?;
    let mut inode = [0; ext::INODE_BYTES];
    file.read_exact_at(&mut inode, offset)?;
    ext::parse_file_bytes(&inode).ok_or_else(odd)
}

/// Runs a program on a file.
fn ask(file: &File, program: &str, arguments: &[&str]) -> io::Result<()> {
    let arguments: Vec<String> =
        arguments.iter().copied().chain([PROGRAM_INPUT]).map(str::to_owned).collect();
    run(&find(&[program])?, &arguments, Stdio::from(file.try_clone()?))
}

#[cfg(test)]
mod tests;
