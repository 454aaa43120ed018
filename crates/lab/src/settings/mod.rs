//! Settings of a lab's hosts, held while some work runs: each is changed and undone on the machine, in the network namespace,
//! or on the process to which it belongs.
//!
//! ```text
//!   machine and network ─► services are started ─► what runs ─► work ─► undone, last first
//! ```
//! Settings of a machine, and of the network of a host that the lab did not create, have their journal in that machine's state
//! folder, where `sysdyno tune recover` finds it; those that vanish with the lab have one in the lab's folder.

mod group;

use super::labs::Labs;
use super::namespace;
use super::stage::LabStage;
pub use group::{HostPart, SettingJournal, part_of, tunable_of};
use group::{SettingGroup, pid_of};
use std::io;
use std::path::PathBuf;
use sysdyno_record::change::SettingChange;
use sysdyno_record::command::CommandSpec;
use sysdyno_record::event::SettingHeld;
use sysdyno_run::RunError;
use sysdyno_run::agent::mount_writable_sys;
use sysdyno_run::execute::{SettingGround, Tuning, hold_within};
use sysdyno_run::service::roots_with_programs;
use sysdyno_tune::{StateFolder, TuneError};

/// What is to hold of the lab during some work.
#[derive(Clone, Copy, Debug)]
pub struct StageSetting<'a> {
    /// The service that is started for it.
    pub service: &'a str,
    /// Others that are started for it.
    pub again: &'a [String],
    /// Settings.
    pub changes: &'a [SettingChange],
    /// Commands that run on the host of the service while the work lasts.
    pub during: &'a [CommandSpec],
    /// How they are changed on this machine.
    pub tuning: &'a Tuning,
}

/// What is done within settings, which it is told; it says which could not be put back.
type Within<'a> = Box<dyn FnOnce(Vec<SettingHeld>) -> Result<Vec<String>, RunError> + 'a>;

impl LabStage {
    /// Does `work` with a service that was started for it, under settings, which it is told and which are undone after it;
    /// says which could not be put back.
    ///
    /// # Errors
    /// A setting could not be changed or undone, the service did not come up, or `work` failed.
    pub fn hold(
        &self,
        setting: &StageSetting<'_>,
        work: impl FnOnce(&[SettingHeld]) -> Result<(), RunError>,
        told: &mut dyn FnMut(&str),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, RunError> {
        let StageSetting { service, again, changes, during, tuning } = *setting;
        let (before, running) = self.order.plan.groups(service, changes);
        self.within(
            &before,
            tuning,
            Vec::new(),
            Box::new(|held| {
                let again: Vec<&str> = again.iter().map(String::as_str).chain([service]).collect();
                self.labs.change(&self.order, &again, told, is_stopped)?;
                let work: Within<'_> = Box::new(|held| {
                    let _beside = self.beside(service, during)?;
                    work(&held).map(|()| Vec::new())
                });
                self.within(&running, tuning, held, work)
            }),
        )
    }

    /// Does `work` under the settings of all groups.
    fn within(
        &self,
        groups: &[SettingGroup],
        tuning: &Tuning,
        mut held: Vec<SettingHeld>,
        work: Within<'_>,
    ) -> Result<Vec<String>, RunError> {
        let Some((group, others)) = groups.split_first() else { return work(held) };
        let next: Within<'_> = Box::new(|more| {
            held.extend(more);
            self.within(others, tuning, held, work)
        });
        match self.order.plan.far(&group.host) {
            Some(_) => self.within_there(group, next),
            None => self.within_here(group, tuning, next),
        }
    }

    fn within_there(&self, group: &SettingGroup, work: Within<'_>) -> Result<Vec<String>, RunError> {
        let name = &self.order.plan.name;
        let held = self.labs.hold_there(name, &group.host, group.kept, &group.changes)?;
        let worked = work(held.settings.clone());
        let left = self.labs.let_go_there(&held);
        let mut all = worked?;
        all.extend(left?);
        Ok(all)
    }

    fn within_here(
        &self,
        group: &SettingGroup,
        tuning: &Tuning,
        work: Within<'_>,
    ) -> Result<Vec<String>, RunError> {
        let plan = &self.order.plan;
        let changes = self.labs.with_pids(&plan.name, &group.changes)?;
        let path = namespace::path_of(&plan.name, &group.host);
        let enter = || match group.kept {
            SettingJournal::Machine => namespace::enter_open(&self.home),
            SettingJournal::Network | SettingJournal::Running => {
                namespace::enter(&path).and_then(|()| mount_writable_sys())
            }
        };
        let host = match group.kept {
            SettingJournal::Machine => "here".to_owned(),
            SettingJournal::Network | SettingJournal::Running => {
                format!("netns:sysdyno-{}-{}", plan.name, group.host)
            }
        };
        let state = group.kept.folder().map(|folder| self.labs.folder_of(&plan.name).join(folder));
        let tuning = Tuning { state: state.or_else(|| tuning.state.clone()), ..tuning.clone() };
        hold_within(&SettingGround { host, tuning, enter: &enter }, &changes, work)
    }
}

impl Labs {
    /// Settings with `{{SERVICE.pid}}` in their keys filled in.
    pub(super) fn with_pids(
        &self,
        lab: &str,
        settings: &[SettingChange],
    ) -> Result<Vec<SettingChange>, RunError> {
        let fill = |setting: &SettingChange| {
            let Some(name) = pid_of(&setting.key) else { return Ok(setting.clone()) };
            let pid = self.pid_of(lab, name)?.ok_or_else(|| RunError::Process {
                operation: "change",
                object: format!("'{}'", setting.key.escape_debug()),
                source: io::Error::other("no such service is running"),
            })?;
            let key = setting.key.replacen(&format!("{{{{{name}.pid}}}}"), &pid.to_string(), 1);
            Ok(SettingChange { key, value: setting.value.clone() })
        };
        settings.iter().map(fill).collect()
    }

    /// Where a journal of settings of a lab of this machine lies.
    pub(super) fn state_of(&self, lab: &str, kept: SettingJournal) -> PathBuf {
        match kept.folder() {
            Some(folder) => self.folder_of(lab).join(folder),
            None => self.path().parent().unwrap_or(self.path()).to_owned(),
        }
    }

    /// Undoes settings of services whose journal lies in a lab's folder, before that goes: their guardian is not waited for,
    /// and may be dead. Notes say which could not be put back.
    pub(super) fn put_back(&self, lab: &str, notes: &mut Vec<String>) {
        let state = StateFolder::below(Some(&self.state_of(lab, SettingJournal::Running)));
        let roots = roots_with_programs("/");
        let unfinished = state.unfinished(&roots);
        if unfinished.guarded_count + unfinished.abandoned_count == 0 {
            return;
        }
        match sysdyno_tune::undo(&state, &roots, None) {
            Ok(recovery) => {
                let left = recovery.restored.iter().filter(|restored| !restored.outcome.is_clean());
                notes.extend(left.map(|one| format!("{} was {} but has changed", one.key, one.old)));
            }
            // Its guardian was faster.
            Err(TuneError::NoTrial { .. }) => {}
            Err(error) => notes.push(error.to_string()),
        }
    }
}
