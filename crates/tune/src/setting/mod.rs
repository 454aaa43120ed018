//! One setting, wherever it lives. Each kind has a file here and a line in the registry.
//!
//! The journal names a setting by a text, its place: the path of a kernel file, or a text with one of the prefixes in
//! [`KINDS`]. A place is parsed once, when it is found or when the journal is read. Processes, sockets, mounts, and file
//! systems are named so that no later one can be mistaken for them.

mod at_boot;
mod config;
pub(crate) mod control_group;
mod device;
mod disk_limit;
pub(crate) mod ethtool;
mod ext_journal;
mod file;
mod limit;
mod listener;
pub(crate) mod mount;
pub(crate) mod qdisc;
mod token_bucket;

pub(crate) use at_boot::{AtBoot, UNITS};
pub(crate) use config::Directives;
pub(crate) use control_group::CpuGroups;
pub(crate) use device::INTERFACE;
pub(crate) use disk_limit::{DISK, DiskLimitKind, READ_BPS, READ_IOPS, WRITE_BPS, WRITE_IOPS};
pub use disk_limit::{LimitedDisk, limited_disks};
pub(crate) use ext_journal::ExtJournals;
pub(crate) use file::{DeviceFiles, Sysctls, expanded, read_file};
pub(crate) use limit::{LOCKED_MEMORY, OPEN_FILES, PROCESSES, ProcessLimits};
pub(crate) use listener::Backlogs;
pub(crate) use mount::Mounts;
pub(crate) use qdisc::{LinkRates, Qdiscs};

use crate::name::SettingName;
use crate::roots::TuneRoots;
use crate::text::{self, one_line};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

/// One setting of a host. Its `Display` is its place, as the journal has it.
pub(crate) trait Setting: fmt::Debug + fmt::Display + Send + Sync {
    /// Its text.
    ///
    /// # Errors
    /// It is not there (`NotFound`), cannot be read, is too long, or is not UTF-8.
    fn read(&self, roots: &TuneRoots) -> io::Result<String>;

    /// Writes its text in one go.
    ///
    /// # Errors
    /// The kernel's error; the write is not repeated.
    fn write(&self, roots: &TuneRoots, text: &str) -> io::Result<()>;

    /// A line of shell that writes it, without this program; a comment where a shell cannot.
    fn shell_line(&self, roots: &TuneRoots, text: &str) -> String;

    /// Writes the text that it had before a change.
    ///
    /// # Errors
    /// As for [`Setting::write`].
    fn put_back(&self, roots: &TuneRoots, text: &str) -> io::Result<()> {
        self.write(roots, text)
    }

    /// Has what was written be felt, where somebody has to be told of it.
    ///
    /// # Errors
    /// It could not be told; the setting is written all the same.
    fn take_effect(&self, _roots: &TuneRoots) -> io::Result<()> {
        Ok(())
    }

    /// Removes what a death in the middle of a write left behind.
    fn clean(&self, _roots: &TuneRoots) {}

    /// Whether two of its texts mean the same.
    fn is_same(&self, one: &str, other: &str) -> bool {
        text::is_same(one, other)
    }

    /// The text to write so that it reads as `text` again.
    fn writable(&self, text: &str) -> String {
        one_line(text)
    }

    /// Whether a text is what it has only in the middle of a write, so that it is neither old nor new, and ours.
    fn is_between(&self, _text: &str) -> bool {
        false
    }

    /// Refuses a text that this host cannot take, or could not be brought back from.
    fn check_fits(&self, _roots: &TuneRoots, _text: &str) -> Result<(), String> {
        Ok(())
    }

    /// Why this process could not write it; `None` if it could, as far as can be seen beforehand.
    fn unwritable(&self, _roots: &TuneRoots) -> Option<Errno> {
        (!rustix::process::geteuid().is_root()).then_some(Errno::PERM)
    }

    /// Why there is no such setting, if reading it failed by this; `None` if it is there and cannot be read.
    fn absent(&self, error: &io::Error) -> Option<String> {
        Some(format!("it has no such setting: {error}"))
    }

    /// One of its texts on one line, for people: where it is long, what differs in it from the text beside it.
    fn shown(&self, text: &str, _beside: &str) -> String {
        one_line(text)
    }

    /// What sets it again at boot.
    fn at_boot(&self) -> AtBoot<'_> {
        AtBoot::Nothing
    }
}

/// The settings of one definition of the table: where they are, and how one is found by its name.
pub(crate) trait SettingFamily: fmt::Debug + Sync {
    /// Where they are, in words or as a path; `*` in it is what it is in the name.
    fn place(&self, id: &str) -> String;

    /// The setting of this name; more than one if several sockets listen on one port.
    ///
    /// # Errors
    /// There is none, or it cannot be told from others or put back.
    fn find(&self, name: &SettingName<'_>, roots: &TuneRoots) -> Result<Vec<SettingPlace>, String>;

    /// Paths of files that are as they were as long as the device is the same.
    fn witnesses(&self) -> &'static [&'static str] {
        &[]
    }

