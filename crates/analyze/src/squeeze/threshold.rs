//! Resources that are no rates: how much of their number each tier used in the pilot.
//!
//! Nothing is taken away of these. 20% less of a pool that is half full changes nothing, and 20% less of a full one is what the
//! sum test and fewer connections show already; less memory or fewer descriptors than are used make requests fail.

use crate::format::{bytes, percent, whole};
use crate::path::{address_text, called, path_of};
use crate::readings::{Window, process_scope};
use crate::view::TrialView;
use sysdyno_record::column::{self, CGROUP_TARGET, Quantity, cgroup_tier_scope, listener_scope};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::path::PathTier;
use sysdyno_record::squeeze::{ResourceThreshold, ThresholdKind};

/// From this part on it is used up; of workers on average. House values.
const REACHED: f64 = 0.95;
const ALL_BUSY: f64 = 0.9;

/// Requests or connections that wait for a worker, at least, for the pool to be what they wait for.
const WAITING: f64 = 1.0;

/// What each tier used of what it has a fixed number of; the fullest first.
pub(super) fn thresholds(view: &TrialView) -> Vec<ResourceThreshold> {
    let path = path_of(view);
    let window = view.server_steady();
    let tiers = path.iter().filter(|tier| !tier.is_outside);
    let mut found: Vec<ResourceThreshold> =
        tiers.flat_map(|tier| of_tier(view, &window, &path, tier)).collect();
    found.sort_by(|one, other| (other.used / other.available).total_cmp(&(one.used / one.available)));
    found
}

/// What a tier used of something: how much at most, and how much there is.
struct Use {
    kind: ThresholdKind,
    used: f64,
    available: f64,
}

fn of_tier(view: &TrialView, window: &Window, path: &[PathTier], tier: &PathTier) -> Vec<ResourceThreshold> {
    let is_of_it = |process: &&WatchedProcess| {
        process.tier.as_ref().map(|tier| address_text(&tier.address)) == tier.address
    };
    let mut processes = view.processes(ProcessRole::Target);
    processes.retain(is_of_it);
    let address = processes.first().and_then(|process| process.tier.as_ref()).map(|tier| &tier.address);
    let group = address.map_or_else(|| CGROUP_TARGET.to_owned(), cgroup_tier_scope);
    let queue = address.map(listener_scope).or_else(|| first_listener(view, window));
    let used = |kind, scope: &str, of: Quantity, limit: Quantity| {
        let (used, available) = (window.level(of, scope)?.max, window.level(limit, scope)?.last);
        Some(Use { kind, used, available })
    };
    let uses = [
        workers(tier),
        descriptors(window, &processes),
        used(ThresholdKind::Memory, &group, column::CGROUP_MEMORY, column::CGROUP_MEMORY_LIMIT),
        used(ThresholdKind::Tasks, &group, column::CGROUP_PIDS, column::CGROUP_PIDS_LIMIT),
        queue.and_then(|scope| {
            used(ThresholdKind::Queue, &scope, column::LISTENER_QUEUE, column::LISTENER_LIMIT)
        }),
    ];
    let threshold = |one: Use| {
        let is_reached = match one.kind {
            ThresholdKind::Workers => one.used >= ALL_BUSY * one.available && has_waiting(tier),
            // The page cache fills what is left, and gives it back.
            ThresholdKind::Memory => false,
            _ => one.used >= REACHED * one.available,
        };
        let sentence = sentence(&called(path, tier), &one, is_reached);
        let (tier, address) = (tier.name.clone(), tier.address.clone());
        let Use { kind, used, available } = one;
        ResourceThreshold { kind, tier, address, used, available, is_reached, sentence }
    };
    uses.into_iter().flatten().filter(|one| one.available > 0.0).map(threshold).collect()
}

/// What the load reaches: the listener that is no other tier's.
fn first_listener(view: &TrialView, window: &Window) -> Option<String> {
    let scopes = window.scopes(column::LISTENER_QUEUE).into_iter();
    let is_first = |scope: &&str| view.listening_at(scope).iter().all(|process| process.tier.is_none());
    scopes.filter(is_first).map(str::to_owned).next()
}

/// The threads that serve one request at a time, where there are several.
fn workers(tier: &PathTier) -> Option<Use> {
    let available = tier.serving_count.map(f64::round).filter(|count| *count >= 2.0)?;
    let busy: f64 = tier.waits.iter().map(|wait| wait.threads_count).sum();
    Some(Use { kind: ThresholdKind::Workers, used: busy.min(available), available })
}

