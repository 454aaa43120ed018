//! Garbage collections of the server's Java virtual machines, as they count them (`hsperfdata`).
//!
//! Which file it is says the list of what the process has mapped; it is opened as the process sees it, so in a container as well. A
//! virtual machine with `-XX:-UsePerfData` has none, and no columns.

use super::{Collector, Pass, Table};
use crate::error::ObserveError;
use crate::roots::Roots;
use crate::source::{KeptFile, Shape, hsperfdata, lines, read_once};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use sysdyno_record::column;
use sysdyno_record::event::{ProcessRole, WatchedProcess};

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(JvmCollector::default())
}

/// At most this many virtual machines are read.
const MAX_JVMS: usize = 32;
/// Columns of each.
const WIDTH: usize = 2;

#[derive(Default)]
struct JvmCollector {
    table: Table,
    generation: u64,
    jvms: Vec<Jvm>,
}

struct Jvm {
    pid: u32,
    start_ticks: u64,
    file: KeptFile,
}

impl Jvm {
    /// Its file; `None`: the process is no virtual machine, keeps none, is gone, or hidden.
    fn find(roots: &Roots, process: &WatchedProcess, buffer: &mut Vec<u8>) -> Option<Jvm> {
        let folder = roots.in_proc(&process.pid.to_string());
        let program = std::fs::read_link(folder.join("exe")).ok()?;
        program.file_name().filter(|name| *name == "java")?;
        let mapped = read_once(&folder.join("maps"), buffer).ok()?;
        let path = lines(mapped).find_map(counters)?;
        let file = KeptFile::new(folder.join("root").join(path), Shape::Whole);
        Some(Jvm { pid: process.pid, start_ticks: process.start_ticks, file })
    }

    fn read(&mut self, buffer: &mut Vec<u8>) -> Result<hsperfdata::Collections, String> {
        let bytes = self.file.read(buffer).map_err(|error| error.to_string())?;
        let found = hsperfdata::parse(bytes);
        found.map_err(|error| ObserveError::malformed(self.file.path())(error).to_string())
    }
}

/// The path of a file of counters in a line of `maps`, without its slash; `None`: it is of another file.
fn counters(line: &[u8]) -> Option<&Path> {
    let at = line.iter().position(|byte| *byte == b'/')?;
    let path = Path::new(OsStr::from_bytes(&line[at + 1..]));
    let folder = path.parent()?.file_name()?;
    let is_number = path.file_name()?.as_bytes().iter().all(u8::is_ascii_digit);
    (is_number && folder.as_bytes().starts_with(b"hsperfdata_")).then_some(path)
}

impl JvmCollector {
    /// Takes up the virtual machines that came.
    fn look(&mut self, pass: &mut Pass<'_>) {
        let mut old = std::mem::take(&mut self.jvms);
        for process in pass.scene.living(ProcessRole::Target) {
            if self.jvms.len() == MAX_JVMS {
                break;
            }
            let is_it = |jvm: &Jvm| (jvm.pid, jvm.start_ticks) == (process.pid, process.start_ticks);
            let known = old.iter().position(is_it).map(|at| old.swap_remove(at));
            self.jvms.extend(known.or_else(|| Jvm::find(&pass.scene.roots, process, pass.buffer)));
        }
        let columns = self.jvms.iter().flat_map(|jvm| {
            let scope = format!("process:{}", jvm.pid);
            [column::JVM_COLLECTIONS.of(&*scope), column::JVM_PAUSED.of(&*scope)]
        });
        self.table.replace(columns.collect());
    }
}

impl Collector for JvmCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        if self.generation != pass.scene.generation() {
            self.generation = pass.scene.generation();
            self.look(pass);
        }
        self.table.clear();
        for (index, jvm) in self.jvms.iter_mut().enumerate() {
            let read = jvm.read(pass.buffer);
            let (at, reason) = (index * WIDTH, read.as_ref().err());
            self.table.set_count(at, read.as_ref().ok().map(|found| found.count));
            self.table.set_count(at + 1, read.as_ref().ok().map(|found| found.paused_us));
            (at..at + WIDTH).for_each(|column| self.table.explain(column, reason.map(String::as_str)));
        }
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_counters_is_among_what_is_mapped() {
        let check = |line: &str, expected: Option<&str>| {
            assert_eq!(counters(line.as_bytes()), expected.map(Path::new), "{line}");
        };
        let begin = "7f66-7f67 rw-s 00000000 08:01 262  ";
        check(&format!("{begin}/tmp/hsperfdata_tom cat/4711"), Some("tmp/hsperfdata_tom cat/4711"));
        check(&format!("{begin}/tmp/hsperfdata_root/4711 (deleted)"), None);
        check(&format!("{begin}/usr/lib/jvm/lib/libjvm.so"), None);
        check(&format!("{begin}[heap]"), None);
        check("", None);
    }
}
