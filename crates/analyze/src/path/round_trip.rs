//! The round trip between generator and server, as connects tell it.
//!
//! Half of the connects took at most one round trip, in which no program of the server has a part (RFC 9293). No response
//! comes sooner than that either, so the shorter of both is taken.

use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::load::LatencyKind;

pub(crate) const CONNECTS: Threshold =
    Threshold::new("connects whose median is taken for a round trip", 5.0, "count", HOUSE);
pub(crate) const REPEATED: Threshold =
    Threshold::new("a connect for which a packet was repeated after 1 s", 900.0, "ms", "RFC 6298 §2.1");

/// The fastest responses: the first of a hundred. Unit: ratio.
pub(crate) const FAST_RATIO: f64 = 0.01;

/// A round trip of a trial. Unit: nanoseconds. `None`: too few connects, or packets were repeated in most of them.
pub(crate) fn round_trip_ns(view: &TrialView) -> Option<f64> {
    let phases = view.end.summary.phases.iter().filter_map(|phase| phase.latency.get(&LatencyKind::Connect));
    let known = phases.filter(|connects| connects.count as f64 >= CONNECTS.value);
    let connect_ns = known.filter_map(|connects| connects.p50).min()? as f64;
    let fast_ns = view.latency.get(LatencyKind::Service).quantile(FAST_RATIO)? as f64;
    (connect_ns < REPEATED.value * 1e6).then(|| connect_ns.min(fast_ns))
}
