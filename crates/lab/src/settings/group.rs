//! Groups of settings that change together: those of one host that share a journal and a moment.

use crate::plan::LabPlan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use sysdyno_record::change::SettingChange;
use sysdyno_run::RunError;
use sysdyno_tune::{Scope, Tunable};

/// Part of the host that a setting is of, which says where and when it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostPart {
    /// The machine that the host is on: changed in the namespace that its agent came from.
    Machine,
    /// The network of the server's host: changed before the service is started.
    Network,
    /// The service that runs: changed once it does.
    Running,
}

/// The part that a setting is of; `None`: there is no such setting.
pub fn part_of(key: &str) -> Option<HostPart> {
    Some(match tunable_of(key)?.scope {
        Scope::Network | Scope::NetworkDevice => HostPart::Network,
        Scope::Listener | Scope::Process | Scope::Service => HostPart::Running,
        Scope::Host | Scope::InitialNetwork | Scope::Device | Scope::Mount | Scope::FileSystem => {
            HostPart::Machine
        }
    })
}

/// The setting of this name, in which a service may stand for its process.
pub fn tunable_of(key: &str) -> Option<&'static Tunable> {
    // Which process it is, is known only when it runs.
    match key.split_once("{{") {
        Some((before, rest)) => sysdyno_tune::find(&format!("{before}1{}", rest.split_once("}}")?.1)),
        None => sysdyno_tune::find(key),
    }
}

/// Which journal settings of one host are kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingJournal {
    /// That of the machine.
    Machine,
    /// One in the lab's folder, for a network that goes with the lab.
    Network,
    /// One in the lab's folder, for what services have and are.
    Running,
}

impl SettingJournal {
    /// A folder of the lab's folder; no service has such a name. `None`: it is elsewhere.
    pub(super) fn folder(self) -> Option<&'static str> {
        match self {
            SettingJournal::Machine => None,
            SettingJournal::Network => Some("settings.network"),
            SettingJournal::Running => Some("settings.running"),
        }
    }
}

/// Changes that are made together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SettingGroup {
    /// The host of the lab, or of the machine that it is on.
    pub(super) host: String,
    pub(super) kept: SettingJournal,
    pub(super) changes: Vec<SettingChange>,
}

impl LabPlan {
    /// Changes for a service by when and where they are made: before it is started, and once it runs.
    pub(super) fn groups(
        &self,
        service: &str,
        changes: &[SettingChange],
    ) -> (Vec<SettingGroup>, Vec<SettingGroup>) {
        let host = self.host_of(service).unwrap_or_default();
        let (mut before, mut running) = (BTreeMap::new(), BTreeMap::new());
        for change in changes {
            let (groups, key) = match part_of(&change.key) {
                Some(HostPart::Machine) => (&mut before, (SettingJournal::Machine, host)),
                // A host that was there before the lab keeps its network after it.
                Some(HostPart::Network) if self.outside.contains_key(host) => {
                    (&mut before, (SettingJournal::Machine, host))
                }
                Some(HostPart::Network) => (&mut before, (SettingJournal::Network, host)),
                Some(HostPart::Running) => {
                    (&mut running, (SettingJournal::Running, self.runs_on(host, &change.key)))
                }
                None => continue,
            };
            groups.entry(key).or_insert_with(Vec::new).push(change.clone());
        }
        let listed = |groups: BTreeMap<(SettingJournal, &str), Vec<SettingChange>>| {
            let group = |((kept, host), changes): ((SettingJournal, &str), _)| SettingGroup {
                host: host.to_owned(),
                kept,
                changes,
            };
            groups.into_iter().map(group).collect()
        };
        (listed(before), listed(running))
    }

    /// On which host a setting of what runs is changed: any one on the machine of the service whose process it names.
    fn runs_on<'a>(&'a self, host: &'a str, key: &str) -> &'a str {
        let named = pid_of(key).and_then(|service| self.host_of(service)).unwrap_or(host);
        let machine = |host| self.far(host).map(|_| host);
        match self.own_hosts().next() {
            _ if machine(named) == machine(host) => host,
            Some(own) if machine(named).is_none() => own,
            _ => named,
        }
    }

