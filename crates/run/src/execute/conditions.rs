//! What holds during one run: commands before it, settings of this host while it lasts, undone after it.
//!
//! Invariants: settings are undone whatever becomes of the run; nothing is run when a command or a setting failed.

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
    /// Does `work` under these conditions; says which settings could not be put back.
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
        let left = held.map_or(Ok(Vec::new()), |id| self.tuning.undo(&mut bench, id));
        done?;
        left
    }
}
