//! A collector with its turn: at every sample, at every second, fourth, … one, or once a second.

use super::LOOK_INTERVAL_NS;
use crate::clock;
use crate::collect::{Collector, Pace, Pass, Table};

/// No collector is read less often than this. Unit: nanoseconds.
const MAX_INTERVAL_NS: u64 = 5_000_000_000;

/// What is wanted most counts for this part of what it takes when the dearest is looked for.
const FOREMOST_WEIGHT: f64 = 0.25;

/// How fast an estimate rises when readings cost more than it says.
const RISE_RATIO: f64 = 1.02;

/// A collector with its turn.
pub(super) struct Seat {
    collector: Box<dyn Collector>,
    pace: Pace,
    /// Samples from one reading to the next.
    stride: u64,
    /// Samples until the next reading.
    wait: u64,
    /// A look was due in a sample that was not this collector's turn.
    owes_look: bool,
    /// Cost of a usual reading.
    usual: Cost,
    /// Cost of a reading that looks for what came and went.
    look: Cost,
}

/// What a reading costs when nothing disturbs it: the least of late readings.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    least_ns: f64,
    readings: u32,
}

/// Readings after which a cost is believed: the first one opens files, and any one may be disturbed.
const MIN_READINGS: u32 = 3;

impl Cost {
    fn learn(&mut self, cost_ns: u64) {
        let cost_ns = cost_ns as f64;
        let is_first = self.readings == 0;
        self.least_ns = if is_first { cost_ns } else { cost_ns.min(self.least_ns * RISE_RATIO) };
        self.readings = self.readings.saturating_add(1);
    }

    /// Zero until it is known. Unit: nanoseconds.
    fn ns(self) -> f64 {
        if self.readings < MIN_READINGS { 0.0 } else { self.least_ns }
    }
}

impl Seat {
    pub(super) fn new(pace: Pace, collector: Box<dyn Collector>) -> Seat {
        Seat {
            collector,
            pace,
            stride: 1,
            wait: 0,
            owes_look: false,
            usual: Cost::default(),
            look: Cost::default(),
        }
    }

    /// A seat whose readings are known to cost this much.
    #[cfg(test)]
    pub(super) fn with_cost(pace: Pace, collector: Box<dyn Collector>, least_ns: f64) -> Seat {
        let cost = Cost { least_ns, readings: MIN_READINGS };
        Seat { usual: cost, look: cost, ..Seat::new(pace, collector) }
    }

    /// Samples from one reading to the next.
    #[cfg(test)]
    pub(super) fn stride(&self) -> u64 {
        self.stride
    }

    /// Reads the collector if it is its turn; else forgets its values. Returns whether its columns changed.
    pub(super) fn read(&mut self, pass: &mut Pass<'_>) -> bool {
        self.owes_look |= pass.is_look;
        let is_its_turn = match self.pace {
            Pace::Foremost | Pace::EverySample => self.wait == 0,
            Pace::EverySecond => self.owes_look,
        };
        if !is_its_turn {
            self.wait = self.wait.saturating_sub(1);
            self.collector.table().clear();
            return false;
        }
        self.wait = self.stride - 1;
        let is_look = std::mem::take(&mut self.owes_look);
        let begin = clock::monotonic();
        self.collector.read(&mut Pass { scene: pass.scene, buffer: pass.buffer, is_look });
        let cost = if is_look { &mut self.look } else { &mut self.usual };
        cost.learn(clock::monotonic().since(begin));
        self.collector.table().take_change()
    }

    pub(super) fn table(&mut self) -> &mut Table {
        self.collector.table()
    }

    /// What it takes per sample, on average. Unit: nanoseconds.
    pub(super) fn share_ns(&self, period_ns: u64) -> f64 {
        let looks_per_sample = (period_ns as f64 / LOOK_INTERVAL_NS as f64).min(1.0);
        let readings = match self.pace {
            Pace::Foremost | Pace::EverySample => 1.0 / self.stride as f64,
            Pace::EverySecond => looks_per_sample,
        };
        let looks = looks_per_sample.min(readings);
        (readings - looks) * self.usual.ns() + looks * self.look.ns().max(self.usual.ns())
    }

