//! A file of a service: replaced as a whole, checked by the service before and read by it after.
//!
//! A file is named `config:SERVICE:MODIFIED:PATH`, with the time of its last change in nanoseconds, which comes back with
//! its bytes. Owner, mode and extended attributes are those of the file that is replaced. A file that is a link, has
//! other names, or could be written by others than its owner is not touched.

use crate::roots::Roots;
use crate::service::Service;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Timespec, Timestamps, XattrFlags};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Longest file. Unit: bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// Longest extended attribute. Unit: bytes.
const MAX_ATTRIBUTE: usize = 64 * 1024;

struct Named<'a> {
    service: Service,
    modified_ns: i128,
    /// From the root.
    path: &'a str,
}

/// Understands `SERVICE:MODIFIED:PATH`.
fn named(rest: &str) -> io::Result<Named<'_>> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
    let mut parts = rest.splitn(3, ':');
    let mut part = || parts.next().ok_or_else(invalid);
    let (service, modified_ns, path) = (part()?, part()?, part()?);
    let service = Service::named(service).ok_or_else(invalid)?;
    let is_plain = path.starts_with('/') && !path.split('/').any(|step| step == "..");
    if !is_plain {
        return Err(invalid());
    }
    Ok(Named { service, modified_ns: modified_ns.parse().map_err(|_| invalid())?, path })
}

/// The name of a file of a service.
///
/// # Errors
/// It is not there, could not be put back as it is, or belongs to no configuration.
pub(crate) fn config(service: Service, path: &str, roots: &Roots) -> Result<String, String> {
    let place = roots.place(path);
    let found = fs::symlink_metadata(&place).map_err(|error| format!("cannot look at '{path}': {error}"))?;
    if found.file_type().is_symlink() {
        return Err("it is a link: name the file that it leads to".into());
    }
    if !found.is_file() {
        return Err(format!("'{path}' is not a file"));
    }
    if found.nlink() > 1 {
        return Err("it has another name too, which would keep the old file".into());
    }
    if found.mode() & 0o022 != 0 {
        return Err("others than its owner can write to it".into());
    }
    service.main_of(&place).ok_or_else(|| format!("it belongs to no configuration of {}", service.name()))?;
    Ok(format!("config:{}:{}:{path}", service.name(), modified_ns(&found)))
}

fn modified_ns(found: &fs::Metadata) -> i128 {
    i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec())
}

/// The bytes of a file.
pub(super) fn read(roots: &Roots, rest: &str) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = rustix::fs::open(roots.place(named(rest)?.path), flags, Mode::empty())?;
    let mut text = String::new();
    File::from(file).take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("it is longer than 256 KiB"));
    }
    Ok(text)
}

/// Replaces a file by a text that its service understands.
pub(super) fn write(roots: &Roots, rest: &str, text: &str) -> io::Result<()> {
    let named = named(rest)?;
    let place = roots.place(named.path);
    let services = roots.services().ok_or_else(|| io::Error::other("nobody is there to check it"))?;
    let main = named.service.main_of(&place).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    let draft = draft(&place)?;
    let is_main = main == place;
    let made = make(&place, &draft, text);
    let checked = made.and_then(|()| if is_main { services.check(named.service, &draft) } else { Ok(()) });
    let moved = checked.and_then(|()| fs::rename(&draft, &place));
    if moved.is_err() {
        // Nothing reads the draft; without it the folder is as it was.
        let _ = fs::remove_file(&draft);
    }
    moved?;
    sync_folder(&place)?;
    // A part is understood only in its place; if it is not, the caller puts the old one back.
    if is_main { Ok(()) } else { services.check(named.service, &main) }
}

/// Puts the bytes of a file back, with the time of their last change.
pub(super) fn put_back(roots: &Roots, rest: &str, text: &str) -> io::Result<()> {
    let named = named(rest)?;
    let place = roots.place(named.path);
    let draft = draft(&place)?;
    make(&place, &draft, text)?;
    let (seconds, nanoseconds) =
        (named.modified_ns.div_euclid(1_000_000_000), named.modified_ns.rem_euclid(1_000_000_000));
    let time = |tv_sec: i128, tv_nsec: i128| Timespec { tv_sec: tv_sec as i64, tv_nsec: tv_nsec as _ };
    let omitted = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };
    let times = Timestamps { last_access: omitted, last_modification: time(seconds, nanoseconds) };
    rustix::fs::utimensat(CWD, &draft, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    fs::rename(&draft, &place)?;
    sync_folder(&place)
}

/// Has the service read its files again.
pub(super) fn take_effect(roots: &Roots, rest: &str) -> io::Result<()> {
    let named = named(rest)?;
    let main = named.service.main_of(&roots.place(named.path));
    let main = main.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    match roots.services() {
        Some(services) => services.reload(named.service, &main),
        None => Ok(()),
    }
}

/// Removes what a death left beside a file.
pub(super) fn clean(roots: &Roots, rest: &str) {
    // What is not there, or cannot be removed, is read by nothing.
    let _ = named(rest).and_then(|named| draft(&roots.place(named.path))).and_then(fs::remove_file);
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

/// Why this process could not replace a file; `None` if it could.
pub(super) fn unwritable(roots: &Roots, rest: &str) -> Option<Errno> {
    let place = named(rest).ok().map(|named| roots.place(named.path))?;
    rustix::fs::accessat(CWD, place.parent()?, rustix::fs::Access::WRITE_OK, AtFlags::EACCESS).err()
}

/// The lines of a text that another one does not have; its length if it has all.
pub(super) fn differing(text: &str, beside: &str) -> String {
    let others: Vec<&str> = beside.lines().collect();
    let own: Vec<&str> = text.lines().filter(|line| !others.contains(line)).map(str::trim).collect();
    if own.is_empty() { format!("{} bytes", text.len()) } else { own.join(" | ") }
}

/// What a person does to put it back.
pub(super) fn shell_line(rest: &str) -> String {
    let path = rest.splitn(3, ':').nth(2).unwrap_or(rest);
    format!("# {path}: its old bytes are in the journal; `sysdyno tune undo` puts them back")
}
