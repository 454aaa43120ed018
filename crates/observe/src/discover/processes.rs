//! Finds the processes that hold a socket, their descendants, and their identities.

use super::{tracer, unit};
use crate::error::ObserveError;
use crate::roots::Roots;
use crate::source::limits::{self, Limit};
use crate::source::{self, pid_io, pid_stat, read_once};
use crate::{clock, courtesy};
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;
use std::collections::HashSet;
use std::io::IoSliceMut;
use std::os::unix::ffi::OsStrExt;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::work::IoUsage;

/// Descriptors of one process that are looked at. The listening ones are opened first and have low numbers.
const MAX_DESCRIPTORS: usize = 100_000;

/// Descriptors of one call that are looked at.
const MAX_POLLED: usize = 4;

/// `struct pollfd`. Unit: bytes.
const POLLFD_BYTES: usize = 8;

/// Who a process is.
///
/// *Errors*: it does not exist, or is dead and not yet reaped.
pub fn describe_process(pid: u32, role: ProcessRole) -> Result<WatchedProcess, ObserveError> {
    describe(&Roots::host(), pid, role, &mut Vec::new())
}

/// The CPUs that the first thread of a process may run on; `None` if it is gone or hidden.
pub fn allowed_cpus(pid: u32) -> Option<Vec<u32>> {
    let pid = rustix::thread::Pid::from_raw(i32::try_from(pid).ok()?)?;
    let set = rustix::thread::sched_getaffinity(Some(pid)).ok()?;
    let cpus = 0..rustix::thread::CpuSet::MAX_CPU;
    Some(cpus.filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect())
}

/// Bytes read and written by a process and the children that it waited for; `None` if it is gone or hidden.
pub fn process_io(pid: u32) -> Option<IoUsage> {
    let mut buffer = Vec::new();
    let text = read_once(&Roots::host().in_proc(&format!("{pid}/io")), &mut buffer).ok()?;
    pid_io::parse(text).ok()
}

/// How many descriptors a process may have open; `None`: it is gone or hidden, or there is no limit. Source:
/// `/proc/PID/limits`.
pub fn process_descriptor_limit(pid: u32) -> Option<u64> {
    let mut buffer = Vec::new();
    let text = read_once(&Roots::host().in_proc(&format!("{pid}/limits")), &mut buffer).ok()?;
    match limits::parse_open_files(text).ok()?.soft {
        Limit::At(count) => Some(count),
        Limit::Unlimited => None,
    }
}

/// The process that started another one; `None` if that is gone or hidden.
pub fn parent_pid(pid: u32) -> Option<u32> {
    describe(&Roots::host(), pid, ProcessRole::Target, &mut Vec::new()).ok()?.parent_pid
}

/// CPU time of the children of this process that have ended and were waited for, with theirs. Unit: seconds, in ticks.
///
/// `None`: it cannot be read.
pub fn reaped_cpu_seconds() -> Option<f64> {
    let mut buffer = Vec::new();
    let text = read_once(&Roots::host().in_proc("self/stat"), &mut buffer).ok()?;
    let ticks = pid_stat::parse(text).ok()?.reaped_ticks;
    Some(ticks as f64 / rustix::param::clock_ticks_per_second().max(1) as f64)
}

/// CPU time of a process and of the children that it has waited for. Unit: microseconds; that of the children in ticks.
///
/// `None`: it is gone or hidden.
pub fn process_cpu_us(pid: u32) -> Option<u64> {
    let mut buffer = Vec::new();
    let text = read_once(&Roots::host().in_proc(&format!("{pid}/stat")), &mut buffer).ok()?;
    let stat = pid_stat::parse(text).ok()?;
    let reaped_us =
        stat.reaped_ticks.saturating_mul(1_000_000) / rustix::param::clock_ticks_per_second().max(1);
    Some(reaped_us.saturating_add(clock::process_cpu_ns(pid)? / 1000))
}

/// The processes that hold one of the sockets, and their descendants.
pub(crate) fn find_owners(roots: &Roots, inodes: &[u64]) -> Vec<WatchedProcess> {
    let mut holders: Vec<u32> = owners_by_inode(roots, inodes).into_iter().map(|(_, pid)| pid).collect();
    holders.retain(|pid| may_be_target(*pid));
    if holders.is_empty() { vec![] } else { with_descendants(roots, &list_processes(roots), &holders) }
}

