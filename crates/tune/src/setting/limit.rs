//! A limit of a running process, as set by `prlimit(2)`.
//!
//! Its text is the soft and the hard limit, such as `1024 4096`, or `unlimited` for no limit. A process is named by its ID
//! and its start time: `limit:PID:START:NAME`.

use super::at_boot::UNITS;
use super::{AtBoot, Setting, SettingFamily, SettingPlace, live_only};
use crate::name::SettingName;
use crate::process::start_ticks;
use crate::roots::TuneRoots;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::fmt;
use std::fs;
use std::io;

pub(super) const PREFIX: &str = "limit:";

/// One limit, of all processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessLimits {
    name: &'static str,
    /// Its name in `/proc/PID/limits`.
    heading: &'static str,
    /// Its name in units of systemd.
    directive: &'static str,
    resource: Resource,
}

/// Open files.
pub(crate) const OPEN_FILES: ProcessLimits = ProcessLimits {
    name: "nofile",
    heading: "Max open files",
    directive: "LimitNOFILE",
    resource: Resource::Nofile,
};

/// Processes of its user.
pub(crate) const PROCESSES: ProcessLimits = ProcessLimits {
    name: "nproc",
    heading: "Max processes",
    directive: "LimitNPROC",
    resource: Resource::Nproc,
};

/// Memory that may be locked.
pub(crate) const LOCKED_MEMORY: ProcessLimits = ProcessLimits {
    name: "memlock",
    heading: "Max locked memory",
    directive: "LimitMEMLOCK",
    resource: Resource::Memlock,
};

impl SettingFamily for ProcessLimits {
    fn place(&self, _: &str) -> String {
        "prlimit(2)".into()
    }

    fn find(&self, name: &SettingName<'_>, roots: &TuneRoots) -> Result<Vec<SettingPlace>, String> {
        live_only(roots)?;
        let first = name.first();
        let pid = first.parse().map_err(|_| format!("'{first}' is not a process id"))?;
        let start = start_ticks(pid).map_err(|_| format!("there is no process {pid}"))?;
        Ok(vec![SettingPlace::of(ProcessLimit { pid, start, limit: *self })])
    }

    fn persists_in(&self) -> Option<&'static str> {
        Some(UNITS)
    }
}

/// A limit of one process.
#[derive(Debug)]
pub(super) struct ProcessLimit {
    pid: u32,
    /// When the process was started. Unit: clock ticks since boot.
    start: u64,
    limit: ProcessLimits,
}

impl ProcessLimit {
    pub(super) fn parse(rest: &str) -> Option<ProcessLimit> {
        let mut parts = rest.split(':');
        let (pid, start, name) = (parts.next()?, parts.next()?, parts.next()?);
        let limit = [OPEN_FILES, PROCESSES, LOCKED_MEMORY].into_iter().find(|limit| limit.name == name)?;
        Some(ProcessLimit { pid: pid.parse().ok()?, start: start.parse().ok()?, limit })
    }

    /// Refuses a process that is not the one that was named.
    fn check_alive(&self) -> io::Result<()> {
        if start_ticks(self.pid)? == self.start { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

impl fmt::Display for ProcessLimit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{PREFIX}{}:{}:{}", self.pid, self.start, self.limit.name)
    }
}

impl Setting for ProcessLimit {
    fn read(&self, _: &TuneRoots) -> io::Result<String> {
        self.check_alive()?;
        let limits = fs::read_to_string(format!("/proc/{}/limits", self.pid))?;
        let line = limits.lines().find_map(|line| line.strip_prefix(self.limit.heading));
        let line = line.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        let values: Vec<&str> = line.split_whitespace().take(2).collect();
        Ok(values.join(" "))
    }

    fn write(&self, _: &TuneRoots, text: &str) -> io::Result<()> {
        self.check_alive()?;
        let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
        let value = |word: &str| match word {
            "unlimited" => Ok(None),
            word => word.parse().map(Some).map_err(|_| invalid()),
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let [soft, hard] = words[..] else { return Err(invalid()) };
        let new = Rlimit { current: value(soft)?, maximum: value(hard)? };
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).ok_or_else(invalid)?;
        prlimit(Some(pid), self.limit.resource, new)?;
        Ok(())
    }

    fn shell_line(&self, _: &TuneRoots, text: &str) -> String {
        match self.check_alive() {
            Ok(()) => {
                format!("prlimit --pid {} --{}={}", self.pid, self.limit.name, text.replace(' ', ":"))
            }
            Err(_) => "# the process is gone, and its limits with it".into(),
        }
    }

    fn at_boot(&self) -> AtBoot<'_> {
        AtBoot::Unit { pid: self.pid, name: self.limit.name, directive: self.limit.directive }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_a_process_that_runs_are_set_and_put_back() {
        let child = std::process::Command::new("sleep").arg("60").spawn();
        let mut child = child.expect("sleep can be run");
        let (roots, key) = (TuneRoots::host(), format!("process.{}.nofile", child.id()));
        let name = SettingName::of("process.*.nofile", &key).expect("is one");
        let limit = OPEN_FILES.find(&name, &roots).expect("it runs").remove(0);
        let before = limit.read(&roots).expect("reads");
        let hard = before.split(' ').nth(1).expect("has a hard limit");
        limit.write(&roots, &format!("77 {hard}")).expect("sets");
        assert_eq!(limit.read(&roots).expect("reads"), format!("77 {hard}"));
        assert!(limit.shell_line(&roots, &before).starts_with("prlimit --pid "));
        limit.write(&roots, &before).expect("sets");
        assert_eq!(limit.read(&roots).expect("reads"), before);
        child.kill().expect("ends");
        child.wait().expect("ends");
        assert_eq!(limit.read(&roots).expect_err("is gone").kind(), io::ErrorKind::NotFound);
        assert_eq!(limit.write(&roots, &before).expect_err("is gone").kind(), io::ErrorKind::NotFound);
    }
}
