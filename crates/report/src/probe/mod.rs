//! The output of a probe: a line per operation, statistics on demand, a result at the end, one JSON document.

mod line;
mod numbers;
mod result;
mod table;
mod windows;

#[cfg(test)]
mod tests;

pub use line::{line, opening};
pub(crate) use numbers::row;
pub use result::{document, result, statistics};
pub(crate) use windows::sentence as window_sentence;

use std::path::Path;
use sysdyno_record::manifest::{ClockPair, Tool};
use sysdyno_record::probe::{ProbeConclusion, ProbeReply, ProbedTarget};

/// A probe that ran alone, borrowed: from a run folder, from the lines that it printed, or from memory.
#[derive(Clone, Copy, Debug)]
pub struct ProbeInput<'a> {
    /// Where it is recorded, as it is printed; `None`: nowhere.
    pub path: Option<&'a Path>,
    /// The program that made the record; `None`: lines do not say.
    pub tool: Option<&'a Tool>,
    /// The two clocks at one instant.
    pub clock: ClockPair,
    /// What was probed.
    pub targets: &'a [ProbedTarget],
    /// The operations, in any order; empty where they are not kept.
    pub replies: &'a [ProbeReply],
    /// What came of it.
    pub conclusion: &'a ProbeConclusion,
    /// Whether it was stopped by a signal.
    pub is_interrupted: bool,
    /// What could not be read, in sentences.
    pub damage: &'a [String],
}

/// Longest name of a target in a line. Unit: columns.
const NAME_COLUMNS: usize = 200;

/// Longest name of a target in a table. Unit: columns.
const TABLE_NAME_COLUMNS: usize = 24;
