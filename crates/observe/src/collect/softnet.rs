//! The network receive path of each CPU: `/proc/net/softnet_stat`, which is the host's in every namespace.

use super::file::{FileCollector, FilePlace, Format};
use super::{Collector, Table};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::Shape;
use crate::source::cpu_list;
use crate::source::softnet::{self, Softnet};
use sysdyno_record::column;
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Proc("net/softnet_stat"), SoftnetFormat::default())
}

#[derive(Default)]
struct SoftnetFormat {
    lines: Vec<Softnet>,
    /// The CPU of each line, which has columns.
    cpus: Vec<u32>,
}

/// Columns of a CPU.
const WIDTH: usize = 6;

impl SoftnetFormat {
    /// Whether the lines are still those that have columns.
    fn is_known(&self) -> bool {
        let mut pairs = self.lines.iter().zip(&self.cpus);
        self.lines.len() == self.cpus.len() && pairs.all(|(line, cpu)| line.cpu.is_none_or(|its| its == *cpu))
    }

    /// The CPU of each line. Kernels before 5.10 do not say it: their lines are those of the online CPUs, in order.
    fn find_cpus(&self, roots: &Roots) -> Vec<u32> {
        let told: Option<Vec<u32>> = self.lines.iter().map(|line| line.cpu).collect();
        told.unwrap_or_else(|| {
            let text = std::fs::read(roots.in_sys("devices/system/cpu/online")).unwrap_or_default();
            let online = cpu_list::parse(&text).ok().filter(|online| online.len() == self.lines.len());
            online.unwrap_or_else(|| (0..).zip(&self.lines).map(|(index, _)| index).collect())
        })
    }
}

impl Format for SoftnetFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, roots: &Roots) -> Result<(), ParseError> {
        softnet::parse(text, &mut self.lines)?;
        if !self.is_known() || table.columns().is_empty() {
            self.cpus = self.find_cpus(roots);
            let scopes = self.cpus.iter().map(|cpu| format!("cpu:{cpu}"));
            table.replace(scopes.flat_map(|scope| columns(&scope)).collect());
        }
        for (index, line) in self.lines.iter().enumerate() {
            for (place, value) in values(line).into_iter().enumerate() {
                table.set_count(index * WIDTH + place, value.map(u64::from));
            }
        }
        Ok(())
    }

    fn shape(&self) -> Shape {
        Shape::Records
    }

    fn absent(&self) -> Vec<Column> {
        columns("cpu:*").to_vec()
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
        column::SOFTNET_PROCESSED.of(scope),
        column::SOFTNET_DROPPED.of(scope),
        column::SOFTNET_TIME_SQUEEZE.of(scope),
        column::SOFTNET_RECEIVED_RPS.of(scope),
        column::SOFTNET_FLOW_LIMIT.of(scope),
        column::SOFTNET_BACKLOG.of(scope),
    ]
}