/// Those of the process that has the fewest left.
fn descriptors(window: &Window, processes: &[&WatchedProcess]) -> Option<Use> {
    let of = |process: &&WatchedProcess| {
        let scope = process_scope(process);
        let used = window.level(column::PROCESS_FDS, &scope)?.max;
        let available = window.level(column::PROCESS_FDS_LIMIT, &scope)?.last;
        Some(Use { kind: ThresholdKind::Descriptors, used, available })
    };
    let known = processes.iter().filter_map(of).filter(|one| one.available > 0.0);
    known.max_by(|one, other| (one.used / one.available).total_cmp(&(other.used / other.available)))
}

/// Whether requests or connections wait for somebody to take them.
fn has_waiting(tier: &PathTier) -> bool {
    [tier.unread, tier.queue].into_iter().flatten().any(|range| range.mean >= WAITING)
}

fn sentence(who: &str, one: &Use, is_reached: bool) -> String {
    let (used, available) = match one.kind {
        ThresholdKind::Memory => (bytes(one.used), bytes(one.available)),
        ThresholdKind::Workers => (format!("{:.1}", one.used), whole(one.available)),
        _ => (whole(one.used), whole(one.available)),
    };
    let told = match one.kind {
        ThresholdKind::Workers => {
            format!("{used} of the {available} threads of {who} that serve requests were busy on average")
        }
        ThresholdKind::Descriptors => {
            format!("a process of {who} had at most {used} of its {available} file descriptors open")
        }
        ThresholdKind::Memory => {
            format!("{who} used at most {used} of its control group's {available}, the page cache included")
        }
        ThresholdKind::Tasks => {
            format!("{who} had at most {used} of the {available} processes and threads of its control group")
        }
        ThresholdKind::Queue => {
            format!("at most {used} of {available} connections waited for {who}")
        }
    };
    match (is_reached, one.kind) {
        (true, ThresholdKind::Workers) => format!("{told}, and requests waited for a free one"),
        (true, _) => format!("{told}: none are left"),
        (false, _) => format!("{told} ({})", percent(one.used / one.available)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{Specimen, TARGET, with_tier};

    const BACK: &str = "127.0.0.1:9000";

    #[test]
    fn a_full_pool_is_reached_where_requests_wait_for_it_and_others_have_room() {
        let with = |queue: f64| {
            let case = with_tier(Specimen::open(2000.0, 10.0).server(0.05), "php-fpm", BACK, 1, TARGET);
            let tier = format!("tier:{BACK}");
            let listener = format!("listener:{BACK}");
            let case = case.gauge("waits.threads_count", &tier, 4.0).gauge("waits.timer_count", &tier, 3.9);
            let case = case.gauge("listener.queue_count", &listener, queue);
            let case = case.gauge("listener.limit_count", &listener, 511.0);
            let process = format!("process:{TARGET}");
            let case = case.gauge("process.fds_count", &process, 87.0);
            let case = case.gauge("process.fds_limit_count", &process, 1_024.0);
            let group = format!("cgroup:tier:{BACK}");
            let case = case.gauge("cgroup.memory_bytes", &group, 5e8);
            thresholds(&case.gauge("cgroup.memory_limit_bytes", &group, 5e8).build().view())
        };
        let kinds = |found: &[ResourceThreshold], is_reached: bool| {
            let of = found.iter().filter(|one| one.is_reached == is_reached);
            of.map(|one| one.kind).collect::<Vec<_>>()
        };
        let found = with(5.0);
        assert_eq!(kinds(&found, true), [ThresholdKind::Workers], "{found:?}");
        let others = [ThresholdKind::Memory, ThresholdKind::Descriptors, ThresholdKind::Queue];
        assert_eq!(kinds(&found, false), others, "the fullest first");
        let open =
            &found.iter().find(|one| one.kind == ThresholdKind::Descriptors).expect("is there").sentence;
        assert_eq!(open, "a process of nginx had at most 87 of its 1,024 file descriptors open (8.5%)");
        let sentence =
            &found.iter().find(|one| one.kind == ThresholdKind::Workers).expect("is there").sentence;
        let expected = "3.9 of the 4 threads of php-fpm that serve requests were busy on average, and requests waited for a free one";
        assert_eq!(sentence, expected);
        assert_eq!(kinds(&with(0.0), true), [], "nobody waits for it");
    }
}
