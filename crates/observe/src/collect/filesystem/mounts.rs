//! Chooses the mounts whose space is read: writable mounts of local file systems, each device once.

use crate::source::mountinfo::Mount;

/// At most this many file systems have columns.
const MAX_FILESYSTEMS: usize = 12;
/// At most this many mounts are looked at.
const MAX_MOUNTS: usize = 4096;
/// Mounts at longer paths are left out. Unit: bytes.
const MAX_POINT_BYTES: usize = 200;

/// Kinds whose space is asked for.
const KINDS: &[&str] = &["ext2", "ext3", "ext4", "xfs", "btrfs", "overlay", "tmpfs", "f2fs", "zfs"];

/// Kinds that others may be mounted below: walking through them waits for nobody.
const PASSABLE_KINDS: &[&str] = &[
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "mqueue",
    "hugetlbfs",
    "ramfs",
    "rootfs",
    "squashfs",
    "erofs",
    "iso9660",
    "vfat",
];

/// Below these, file systems in memory hold nothing of a server.
const IRRELEVANT: &[&str] =
    &["/dev", "/proc", "/sys", "/run/user", "/run/credentials", "/run/lock", "/run/netns"];

/// A mount, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    device: Vec<u8>,
    point: String,
    kind: Kind,
    is_wanted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Its space is asked for.
    Asked,
    /// The same; one of many layers of containers, unless it is the root.
    Overlay,
    /// Others may be below it.
    Passable,
    /// It may make who asks wait.
    Unsafe,
}

impl Candidate {
    /// A mount; `None`: its path is none that could be shown.
    pub(super) fn new(mount: Mount<'_>) -> Option<Candidate> {
        let point = String::from_utf8(mount.point).ok().filter(|point| point.starts_with('/'))?;
        let is_shown = point.len() <= MAX_POINT_BYTES && !point.contains(char::is_control);
        let name = std::str::from_utf8(mount.kind).unwrap_or_default();
        let kind = match name {
            "overlay" => Kind::Overlay,
            name if KINDS.contains(&name) => Kind::Asked,
            name if PASSABLE_KINDS.contains(&name) || name.starts_with("cgroup") => Kind::Passable,
            _ => Kind::Unsafe,
        };
        let is_writable = |options: &[u8]| options.split(|byte| *byte == b',').any(|option| option == b"rw");
        let is_irrelevant = name == "tmpfs"
            && point != "/dev/shm"
            && IRRELEVANT.iter().any(|folder| is_at_or_below(&point, folder));
        let is_wanted = matches!(kind, Kind::Asked | Kind::Overlay)
            && is_writable(mount.options)
            && is_writable(mount.common_options)
            && !is_irrelevant
            && is_shown;
        Some(Candidate { device: mount.device.to_vec(), point, kind, is_wanted })
    }

    /// Whether it is hidden by a later mount, or lies below one that may make who asks wait.
    fn is_out_of_reach(&self, index: usize, all: &[Candidate]) -> bool {
        let is_in_the_way = |(other_index, other): (usize, &Candidate)| {
            let is_hiding = other_index > index;
            let is_other = other_index != index;
            is_other && (is_hiding || other.kind == Kind::Unsafe) && is_at_or_below(&self.point, &other.point)
        };
        all.iter().enumerate().any(is_in_the_way)
    }
}

/// Whether a path is a folder or lies below it.
fn is_at_or_below(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Where the file systems are mounted that are asked, in the order of their columns: of each device the shortest path.
pub(super) fn choose(mut all: Vec<Candidate>) -> Vec<String> {
    all.truncate(MAX_MOUNTS);
    let wanted = all.iter().enumerate().filter(|(_, candidate)| candidate.is_wanted);
    let reachable = wanted.filter(|(index, candidate)| !candidate.is_out_of_reach(*index, &all));
    let mut chosen: Vec<&Candidate> = reachable.map(|(_, candidate)| candidate).collect();
    chosen.sort_by_key(|candidate| (candidate.point.len(), &candidate.point));
    let mut devices: Vec<&[u8]> = Vec::new();
    chosen.retain(|candidate| {
        let is_new = !devices.contains(&candidate.device.as_slice());
        devices.extend(is_new.then_some(candidate.device.as_slice()));
        is_new
    });
    chosen.sort_by_key(|candidate| candidate.kind == Kind::Overlay && candidate.point != "/");
    chosen.truncate(MAX_FILESYSTEMS);
    chosen.into_iter().map(|candidate| candidate.point.clone()).collect()
}
