//! Requests by outcome.

use serde::{Deserialize, Serialize};

/// How many requests went which way; the identity of [`Counts::is_balanced`] always holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Arrivals that the process asked for.
    pub scheduled: u64,
    /// Arrivals that got a connection or tried to.
    pub sent: u64,
    /// Requests whose bytes reached the socket.
    pub written: u64,
    /// Complete responses that every validator accepted.
    pub ok: u64,
    /// Requests that failed; the sum of the failure classes.
    pub failed: u64,
    /// Requests whose total deadline passed after they were sent.
    pub timed_out: u64,
    /// Requests still open when the drain ended.
    pub in_flight: u64,
    /// Arrivals for which no connection became free in time.
    pub unsent: u64,
}

impl Counts {
    /// Whether no request vanished: `scheduled = sent + unsent` and `sent = ok + failed + timed_out + in_flight`.
    pub fn is_balanced(&self) -> bool {
        self.scheduled == self.sent + self.unsent
            && self.sent == self.ok + self.failed + self.timed_out + self.in_flight
    }

    /// Adds the counts of another thread, interval or phase; those of a record may be of any size.
    pub fn add(&mut self, other: &Counts) {
        let add = |sum: &mut u64, count: u64| *sum = sum.saturating_add(count);
        add(&mut self.scheduled, other.scheduled);
        add(&mut self.sent, other.sent);
        add(&mut self.written, other.written);
        add(&mut self.ok, other.ok);
        add(&mut self.failed, other.failed);
        add(&mut self.timed_out, other.timed_out);
        add(&mut self.in_flight, other.in_flight);
        add(&mut self.unsent, other.unsent);
    }

    /// Share of the sent requests that failed or timed out; 0 if none was sent.
    pub fn error_ratio(&self) -> f64 {
        if self.sent == 0 { 0.0 } else { (self.failed + self.timed_out) as f64 / self.sent as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vanished_request_unbalances_the_counts() {
        let mut counts = Counts {
            scheduled: 12,
            sent: 10,
            ok: 7,
            failed: 1,
            timed_out: 1,
            in_flight: 1,
            unsent: 2,
            written: 9,
        };
        assert!(counts.is_balanced());
        counts.ok -= 1;
        assert!(!counts.is_balanced());
    }
}
