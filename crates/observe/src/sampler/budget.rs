//! How often each collector is read, so that all of them together stay within the budget.
//!
//! Collectors are read at every sample, but for those that are read twice or once a second by design. What a reading costs
//! depends on the host: `/proc/interrupts` of 128 CPUs takes milliseconds, a hundred workers take as many files. When
//! the sum exceeds the budget, the collector with the greatest share is read half as often, until the sum fits. The
//! sum is first estimated from what single readings cost, and corrected every five seconds by what all samples did cost.
//!
//! A host that was busy for a while must not blind the rest of a run: when samples have cost clearly less than the budget,
//! one collector is read twice as often again. If that turns out too dear, the next attempt waits twice as long, so that a
//! column does not flicker.

use super::seat::Seat;

/// What sampling may take of one core. Tiers, threads, and requests are watched beside it: all together stay below one percent.
const BUDGET_RATIO: f64 = 0.0035;

/// Samples after which the estimate is corrected by what they did cost. Many, since what else the host does in a second
/// may double the cost of a few.
const WINDOW_SAMPLES: u32 = 50;

/// Samples of the beginning that do not count: files are opened in them.
const FIRST_SAMPLES: u32 = 10;

/// What a collector costs more when it is read twice as often may be this part of what is left of the budget.
const RESTORED_RATIO: f64 = 0.6;

/// Windows before an attempt to read more often, at most: about five minutes.
const MAX_PATIENCE_WINDOWS: u32 = 64;

/// Keeps the cost of samples within the budget.
#[derive(Debug)]
pub(super) struct Budget {
    period_ns: u64,
    /// Samples to skip.
    skip: u32,
    samples: u32,
    spent_ns: u64,
    /// Windows to let pass before the next attempt to read more often.
    rest_windows: u32,
    /// How many they are after the next attempt that fails.
    patience_windows: u32,
}

impl Budget {
    /// The budget of samples at this period.
    pub(super) fn new(period_ns: u64) -> Budget {
        Budget {
            period_ns,
            skip: FIRST_SAMPLES,
            samples: 0,
            spent_ns: 0,
            rest_windows: 0,
            patience_windows: 1,
        }
    }

    /// Records the CPU time of a sample, and reads less from now on if it is too much.
    pub(super) fn settle(&mut self, seats: &mut [Seat], cost_ns: u64) {
        let budget_ns = self.period_ns as f64 * BUDGET_RATIO;
        self.keep_below(seats, budget_ns);
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        self.samples += 1;
        self.spent_ns += cost_ns;
        if self.samples == WINDOW_SAMPLES {
            let excess_ns = self.spent_ns as f64 / f64::from(self.samples) - budget_ns;
            if excess_ns > 0.0 {
                let estimate_ns = self.estimate_ns(seats);
                self.keep_below(seats, estimate_ns - excess_ns);
                self.rest_windows = self.patience_windows;
                self.patience_windows = (self.patience_windows * 2).min(MAX_PATIENCE_WINDOWS);
            } else if self.rest_windows > 0 {
                self.rest_windows -= 1;
            } else {
                self.restore(seats, -excess_ns);
            }
            (self.samples, self.spent_ns) = (0, 0);
        }
    }

    /// Reads one collector more often if what it then costs fits into what is left: what is wanted most, then the cheapest.
    fn restore(&self, seats: &mut [Seat], left_ns: f64) {
        let period_ns = self.period_ns;
        let left_ns = left_ns.min(period_ns as f64 * BUDGET_RATIO - self.estimate_ns(seats));
        let slowed = seats.iter_mut().filter(|seat| seat.is_slowed());
        let fitting = slowed.filter(|seat| seat.share_ns(period_ns) <= left_ns * RESTORED_RATIO);
        let rank = |seat: &Seat| seat.gain_ns(period_ns);
        if let Some(seat) = fitting.min_by(|one, other| rank(one).total_cmp(&rank(other))) {
            seat.speed_up();
        }
    }

    /// What all collectors take per sample, by what single readings cost. Unit: nanoseconds.
    fn estimate_ns(&self, seats: &[Seat]) -> f64 {
        seats.iter().map(|seat| seat.share_ns(self.period_ns)).sum()
    }

