//! The start time of a process, which distinguishes it from a later one with the same ID.

use std::fs;
use std::io;

/// Start time of a process. Unit: clock ticks since boot. Source: `/proc/PID/stat` field 22.
pub(crate) fn start_ticks(pid: u32) -> io::Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let ticks = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(19)?.parse().ok());
    ticks.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}
