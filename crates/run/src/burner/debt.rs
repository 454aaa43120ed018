//! What the threads of a burner share: how much is to be burnt, and how much was.

use crate::clock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use sysdyno_record::units::MonoNs;

/// More debt than this is given up: a CPU that cannot take it now will not later.
const MAX_DEBT_NS: u64 = 50_000_000;

/// What the threads share. Times are in nanoseconds.
#[derive(Debug)]
pub(super) struct BurnDebt {
    pub(super) stop: AtomicBool,
    pub(super) until: MonoNs,
    /// What each thread should have burnt and has not, by its place.
    pub(super) debts: Vec<AtomicU64>,
    pub(super) burnt: AtomicU64,
    pub(super) due: AtomicU64,
}

impl BurnDebt {
    pub(super) fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed) && clock::monotonic() < self.until
    }

    /// Adds to what is to be burnt, in equal parts on all CPUs.
    pub(super) fn owe(&self, nanoseconds: u64) {
        self.due.fetch_add(nanoseconds, Ordering::Relaxed);
        let part = nanoseconds / self.debts.len().max(1) as u64;
        for debt in &self.debts {
            if debt.load(Ordering::Relaxed) < MAX_DEBT_NS {
                debt.fetch_add(part, Ordering::Relaxed);
            }
        }
    }
}