    /// Whether it costs something and may be read less often than it is.
    pub(super) fn is_slowable(&self, period_ns: u64) -> bool {
        let interval_ns = period_ns.saturating_mul(self.stride).saturating_mul(2);
        self.pace != Pace::EverySecond && interval_ns <= MAX_INTERVAL_NS && self.share_ns(period_ns) > 0.0
    }

    /// How much there is to gain by reading it less often: its share, less for what is wanted most.
    pub(super) fn gain_ns(&self, period_ns: u64) -> f64 {
        let weight = if self.pace == Pace::Foremost { FOREMOST_WEIGHT } else { 1.0 };
        self.share_ns(period_ns) * weight
    }

    /// Whether it is read less often than it was meant to be.
    pub(super) fn is_slowed(&self) -> bool {
        self.stride > 1
    }

    /// Reads it twice as often from now on.
    pub(super) fn speed_up(&mut self) {
        self.stride = (self.stride / 2).max(1);
        self.wait = self.wait.min(self.stride);
    }

    /// Reads it half as often from now on.
    pub(super) fn slow_down(&mut self) {
        self.stride *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::gauge;
    use crate::roots::Roots;
    use crate::watch::Scene;

    #[derive(Default)]
    struct Counting {
        table: Table,
        looks: u64,
    }

    impl Collector for Counting {
        fn read(&mut self, pass: &mut Pass<'_>) {
            if self.table.columns().is_empty() {
                self.table.replace(vec![gauge("a", "count", "host")]);
            }
            self.looks += u64::from(pass.is_look);
            self.table.set_count(0, Some(self.looks));
        }

        fn table(&mut self) -> &mut Table {
            &mut self.table
        }
    }

    fn read(seat: &mut Seat, is_look: bool) -> Option<f64> {
        let (mut scene, mut buffer) = (Scene::new(Roots::host(), None, vec![]), Vec::new());
        seat.read(&mut Pass { scene: &mut scene, buffer: &mut buffer, is_look });
        seat.table().values().first().copied().flatten()
    }

    const PERIOD_NS: u64 = 100_000_000;

    fn known(least_ns: f64) -> Cost {
        Cost { least_ns, readings: MIN_READINGS }
    }

    #[test]
    fn a_disturbed_reading_does_not_count() {
        let mut cost = Cost::default();
        [900_000, 100, 800_000].into_iter().for_each(|cost_ns| cost.learn(cost_ns));
        assert!(cost.ns() < 110.0);
        (0..1000).for_each(|_| cost.learn(5000));
        assert_eq!(cost.ns(), 5000.0, "what lasts does");
    }

    #[test]
    fn a_slow_one_gets_its_look_late() {
        let mut seat = Seat::new(Pace::EverySample, Box::new(Counting::default()));
        seat.slow_down();
        seat.slow_down();
        let values = [true, false, true, false, false].map(|is_look| read(&mut seat, is_look));
        assert_eq!(values, [Some(1.0), None, None, None, Some(2.0)]);
    }

    #[test]
    fn looks_have_their_share() {
        let mut seat = Seat::new(Pace::EverySample, Box::new(Counting::default()));
        assert_eq!(seat.share_ns(PERIOD_NS), 0.0, "what was never read costs nothing");
        assert!(!seat.is_slowable(PERIOD_NS));
        (seat.usual, seat.look) = (known(100.0), known(1100.0));
        assert_eq!(seat.share_ns(PERIOD_NS), 0.9 * 100.0 + 0.1 * 1100.0);
        seat.pace = Pace::EverySecond;
        assert_eq!(seat.share_ns(PERIOD_NS), 0.1 * 1100.0);
    }

    #[test]
    fn what_is_read_once_a_second_waits_for_the_look() {
        let mut seat = Seat::new(Pace::EverySecond, Box::new(Counting::default()));
        assert_eq!([true, false, true].map(|is_look| read(&mut seat, is_look)), [Some(1.0), None, Some(2.0)]);
    }
}
