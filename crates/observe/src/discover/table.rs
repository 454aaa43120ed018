//! The table of processes: each one's parent, session, and network namespace.

use crate::roots::Roots;
use crate::source::{pid_stat, read_once};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where network namespaces have names.
const NAMED_NAMESPACES: &str = "/run/netns";

/// A process of this host that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostProcess {
    /// Its id.
    pub pid: u32,
    /// Its parent.
    pub parent_pid: u32,
    /// The process that its session is named after.
    pub session_id: u32,
    /// When it started. Unit: ticks of `USER_HZ` since boot.
    pub start_ticks: u64,
    /// CPU time that it has used. Unit: ticks of `USER_HZ`.
    pub cpu_ticks: u64,
    /// CPU time of the children that it has waited for, and of those that these had waited for. Unit: ticks of `USER_HZ`.
    pub reaped_ticks: u64,
    /// Its threads.
    pub threads_count: u64,
    /// Whether its first thread sleeps and cannot be interrupted: it waits for a disk.
    pub is_blocked: bool,
    /// Its name, up to 15 bytes. Untrusted: its owner chose it.
    pub command: String,
}

/// A process by its id; `None` if it has ended or is hidden.
pub fn host_process(pid: u32) -> Option<HostProcess> {
    read(&Roots::host(), pid, &mut Vec::new())
}

/// All processes that have not ended, as far as they can be seen.
pub fn host_processes() -> Vec<HostProcess> {
    let roots = Roots::host();
    let Ok(entries) = std::fs::read_dir(&roots.proc) else { return vec![] };
    let mut buffer = Vec::new();
    let number =
        |entry: std::fs::DirEntry| u32::try_from(crate::source::decimal(entry.file_name().as_bytes())?).ok();
    entries.flatten().filter_map(number).filter_map(|pid| read(&roots, pid, &mut buffer)).collect()
}

/// Processes and all that descend from them, as far as these can be seen.
pub fn descendants(roots: &[u32]) -> Vec<u32> {
    let all = host_processes();
    let mut found: Vec<u32> =
        all.iter().map(|process| process.pid).filter(|pid| roots.contains(pid)).collect();
    // Each round finds the children of those that were found in the one before.
    let mut next = 0;
    while next < found.len() {
        let children = all.iter().filter(|process| process.parent_pid == found[next]);
        let new: Vec<u32> = children.map(|child| child.pid).filter(|pid| !found.contains(pid)).collect();
        found.extend(new);
        next += 1;
    }
    found
}

/// Inode of the network namespace that a process is in; `None` if it is gone or hidden.
pub fn network_namespace(pid: u32) -> Option<u64> {
    let path = Roots::host().in_proc(&format!("{pid}/ns/net"));
    std::fs::metadata(path).ok().map(|found| found.ino())
}

/// The name of a network namespace, by its inode; `None` if it has none.
///
/// Source: `/run/netns`, where `ip netns` names them.
pub fn network_namespace_name(inode: u64) -> Option<String> {
    let is_it = |path: &Path| std::fs::metadata(path).is_ok_and(|found| found.ino() == inode);
    let entries = std::fs::read_dir(NAMED_NAMESPACES).ok()?.flatten();
    let found = entries.map(|entry| entry.path()).find(|path| is_it(path))?;
    Some(found.file_name()?.to_str()?.to_owned())
}

/// The file that a loop device stands for, by the number of the device; `None` if it is no loop device, or has no file.
///
/// Source: `/sys/dev/block/MAJOR:MINOR/loop/backing_file`.
pub fn loop_file(device: u64) -> Option<PathBuf> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let path = Roots::host().in_sys(&format!("dev/block/{major}:{minor}/loop/backing_file"));
    let text = std::fs::read(path).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(text.trim_ascii_end())))
}

/// Whether a loop device stands for this file. Source: `/sys/block/loop*/loop/backing_file`.
pub fn is_looped(file: &Path) -> bool {
    let devices = std::fs::read_dir(Roots::host().in_sys("block")).into_iter().flatten().flatten();
    let backing = |device: std::fs::DirEntry| std::fs::read(device.path().join("loop/backing_file")).ok();
    devices.filter_map(backing).any(|text| text.trim_ascii_end() == file.as_os_str().as_bytes())
}

/// The id of this boot; `None` if it cannot be read.
pub fn boot_id() -> Option<String> {
    let path = Roots::host().in_proc("sys/kernel/random/boot_id");
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn read(roots: &Roots, pid: u32, buffer: &mut Vec<u8>) -> Option<HostProcess> {
    let text = read_once(&roots.in_proc(&format!("{pid}/stat")), buffer).ok()?;
    let stat = pid_stat::parse(text).ok().filter(|stat| !stat.is_dead())?;
    let command = String::from_utf8_lossy(stat.command).into_owned();
    let (parent_pid, session_id) = (stat.parent_pid, stat.session_id);
    let cpu_ticks = stat.user_ticks.saturating_add(stat.system_ticks);
    Some(HostProcess {
        pid,
        parent_pid,
        session_id,
        start_ticks: stat.start_ticks,
        cpu_ticks,
        reaped_ticks: stat.reaped_ticks,
        threads_count: stat.threads_count,
        is_blocked: stat.state == b'D',
        command,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As another file has it; 0 in a process namespace that leads no session.
    fn own_session() -> u32 {
        let status = std::fs::read_to_string("/proc/self/status").expect("it can be read");
        let line = status.lines().find_map(|line| line.strip_prefix("NSsid:")).expect("is there");
        line.split_whitespace().last().expect("has a value").parse().expect("is a number")
    }

    #[test]
    fn this_process_is_in_the_table() {
        let pid = std::process::id();
        let found = host_processes().into_iter().find(|process| process.pid == pid).expect("is there");
        // Other tests of this process use CPU meanwhile.
        let again = host_process(pid).expect("is there");
        assert!(again.cpu_ticks >= found.cpu_ticks);
        let HostProcess { cpu_ticks, threads_count, is_blocked, .. } = found;
        assert_eq!(found, HostProcess { cpu_ticks, threads_count, is_blocked, ..again });
        assert_eq!(found.parent_pid, std::os::unix::process::parent_id());
        assert_eq!(found.session_id, own_session());
        assert!(network_namespace(pid).is_some() && boot_id().is_some());
    }
}
