//! Sockets in use in the target's network namespace: `sockstat`.

use super::file::{FileCollector, FilePlace, Format};
use super::{Collector, Table};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::sockstat;
use sysdyno_record::column::{self, NETNS};
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Net("sockstat"), SockstatFormat)
}

struct SockstatFormat;

impl Format for SockstatFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, _roots: &Roots) -> Result<(), ParseError> {
        let sockstat = sockstat::parse(text)?;
        if table.columns().is_empty() {
            table.replace(self.absent());
        }
        let values = [
            sockstat.tcp_inuse_count,
            sockstat.tcp_orphan_count,
            sockstat.tcp_tw_count,
            sockstat.tcp_alloc_count,
            sockstat.tcp_mem_pages,
        ];
        for (position, value) in values.into_iter().enumerate() {
            table.set_count(position, value);
        }
        Ok(())
    }

    fn absent(&self) -> Vec<Column> {
        vec![
            column::SOCKSTAT_TCP_INUSE.of(NETNS),
            column::SOCKSTAT_TCP_ORPHAN.of(NETNS),
            column::SOCKSTAT_TCP_TW.of(NETNS),
            column::SOCKSTAT_TCP_ALLOC.of(NETNS),
            column::SOCKSTAT_TCP_MEM.of(NETNS),
        ]
    }
}
