//! Keeps settings over a reboot, in one file of ours, and takes them out again.
//!
//! Invariants: only a file that begins with our first line is ever written or removed; it is replaced as a whole, so that
//! at any moment it is either what it was or what it should be; nothing that is in force now is touched.

use crate::change::Change;
use crate::error::{Refusal, TuneError};
use crate::files::{make_folder, sync_folder};
use crate::plan::{Rival, plan, rivals_of};
use crate::roots::Roots;
use crate::tunable::find;
use rustix::fs::{Mode, OFlags};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

/// The file, from the root.
const FILE: &str = "/etc/sysctl.d/90-sysdyno.conf";

/// The first line, by which the file is known to be ours.
const HEADER: &str = "# Written by sysdyno; `sysdyno tune persist --remove` takes this file away again.";

/// Longest file of ours. Unit: bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// What is kept over a reboot now.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Persisted {
    /// The file, from the root.
    pub file: &'static str,
    /// Its settings; without any there is no file.
    pub settings: BTreeMap<String, String>,
    /// Settings of these that another file sets again, after ours was read.
    pub overridden: Vec<Overridden>,
}

/// A setting that another file has the last word about.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Overridden {
    /// The setting.
    pub key: String,
    /// Who sets it.
    pub by: Rival,
}

/// Adds settings to the file, or changes them in it.
///
/// # Errors
/// A change is not in order, or is of a setting that is lost with its process; the file is not ours; it cannot be
/// written.
pub fn persist(changes: &[Change], roots: &Roots) -> Result<Persisted, TuneError> {
    let planned = plan(changes, roots)?;
    let unkept = planned.changes.iter().filter(|change| change.persists_in.is_none());
    let refusals: Vec<Refusal> = unkept
        .map(|change| Refusal::new(&change.key, "there is nothing that it could be kept in over a reboot"))
        .collect();
    if !refusals.is_empty() {
        return Err(TuneError::Refused(refusals));
    }
    let mut settings = read(roots)?;
    for change in planned.changes {
        // Of two that exclude each other the file holds one, or the order of its lines would decide.
        if let Some(other) = change.counterpart {
            settings.remove(other);
        }
        settings.insert(change.key, change.new);
    }
    write(&settings, roots)?;
    Ok(persisted(settings, roots))
}

/// Takes settings out of the file; all of them, and the file with them, if none is named.
///
/// # Errors
/// One of them is not in it; the file is not ours; it cannot be written or removed.
pub fn forget(keys: &[String], roots: &Roots) -> Result<Persisted, TuneError> {
    let mut settings = read(roots)?;
    let missing = keys.iter().filter(|key| !settings.contains_key(*key));
    let refusals: Vec<Refusal> =
        missing.map(|key| Refusal::new(key, format!("it is not in '{FILE}'"))).collect();
    if !refusals.is_empty() {
        return Err(TuneError::Refused(refusals));
    }
    settings.retain(|key, _| !keys.is_empty() && !keys.contains(key));
    if !settings.is_empty() {
        write(&settings, roots)?;
    } else if roots.place(FILE).exists() {
        let path = roots.place(FILE);
        fs::remove_file(&path).map_err(TuneError::io("remove", &path))?;
        path.parent().map_or(Ok(()), sync_folder)?;
    }
    Ok(persisted(settings, roots))
}

fn persisted(settings: BTreeMap<String, String>, roots: &Roots) -> Persisted {
    let last = |key: &String| rivals_of(key, roots).into_iter().find(|rival| rival.is_last);
    let others = settings.keys().filter_map(|key| Some((key, last(key)?)));
    let others = others.filter(|(_, rival)| !rival.who.starts_with(FILE));
    let overridden = others.map(|(key, by)| Overridden { key: key.clone(), by }).collect();
    Persisted { file: FILE, settings, overridden }
}

