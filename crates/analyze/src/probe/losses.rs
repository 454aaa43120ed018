//! Which probes of one target were lost, and in which windows.
//!
//! Lost probes belong to one window if at most [`GAP`] lies between two of them. A probe that its own thread never sent says nothing
//! about the target, and neither does one that was in flight at the end: they are in no window.
//!
//! Only lost probes are kept. How many were sent in a span follows from the schedule: one every interval, none left out.

use std::ops::Range;
use sysdyno_record::probe::{ProbeOutcome, ProbeReply};
use sysdyno_record::units::{MonoNs, SpanNs};

/// The longest time without a loss within a window, and as a number of intervals; the longer one counts. Source: house values.
const GAP: SpanNs = SpanNs::from_secs(1);
const GAP_INTERVALS: u64 = 3;

/// Lost probes that are kept of one target.
const KEPT_MAX: usize = 1 << 20;

/// The losses of one target so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    /// Intended sends of the lost probes.
    lost: Vec<u64>,
    /// Intended sends of those that say nothing.
    silent: Vec<u64>,
    /// The first and the last intended send of all; `None`: there was none.
    ends: Option<[u64; 2]>,
}

/// A window of one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnWindow {
    /// From the first lost probe to the one after the last.
    pub span: Range<u64>,
}

impl Losses {
    pub(super) fn add(&mut self, reply: &ProbeReply) {
        let at = reply.intended_mono_ns.0;
        let [first, last] = self.ends.unwrap_or([at; 2]);
        self.ends = Some([first.min(at), last.max(at)]);
        let kept = match reply.outcome {
            ProbeOutcome::Received => return,
            ProbeOutcome::TimedOut | ProbeOutcome::Failed(_) => &mut self.lost,
            ProbeOutcome::InFlight | ProbeOutcome::Unsent => &mut self.silent,
        };
        if kept.len() < KEPT_MAX {
            kept.push(at);
        }
    }

    /// The windows, in order of time.
    pub(super) fn windows(&self, interval: SpanNs) -> Vec<OwnWindow> {
        let gap = GAP.0.max(interval.0.saturating_mul(GAP_INTERVALS));
        let mut lost = self.lost.clone();
        lost.sort_unstable();
        let mut windows: Vec<OwnWindow> = Vec::new();
        for at in lost {
            let end = at.saturating_add(interval.0.max(1));
            match windows.last_mut() {
                Some(last) if at <= last.span.end.saturating_add(gap) => last.span.end = end,
                _ => windows.push(OwnWindow { span: at..end }),
            }
        }
        windows
    }

    /// Probes lost in a span.
    pub(super) fn lost_in(&self, span: &Range<u64>) -> u64 {
        within(&self.lost, span)
    }

    /// Probes that were sent in a span, and were lost or answered.
    pub(super) fn ended_in(&self, span: &Range<u64>, interval: SpanNs) -> u64 {
        let (Some([first, last]), interval) = (self.ends, interval.0.max(1)) else { return 0 };
        // Those before an instant: the first is due at `first`, the last at `last`.
        let before = |at: u64| at.min(last.saturating_add(1)).saturating_sub(first).div_ceil(interval);
        let due = before(span.end).saturating_sub(before(span.start));
        due.saturating_sub(within(&self.silent, span))
    }
}

fn within(instants: &[u64], span: &Range<u64>) -> u64 {
    instants.iter().filter(|at| span.contains(at)).count() as u64
}

/// Joins windows of all targets that overlap, in order of time.
pub(super) fn joined(windows: impl Iterator<Item = OwnWindow>) -> Vec<Range<MonoNs>> {
    let mut spans: Vec<Range<u64>> = windows.map(|window| window.span).collect();
    spans.sort_by_key(|span| (span.start, span.end));
    let mut joined: Vec<Range<u64>> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined.into_iter().map(|span| MonoNs(span.start)..MonoNs(span.end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: SpanNs = SpanNs::from_millis(100);

    fn losses(count: u64, outcome: impl Fn(u64) -> ProbeOutcome) -> Losses {
        let mut losses = Losses::default();
        for sequence in 1..=count {
            let at = MonoNs(1_000_000_000 + (sequence - 1) * EVERY.0);
            losses.add(&ProbeReply {
                trial: 0,
                target: 0,
                sequence,
                intended_mono_ns: at,
                sent_mono_ns: Some(at),
                end_mono_ns: at,
                outcome: outcome(sequence),
                connect_ns: None,
                status: None,
            });
        }
        losses
    }

    fn ms(span: &Range<u64>) -> [u64; 2] {
        [span.start, span.end].map(|at| at / 1_000_000)
    }

    #[test]
    fn losses_a_second_apart_are_one_window_and_others_are_not() {
        let is_lost = |sequence: u64| matches!(sequence, 11 | 13 | 23 | 40);
        let found = losses(100, |sequence| match is_lost(sequence) {
            true => ProbeOutcome::TimedOut,
            false => ProbeOutcome::Received,
        });
        let windows = found.windows(EVERY);
        assert_eq!(
            windows.iter().map(|window| ms(&window.span)).collect::<Vec<_>>(),
            [[2000, 3300], [4900, 5000]]
        );
        let counts =
            windows.iter().map(|window| (found.lost_in(&window.span), found.ended_in(&window.span, EVERY)));
        assert_eq!(counts.collect::<Vec<_>>(), [(3, 13), (1, 1)]);
        assert_eq!(found.ended_in(&(0..u64::MAX), EVERY), 100);
    }

    #[test]
    fn what_was_never_sent_or_is_in_flight_is_no_loss() {
        let found = losses(20, |sequence| match sequence {
            5..=8 => ProbeOutcome::Unsent,
            19..=20 => ProbeOutcome::InFlight,
            _ => ProbeOutcome::Received,
        });
        assert!(found.windows(EVERY).is_empty());
        assert_eq!(found.ended_in(&(0..u64::MAX), EVERY), 14);
        assert_eq!(Losses::default().ended_in(&(0..u64::MAX), EVERY), 0);
    }

    #[test]
    fn windows_of_several_targets_are_joined_where_they_overlap() {
        let window = |span| OwnWindow { span };
        let found = joined([window(50..60), window(10..20), window(19..30), window(30..31)].into_iter());
        let found: Vec<[u64; 2]> = found.iter().map(|span| [span.start.0, span.end.0]).collect();
        assert_eq!(found, [[10, 30], [30, 31], [50, 60]]);
    }
}
