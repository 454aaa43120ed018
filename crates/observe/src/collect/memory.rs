//! Memory of the host: `/proc/meminfo`.

use super::file::{FileCollector, FilePlace, Format};
use super::{Collector, Table};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::named::Picker;
use sysdyno_record::column::{self, HOST, Quantity};
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Proc("meminfo"), MemoryFormat { picker: Picker::new(FIELDS) })
}

/// Fields of the kernel, in kibibytes.
const FIELDS: &[&str] =
    &["MemTotal", "MemFree", "MemAvailable", "Cached", "Dirty", "Writeback", "Slab", "SwapTotal", "SwapFree"];

/// Their columns.
const COLUMNS: [Quantity; FIELDS.len()] = [
    column::MEMORY_TOTAL,
    column::MEMORY_FREE,
    column::MEMORY_AVAILABLE,
    column::MEMORY_CACHED,
    column::MEMORY_DIRTY,
    column::MEMORY_WRITEBACK,
    column::MEMORY_SLAB,
    column::MEMORY_SWAP_TOTAL,
    column::MEMORY_SWAP_FREE,
];

struct MemoryFormat {
    picker: Picker,
}

impl Format for MemoryFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, _roots: &Roots) -> Result<(), ParseError> {
        self.picker.parse(text)?;
        if table.columns().is_empty() {
            table.replace(self.absent());
        }
        for (position, kibibytes) in self.picker.values().iter().enumerate() {
            table.set_count(position, kibibytes.map(|kibibytes| kibibytes.saturating_mul(1024)));
        }
        Ok(())
    }

    fn absent(&self) -> Vec<Column> {
        COLUMNS.iter().map(|column| column.of(HOST)).collect()
    }
}
