//! Where a setting lies, by its name, and what tells that a device is still the same one.

use crate::journal::Witness;
use crate::roots::Roots;
use crate::service::Service;
use crate::setting::{self, Group, Limit};
use std::io;

/// Most files that change with a setting.
const MAX_FOLLOWERS: usize = 4096;

/// What tells that an interface is still the same.
pub(super) const INTERFACE: &[&str] = &["/sys/class/net/*/ifindex", "/sys/class/net/*/address"];

/// Where a kind of settings lies.
#[derive(Clone, Copy, Debug)]
pub(super) enum Object {
    /// A file below `/proc/sys`, by the setting's name.
    Sysctl,
    /// A file of a device; each `*` is what it is in the name.
    File {
        /// Its path, from the root.
        path: &'static str,
        /// Paths of files that are as they were as long as the device is the same.
        witnesses: &'static [&'static str],
    },
    /// A limit of a process.
    Limit(Limit),
    /// The backlog of listening sockets.
    Backlog,
    /// The queueing discipline of a device.
    Qdisc,
    /// What a device itself is set to.
    Ethtool(Group),
    /// Options of what is mounted at a path.
    Mount,
    /// The journal of an ext3 or ext4 file system, by the path of its device or image.
    ExtJournal,
    /// A directive in a file of a service; each `*` is what it is in the name, after the path of the file.
    Directive(Service, &'static str),
}

/// Where one setting lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Its places; more than one if several sockets listen on one port.
    pub(crate) places: Vec<String>,
    /// What tells that the device is the same.
    pub(crate) witnesses: Vec<Witness>,
}

impl Object {
    /// Where it lies, in words.
    pub(super) fn place(self, id: &str) -> String {
        match self {
            Object::Sysctl => sysctl(id),
            Object::File { path, .. } => path.into(),
            Object::Limit(_) => "prlimit(2)".into(),
            Object::Backlog => "listen(2) on the socket itself".into(),
            Object::Qdisc => "rtnetlink(7): the root of the device".into(),
            Object::Ethtool(_) => "the netlink family ethtool".into(),
            Object::Directive(service, _) => format!("a file of {}", service.name()),
            Object::ExtJournal => "the file system itself, by tune2fs(8)".into(),
            Object::Mount => "mount(2): what is mounted at the path".into(),
        }
    }

    /// Where the setting of this name lies.
    pub(super) fn target(self, id: &str, key: &str, roots: &Roots) -> Result<Target, String> {
        let parts = parts(id, key).ok_or("it has no such name")?;
        let first = parts.first().copied().unwrap_or_default();
        let places = match self {
            Object::Sysctl => vec![sysctl(id)],
            Object::File { path, .. } => vec![filled(path, &parts)],
            Object::Limit(_) | Object::Backlog | Object::Qdisc | Object::Ethtool(_) | Object::Mount
                if !roots.is_host() =>
            {
                return Err("it can be changed on the live host only".into());
            }
            Object::Limit(limit) => {
                let pid = first.parse().map_err(|_| format!("'{first}' is not a process id"))?;
                vec![setting::limit_of(pid, limit).ok_or_else(|| format!("there is no process {pid}"))?]
            }
            Object::Backlog => setting::listeners(first)?,
            Object::Qdisc => vec![format!("qdisc:{}", setting::link(first)?)],
            Object::Directive(service, _) => vec![setting::config(service, first, roots)?],
            Object::Mount => vec![setting::mount::mounted(first)?],
            Object::ExtJournal => vec![setting::ext_journal(first, roots)?],
            Object::Ethtool(group) => vec![group.place(&setting::link(first)?)],
        };
        let witnesses = match self {
            Object::File { path, witnesses } if path.starts_with("/sys/class/net/") => {
                check_interface(first, roots)?;
                witnessed(witnesses, &parts, roots)
            }
            Object::File { witnesses, .. } => witnessed(witnesses, &parts, roots),
            Object::Qdisc | Object::Ethtool(_) => {
                check_interface(first, roots)?;
                witnessed(INTERFACE, &parts, roots)
            }
            _ => Vec::new(),
        };
        Ok(Target { places, witnesses })
    }
}

fn sysctl(id: &str) -> String {
    format!("/proc/sys/{}", id.replace('.', "/"))
}

/// A path with each `*` replaced by its part.
pub(super) fn filled(path: &str, parts: &[&str]) -> String {
    let mut parts = parts.iter();
    path.split('*').enumerate().fold(String::new(), |text, (index, piece)| {
        let part = if index == 0 { "" } else { parts.next().copied().unwrap_or_default() };
        text + part + piece
    })
}

