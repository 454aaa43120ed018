//! Options that plans are made of: one definition for the parser, the help, the manual page, the keys of files, and the docs.
//!
//! That is why this crate knows clap: what can be typed on a command line, set in `sysdyno.toml`, and written in the file of
//! an experiment is the same structure, read by clap here and by serde there. Of what options a command consists is decided
//! by the program. Every field is optional; defaults are filled in by the plan that is made of them, once.

mod allow;
mod combine;
mod experiment;
mod habits;
mod load;
mod objective;
mod origin;
mod probe;
mod search;
mod servers;
mod target;
mod tryout;
mod typed;
mod wire;
mod words;
mod work;
mod workload;

pub use allow::Allow;
pub use combine::Combine;
pub use experiment::{
    CommandTable, ExperimentFile, FactorTable, LabSource, LevelTable, QuickTable, ServiceTables, WorkTable,
};
pub use habits::TimeoutOrType;
pub use load::{FailIfOption, LoadOptions, WarmupOption};
pub use objective::ObjectiveOption;
pub use origin::OriginOptions;
pub use probe::ProbeOptions;
pub use search::{CapacityOptions, ConnectionsOption, Effort};
pub use servers::{ServerOptions, SshOptions};
pub use target::{Field, TargetOptions};
pub use tryout::{PercentOption, SideTable, TryFile, TryOptions};
pub use typed::Typed;
pub use wire::{
    Http2Option, PopularityOption, PresetOption, ShareOption, SizeOption, Unreadable, WireOptions,
};
pub use words::{Word, Worded};
pub use work::WorkOptions;
pub use workload::{NeedOptions, ReplayOptions, SessionOptions, SpeedOption, WorkloadOptions};
