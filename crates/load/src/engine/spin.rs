//! Spinning before each due instant: a thread that sleeps wakes up tens of microseconds late, one that polls the clock does
//! not. A spinning thread also gets the highest priority that its user may set, so that no stray process takes its CPU for
//! a time slice of milliseconds.
//!
//! Spinning is bounded to [`SPIN_NS`] before each due instant, so that the thread mostly sleeps at low rates. Its CPU time
//! is counted separately, because it is not work: a generator that spins is not at its limit. A thread stops spinning for
//! the rest of the trial when it finds that it was stopped while spinning: something else wants its CPU (or a quota is
//! used up), so spinning takes time from others rather than from an idle core.

use sysdyno_record::units::MonoNs;

/// Longest time that is spent spinning before one instant; about three times as late as a sleep ends on a virtual
/// machine whose CPU went idle. Unit: nanoseconds.
const SPIN_NS: u64 = 100_000;

/// A look at the clock that comes so long after the last one was not delayed by this thread. Unit: nanoseconds.
const STOP_NS: u64 = 50_000;

/// Share of the spinning in which the thread may be stopped: interrupts and a hypervisor take a few per cent.
const MAX_STOPPED_RATIO: f64 = 0.1;

/// Spinning that is needed for a judgment. Unit: nanoseconds.
const MIN_JUDGED_NS: u64 = 50_000_000;

/// The spinning of one thread.
#[derive(Debug, Default)]
pub(super) struct Spin {
    is_on: bool,
    /// When the turn began that nothing has happened in yet; `None` if it sleeps.
    turn_begin: Option<MonoNs>,
    spun_ns: u64,
    stopped_ns: u64,
    judged_ns: u64,
    judged_stopped_ns: u64,
    ended: Option<String>,
}

impl Spin {
    /// A thread that spins, or does not.
    pub(super) fn new(is_on: bool) -> Spin {
        Spin { is_on, ..Spin::default() }
    }

    /// How long to sleep when the next arrival is due in `due_ns` and the next other thing in `other_ns`; zero is a turn
    /// of spinning.
    #[inline]
    pub(super) fn sleep_ns(&mut self, now: MonoNs, due_ns: Option<u64>, other_ns: u64) -> u64 {
        let due_ns = due_ns.filter(|_| self.is_on);
        let sleep_ns = due_ns.map_or(other_ns, |due_ns| other_ns.min(due_ns.saturating_sub(SPIN_NS)));
        self.turn_begin = (sleep_ns == 0 && due_ns.is_some()).then_some(now);
        sleep_ns
    }

    /// The kernel was asked and the turn goes on at `now`; `is_idle` if nothing had happened.
    #[inline]
    pub(super) fn note(&mut self, now: MonoNs, is_idle: bool) {
        let Some(begin) = self.turn_begin.take().filter(|_| is_idle) else { return };
        let turn_ns = now.since(begin);
        self.spun_ns += turn_ns;
        if turn_ns >= STOP_NS {
            self.stopped_ns += turn_ns;
        }
    }

    /// Time that was spent spinning since the last call, without that in which the thread was stopped. Unit:
    /// nanoseconds. Judges whether to go on.
    pub(super) fn take_ns(&mut self) -> u64 {
        let (spun_ns, stopped_ns) = (std::mem::take(&mut self.spun_ns), std::mem::take(&mut self.stopped_ns));
        self.judged_ns += spun_ns;
        self.judged_stopped_ns += stopped_ns;
        let ratio = self.judged_stopped_ns as f64 / self.judged_ns.max(1) as f64;
        if self.is_on && self.judged_ns >= MIN_JUDGED_NS && ratio > MAX_STOPPED_RATIO {
            self.is_on = false;
            self.ended = Some(format!(
                "it lost its CPU for {:.0}% of the time spent spinning: the CPU is shared, or a quota is \
                 used up",
                ratio * 100.0
            ));
        }
        spun_ns - stopped_ns
    }

    /// Why it was given up.
    pub(super) fn into_ended(self) -> Option<String> {
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sleeps_until_shortly_before_what_is_due() {
        let mut spin = Spin::new(true);
        assert_eq!(spin.sleep_ns(MonoNs(0), Some(1_000_000), 5_000_000), 900_000);
        assert_eq!(spin.sleep_ns(MonoNs(0), Some(1_000_000), 300_000), 300_000);
        assert_eq!(spin.sleep_ns(MonoNs(0), Some(90_000), 5_000_000), 0);
        assert_eq!(spin.sleep_ns(MonoNs(0), None, 5_000_000), 5_000_000);
        assert_eq!(Spin::new(false).sleep_ns(MonoNs(0), Some(90_000), 5_000_000), 5_000_000);
    }

    #[test]
    fn only_idle_turns_are_spinning() {
        let mut spin = Spin::new(true);
        for (turn_ns, is_idle) in [(1_000, true), (2_000, false), (4_000, true)] {
            spin.sleep_ns(MonoNs(0), Some(0), 0);
            spin.note(MonoNs(turn_ns), is_idle);
        }
        assert_eq!(spin.take_ns(), 5_000);
        assert_eq!(spin.take_ns(), 0);
    }

    #[test]
    fn a_thread_that_is_stopped_too_often_gives_up() {
        let spun = |stop_every: u64| {
            let mut spin = Spin::new(true);
            for turn in 0..1_000u64 {
                spin.sleep_ns(MonoNs(0), Some(0), 0);
                spin.note(MonoNs(if turn.is_multiple_of(stop_every) { 4_000_000 } else { 49_000 }), true);
            }
            spin.take_ns();
            (spin.sleep_ns(MonoNs(0), Some(0), 7), spin.into_ended())
        };
        assert_eq!(spun(1_001), (0, None));
        let (sleep_ns, ended) = spun(10);
        assert_eq!(sleep_ns, 7);
        assert!(ended.is_some_and(|text| text.contains("90%")));
    }
}
