//! Reads `latency.hlog`: merged by trial, and window by window for what depends on the order in time.

use super::folder::Folder;
use super::lines::{Caps, Line, read_lines};
use super::{LATENCY, Trial};
use crate::RecordError;
use crate::hlog;
use crate::load::{LatencySet, LatencyWindow, WindowStep};
use crate::manifest::ClockPair;
use crate::units::MonoNs;
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
    folder: &Folder,
    caps: Caps,
    trials: &[Trial],
    clock: ClockPair,
    damage: &mut Vec<String>,
) -> Result<Latency, RecordError> {
    let mut latency = Latency::default();
    let mut steps_left = MAX_STEPS;
    read_lines(folder, LATENCY, caps, damage, |line| {
        let entry = match hlog::decode(line) {
            Ok(hlog::Decoded::Comment) => return Line::Taken,
            Ok(hlog::Decoded::Foreign) => return Line::Unknown,
            Ok(hlog::Decoded::Entry(entry)) => entry,
            Err(cause) => return Line::Malformed(cause),
        };
        let (trial, kind) = (entry.tag.trial, entry.tag.kind);
        if !trials.iter().any(|known| known.begin.trial == trial) {
            // The line with its begin may have been cut off.
            return Line::Unknown;
        }
        if entry.tag.phase.is_measured() {
            latency.merged.entry(trial).or_default().get_mut(kind).merge(&entry.histogram);
            if LatencyWindow::KINDS.contains(&kind) {
                let window = window(&entry, clock);
                steps_left = steps_left.saturating_sub(window.steps.len());
                latency.windows.entry(trial).or_default().push(window);
            }
        }
        if steps_left == 0 {
            // Part of a series would pass for the whole of it.
            (steps_left, latency.windows) = (MAX_STEPS, BTreeMap::new());
        }
        Line::Taken
    })?;
    Ok(latency)
}

fn window(entry: &hlog::Entry, clock: ClockPair) -> LatencyWindow {
    let steps = entry.histogram.as_hdr().iter_recorded();
    let steps = steps.map(|step| WindowStep {
        up_to_ns: step.value_iterated_to(),
        count: step.count_since_last_iteration(),
    });
    LatencyWindow {
        kind: entry.tag.kind,
        begin_mono_ns: MonoNs(entry.start.0.saturating_sub(clock.unix_ns.0).saturating_add(clock.mono_ns.0)),
        steps: steps.collect(),
    }
}
