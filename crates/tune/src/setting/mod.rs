//! One setting, wherever it lives: a file of the kernel, a limit of a process, the backlog of a listener, the queueing
//! discipline of a device, what the device itself is set to, the options of a mount, a file of a service, or the journal of a file
//! system.
//!
//! A setting is named by a text, which the journal holds: the path of a file, `limit:PID:START:NAME`,
//! `listener:COOKIE:INODE`, `qdisc:INDEX:NAME`, `ethtool:GROUP:INDEX:NAME`,
//! `mount:NAMESPACE:ID:MAJOR:MINOR:PATH`, `config:SERVICE:MODIFIED:PATH` or `extjournal:UUID:PATH`. Process and socket are named so that no
//! other one that came later can be mistaken for them.

mod config;
pub(crate) mod ethtool;
mod ext_journal;
mod file;
mod limit;
mod link;
mod listener;
pub(crate) mod mount;
pub(crate) mod qdisc;

pub(crate) use config::config;
pub(crate) use ethtool::Group;
pub(crate) use ext_journal::ext_journal;
pub(crate) use limit::{Limit, limit_of};
pub(crate) use link::link;
pub(crate) use listener::listeners;

use crate::roots::Roots;
use crate::value::{self, one_line};
use rustix::io::Errno;
use std::io;