    /// The folder of what sets them again at boot; `None` if nothing does.
    fn persists_in(&self) -> Option<&'static str> {
        None
    }

    /// The text by which the setting of this name gets a value; `text` is the one that it has.
    ///
    /// # Errors
    /// It cannot be written there.
    fn edited(&self, _name: &SettingName<'_>, _text: &str, value: String) -> Result<String, String> {
        Ok(value)
    }
}

/// Understands what follows the beginning of a place; `None` if it is not of that form.
type Parse = fn(&str) -> Option<Arc<dyn Setting>>;

/// The kinds of settings, by what their places begin with. What begins otherwise is the path of a file of the kernel.
const KINDS: [(&str, Parse); 9] = [
    (limit::PREFIX, |rest| kind(limit::ProcessLimit::parse(rest))),
    (control_group::PREFIX, |rest| kind(control_group::CpuGroup::parse(rest))),
    (disk_limit::PREFIX, |rest| kind(disk_limit::DiskLimit::parse(rest))),
    (listener::PREFIX, |rest| kind(listener::Backlog::parse(rest))),
    (qdisc::PREFIX, |rest| kind(qdisc::RootQdisc::parse(rest))),
    (ethtool::PREFIX, |rest| kind(ethtool::GroupOfDevice::parse(rest))),
    (mount::PREFIX, |rest| kind(mount::MountOptions::parse(rest))),
    (config::PREFIX, |rest| kind(config::ConfigFile::parse(rest))),
    (ext_journal::PREFIX, |rest| kind(ext_journal::ExtJournal::parse(rest))),
];

fn kind(found: Option<impl Setting + 'static>) -> Option<Arc<dyn Setting>> {
    Some(Arc::new(found?))
}

/// A setting with the text that names it in the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub(crate) struct SettingPlace {
    text: String,
    setting: Arc<dyn Setting>,
}

impl SettingPlace {
    fn of(setting: impl Setting + 'static) -> SettingPlace {
        SettingPlace { text: setting.to_string(), setting: Arc::new(setting) }
    }

    /// The text that names it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

impl From<String> for SettingPlace {
    fn from(text: String) -> SettingPlace {
        let parsed = KINDS.iter().find_map(|(prefix, parse)| parse(text.strip_prefix(prefix)?));
        let setting = parsed.unwrap_or_else(|| Arc::new(file::KernelFile(text.clone())));
        SettingPlace { text, setting }
    }
}

impl From<SettingPlace> for String {
    fn from(place: SettingPlace) -> String {
        place.text
    }
}

impl PartialEq for SettingPlace {
    fn eq(&self, other: &SettingPlace) -> bool {
        self.text == other.text
    }
}

impl Eq for SettingPlace {}

impl Deref for SettingPlace {
    type Target = dyn Setting;

    fn deref(&self) -> &Self::Target {
        &*self.setting
    }
}

/// Refuses what a tree that is no live host does not have.
fn live_only(roots: &TuneRoots) -> Result<(), String> {
    if roots.is_host() { Ok(()) } else { Err("it can only be changed on the live host".into()) }
}

/// A path between the quotes of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_named_as_they_were_parsed() {
        for text in [
            "/proc/sys/vm/swappiness",
            "limit:77:4711:nofile",
            "cgroup:cpu:v1:77:4711:/system.slice/nginx.service",
            "cgroup:cpu:v2+:77:4711:/",
            "disklimit:v1:write_iops:7:3:/",
            "disklimit:v2:read_bps:8:16:/system.slice/mariadb.service",
            "listener:12:34",
            "qdisc:3:eth0.100",
            "qdisc:web/4026532500.7/3:eth0",
            "ethtool:rings:3:eth0",
            "mount:4026531841:65:7:0:/srv/my data",
            "config:nginx:1700000000123456789:/etc/nginx/nginx.conf",
            "extjournal:6e1c2b4e-0000-4000-8000-000000000001:/dev/vdb",
        ] {
            let place = SettingPlace::from(text.to_owned());
            assert_eq!((place.text(), place.to_string().as_str()), (text, text));
            assert!(!place.shell_line(&TuneRoots::host(), "1").starts_with("# '"), "{text}");
        }
    }

    #[test]
    fn what_is_no_place_is_neither_read_nor_written() {
        for text in [
            "limit:1",
            "limit:1:2:cpu",
            "cgroup:cpu:v3:77:4711:/",
            "cgroup:cpu:v1:77:4711:/../x",
            "cgroup:cpu:v1:77:/",
            "disklimit:v1:write_iops:7:3:own",
            "disklimit:v1:write_iops:7:3:/../x",
            "disklimit:v3:write_iops:7:3:/",
            "listener:x:1",
            "qdisc:eth0",
            "qdisc:web/x/3:eth0",
            "ethtool:rings",
            "ethtool:other:3:eth0",
            "mount:1:2:3",
            "config:nginx:0:etc",
            "config:nginx:0:/etc/../passwd",
            "extjournal:uuid:dev",
            "other:1",
        ] {
            let place = SettingPlace::from(text.to_owned());
            let read = place.read(&TuneRoots::host()).expect_err("is refused");
            assert_eq!(read.kind(), io::ErrorKind::InvalidInput, "{text}");
            assert!(place.write(&TuneRoots::host(), "1").is_err(), "{text}");
            assert!(place.shell_line(&TuneRoots::host(), "1").starts_with("# '"), "{text}");
        }
    }
}