    /// Slows down the most expensive collectors until the estimate is at most `limit_ns`.
    fn keep_below(&self, seats: &mut [Seat], limit_ns: f64) {
        while self.estimate_ns(seats) > limit_ns {
            let slowable = seats.iter_mut().filter(|seat| seat.is_slowable(self.period_ns));
            let gain_ns = |seat: &Seat| seat.gain_ns(self.period_ns);
            match slowable.max_by(|one, other| gain_ns(one).total_cmp(&gain_ns(other))) {
                Some(dearest) => dearest.slow_down(),
                None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::{COLLECTORS, CollectorPace};

    const PERIOD_NS: u64 = 100_000_000;
    const BUDGET_NS: u64 = 350_000;

    /// Two seats whose readings cost this much; the collectors are never read.
    fn seats(costs_ns: [f64; 2]) -> Vec<Seat> {
        let collector = COLLECTORS.first().expect("there are some").1;
        costs_ns.map(|cost_ns| Seat::with_cost(CollectorPace::EverySample, collector(), cost_ns)).into()
    }

    fn strides(seats: &[Seat]) -> Vec<u64> {
        seats.iter().map(Seat::stride).collect()
    }

    #[test]
    fn the_dearest_is_read_less_often() {
        let mut seats = seats([900_000.0, 100_000.0]);
        Budget::new(PERIOD_NS).settle(&mut seats, 0);
        assert_eq!(strides(&seats), [4, 1]);
    }

    #[test]
    fn what_is_wanted_most_is_slowed_down_late() {
        let collector = COLLECTORS.first().expect("there are some").1;
        let foremost = |cost_ns| Seat::with_cost(CollectorPace::Foremost, collector(), cost_ns);
        let mut seats = seats([200_000.0, 100_000.0]);
        seats.push(foremost(240_000.0));
        Budget::new(PERIOD_NS).settle(&mut seats, 0);
        assert_eq!(strides(&seats), [4, 2, 1]);
        seats.push(foremost(10_000_000.0));
        Budget::new(PERIOD_NS).settle(&mut seats, 0);
        assert_eq!(strides(&seats), [32, 32, 8, 8], "every 800 ms at any price");
    }

    #[test]
    fn what_fits_is_not_touched_and_what_cannot_fit_ends() {
        let mut fitting = seats([250_000.0, 90_000.0]);
        Budget::new(PERIOD_NS).settle(&mut fitting, 0);
        assert_eq!(strides(&fitting), [1, 1]);
        let mut hopeless = seats([1e12, 1e12]);
        Budget::new(PERIOD_NS).settle(&mut hopeless, 0);
        assert_eq!(strides(&hopeless), [32, 32], "every 3.2 seconds; 6.4 would be too seldom");
    }

    #[test]
    fn what_was_slowed_down_in_a_busy_time_comes_back_and_what_is_too_dear_waits_longer() {
        let mut seats = seats([175_000.0, 85_000.0]);
        let mut budget = Budget::new(PERIOD_NS);
        (0..FIRST_SAMPLES).for_each(|_| budget.settle(&mut seats, 0));
        let mut window =
            |seats: &mut [Seat], cost_ns| (0..WINDOW_SAMPLES).for_each(|_| budget.settle(seats, cost_ns));
        window(&mut seats, BUDGET_NS + 50_000);
        assert_eq!(strides(&seats), [2, 1], "slowed down");
        (0..2).for_each(|_| window(&mut seats, 150_000));
        assert_eq!(strides(&seats), [1, 1], "after a rest of one window it is back");
        window(&mut seats, BUDGET_NS + 50_000);
        assert_eq!(strides(&seats), [2, 1]);
        (0..2).for_each(|_| window(&mut seats, 150_000));
        assert_eq!(strides(&seats), [2, 1], "the second rest is longer");
        window(&mut seats, 150_000);
        assert_eq!(strides(&seats), [1, 1]);
    }

    #[test]
    fn an_estimate_that_is_too_low_is_corrected() {
        let mut seats = seats([200_000.0, 100_000.0]);
        let mut budget = Budget::new(PERIOD_NS);
        (0..FIRST_SAMPLES).for_each(|_| budget.settle(&mut seats, 100 * BUDGET_NS));
        (0..WINDOW_SAMPLES).for_each(|_| budget.settle(&mut seats, BUDGET_NS - 1));
        assert_eq!(strides(&seats), [1, 1], "the first ones do not count");
        (0..WINDOW_SAMPLES).for_each(|_| budget.settle(&mut seats, BUDGET_NS + 50_000));
        assert_eq!(strides(&seats), [2, 1]);
    }
}
