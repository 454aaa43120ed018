//! ext3 and ext4 file systems: e2fsprogs removes, creates, and inspects their journals.
//!
//! Every program gets the open and locked file as its standard input and works on that ([`PROGRAM_INPUT`]): on the file that
//! was checked before, even if the path now leads elsewhere, and under a lock that lasts as long as the program, which has a
//! deadline.

use super::programs::{find, run};
use crate::program::{Bond, Program};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};
use std::time::Duration;
use sysdyno_observe::source::ext::{self, Journal};
use sysdyno_tune::{FileSystem, FileSystems, PROGRAM_INPUT};

/// How long it may take to read all of a file system's structure. It changes nothing, and dies with whoever asked for it.
const CHECK_LIMIT: Duration = Duration::from_secs(3600);

/// How long it may take to remove or make a journal, whose blocks are all written. Whoever asked may be dead: a journal
/// that is half made would be worse.
const CHANGE_LIMIT: Duration = Duration::from_secs(600);

/// File systems of this host, dealt with by the programs of e2fsprogs.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileSystemPrograms;

/// The one that there is.
pub(super) static FILE_SYSTEM_PROGRAMS: FileSystemPrograms = FileSystemPrograms;

impl FileSystems for FileSystemPrograms {
    fn inspect(&self, file: &File) -> io::Result<FileSystem> {
        let mut superblock = [0; ext::SUPERBLOCK_BYTES];
        let is_short = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other("it is too small for a file system"),
            _ => error,
        };
        file.read_exact_at(&mut superblock, ext::SUPERBLOCK_OFFSET).map_err(is_short)?;
        let parsed = ext::parse(&superblock).map_err(|_| io::Error::other("it is not ext3 or ext4"))?;
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
        ask(file, "e2fsck", &["-fn"], (CHECK_LIMIT, Bond::DiesWithUs))
            .map_err(|error| io::Error::other(format!("it is not clean: {error}")))
    }

    fn remove_journal(&self, file: &File) -> io::Result<()> {
        ask(file, "tune2fs", &["-O", "^has_journal"], (CHANGE_LIMIT, Bond::LivesOn))
    }

    fn add_journal(&self, file: &File, size_mib: u64) -> io::Result<()> {
        ask(file, "tune2fs", &["-J", &format!("size={size_mib}")], (CHANGE_LIMIT, Bond::LivesOn))
    }
}

fn journal_bytes(file: &File, parsed: &ext::ExtSuperblock, inode: u32) -> io::Result<u64> {
    let odd = || io::Error::other("its journal is not where it should be");
    let mut descriptor = [0; ext::DESCRIPTOR_BYTES];
    file.read_exact_at(&mut descriptor, parsed.first_descriptor_offset())?;
    let offset = parsed.inode_offset(inode, &descriptor).ok_or_else(odd)?;
    let mut inode = [0; ext::INODE_BYTES];
    file.read_exact_at(&mut inode, offset)?;
    ext::parse_file_bytes(&inode).ok_or_else(odd)
}

/// Runs a program on a file.
fn ask(file: &File, program: &str, arguments: &[&str], (limit, bond): (Duration, Bond)) -> io::Result<()> {
    let mut command = Command::new(find(&[program])?);
    command.args(arguments).arg(PROGRAM_INPUT);
    let program = Program::new(command, limit).input(Stdio::from(file.try_clone()?)).bond(bond);
    run(program, &format!("{} {PROGRAM_INPUT}", arguments.join(" ")))
}

#[cfg(test)]
mod tests;
