//! The state that follows from a journal's records.
//!
//! ```text
//!   begin, intents ──► Applying ──hold──► Held ──keep──► Kept
//!                          │               │  ◄──reopen──┘
//!                          └──────end──────┴──► Ended
//! ```

use super::record::{Intent, JournalRecord, TrialStart, UndoOutcome};
use std::collections::BTreeMap;

/// How far a trial has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Settings are being written, or were when it ended.
    Applying,
    /// All are written.
    Held,
    /// They stay.
    Kept,
    /// They were undone.
    Undone,
    /// Undoing left something that is not what it was.
    Unclean,
}

impl Phase {
    /// Whether its settings were given back, as far as they were still its own.
    #[must_use]
    pub fn is_undone(self) -> bool {
        matches!(self, Self::Undone | Self::Unclean)
    }
}

/// A journal that was read.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    /// Its first record.
    pub(crate) begin: TrialStart,
    /// Its intents, as many as can be read.
    pub(crate) intents: Vec<Intent>,
    /// How far it has come.
    pub(crate) phase: Phase,
    /// What settings read back as after they were written, by intent.
    pub(crate) applied: BTreeMap<u32, Vec<String>>,
    /// What became of each intent when it was undone last.
    pub(crate) restored: BTreeMap<u32, UndoOutcome>,
    /// Why it was undone before its time; `None` if it was not.
    pub(crate) cause: Option<String>,
    /// How many records it has.
    pub(crate) records_count: usize,
}

impl Transaction {
    /// Adds up records; `None` if the first is not a begin.
    pub(crate) fn of(records: Vec<JournalRecord>) -> Option<Transaction> {
        let records_count = records.len();
        let mut records = records.into_iter();
        let Some(JournalRecord::Begin(begin)) = records.next() else { return None };
        let mut sum = Transaction {
            begin,
            intents: Vec::new(),
            phase: Phase::Applying,
            applied: BTreeMap::new(),
            restored: BTreeMap::new(),
            cause: None,
            records_count,
        };
        records.for_each(|record| sum.add(record));
        Some(sum)
    }

    fn add(&mut self, record: JournalRecord) {
        match record {
            // A second begin says nothing.
            JournalRecord::Begin(_) => {}
            JournalRecord::Intent(intent) => self.intents.push(intent),
            JournalRecord::Applied { number, found } => drop(self.applied.insert(number, found)),
            JournalRecord::Hold {} => self.phase = Phase::Held,
            JournalRecord::Keep {} => self.phase = Phase::Kept,
            JournalRecord::Reopen {} => self.phase = Phase::Held,
            JournalRecord::Restored { number, outcome, .. } => drop(self.restored.insert(number, outcome)),
            JournalRecord::End { is_clean, cause } => {
                self.phase = if is_clean { Phase::Undone } else { Phase::Unclean };
                self.cause = cause;
            }
        }
    }

    /// Whether it was kept or undone.
    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Kept || self.phase.is_undone()
    }

    /// The record that says how a trial ended.
    pub(crate) fn last_word(&self) -> JournalRecord {
        match self.phase {
            Phase::Kept => JournalRecord::Keep {},
            phase => JournalRecord::End { is_clean: phase == Phase::Undone, cause: self.cause.clone() },
        }
    }

    /// Whether every intent that was written can be read.
    pub(crate) fn is_whole(&self) -> bool {
        self.intents.len() == self.begin.intents_count as usize
    }
}
