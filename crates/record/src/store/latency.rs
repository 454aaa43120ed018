//! Reads `latency.hlog`: merged by trial, and window by window where the order in time matters.

use super::lines::{FolderReader, LineFate};
use super::{LATENCY, LATENCY_TAIL, Trial};
use crate::RecordError;
use crate::hlog;
use crate::load::{LatencySet, LatencyWindow};
use crate::manifest::ClockPair;
use crate::units::{MonoNs, WallNs};
use std::collections::BTreeMap;

/// Most steps of windows that are kept; a day of ordinary load has fewer. Cost: 16 bytes each.
const MAX_STEPS: usize = 1 << 23;

/// Latency of the measured phases, by trial.
#[derive(Debug, Default)]
pub(super) struct Latency {
    pub(super) merged: BTreeMap<u32, LatencySet>,
    pub(super) windows: BTreeMap<u32, Vec<LatencyWindow>>,
}

pub(super) fn read_latency(
    reader: &mut FolderReader<'_>,
    trials: &[Trial],
    clock: ClockPair,
) -> Result<Latency, RecordError> {
    let mut merger =
        Merger { trials, clock, latency: Latency::default(), steps_left: MAX_STEPS, end: WallNs(0) };
    reader.lines(LATENCY, |line| merger.take(line, WallNs(0)))?;
    if reader.has(LATENCY_TAIL)? {
        // What is in the log, too, was written between the one and the death of the process. Begins are in milliseconds.
        let from = WallNs(merger.end.0.saturating_sub(GRAIN_NS));
        reader.lines(LATENCY_TAIL, |line| merger.take(line, from))?;
    }
    Ok(merger.latency)
}

/// Unit: nanoseconds.
const GRAIN_NS: u64 = 1_000_000;

struct Merger<'a> {
    trials: &'a [Trial],
    clock: ClockPair,
    latency: Latency,
    steps_left: usize,
    /// The latest end of an interval.
    end: WallNs,
}

impl Merger<'_> {
    /// Takes a line of an interval that does not begin before `from`.
    fn take(&mut self, line: &[u8], from: WallNs) -> LineFate {
        let entry = match hlog::decode(line) {
            Ok(hlog::Decoded::Comment) => return LineFate::Taken,
            Ok(hlog::Decoded::Foreign) => return LineFate::Unknown,
            Ok(hlog::Decoded::Entry(entry)) => entry,
            Err(cause) => return LineFate::Malformed(cause),
        };
        if !self.trials.iter().any(|known| known.begin.trial == entry.tag.trial) {
            // The line with its begin may have been cut off.
            return LineFate::Unknown;
        }
        if from.0 == 0 {
            let length_ns = u64::try_from(entry.length.as_nanos()).unwrap_or(u64::MAX);
            self.end = self.end.max(WallNs(entry.start.0.saturating_add(length_ns)));
        }
        if entry.start >= from && entry.tag.phase.is_measured() {
            self.keep(entry);
        }
        LineFate::Taken
    }

    fn keep(&mut self, entry: hlog::Entry) {
        let (trial, kind) = (entry.tag.trial, entry.tag.kind);
        entry.add_to(self.latency.merged.entry(trial).or_default().get_mut(kind));
        if LatencyWindow::KINDS.contains(&kind) {
            let window = window(entry, self.clock);
            self.steps_left = self.steps_left.saturating_sub(window.steps.len());
            self.latency.windows.entry(trial).or_default().push(window);
        }
        if self.steps_left == 0 {
            // Part of a series would pass for the whole of it.
            (self.steps_left, self.latency.windows) = (MAX_STEPS, BTreeMap::new());
        }
    }
}

fn window(entry: hlog::Entry, clock: ClockPair) -> LatencyWindow {
    LatencyWindow {
        kind: entry.tag.kind,
        begin_mono_ns: MonoNs(entry.start.0.saturating_sub(clock.unix_ns.0).saturating_add(clock.mono_ns.0)),
        steps: entry.steps,
    }
}
