//! The records of a journal.

use crate::roots::TuneRoots;
use crate::setting::SettingPlace;
use crate::text::one_line;
use crate::tunable::Scope;
use serde::{Deserialize, Serialize};
use std::io;
use sysdyno_record::units::WallNs;

/// One record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JournalRecord {
    /// The first one.
    Begin(TrialStart),
    /// A change that is going to be made.
    Intent(Intent),
    /// A change that was made.
    Applied {
        /// Number of its intent.
        number: u32,
        /// What the members read back as.
        found: Vec<String>,
    },
    /// All changes are made.
    Hold {},
    /// They stay.
    Keep {},
    /// They do not stay after all.
    Reopen {},
    /// What became of a change when it was to be undone.
    Restored {
        /// Number of its intent.
        number: u32,
        /// What became of it.
        outcome: UndoOutcome,
        /// What the members were before.
        found: Vec<String>,
        /// Why it failed; `None` unless it did.
        #[serde(default)]
        cause: Option<String>,
    },
    /// The last one.
    End {
        /// Whether every setting is what it was.
        is_clean: bool,
        /// Why it was undone before its time; `None` if it was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
    },
}

/// Who tunes, where, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TrialStart {
    /// Name of the journal.
    pub(crate) id: String,
    /// The state folder, with `tune` at its end; `None` in a journal without a second copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<String>,
    /// Version of sysdyno.
    pub(crate) tool: String,
    /// The boot that volatile settings belong to.
    pub(crate) boot_id: String,
    /// The network namespace; `None` outside of a live host.
    pub(crate) netns: Option<NetnsId>,
    /// The process that tunes.
    pub(crate) pid: u32,
    /// Its start time. Unit: clock ticks since boot.
    pub(crate) start_ticks: u64,
    /// Its user.
    pub(crate) uid: u32,
    /// When it began.
    pub(crate) started_unix_ns: WallNs,
    /// When the trial is undone. Unit: nanoseconds of `CLOCK_BOOTTIME`.
    pub(crate) deadline_boot_ns: u64,
    /// The root of the settings.
    pub(crate) root: String,
    /// How many intents follow.
    pub(crate) intents_count: u32,
}

/// What a network namespace is recognised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NetnsId {
    /// Inode of its file; used again after it is gone.
    pub(crate) inode: u64,
    /// Its cookie, never used again in the same boot; `None` before Linux 5.14.
    pub(crate) cookie: Option<u64>,
}

impl NetnsId {
    /// Whether these are the same namespace; where a cookie could not be read, the inodes decide.
    pub(crate) fn is_same(self, other: NetnsId) -> bool {
        let is_other_cookie = self.cookie.zip(other.cookie).is_some_and(|(one, other)| one != other);
        self.inode == other.inode && !is_other_cookie
    }
}

/// A change that is going to be made, and all that it takes to undo it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Intent {
    /// From 0.
    pub(crate) number: u32,
    /// The setting.
    pub(crate) key: String,
    /// How far it reaches.
    pub(crate) scope: Scope,
    /// The setting and those that change with it.
    pub(crate) members: Vec<Member>,
    /// What shows that the device is still the same.
    #[serde(default)]
    pub(crate) witnesses: Vec<Witness>,
    /// Writes that make the change, in order.
    pub(crate) apply: Vec<Write>,
    /// Writes that undo it, in order.
    pub(crate) restore: Vec<Write>,
}

/// A setting that the change is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    /// Where it is.
    #[serde(rename = "path")]
    pub(crate) place: SettingPlace,
    /// Its text before.
    pub(crate) old: String,
    /// Its text after.
    pub(crate) expected: String,
    /// Whether the kernel decides how the text goes on, so that `expected` is only how it begins.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_open: bool,
}

impl Member {
    /// Its text now; empty for one that follows another and is not there.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn read(&self, roots: &TuneRoots) -> io::Result<String> {
        match self.place.read(roots) {
            // A file of a scheduler or governor is there as long as that is in force; some are there and say EINVAL.
            Err(error)
                if self.follows()
                    && matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) =>
            {
                Ok(String::new())
            }
            text => text,
        }
    }

    /// Whether a text is what it was before.
    pub(crate) fn is_old(&self, text: &str) -> bool {
        self.place.is_same(&self.old, text)
    }

    /// Whether a text is what it should be after.
    pub(crate) fn is_expected(&self, text: &str) -> bool {
        match self.is_open {
            true => one_line(text).starts_with(&self.expected),
            false => self.place.is_same(&self.expected, text),
        }
    }

    /// Whether it is not written itself, but changes in whatever way when another member does.
    pub(crate) fn follows(&self) -> bool {
        self.is_open && self.expected.is_empty()
    }

    /// What it was before, for people.
    pub(crate) fn shown_old(&self) -> String {
        self.place.shown(&self.old, &self.expected)
    }

    /// What it should be after, for people.
    pub(crate) fn shown_new(&self) -> String {
        self.place.shown(&self.expected, &self.old)
    }

    /// Another text of it, for people.
    pub(crate) fn shown(&self, text: &str) -> String {
        self.place.shown(text, &self.old)
    }
}

/// A file that is as it was as long as the device is the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Witness {
    /// Where it is.
    #[serde(rename = "path")]
    pub(crate) place: SettingPlace,
    /// Its text.
    pub(crate) text: String,
}

/// One write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Write {
    /// Position in the members.
    pub(crate) member: usize,
    /// The text.
    pub(crate) text: String,
}

/// What became of a change that was to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoOutcome {
    /// The old value is back.
    Restored,
    /// It was there already.
    Already,
    /// Somebody else has changed the setting since; it was left alone.
    Conflict,
    /// The host has been booted since, and has forgotten the change.
    Void,
    /// The network namespace of the setting is no more.
    Gone,
    /// It could not be written.
    Failed,
}

impl UndoOutcome {
    /// Whether the setting is what it was, or is no more.
    pub fn is_clean(self) -> bool {
        !matches!(self, UndoOutcome::Conflict | UndoOutcome::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::frame;

    /// As version 0.1.0 wrote it: a trial of a sysctl, a disk with what follows it, and a file of a service.
    const RECORDED: &str = include_str!("../../tests/journal/recorded.wal");

    #[test]
    fn a_recorded_journal_is_read_and_written_byte_for_byte() {
        let frames = frame::read(RECORDED.as_bytes());
        assert_eq!((frames.length, frames.texts.len()), (RECORDED.len(), 10));
        let mut places = Vec::new();
        for text in frames.texts {
            let record: JournalRecord = serde_json::from_str(text).expect("is understood");
            assert_eq!(serde_json::to_string(&record).expect("is text"), text);
            if let JournalRecord::Intent(intent) = record {
                places.extend(intent.members.into_iter().map(|member| String::from(member.place)));
            }
        }
        assert_eq!(places.len(), 5);
        assert_eq!(places[4], "config:nginx:1700000000123456789:/etc/nginx/nginx.conf");
    }
}
