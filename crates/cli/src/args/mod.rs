//! What can be typed. Parser, help, manual page, completions and documentation all come from these definitions.

mod compare;
mod experiment;
mod facts;
mod fence;
mod foreign;
mod habits;
mod lab;
mod matrix;
mod options;
mod origin;
mod probe;
mod runs;
mod server;
mod tune;
mod wire;
mod work;
mod workload;

pub use compare::{CompareArgs, FailIfWord};
pub use experiment::{ExperimentFile, MetricOption, SideTable, TryArgs, TryOptions, WordOption};
pub use facts::FactsArgs;
pub use fence::{Allow, FenceOptions};
pub use foreign::{Line, read};
pub use habits::TimeoutOrType;
pub use lab::{LabArgs, LabCommand};
pub use matrix::{
    CommandTable, FactorTable, LabSource, LevelTable, MatrixArgs, MatrixCommand, MatrixFile,
    MatrixFolderArgs, MatrixHostArgs, MatrixRunArgs, QuickTable, ServiceTables, WorkTable,
};
pub use options::{
    CapacityOptions, ConnectionsOption, Effort, FailIfOption, Field, LoadOptions, ObjectiveOption,
    RecordOptions, TargetOptions, Typed,
};
pub use origin::OriginOptions;
pub use tune::{TuneArgs, TuneCommand};
pub use wire::{Http2Option, PresetOption, WireOptions};
#[cfg(test)]
pub use work::CacheOption;
pub use work::WorkOptions;
pub use workload::{NeedOptions, ReplayOptions, SessionOptions, WorkloadOptions};

pub use probe::{ProbeArgs, ProbeOptions};
pub use runs::{RunsArgs, RunsCommand, RunsKind, RunsSort, RunsVerdict};
pub use server::{AgentArgs, LabSshOptions, ServerOptions, SshOptions};

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Finds how much a Linux server can take, and names what stops it.
#[derive(Debug, Parser)]
#[command(name = "sysdyno", version, about, long_about = None, after_help = AFTER_HELP)]
pub struct Cli {
    /// When to use color
    #[arg(long, global = true, value_enum, default_value_t, env = "SYSDYNO_COLOR")]
    pub color: Color,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Numbers are typed with their unit: 30s, 5k/s, 64KiB.
Options that name a variable can be set in the environment, all of them in sysdyno.toml.
An option wins over the environment, that over ./sysdyno.toml, that over
~/.config/sysdyno/sysdyno.toml, and that over /etc/sysdyno.toml.

Exit codes: 0 done; 1 done, and a check of --fail-if failed, no probe was answered, hosts
differ with --fail-if-different, or runs with compare --fail-if; 2 wrong use
or cannot run; 3 done but not to be trusted, whatever the checks say; 6 a setting could not be made
durable, nothing was changed; 7 a setting was not restored, somebody else has changed it;
130 interrupted.";

/// When to use color.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the whole loop against a built-in server with a planted bottleneck, in a minute and a half
    Demo(DemoArgs),
    /// Find the capacity of a server under a latency objective, and what limits it
    Run(Box<RunArgs>),
    /// Drive load at a server and report what came back
    #[command(after_help = habits::AFTER_HELP)]
    Load(Box<LoadArgs>),
    /// Try one reversible change on a live server, and say whether it helped
    Try(Box<TryArgs>),
    /// Measure every combination of some factors, in blocks, and say which differ
    Experiment(MatrixArgs),
    /// Change settings of this host so that they can always be put back
    Tune(TuneArgs),
    /// Put up hosts, links and real services on this machine, and take them away again
    Lab(LabArgs),
    /// Measure what an outsider waits, operation by operation: HTTP, TCP or ICMP
    Probe(ProbeArgs),
    /// Compare runs: whether they may be compared, what differs, by how much
    Compare(Box<CompareArgs>),
    /// Say what this host is, or what differs between two hosts
    Facts(FactsArgs),
    /// List the runs that were recorded
    Runs(RunsArgs),
    /// Print a recorded run again
    Show(ShowArgs),
    /// Make the HTML report of a recorded run again
    Report(ReportArgs),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write manual pages, completions and the command reference into a folder
    #[command(hide = true)]
    Docs {
        /// The folder, made if it is missing
        folder: PathBuf,
    },
    /// Serve requests to read this host; what `--server` starts there
    #[command(hide = true)]
    Agent(AgentArgs),
    /// Serve the built-in target until standard input ends
    #[command(hide = true)]
    Target(TargetArgs),
}

