//! A limit of a process that runs, as `prlimit(2)` sets it.
//!
//! Its text is the soft and the hard limit: `1024 4096`, with `unlimited` where there is none. A process is named by its
//! id and its start time.

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::fs;
use std::io;

/// A limit that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Open files.
    OpenFiles,
    /// Processes of its user.
    Processes,
    /// Memory that may be locked.
    LockedMemory,
}

/// Each with its name here, its name in `/proc/PID/limits`, and the kernel's resource.
const LIMITS: [(Limit, &str, &str, Resource); 3] = [
    (Limit::OpenFiles, "nofile", "Max open files", Resource::Nofile),
    (Limit::Processes, "nproc", "Max processes", Resource::Nproc),
    (Limit::LockedMemory, "memlock", "Max locked memory", Resource::Memlock),
];

/// The name of a limit of a process; `None` if there is no such process.
pub(crate) fn limit_of(pid: u32, limit: Limit) -> Option<String> {
    let (_, name, _, _) = LIMITS.iter().find(|(known, ..)| *known == limit)?;
    Some(format!("limit:{pid}:{}:{name}", start_ticks(pid).ok()?))
}

struct Named {
    pid: u32,
    heading: &'static str,
    resource: Resource,
    name: &'static str,
}

/// Understands `PID:START:NAME`, if that process is still the one.
fn named(rest: &str) -> io::Result<Named> {
    let gone = || io::Error::from(io::ErrorKind::NotFound);
    let mut parts = rest.split(':');
    let mut part = || parts.next().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput));
    let (pid, start, name) = (part()?, part()?, part()?);
    let pid: u32 = pid.parse().map_err(|_| gone())?;
    let known = LIMITS.iter().find(|(_, known, ..)| *known == name);
    let (_, name, heading, resource) = known.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    if start_ticks(pid)?.to_string() != start {
        return Err(gone());
    }
    Ok(Named { pid, heading, resource: *resource, name })
}

/// Start time of a process. Source: `/proc/PID/stat` field 22.
fn start_ticks(pid: u32) -> io::Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let ticks = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(19)?.parse().ok());
    ticks.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// Soft and hard limit.
pub(super) fn read(rest: &str) -> io::Result<String> {
    let named = named(rest)?;
    let limits = fs::read_to_string(format!("/proc/{}/limits", named.pid))?;
    let line = limits.lines().find_map(|line| line.strip_prefix(named.heading));
    let line = line.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    let values: Vec<&str> = line.split_whitespace().take(2).collect();
    Ok(values.join(" "))
}

/// Sets soft and hard limit.
pub(super) fn write(rest: &str, text: &str) -> io::Result<()> {
    let named = named(rest)?;
    let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
    let value = |word: &str| match word {
        "unlimited" => Ok(None),
        word => word.parse().map(Some).map_err(|_| invalid()),
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let [soft, hard] = words[..] else { return Err(invalid()) };
    let new = Rlimit { current: value(soft)?, maximum: value(hard)? };
    let pid = i32::try_from(named.pid).ok().and_then(Pid::from_raw).ok_or_else(invalid)?;
    prlimit(Some(pid), named.resource, new)?;
    Ok(())
}

/// A line of shell that sets it.
pub(super) fn shell_line(rest: &str, text: &str) -> String {
    match named(rest) {
        Ok(named) => format!("prlimit --pid {} --{}={}", named.pid, named.name, text.replace(' ', ":")),
        Err(_) => "# the process is gone, and its limits with it".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_a_process_that_runs_are_set_and_put_back() {
        let child = std::process::Command::new("sleep").arg("60").spawn();
        let mut child = child.expect("sleep can be run");
        let name = limit_of(child.id(), Limit::OpenFiles).expect("it runs");
        let rest = name.strip_prefix("limit:").expect("is a limit");
        let before = read(rest).expect("reads");
        let hard = before.split(' ').nth(1).expect("has a hard limit");
        write(rest, &format!("77 {hard}")).expect("sets");
        assert_eq!(read(rest).expect("reads"), format!("77 {hard}"));
        assert!(shell_line(rest, &before).starts_with("prlimit --pid "));
        write(rest, &before).expect("sets");
        assert_eq!(read(rest).expect("reads"), before);
        child.kill().expect("ends");
        child.wait().expect("ends");
        assert_eq!(read(rest).expect_err("is gone").kind(), io::ErrorKind::NotFound);
        assert_eq!(write(rest, &before).expect_err("is gone").kind(), io::ErrorKind::NotFound);
    }
}
