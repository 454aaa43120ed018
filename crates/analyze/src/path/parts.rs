//! Where most of a request's time passes, whatever the cause.

use super::{called, path_of};
use crate::format::{duration, percent};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::path::{PathTier, TierRequests, TierWait, WaitKind};

/// A part that is told where no bottleneck was found.
const LARGE: Threshold = Threshold::new(
    "share of a request's time that is told where no bottleneck was found",
    0.25,
    "ratio",
    HOUSE,
);

/// The largest known part of a request's time, in a clause; `None`: none is known that is worth naming.
pub(crate) fn largest_part(view: &TrialView) -> Option<String> {
    let path = path_of(view);
    let mean_ns = view.request_mean_ns()?;
    let parts = path.iter().flat_map(|tier| parts(&path, tier));
    let (ns, place) = parts.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    let share = ratio(ns, mean_ns)?.min(1.0);
    (share >= LARGE.value).then(|| {
        let (part, mean) = (duration(ns.min(mean_ns)), duration(mean_ns));
        format!("the largest known part of a request's {mean}, {part} ({}), passes {place}", percent(share))
    })
}

/// The parts of a tier that no other tier has.
fn parts(path: &[PathTier], tier: &PathTier) -> Vec<(f64, String)> {
    let who = called(path, tier);
    let mut parts: Vec<(f64, String)> = Vec::new();
    parts.extend(tier.queue_time_ns.map(|ns| (ns, format!("in the accept queue of {who}"))));
    if let Some(requests) = &tier.requests {
        parts.push((requests.unread_ns, format!("before {who} reads it")));
        let partial = requests.partial_ns.map(|ns| (ns, format!("while {who} has only a part of it")));
        parts.extend(partial);
        parts.extend(
            requests.rest_ns.map(|ns| (ns, format!("inside {who}, which was not seen working or waiting"))),
        );
        parts.extend(answers(path, requests, &who));
    }
    let waits = tier.waits.iter().filter(|wait| !is_passed_on(path, wait));
    parts.extend(waits.filter_map(|wait| {
        let what = match wait.kind {
            WaitKind::Running => format!("while {who} computes"),
            kind => format!("while {who} waits for {}", crate::findings::what(kind)),
        };
        Some((wait.time_ns?, what))
    }));
    parts
}

/// What becomes of the answers of other tiers, and those of places that could not be looked into.
fn answers<'a>(
    path: &'a [PathTier],
    requests: &'a TierRequests,
    who: &'a str,
) -> impl Iterator<Item = (f64, String)> + 'a {
    requests.asked.iter().filter_map(move |asked| Some((asked, path.get(asked.on)?))).flat_map(
        move |(asked, on)| {
            let other = called(path, on);
            let unseen =
                on.requests.is_none().then(|| (asked.waiting_ns, format!("while {who} waits for {other}")));
            let unread = (asked.unread_ns, format!("until {who} has read what {other} answered"));
            unseen.into_iter().chain([unread])
        },
    )
}

/// Whether a wait is that for another tier, whose own parts tell more.
fn is_passed_on(path: &[PathTier], wait: &TierWait) -> bool {
    wait.kind == WaitKind::Asking
        && wait.on.and_then(|on| path.get(on)).is_some_and(|tier| tier.requests.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{Specimen, TARGET, with_tier};

    #[test]
    fn the_largest_part_is_told_if_it_is_large() {
        let of = "tier:127.0.0.1:9000";
        let case = |inside_ms: f64| {
            let case = with_tier(Specimen::open(100.0, 10.0), "node", "127.0.0.1:9000", 1, TARGET);
            let case = case
                .counter("requests.read_count", of, 100.0)
                .counter("requests.merged_count", of, 0.0)
                .counter("requests.unread_ns", of, 0.0)
                .counter("requests.inside_ns", of, 100.0 * inside_ms * 1e6)
                .build();
            largest_part(&case.view())
        };
        let told = case(1.0).expect("is large");
        assert!(told.ends_with("passes inside node, which was not seen working or waiting"), "{told}");
        assert_eq!(case(0.001), None);
    }
}
