//! Soft interrupts by vector and CPU: `/proc/softirqs`.
//!
//! The file has a column for each *possible* CPU; those on which nothing has ever run are left out.

use super::file::{FileCollector, FilePlace, Format};
use super::{Collector, Table};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::softirqs::{self, Scratch};
use sysdyno_record::column::SOFTIRQ;
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Proc("softirqs"), SoftirqFormat::default())
}

#[derive(Default)]
struct SoftirqFormat {
    scratch: Scratch,
    latest: Layout,
    shown: Layout,
    /// Counts of the latest reading, vector by vector.
    counts: Vec<u64>,
}

/// Which vectors and CPUs there are.
#[derive(Clone, Default, PartialEq)]
struct Layout {
    /// Names of the vectors, each followed by a space.
    vectors: Vec<u8>,
    /// CPUs that ran something.
    cpus: Vec<u32>,
}

impl Format for SoftirqFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, _roots: &Roots) -> Result<(), ParseError> {
        let (counts, Layout { vectors, cpus }) = (&mut self.counts, &mut self.latest);
        counts.clear();
        vectors.clear();
        cpus.clear();
        let mut width = 0;
        softirqs::parse(text, &mut self.scratch, |row| {
            vectors.extend_from_slice(row.label);
            vectors.push(b' ');
            counts.extend(row.cells().map(|(_, count)| count));
            width = row.cells().count();
            for (cpu, _) in row.cells().filter(|(_, count)| *count > 0) {
                if let Err(place) = cpus.binary_search(&cpu) {
                    cpus.insert(place, cpu);
                }
            }
        })?;
        if self.latest != self.shown || table.columns().is_empty() {
            self.shown.clone_from(&self.latest);
            table.replace(self.columns());
        }
        self.set_values(table, width);
        Ok(())
    }

    fn absent(&self) -> Vec<Column> {
        vec![SOFTIRQ.of("cpu:*")]
    }
}

impl SoftirqFormat {
    fn columns(&self) -> Vec<Column> {
        let names = String::from_utf8_lossy(&self.shown.vectors).to_lowercase();
        let column = |name: &str, cpu: &u32| SOFTIRQ.member(&format!("{name}_count"), format!("cpu:{cpu}"));
        let of_vector = |name| self.shown.cpus.iter().map(move |cpu| column(name, cpu));
        names.split_terminator(' ').flat_map(of_vector).collect()
    }

    fn set_values(&self, table: &mut Table, width: usize) {
        let cpus = self.scratch.cpus();
        let mut position = 0;
        for counts in self.counts.chunks(width.max(1)) {
            for (cpu, count) in cpus.iter().zip(counts) {
                if self.shown.cpus.binary_search(cpu).is_ok() {
                    table.set_count(position, Some(*count));
                    position += 1;
                }
            }
        }
    }
}
