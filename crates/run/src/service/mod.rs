//! Services that the lab starts, each in a process of its own, and programs of services that it asks.

mod built_in;
mod command;
mod file_systems;
mod guardian;
mod programs;

pub use built_in::BuiltInTarget;
pub(crate) use command::RunningCommand;
pub use guardian::Guardians;

use std::path::Path;
use sysdyno_tune::Roots;

/// The roots of settings below a path, with all programs of this host that changing some of them takes.
pub fn roots_with_programs(root: impl AsRef<Path>) -> Roots {
    Roots::at(root.as_ref())
        .with_services(&programs::SERVICE_PROGRAMS)
        .with_file_systems(&file_systems::FILE_SYSTEM_PROGRAMS)
}
