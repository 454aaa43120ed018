//! Which measured processes belong to which server, when two servers are compared.

use sysdyno_record::event::{ProcessRole, WatchedProcess};

/// The processes without those of other targets. One that a target has started later is a part of it, as is one that it asks.
pub(super) fn of_targets(watched: &[WatchedProcess], targets: &[WatchedProcess]) -> Vec<WatchedProcess> {
    let mut seen: Vec<WatchedProcess> = Vec::new();
    for process in watched {
        let asked_by = process.tier.as_ref().map(|tier| tier.asked_by_pid);
        let is_part_of = |one: &WatchedProcess| {
            let is_child = process.parent_pid == Some(one.pid) && one.start_ticks <= process.start_ticks;
            one.role == ProcessRole::Target && (is_child || asked_by == Some(one.pid))
        };
        let is_seen = process.role != ProcessRole::Target
            || targets.is_empty()
            || targets.iter().any(|one| one.is_same(process))
            || seen.iter().any(is_part_of);
        if is_seen {
            seen.push(process.clone());
        }
    }
    seen
}

/// Of processes that a sampler tells of, those that were not known, and those of which it is new that they are a tier.
pub(super) fn news(known: &[WatchedProcess], came: Vec<WatchedProcess>) -> Vec<WatchedProcess> {
    let is_known = |process: &WatchedProcess| {
        let same = known.iter().find(|known| known.is_same(process));
        same.is_some_and(|known| process.tier.is_none() || known.tier.is_some())
    };
    came.into_iter().filter(|process| !is_known(process)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::event::Tier;
    use sysdyno_record::plan::Endpoint;

    #[test]
    fn that_a_process_is_a_tier_is_news() {
        let php = process(100, 10, 1, ProcessRole::Target);
        let address = Endpoint::Tcp(([127, 0, 0, 1], 9000).into());
        let tier = Tier { depth: 1, address, asked_by_pid: 50 };
        let behind = WatchedProcess { tier: Some(tier), ..php.clone() };
        let count = |known: &WatchedProcess, came: &WatchedProcess| {
            news(std::slice::from_ref(known), vec![came.clone()]).len()
        };
        assert_eq!(count(&php, &php), 0);
        assert_eq!(count(&php, &behind), 1);
        assert_eq!(count(&behind, &behind), 0);
        assert_eq!(count(&behind, &php), 0);
        assert_eq!(count(&php, &process(100, 11, 1, ProcessRole::Target)), 1, "another one has its number");
    }

    fn process(pid: u32, start_ticks: u64, parent_pid: u32, role: ProcessRole) -> WatchedProcess {
        let parent_pid = Some(parent_pid);
        WatchedProcess { parent_pid, ..WatchedProcess::new(pid, start_ticks, "x", role) }
    }

    #[test]
    fn what_a_server_has_started_under_load_is_its_own() {
        let target =
            |pid, start_ticks, parent_pid| process(pid, start_ticks, parent_pid, ProcessRole::Target);
        let watched = [
            target(100, 10, 1),
            target(200, 10, 1),
            process(300, 10, 1, ProcessRole::Generator),
            target(101, 20, 100),
            target(201, 20, 200),
            target(102, 30, 101),
            // Its parent had the id of a process that has ended.
            target(103, 5, 100),
        ];
        let seen = |targets: &[WatchedProcess]| -> Vec<u32> {
            of_targets(&watched, targets).iter().map(|process| process.pid).collect()
        };
        assert_eq!(seen(&watched[..1]), [100, 300, 101, 102]);
        assert_eq!(seen(&watched[1..2]), [200, 300, 201]);
        assert_eq!(seen(&[]).len(), watched.len());
    }
}
