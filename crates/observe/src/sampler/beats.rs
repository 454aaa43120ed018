//! Schedules the readings that are not taken at every sample.

use crate::collect::Beat;
use sysdyno_record::units::MonoNs;

/// Decides what is due in each pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beats {
    period_ns: u64,
    /// When each beat of [`Beat::ALL`] is due next.
    next: [MonoNs; Beat::ALL.len()],
}

impl Beats {
    /// In the first pass everything is due.
    pub(super) fn new(period_ns: u64) -> Beats {
        Beats { period_ns, next: [MonoNs(0); Beat::ALL.len()] }
    }

    /// In the next pass everything is due.
    pub(super) fn hasten(&mut self) {
        self.next = [MonoNs(0); Beat::ALL.len()];
    }

    /// What is due in a pass at this time.
    pub(super) fn take(&mut self, now: MonoNs) -> Beat {
        // Samples are taken a little after their deadlines, once more and once less: the nearest one is the right one.
        let reached = MonoNs(now.0.saturating_add(self.period_ns / 2));
        let due = Beat::ALL.into_iter().zip(self.next).rev().find(|(_, next)| reached >= *next);
        let beat = due.map_or(Beat::Sample, |(beat, _)| beat);
        for (each, next) in Beat::ALL.into_iter().zip(&mut self.next).filter(|(each, _)| *each <= beat) {
            *next = MonoNs(now.0.saturating_add(each.interval_ns()));
        }
        beat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beats(period_ms: u64, samples: u64) -> String {
        let mut beats = Beats::new(period_ms * 1_000_000);
        let late_ns = [70_000, 300_000, 5_000, 20_000_000, 90_000];
        let at = |sample: u64| sample * period_ms * 1_000_000 + late_ns[(sample % 5) as usize];
        let letter = |sample: u64| match beats.take(MonoNs(7_000_000_000 + at(sample))) {
            Beat::Sample => '.',
            Beat::HalfSecond => 'h',
            Beat::Second => 'S',
        };
        (0..samples).map(letter).collect()
    }

    #[test]
    fn late_samples_do_not_shift_the_beats() {
        assert_eq!(beats(100, 31), "S....h....S....h....S....h....S");
        assert_eq!(beats(250, 9), "S.h.S.h.S");
        assert_eq!(beats(500, 5), "ShShS");
        assert_eq!(beats(1000, 3), "SSS");
        assert_eq!(beats(5000, 3), "SSS");
    }
}
