//! Time lost to waiting for a resource: `/proc/pressure/*`.

use super::file::{FileCollector, FilePlace, Format};
use super::{Collector, Table};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::pressure;
use sysdyno_record::column::{self, HOST, Quantity};
use sysdyno_record::series::Column;

/// Pressure on the CPUs. Host-wide there is no time in which all waited for a CPU: some task had it.
pub(crate) fn cpu() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Proc("pressure/cpu"), PressureFormat { columns: &[column::PSI_CPU_SOME] })
}

/// Pressure on memory.
pub(crate) fn memory() -> Box<dyn Collector> {
    let columns = &[column::PSI_MEMORY_SOME, column::PSI_MEMORY_FULL];
    FileCollector::boxed(FilePlace::Proc("pressure/memory"), PressureFormat { columns })
}

/// Pressure on input and output.
pub(crate) fn io() -> Box<dyn Collector> {
    let columns = &[column::PSI_IO_SOME, column::PSI_IO_FULL];
    FileCollector::boxed(FilePlace::Proc("pressure/io"), PressureFormat { columns })
}

struct PressureFormat {
    /// Columns of `some` and, if there is one, of `full`.
    columns: &'static [Quantity],
}

impl Format for PressureFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, _roots: &Roots) -> Result<(), ParseError> {
        let pressure = pressure::parse(text)?;
        if table.columns().is_empty() {
            table.replace(self.absent());
        }
        let values = [pressure.some_us, pressure.full_us];
        for (position, value) in values.into_iter().take(self.columns.len()).enumerate() {
            table.set_count(position, value);
        }
        Ok(())
    }

    fn absent(&self) -> Vec<Column> {
        self.columns.iter().map(|column| column.of(HOST)).collect()
    }
}
