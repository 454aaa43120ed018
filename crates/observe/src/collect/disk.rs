//! Activity of the block devices: `/proc/diskstats`.
//!
//! Whole devices only: a partition's requests are counted again in its device's line. A device gets its columns after its
//! first request.

use super::file::{FileCollector, FilePlace, Format};
use super::{Collector, Table};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::Shape;
use crate::source::diskstats::{self, Disk, SECTOR_BYTES};
use sysdyno_record::column;
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Proc("diskstats"), DiskFormat::default())
}

/// At most this many devices have columns.
const MAX_DISKS: usize = 128;
/// Columns of a device.
const WIDTH: usize = 10;

#[derive(Default)]
struct DiskFormat {
    /// Used devices and partitions, in the order of the file.
    known: Vec<Known>,
}

struct Known {
    name: Vec<u8>,
    /// Where its columns begin; `None`: it has none.
    position: Option<usize>,
}

impl DiskFormat {
    /// Sets the values; returns whether the used devices are those that are known.
    fn try_fill(&self, text: &[u8], table: &mut Table) -> Result<bool, ParseError> {
        let mut known = self.known.iter();
        let mut is_same = true;
        diskstats::parse(text, |disk| {
            if !is_used(&disk) {
                return;
            }
            match known.next() {
                Some(entry) if entry.name == disk.name => {
                    entry.position.into_iter().for_each(|position| set(table, position, &disk));
                }
                _ => is_same = false,
            }
        })?;
        Ok(is_same && known.next().is_none())
    }

    fn learn(&mut self, text: &[u8], table: &mut Table, roots: &Roots) -> Result<(), ParseError> {
        self.known.clear();
        let mut columns = Vec::new();
        diskstats::parse(text, |disk| {
            if !is_used(&disk) {
                return;
            }
            let name = String::from_utf8_lossy(disk.name);
            let is_shown = columns.len() < MAX_DISKS * WIDTH && is_whole(roots, &name);
            let position = is_shown.then_some(columns.len());
            self.known.push(Known { name: disk.name.to_vec(), position });
            if is_shown {
                columns.extend(columns_of(&format!("disk:{name}")));
            }
        })?;
        table.replace(columns);
        Ok(())
    }
}

impl Format for DiskFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, roots: &Roots) -> Result<(), ParseError> {
        if !self.try_fill(text, table)? {
            self.learn(text, table, roots)?;
            self.try_fill(text, table)?;
        }
        Ok(())
    }

    fn shape(&self) -> Shape {
        Shape::Records
    }

    fn absent(&self) -> Vec<Column> {
        columns_of("disk:*").to_vec()
    }
}

fn is_used(disk: &Disk<'_>) -> bool {
    disk.reads_count > 0 || disk.writes_count > 0
}

/// Whether it is a device and no partition of one; all are taken for devices where `/sys` does not tell.
fn is_whole(roots: &Roots, name: &str) -> bool {
    // The kernel writes a slash in a device's name as '!' in /sys.
    let path = roots.in_sys("block").join(name.replace('/', "!"));
    path.exists() || !roots.in_sys("block").exists()
}

fn set(table: &mut Table, position: usize, disk: &Disk<'_>) {
    let values: [Option<u64>; WIDTH] = [
        Some(disk.reads_count),
        Some(disk.writes_count),
        disk.flushes_count,
        Some(disk.read_sectors.saturating_mul(SECTOR_BYTES)),
        Some(disk.written_sectors.saturating_mul(SECTOR_BYTES)),
        Some(disk.io_ms),
        Some(disk.queue_ms),
        Some(disk.read_ms),
        disk.flush_ms,
        Some(disk.in_flight_count),
    ];
    values.into_iter().enumerate().for_each(|(offset, value)| table.set_count(position + offset, value));
}

fn columns_of(scope: &str) -> [Column; WIDTH] {
    [
        column::DISK_READS.of(scope),
        column::DISK_WRITES.of(scope),
        column::DISK_FLUSHES.of(scope),
        column::DISK_READ_BYTES.of(scope),
        column::DISK_WRITTEN_BYTES.of(scope),
        column::DISK_IO.of(scope),
        column::DISK_QUEUE.of(scope),
        column::DISK_READ.of(scope),
        column::DISK_FLUSH.of(scope),
        column::DISK_IN_FLIGHT.of(scope),
    ]
}