/// Process 1 holds sockets for services that it starts, and this process is not what is measured.
fn may_be_target(pid: u32) -> bool {
    pid != 1 && pid != std::process::id()
}

/// Which process holds which of the sockets. *Cost*: a walk over the descriptors of all processes.
pub(super) fn owners_by_inode(roots: &Roots, inodes: &[u64]) -> Vec<(u64, u32)> {
    if inodes.is_empty() {
        return vec![];
    }
    list_pids(roots).into_iter().flat_map(|pid| held_by(roots, pid, inodes)).collect()
}

pub(super) fn held_by(roots: &Roots, pid: u32, inodes: &[u64]) -> Vec<(u64, u32)> {
    let Ok(descriptors) = std::fs::read_dir(roots.in_proc(&format!("{pid}/fd"))) else { return vec![] };
    let mut held = Vec::new();
    for descriptor in descriptors.flatten().take(MAX_DESCRIPTORS) {
        let Ok(link) = std::fs::read_link(descriptor.path()) else { continue };
        let inode = socket_inode(link.as_os_str().as_bytes()).filter(|inode| inodes.contains(inode));
        if let Some(inode) = inode.filter(|inode| !held.contains(&(*inode, pid))) {
            held.push((inode, pid));
            if held.len() == inodes.len() {
                break;
            }
        }
    }
    held
}

/// The inode of the socket behind a descriptor; `None`: it is none, or the process is gone or hidden.
pub(crate) fn target_of(roots: &Roots, pid: u32, descriptor: u64) -> Option<DescriptorTarget> {
    courtesy::give_way();
    let link = std::fs::read_link(roots.in_proc(&format!("{pid}/fd/{descriptor}"))).ok()?;
    let link = link.as_os_str().as_bytes();
    match socket_inode(link) {
        Some(inode) => Some(DescriptorTarget::Socket(inode)),
        None => link.starts_with(b"pipe:[").then_some(DescriptorTarget::Pipe),
    }
}

/// What a descriptor leads to, if it leads to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DescriptorTarget {
    /// A socket of this inode.
    Socket(u64),
    Pipe,
}

/// The number in `socket:[NUMBER]`.
fn socket_inode(link: &[u8]) -> Option<u64> {
    source::decimal(link.strip_prefix(b"socket:[")?.strip_suffix(b"]")?)
}

pub(super) fn list_pids(roots: &Roots) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(&roots.proc) else { return vec![] };
    let number =
        |entry: std::fs::DirEntry| u32::try_from(source::decimal(entry.file_name().as_bytes())?).ok();
    entries.flatten().filter_map(number).collect()
}

fn list_processes(roots: &Roots) -> Vec<WatchedProcess> {
    let mut buffer = Vec::new();
    let each = |pid| describe(roots, pid, ProcessRole::Target, &mut buffer).ok();
    list_pids(roots).into_iter().filter_map(each).collect()
}

fn describe(
    roots: &Roots,
    pid: u32,
    role: ProcessRole,
    buffer: &mut Vec<u8>,
) -> Result<WatchedProcess, ObserveError> {
    let path = roots.in_proc(&format!("{pid}/stat"));
    let text = read_once(&path, buffer)?;
    let stat = pid_stat::parse(text).map_err(ObserveError::malformed(&path))?;
    if stat.is_dead() {
        return Err(ObserveError::NoProcess { pid, cause: "it has ended".into() });
    }
    let command = String::from_utf8_lossy(stat.command).into_owned();
    let cpus = if roots.is_host() { allowed_cpus(pid) } else { None };
    let (start_ticks, parent_pid) = (stat.start_ticks, Some(stat.parent_pid));
    let unit = unit::of_process(roots, pid, buffer);
    Ok(WatchedProcess { cpus, parent_pid, unit, ..WatchedProcess::new(pid, start_ticks, command, role) })
}

