//! Settings of the hosts of a lab, while some work lasts: each is changed on the machine, in the network, of the process
//! that it belongs to, and undone there.
//!
//! ```text
//!   machine and network ─► services are started ─► what runs ─► work ─► undone, last first
//! ```
//! What is of a machine, and of the network of a host that the lab did not make, has its journal in the state folder of
//! that machine, where `sysdyno tune recover` finds it; what goes with the lab has one in the lab's folder.

use super::plan::LabPlan;
use super::{Labs, Stage, namespace};
use crate::agent::mount_writable_sys;
use crate::error::LabError;
use crate::execute::{Ground, Tuning, hold_within};
use crate::service::roots_with_programs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use sysdyno_record::event::SettingHeld;
use sysdyno_record::experiment::SettingChange;
use sysdyno_tune::{Scope, StateFolder, TuneError};

/// Part of the host that a setting is of, which says where and when it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The machine that the host is on: changed in the namespace that its agent came from.
    Machine,
    /// The network of the server's host: changed before the service is started.
    Network,
    /// The service that runs: changed once it does.
    Running,
}

/// The part that a setting is of; `None`: there is no such setting.
pub fn part_of(key: &str) -> Option<Part> {
    // Which process it is, is known only when it runs.
    let known = match key.split_once("{{") {
        Some((before, rest)) => format!("{before}1{}", rest.split_once("}}")?.1),
        None => key.to_owned(),
    };
    Some(match sysdyno_tune::find(&known)?.scope {
        Scope::Network | Scope::NetworkDevice => Part::Network,
        Scope::Listener | Scope::Process | Scope::Service => Part::Running,
        Scope::Host | Scope::InitialNetwork | Scope::Device | Scope::Mount | Scope::FileSystem => {
            Part::Machine
        }
    })
}

/// What is to hold of the lab during some work.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The service that is started for it.
    pub service: &'a str,
    /// Others that are started for it.
    pub again: &'a [String],
    /// Settings.
    pub changes: &'a [SettingChange],
    /// How they are changed on this machine.
    pub tuning: &'a Tuning,
}

/// Which journal settings of one host are kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// That of the machine.
    Machine,
    /// One in the lab's folder, for a network that goes with the lab.
    Network,
    /// One in the lab's folder, for what services have and are.
    Running,
}

impl Kept {
    /// A folder of the lab's folder; no service has such a name. `None`: it is elsewhere.
    fn folder(self) -> Option<&'static str> {
        match self {
            Kept::Machine => None,
            Kept::Network => Some("settings.network"),
            Kept::Running => Some("settings.running"),
        }
    }
}

/// Changes that are made together.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    /// The host of the lab, or of the machine that it is on.
    host: String,
    kept: Kept,
    changes: Vec<SettingChange>,
}

/// What is done within settings, which it is told; it says which could not be put back.
type Within<'a> = Box<dyn FnOnce(Vec<SettingHeld>) -> Result<Vec<String>, LabError> + 'a>;

impl Stage {
    /// Does `work` with a service that was started for it, under settings, which it is told and which are undone after it;
    /// says which could not be put back.
    ///
    /// # Errors
    /// A setting could not be changed or undone, the service did not come up, or `work` failed.
    pub fn hold(
        &self,
        setting: &Setting<'_>,
        work: impl FnOnce(&[SettingHeld]) -> Result<(), LabError>,
        told: &mut dyn FnMut(&str),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, LabError> {
        let Setting { service, again, changes, tuning } = *setting;
        let (before, running) = self.order.plan.groups(service, changes);
        self.within(
            &before,
            tuning,
            Vec::new(),
            Box::new(|held| {
                let again: Vec<&str> = again.iter().map(String::as_str).chain([service]).collect();
                self.labs.change(&self.order, &again, told, is_stopped)?;
                self.within(&running, tuning, held, Box::new(|held| work(&held).map(|()| Vec::new())))
            }),
        )
    }

    /// Does `work` under the settings of all groups.
    fn within(
        &self,
        groups: &[Group],
        tuning: &Tuning,
        mut held: Vec<SettingHeld>,
        work: Within<'_>,
    ) -> Result<Vec<String>, LabError> {
        let Some((group, others)) = groups.split_first() else { return work(held) };
        let next: Within<'_> = Box::new(|more| {
            held.extend(more);
            self.within(others, tuning, held, work)
        });
        match self.order.plan.ssh(&group.host) {
            Some(_) => self.within_there(group, next),
            None => self.within_here(group, tuning, next),
        }
    }

    fn within_there(&self, group: &Group, work: Within<'_>) -> Result<Vec<String>, LabError> {
        let name = &self.order.plan.name;
        let held = self.labs.hold_there(name, &group.host, group.kept, &group.changes)?;
        let worked = work(held.settings.clone());
        let left = self.labs.let_go_there(&held);
        let mut all = worked?;
        all.extend(left?);
        Ok(all)
    }

    fn within_here(&self, group: &Group, tuning: &Tuning, work: Within<'_>) -> Result<Vec<String>, LabError> {
        let plan = &self.order.plan;
        let changes = self.labs.with_pids(&plan.name, &group.changes)?;
        let path = namespace::path_of(&plan.name, &group.host);
        let enter = || match group.kept {
            Kept::Machine => namespace::enter_open(&self.home),
            Kept::Network | Kept::Running => namespace::enter(&path).and_then(|()| mount_writable_sys()),
        };
        let host = match group.kept {
            Kept::Machine => "here".to_owned(),
            Kept::Network | Kept::Running => format!("netns:sysdyno-{}-{}", plan.name, group.host),
        };
        let state = group.kept.folder().map(|folder| self.labs.folder_of(&plan.name).join(folder));
        let tuning = Tuning { state: state.or_else(|| tuning.state.clone()), ..tuning.clone() };
        hold_within(&Ground { host, tuning, enter: &enter }, &changes, work)
    }
}

