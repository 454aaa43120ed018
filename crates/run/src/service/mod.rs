//! Processes that a plan needs: the built-in target, guardians of settings, measured commands, and the programs of services
//! and file systems that run before and after a change.

mod built_in;
mod command;
mod file_systems;
mod found;
mod guardian;
mod programs;

pub use built_in::BuiltInTarget;
pub(crate) use command::RunningCommand;
pub use found::{descriptor_settings, found_settings, listener_setting, target_pids};
pub use guardian::Guardians;

use std::path::Path;
use sysdyno_tune::TuneRoots;

/// The roots of settings below a path; on the live host with all programs that changing some of them takes. Below another
/// root there are none: they would reload the services of this host, and change its file systems.
pub fn roots_with_programs(root: impl AsRef<Path>) -> TuneRoots {
    let roots = TuneRoots::at(root.as_ref());
    match roots.is_host() {
        true => roots
            .with_services(&programs::SERVICE_PROGRAMS)
            .with_file_systems(&file_systems::FILE_SYSTEM_PROGRAMS),
        false => roots,
    }
}
