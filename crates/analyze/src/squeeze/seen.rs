//! The proof that a squeeze bit, as far as the readings of its trial show it: those of the warm-up as well, which it was on for.

use super::disk;
use super::link::slowed_scope;
use crate::view::TrialView;
use sysdyno_record::change::SettingChange;
use sysdyno_record::column;
use sysdyno_record::squeeze::{BiteCounter, SqueezeAction, SqueezeBite};

/// What the readings of a trial under a squeeze show of it; `planned` is how many connections the load has otherwise.
pub fn seen_bites(view: &TrialView, action: &SqueezeAction, planned: u32) -> Vec<SqueezeBite> {
    let fewer = action.connections.and_then(|left| fewer_in_flight(view, planned, left));
    let held = action.settings.iter().filter_map(|setting| held_back(view, setting));
    let window = view.server_whole();
    let disks = action.settings.iter().filter_map(|setting| disk::used(&window, setting));
    // What binds is the limit that it came nearest to.
    let disk = disks.max_by(|one, other| (one.moved / one.of).total_cmp(&(other.moved / other.of)));
    fewer.into_iter().chain(held).chain(disk).collect()
}

/// How many requests a trial with `left` connections had less on their way than `planned` ones can have; `None`: no interval of
/// it was measured. Several requests at once on a connection count as one.
fn fewer_in_flight(view: &TrialView, planned: u32, left: u32) -> Option<SqueezeBite> {
    // When the last interval ends, hardly any is on its way.
    let most = view.measured_intervals().map(|interval| interval.in_flight_at_end).max()?;
    let in_flight = most as f64 / f64::from(view.plan().streams());
    let (moved, of) = (f64::from(planned) - in_flight, f64::from(planned.saturating_sub(left)));
    Some(SqueezeBite { counter: BiteCounter::FewerInFlight, moved, of })
}

/// How many packets waited for the rate of the link that a setting makes slower; `None`: it makes none slower, or that was not
/// read.
fn held_back(view: &TrialView, setting: &SettingChange) -> Option<SqueezeBite> {
    let scope = slowed_scope(setting)?;
    let window = view.server_whole();
    // These are read about once a second: the readings next to the trial count as well.
    let moved = window.occurrences(column::QDISC_OVERLIMITS, &scope)?;
    let of = window.occurrences(column::NETDEV_TX_PACKETS, &scope)?;
    Some(SqueezeBite { counter: BiteCounter::HeldBack, moved, of })
}
