//! Fields of `/proc/PID/stat` that say which process is which.

use std::fs;
use std::io;

/// Start time of a process, which distinguishes it from a later one with the same ID. Unit: clock ticks since boot.
/// Source: `/proc/PID/stat` field 22.
pub(crate) fn start_ticks(pid: u32) -> io::Result<u64> {
    field(pid, 22)
}

/// The process that another one is a child of. Source: `/proc/PID/stat` field 4.
pub(crate) fn parent_pid(pid: u32) -> io::Result<u32> {
    field(pid, 4)
}

/// A field, numbered from 1 as in proc(5); those before the third cannot be told apart.
fn field<T: std::str::FromStr>(pid: u32, number: usize) -> io::Result<T> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let found = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(number - 3)?.parse().ok());
    found.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}