/// A setting, by what its name begins with.
enum Place<'a> {
    File(&'a str),
    Limit(&'a str),
    Listener(&'a str),
    Qdisc(&'a str),
    Ethtool(&'a str),
    Mount(&'a str),
    Config(&'a str),
    ExtJournal(&'a str),
}

fn place(name: &str) -> Place<'_> {
    if let Some(rest) = name.strip_prefix("limit:") {
        Place::Limit(rest)
    } else if let Some(rest) = name.strip_prefix("listener:") {
        Place::Listener(rest)
    } else if let Some(rest) = name.strip_prefix("qdisc:") {
        Place::Qdisc(rest)
    } else if let Some(rest) = name.strip_prefix("ethtool:") {
        Place::Ethtool(rest)
    } else if let Some(rest) = name.strip_prefix("mount:") {
        Place::Mount(rest)
    } else if let Some(rest) = name.strip_prefix("config:") {
        Place::Config(rest)
    } else if let Some(rest) = name.strip_prefix("extjournal:") {
        Place::ExtJournal(rest)
    } else {
        Place::File(name)
    }
}

/// The text of a setting.
///
/// # Errors
/// It is not there (`NotFound`), cannot be read, is longer than 64 KiB, or is not UTF-8.
pub(crate) fn read(roots: &Roots, name: &str) -> io::Result<String> {
    match place(name) {
        Place::File(path) => file::read(roots, path),
        Place::Limit(rest) => limit::read(rest),
        Place::Listener(rest) => listener::read(rest),
        Place::Qdisc(rest) => qdisc::read(rest),
        Place::Ethtool(rest) => ethtool::read(rest),
        Place::Mount(rest) => mount::read(rest),
        Place::Config(rest) => config::read(roots, rest),
        Place::ExtJournal(rest) => ext_journal::read(roots, rest),
    }
}

/// The text of a member of a change; empty for one that follows another and is not there now.
///
/// # Errors
/// As for [`read`].
pub(crate) fn read_member(roots: &Roots, name: &str, follows: bool) -> io::Result<String> {
    match read(roots, name) {
        // A file of a scheduler or governor is there as long as that is in force; some are there and say EINVAL.
        Err(error)
            if follows && matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) =>
        {
            Ok(String::new())
        }
        text => text,
    }
}

/// Writes the text of a setting in one call.
///
/// # Errors
/// What the kernel says; nothing is written again.
pub(crate) fn write(roots: &Roots, name: &str, text: &str) -> io::Result<()> {
    match place(name) {
        Place::File(path) => file::write(roots, path, text),
        Place::Limit(rest) => limit::write(rest, text),
        Place::Listener(rest) => listener::write(rest, text),
        Place::Qdisc(rest) => qdisc::write(rest, text),
        Place::Ethtool(rest) => ethtool::write(rest, text),
        Place::Mount(rest) => mount::write(rest, text),
        Place::Config(rest) => config::write(roots, rest, text),
        Place::ExtJournal(rest) => ext_journal::write(roots, rest, text),
    }
}

/// Writes the text that a setting had before a change.
///
/// # Errors
/// As for [`write`].
pub(crate) fn put_back(roots: &Roots, name: &str, text: &str) -> io::Result<()> {
    match place(name) {
        Place::Config(rest) => config::put_back(roots, rest, text),
        _ => write(roots, name, text),
    }
}

/// Has what was written be felt, where somebody has to be told of it.
///
/// # Errors
/// It could not be told; the setting is written all the same.
pub(crate) fn take_effect(roots: &Roots, name: &str) -> io::Result<()> {
    match place(name) {
        Place::Config(rest) => config::take_effect(roots, rest),
        _ => Ok(()),
    }
}

/// Removes what a death in the middle of a write left behind.
pub(crate) fn clean(roots: &Roots, name: &str) {
    if let Place::Config(rest) = place(name) {
        config::clean(roots, rest);
    }
}

/// Whether two texts of a setting mean the same.
pub(crate) fn is_same(name: &str, one: &str, other: &str) -> bool {
    match place(name) {
        Place::Config(_) => one == other,
        _ => value::is_same(one, other),
    }
}

/// The text to write so that a setting reads as `text` again.
pub(crate) fn writable(name: &str, text: &str) -> String {
    match place(name) {
        Place::Config(_) => text.to_owned(),
        _ => one_line(text),
    }
}

/// Whether a text is what a setting has only in the middle of a write, so that it is neither old nor new, and ours.
pub(crate) fn is_between(name: &str, text: &str) -> bool {
    matches!(place(name), Place::ExtJournal(_)) && ext_journal::is_between(text)
}

/// Refuses a text that the setting of this host cannot take, or could not be brought back from.
pub(crate) fn check_fits(roots: &Roots, name: &str, text: &str) -> Result<(), String> {
    match place(name) {
        Place::ExtJournal(rest) => ext_journal::check_fits(roots, rest, text),
        _ => Ok(()),
    }
}

/// Why this process could not write a setting; `None` if it could, as far as can be seen beforehand.
pub(crate) fn unwritable(roots: &Roots, name: &str) -> Option<Errno> {
    match place(name) {
        Place::File(path) => file::unwritable(roots, path),
        Place::Config(rest) => config::unwritable(roots, rest),
        Place::ExtJournal(rest) => ext_journal::unwritable(roots, rest),
        _ => (!rustix::process::geteuid().is_root()).then_some(Errno::PERM),
    }
}

/// Whether there is such a setting.
pub(crate) fn exists(roots: &Roots, name: &str) -> bool {
    match place(name) {
        Place::File(path) => file::exists(roots, path),
        _ => read(roots, name).is_ok(),
    }
}

/// A text of a setting on one line, for people: where it is long, what differs in it from the text beside it.
pub(crate) fn shown(name: &str, text: &str, beside: &str) -> String {
    match place(name) {
        Place::Ethtool(_) => ethtool::differing(text, beside),
        Place::Config(_) => config::differing(text, beside),
        _ => one_line(text),
    }
}

/// A line of shell that writes a setting, without this program; a comment where a shell cannot.
pub(crate) fn shell_line(roots: &Roots, name: &str, text: &str) -> String {
    match place(name) {
        Place::File(path) => file::shell_line(roots, path, text),
        Place::Limit(rest) => limit::shell_line(rest, text),
        Place::Qdisc(rest) => qdisc::shell_line(rest, text),
        Place::Ethtool(rest) => ethtool::shell_line(rest, text),
        Place::Mount(rest) => mount::shell_line(rest, text),
        Place::Config(rest) => config::shell_line(rest),
        Place::ExtJournal(rest) => ext_journal::shell_line(roots, rest, text),
        Place::Listener(_) => format!("# no shell can set the backlog back to {text}: restart the server"),
    }
}
