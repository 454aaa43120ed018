//! Tables of the kernel that have a limit: tracked connections, neighbors, and tasks.

use super::file::{FileCollector, FilePlace, Format};
use super::{Collector, Table};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::{decimal, loadavg, net_stat, read_once};
use sysdyno_record::column::{self, HOST, NETNS, Quantity};
use sysdyno_record::series::Column;

/// Connections that the firewall keeps track of, in the target's network namespace. Without conntrack there is no such file.
pub(crate) fn connections() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Net("stat/nf_conntrack"), ConnectionsFormat)
}

/// Neighbors (ARP) of the host; only its first network namespace has the file.
pub(crate) fn neighbors() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Proc("net/stat/arp_cache"), NeighborsFormat)
}

/// Processes and threads of the host.
pub(crate) fn tasks() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Proc("loadavg"), TasksFormat)
}

/// Sets the columns once, and the values; the last value is the least of these settings.
fn set(table: &mut Table, columns: Vec<Column>, values: &[Option<u64>], limits: &[Option<u64>]) {
    if table.columns().is_empty() {
        table.replace(columns);
    }
    let limit = limits.iter().flatten().min().copied();
    for (position, value) in values.iter().chain([&limit]).enumerate() {
        table.set_count(position, *value);
    }
}

/// A setting below `/proc/sys` that is one number.
fn setting(roots: &Roots, name: &str) -> Option<u64> {
    decimal(read_once(&roots.in_proc(&format!("sys/{name}")), &mut Vec::new()).ok()?.trim_ascii())
}

fn of(quantities: &[Quantity], scope: &str) -> Vec<Column> {
    quantities.iter().map(|quantity| quantity.of(scope)).collect()
}

/// Columns of tracked connections, the limit last.
const OF_CONNECTIONS: [Quantity; 4] = [
    column::CONNTRACK_ENTRIES,
    column::CONNTRACK_DROPS,
    column::CONNTRACK_EARLY_DROPS,
    column::CONNTRACK_LIMIT,
];

struct ConnectionsFormat;

impl Format for ConnectionsFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, roots: &Roots) -> Result<(), ParseError> {
        let stat = net_stat::parse(text, ["drop", "early_drop"])?;
        let [drops, early_drops] = stat.counts;
        let limit = setting(roots, "net/netfilter/nf_conntrack_max");
        let columns = of(&OF_CONNECTIONS, NETNS);
        set(table, columns, &[Some(stat.entries_count), drops, early_drops], &[limit]);
        Ok(())
    }

    fn absent(&self) -> Vec<Column> {
        // A host without conntrack has no such table, which is nothing to be missed.
        vec![]
    }
}

struct NeighborsFormat;

impl Format for NeighborsFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, roots: &Roots) -> Result<(), ParseError> {
        let stat = net_stat::parse(text, ["table_fulls"])?;
        let limit = setting(roots, "net/ipv4/neigh/default/gc_thresh3");
        let columns = of(&[column::NEIGHBORS, column::NEIGHBORS_FULL, column::NEIGHBORS_LIMIT], HOST);
        set(table, columns, &[Some(stat.entries_count), stat.counts[0]], &[limit]);
        Ok(())
    }

    fn absent(&self) -> Vec<Column> {
        // A network namespace does not show it, which is nothing to be missed.
        vec![]
    }
}

struct TasksFormat;

impl Format for TasksFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, roots: &Roots) -> Result<(), ParseError> {
        let tasks = loadavg::parse(text)?;
        let limits = ["kernel/pid_max", "kernel/threads-max"].map(|name| setting(roots, name));
        set(table, self.absent(), &[Some(tasks)], &limits);
        Ok(())
    }

    fn absent(&self) -> Vec<Column> {
        of(&[column::TASKS, column::TASKS_LIMIT], HOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut format: impl Format, text: &str, settings: &[(&str, &str)]) -> Vec<Option<f64>> {
        let folder = tempfile::tempdir().expect("makes a folder");
        for (name, value) in settings {
            let path = folder.path().join("proc/sys").join(name);
            std::fs::create_dir_all(path.parent().expect("has one")).expect("makes folders");
            std::fs::write(path, value).expect("writes");
        }
        let mut table = Table::default();
        format.fill(text.as_bytes(), &mut table, &Roots::at(folder.path())).expect("parses");
        table.values().to_vec()
    }

    #[test]
    fn a_table_is_shown_with_its_limit() {
        let text = "entries drop early_drop\n0000000a 1 2\n0000000a 1 0\n";
        let limit = [("net/netfilter/nf_conntrack_max", "262144\n")];
        let expected = [Some(10.0), Some(2.0), Some(2.0), Some(262_144.0)];
        assert_eq!(read(ConnectionsFormat, text, &limit), expected);
        let neighbors = "entries table_fulls\n00000002 00000003\n";
        assert_eq!(
            read(NeighborsFormat, neighbors, &[]),
            [Some(2.0), Some(3.0), None],
            "a container has no limit"
        );
    }

    #[test]
    fn tasks_have_two_limits_and_the_lower_one_counts() {
        let limits = [("kernel/pid_max", "32768\n"), ("kernel/threads-max", "192730\n")];
        assert_eq!(read(TasksFormat, "0 0 0 3/91 2184\n", &limits), [Some(91.0), Some(32_768.0)]);
    }
}
