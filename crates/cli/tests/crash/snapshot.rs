//! Everything that can be set and be read: all of `/proc/sys`, tunables below `/sys`, masks of interrupts and queues.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Places whose readable files are compared.
const PLACES: [&str; 1] = ["/proc/sys"];

/// Folders whose subfolders hold files to compare, with the path from there.
const PATTERNS: &[(&str, &str)] = &[
    ("/proc/irq", ""),
    ("/sys/block", "queue"),
    ("/sys/kernel/mm", ""),
    ("/sys/devices/system/cpu", "cpufreq"),
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
    "scaling_governor",
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
    // Whoever attaches a file to one changes its queue.
    "/sys/block/loop",
];

/// The mask of what is not compared must not hide a setting that can be changed.
pub fn check_mask() {
    for tunable in sysdyno_tune::TUNABLES.iter().copied().flatten() {
        assert!(!is_volatile(&tunable.place()), "{} is not compared", tunable.id);
    }
}

fn is_volatile(path: &str) -> bool {
    VOLATILE.iter().any(|beginning| path.starts_with(beginning))
}

/// What everything was at a moment.
#[derive(Debug)]
pub struct Snapshot(BTreeMap<PathBuf, Vec<u8>>);

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
        } else if entry.file_name().to_str().is_some_and(|name| FILES.contains(&name)) {
            read_one(entry.path(), found);
        }
    }
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
