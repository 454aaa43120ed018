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
mod trial;
mod typed;
mod wire;
mod work;
mod workload;

pub use allow::Allow;
pub use combine::Combine;
pub use experiment::{
    CommandTable, ExperimentFile, FactorTable, LabSource, LevelTable, QuickTable, ServiceTables, WorkTable,
};
pub use habits::TimeoutOrType;
pub use load::{ArrivalOption, FailIfOption, LoadOptions, WarmupOption};
pub use objective::ObjectiveOption;
pub use origin::{OriginOptions, ProxyOption};
pub use probe::{ProbeKindOption, ProbeOptions};
pub use search::{CapacityOptions, ConnectionsOption, Effort};
pub use servers::{ServerOptions, SshOptions};
pub use target::{Field, IoOption, SpinOption, StampOption, TargetOptions};
pub use trial::{MetricOption, PercentOption, SideTable, TrialFile, TryOptions, WordOption};
pub use typed::Typed;
pub use wire::{
    DialectOption, Http2Option, PopularityOption, PresetOption, ShareOption, SizeOption, TlsVersionOption,
    Unreadable, WireOptions,
};
pub use work::{CacheOption, WorkOptions};
pub use workload::{NeedOptions, ReplayOptions, SessionOptions, SpeedOption, WorkloadOptions};
