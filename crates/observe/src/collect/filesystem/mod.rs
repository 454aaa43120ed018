//! Space and inodes of the file systems that the server can write to, as seen by the server's first process: `statvfs`.
//!
//! A network or user-space file system is never queried, nor is one mounted below it: the reply may never come. The list of
//! mounts is read each time, because it changes.

mod mounts;

use super::{Collector, Pass, Table};
use crate::source::{mountinfo, read_once};
use mounts::{Candidate, choose};
use std::path::Path;
use sysdyno_record::column::{self, Quantity};
use sysdyno_record::event::ProcessRole;
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(FilesystemCollector::default())
}

/// Looks between two readings.
const LOOKS: u32 = 5;

/// Columns of a file system.
const OF_FILESYSTEM: [Quantity; 4] =
    [column::FS_SIZE, column::FS_FREE, column::FS_INODES, column::FS_FREE_INODES];

#[derive(Default)]
struct FilesystemCollector {
    table: Table,
    /// Looks until the next reading.
    wait: u32,
}

/// The values of a file system, or why there are none.
type Space = [Result<u64, String>; OF_FILESYSTEM.len()];

impl Collector for FilesystemCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        self.table.clear();
        if !pass.is_look() || !pass.scene.roots.is_host() {
            return;
        }
        if self.wait > 0 {
            self.wait -= 1;
            return;
        }
        self.wait = LOOKS - 1;
        let target = pass.scene.first(ProcessRole::Target).map(|process| process.pid.to_string());
        let process = target.as_deref().unwrap_or("self");
        let spaces = read_spaces(&pass.scene.roots.in_proc(process), pass.buffer);
        let spaces = spaces
            .unwrap_or_else(|reason| vec![("*".to_owned(), OF_FILESYSTEM.map(|_| Err(reason.clone())))]);
        self.table.replace(spaces.iter().flat_map(|(point, space)| columns(point, space)).collect());
        for (position, value) in spaces.into_iter().flat_map(|(_, space)| space).enumerate() {
            self.table.set_count(position, value.ok());
        }
    }

    fn hasten(&mut self) {
        self.wait = 0;
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}

fn columns(point: &str, space: &Space) -> Vec<Column> {
    let of = |(quantity, value): (Quantity, &Result<u64, String>)| {
        let mut column = quantity.of(format!("fs:{point}"));
        column.unavailable = value.as_ref().err().cloned();
        column
    };
    OF_FILESYSTEM.into_iter().zip(space).map(of).collect()
}

/// The file systems that the process of this folder of `/proc` sees, by where they are mounted.
fn read_spaces(process: &Path, buffer: &mut Vec<u8>) -> Result<Vec<(String, Space)>, String> {
    let path = process.join("mountinfo");
    let text = read_once(&path, buffer).map_err(|error| error.to_string())?;
    let mut candidates = Vec::new();
    mountinfo::parse(text, |mount| candidates.extend(Candidate::new(mount)))
        .map_err(|error| format!("cannot parse '{}': {error}", path.display()))?;
    let space = |point: String| {
        let space = read_space(&process.join("root").join(point.trim_start_matches('/')));
        (point, space)
    };
    Ok(choose(candidates).into_iter().map(space).collect())
}

fn read_space(path: &Path) -> Space {
    let found = match rustix::fs::statvfs(path) {
        Ok(found) => found,
        Err(error) => {
            let reason = format!("cannot read the size of the file system: {}", std::io::Error::from(error));
            return OF_FILESYSTEM.map(|_| Err(reason.clone()));
        }
    };
    let bytes = |blocks: u64| Ok(blocks.saturating_mul(found.f_frsize));
    let inodes = |count: u64| match found.f_files {
        0 => Err("the file system has no fixed number of inodes".to_owned()),
        _ => Ok(count),
    };
    [bytes(found.f_blocks), bytes(found.f_bavail), inodes(found.f_files), inodes(found.f_favail)]
}

#[cfg(test)]
mod tests;