/// Arguments of `demo`.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// The bottleneck to plant: accept-queue (connections find it full; its remedy is tried and proved), worker-pool (all
    /// workers wait while the CPUs idle) or single-thread (one thread works alone)
    #[arg(long, value_enum, default_value_t)]
    pub bottleneck: Planted,
    #[command(flatten)]
    pub record: RecordOptions,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Bottlenecks that the demo can plant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Planted {
    /// A queue of connections that is too short
    #[default]
    AcceptQueue,
    /// A pool of workers that all wait
    WorkerPool,
    /// One thread that works alone
    SingleThread,
}

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// The server: http[s]://HOST[:PORT]/PATH, unix:SOCKET[:/PATH], or memcached[s]://HOST[:PORT]
    pub url: String,
    #[command(flatten)]
    pub capacity: CapacityOptions,
    #[command(flatten)]
    pub workload: WorkloadOptions,
    #[command(flatten)]
    pub need: NeedOptions,
    #[command(flatten)]
    pub target: TargetOptions,
    #[command(flatten)]
    pub server: ServerOptions,
    #[command(flatten)]
    pub origin: OriginOptions,
    #[command(flatten)]
    pub fence: FenceOptions,
    #[command(flatten)]
    pub probe: ProbeOptions,
    #[command(flatten)]
    pub record: RecordOptions,
    /// Print the plan, with the most load that it can send, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `load`.
#[derive(Debug, clap::Args)]
pub struct LoadArgs {
    /// The server: http[s]://HOST[:PORT]/PATH, unix:SOCKET[:/PATH], or memcached[s]://HOST[:PORT]
    #[arg(required_unless_present_any = ["command", "files"])]
    pub url: Option<String>,
    #[command(flatten)]
    pub load: LoadOptions,
    #[command(flatten)]
    pub workload: WorkloadOptions,
    #[command(flatten)]
    pub replay: ReplayOptions,
    #[command(flatten)]
    pub session: SessionOptions,
    #[command(flatten)]
    pub target: TargetOptions,
    #[command(flatten)]
    pub server: ServerOptions,
    #[command(flatten)]
    pub origin: OriginOptions,
    #[command(flatten)]
    pub fence: FenceOptions,
    #[command(flatten)]
    pub probe: ProbeOptions,
    #[command(flatten)]
    pub work: WorkOptions,
    #[command(flatten)]
    pub record: RecordOptions,
    /// Print the plan, with the most load that it can send, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub output: OutputOptions,
}

/// The form of a result.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct OutputOptions {
    /// Form of the result [default: text]
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    pub output: Option<OutputForm>,
    /// Print the result as one JSON document, as --output json
    #[arg(long)]
    pub json: bool,
}

impl OutputOptions {
    /// The form that was asked for.
    pub fn form(self) -> OutputForm {
        self.output.unwrap_or(if self.json { OutputForm::Json } else { OutputForm::Text })
    }
}

/// Forms of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputForm {
    /// One screen for people
    #[default]
    Text,
    /// One JSON document
    Json,
    /// One header, and a line for each measured phase
    Csv,
    /// The percentile text of HdrHistogram, for its plotters
    Hdr,
    /// The text of ApacheBench, for scripts that read it
    Ab,
}

impl OutputForm {
    /// The form of a command that has `--json` only.
    pub fn of_json(is_json: bool) -> OutputForm {
        if is_json { OutputForm::Json } else { OutputForm::Text }
    }
}

/// Arguments of `show`.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// The run: its folder, its name, or the end of its name; the newest if left out
    pub run: Option<PathBuf>,
    #[command(flatten)]
    pub record: RecordOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    /// Also compare every file with its digest
    #[arg(long)]
    pub verify: bool,
}

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// The run: its folder, its name, or the end of its name; the newest if left out
    pub run: Option<PathBuf>,
    #[command(flatten)]
    pub record: RecordOptions,
    /// Write the report here instead of into the run's folder
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of the built-in target.
#[derive(Debug, clap::Args)]
pub struct TargetArgs {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:0")]
    pub listen: std::net::SocketAddr,
    /// Threads that serve
    #[arg(long, default_value_t = 1)]
    pub threads: u32,
    /// Length of each response's body. Unit: bytes
    #[arg(long, default_value_t = 612)]
    pub body_bytes: u32,
    /// A pool of so many workers, each of which holds a request for --hold-ms
    #[arg(long, group = "bottleneck")]
    pub workers: Option<u32>,
    /// How long a worker holds a request. Unit: milliseconds
    #[arg(long, default_value_t = 5)]
    pub hold_ms: u64,
    /// One thread that works this long on each request. Unit: microseconds
    #[arg(long, group = "bottleneck")]
    pub work_us: Option<u64>,
    /// An accept queue of this length, from which one connection is taken every --accept-delay-ms
    #[arg(long, group = "bottleneck")]
    pub backlog: Option<u32>,
    /// Time between two accepts. Unit: milliseconds
    #[arg(long, default_value_t = 100)]
    pub accept_delay_ms: u64,
    /// The server answers nothing for --stall-for-ms every so often. Unit: milliseconds
    #[arg(long, group = "bottleneck")]
    pub stall_every_ms: Option<u64>,
    /// Length of a stall. Unit: milliseconds
    #[arg(long, default_value_t = 1000)]
    pub stall_for_ms: u64,
    /// Each response is delayed by the next of these, in turn. Unit: microseconds
    #[arg(long, value_delimiter = ',', group = "bottleneck")]
    pub delays_us: Vec<u32>,
}
