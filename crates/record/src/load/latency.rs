//! Kinds of measured latencies, and a histogram of each.

use crate::named::named;
use crate::units::MonoNs;
use std::sync::LazyLock;
use sysdyno_stats::histogram::LatencyHistogram;
use sysdyno_stats::order_statistics::is_quantile_supported;

named! {
    /// The kinds of latency that are kept apart.
    LatencyKind {
        /// Intended send to last byte.
        Response "response";
        /// Actual send to last byte.
        Service "service";
        /// Intended send to noticed by the generator.
        LoopSlip "loop_slip";
        /// Noticed to actual send.
        PoolSlip "pool_slip";
        /// Connect call to connected.
        Connect "connect";
        /// Actual send to first byte.
        FirstByte "first_byte";
        /// Intended send to failure.
        Failure "failure";
        /// Intended send to actual send: loop slip and pool slip together.
        Slip "slip";
        /// Connected to secured, of TLS.
        Handshake "handshake";
    }
}

/// One histogram per kind, those without values without memory. Unit of all values: nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct LatencySet {
    histograms: [Option<Box<LatencyHistogram>>; LatencyKind::ALL.len()],
}

/// Stands for a histogram that was never recorded into.
static EMPTY: LazyLock<LatencyHistogram> = LazyLock::new(LatencyHistogram::new);

impl LatencySet {
    /// A set that has the memory for these kinds already.
    pub fn with_memory(kinds: &[LatencyKind]) -> LatencySet {
        let mut set = LatencySet::default();
        kinds.iter().for_each(|kind| set.histograms[*kind as usize] = Some(Box::default()));
        set
    }

    /// The histogram of `kind`.
    pub fn get(&self, kind: LatencyKind) -> &LatencyHistogram {
        self.histograms[kind as usize].as_deref().unwrap_or(&EMPTY)
    }

    /// The histogram of `kind`, to record into.
    #[inline]
    pub fn get_mut(&mut self, kind: LatencyKind) -> &mut LatencyHistogram {
        self.histograms[kind as usize].get_or_insert_default()
    }

    /// Adds all values of `other`; lossless.
    pub fn merge(&mut self, other: &LatencySet) {
        for (mine, theirs) in self.histograms.iter_mut().zip(&other.histograms) {
            if let Some(theirs) = theirs.as_deref().filter(|theirs| !theirs.is_empty()) {
                mine.get_or_insert_default().merge(theirs);
            }
        }
    }

    /// The quantile of `kind` at this ratio; `None` if fewer than ten values lie beyond it.
    pub fn quantile(&self, kind: LatencyKind, ratio: f64) -> Option<u64> {
        let histogram = self.get(kind);
        histogram.quantile(ratio).filter(|_| is_quantile_supported(histogram.count(), ratio))
    }

    /// Forgets all values and keeps the memory.
    pub fn clear(&mut self) {
        let used = self.histograms.iter_mut().flatten().filter(|histogram| !histogram.is_empty());
        used.for_each(|histogram| histogram.clear());
    }
}

/// Latency of one kind in one window of a measured phase: the values, without the memory of a histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyWindow {
    /// What was measured; one of [`LatencyWindow::KINDS`].
    pub kind: LatencyKind,
    /// Begin of the window, to the millisecond.
    pub begin_mono_ns: MonoNs,
    /// Its values, from least to greatest.
    pub steps: Vec<WindowStep>,
}

/// Values of a window that the histogram does not tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowStep {
    /// The greatest of them. Unit: nanoseconds.
    pub up_to_ns: u64,
    /// How many there are.
    pub count: u64,
}

impl LatencyWindow {
    /// The kinds that windows are kept of.
    pub const KINDS: [LatencyKind; 3] = [LatencyKind::Response, LatencyKind::Service, LatencyKind::Slip];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_kinds_are_those_of_the_json() {
        for kind in LatencyKind::ALL {
            assert_eq!(serde_json::to_value(kind).expect("serialises"), kind.name());
        }
    }
}
