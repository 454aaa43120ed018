//! TCP's limits on memory and on orphaned sockets, which no process owns anymore: `/proc/sys/net/ipv4`.
//!
//! Memory and orphans are limited for the whole host, and only its first network namespace has the files; connections in TIME-WAIT
//! are limited for each namespace. `/proc/sys/net` shows the namespace of the thread that reads: another one is entered by a
//! thread of its own, every ten seconds. That of the host is looked for where the processes are that started this one.

use super::cgroup::parents;
use super::link::is_same_namespace;
use super::{Collector, Pass, Table};
use crate::discover::in_namespace;
use crate::roots::Roots;
use crate::source::{Fields, read_once};
use std::io;
use std::path::Path;
use sysdyno_record::column::{self, NETNS, Quantity};
use sysdyno_record::event::ProcessRole;

pub(crate) fn collector() -> Box<dyn Collector> {
    let mut table = Table::default();
    table.replace(COLUMNS.map(|quantity| quantity.of(NETNS)).to_vec());
    Box::new(TcpLimitsCollector { table, wait: 0 })
}

/// Pressure and limit of memory, orphans, TIME-WAIT.
const COLUMNS: [Quantity; 4] = [
    column::SOCKSTAT_TCP_MEM_PRESSURE,
    column::SOCKSTAT_TCP_MEM_LIMIT,
    column::SOCKSTAT_TCP_ORPHAN_LIMIT,
    column::SOCKSTAT_TCP_TW_LIMIT,
];

/// The settings of the whole host, with the position of the number, in the order of their columns.
const HOST_WIDE: [(&str, usize); 3] = [("tcp_mem", 1), ("tcp_mem", 2), ("tcp_max_orphans", 0)];

/// The setting of a namespace.
const TIME_WAIT: &str = "tcp_max_tw_buckets";

/// Looks between two readings in another namespace.
const LOOKS: u32 = 10;

struct TcpLimitsCollector {
    table: Table,
    /// Looks until the next reading in another namespace.
    wait: u32,
}

/// A value, or why there is none.
type Answer = Result<u64, String>;

impl TcpLimitsCollector {
    fn set(&mut self, position: usize, answer: Answer) {
        self.table.explain(position, answer.as_ref().err().map(String::as_str));
        self.table.set_count(position, answer.ok());
    }

    /// Reads the limits of the host, which only its first network namespace shows.
    fn read_host_wide(&mut self, pass: &mut Pass<'_>, is_due: bool) {
        let roots = &pass.scene.roots;
        let mut answers = HOST_WIDE.map(|(name, field)| read_number(roots, name, field, pass.buffer));
        if roots.is_host() && answers.iter().all(Result::is_err) {
            if !is_due {
                return;
            }
            answers = read_as_parents(roots, pass.buffer).unwrap_or(answers);
        }
        for (position, answer) in answers.into_iter().enumerate() {
            self.set(position, answer);
        }
    }

    /// Reads the limit of the namespace that the target is in.
    fn read_time_wait(&mut self, pass: &mut Pass<'_>, is_due: bool) {
        let roots = &pass.scene.roots;
        let target = pass.scene.first(ProcessRole::Target).map(|process| process.pid);
        let other = target.filter(|pid| roots.is_host() && !is_same_namespace(roots, *pid));
        let Some(pid) = other else {
            let answer = read_number(roots, TIME_WAIT, 0, pass.buffer);
            return self.set(HOST_WIDE.len(), answer);
        };
        if !is_due {
            return;
        }
        let there = roots.clone();
        let read = move || Ok(read_number(&there, TIME_WAIT, 0, &mut Vec::new()));
        let reason = |error: io::Error| format!("cannot enter the network namespace of the target: {error}");
        let read = in_namespace(roots.in_proc(&format!("{pid}/ns/net")), read).map_err(reason);
        self.set(HOST_WIDE.len(), read.flatten());
    }
}

impl Collector for TcpLimitsCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        self.table.clear();
        if !pass.is_look() {
            return;
        }
        let is_due = self.wait == 0;
        self.wait = self.wait.checked_sub(1).unwrap_or(LOOKS - 1);
        self.read_host_wide(pass, is_due);
        self.read_time_wait(pass, is_due);
    }

    fn hasten(&mut self) {
        self.wait = 0;
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}

/// The limits of the host in the namespace of the nearest process that this one was started by and that sees them.
fn read_as_parents(roots: &Roots, buffer: &mut Vec<u8>) -> Option<[Answer; HOST_WIDE.len()]> {
    let others = parents(roots, buffer).into_iter().filter(|pid| !is_same_namespace(roots, *pid));
    others.into_iter().find_map(|pid| {
        let there = roots.clone();
        let read =
            move || Ok(HOST_WIDE.map(|(name, field)| read_number(&there, name, field, &mut Vec::new())));
        let answers = in_namespace(roots.in_proc(&format!("{pid}/ns/net")), read).ok()?;
        answers.iter().any(Result::is_ok).then_some(answers)
    })
}

/// One of the numbers of a setting of TCP.
fn read_number(roots: &Roots, name: &str, field: usize, buffer: &mut Vec<u8>) -> Answer {
    let path = roots.in_proc(&format!("sys/net/ipv4/{name}"));
    let text = read_once(&path, buffer).map_err(|error| error.to_string())?;
    nth_number(text, field).ok_or_else(|| malformed(&path))
}

fn nth_number(text: &[u8], field: usize) -> Option<u64> {
    Fields::of(text.trim_ascii()).nth(field).and_then(crate::source::decimal)
}

fn malformed(path: &Path) -> String {
    format!("cannot parse '{}': there is no such number", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::Beat;
    use crate::watch::Watchlist;

    #[test]
    fn limits_are_read_and_what_is_missing_has_a_reason() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let settings = folder.path().join("proc/sys/net/ipv4");
        std::fs::create_dir_all(&settings).expect("makes folders");
        std::fs::write(settings.join("tcp_mem"), "287901\t383869\t575802\n").expect("writes");
        std::fs::write(settings.join("tcp_max_orphans"), "many\n").expect("writes");
        let mut scene = Watchlist::new(Roots::at(folder.path()), None, vec![]);
        let mut collector = collector();
        let mut read = || {
            collector.read(&mut Pass { scene: &mut scene, buffer: &mut Vec::new(), beat: Beat::Second });
            let table = collector.table();
            let reasons = table.columns().iter().map(|column| column.unavailable.clone().unwrap_or_default());
            (table.values().to_vec(), reasons.collect::<Vec<_>>())
        };
        let (values, reasons) = read();
        assert_eq!(values, [Some(383_869.0), Some(575_802.0), None, None]);
        assert!(
            reasons[2].starts_with("cannot parse") && reasons[3].starts_with("cannot open"),
            "{reasons:?}"
        );
        std::fs::write(settings.join("tcp_max_tw_buckets"), "65536\n").expect("writes");
        assert_eq!(read().0[3], Some(65_536.0));
    }
}
