//! When a thread replaces a connection with a new one: at evenly spaced instants, each at the end of the next response.
//! If it falls behind, it catches up with the responses that follow.

use crate::schedule::Share;
use sysdyno_record::units::MonoNs;

/// The churn of one thread.
#[derive(Debug)]
pub(super) struct Churn {
    gap_ns: u64,
    next: MonoNs,
}

impl Churn {
    /// One thread's share of so many new connections per second; `None` for none.
    pub(super) fn new(churn_hz: Option<f64>, share: Share) -> Churn {
        let gap_ns = churn_hz.map(|hz| (1e9 * f64::from(share.threads) / hz) as u64);
        Churn { gap_ns: gap_ns.unwrap_or(u64::MAX).max(1), next: MonoNs(u64::MAX) }
    }

    /// Begins to count; the threads' instants lie between each other's.
    pub(super) fn begin(&mut self, at: MonoNs, share: Share) {
        let offset_ns = self.gap_ns / u64::from(share.threads.max(1)) * u64::from(share.thread + 1);
        self.next = MonoNs(at.0.saturating_add(offset_ns));
    }

    /// Whether the connection that just carried a response is to be closed.
    #[inline]
    pub(super) fn takes(&mut self, now: MonoNs) -> bool {
        let is_due = now >= self.next;
        if is_due {
            self.next = MonoNs(self.next.0.saturating_add(self.gap_ns));
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_together_have_the_rate_and_lateness_is_made_up_for() {
        let second = |churn: &mut Churn, step_ns: usize| {
            (0..=1_000_000_000u64).step_by(step_ns).filter(|at| churn.takes(MonoNs(*at))).count()
        };
        for threads in [1, 2, 3] {
            let mut total = 0;
            for thread in 0..threads {
                let share = Share { thread, threads };
                let mut churn = Churn::new(Some(120.0), share);
                assert!(!churn.takes(MonoNs(5)), "it has not begun");
                churn.begin(MonoNs(0), share);
                total += second(&mut churn, 1_000_000);
            }
            assert!((119..=121).contains(&total), "{total} with {threads} threads");
        }
        let share = Share { thread: 0, threads: 1 };
        let mut none = Churn::new(None, share);
        none.begin(MonoNs(0), share);
        assert_eq!(second(&mut none, 1_000_000), 0);
    }
}
