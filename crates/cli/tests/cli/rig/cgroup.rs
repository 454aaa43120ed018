//! A cpu cgroup with a quota, of version 1 or 2, that is removed when the value is dropped.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Length of a quota period. Unit: microseconds.
const PERIOD_US: u64 = 100_000;

/// The cgroup.
pub struct CpuQuota {
    folder: PathBuf,
    is_v1: bool,
}

impl CpuQuota {
    /// A cgroup whose processes get this share of one CPU; `None` where one cannot be made.
    pub fn create(name: &str, percent: u64) -> Option<CpuQuota> {
        let name = format!("sysdyno-test-{name}-{}", std::process::id());
        let v1 = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"].map(Path::new);
        if let Some(root) = v1.into_iter().find(|root| root.join("cpu.cfs_quota_us").exists()) {
            let quota = CpuQuota::at(root.join(&name), true)?;
            quota.set("cpu.cfs_period_us", PERIOD_US.to_string())?;
            return quota.set_percent(percent).map(|()| quota);
        }
        let root = Path::new("/sys/fs/cgroup");
        let controllers = fs::read_to_string(root.join("cgroup.subtree_control")).ok()?;
        if !controllers.split_whitespace().any(|controller| controller == "cpu") {
            return None;
        }
        let quota = CpuQuota::at(root.join(&name), false)?;
        quota.set_percent(percent).map(|()| quota)
    }

    /// Gives its processes this share of one CPU from now on; `None` where that cannot be written.
    pub fn set_percent(&self, percent: u64) -> Option<()> {
        let quota_us = PERIOD_US * percent / 100;
        match self.is_v1 {
            true => self.set("cpu.cfs_quota_us", quota_us.to_string()),
            false => self.set("cpu.max", format!("{quota_us} {PERIOD_US}")),
        }
    }

    fn at(folder: PathBuf, is_v1: bool) -> Option<CpuQuota> {
        fs::create_dir(&folder).ok()?;
        Some(CpuQuota { folder, is_v1 })
    }

    fn set(&self, file: &str, value: String) -> Option<()> {
        fs::write(self.folder.join(file), value).ok()
    }

    /// Moves a process into it.
    pub fn admit(&self, pid: u32) {
        fs::write(self.folder.join("cgroup.procs"), pid.to_string()).expect("a process can be moved");
    }

    /// The shell command with which a process moves itself into it.
    pub fn enter(&self) -> String {
        format!("echo $$ > '{}/cgroup.procs'", self.folder.display())
    }
}

impl Drop for CpuQuota {
    fn drop(&mut self) {
        // A process that was just reaped can keep the folder busy for a moment.
        super::wait_until(Duration::from_secs(5), || fs::remove_dir(&self.folder).is_ok());
    }
}
