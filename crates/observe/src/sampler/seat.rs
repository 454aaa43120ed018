//! How often each collector is read, so that all of them together stay within the budget.
//!
//! Collectors are read at every sample, but for those that are read once a second by design. What a reading costs
//! depends on the host: `/proc/interrupts` of 128 CPUs takes milliseconds, a hundred workers take as many files. When
//! the sum exceeds the budget, the collector with the greatest share is read half as often, until the sum fits. Rates
//! only fall, so that a column does not flicker.

use super::LOOK_INTERVAL_NS;
use crate::clock;
use crate::collect::{Collector, Pace, Pass, Table};

/// What all collectors may take of one core. Below the product's limit of 0.005, since processes are looked for and
/// rows are written besides.
const BUDGET_RATIO: f64 = 0.004;

/// No collector is read less often than this. Unit: nanoseconds.
const MAX_INTERVAL_NS: u64 = 5_000_000_000;

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

/// What a reading costs when nothing disturbs it: the least of late readings. Unit: nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Cost(Option<f64>);

impl Cost {
    fn learn(&mut self, cost_ns: u64) {
        let cost_ns = cost_ns as f64;
        self.0 = Some(self.0.map_or(cost_ns, |least| cost_ns.min(least * RISE_RATIO)));
    }

    fn ns(self) -> f64 {
        self.0.unwrap_or(0.0)
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

    /// Reads the collector if it is its turn; else forgets its values. Returns whether its columns changed.
    pub(super) fn read(&mut self, pass: &mut Pass<'_>) -> bool {
        self.owes_look |= pass.is_look;
        let is_its_turn = match self.pace {
            Pace::EverySample => self.wait == 0,
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

    /// What its usual readings take per sample. Unit: nanoseconds.
    fn share_ns(&self) -> f64 {
        self.usual.ns() / self.stride as f64
    }

    /// What its looks take per sample, which does not depend on the stride. Unit: nanoseconds.
    fn look_share_ns(&self, period_ns: u64) -> f64 {
        (self.look.ns() - self.usual.ns()).max(0.0) * (period_ns as f64 / LOOK_INTERVAL_NS as f64).min(1.0)
    }
}

/// Reads what costs most less often, if all together cost too much at this period.
pub(super) fn keep_within_budget(seats: &mut [Seat], period_ns: u64) {
    let looks_ns: f64 = seats.iter().map(|seat| seat.look_share_ns(period_ns)).sum();
    let budget_ns = period_ns as f64 * BUDGET_RATIO - looks_ns;
    let max_stride = (MAX_INTERVAL_NS / period_ns.max(1)).max(1);
    while seats.iter().map(Seat::share_ns).sum::<f64>() > budget_ns {
        let slowable = seats.iter_mut().filter(|seat| seat.stride * 2 <= max_stride && seat.share_ns() > 0.0);
        match slowable.max_by(|one, other| one.share_ns().total_cmp(&other.share_ns())) {
            Some(dearest) => dearest.stride *= 2,
            None => return,
        }
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

    #[test]
    fn the_dearest_is_read_less_often_and_gets_its_look_late() {
        let mut seats = [0, 1].map(|_| Seat::new(Pace::EverySample, Box::new(Counting::default())));
        seats[0].usual.learn(1_000_000);
        seats[1].usual.learn(100_000);
        keep_within_budget(&mut seats, 100_000_000);
        assert_eq!((seats[0].stride, seats[1].stride), (4, 1));
        let values = [true, false, true, false, false].map(|is_look| read(&mut seats[0], is_look));
        assert_eq!(values, [Some(1.0), None, None, None, Some(2.0)]);
    }

    #[test]
    fn what_fits_is_not_touched_and_what_cannot_fit_ends() {
        let mut seats = [Seat::new(Pace::EverySample, Box::new(Counting::default()))];
        keep_within_budget(&mut seats, 100_000_000);
        assert_eq!(seats[0].stride, 1, "what was never read costs nothing");
        seats[0].usual = Cost(Some(390_000.0));
        keep_within_budget(&mut seats, 100_000_000);
        assert_eq!(seats[0].stride, 1);
        seats[0].usual = Cost(Some(1e12));
        keep_within_budget(&mut seats, 100_000_000);
        assert_eq!(seats[0].stride, 32);
    }

    #[test]
    fn what_is_read_once_a_second_waits_for_the_look() {
        let mut seat = Seat::new(Pace::EverySecond, Box::new(Counting::default()));
        assert_eq!([true, false, true].map(|is_look| read(&mut seat, is_look)), [Some(1.0), None, Some(2.0)]);
    }
}
