//! Reads the lines of work back. A run that is none has no such file.

use super::folder::Folder;
use super::lines::{Caps, read_values_if_any};
use super::{MAX_WORK_LINES, OPERATIONS};
use crate::RecordError;
use crate::work::WorkLine;

pub(super) fn read_operations(
    folder: &Folder,
    caps: Caps,
    damage: &mut Vec<String>,
) -> Result<Vec<WorkLine>, RecordError> {
    let wrong = |line: &WorkLine| (!is_in_order(line)).then_some("it ends before it begins");
    read_values_if_any(folder, OPERATIONS, caps, damage, (MAX_WORK_LINES, wrong))
}

fn is_in_order(line: &WorkLine) -> bool {
    match line {
        WorkLine::Command(run) => run.begin_mono_ns <= run.end_mono_ns,
        WorkLine::Files(window) => window.begin_mono_ns <= window.end_mono_ns,
    }
}
