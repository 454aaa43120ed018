//! A setting that is a kernel file: read whole, written in one call.
//!
//! Invariant: a path is used only below `/proc/sys`, `/proc/irq`, or `/sys` and without `..`, wherever it comes from.

use super::{AtBoot, Setting, SettingFamily, SettingPlace, device, quoted};
use crate::name::SettingName;
use crate::roots::TuneRoots;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

/// Longest text of a setting. Unit: bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Most files that are found by one path.
const MAX_FILES: usize = 4096;

/// Where settings may be.
const PLACES: [&str; 3] = ["/proc/sys/", "/proc/irq/", "/sys/"];

/// Whether a path is one that a setting can have.
fn is_setting(path: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
    let place = PLACES.iter().find_map(|place| path.strip_prefix(place));
    place.is_some_and(|rest| rest.split('/').all(is_plain))
}

/// A file of the kernel, by its path from the root.
#[derive(Debug)]
pub(super) struct KernelFile(pub(super) String);

impl fmt::Display for KernelFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Setting for KernelFile {
    fn read(&self, roots: &TuneRoots) -> io::Result<String> {
        read_file(roots, &self.0)
    }

    fn write(&self, roots: &TuneRoots, text: &str) -> io::Result<()> {
        let mut file = open(roots, &self.0, OFlags::WRONLY)?;
        let line = if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
        let written = file.write(line.as_bytes())?;
        if written != line.len() {
            return Err(io::Error::other("the kernel accepted only a part of it"));
        }
        // The kernel's files have no end to move; those of a tree are ordinary ones.
        if roots.is_host() { Ok(()) } else { file.set_len(line.len() as u64) }
    }

    fn shell_line(&self, roots: &TuneRoots, text: &str) -> String {
        if !is_setting(&self.0) {
            return format!("# '{}' cannot be understood", self.0);
        }
        let place = roots.place(&self.0).display().to_string();
        let is_plain = place.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
        let place = if is_plain { place } else { quoted(&place) };
        format!("echo {} > {place}", quoted(text))
    }

    fn unwritable(&self, roots: &TuneRoots) -> Option<Errno> {
        rustix::fs::accessat(CWD, roots.place(&self.0), Access::WRITE_OK, AtFlags::EACCESS).err()
    }

    fn absent(&self, error: &io::Error) -> Option<String> {
        is_absent(error).then(|| format!("this host has no '{}'", self.0))
    }

    fn at_boot(&self) -> AtBoot<'_> {
        AtBoot::of_file(&self.0)
    }
}

/// Sysctls: files below `/proc/sys`, by the names of the settings.
#[derive(Debug)]
pub(crate) struct Sysctls;

impl SettingFamily for Sysctls {
    fn place(&self, id: &str) -> String {
        format!("/proc/sys/{}", id.replace('.', "/"))
    }

    fn find(&self, name: &SettingName<'_>, _: &TuneRoots) -> Result<Vec<SettingPlace>, String> {
        Ok(vec![SettingPlace::of(KernelFile(self.place(name.id)))])
    }

    fn persists_in(&self) -> Option<&'static str> {
        AtBoot::Sysctl.folder()
    }
}

/// Files of a device, or of what else is below `/sys` and `/proc/irq`.
#[derive(Debug)]
pub(crate) struct DeviceFiles {
    /// The path from the root; each `*` is what it is in the name.
    pub(crate) path: &'static str,
    /// Paths of files that are as they were as long as the device is the same.
    pub(crate) witnesses: &'static [&'static str],
}

impl SettingFamily for DeviceFiles {
    fn place(&self, _: &str) -> String {
        self.path.into()
    }

    fn find(&self, name: &SettingName<'_>, roots: &TuneRoots) -> Result<Vec<SettingPlace>, String> {
        if self.path.starts_with("/sys/class/net/") {
            device::check_shown(name.first(), roots)?;
        }
        Ok(vec![SettingPlace::of(KernelFile(name.filled(self.path)))])
    }

    fn witnesses(&self) -> &'static [&'static str] {
        self.witnesses
    }

    fn persists_in(&self) -> Option<&'static str> {
        AtBoot::of_file(self.path).folder()
    }
}

/// The text of a file of the kernel.
///
/// # Errors
/// It is not there, cannot be read, is longer than 64 KiB, or is not UTF-8.
pub(crate) fn read_file(roots: &TuneRoots, path: &str) -> io::Result<String> {
    let mut text = String::new();
    let file = open(roots, path, OFlags::RDONLY)?;
    file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("its text is longer than 64 KiB"));
    }
    Ok(text)
}

/// The files that a path expands to: `+` in it is every folder, and `/` at its end every file.
///
/// # Errors
/// A folder cannot be read: what it holds is then not known, and is not nothing.
pub(crate) fn expanded(path: &str, roots: &TuneRoots) -> io::Result<Vec<SettingPlace>> {
    if let Some((folder, rest)) = path.split_once("/+/") {
        let mut all = Vec::new();
        for name in names(folder, roots)? {
            all.extend(expanded(&format!("{folder}/{name}/{rest}"), roots)?);
        }
        all.truncate(MAX_FILES);
        return Ok(all);
    }
    let files = match path.strip_suffix('/') {
        Some(folder) => names(folder, roots)?.into_iter().map(|name| format!("{folder}/{name}")).collect(),
        None => vec![path.to_owned()],
    };
    let there = files.into_iter().filter(|path| exists(roots, path));
    Ok(there.map(|path| SettingPlace::of(KernelFile(path))).collect())
}

/// What a folder holds, in order; nothing if it is not there.
fn names(folder: &str, roots: &TuneRoots) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(roots.place(folder)) {
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        entries => entries?,
    };
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let mut names = entries.take(MAX_FILES).map(name).collect::<io::Result<Vec<String>>>()?;
    names.sort_unstable();
    Ok(names)
}

fn exists(roots: &TuneRoots, path: &str) -> bool {
    match fs::metadata(roots.place(path)) {
        Ok(metadata) => metadata.is_file(),
        // What cannot be told now is told by whoever reads it.
        Err(error) => !is_absent(&error),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn open(roots: &TuneRoots, path: &str, flags: OFlags) -> io::Result<File> {
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
            assert!(KernelFile(path.into()).write(&TuneRoots::host(), "1").is_err(), "{path}");
        }
    }

    #[test]
    fn a_shorter_value_leaves_nothing_of_the_longer_one() {
        let root = tempfile::tempdir().expect("a folder");
        let roots = TuneRoots::at(root.path());
        std::fs::create_dir_all(root.path().join("proc/sys/vm")).expect("makes");
        std::fs::write(root.path().join("proc/sys/vm/swappiness"), "100\n").expect("writes");
        let setting = KernelFile("/proc/sys/vm/swappiness".into());
        setting.write(&roots, "1").expect("writes");
        assert_eq!(setting.read(&roots).expect("reads"), "1\n");
    }
}
