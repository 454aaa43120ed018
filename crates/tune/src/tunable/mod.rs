//! The table of settings that may be changed: one definition each, from which plan, list and documents come.
//!
//! A setting is in the table only if its old value, written back, makes the host what it was. What can be set in one
//! direction only, acts when written, or drags others along in ways that cannot be taken back, is in [`never`], with the
//! reason. Bounds are those of the kernel, narrowed where the rest of the range would leave no usable host.
//!
//! Sources are named per table: `admin-guide/…` and `networking/…` are below `Documentation/` of the kernel's source.

mod device;
mod file_system;
mod fs;
mod ip;
mod ipv6;
mod kernel;
mod link;
mod mount;
mod net_core;
mod never;
mod object;
mod process;
mod service;
mod tcp;
mod vm;

use crate::roots::Roots;
use crate::service::Service;
use crate::value::Kind;
pub use never::never;
use object::Object;
pub(crate) use object::Target;

/// How far a setting reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The whole host.
    Host,
    /// The network namespace that it is set in.
    Network,
    /// The whole host, and it can be set from the initial network namespace only.
    InitialNetwork,
    /// A device of the network.
    NetworkDevice,
    /// A device that is not of the network.
    Device,
    /// A service that reads the file.
    Service,
    /// What is mounted at a path; of options of the file system, every mount of it.
    Mount,
    /// A file system that is not mounted.
    FileSystem,
    /// A process.
    Process,
    /// A listening socket.
    Listener,
}

impl Scope {
    /// Whether it is still there after the host was booted.
    pub fn survives_boot(self) -> bool {
        matches!(self, Scope::Service | Scope::FileSystem)
    }

    /// The words for it.
    pub fn words(self) -> &'static str {
        match self {
            Scope::Host => "whole host",
            Scope::Network => "this network namespace",
            Scope::InitialNetwork => "whole host, from the initial network namespace",
            Scope::NetworkDevice | Scope::Device => "this device",
            Scope::Service => "the service that reads the file",
            Scope::Mount => "this mount; options of the file system, every mount of it",
            Scope::FileSystem => "this file system",
            Scope::Process => "this process",
            Scope::Listener => "this listener",
        }
    }
}

/// When a change is felt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// From now on, on everything.
    AtOnce,
    /// By connections and sockets that are made from now on.
    NewSockets,
    /// By a listener when it calls `listen` again, as most do only when they are restarted.
    NewListeners,
    /// When the service has read its files again, which it is told to.
    Reloaded,
    /// When the service is restarted, which is not done here.
    Restarted,
    /// When the file system is mounted the next time, which is not done here.
    Mounted,
    /// By processes that are started, or set their limits, from now on.
    NewProcesses,
}

impl Effect {
    /// The words for it.
    pub fn words(self) -> &'static str {
        match self {
            Effect::AtOnce => "at once",
            Effect::NewSockets => "on new sockets",
            Effect::NewListeners => "when a listener calls listen() again",
            Effect::Reloaded => "once the service has reloaded its files, which sysdyno asks it to do",
            Effect::Restarted => "when the service is restarted, which is left to you",
            Effect::Mounted => "when it is mounted the next time, which is left to you",
            Effect::NewProcesses => "on new processes",
        }
    }
}

/// What a wrong value can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Speed or memory of what uses it.
    Low,
    /// Failed connections or calls, or a good deal of memory.
    Medium,
    /// The use of the host.
    High,
}

