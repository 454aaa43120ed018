//! Who else uses the disks that a server waits for: a backup, a search index, another service.
//!
//! Which disk a process uses is not known, only how much; so the neighbor is named beside the finding, and is no evidence.

use super::Case;
use crate::format::{bytes, name};
use crate::readings::{Window, process_scope};
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::column;
use sysdyno_record::event::{ProcessRole, WatchedProcess};

pub(super) const MOVED_LEAST: Threshold =
    Threshold::new("what another process reads from disks and writes to them", 1e6, "bytes/s", HOUSE);

/// What a process moves from disks and to them. Unit: bytes per second.
struct Moved<'a> {
    process: &'a WatchedProcess,
    read_hz: f64,
    written_hz: f64,
}

impl<'a> Moved<'a> {
    fn of(process: &'a WatchedProcess, window: &Window) -> Option<Moved<'a>> {
        let scope = process_scope(process);
        let hz = |column| window.growth(column, &scope)?.per_second();
        Some(Moved {
            process,
            read_hz: hz(column::PROCESS_READ_BYTES)?,
            written_hz: hz(column::PROCESS_WRITTEN_BYTES)?,
        })
    }

    fn sum_hz(&self) -> f64 {
        self.read_hz + self.written_hz
    }

    /// `'dd' (process 71), which is not part of the server, writes 7.9 MiB/s`.
    fn text(&self) -> String {
        let (does, hz) = if self.written_hz >= self.read_hz {
            ("writes", self.written_hz)
        } else {
            ("reads", self.read_hz)
        };
        let (command, pid) = (name(&self.process.command), self.process.pid);
        format!("'{command}' (process {pid}), which is not part of the server, {does} {}/s", bytes(hz))
    }
}

/// Names the process that uses the disks most, if that is none of the server's.
pub(super) fn tell(case: &mut Case<'_>, remedy: &str, view: &TrialView) {
    let window = view.server_steady();
    let of = |role| view.processes(role).into_iter().filter_map(|process| Moved::of(process, &window));
    let own_hz: f64 = of(ProcessRole::Target).map(|moved| moved.sum_hz()).sum();
    let neighbor = of(ProcessRole::Foreign).max_by(|one, other| one.sum_hz().total_cmp(&other.sum_hz()));
    let Some(neighbor) = neighbor.filter(|moved| moved.sum_hz() >= MOVED_LEAST.value.max(own_hz)) else {
        return;
    };
    case.title = format!("{}; {}", case.title, neighbor.text());
    let remedy = case.remedy.take().unwrap_or_else(|| remedy.to_owned());
    let command = name(&neighbor.process.command);
    case.remedy = Some(format!(
        "run '{command}' at another time, on another disk, or with a limit (ionice, io.max); else {remedy}"
    ));
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{Specimen, TARGET, with_tier};
    use sysdyno_record::analysis::Finding;
    use sysdyno_record::event::{ProcessRole, WatchedProcess};

    const BACKUP: u32 = TARGET + 60;

    /// A database at the disk, which writes so much, and a backup that writes so much. Unit: bytes per second.
    fn at_disk(own: f64, backup: f64) -> Finding {
        let case = slow().cpu(0.05, 0.05, 0.01).server(0.05);
        let case = with_tier(case, "mariadbd", "127.0.0.1:3306", 1, TARGET)
            .gauge("connections.established_count", "listener:127.0.0.1:3306", 200.0)
            .gauge("waits.threads_count", "tier:127.0.0.1:3306", 200.0)
            .gauge("waits.disk_count", "tier:127.0.0.1:3306", 180.0);
        let moved = |case: Specimen, pid, hz| {
            let scope = format!("process:{pid}");
            case.counter("process.read_bytes", &scope, 0.0).counter("process.written_bytes", &scope, hz)
        };
        let mut case = moved(moved(case, TARGET, own), BACKUP, backup);
        case.watched.push(WatchedProcess::new(BACKUP, 1, "dd", ProcessRole::Foreign));
        conclude(case).into_iter().find(|finding| finding.id == "D03").expect("a finding")
    }

    #[test]
    fn who_writes_more_than_the_server_is_named() {
        let found = at_disk(1e5, 8e6);
        let pid = BACKUP;
        assert!(
            found.title.ends_with(&format!(
                "; 'dd' (process {pid}), which is not part of the server, writes 7.6 MiB/s"
            )),
            "{found:?}"
        );
        assert!(found.remedy.is_some_and(|remedy| remedy.starts_with("run 'dd' at another time, ")));
        assert!(!at_disk(1e5, 5e5).title.contains("'dd'"), "it writes little");
        assert!(!at_disk(2e7, 8e6).title.contains("'dd'"), "the server writes more");
    }
}
