//! The logs of the server's processes. The search for them is repeated now and then, because servers open new files when
//! logs are rotated.

use crate::logs::{
    FileIdentity, FollowedFile, LogFile, LogLook, LogOwner, LogTally, StartAt, find_logs, harmless,
    mount_namespace, severity,
};
use crate::roots::Roots;
use std::path::PathBuf;
use sysdyno_record::event::WatchedProcess;

/// Logs that are followed; further ones are left out.
const MAX_LOGS: usize = 16;

/// Longest name of a log. Unit: bytes.
const MAX_NAME_BYTES: usize = 200;

/// Files that came in place of each other at one path and are remembered.
const MAX_PAST_FILES: usize = 64;

/// A log of the server.
#[derive(Debug)]
pub(super) struct ServerLog {
    /// Where its path means what it says, and the path.
    place: (Option<PathBuf>, Vec<u8>),
    /// Whose it is, by its name in the record.
    pub(super) owner: LogOwner,
    file: Result<FollowedFile, String>,
    /// Files that were at this path before, in which late processes may still write.
    past: Vec<FileIdentity>,
    /// What it has said.
    pub(super) tally: LogTally,
}

impl ServerLog {
    /// Whether this file is or was at its path: a file that is renamed stays the same one.
    fn has_file(&self, file: &FollowedFile) -> bool {
        let identity = file.identity();
        self.file.as_ref().is_ok_and(|file| file.identity() == identity) || self.past.contains(&identity)
    }

    /// Why it cannot be read; `None`: it can.
    pub(super) fn unavailable(&self) -> Option<&str> {
        self.file.as_ref().err().map(String::as_str)
    }

    /// What was appended and not read; `None`: nothing can be. Unit: bytes.
    pub(super) fn skipped_bytes(&self) -> Option<u64> {
        self.file.as_ref().ok().map(FollowedFile::skipped_bytes)
    }

    /// Counts what was appended, until the thread has used CPU time up to `until_cpu_ns`.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>, until_cpu_ns: u64, look: &LogLook) {
        let Ok(file) = &mut self.file else { return };
        let tally = &mut self.tally;
        if let Err(error) = file.read(buffer, until_cpu_ns, |line| tally.note(line, look, severity)) {
            self.file = Err(format!("cannot read '{}': {error}", self.owner.log));
        }
    }

    /// Goes on with the file that is at its path now, if that is another one.
    fn follow(&mut self, roots: &Roots, found: &LogFile, buffer: &mut Vec<u8>, look: &LogLook) {
        let Ok(mut next) = open(roots, found, StartAt::Beginning) else { return };
        let Ok(present) = &mut self.file else {
            self.file = open(roots, found, StartAt::End);
            return;
        };
        let (old, new) = (present.identity(), next.identity());
        if old == new || self.past.contains(&new) || self.past.len() >= MAX_PAST_FILES {
            return;
        }
        self.read(buffer, u64::MAX, look);
        self.past.push(old);
        let skipped_bytes = self.skipped_bytes().unwrap_or(0);
        next.add_skipped(skipped_bytes);
        self.file = Ok(next);
    }
}

fn open(roots: &Roots, found: &LogFile, start: StartAt) -> Result<FollowedFile, String> {
    let opened = FollowedFile::open(&found.link, roots, start);
    opened.map_err(|error| format!("cannot open '{}': {error}", found.link.display()))
}

/// Takes up the logs of a process. Returns whether there are others than before.
pub(super) fn take_up(
    logs: &mut Vec<ServerLog>,
    process: &WatchedProcess,
    roots: &Roots,
    (buffer, look): (&mut Vec<u8>, &LogLook),
) -> bool {
    let found = find_logs(roots, process.pid, buffer);
    if found.is_empty() {
        return false;
    }
    let namespace = mount_namespace(roots, process.pid);
    let known_count = logs.len();
    for file in found {
        let place = (namespace.clone(), file.path.clone());
        if let Some(log) = logs.iter_mut().find(|log| log.place == place) {
            log.follow(roots, &file, buffer, look);
            continue;
        }
        let opened = open(roots, &file, StartAt::End);
        let is_known = opened.as_ref().is_ok_and(|opened| logs.iter().any(|log| log.has_file(opened)));
        if !is_known && logs.len() < MAX_LOGS {
            let owner = owner(logs, process, &file);
            logs.push(ServerLog { place, owner, file: opened, past: vec![], tally: LogTally::default() });
        }
    }
    logs.len() > known_count
}

/// Whose a log is; its name is that of no other one.
fn owner(logs: &[ServerLog], process: &WatchedProcess, file: &LogFile) -> LogOwner {
    let text = harmless(&file.path);
    // The end of a path says more than its beginning.
    let mut begin = text.len().saturating_sub(MAX_NAME_BYTES);
    while !text.is_char_boundary(begin) {
        begin += 1;
    }
    let name = if begin > 0 { format!("…{}", &text[begin..]) } else { text };
    let is_taken = logs.iter().any(|log| log.owner.log == name);
    let log = if is_taken { format!("{name}@{}:{}", process.pid, logs.len()) } else { name };
    LogOwner { log, pid: Some(process.pid), command: Some(process.command.clone()) }
}

#[cfg(test)]
mod tests;
