//! The table of settings that may be changed: one definition each, from which plans, lists, and documents are made.
//!
//! A setting is in the table only if writing its old value back restores the host. Settings that can only be set in one
//! direction, that trigger an action when written, or that change others irreversibly are in [`never`], with the reason.
//! Bounds are the kernel's, narrowed where the rest of the range would make the host unusable.
//!
//! Sources are named per table: `admin-guide/…` and `networking/…` are below `Documentation/` of the kernel's source.

mod device;
mod effect;
mod file_system;
mod fs;
mod ip;
mod ipv6;
mod kernel;
mod link;
mod locate;
mod mount;
mod net_core;
mod never;
mod process;
mod service;
mod tcp;
mod vm;

use crate::setting::{SettingFamily, Sysctls};
use crate::value::ValueKind;
pub use effect::{EffectTime, Risk, Scope};
pub(crate) use locate::Located;
pub use never::never;

/// A setting that may be changed.
#[derive(Clone, Copy, Debug)]
pub struct Tunable {
    /// Its name, as `sysctl` writes it; `*` is a placeholder for a device, a queue, a process, or a port.
    pub id: &'static str,
    /// Its location.
    family: &'static dyn SettingFamily,
    /// What it holds.
    pub kind: ValueKind,
    /// Unit of its numbers.
    pub unit: &'static str,
    /// How far it reaches.
    pub scope: Scope,
    /// When a change is felt.
    pub effect: EffectTime,
    /// What a wrong value can do.
    pub risk: Risk,
    /// The setting that the kernel zeroes when this one is written, and the other way round.
    pub counterpart: Option<&'static str>,
    /// Files that the kernel sets anew when this one is written, and that are put back with it; `*` stands for the
    /// same as in the name, `+` for every folder, and a path that ends in `/` for every file of that folder.
    pub followers: &'static [&'static str],
    /// What it does, in two sentences.
    pub does: &'static str,
    /// The source for that.
    pub source: &'static str,
}

impl Tunable {
    const fn new(id: &'static str, kind: ValueKind, unit: &'static str, does: &'static str) -> Tunable {
        Tunable {
            id,
            family: &Sysctls,
            kind,
            unit,
            scope: Scope::Host,
            effect: EffectTime::AtOnce,
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

    const fn felt(mut self, effect: EffectTime) -> Tunable {
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

    const fn at(mut self, family: &'static dyn SettingFamily) -> Tunable {
        self.family = family;
        self
    }

    /// Where it lies, in words or as a path from the root; `*` stands for what it does in the name.
    pub fn place(&self) -> String {
        self.family.place(self.id)
    }

    /// Where it can be kept over a reboot; `None` if nowhere.
    pub fn persists_in(&self) -> Option<&'static str> {
        self.family.persists_in()
    }
}

/// Greatest value of a kernel `int`.
const INT_MAX: i128 = i32::MAX as i128;

/// Greatest value of a kernel `unsigned long` that its parser takes.
const LONG_MAX: i128 = i64::MAX as i128;

const fn int(min: i128, max: i128) -> ValueKind {
    ValueKind::Integer { min, max }
}

/// A switch.
const FLAG: ValueKind = int(0, 1);

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
    TUNABLES.iter().copied().flatten().find(|tunable| tunable.name(key).is_some())
}

/// The name in the table that is most like `key`; `None` if none is.
pub(crate) fn nearest(key: &str) -> Option<&'static str> {
    let ids = TUNABLES.iter().copied().flatten().map(|tunable| tunable.id);
    let last_part = |id: &str| id.rsplit('.').next() == Some(key);
    if let Some(id) = ids.clone().find(|id| last_part(id)) {
        return Some(id);
    }
    let (id, edits) = ids.map(|id| (id, strsim::levenshtein(key, id))).min_by_key(|(_, edits)| *edits)?;
    (edits <= 2 + id.len() / 8).then_some(id)
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