impl LabPlan {
    /// Changes for a service by when and where they are made: before it is started, and once it runs.
    fn groups(&self, service: &str, changes: &[SettingChange]) -> (Vec<Group>, Vec<Group>) {
        let host = self.host_of(service).unwrap_or_default();
        let (mut before, mut running) = (BTreeMap::new(), BTreeMap::new());
        for change in changes {
            let (groups, key) = match part_of(&change.key) {
                Some(Part::Machine) => (&mut before, (Kept::Machine, host)),
                // A host that was there before the lab keeps its network after it.
                Some(Part::Network) if self.outside.contains_key(host) => {
                    (&mut before, (Kept::Machine, host))
                }
                Some(Part::Network) => (&mut before, (Kept::Network, host)),
                Some(Part::Running) => (&mut running, (Kept::Running, self.runs_on(host, &change.key))),
                None => continue,
            };
            groups.entry(key).or_insert_with(Vec::new).push(change.clone());
        }
        let listed = |groups: BTreeMap<(Kept, &str), Vec<SettingChange>>| {
            let group =
                |((kept, host), changes): ((Kept, &str), _)| Group { host: host.to_owned(), kept, changes };
            groups.into_iter().map(group).collect()
        };
        (listed(before), listed(running))
    }

    /// On which host a setting of what runs is changed: any one on the machine of the service whose process it names.
    fn runs_on<'a>(&'a self, host: &'a str, key: &str) -> &'a str {
        let named = pid_of(key).and_then(|service| self.host_of(service)).unwrap_or(host);
        let machine = |host| self.ssh(host).map(|_| host);
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
    pub fn check_settings(&self, changes: &[SettingChange]) -> Result<(), LabError> {
        for change in changes {
            let Some(name) = pid_of(&change.key) else { continue };
            if self.service(name).is_none_or(|service| service.is_off) {
                let key = change.key.escape_debug();
                return Err(LabError::Refused(format!("cannot change '{key}': the lab has no such service")));
            }
        }
        Ok(())
    }
}

/// The service whose process a setting names.
fn pid_of(key: &str) -> Option<&str> {
    Some(key.split_once("{{")?.1.split_once(".pid}}")?.0)
}

impl Labs {
    /// Settings with `{{SERVICE.pid}}` in their keys filled in.
    pub(super) fn with_pids(
        &self,
        lab: &str,
        settings: &[SettingChange],
    ) -> Result<Vec<SettingChange>, LabError> {
        let fill = |setting: &SettingChange| {
            let Some(name) = pid_of(&setting.key) else { return Ok(setting.clone()) };
            let pid = self.pid_of(lab, name)?.ok_or_else(|| LabError::Process {
                operation: "change",
                object: format!("'{}'", setting.key.escape_debug()),
                source: io::Error::other("there is no such service that runs"),
            })?;
            let key = setting.key.replacen(&format!("{{{{{name}.pid}}}}"), &pid.to_string(), 1);
            Ok(SettingChange { key, value: setting.value.clone() })
        };
        settings.iter().map(fill).collect()
    }

    /// Where a journal of settings of a lab of this machine lies.
    pub(super) fn state_of(&self, lab: &str, kept: Kept) -> PathBuf {
        match kept.folder() {
            Some(folder) => self.folder_of(lab).join(folder),
            None => self.path().parent().unwrap_or(self.path()).to_owned(),
        }
    }

    /// Undoes settings of services whose journal lies in a lab's folder, before that goes: their guardian is not waited for,
    /// and may be dead. Notes say which could not be put back.
    pub(super) fn put_back(&self, lab: &str, notes: &mut Vec<String>) {
        let state = StateFolder::below(Some(&self.state_of(lab, Kept::Running)));
        let unfinished = state.unfinished();
        if unfinished.guarded_count + unfinished.abandoned_count == 0 {
            return;
        }
        match sysdyno_tune::undo(&state, &roots_with_programs("/"), None) {
            Ok(recovery) => {
                let left = recovery.restored.iter().filter(|restored| !restored.outcome.is_clean());
                notes.extend(left.map(|one| format!("{} was {} and is not any more", one.key, one.old)));
            }
            // Its guardian was faster.
            Err(TuneError::NoTrial { .. }) => {}
            Err(error) => notes.push(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn settings_are_changed_where_and_when_they_can_be() {
        for (key, part) in [
            ("fs.file-max", Some(Part::Machine)),
            ("net.core.netdev_max_backlog", Some(Part::Machine)),
            ("net.core.somaxconn", Some(Part::Network)),
            ("netdev.eth0.rx-0.rps_cpus", Some(Part::Network)),
            ("listener.80.backlog", Some(Part::Running)),
            ("process.{{web.pid}}.nofile", Some(Part::Running)),
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
        let listed = |service: &str| -> Vec<(String, Kept, usize)> {
            let (before, running) = lab().groups(service, &changes(&all));
            let both = before.into_iter().chain(running);
            both.map(|group| (group.host, group.kept, group.changes.len())).collect()
        };
        let group = |host: &str, kept, count| (host.to_owned(), kept, count);
        let (machine, network, running) = (Kept::Machine, Kept::Network, Kept::Running);
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
