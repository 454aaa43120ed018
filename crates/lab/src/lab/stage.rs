//! A lab that is up for a piece of work, and this process within it, on the host that sends the load.
//!
//! Only the calling thread and those that it starts from then on are in the namespace of that host. The lab is taken away
//! at the end of the work, whatever it came to; after a death of this process `lab down` takes it away.

use super::{Labs, UpOrder, namespace, process};
use crate::agent::{HostPlace, mount_writable_sys};
use crate::error::LabError;
use crate::execute::{Tuning, hold_within};
use crate::work::Count;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use sysdyno_observe::allowed_cpus;
use sysdyno_record::experiment::SettingChange;
use sysdyno_record::service::ServiceReading;
use sysdyno_record::work::ServiceCounter;
use sysdyno_tune::Scope;

/// Part of the host that a setting is of, which says where and when it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// This machine: changed in the namespace that this process came from.
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
    /// How they are changed.
    pub tuning: &'a Tuning,
}

/// A lab with this process in it.
#[derive(Debug)]
pub struct Stage {
    labs: Labs,
    order: UpOrder,
    generator: String,
    home: File,
}

impl Stage {
    /// Puts a lab up and goes to the host that sends the load. What an earlier end of the same work has left, with the
    /// same text, is taken away before.
    ///
    /// # Errors
    /// It cannot be put up; then nothing of it is left.
    pub fn up(
        labs: Labs,
        order: UpOrder,
        generator: &str,
        told: &mut dyn FnMut(&str),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Stage, LabError> {
        let cannot = |source| LabError::Process {
            operation: "enter",
            object: format!("host '{generator}' of lab '{}'", order.plan.name),
            source,
        };
        let home = namespace::open_own().map_err(cannot)?;
        let kept = labs.folder_of(&order.plan.name).join("lab.toml");
        if std::fs::read_to_string(kept).is_ok_and(|text| text == order.text) {
            labs.down(&order.plan.name, told)?;
        }
        labs.up(&order, told, is_stopped)?;
        let path = namespace::path_of(&order.plan.name, generator);
        let is_here = order.plan.is_here(generator);
        let entered = if is_here { Ok(()) } else { namespace::enter(&path).map_err(cannot) };
        let stage = Stage { labs, order, generator: generator.to_owned(), home };
        match entered {
            Ok(()) => Ok(stage),
            Err(error) => {
                stage.down(told)?;
                Err(error)
            }
        }
    }

    /// The host of a service, for an agent.
    pub fn place(&self, service: &str) -> Option<HostPlace> {
        let host = self.order.plan.host_of(service)?;
        match self.order.plan.ssh(host) {
            Some(place) => place.parse().ok(),
            None => format!("netns:sysdyno-{}-{host}", self.order.plan.name).parse().ok(),
        }
    }

    /// A text with the places of services filled in, as the host that sends the load finds them: `{{SERVICE}}` for address and
    /// port, `{{SERVICE.folder}}` for the service's folder, `{{SERVICE.data}}` for what it serves.
    ///
    /// # Errors
    /// It names a service that is not there.
    pub fn fill(&self, text: &str) -> Result<String, LabError> {
        let folder = self.labs.folder_of(&self.order.plan.name);
        self.order.plan.fill(&self.generator, &folder, text)
    }

    /// What the services are to be from now on.
    pub fn set_plan(&mut self, plan: super::LabPlan) {
        self.order.plan = plan;
    }

    /// Does `work` with a service that was started for it, under settings, which are undone after it; says which could not
    /// be put back.
    ///
    /// # Errors
    /// A setting could not be changed or undone, the service did not come up, or `work` failed.
    pub fn hold(
        &self,
        setting: &Setting<'_>,
        work: impl FnOnce() -> Result<(), LabError>,
        told: &mut dyn FnMut(&str),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, LabError> {
        let Setting { service, again, changes, tuning } = *setting;
        let of = |part: Part| -> Vec<SettingChange> {
            changes.iter().filter(|change| part_of(&change.key) == Some(part)).cloned().collect()
        };
        let host = self.order.plan.host_of(service).unwrap_or_default();
        let path = namespace::path_of(&self.order.plan.name, host);
        let home = &self.home;
        let enter_home = || namespace::enter_open(home);
        let enter = || namespace::enter(&path).and_then(|()| mount_writable_sys());
        hold_within(tuning, &enter_home, &of(Part::Machine), || {
            hold_within(&self.tuning(tuning, "network"), &enter, &of(Part::Network), || {
                let again: Vec<&str> = again.iter().map(String::as_str).chain([service]).collect();
                self.labs.change(&self.order, &again, told, is_stopped)?;
                let running = self.with_pids(of(Part::Running))?;
                hold_within(&self.tuning(tuning, "running"), &enter, &running, || work().map(|()| Vec::new()))
            })
        })
    }

    /// What services tell of themselves just now, of those whose recipes say where they are asked.
    pub fn readings(&self) -> Vec<ServiceReading> {
        self.labs.readings(&self.order.plan)
    }

    /// What a service has counted so far, and the CPU time of its processes; `None`: it does not tell.
    pub fn count(&self, counter: &ServiceCounter) -> Option<Count> {
        let plan = &self.order.plan;
        let service = plan.service(&counter.service)?;
        let recipe = super::values::recipe_of(service).ok()?;
        let reading = match plan.is_own(&service.host) {
            true => super::metrics::reading(plan, &self.labs.folder_of(&plan.name), service, &recipe),
            false => self.readings().into_iter().find(|reading| reading.service == service.name)?,
        };
        // Of a process on another machine no CPU time is known here.
        let pid = self.labs.pid_of(&plan.name, &service.name).ok().flatten();
        let told = reading.values.iter().find(|value| value.name == counter.metric)?.value?;
        Some(Count {
            operations_count: told as u64,
            cpu_us: pid.and_then(process::cpu_us_with_descendants),
            cpus: pid.and_then(allowed_cpus).unwrap_or_default(),
        })
    }

    /// Takes the lab away; notes say what was left alone.
    ///
    /// # Errors
    /// This process cannot go back, or something of the lab cannot be taken away.
    pub fn down(self, told: &mut dyn FnMut(&str)) -> Result<Vec<String>, LabError> {
        let back = namespace::enter_open(&self.home);
        let notes = self.labs.down(&self.order.plan.name, told)?;
        back.map(|()| notes).map_err(|source| LabError::Process {
            operation: "leave",
            object: format!("lab '{}'", self.order.plan.name),
            source,
        })
    }

    /// Settings of the lab are gone with it, and so is their journal. No service has such a name.
    fn tuning(&self, tuning: &Tuning, part: &str) -> Tuning {
        let folder: PathBuf = self.labs.folder_of(&self.order.plan.name).join(format!("settings.{part}"));
        Tuning { state: Some(folder), ..tuning.clone() }
    }

    /// Settings with `{{SERVICE.pid}}` in their keys filled in.
    fn with_pids(&self, settings: Vec<SettingChange>) -> Result<Vec<SettingChange>, LabError> {
        let fill = |setting: SettingChange| match setting.key.split_once("{{") {
            None => Ok(setting),
            Some((before, rest)) => {
                let (name, after) = rest.split_once(".pid}}").unwrap_or((rest, ""));
                let pid =
                    self.labs.pid_of(&self.order.plan.name, name)?.ok_or_else(|| LabError::Process {
                        operation: "change",
                        object: format!("'{}'", setting.key.escape_debug()),
                        source: io::Error::other("there is no such service that runs"),
                    })?;
                Ok(SettingChange { key: format!("{before}{pid}{after}"), value: setting.value })
            }
        };
        settings.into_iter().map(fill).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
