//! Everything that can be set and be read: all of `/proc/sys`, tunables below `/sys`, masks of interrupts and queues.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Places whose readable files are compared.
const PLACES: [&str; 1] = ["/proc/sys"];

/// Folders whose subfolders hold files to compare, with the path from there.
const PATTERNS: &[(&str, &str)] = &[
    ("/proc/irq", ""),
    ("/sys/block", "queue"),
    ("/sys/kernel/mm", ""),
    ("/sys/devices/system/cpu/cpufreq", ""),
    ("/sys/class/net", ""),
];

/// Files of those subfolders that hold settings.
const FILES: &[&str] = &[
    "smp_affinity",
    "scheduler",
    "nr_requests",
    "read_ahead_kb",
    "rq_affinity",
    "nomerges",
    "wbt_lat_usec",
    "add_random",
    "iostats",
    "max_sectors_kb",
    "write_cache",
    "enabled",
    "defrag",
    "shmem_enabled",
    "async_depth",
    "scaling_governor",
    "scaling_setspeed",
    "energy_performance_preference",
    "scaling_min_freq",
    "scaling_max_freq",
    "tx_queue_len",
    "gro_flush_timeout",
    "napi_defer_hard_irqs",
    "mtu",
    "rps_cpus",
    "rps_flow_cnt",
    "xps_cpus",
];

/// Files and folders of the host that settings lie in.
const ETC: &[&str] = &[
    "/etc/sysctl.conf",
    "/etc/sysctl.d",
    "/etc/udev/rules.d",
    "/etc/tmpfiles.d",
    "/etc/systemd/system",
    "/etc/fstab",
    "/etc/nginx",
    "/etc/lighttpd",
    "/etc/php",
    "/etc/apache2",
    "/etc/mysql",
    "/etc/memcached.conf",
];

/// Values that change by themselves, by beginnings of their paths.
const VOLATILE: &[&str] = &[
    "/proc/sys/fs/dentry-state",
    "/proc/sys/fs/file-nr",
    "/proc/sys/fs/inode-nr",
    "/proc/sys/fs/inode-state",
    "/proc/sys/fs/quota/",
    "/proc/sys/fs/aio-nr",
    "/proc/sys/kernel/random/",
    "/proc/sys/kernel/ns_last_pid",
    "/proc/sys/kernel/pty/nr",
    "/proc/sys/kernel/perf_event_max_sample_rate",
    "/proc/sys/net/netfilter/nf_conntrack_count",
    "/proc/sys/kernel/hung_task_detect_count",
    // Any warning of the kernel, whoever it comes from.
    "/proc/sys/kernel/tainted",
];

/// Loop devices change their queue when somebody attaches a file to them; those with files of this name are compared.
pub const OWN_FILE: &str = "sysdyno-crash";

/// The variable by which processes are known that were started to be moved between control groups.
pub const MOVED: &str = "SYSDYNO_CRASH_MOVED=1";

/// Where the state folder has a file system of its own, which is mounted anew each time.
pub const STATE_DISK: &str = "state-disk";

/// Folders of which every file is a setting: parameters of schedulers and governors.
const FOLDERS: &[&str] = &["iosched", "schedutil", "ondemand", "conservative"];

/// The mask of what is not compared must not hide a setting that can be changed.
pub fn check_mask() {
    for tunable in sysdyno_tune::TUNABLES.iter().copied().flatten() {
        assert!(!is_volatile(&tunable.place()), "{} is not compared", tunable.id);
    }
}

fn is_volatile(path: &str) -> bool {
    VOLATILE.iter().any(|beginning| path.starts_with(beginning)) || is_foreign_loop(path)
}

/// Whether a path is of a loop device that is not ours.
fn is_foreign_loop(path: &str) -> bool {
    let device = path.strip_prefix("/sys/block/").and_then(|rest| rest.split('/').next());
    device.filter(|device| device.starts_with("loop")).is_some_and(|device| {
        let file = fs::read_to_string(format!("/sys/block/{device}/loop/backing_file"));
        !file.is_ok_and(|file| file.contains(OWN_FILE))
    })
}

/// What everything was at a moment.
#[derive(Debug)]
pub struct Snapshot(BTreeMap<PathBuf, Vec<u8>>);

/// What the root group lets disks write.
pub const DISK_LIMIT: &str = "/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device";

impl Snapshot {
    /// Reads everything.
    pub fn take() -> Snapshot {
        let mut found = BTreeMap::new();
        PLACES.iter().for_each(|place| read_below(Path::new(place), &mut found));
        for (folder, inner) in PATTERNS {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                read_named(&entry.path().join(inner), 3, &mut found);
            }
        }
        read_links(&mut found);
        read_mounts(&mut found);
        read_groups(&mut found);
        read_one(DISK_LIMIT.into(), &mut found);
        let own = fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
        let own = own.filter(|entry| entry.file_name().to_string_lossy().starts_with(OWN_FILE));
        own.for_each(|entry| read_files(&entry.path().join("etc"), &mut found));
        ETC.iter().for_each(|place| read_files(Path::new(place), &mut found));
        Snapshot(found)
    }

    /// How many values it holds.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Writes back what differs, as far as that goes.
    pub fn write_back(&self, now: &Snapshot) {
        let differing = self.0.iter().filter(|(path, bytes)| now.0.get(*path) != Some(*bytes));
        differing.for_each(|(path, bytes)| drop(fs::write(path, bytes)));
    }

    /// What differs, with both values.
    pub fn differences(&self, other: &Snapshot) -> Vec<String> {
        let text =
            |bytes: Option<&Vec<u8>>| bytes.map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned());
        let paths = self.0.keys().chain(other.0.keys().filter(|path| !self.0.contains_key(*path)));
        let pairs = paths.map(|path| (path, self.0.get(path), other.0.get(path)));
        let differing = pairs.filter(|(_, one, two)| one != two);
        differing
            .map(|(path, one, two)| format!("{}: {:?} became {:?}", path.display(), text(one), text(two)))
            .collect()
    }
}

