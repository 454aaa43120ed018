//! Folders and files of labs: created below the state folder and `/run/netns`, and nowhere else.
//!
//! Invariants: nothing is written through a link; removal never follows links or enters other file systems.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxAttributes, StatxFlags};
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Most files that are copied from one source, and how deep they may lie.
const MAX_FILES: usize = 100_000;
const MAX_DEPTH: u32 = 32;

/// How often to retry a lock that is held.
const AGAIN: Duration = Duration::from_millis(10);

/// Makes a folder and those above it that are missing, which others may pass but not list.
pub(super) fn make_folders(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
        make_folders(above)?;
    }
    make_folder(path, 0o711)
}

/// Makes a folder; one that is there is left as it is.
pub(super) fn make_folder(path: &Path, mode: u32) -> io::Result<()> {
    match DirBuilder::new().mode(mode).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
        // The mask of the process does not count.
        Ok(()) => {
            fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
            path.parent().map_or(Ok(()), sync_folder)
        }
    }
}

/// Makes a control group, which is a folder of the kernel's that was not there.
pub(super) fn make_group(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Writes into a file of a control group, which the kernel has made.
pub(super) fn write_to_group(group: &Path, file: &str, text: &str) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(group.join(file))?.write_all(text.as_bytes())
}

/// Lets other users traverse one of sysdyno's folders.
pub(super) fn let_pass(path: &Path) -> io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o011 == 0o011 {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o7777 | 0o011))
}

/// Takes the lock of a file of this name, for which it waits so long at most, and writes into it who has it.
///
/// # Errors
/// Somebody else has it, who is named.
pub(super) fn lock_by_name(path: &Path, patience: Duration) -> io::Result<File> {
    let mut file = open(path, OFlags::empty())?;
    lock(&file, patience).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => {
            let holder = fs::read_to_string(path).unwrap_or_default();
            let holder = Some(holder.trim()).filter(|text| !text.is_empty()).unwrap_or("another process");
            let seconds = patience.as_secs();
            io::Error::other(format!("{holder} has been holding '{}' for {seconds} s", path.display()))
        }
        _ => error,
    })?;
    // For messages only.
    let _ = file.set_len(0).and_then(|()| writeln!(file, "process {}", std::process::id()));
    Ok(file)
}

/// Takes the lock of a file, for which it waits so long at most.
///
/// # Errors
/// `WouldBlock`: somebody else still has it.
pub(super) fn lock(file: &File, patience: Duration) -> io::Result<()> {
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if waited < patience => {
                std::thread::sleep(AGAIN);
                waited += AGAIN;
            }
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// The folder on the way to `path` that others may not pass; `None` if they can get there.
pub(super) fn closed_above(path: &Path) -> Option<&Path> {
    let is_closed =
        |above: &&Path| fs::metadata(above).is_ok_and(|found| found.permissions().mode() & 0o001 == 0);
    path.ancestors().filter(|above| !above.as_os_str().is_empty()).find(is_closed)
}

/// Puts what a folder holds on the disk.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Opens one of sysdyno's files, creating it if needed, never through a link.
pub(super) fn open(path: &Path, more: OFlags) -> io::Result<File> {
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | more;
    Ok(File::from(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?))
}

/// Writes a new file that everybody may read, with the folders above it up to `top`.
pub(super) fn write(top: &Path, path: &str, content: &[u8]) -> io::Result<()> {
    new_file(top, path)?.write_all(content)
}

/// Writes a new file of so many bytes that do not compress, the same ones each time.
pub(super) fn write_bytes(top: &Path, path: &str, length: u64) -> io::Result<()> {
    let mut file = io::BufWriter::new(new_file(top, path)?);
    generate(length, &mut file)?;
    file.flush()
}

/// Writes so many bytes that do not compress, the same ones each time.
pub(super) fn generate(length: u64, out: &mut dyn Write) -> io::Result<()> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut left = length;
    while left > 0 {
        // xorshift64: no two blocks alike, which is all that is asked of it.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let count = left.min(8);
        out.write_all(&state.to_le_bytes()[..count as usize])?;
        left -= count;
    }
    Ok(())
}

/// Writes behind what a file has, which is made if it is not there.
pub(super) fn append(top: &Path, path: &str, content: &[u8]) -> io::Result<()> {
    make_file(top, path, OFlags::APPEND)?.write_all(content)
}

fn new_file(top: &Path, path: &str) -> io::Result<File> {
    make_file(top, path, OFlags::EXCL)
}

fn make_file(top: &Path, path: &str, more: OFlags) -> io::Result<File> {
    let full = top.join(path);
    let above: Vec<&Path> = full.ancestors().skip(1).take_while(|above| *above != top).collect();
    above.into_iter().rev().try_for_each(|above| make_folder(above, 0o755))?;
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | more;
    let file = File::from(rustix::fs::open(&full, flags, Mode::RUSR | Mode::WUSR)?);
    file.set_permissions(fs::Permissions::from_mode(0o644))?;
    Ok(file)
}

/// Makes a new file of so many bytes that takes no room yet, which nobody else may read.
pub(super) fn make_sized(path: &Path, length: u64) -> io::Result<File> {
    let file = open(path, OFlags::EXCL)?;
    file.set_len(length)?;
    Ok(file)
}

/// Copies a file, or a folder with the regular files in it; links and other things are left out.
pub(super) fn copy(source: &Path, top: &Path, path: &str) -> io::Result<()> {
    for file in regular_files(source, path)? {
        io::copy(&mut File::open(&file.from)?, &mut new_file(top, &file.path)?)?;
    }
    Ok(())
}

/// A file that is copied or sent.
pub(super) struct SourceFile {
    pub(super) from: PathBuf,
    /// Where it goes.
    pub(super) path: String,
    pub(super) length_bytes: u64,
}

