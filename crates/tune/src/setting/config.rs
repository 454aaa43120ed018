//! A service's configuration file: replaced as a whole; the service checks it before and reloads it after.
//!
//! A file is named `config:SERVICE:MODIFIED:PATH`, with the time of its last change in nanoseconds, which is restored with
//! its bytes. Owner, mode, and extended attributes are copied from the file being replaced. A file that is a link, has
//! other names, or is writable by others than its owner is not touched.

use super::{Setting, SettingFamily, SettingPlace};
use crate::name::SettingName;
use crate::roots::TuneRoots;
use crate::service::Service;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Timespec, Timestamps, XattrFlags};
use rustix::io::Errno;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub(super) const PREFIX: &str = "config:";

/// Longest file. Unit: bytes.
const MAX_BYTES: u64 = 256 * 1024;

const NS_PER_S: i128 = 1_000_000_000;

/// Longest extended attribute. Unit: bytes.
const MAX_ATTRIBUTE: usize = 64 * 1024;

/// Directives in files of services, by names of the form `SERVICE:FILE:DIRECTIVE`.
#[derive(Debug)]
pub(crate) struct Directives;

impl Directives {
    /// The service of a definition, and its directive, with a `*` for what it is in the name.
    fn of(id: &str) -> Option<(Service, &str)> {
        let (service, directive) = id.split_once(":*:")?;
        Some((Service::named(service)?, directive))
    }
}

impl SettingFamily for Directives {
    fn place(&self, id: &str) -> String {
        format!("a file of {}", Directives::of(id).map_or("a service", |(service, _)| service.name()))
    }

    fn find(&self, name: &SettingName<'_>, roots: &TuneRoots) -> Result<Vec<SettingPlace>, String> {
        let (service, _) = Directives::of(name.id).ok_or("it is of no service")?;
        Ok(vec![SettingPlace::of(ConfigFile::find(service, name.first(), roots)?)])
    }

    fn edited(&self, name: &SettingName<'_>, text: &str, value: String) -> Result<String, String> {
        let (service, directive) = Directives::of(name.id).ok_or("it is of no service")?;
        service.edited(text, &name.filled_after_first(directive), &value)
    }
}

/// A file of a service.
#[derive(Debug)]
pub(super) struct ConfigFile {
    service: Service,
    modified_ns: i128,
    /// From the root.
    path: String,
}

impl ConfigFile {
    /// The file at a path.
    ///
    /// # Errors
    /// It is not there, could not be put back as it is, or belongs to no configuration.
    fn find(service: Service, path: &str, roots: &TuneRoots) -> Result<ConfigFile, String> {
        let place = roots.place(path);
        let found =
            fs::symlink_metadata(&place).map_err(|error| format!("cannot look at '{path}': {error}"))?;
        if found.file_type().is_symlink() {
            return Err("it is a symbolic link: use the file that it points to".into());
        }
        if !found.is_file() {
            return Err(format!("'{path}' is not a file"));
        }
        if found.nlink() > 1 {
            return Err("it has another hard link, which would keep the old file".into());
        }
        if found.mode() & 0o022 != 0 {
            return Err("users other than its owner can write to it".into());
        }
        service
            .main_of(&place)
            .ok_or_else(|| format!("it does not belong to a configuration of {}", service.name()))?;
        let modified_ns = i128::from(found.mtime()) * NS_PER_S + i128::from(found.mtime_nsec());
        Ok(ConfigFile { service, modified_ns, path: path.into() })
    }

    pub(super) fn parse(rest: &str) -> Option<ConfigFile> {
        let mut parts = rest.splitn(3, ':');
        let (service, modified_ns, path) = (parts.next()?, parts.next()?, parts.next()?);
        let is_plain = path.starts_with('/') && !path.split('/').any(|step| step == "..");
        let (service, modified_ns) = (Service::named(service)?, modified_ns.parse().ok()?);
        is_plain.then(|| ConfigFile { service, modified_ns, path: path.into() })
    }

    /// The main file that it is a part of.
    fn main(&self, place: &Path) -> io::Result<PathBuf> {
        self.service.main_of(place).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl fmt::Display for ConfigFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{PREFIX}{}:{}:{}", self.service.name(), self.modified_ns, self.path)
    }
}

