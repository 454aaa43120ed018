//! The network receive path of each CPU: `/proc/net/softnet_stat`, which is the host's in every namespace.

use super::file::{FileCollector, Format, Place};
use super::{Collector, Table, counter, gauge};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::softnet::{self, Softnet};
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    FileCollector::boxed(Place::Proc("net/softnet_stat"), SoftnetFormat { lines: vec![], cpus: vec![] })
}

struct SoftnetFormat {
    lines: Vec<Softnet>,
    /// CPUs that have columns.
    cpus: Vec<u32>,
}

/// Columns of a CPU.
const WIDTH: usize = 6;

impl SoftnetFormat {
    /// The CPU of each line. Old kernels do not say it: their lines are those of the online CPUs, which are numbered
    /// without gaps unless one was taken offline.
    fn cpus(&self) -> impl Iterator<Item = u32> {
        self.lines.iter().zip(0..).map(|(line, index)| line.cpu.unwrap_or(index))
    }
}

impl Format for SoftnetFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, _roots: &Roots) -> Result<(), ParseError> {
        softnet::parse(text, &mut self.lines)?;
        if !self.cpus().eq(self.cpus.iter().copied()) || table.columns().is_empty() {
            self.cpus = self.cpus().collect();
            let scopes = self.cpus.iter().map(|cpu| format!("cpu:{cpu}"));
            table.replace(scopes.flat_map(|scope| columns(&scope)).collect());
            self.explain(table);
        }
        for (index, line) in self.lines.iter().enumerate() {
            for (place, value) in values(line).into_iter().enumerate() {
                table.set_count(index * WIDTH + place, value.map(u64::from));
            }
        }
        Ok(())
    }

    fn absent(&self) -> Vec<Column> {
        columns("cpu:*").to_vec()
    }
}

impl SoftnetFormat {
    fn explain(&self, table: &mut Table) {
        for (index, line) in self.lines.iter().enumerate() {
            for (place, _) in values(line).iter().enumerate().filter(|(_, value)| value.is_none()) {
                table.explain(
                    index * WIDTH + place,
                    Some("this kernel does not print it in '/proc/net/softnet_stat'"),
                );
            }
        }
    }
}

fn values(line: &Softnet) -> [Option<u32>; WIDTH] {
    [
        Some(line.processed_count),
        Some(line.dropped_count),
        Some(line.time_squeeze_count),
        line.received_rps_count,
        line.flow_limit_count,
        line.backlog_count,
    ]
}

fn columns(scope: &str) -> [Column; WIDTH] {
    [
        counter("softnet.processed_count", "count", scope),
        counter("softnet.dropped_count", "count", scope),
        counter("softnet.time_squeeze_count", "count", scope),
        counter("softnet.received_rps_count", "count", scope),
        counter("softnet.flow_limit_count", "count", scope),
        gauge("softnet.backlog_count", "count", scope),
    ]
}
