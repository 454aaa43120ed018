//! A group of our own below the one that some processes are in: made for them, and removed when they are back.
//!
//! Version 2 does not let a group with processes have child groups with controllers, except for controllers of threads, of
//! which `cpu` is one: there the child is a *threaded* group, whose memory and disk traffic still count for its parent.

use super::hierarchy::{GroupVersion, folder, mount};
use super::kernel::GroupKernel;
use super::members::{family, pids_of};
use rustix::io::Errno;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Rounds of moving processes, each of which finds those that were started in the one before.
const MAX_ROUNDS: usize = 64;

/// How often a group that is still busy with processes that have just ended is tried again, and how long between.
const MAX_TRIES: u32 = 2000;
const AGAIN: Duration = Duration::from_millis(1);

/// A group of our own, whether it is there or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnGroup {
    /// The process that it is made for, with its descendants.
    pub(super) pid: u32,
    /// When that was started. Unit: clock ticks since boot.
    pub(super) start: u64,
    pub(super) version: GroupVersion,
    /// The path of the group that the process was in, below the hierarchy's root.
    pub(super) parent: String,
}

impl OwnGroup {
    /// Understands `VERSION:PID:START:PARENT`.
    pub(super) fn parse(rest: &str) -> Option<OwnGroup> {
        let mut parts = rest.splitn(4, ':');
        let version = GroupVersion::parse(parts.next()?)?;
        let (pid, start) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let parent = parts.next()?.to_owned();
        folder(&PathBuf::new(), &parent)?;
        Some(OwnGroup { pid, start, version, parent })
    }

    /// The folder of the group that the processes come from.
    ///
    /// # Errors
    /// It is not there (`NotFound`), or its hierarchy is not mounted here.
    pub(super) fn parent_folder(&self, kernel: &dyn GroupKernel) -> io::Result<PathBuf> {
        let at = mount(kernel, self.version)?;
        let parent = folder(&at, &self.parent).filter(|parent| kernel.has(&parent.join("cgroup.procs")));
        parent.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Its own folder.
    ///
    /// # Errors
    /// As for [`OwnGroup::parent_folder`].
    pub(super) fn folder(&self, kernel: &dyn GroupKernel) -> io::Result<PathBuf> {
        Ok(self.parent_folder(kernel)?.join(format!("sysdyno-{}-{}", self.pid, self.start)))
    }

    /// Makes it, if it is not there.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn make(&self, kernel: &dyn GroupKernel) -> io::Result<PathBuf> {
        let (parent, own) = (self.parent_folder(kernel)?, self.folder(kernel)?);
        match kernel.make(&own) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
        if let GroupVersion::Two { enables } = self.version {
            if self.parent != "/" {
                kernel.write(&own.join("cgroup.type"), "threaded")?;
            }
            if enables {
                kernel.write(&parent.join("cgroup.subtree_control"), "+cpu")?;
            }
        }
        Ok(own)
    }

    /// Moves the process and its descendants into it, those that are in the group that it was in.
    ///
    /// # Errors
    /// One could not be moved, or new ones come without an end.
    pub(super) fn admit(&self, kernel: &dyn GroupKernel) -> io::Result<()> {
        let (parent, own) = (self.parent_folder(kernel)?, self.folder(kernel)?);
        for _ in 0..MAX_ROUNDS {
            let inside = pids_of(kernel, &own, self.version)?;
            let outside = family(self.pid, &pids_of(kernel, &parent, self.version)?, &inside, kernel);
            if outside.is_empty() {
                let is_in = inside.contains(&self.pid);
                return if is_in { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) };
            }
            outside.iter().try_for_each(|pid| admit_one(kernel, &own, *pid))?;
        }
        Err(io::Error::other("its processes start others faster than they can be moved"))
    }

    /// Moves everybody in it back, and removes it.
    ///
    /// # Errors
    /// One could not be moved, or it cannot be removed.
    pub(super) fn dissolve(&self, kernel: &dyn GroupKernel) -> io::Result<()> {
        let (parent, own) = (self.parent_folder(kernel)?, self.folder(kernel)?);
        for _ in 0..MAX_TRIES {
            for pid in pids_of(kernel, &own, self.version)? {
                admit_one(kernel, &parent, pid)?;
            }
            match kernel.remove(&own) {
                Err(error) if is_busy(&error) => std::thread::sleep(AGAIN),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => return self.disable(kernel),
            }
        }
        Err(io::Error::other(format!("'{}' stays busy", own.display())))
    }

    /// Disables the controller below the parent, if it was enabled for this group. Where somebody else uses it by now, it
    /// stays.
    fn disable(&self, kernel: &dyn GroupKernel) -> io::Result<()> {
        if self.version != (GroupVersion::Two { enables: true }) {
            return Ok(());
        }
        match kernel.write(&self.parent_folder(kernel)?.join("cgroup.subtree_control"), "-cpu") {
            Err(error) if is_busy(&error) => Ok(()),
            written => written,
        }
    }
}

impl fmt::Display for OwnGroup {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}:{}", self.version, self.pid, self.start, self.parent)
    }
}

/// Moves a process; one that has ended meanwhile is no trouble.
fn admit_one(kernel: &dyn GroupKernel, folder: &std::path::Path, pid: u32) -> io::Result<()> {
    match kernel.write(&folder.join("cgroup.procs"), &pid.to_string()) {
        Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => Ok(()),
        moved => moved,
    }
}

fn is_busy(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::BUSY.raw_os_error())
}
