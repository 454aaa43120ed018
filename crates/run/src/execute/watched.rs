//! Which of the processes that are measured belong to which server, where two are compared.

use sysdyno_record::event::{ProcessRole, WatchedProcess};

/// The processes without those of other targets. One that a target has started later is a part of it.
pub(super) fn of_targets(watched: &[WatchedProcess], targets: &[WatchedProcess]) -> Vec<WatchedProcess> {
    let mut seen: Vec<WatchedProcess> = Vec::new();
    for process in watched {
        let is_child = |one: &WatchedProcess| {
            one.role == ProcessRole::Target
                && process.parent_pid == Some(one.pid)
                && one.start_ticks <= process.start_ticks
        };
        let is_seen = process.role != ProcessRole::Target
            || targets.is_empty()
            || targets.iter().any(|one| one.is_same(process))
            || seen.iter().any(is_child);
        if is_seen {
            seen.push(process.clone());
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, start_ticks: u64, parent_pid: u32, role: ProcessRole) -> WatchedProcess {
        let parent_pid = Some(parent_pid);
        WatchedProcess { pid, start_ticks, command: "x".into(), role, cpus: None, parent_pid }
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