/// A setting that may be changed.
#[derive(Clone, Copy, Debug)]
pub struct Tunable {
    /// Its name, as `sysctl` writes it; `*` stands for a device, a queue, a process or a port.
    pub id: &'static str,
    /// Where it lies.
    object: Object,
    /// What it holds.
    pub kind: Kind,
    /// Unit of its numbers.
    pub unit: &'static str,
    /// How far it reaches.
    pub scope: Scope,
    /// When a change is felt.
    pub effect: Effect,
    /// What a wrong value can do.
    pub risk: Risk,
    /// The setting that the kernel zeroes when this one is written, and the other way round.
    pub counterpart: Option<&'static str>,
    /// Files that the kernel sets anew when this one is written, and that are put back with it; `*` stands for the
    /// same as in the name, `+` for every folder, and a path that ends in `/` for every file of that folder.
    pub followers: &'static [&'static str],
    /// What it does, in two sentences.
    pub does: &'static str,
    /// Where that is said.
    pub source: &'static str,
}

impl Tunable {
    const fn new(id: &'static str, kind: Kind, unit: &'static str, does: &'static str) -> Tunable {
        Tunable {
            id,
            object: Object::Sysctl,
            kind,
            unit,
            scope: Scope::Host,
            effect: Effect::AtOnce,
            risk: Risk::Low,
            counterpart: None,
            followers: &[],
            does,
            source: "",
        }
    }

    const fn of(mut self, scope: Scope, source: &'static str) -> Tunable {
        self.scope = scope;
        self.source = source;
        self
    }

    const fn felt(mut self, effect: Effect) -> Tunable {
        self.effect = effect;
        self
    }

    const fn risks(mut self, risk: Risk) -> Tunable {
        self.risk = risk;
        self
    }

    const fn zeroes(mut self, counterpart: &'static str) -> Tunable {
        self.counterpart = Some(counterpart);
        self
    }

    const fn resets(mut self, followers: &'static [&'static str]) -> Tunable {
        self.followers = followers;
        self
    }

    const fn at(mut self, object: Object) -> Tunable {
        self.object = object;
        self
    }

    /// Where it lies, in words or as a path from the root; `*` stands for what it does in the name.
    pub fn place(&self) -> String {
        self.object.place(self.id)
    }

    /// Where it can be kept over a reboot; `None` if nowhere.
    pub fn persists_in(&self) -> Option<&'static str> {
        match self.object {
            Object::Sysctl => Some("/etc/sysctl.d"),
            Object::File { path, .. }
                if path.starts_with("/sys/block/") || path.starts_with("/sys/class/net/") =>
            {
                Some("/etc/udev/rules.d")
            }
            Object::File { path, .. } if path.starts_with("/sys/") => Some("/etc/tmpfiles.d"),
            Object::Limit(_) => Some("/etc/systemd/system"),
            _ => None,
        }
    }

    /// A path of the definition with each `*` replaced by what it is in `key`.
    pub(crate) fn filled(&self, path: &str, key: &str) -> String {
        object::parts(self.id, key).map_or_else(|| path.to_owned(), |parts| object::filled(path, &parts))
    }

    /// The service whose file this is set in, and the directive, by the name of the setting; `None` for others.
    pub(crate) fn directive(&self, key: &str) -> Option<(Service, String)> {
        let Object::Directive(service, directive) = self.object else { return None };
        let parts = object::parts(self.id, key)?;
        // The first part is the path of the file.
        Some((service, object::filled(directive, &parts[1..])))
    }

    /// Files that are there and that the kernel sets anew when the setting of this name is written.
    pub(crate) fn followers(&self, key: &str, roots: &Roots) -> std::io::Result<Vec<String>> {
        let mut all = Vec::new();
        for path in self.followers {
            all.extend(object::expanded(&self.filled(path, key), roots)?);
        }
        Ok(all)
    }

    /// Where the setting of this name lies: several places if several sockets listen on one port.
    ///
    /// # Errors
    /// There is no such thing, or it cannot be told from others.
    pub(crate) fn target(&self, key: &str, roots: &Roots) -> Result<Target, String> {
        self.object.target(self.id, key, roots)
    }
}

/// Greatest value of a kernel `int`.
const INT_MAX: i128 = i32::MAX as i128;

/// Greatest value of a kernel `unsigned long` that its parser takes.
const LONG_MAX: i128 = i64::MAX as i128;

