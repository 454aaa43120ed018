//! A setting that is a file of the kernel: read whole, written in one call.
//!
//! Invariant: a path is used only below `/proc/sys`, `/proc/irq` or `/sys` and without `..`, whoever says it.

use crate::roots::Roots;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

/// Longest text of a setting. Unit: bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Where settings may lie.
const PLACES: [&str; 3] = ["/proc/sys/", "/proc/irq/", "/sys/"];

/// Whether a path is one that a setting can have.
pub(super) fn is_setting(path: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
    let place = PLACES.iter().find_map(|place| path.strip_prefix(place));
    place.is_some_and(|rest| rest.split('/').all(is_plain))
}

/// The text of a setting.
///
/// # Errors
/// It is not there, cannot be read, is longer than 64 KiB, or is not UTF-8.
pub(super) fn read(roots: &Roots, path: &str) -> io::Result<String> {
    let mut text = String::new();
    let file = open(roots, path, OFlags::RDONLY)?;
    file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("its text is longer than 64 KiB"));
    }
    Ok(text)
}

/// Writes the text of a setting in one call.
///
/// # Errors
/// What the kernel says; nothing is written again.
pub(super) fn write(roots: &Roots, path: &str, text: &str) -> io::Result<()> {
    let mut file = open(roots, path, OFlags::WRONLY)?;
    let line = if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let written = file.write(line.as_bytes())?;
    if written != line.len() {
        return Err(io::Error::other("the kernel took only a part of it"));
    }
    // The kernel's files have no end to move; those of a tree are ordinary ones.
    if roots.is_host() { Ok(()) } else { file.set_len(line.len() as u64) }
}

/// Why this process could not write a setting; `None` if it could.
pub(super) fn unwritable(roots: &Roots, path: &str) -> Option<Errno> {
    rustix::fs::accessat(CWD, roots.place(path), Access::WRITE_OK, AtFlags::EACCESS).err()
}

/// Whether there is such a setting.
pub(super) fn exists(roots: &Roots, path: &str) -> bool {
    match fs::metadata(roots.place(path)) {
        Ok(metadata) => metadata.is_file(),
        // What cannot be told now is told by whoever reads it.
        Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}

/// A line of shell that writes it.
pub(super) fn shell_line(roots: &Roots, path: &str, text: &str) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let place = roots.place(path).display().to_string();
    let is_plain = place.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
    let place = if is_plain { place } else { quoted(&place) };
    format!("echo {} > {place}", quoted(text))
}

fn open(roots: &Roots, path: &str, flags: OFlags) -> io::Result<File> {
    if !is_setting(path) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not the path of a setting"));
    }
    let place: &Path = &roots.place(path);
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NOCTTY;
    Ok(File::from(rustix::fs::open(place, flags, Mode::empty())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_are_opened() {
        for path in ["/proc/sys/vm/swappiness", "/sys/block/sda/queue/scheduler"] {
            assert!(is_setting(path), "{path}");
        }
        let wrong = [
            "/etc/passwd",
            "/proc/sys/",
            "/proc/sys/../1/mem",
            "/sys//x",
            "proc/sys/a",
            "/proc/sysrq-trigger",
            "",
            "/sys/.",
        ];
        for path in wrong {
            assert!(!is_setting(path), "{path}");
            assert!(write(&Roots::host(), path, "1").is_err(), "{path}");
        }
    }

    #[test]
    fn a_shorter_value_leaves_nothing_of_the_longer_one() {
        let root = tempfile::tempdir().expect("a folder");
        let roots = Roots::at(root.path());
        std::fs::create_dir_all(root.path().join("proc/sys/vm")).expect("makes");
        std::fs::write(root.path().join("proc/sys/vm/swappiness"), "100\n").expect("writes");
        write(&roots, "/proc/sys/vm/swappiness", "1").expect("writes");
        assert_eq!(read(&roots, "/proc/sys/vm/swappiness").expect("reads"), "1\n");
    }
}