/// A file, or the regular files in a folder, that go to `path`.
pub(super) fn regular_files(source: &Path, path: &str) -> io::Result<Vec<SourceFile>> {
    let mut found = Vec::new();
    find_files(source, path, MAX_DEPTH, &mut found)?;
    Ok(found)
}

fn find_files(source: &Path, path: &str, depth: u32, found: &mut Vec<SourceFile>) -> io::Result<()> {
    let known = fs::symlink_metadata(source)?;
    if known.is_file() {
        if found.len() >= MAX_FILES {
            return Err(io::Error::other("more than 100,000 files"));
        }
        found.push(SourceFile { from: source.to_owned(), path: path.to_owned(), length_bytes: known.len() });
    }
    if !known.is_dir() || depth == 0 {
        return Ok(());
    }
    for entry in fs::read_dir(source)? {
        let name = entry?.file_name();
        let Some(text) = name.to_str() else { continue };
        find_files(&source.join(text), &format!("{path}/{text}"), depth - 1, found)?;
    }
    Ok(())
}

/// Gives a folder to an account.
pub(super) fn give(path: &Path, owner: (u32, u32)) -> io::Result<()> {
    std::os::unix::fs::lchown(path, Some(owner.0), Some(owner.1))
}

/// Replaces one of sysdyno's small files.
pub(super) fn replace(path: &Path, content: &str) -> io::Result<()> {
    let mut file = open(path, OFlags::TRUNC)?;
    file.write_all(content.as_bytes())
}

/// Replaces one of sysdyno's small files atomically: readers find either the old or the new one.
pub(super) fn exchange(path: &Path, content: &str) -> io::Result<()> {
    let draft = path.with_extension("new");
    replace(&draft, content)?;
    fs::rename(&draft, path)
}

/// Makes an empty file to mount something on; one that is there is an error.
pub(super) fn make_mount_point(path: &Path) -> io::Result<()> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    rustix::fs::open(path, flags, Mode::empty()).map(drop).map_err(io::Error::from)
}

/// Removes a file; one that is not there is no error.
pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    absent_is_good(fs::remove_file(path))
}

/// Removes an empty folder; one that is not there is no error.
pub(super) fn remove_folder(path: &Path) -> io::Result<()> {
    absent_is_good(fs::remove_dir(path))
}

/// Renames one of sysdyno's files, and syncs the rename to disk.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    to.parent().map_or(Ok(()), sync_folder)
}

/// Removes a folder with all that is in it.
pub(super) fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) => absent_is_good(Err(error)),
        Ok(found) if !found.is_dir() => remove_file(path),
        Ok(_) if is_mount_point(path)? => Err(io::Error::other(format!("'{}' is mounted", path.display()))),
        Ok(_) => {
            for entry in fs::read_dir(path)? {
                remove_tree(&entry?.path())?;
            }
            remove_folder(path)
        }
    }
}

fn absent_is_good(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Whether something is mounted at this very path.
pub(super) fn is_mount_point(path: &Path) -> io::Result<bool> {
    let found = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS)?;
    Ok(found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_removed_without_following_links() {
        let folder = tempfile::tempdir().expect("can be made");
        let (tree, other) = (folder.path().join("tree"), folder.path().join("other"));
        [&tree, &other].into_iter().for_each(|path| make_folders(path).expect("can be made"));
        write(&other, "kept", b"x").expect("can be written");
        write(&tree, "a/b/c", b"x").expect("can be written");
        std::os::unix::fs::symlink(&other, tree.join("a/link")).expect("can be made");
        remove_tree(&tree).expect("can be removed");
        assert!(!tree.exists() && other.join("kept").exists());
        remove_tree(&tree).expect("twice too");
    }

    #[test]
    fn who_holds_a_lock_is_told_to_those_who_wait_too_long() {
        let folder = tempfile::tempdir().expect("can be made");
        let path = folder.path().join("lock");
        let held = lock_by_name(&path, Duration::ZERO).expect("is free");
        let told = lock_by_name(&path, Duration::from_millis(30)).expect_err("is held").to_string();
        assert!(told.contains(&format!("process {} has been holding", std::process::id())), "{told}");
        drop(held);
        // A program that another test is just starting has it open until it is executed.
        lock_by_name(&path, Duration::from_secs(10)).expect("is free again");
    }

    #[test]
    fn what_is_written_never_goes_through_a_link() {
        let folder = tempfile::tempdir().expect("can be made");
        std::os::unix::fs::symlink("/nowhere", folder.path().join("link")).expect("can be made");
        assert!(write(folder.path(), "link", b"x").is_err());
        assert!(replace(&folder.path().join("link"), "x").is_err());
    }

    #[test]
    fn generated_bytes_are_as_many_as_asked_for_and_the_same_each_time() {
        let folder = tempfile::tempdir().expect("can be made");
        let read = |name: &str| fs::read(folder.path().join(name)).expect("can be read");
        for (name, length) in [("a", 0), ("b", 13), ("c", 13)] {
            write_bytes(folder.path(), name, length).expect("can be written");
            assert_eq!(read(name).len() as u64, length);
        }
        assert_eq!(read("b"), read("c"));
    }

    #[test]
    fn links_in_a_source_are_left_out() {
        let folder = tempfile::tempdir().expect("can be made");
        write(folder.path(), "from/page", b"x").expect("can be written");
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("from/link")).expect("can be made");
        let to = folder.path().join("to");
        make_folder(&to, 0o700).expect("can be made");
        copy(&folder.path().join("from"), &to, "site").expect("can be copied");
        assert!(to.join("site/page").exists() && !to.join("site/link").exists());
    }
}
