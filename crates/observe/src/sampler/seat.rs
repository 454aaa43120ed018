//! A collector with its schedule: read whenever its pace says so, or only every second, fourth, … such time.

use crate::collect::{Beat, Collector, CollectorPace, Pass, Table};
use crate::{clock, courtesy};

/// A collector of this pace is not read less often than this, whatever it costs. A window of one second and a half without any
/// reading of the CPUs explains nothing, and a host is dearest to read when it is busiest. Unit: nanoseconds.
const fn max_interval_ns(pace: CollectorPace) -> u64 {
    match pace {
        CollectorPace::Vital => 400_000_000,
        CollectorPace::Foremost => 800_000_000,
        _ => 5_000_000_000,
    }
}

/// What is wanted most counts for this part of what it takes when the dearest is looked for.
const FOREMOST_WEIGHT: f64 = 0.25;

/// How fast an estimate rises when readings cost more than it says.
const RISE_RATIO: f64 = 1.02;

/// A collector with its turn.
pub(super) struct Seat {
    collector: Box<dyn Collector>,
    pace: CollectorPace,
    /// Beats of its pace from one reading to the next.
    stride: u64,
    /// Beats of its pace until the next reading.
    wait: u64,
    /// Samples from a beat of its pace to the reading that it asks for: what is read rarely is not all read in one pass, which
    /// would take a CPU from the server for milliseconds.
    delay: u64,
    /// Samples until that reading; `None`: none is asked for.
    due_in: Option<u64>,
    /// Whether the next beat of its pace is not delayed.
    is_hastened: bool,
    /// What was due since the last reading.
    owed: Beat,
    /// Cost of a reading at each beat of [`Beat::ALL`].
    costs: [Cost; Beat::ALL.len()],
    /// CPU time of the last reading of a collector with a limit of its own. Unit: nanoseconds.
    own_cpu_ns: u64,
}

