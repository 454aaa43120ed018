//! The options that plans are made from, defined once for the parser, the help, the manual page, the keys of files, and the docs.
//!
//! That is why this crate depends on clap: the command line, `sysdyno.toml`, and experiment files share these structures, which
//! clap reads from the command line and serde from files. The program decides which options each command has. Every field is
//! optional; defaults are filled in once, when a plan is made.

mod allow;
mod autotune;
mod combine;
mod experiment;
mod habits;
mod load;
mod objective;
mod origin;
mod probe;
mod prove;
mod search;
mod servers;
mod squeeze;
mod target;
mod tryout;
mod typed;
mod wire;
mod words;
mod work;
mod workload;

pub use allow::Allow;
pub use autotune::AutotuneOptions;
pub use combine::Combine;
pub use experiment::{
    CommandTable, ExperimentFile, FactorTable, LabSource, LevelTable, QuickTable, ServiceTables, WorkTable,
};
pub use habits::TimeoutOrType;
pub use load::{FailIfOption, LoadOptions, WarmupOption};
pub use objective::ObjectiveOption;
pub use origin::OriginOptions;
pub use probe::{ProbeOption, ProbeOptions, ProbeTargetOption};
pub use prove::ProveOptions;
pub use search::{CapacityOptions, ConnectionsOption, Effort};
pub use servers::{BrokerOptions, FleetOptions, ServerOptions, SshOptions};
pub use squeeze::SqueezeOptions;
pub use target::{Field, TargetOptions};
pub use tryout::{PercentOption, SideTable, TryFile, TryOptions};
pub use typed::Typed;
pub use wire::{
    Http2Option, PopularityOption, PresetOption, ShareOption, SizeOption, Unreadable, WireOptions,
};
pub use words::{Word, Worded};
pub use work::WorkOptions;
pub use workload::{NeedOptions, ReplayOptions, SessionOptions, SpeedOption, WorkloadOptions};
