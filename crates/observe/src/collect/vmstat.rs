//! The kernel's work to find free memory: chosen fields of `/proc/vmstat`.
//!
//! A field that this kernel does not have is listed with that reason: their names change with the kernel's version
//! (`allocstall` became one per zone in 4.10, `workingset_refault` one per kind in 5.9).

use super::file::{FileCollector, FilePlace, Format};
use super::{Collector, Table};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::Shape;
use crate::source::named::Picker;
use sysdyno_record::column::{HOST, MEMORY_DIRTY_LIMIT, VMSTAT};
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Proc("vmstat"), VmstatFormat { picker: Picker::new(FIELDS) })
}

/// Fields of the kernel: counters, and last [`LIMIT`].
const FIELDS: &[&str] = &[
    "pgfault",
    "pgmajfault",
    "pswpin",
    "pswpout",
    "pgscan_kswapd",
    "pgscan_direct",
    "pgscan_direct_throttle",
    "pgsteal_kswapd",
    "pgsteal_direct",
    "allocstall_dma",
    "allocstall_dma32",
    "allocstall_normal",
    "allocstall_movable",
    "kswapd_low_wmark_hit_quickly",
    "kswapd_high_wmark_hit_quickly",
    "workingset_refault_anon",
    "workingset_refault_file",
    "compact_stall",
    "compact_fail",
    "thp_fault_alloc",
    "thp_fault_fallback",
    "thp_collapse_alloc",
    "numa_miss",
    "numa_pages_migrated",
    "nr_dirtied",
    "nr_written",
    "drop_pagecache",
    "oom_kill",
    LIMIT,
];

/// Pages that may be dirty before those who write must wait. Unit: pages.
const LIMIT: &str = "nr_dirty_threshold";

struct VmstatFormat {
    picker: Picker,
}

impl Format for VmstatFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, _roots: &Roots) -> Result<(), ParseError> {
        self.picker.parse(text)?;
        if table.columns().is_empty() {
            table.replace(self.absent());
        }
        for (position, value) in self.picker.values().iter().enumerate() {
            let unit = if FIELDS[position] == LIMIT { rustix::param::page_size() as u64 } else { 1 };
            table.set_count(position, value.map(|value| value.saturating_mul(unit)));
        }
        Ok(())
    }

    fn shape(&self) -> Shape {
        Shape::Records
    }

    fn absent(&self) -> Vec<Column> {
        let column = |field: &&str| match *field {
            LIMIT => MEMORY_DIRTY_LIMIT.of(HOST),
            counter => VMSTAT.member(counter, HOST),
        };
        FIELDS.iter().map(column).collect()
    }
}
