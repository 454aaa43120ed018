//! One setting, wherever it lives: a file of the kernel, a limit of a process, the backlog of a listener.
//!
//! A setting is named by a text, which the journal holds: the path of a file, `limit:PID:START:NAME` or
//! `listener:COOKIE:INODE`. Process and socket are named so that no other one that came later can be mistaken for them.

mod file;
mod limit;
mod listener;

pub(crate) use limit::{Limit, limit_of};
pub(crate) use listener::listeners;

use crate::roots::Roots;
use rustix::io::Errno;
use std::io;

/// A setting, by what its name begins with.
enum Place<'a> {
    File(&'a str),
    Limit(&'a str),
    Listener(&'a str),
}

fn place(name: &str) -> Place<'_> {
    if let Some(rest) = name.strip_prefix("limit:") {
        Place::Limit(rest)
    } else if let Some(rest) = name.strip_prefix("listener:") {
        Place::Listener(rest)
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
    }
}

/// Why this process could not write a setting; `None` if it could, as far as can be seen beforehand.
pub(crate) fn unwritable(roots: &Roots, name: &str) -> Option<Errno> {
    match place(name) {
        Place::File(path) => file::unwritable(roots, path),
        Place::Limit(_) | Place::Listener(_) => {
            (!rustix::process::geteuid().is_root()).then_some(Errno::PERM)
        }
    }
}

/// Whether there is such a setting.
pub(crate) fn exists(roots: &Roots, name: &str) -> bool {
    match place(name) {
        Place::File(path) => file::exists(roots, path),
        Place::Limit(_) | Place::Listener(_) => read(roots, name).is_ok(),
    }
}

/// A line of shell that writes a setting, without this program; a comment where a shell cannot.
pub(crate) fn shell_line(roots: &Roots, name: &str, text: &str) -> String {
    match place(name) {
        Place::File(path) => file::shell_line(roots, path, text),
        Place::Limit(rest) => limit::shell_line(rest, text),
        Place::Listener(_) => format!("# no shell can set the backlog back to {text}: restart the server"),
    }
}