impl Setting for ConfigFile {
    fn read(&self, roots: &TuneRoots) -> io::Result<String> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = rustix::fs::open(roots.place(&self.path), flags, Mode::empty())?;
        let mut text = String::new();
        File::from(file).take(MAX_BYTES + 1).read_to_string(&mut text)?;
        if text.len() as u64 > MAX_BYTES {
            return Err(io::Error::other("it is longer than 256 KiB"));
        }
        Ok(text)
    }

    /// Replaces it by a text that its service understands.
    fn write(&self, roots: &TuneRoots, text: &str) -> io::Result<()> {
        let place = roots.place(&self.path);
        let services =
            roots.services().ok_or_else(|| io::Error::other("no program is available to check it"))?;
        let main = self.main(&place)?;
        let draft = draft(&place)?;
        let is_main = main == place;
        let made = make(&place, &draft, text);
        let checked = made.and_then(|()| if is_main { services.check(self.service, &draft) } else { Ok(()) });
        let moved = checked.and_then(|()| fs::rename(&draft, &place));
        if moved.is_err() {
            // Nothing reads the draft; without it the folder is as it was.
            let _ = fs::remove_file(&draft);
        }
        moved?;
        sync_folder(&place)?;
        // A part is understood only in its place; if it is not, the caller puts the old one back.
        if is_main { Ok(()) } else { services.check(self.service, &main) }
    }

    /// Puts its bytes back, with the time of their last change.
    fn put_back(&self, roots: &TuneRoots, text: &str) -> io::Result<()> {
        let place = roots.place(&self.path);
        let draft = draft(&place)?;
        make(&place, &draft, text)?;
        let (seconds, nanoseconds) =
            (self.modified_ns.div_euclid(NS_PER_S), self.modified_ns.rem_euclid(NS_PER_S));
        let time = |tv_sec: i128, tv_nsec: i128| Timespec { tv_sec: tv_sec as i64, tv_nsec: tv_nsec as _ };
        let omitted = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };
        let times = Timestamps { last_access: omitted, last_modification: time(seconds, nanoseconds) };
        rustix::fs::utimensat(CWD, &draft, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        fs::rename(&draft, &place)?;
        sync_folder(&place)
    }

    /// Has the service read its files again.
    fn take_effect(&self, roots: &TuneRoots) -> io::Result<()> {
        let main = self.main(&roots.place(&self.path))?;
        roots.services().map_or(Ok(()), |services| services.reload(self.service, &main))
    }

    fn clean(&self, roots: &TuneRoots) {
        // What is not there, or cannot be removed, is read by nothing.
        let _ = draft(&roots.place(&self.path)).and_then(fs::remove_file);
    }

    fn is_same(&self, one: &str, other: &str) -> bool {
        one == other
    }

    fn writable(&self, text: &str) -> String {
        text.to_owned()
    }

    fn unwritable(&self, roots: &TuneRoots) -> Option<Errno> {
        let place = roots.place(&self.path);
        rustix::fs::accessat(CWD, place.parent()?, rustix::fs::Access::WRITE_OK, AtFlags::EACCESS).err()
    }

    /// The lines of a text that the other one does not have; its length if it has all.
    fn shown(&self, text: &str, beside: &str) -> String {
        let others: Vec<&str> = beside.lines().collect();
        let own: Vec<&str> = text.lines().filter(|line| !others.contains(line)).map(str::trim).collect();
        if own.is_empty() { format!("{} bytes", text.len()) } else { own.join(" | ") }
    }

    fn shell_line(&self, _: &TuneRoots, _: &str) -> String {
        format!("# {}: its old bytes are in the journal; `sysdyno tune undo` puts them back", self.path)
    }
}

/// Where the next text of a file is put together: hidden, so that no pattern such as `*.conf` finds it.
fn draft(place: &Path) -> io::Result<PathBuf> {
    let name = place.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    Ok(place.with_file_name(format!(".{name}.sysdyno-new")))
}

/// Makes a draft that has everything of a file but its bytes.
fn make(place: &Path, draft: &Path, text: &str) -> io::Result<()> {
    let found = fs::symlink_metadata(place)?;
    let flags = OFlags::CREATE | OFlags::TRUNC | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = File::from(rustix::fs::open(draft, flags, Mode::RUSR | Mode::WUSR)?);
    file.write_all(text.as_bytes())?;
    if file.metadata()?.uid() != found.uid() || file.metadata()?.gid() != found.gid() {
        std::os::unix::fs::fchown(&file, Some(found.uid()), Some(found.gid()))?;
    }
    copy_attributes(place, &file)?;
    file.set_permissions(found.permissions())?;
    file.sync_all()
}

fn copy_attributes(place: &Path, file: &File) -> io::Result<()> {
    let mut names = vec![0u8; MAX_ATTRIBUTE];
    let length = match rustix::fs::llistxattr(place, &mut names[..]) {
        Err(Errno::OPNOTSUPP) => return Ok(()),
        length => length?,
    };
    let mut value = vec![0u8; MAX_ATTRIBUTE];
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let length = rustix::fs::lgetxattr(place, name, &mut value[..])?;
        rustix::fs::fsetxattr(file, name, &value[..length], XattrFlags::empty())?;
    }
    Ok(())
}

fn sync_folder(place: &Path) -> io::Result<()> {
    place.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}