const fn int(min: i128, max: i128) -> Kind {
    Kind::Integer { min, max }
}

/// A switch.
const FLAG: Kind = int(0, 1);

/// Every setting that may be changed, by subsystem.
pub const TUNABLES: &[&[Tunable]] = &[
    fs::TABLE,
    kernel::TABLE,
    vm::TABLE,
    net_core::TABLE,
    tcp::TABLE,
    ip::TABLE,
    ipv6::TABLE,
    device::TABLE,
    link::TABLE,
    mount::TABLE,
    file_system::TABLE,
    process::TABLE,
    service::TABLE,
];

/// The setting of this name.
pub fn find(key: &str) -> Option<&'static Tunable> {
    TUNABLES.iter().copied().flatten().find(|tunable| object::parts(tunable.id, key).is_some())
}

/// The name in the table that is most like `key`; `None` if none is.
pub(crate) fn nearest(key: &str) -> Option<&'static str> {
    let ids = TUNABLES.iter().copied().flatten().map(|tunable| tunable.id);
    let last_part = |id: &str| id.rsplit('.').next() == Some(key);
    if let Some(id) = ids.clone().find(|id| last_part(id)) {
        return Some(id);
    }
    let (id, edits) = ids.map(|id| (id, edits(key, id))).min_by_key(|(_, edits)| *edits)?;
    (edits <= 2 + id.len() / 8).then_some(id)
}

/// Insertions, deletions and substitutions from one text to the other (Levenshtein distance).
fn edits(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().take(128).collect();
    let mut row: Vec<usize> = (0..=from.len()).collect();
    for letter in to.chars() {
        let mut diagonal = row[0];
        row[0] += 1;
        for index in 0..from.len() {
            let substituted = diagonal + usize::from(from[index] != letter);
            diagonal = row[index + 1];
            row[index + 1] = substituted.min(diagonal + 1).min(row[index] + 1);
        }
    }
    row[from.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_setting_is_defined_once_and_in_full() {
        let all: Vec<&Tunable> = TUNABLES.iter().copied().flatten().collect();
        assert!(all.len() >= 80, "{}", all.len());
        let ids: BTreeSet<_> = all.iter().map(|tunable| tunable.id).collect();
        assert_eq!(ids.len(), all.len(), "a name is there twice");
        for tunable in all {
            let sentences = tunable.does.matches(['.', ';']).count();
            assert!(tunable.does.ends_with('.') && sentences >= 2, "{}: two sentences", tunable.id);
            assert!(!tunable.source.is_empty() && !tunable.unit.is_empty(), "{}", tunable.id);
            assert!(never(tunable.id).is_none(), "{} is refused and offered", tunable.id);
            if let Some(other) = tunable.counterpart {
                assert_eq!(find(other).and_then(|other| other.counterpart), Some(tunable.id));
            }
        }
    }

    #[test]
    fn misspelt_names_find_what_was_meant() {
        assert_eq!(nearest("net.core.somaxcon"), Some("net.core.somaxconn"));
        assert_eq!(nearest("somaxconn"), Some("net.core.somaxconn"));
        assert_eq!(nearest("net.ipv4.tcp_max_syn_backlogs"), Some("net.ipv4.tcp_max_syn_backlog"));
        assert_eq!(nearest("colour.of.the.case"), None);
    }

    #[test]
    fn names_with_a_device_find_their_definition() {
        let id = |key: &str| find(key).map(|tunable| tunable.id);
        assert_eq!(id("block.sda.read_ahead_kb"), Some("block.*.read_ahead_kb"));
        assert_eq!(id("netdev.eth0.100.rx-3.rps_cpus"), Some("netdev.*.rx-*.rps_cpus"));
        assert_eq!(id("listener.127.0.0.1:8080.backlog"), Some("listener.*.backlog"));
        assert_eq!(id("block..read_ahead_kb"), None);
        assert_eq!(id("block.*.read_ahead_kb"), None);
    }
}
