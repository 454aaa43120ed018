//! Open files of the host and their limit: `/proc/sys/fs/file-nr`.

use super::file::{FileCollector, FilePlace, Format};
use super::{Collector, Table};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::file_nr;
use sysdyno_record::column::{self, HOST};
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Proc("sys/fs/file-nr"), FileNrFormat)
}

struct FileNrFormat;

impl Format for FileNrFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, _roots: &Roots) -> Result<(), ParseError> {
        let files = file_nr::parse(text)?;
        if table.columns().is_empty() {
            table.replace(self.absent());
        }
        table.set_count(0, Some(files.allocated_count));
        table.set_count(1, Some(files.limit_count));
        Ok(())
    }

    fn absent(&self) -> Vec<Column> {
        vec![column::FILES_ALLOCATED.of(HOST), column::FILES_LIMIT.of(HOST)]
    }
}
