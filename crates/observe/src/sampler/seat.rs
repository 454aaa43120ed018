//! A collector with its turn: whenever its pace says so, or every second, fourth, … such time.

use crate::clock;
use crate::collect::{Beat, Collector, Pace, Pass, Table};

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
    /// Beats of its pace from one reading to the next.
    stride: u64,
    /// Beats of its pace until the next reading.
    wait: u64,
    /// What was due since the last reading.
    owed: Beat,
    /// Cost of a reading at each beat of [`Beat::ALL`].
    costs: [Cost; Beat::ALL.len()],
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
        Seat { collector, pace, stride: 1, wait: 0, owed: Beat::Sample, costs: Default::default() }
    }

    /// A seat whose readings are known to cost this much.
    #[cfg(test)]
    pub(super) fn with_cost(pace: Pace, collector: Box<dyn Collector>, least_ns: f64) -> Seat {
        let cost = Cost { least_ns, readings: MIN_READINGS };
        Seat { costs: [cost; Beat::ALL.len()], ..Seat::new(pace, collector) }
    }

    /// Beats of its pace from one reading to the next.
    #[cfg(test)]
    pub(super) fn stride(&self) -> u64 {
        self.stride
    }

    /// Reads the collector if it is its turn; else forgets its values. Returns whether its columns changed.
    pub(super) fn read(&mut self, pass: &mut Pass<'_>) -> bool {
        self.owed = self.owed.max(pass.beat);
        let is_due = pass.beat >= self.pace.beat();
        if !is_due || self.wait > 0 {
            self.wait -= u64::from(is_due);
            self.collector.table().clear();
            return false;
        }
        self.wait = self.stride - 1;
        let beat = std::mem::take(&mut self.owed);
        let begin = clock::monotonic();
        self.collector.read(&mut Pass { scene: pass.scene, buffer: pass.buffer, beat });
        self.costs[beat as usize].learn(clock::monotonic().since(begin));
        self.collector.table().take_change()
    }

    /// It is its turn in the next pass of its pace.
    pub(super) fn hasten(&mut self) {
        self.wait = 0;
    }

    pub(super) fn table(&mut self) -> &mut Table {
        self.collector.table()
    }

    /// What it takes per sample, on average. Unit: nanoseconds.
    pub(super) fn share_ns(&self, period_ns: u64) -> f64 {
        let readings = beats_per_sample(self.pace.beat(), period_ns) / self.stride as f64;
        let mut rarer_readings = 0.0;
        let mut sum_ns = 0.0;
        for beat in Beat::ALL.into_iter().rev() {
            let so_far = beats_per_sample(beat, period_ns).min(readings);
            // What was never read at this beat costs at least what it costs at those below it.
            let cost_ns = self.costs[..=beat as usize].iter().fold(0.0, |most, cost| cost.ns().max(most));
            sum_ns += (so_far - rarer_readings) * cost_ns;
            rarer_readings = so_far;
        }
        sum_ns
    }

    /// Whether it costs something and may be read less often than it is.
    pub(super) fn is_slowable(&self, period_ns: u64) -> bool {
        let beat_ns = period_ns.max(self.pace.beat().interval_ns());
        let interval_ns = beat_ns.saturating_mul(self.stride).saturating_mul(2);
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

    /// Reads it twice as often from now on, up to its pace.
    pub(super) fn speed_up(&mut self) {
        self.stride = (self.stride / 2).max(1);
        self.wait = self.wait.min(self.stride);
    }

    /// Reads it half as often from now on.
    pub(super) fn slow_down(&mut self) {
        self.stride *= 2;
    }
}

/// How often a beat is due. Unit: per sample.
fn beats_per_sample(beat: Beat, period_ns: u64) -> f64 {
    period_ns as f64 / period_ns.max(beat.interval_ns()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roots::Roots;
    use crate::watch::Scene;
    use sysdyno_record::column::{FILES_LIMIT, HOST};

    #[derive(Default)]
    struct Counting {
        table: Table,
        looks: u64,
    }

    impl Collector for Counting {
        fn read(&mut self, pass: &mut Pass<'_>) {
            if self.table.columns().is_empty() {
                self.table.replace(vec![FILES_LIMIT.of(HOST)]);
            }
            self.looks += u64::from(pass.is_look());
            self.table.set_count(0, Some(self.looks));
        }

        fn table(&mut self) -> &mut Table {
            &mut self.table
        }
    }

    fn read(seat: &mut Seat, beat: Beat) -> Option<f64> {
        let (mut scene, mut buffer) = (Scene::new(Roots::host(), None, vec![]), Vec::new());
        seat.read(&mut Pass { scene: &mut scene, buffer: &mut buffer, beat });
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
        let values = [Beat::Second, Beat::Sample, Beat::Second, Beat::HalfSecond, Beat::Sample]
            .map(|beat| read(&mut seat, beat));
        assert_eq!(values, [Some(1.0), None, None, None, Some(2.0)]);
    }

    #[test]
    fn looks_have_their_share() {
        let mut seat = Seat::new(Pace::EverySample, Box::new(Counting::default()));
        assert_eq!(seat.share_ns(PERIOD_NS), 0.0, "what was never read costs nothing");
        assert!(!seat.is_slowable(PERIOD_NS));
        seat.costs = [known(100.0), Cost::default(), known(1100.0)];
        check_share(&seat, 0.9 * 100.0 + 0.1 * 1100.0);
        seat.costs = [100.0, 500.0, 1100.0].map(known);
        check_share(&seat, 0.8 * 100.0 + 0.1 * 500.0 + 0.1 * 1100.0);
        seat.slow_down();
        check_share(&seat, 0.3 * 100.0 + 0.1 * 500.0 + 0.1 * 1100.0);
        let paced = |pace| Seat { costs: seat.costs, ..Seat::new(pace, Box::new(Counting::default())) };
        check_share(&paced(Pace::TwiceASecond), 0.1 * 500.0 + 0.1 * 1100.0);
        check_share(&paced(Pace::EverySecond), 0.1 * 1100.0);
    }

    fn check_share(seat: &Seat, expected_ns: f64) {
        let share_ns = seat.share_ns(PERIOD_NS);
        assert!((share_ns - expected_ns).abs() < 1e-6, "{share_ns} is not {expected_ns}");
    }

    #[test]
    fn what_is_read_less_often_waits_for_its_beat() {
        let beats = [Beat::Second, Beat::Sample, Beat::HalfSecond, Beat::Sample, Beat::Second];
        let read_at = |pace| {
            let mut seat = Seat::new(pace, Box::new(Counting::default()));
            beats.map(|beat| read(&mut seat, beat))
        };
        assert_eq!(read_at(Pace::EverySecond), [Some(1.0), None, None, None, Some(2.0)]);
        assert_eq!(read_at(Pace::TwiceASecond), [Some(1.0), None, Some(1.0), None, Some(2.0)]);
    }

    #[test]
    fn what_is_slowed_down_counts_its_own_beats() {
        let mut seat = Seat::new(Pace::TwiceASecond, Box::new(Counting::default()));
        seat.slow_down();
        let beats = [Beat::Second, Beat::Sample, Beat::HalfSecond, Beat::Sample, Beat::Second];
        assert_eq!(beats.map(|beat| read(&mut seat, beat).is_some()), [true, false, false, false, true]);
        seat.costs = [known(100.0); Beat::ALL.len()];
        let strides = (0..9).take_while(|_| {
            let is_slowable = seat.is_slowable(PERIOD_NS);
            seat.slow_down();
            is_slowable
        });
        assert_eq!(strides.count(), 2, "from one second to four; eight would be too seldom");
    }
}
