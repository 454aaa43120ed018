//! How finely a long run is recorded, so that its folder stays small enough to be read in a moment.
//!
//! A log has a budget in bytes. While most of it is left, everything is written as it comes. A plan known to exceed the
//! budget is divided into cells of equal length from the beginning. A run that lasts longer than planned, or that has no
//! planned length, doubles the length of its cells with each further eighth of the budget, so that a log grows by an
//! eighth of its budget whenever the run has doubled its length.

/// What is left of a budget, and what follows for the length of cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    limits: Limits,
    spent_bytes: u64,
    /// The cells double when this much is spent.
    mark_bytes: u64,
    planned_ns: u64,
    doubled_ns: u64,
}

/// What a log may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The budget.
    pub(super) budget_bytes: u64,
    /// Length of what comes in: a sample, an interval. Unit: nanoseconds.
    pub(super) finest_ns: u64,
    /// The least that a cell counts for: what it costs to read one, whatever its length.
    pub(super) charge_bytes: u64,
}

/// Share of the budget that is planned with; what is left is for plans that take longer.
const PLANNED: [u64; 2] = [3, 4];

/// The cells are doubled with each such part of the budget.
const STEPS: u64 = 8;

impl Meter {
    pub(super) fn new(limits: Limits) -> Meter {
        let mark_bytes = planned(limits.budget_bytes);
        Meter { limits, spent_bytes: 0, mark_bytes, planned_ns: 0, doubled_ns: 0 }
    }

    /// What goes on will take this long, in cells of so many bytes or more.
    pub(super) fn expect(&mut self, left_ns: u64, cell_bytes: u64) {
        let cell_bytes = cell_bytes.max(self.limits.charge_bytes).max(1);
        let step_bytes = self.limits.budget_bytes / STEPS;
        let left_bytes = planned(self.limits.budget_bytes).saturating_sub(self.spent_bytes).max(step_bytes);
        let planned_ns = left_ns / (left_bytes / cell_bytes).max(1);
        // What hardly saves anything is not worth what it hides.
        self.planned_ns = if planned_ns >= 2 * self.limits.finest_ns { planned_ns } else { 0 };
    }

    /// A cell was written.
    pub(super) fn spend(&mut self, bytes: u64) {
        self.spent_bytes += bytes.max(self.limits.charge_bytes);
        while self.spent_bytes >= self.mark_bytes {
            self.mark_bytes += (self.limits.budget_bytes / STEPS).max(1);
            self.doubled_ns = 2 * self.cell_ns().unwrap_or(self.limits.finest_ns);
        }
    }

    /// The length of cells; `None`: everything is written as it comes. Unit: nanoseconds.
    pub(super) fn cell_ns(&self) -> Option<u64> {
        let cell_ns = self.planned_ns.max(self.doubled_ns);
        (cell_ns > 0).then_some(cell_ns)
    }
}

fn planned(bytes: u64) -> u64 {
    bytes / PLANNED[1] * PLANNED[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn meter() -> Meter {
        Meter::new(Limits { budget_bytes: 800_000, finest_ns: SECOND_NS, charge_bytes: 1_000 })
    }

    /// Runs for so many seconds and returns the bytes that were written.
    fn run(meter: &mut Meter, seconds: u64, cell_bytes: u64) -> u64 {
        let (mut at_ns, mut written) = (0, 0);
        while at_ns < seconds * SECOND_NS {
            at_ns += meter.cell_ns().unwrap_or(SECOND_NS);
            meter.spend(cell_bytes);
            written += cell_bytes;
        }
        written
    }

    #[test]
    fn a_short_run_is_written_as_it_comes() {
        let mut short = meter();
        short.expect(500 * SECOND_NS, 500);
        assert_eq!(short.cell_ns(), None);
        run(&mut short, 500, 500);
        assert_eq!(short.cell_ns(), None);
    }

    #[test]
    fn a_plan_that_is_known_has_cells_of_one_length_within_its_budget() {
        let mut day = meter();
        day.expect(86_400 * SECOND_NS, 1_000);
        let cell_ns = day.cell_ns();
        assert_eq!(cell_ns, Some(144 * SECOND_NS));
        assert!(run(&mut day, 86_000, 1_000) <= 600_000);
        assert_eq!(day.cell_ns(), cell_ns);
    }

    #[test]
    fn a_run_of_unknown_length_grows_by_an_eighth_of_the_budget_when_its_length_doubles() {
        let (day, year) = (run(&mut meter(), 86_400, 1_000), run(&mut meter(), 365 * 86_400, 1_000));
        assert!((800_000..1_600_000).contains(&day), "{day}");
        assert!(year < day + 10 * 100_000, "{year}");
    }

    #[test]
    fn a_plan_that_is_always_nearly_over_does_not_escape() {
        let mut many = meter();
        let mut written = 0;
        for _ in 0..2_000 {
            many.expect(60 * SECOND_NS, 1_000);
            written += run(&mut many, 60, 1_000);
        }
        // At least a cell for each; written as it comes it would be 120 MB.
        assert!(written < 4_000_000, "{written}");
    }
}
