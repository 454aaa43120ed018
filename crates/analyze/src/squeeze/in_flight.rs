//! The proof that fewer connections had fewer requests on their way.

use crate::view::TrialView;
use sysdyno_record::squeeze::{BiteCounter, SqueezeBite};

/// How many requests a trial with `left` connections had less on their way than `planned` ones can have; `None`: no interval of
/// it was measured. Several requests at once on a connection count as one.
pub fn fewer_in_flight(view: &TrialView, planned: u32, left: u32) -> Option<SqueezeBite> {
    // When the last interval ends, hardly any is on its way.
    let most = view.measured_intervals().map(|interval| interval.in_flight_at_end).max()?;
    let in_flight = most as f64 / f64::from(view.plan().streams());
    let (moved, of) = (f64::from(planned) - in_flight, f64::from(planned.saturating_sub(left)));
    Some(SqueezeBite { counter: BiteCounter::FewerInFlight, moved, of })
}