    /// Whether processes that settings name are of services that run.
    ///
    /// # Errors
    /// One is of none.
    pub fn check_settings(&self, changes: &[SettingChange]) -> Result<(), RunError> {
        for change in changes {
            let Some(name) = pid_of(&change.key) else { continue };
            if self.service(name).is_none_or(|service| service.is_off) {
                let key = change.key.escape_debug();
                return Err(RunError::Refused(format!("cannot change '{key}': the lab has no such service")));
            }
        }
        Ok(())
    }
}

/// The service whose process a setting names.
pub(super) fn pid_of(key: &str) -> Option<&str> {
    Some(key.split_once("{{")?.1.split_once(".pid}}")?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn settings_are_changed_where_and_when_they_can_be() {
        for (key, part) in [
            ("fs.file-max", Some(HostPart::Machine)),
            ("net.core.netdev_max_backlog", Some(HostPart::Machine)),
            ("net.core.somaxconn", Some(HostPart::Network)),
            ("netdev.eth0.rx-0.rps_cpus", Some(HostPart::Network)),
            ("listener.80.backlog", Some(HostPart::Running)),
            ("process.{{web.pid}}.nofile", Some(HostPart::Running)),
            ("net.core.somaxcon", None),
        ] {
            assert_eq!(part_of(key), part, "{key}");
        }
    }

    const LAB: &str = "name = 'l'\n[[host]]\nname = 'far'\nssh = 'root@192.0.2.7'\n\
        [[host]]\nname = 'me'\nhere = true\naddress = '192.0.2.1'\n[[host]]\nname = 'n'\n[[host]]\nname = 'm'\n\
        [[service]]\nname = 'front'\nhost = 'far'\nrecipe = 'nginx'\n\
        [[service]]\nname = 'near'\nhost = 'me'\nrecipe = 'memcached'\n\
        [[service]]\nname = 'inner'\nhost = 'n'\nrecipe = 'memcached'\n\
        [[service]]\nname = 'other'\nhost = 'm'\nrecipe = 'memcached'\n";

    fn lab() -> LabPlan {
        LabPlan::parse(LAB, Path::new("lab.toml")).expect("is in order")
    }

    fn changes(keys: &[&str]) -> Vec<SettingChange> {
        keys.iter().map(|key| SettingChange { key: (*key).into(), value: "1".into() }).collect()
    }

    #[test]
    fn settings_are_held_together_that_are_of_one_machine_and_one_moment() {
        let all =
            ["fs.file-max", "net.core.somaxconn", "listener.80.backlog", "process.{{other.pid}}.nofile"];
        let listed = |service: &str| -> Vec<(String, SettingJournal, usize)> {
            let (before, running) = lab().groups(service, &changes(&all));
            let both = before.into_iter().chain(running);
            both.map(|group| (group.host, group.kept, group.changes.len())).collect()
        };
        let group = |host: &str, kept, count| (host.to_owned(), kept, count);
        let (machine, network, running) =
            (SettingJournal::Machine, SettingJournal::Network, SettingJournal::Running);
        assert_eq!(listed("inner"), [group("n", machine, 1), group("n", network, 1), group("n", running, 2)]);
        assert_eq!(listed("near"), [group("me", machine, 2), group("me", running, 2)]);
        assert_eq!(
            listed("front"),
            [group("far", machine, 2), group("far", running, 1), group("me", running, 1)]
        );
    }

    #[test]
    fn a_process_is_named_by_a_service_that_there_is() {
        let check = |key: &str| lab().check_settings(&changes(&[key])).map_err(|error| error.to_string());
        assert_eq!(check("process.{{front.pid}}.nofile"), Ok(()));
        let told = check("process.{{back.pid}}.nofile").expect_err("is not there");
        assert_eq!(told, "cannot change 'process.{{back.pid}}.nofile': the lab has no such service");
    }
}