/// The settings of the file; none if it is not there.
fn read(roots: &Roots) -> Result<BTreeMap<String, String>, TuneError> {
    let path = roots.place(FILE);
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = match rustix::fs::open(&path, flags, Mode::empty()) {
        Err(rustix::io::Errno::NOENT) => return Ok(BTreeMap::new()),
        opened => File::from(opened.map_err(|error| TuneError::io("open", &path)(error.into()))?),
    };
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).map_err(TuneError::io("read", &path))?;
    if text.lines().next() != Some(HEADER) {
        let foreign = io::Error::other("it was not written by sysdyno; its first line is another one");
        return Err(TuneError::io("change", &path)(foreign));
    }
    let line = |line: &str| line.split_once('=').map(|(key, value)| (key.trim().into(), value.trim().into()));
    Ok(text.lines().filter(|line| !line.starts_with('#')).filter_map(line).collect())
}

fn write(settings: &BTreeMap<String, String>, roots: &Roots) -> Result<(), TuneError> {
    let path = roots.place(FILE);
    let folder = path.parent().expect("the file is in a folder");
    if !folder.is_dir() {
        make_folder(folder)?;
    }
    let mut text = format!("{HEADER}\n");
    for (key, value) in settings {
        let does = find(key).map_or("", |tunable| tunable.does);
        text.push_str(&format!("\n# {does}\n{key} = {value}\n"));
    }
    replace(&path, &text).map_err(TuneError::io("write", &path))?;
    sync_folder(folder)
}

/// Replaces a file as a whole.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let draft = path.with_extension("conf.sysdyno-new");
    let flags = OFlags::CREATE | OFlags::TRUNC | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = File::from(rustix::fs::open(&draft, flags, Mode::from_raw_mode(0o644))?);
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let moved = written.and_then(|()| fs::rename(&draft, path));
    if moved.is_err() {
        // The draft is not read by anything; without it the folder is as it was.
        let _ = fs::remove_file(&draft);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Host, changes};

    fn file(host: &Host) -> String {
        fs::read_to_string(host.roots.place(FILE)).expect("is there")
    }

    #[test]
    fn settings_are_kept_in_one_file_of_ours_and_taken_out_again() {
        let host = Host::new();
        let before = host.all();
        persist(&changes(&["vm.swappiness=10", "net.core.somaxconn=8192"]), &host.roots).expect("persists");
        let kept = persist(&changes(&["vm.swappiness=20"]), &host.roots).expect("persists");
        assert_eq!(kept.settings.len(), 2);
        assert!(
            file(&host).starts_with(HEADER) && file(&host).contains("\nvm.swappiness = 20\n"),
            "{}",
            file(&host)
        );
        assert_eq!(host.all(), before, "what is in force is not touched");
        forget(&["vm.swappiness".into()], &host.roots).expect("forgets");
        assert!(!file(&host).contains("swappiness"));
        assert!(forget(&["vm.swappiness".into()], &host.roots).is_err());
        forget(&[], &host.roots).expect("forgets");
        let left = fs::read_dir(host.roots.place("/etc/sysctl.d")).expect("is there").count();
        assert_eq!(left, 0);
    }

    #[test]
    fn a_file_that_is_not_ours_is_neither_written_nor_removed() {
        let host = Host::new();
        fs::create_dir_all(host.roots.place("/etc/sysctl.d")).expect("makes");
        fs::write(host.roots.place(FILE), "vm.swappiness = 1\n").expect("writes");
        assert!(persist(&changes(&["vm.swappiness=10"]), &host.roots).is_err());
        assert!(forget(&[], &host.roots).is_err());
        assert_eq!(file(&host), "vm.swappiness = 1\n");
    }

    #[test]
    fn who_has_the_last_word_is_said() {
        let host = Host::new();
        fs::create_dir_all(host.roots.place("/etc/sysctl.d")).expect("makes");
        fs::write(host.roots.place("/etc/sysctl.d/95-later.conf"), "vm.swappiness = 1\n").expect("writes");
        fs::write(host.roots.place("/etc/sysctl.d/10-earlier.conf"), "net.core.somaxconn = 1\n")
            .expect("writes");
        let kept = persist(&changes(&["vm.swappiness=10", "net.core.somaxconn=8192"]), &host.roots)
            .expect("persists");
        assert_eq!(kept.overridden.len(), 1);
        assert_eq!(kept.overridden[0].by.who, "/etc/sysctl.d/95-later.conf:1");
    }
}