/// The cost of an undisturbed reading: the least of the recent readings.
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
    pub(super) fn new(pace: CollectorPace, collector: Box<dyn Collector>) -> Seat {
        let costs = Default::default();
        Seat {
            collector,
            pace,
            stride: 1,
            wait: 0,
            delay: 0,
            due_in: None,
            is_hastened: true,
            owed: Beat::Sample,
            costs,
            own_cpu_ns: 0,
        }
    }

    /// The same, in the place of that number among all: what has a slow pace is read in a pass of its own, if there are enough.
    pub(super) fn placed(self, number: u64, period_ns: u64) -> Seat {
        let passes = self.pace.beat().interval_ns() / period_ns.max(1);
        Seat { delay: if passes > 1 { 1 + number % (passes - 1) } else { 0 }, ..self }
    }

    /// A seat whose readings are known to cost this much.
    #[cfg(test)]
    pub(super) fn with_cost(pace: CollectorPace, collector: Box<dyn Collector>, least_ns: f64) -> Seat {
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
        let is_due = self.is_due(pass.beat);
        if !is_due || self.wait > 0 {
            self.wait -= u64::from(is_due);
            self.collector.table().clear();
            return false;
        }
        courtesy::give_way();
        self.wait = self.stride - 1;
        let beat = std::mem::take(&mut self.owed);
        let mut pass = Pass { scene: pass.scene, buffer: pass.buffer, beat };
        if self.pace == CollectorPace::OwnLimit {
            let cpu_ns = clock::thread_cpu_ns();
            self.collector.read(&mut pass);
            self.own_cpu_ns = clock::thread_cpu_ns().saturating_sub(cpu_ns);
        } else {
            let (begin, away_ns) = (clock::monotonic(), courtesy::away_ns());
            self.collector.read(&mut pass);
            let took_ns = clock::monotonic().since(begin);
            self.costs[beat as usize].learn(took_ns.saturating_sub(courtesy::away_ns() - away_ns));
        }
        self.collector.table().take_change()
    }

    /// Whether the reading that a beat of its pace asked for is due in this pass.
    fn is_due(&mut self, beat: Beat) -> bool {
        if beat >= self.pace.beat() {
            self.due_in = Some(if std::mem::take(&mut self.is_hastened) { 0 } else { self.delay });
        }
        let is_due = self.due_in == Some(0);
        self.due_in = self.due_in.and_then(|samples| samples.checked_sub(1));
        is_due
    }

    /// CPU time of the last reading, where it has a limit of its own; else 0. Unit: nanoseconds.
    pub(super) fn own_cpu_ns(&self) -> u64 {
        self.own_cpu_ns
    }

    /// It is its turn in the next pass of its pace.
    pub(super) fn hasten(&mut self) {
        (self.wait, self.is_hastened) = (0, true);
        self.collector.hasten();
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
        self.pace != CollectorPace::EverySecond
            && interval_ns <= max_interval_ns(self.pace)
            && self.share_ns(period_ns) > 0.0
    }

    /// How much there is to gain by reading it less often: its share, less for what is wanted most.
    pub(super) fn gain_ns(&self, period_ns: u64) -> f64 {
        let is_foremost = matches!(self.pace, CollectorPace::Vital | CollectorPace::Foremost);
        let weight = if is_foremost { FOREMOST_WEIGHT } else { 1.0 };
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
    use crate::watch::Watchlist;
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
        let (mut scene, mut buffer) = (Watchlist::new(Roots::host(), None, vec![]), Vec::new());
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
        let mut seat = Seat::new(CollectorPace::EverySample, Box::new(Counting::default()));
        seat.slow_down();
        seat.slow_down();
        let values = [Beat::Second, Beat::Sample, Beat::Second, Beat::HalfSecond, Beat::Sample]
            .map(|beat| read(&mut seat, beat));
        assert_eq!(values, [Some(1.0), None, None, None, Some(2.0)]);
    }

    #[test]
    fn what_is_read_rarely_is_read_in_a_pass_of_its_own() {
        let seat = Seat::new(CollectorPace::EverySecond, Box::new(Counting::default()));
        let mut seat = seat.placed(2, 250_000_000);
        let mut passes = |beats: [Beat; 4]| beats.map(|beat| read(&mut seat, beat).is_some());
        let second = [Beat::Second, Beat::Sample, Beat::HalfSecond, Beat::Sample];
        assert_eq!(passes(second), [true, false, false, false], "the first one is wanted at once");
        assert_eq!(passes(second), [false, false, false, true]);
        assert_eq!(passes(second), [false, false, false, true]);
        let every =
            Seat::new(CollectorPace::EverySample, Box::new(Counting::default())).placed(2, 250_000_000);
        assert_eq!(every.delay, 0);
    }

    #[test]
    fn looks_have_their_share() {
        let mut seat = Seat::new(CollectorPace::EverySample, Box::new(Counting::default()));
        assert_eq!(seat.share_ns(PERIOD_NS), 0.0, "what was never read costs nothing");
        assert!(!seat.is_slowable(PERIOD_NS));
        seat.costs = [known(100.0), Cost::default(), known(1100.0)];
        check_share(&seat, 0.9 * 100.0 + 0.1 * 1100.0);
        seat.costs = [100.0, 500.0, 1100.0].map(known);
        check_share(&seat, 0.8 * 100.0 + 0.1 * 500.0 + 0.1 * 1100.0);
        seat.slow_down();
        check_share(&seat, 0.3 * 100.0 + 0.1 * 500.0 + 0.1 * 1100.0);
        let paced = |pace| Seat { costs: seat.costs, ..Seat::new(pace, Box::new(Counting::default())) };
        check_share(&paced(CollectorPace::TwiceASecond), 0.1 * 500.0 + 0.1 * 1100.0);
        check_share(&paced(CollectorPace::EverySecond), 0.1 * 1100.0);
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
        assert_eq!(read_at(CollectorPace::EverySecond), [Some(1.0), None, None, None, Some(2.0)]);
        assert_eq!(read_at(CollectorPace::TwiceASecond), [Some(1.0), None, Some(1.0), None, Some(2.0)]);
    }

    #[test]
    fn what_is_slowed_down_counts_its_own_beats() {
        let mut seat = Seat::new(CollectorPace::TwiceASecond, Box::new(Counting::default()));
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