/// Whether this descendant of a server was started by `parent` to take its log from a pipe: it reads from a pipe that is not the
/// parent's own input, and gives nothing back by another one, as a program that answers requests would.
pub(crate) fn is_log_reader(roots: &Roots, pid: u32, parent: &WatchedProcess) -> bool {
    let at = |pid: u32, number: u32| std::fs::read_link(roots.in_proc(&format!("{pid}/fd/{number}"))).ok();
    let has_own_pipe = |number: u32| {
        let own = at(pid, number).filter(|link| link.as_os_str().as_bytes().starts_with(b"pipe:["));
        own.is_some() && own != at(parent.pid, number)
    };
    parent.is_log_reader || (has_own_pipe(0) && !has_own_pipe(1))
}

/// The holders and their descendants, those that started first before the others.
fn with_descendants(roots: &Roots, all: &[WatchedProcess], holders: &[u32]) -> Vec<WatchedProcess> {
    let mut found: Vec<WatchedProcess> = Vec::new();
    let mut seen = HashSet::new();
    let mut waiting: Vec<u32> = holders.iter().rev().copied().collect();
    while let Some(pid) = waiting.pop() {
        if !may_be_target(pid) || !seen.insert(pid) {
            continue;
        }
        for mut process in all.iter().filter(|process| process.pid == pid).cloned() {
            let parent = found.iter().find(|parent| process.parent_pid == Some(parent.pid));
            process.is_log_reader =
                parent.is_some_and(|parent| !holders.contains(&pid) && is_log_reader(roots, pid, parent));
            process.tracer = tracer::of_process(roots, pid);
            found.push(process);
        }
        waiting
            .extend(all.iter().filter(|process| process.parent_pid == Some(pid)).map(|process| process.pid));
    }
    found.sort_unstable_by_key(|process| (process.start_ticks, process.pid));
    found
}

/// Children of a process; `None`: this kernel does not list them, or the process is gone.
///
/// Source: `/proc/PID/task/PID/children` (`CONFIG_PROC_CHILDREN`), the children of the first thread.
pub(crate) fn list_children(roots: &Roots, pid: u32, buffer: &mut Vec<u8>) -> Option<Vec<u32>> {
    let text = read_once(&roots.in_proc(&format!("{pid}/task/{pid}/children")), buffer).ok()?;
    Some(source::Fields::of(text).filter_map(|field| u32::try_from(source::decimal(field)?).ok()).collect())
}

/// The threads of a process; none if it is gone or hidden.
pub(crate) fn list_tasks(roots: &Roots, pid: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(roots.in_proc(&format!("{pid}/task"))) else { return vec![] };
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    entries.flatten().filter_map(number).collect()
}

/// The descriptors that a thread polls, which it has listed in its memory, as far as they can be read.
pub(crate) fn polled(pid: u32, address: u64, count: u64) -> Vec<u64> {
    let count = usize::try_from(count).unwrap_or(0).min(MAX_POLLED);
    let mut bytes = [0; MAX_POLLED * POLLFD_BYTES];
    let whole = read_memory(pid, address, &mut bytes[..count * POLLFD_BYTES]) / POLLFD_BYTES;
    let descriptor = |entry: &[u8]| {
        let number = i32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]);
        u64::try_from(number).ok()
    };
    bytes.chunks_exact(POLLFD_BYTES).take(whole.min(count)).filter_map(descriptor).collect()
}

/// Reads memory of a process; returns how many bytes, 0 if it may not be read.
pub(crate) fn read_memory(pid: u32, address: u64, bytes: &mut [u8]) -> usize {
    let (Ok(pid), Ok(base)) = (i32::try_from(pid), usize::try_from(address)) else { return 0 };
    let remote = [RemoteIoVec { base, len: bytes.len() }];
    process_vm_readv(Pid::from_raw(pid), &mut [IoSliceMut::new(bytes)], &remote).unwrap_or(0)
}