fn read_below(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => read_below(&path, found),
            _ => read_one(path, found),
        }
    }
}

/// Files of known names, a few folders deep; links are not followed below the first.
fn read_named(folder: &Path, depth: u32, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth > 0 {
            read_named(&entry.path(), depth - 1, found);
        } else if is_named(&entry.path()) {
            read_one(entry.path(), found);
        }
    }
}

/// What other programs say of links: their attributes, queueing disciplines, offloads and queues.
fn read_links(found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for (program, arguments) in [("ip", "-details -oneline link show"), ("tc", "-details qdisc show")] {
        for line in said(program, arguments).lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            // `2: eth0: <...>` and `qdisc KIND HANDLE: dev eth0 ...`: the device, or all before what is set of it.
            let name = match program {
                "ip" => words.iter().take(2).copied().collect::<Vec<_>>().join(" "),
                _ => words
                    .iter()
                    .skip_while(|word| **word != "dev")
                    .take(4)
                    .copied()
                    .collect::<Vec<_>>()
                    .join(" "),
            };
            let all: &mut Vec<u8> = found.entry(format!("{program}/{name}").into()).or_default();
            // Discipline and length of the queue have entries of their own.
            let is_told = |index: usize| index > 0 && ["qdisc", "qlen"].contains(&words[index - 1]);
            let kept = words.iter().enumerate().filter(|(index, _)| program != "ip" || !is_told(*index));
            all.extend(kept.flat_map(|(_, word)| word.bytes().chain([b' '])));
        }
    }
    let names = fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    for name in names.map(|entry| entry.file_name().to_string_lossy().into_owned()) {
        for option in ["-k", "-l"] {
            let said = said("ethtool", &format!("{option} {name}"));
            found.insert(format!("ethtool {option}/{name}").into(), said.into_bytes());
        }
    }
}

/// Files below a folder, or one: owner, mode, time of the last change, and bytes.
fn read_files(place: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        read_files(&entry.path(), found);
    }
    let Ok(is) = fs::symlink_metadata(place) else { return };
    if is.is_file() {
        let head = format!("{}:{} {:o} {}.{}\n", is.uid(), is.gid(), is.mode(), is.mtime(), is.mtime_nsec());
        let bytes = [head.into_bytes(), fs::read(place).unwrap_or_default()].concat();
        found.insert(Path::new("file").join(place.strip_prefix("/").unwrap_or(place)), bytes);
    }
}

/// Mounts of ours, line by line; others come and go by themselves.
fn read_mounts(found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let list = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let is_own = |line: &&str| {
        line.contains(OWN_FILE) && line.contains(" ext4 ") && !line.contains(&format!("/{STATE_DISK} "))
    };
    for line in list.lines().filter(is_own) {
        let place = line.split(' ').nth(4).unwrap_or_default();
        found.insert(format!("mount/{place}").into(), line.into());
    }
}

/// Control groups of ours, and the groups of processes that were started to be moved.
fn read_groups(found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    // As process 1 sees them: a fresh /sys hides them.
    for hierarchy in ["cpu", "cpu,cpuacct", ""] {
        let at = Path::new("/proc/1/root/sys/fs/cgroup").join(hierarchy);
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("sysdyno-") {
                let quota = ["cpu.cfs_quota_us", "cpu.max"].map(|file| fs::read(entry.path().join(file)));
                let quota = quota.into_iter().flatten().next().unwrap_or_default();
                found.insert(Path::new("cgroup").join(hierarchy).join(entry.file_name()), quota);
            }
        }
    }
    let marked = |folder: &Path| {
        let environment = fs::read(folder.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == MOVED.as_bytes())
    };
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten().filter(|entry| marked(&entry.path())) {
        let groups = fs::read(entry.path().join("cgroup")).unwrap_or_default();
        found.insert(Path::new("cgroup/of").join(entry.file_name()), groups);
    }
}

/// What a program prints; nothing if it is not there, at either time.
fn said(program: &str, arguments: &str) -> String {
    let output = Command::new(program).args(arguments.split(' ')).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

/// Whether a file is one that holds a setting.
fn is_named(path: &Path) -> bool {
    let is_one_of = |name: Option<&std::ffi::OsStr>, of: &[&str]| {
        name.and_then(std::ffi::OsStr::to_str).is_some_and(|name| of.contains(&name))
    };
    is_one_of(path.file_name(), FILES) || is_one_of(path.parent().and_then(Path::file_name), FOLDERS)
}

fn read_one(path: PathBuf, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    if is_volatile(&path.to_string_lossy()) {
        return;
    }
    // What cannot be read cannot be compared, at either time.
    if let Ok(bytes) = fs::read(&path) {
        found.insert(path, bytes);
    }
}