/// The files that a path stands for: `+` in it is every folder, and `/` at its end every file.
///
/// # Errors
/// A folder cannot be read: what it holds is then not known, and is not nothing.
pub(super) fn expanded(path: &str, roots: &Roots) -> io::Result<Vec<String>> {
    if let Some((folder, rest)) = path.split_once("/+/") {
        let mut all = Vec::new();
        for name in names(folder, roots)? {
            all.extend(expanded(&format!("{folder}/{name}/{rest}"), roots)?);
        }
        all.truncate(MAX_FOLLOWERS);
        return Ok(all);
    }
    let files = match path.strip_suffix('/') {
        Some(folder) => names(folder, roots)?.into_iter().map(|name| format!("{folder}/{name}")).collect(),
        None => vec![path.to_owned()],
    };
    Ok(files.into_iter().filter(|path| setting::exists(roots, path)).collect())
}

/// What a folder holds, in order; nothing if it is not there.
fn names(folder: &str, roots: &Roots) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(roots.place(folder)) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let name = |entry: io::Result<std::fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let mut names = entries.take(MAX_FOLLOWERS).map(name).collect::<io::Result<Vec<String>>>()?;
    names.sort_unstable();
    Ok(names)
}

/// Witnesses that can be read; one that is not there cannot change either.
fn witnessed(paths: &[&str], parts: &[&str], roots: &Roots) -> Vec<Witness> {
    let witness = |path: &&str| {
        let path = filled(path, parts);
        let text = setting::read(roots, &path).ok()?;
        Some(Witness { path, text })
    };
    paths.iter().filter_map(witness).collect()
}

/// Refuses an interface that `/sys` shows and this network namespace does not have: `/sys` is then another one's.
fn check_interface(name: &str, roots: &Roots) -> Result<(), String> {
    if !roots.is_host() {
        return Ok(());
    }
    let shown = setting::read(roots, &format!("/sys/class/net/{name}/ifindex"));
    let shown = shown.map_err(|_| format!("there is no network device '{name}'"))?;
    let socket = rustix::net::socket(rustix::net::AddressFamily::UNIX, rustix::net::SocketType::DGRAM, None);
    let index = socket.and_then(|socket| rustix::net::netdevice::name_to_index(socket, name));
    match index {
        Ok(index) if index.to_string() == shown.trim() => Ok(()),
        _ => Err(format!("/sys shows '{name}' of another network namespace: mount a /sys of this one first")),
    }
}

/// What each `*` of `id` stands for in `key`; `None` if that is another name. A part is as long as it can be, may hold
/// dots, as names of devices and addresses do, and nothing that could lead elsewhere.
pub(super) fn parts<'a>(id: &str, key: &'a str) -> Option<Vec<&'a str>> {
    let mut pieces = id.split('*');
    let first = pieces.next()?;
    let mut rest = key.strip_prefix(first)?;
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, between)) = pieces.split_last() else { return rest.is_empty().then(Vec::new) };
    rest = rest.strip_suffix(last)?;
    let mut parts = Vec::new();
    for piece in between {
        let (part, after) = rest.rsplit_once(piece)?;
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    let mut all = parts.iter().enumerate();
    // A `*` behind a colon, and only the first, is a path.
    let is_allowed = |(index, part): (usize, &&str)| match index == 0 && first.ends_with(':') {
        true => is_path(part),
        false => is_plain(part),
    };
    all.all(is_allowed).then_some(parts)
}

/// Whether a part is a path that leads where it seems to.
fn is_path(part: &str) -> bool {
    let is_step = |step: &str| !step.is_empty() && step != "." && step != "..";
    let steps = part.strip_prefix('/').map(|rest| rest.is_empty() || rest.split('/').all(is_step));
    steps == Some(true) && part.len() < 4096 && !part.contains(char::is_control)
}

fn is_plain(part: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:@[]".contains(&byte);
    !part.is_empty() && part.len() <= 64 && part != "." && part != ".." && part.bytes().all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_names_lead_nowhere_else() {
        assert_eq!(parts("a.b", "a.b"), Some(vec![]));
        assert_eq!(parts("netdev.*.rx-*.rps_cpus", "netdev.a.rx-0.rx-1.rps_cpus"), Some(vec!["a.rx-0", "1"]));
        for wrong in
            ["block...read_ahead_kb", "block.a/b.read_ahead_kb", "block.a\nb.read_ahead_kb", "block.sda"]
        {
            assert_eq!(parts("block.*.read_ahead_kb", wrong), None, "{wrong}");
        }
        assert_eq!(parts("mount:*", "mount:/srv/my data"), Some(vec!["/srv/my data"]));
        assert_eq!(parts("mount:*", "mount:/"), Some(vec!["/"]));
        for wrong in ["mount:srv", "mount:/srv/", "mount:/srv/../etc", "mount:", "mount:/a//b", "mount:/a\nb"]
        {
            assert_eq!(parts("mount:*", wrong), None, "{wrong}");
        }
        assert_eq!(
            filled("/sys/class/net/*/queues/rx-*/rps_cpus", &["eth0", "1"]),
            "/sys/class/net/eth0/queues/rx-1/rps_cpus"
        );
    }
}