/// A process as a part of the target; `None`: it is gone, or may not be one.
pub(crate) fn describe_target(roots: &Roots, pid: u32, buffer: &mut Vec<u8>) -> Option<WatchedProcess> {
    let process = describe(roots, pid, ProcessRole::Target, buffer).ok().filter(|_| may_be_target(pid))?;
    Some(WatchedProcess { tracer: tracer::of_process(roots, pid), ..process })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::find_target_processes;
    use sysdyno_record::plan::Endpoint;

    fn child(pid: u32, parent_pid: u32) -> WatchedProcess {
        let parent_pid = Some(parent_pid);
        WatchedProcess { parent_pid, ..WatchedProcess::new(pid, 1, "x", ProcessRole::Target) }
    }

    #[test]
    fn workers_of_a_holder_belong_to_the_target() {
        let all =
            [child(100, 1), child(101, 100), child(102, 100), child(103, 102), child(104, 1), child(1, 0)];
        let pids = |holders: &[u32]| -> Vec<u32> {
            with_descendants(&Roots::at("/nowhere"), &all, holders)
                .iter()
                .map(|process| process.pid)
                .collect()
        };
        assert_eq!(pids(&[100, 101]), [100, 101, 102, 103]);
        assert_eq!(pids(&[1, 104]), [104], "process 1 and its children are not the target");
    }

    #[test]
    fn a_descriptor_leads_to_a_socket_a_pipe_or_nobody() {
        use std::os::fd::AsRawFd;
        let of = |descriptor: i32| target_of(&Roots::host(), std::process::id(), descriptor as u64);
        let (reader, _writer) = std::io::pipe().expect("can be made");
        assert_eq!(of(reader.as_raw_fd()), Some(DescriptorTarget::Pipe));
        let (socket, _peer) = std::os::unix::net::UnixStream::pair().expect("can be made");
        assert!(matches!(of(socket.as_raw_fd()), Some(DescriptorTarget::Socket(inode)) if inode > 0));
        let file = std::fs::File::open("/proc/self/stat").expect("is there");
        assert_eq!(of(file.as_raw_fd()), None);
    }

    #[test]
    fn loops_of_parents_end() {
        let all = [child(100, 101), child(101, 100)];
        assert_eq!(with_descendants(&Roots::at("/nowhere"), &all, &[100]).len(), 2);
    }

    #[test]
    fn this_process_is_described_and_never_a_target() {
        let me = describe_process(std::process::id(), ProcessRole::Generator).expect("exists");
        assert!(me.start_ticks > 0 && !me.command.is_empty());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
        let address = Endpoint::Tcp(listener.local_addr().expect("is bound"));
        assert_eq!(find_target_processes(&address).expect("searches"), []);
    }

    #[test]
    fn a_process_that_is_not_there_is_an_error() {
        let error = describe_process(u32::MAX, ProcessRole::Target).expect_err("no such process").to_string();
        assert!(error.starts_with("cannot open '/proc/4294967295/stat'"), "{error}");
    }

    #[test]
    fn the_descriptors_of_a_poll_are_read_from_memory() {
        let entries = [7u64, 9 | 5 << 32, u64::from(u32::MAX)];
        let address = entries.as_ptr() as u64;
        if cfg!(target_endian = "little") {
            assert_eq!(polled(std::process::id(), address, 3), [7, 9], "a negative one is passed over");
        }
        assert_eq!(polled(std::process::id(), 0, 3), [0; 0]);
    }

    #[test]
    fn who_reads_a_pipe_of_its_own_and_writes_none_takes_a_log() {
        let root = tempfile::tempdir().expect("a folder");
        let roots = Roots::at(root.path());
        let opens = |pid: u32, [input, output]: [&str; 2]| {
            let folder = roots.in_proc(&format!("{pid}/fd"));
            std::fs::create_dir_all(&folder).expect("a folder");
            std::os::unix::fs::symlink(input, folder.join("0")).expect("a link");
            std::os::unix::fs::symlink(output, folder.join("1")).expect("a link");
        };
        opens(100, ["pipe:[1]", "pipe:[2]"]);
        opens(101, ["pipe:[3]", "pipe:[2]"]);
        opens(102, ["pipe:[1]", "pipe:[2]"]);
        opens(103, ["pipe:[4]", "pipe:[5]"]);
        opens(104, ["/dev/null", "pipe:[2]"]);
        let readers = (101..=104).filter(|pid| is_log_reader(&roots, *pid, &child(100, 1)));
        assert_eq!(readers.collect::<Vec<_>>(), [101], "102 has its parent's, 103 is a CGI program");
        let all = [child(100, 1), child(101, 100), child(105, 101)];
        let found = with_descendants(&roots, &all, &[100]);
        let readers = found.iter().filter(|process| process.is_log_reader).map(|process| process.pid);
        assert_eq!(readers.collect::<Vec<_>>(), [101, 105], "its children are as well");
    }
}
