//! What the kernel shows of processes and control groups, and takes of them: the live host's, or a tree made for a test.

use crate::process;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Most threads of a process that are looked at.
const MAX_THREADS: usize = 4096;

/// Files and folders of processes and control groups, by absolute paths.
pub(super) trait GroupKernel {
    /// A file's text.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// Writes a text to a file that is there, in one call.
    fn write(&self, path: &Path, text: &str) -> io::Result<()>;

    /// Makes a folder, which makes a group.
    fn make(&self, path: &Path) -> io::Result<()>;

    /// Removes a folder, which removes a group that nobody is in.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Whether there is a file or a folder.
    fn has(&self, path: &Path) -> bool;

    /// The process that another one is a child of; `None`: it is gone.
    fn parent_pid(&self, pid: u32) -> Option<u32>;

    /// The groups of each thread of a process, as `/proc/PID/task/TID/cgroup` has them.
    fn groups_of_threads(&self, pid: u32) -> Vec<String>;
}

/// The live host.
pub(super) struct HostKernel;

impl GroupKernel for HostKernel {
    fn read(&self, path: &Path) -> io::Result<String> {
        fs::read_to_string(path)
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        let written = fs::OpenOptions::new().write(true).open(path)?.write(text.as_bytes())?;
        if written == text.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    fn make(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn has(&self, path: &Path) -> bool {
        path.exists()
    }

    fn parent_pid(&self, pid: u32) -> Option<u32> {
        process::parent_pid(pid).ok()
    }

    fn groups_of_threads(&self, pid: u32) -> Vec<String> {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let groups = threads.take(MAX_THREADS).map(|thread| fs::read_to_string(thread.path().join("cgroup")));
        groups.filter_map(Result::ok).collect()
    }
}
