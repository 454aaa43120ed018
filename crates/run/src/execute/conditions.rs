//! The conditions of one run: commands before it, and settings of this host that are undone after it.
//!
//! Invariants: settings are undone however the run ends; if a command or a setting fails, nothing runs.

use super::RunJournal;
use super::change::{Tuning, prepare};
use super::steps::{Bench, Hosts};
use crate::error::RunError;
use sysdyno_record::change::SettingChange;
use sysdyno_record::command::CommandSpec;

/// What is to hold during a run.
#[derive(Debug)]
pub struct Conditions<'a> {
    /// Commands that are run before it, in this order.
    pub prepare: &'a [CommandSpec],
    /// Settings that are changed for it, after those commands.
    pub settings: &'a [SettingChange],
    /// How settings are changed.
    pub tuning: &'a Tuning,
}

impl Conditions<'_> {
    /// Runs `work` under these conditions; returns the settings that could not be restored.
    ///
    /// # Errors
    /// A command failed, a setting could not be changed or undone, or `work` failed.
    pub fn hold(
        &self,
        hosts: Hosts<'_>,
        journal: &mut RunJournal<'_>,
        work: impl FnOnce(Hosts<'_>, &mut RunJournal<'_>) -> Result<(), RunError>,
    ) -> Result<Vec<String>, RunError> {
        let mut bench = Bench::new(hosts, journal);
        for command in self.prepare {
            prepare(&mut bench, command)?;
        }
        let held = match self.settings {
            [] => None,
            settings => self.tuning.apply(&mut bench, settings)?,
        };
        let hosts = Hosts {
            generator: &mut *bench.agent,
            server: bench.server.as_deref_mut(),
            behind: bench.behind,
            services: bench.services,
        };
        let done = work(hosts, bench.journal);
        let left = held.map_or(Ok(Vec::new()), |made| self.tuning.undo(&mut bench, made));
        done?;
        left
    }
}
