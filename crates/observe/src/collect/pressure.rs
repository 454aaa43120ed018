//! Time lost to waiting for a resource: `/proc/pressure/*`.

use super::file::{FileCollector, Format, Place};
use super::{Collector, Table, counter};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::pressure;
use sysdyno_record::series::Column;

/// Pressure on the CPUs. Host-wide there is no time in which all waited for a CPU: some task had it.
pub(crate) fn cpu() -> Box<dyn Collector> {
    FileCollector::boxed(Place::Proc("pressure/cpu"), PressureFormat { names: &["psi.cpu_some_us"] })
}

/// Pressure on memory.
pub(crate) fn memory() -> Box<dyn Collector> {
    let names = &["psi.memory_some_us", "psi.memory_full_us"];
    FileCollector::boxed(Place::Proc("pressure/memory"), PressureFormat { names })
}

/// Pressure on input and output.
pub(crate) fn io() -> Box<dyn Collector> {
    let names = &["psi.io_some_us", "psi.io_full_us"];
    FileCollector::boxed(Place::Proc("pressure/io"), PressureFormat { names })
}

struct PressureFormat {
    /// Columns of `some` and, if there is one, of `full`.
    names: &'static [&'static str],
}

impl Format for PressureFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, _roots: &Roots) -> Result<(), ParseError> {
        let pressure = pressure::parse(text)?;
        if table.columns().is_empty() {
            table.replace(self.absent());
        }
        let values = [pressure.some_us, pressure.full_us];
        for (position, value) in values.into_iter().take(self.names.len()).enumerate() {
            table.set_count(position, value);
        }
        Ok(())
    }

    fn absent(&self) -> Vec<Column> {
        self.names.iter().map(|name| counter(*name, "us", "host")).collect()
    }
}
