//! Unused file systems on devices and in images: what is known about one, and who changes it.
//!
//! This crate starts no process and knows no on-disk layout: [`FileSystems`], which the caller passes in, handles both.

use std::fmt;
use std::fs::File;
use std::io;

/// The path by which a program works on the file that is its standard input.
pub const PROGRAM_INPUT: &str = "/proc/self/fd/0";

/// What the superblock of an ext3 or ext4 file system says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// What it is recognised by.
    pub uuid: String,
    /// Size of a block. Unit: bytes.
    pub block_bytes: u64,
    /// Blocks that are free.
    pub free_blocks: u64,
    /// Whether it was unmounted, and no error was found in it since it was checked.
    pub is_clean: bool,
    /// Names of its features.
    pub features: Vec<String>,
    /// Length of the journal in its inode; `None` if it has none. Unit: bytes.
    pub journal_bytes: Option<u64>,
    /// Whether its journal is on another device.
    pub has_journal_elsewhere: bool,
}

/// Looks at file systems and makes their journals.
///
/// Each file is open for reading and locked. Whatever is started gets it as its standard input, so that the lock lasts as
/// long as the last of them: a death of the caller does not let anybody in while its program still writes.
pub trait FileSystems: fmt::Debug + Sync {
    /// The contents of the superblock.
    ///
    /// # Errors
    /// It is no ext2, ext3 or ext4, or cannot be read.
    fn inspect(&self, file: &File) -> io::Result<FileSystem>;

    /// Whether all programs are there that the others need.
    ///
    /// # Errors
    /// One is not.
    fn check_programs(&self) -> io::Result<()>;

    /// Reads all of its structure, and changes nothing.
    ///
    /// # Errors
    /// Something in it is to be mended.
    fn check(&self, file: &File) -> io::Result<()>;

    /// Removes the journal.
    ///
    /// # Errors
    /// The program's error message.
    fn remove_journal(&self, file: &File) -> io::Result<()>;

    /// Makes a journal where there is none.
    ///
    /// # Errors
    /// The program's error message.
    fn add_journal(&self, file: &File, size_mib: u64) -> io::Result<()>;
}
