//! The command line: which arguments each command takes. Parser, help, manual page, completions, and documentation all
//! come from these definitions and from those of `sysdyno_plan::options`, from which plans are made.

mod agent;
mod autotune;
mod compare;
mod experiment;
mod facts;
mod fence;
mod fleet;
mod foreign;
mod habits;
mod inject;
mod lab;
mod links;
mod live;
mod probe;
mod profile;
mod record;
mod runs;
mod selftest;
mod serve;
mod squeeze;
mod tryout;
mod tune;
mod watch;

pub use agent::{AgentArgs, LabHostOptions};
pub use autotune::AutotuneArgs;
pub use compare::{CompareArgs, FailIfWord};
pub use experiment::{
    ExperimentArgs, ExperimentCommand, ExperimentExportArgs, ExperimentFolderArgs, ExperimentHostArgs,
    ExperimentImportArgs, ExperimentMeasureArgs, ExperimentRunArgs, ExperimentStreamArgs,
};
pub use facts::FactsArgs;
pub use fence::FenceOptions;
pub use fleet::{FleetAgentArgs, FleetArgs, FleetCommand, FleetListArgs, FleetTopArgs, FleetUpArgs};
pub use foreign::{CommandLine, read};
pub use inject::InjectArgs;
pub use lab::{ImageFormatWord, LabArgs, LabCommand};
pub use links::LinksArgs;
pub use live::LiveOptions;
pub use probe::ProbeArgs;
pub use profile::{ProfileArgs, ProfileForm};
pub use record::RecordOptions;
pub use runs::{RunsArgs, RunsCommand, RunsSort, RunsVerdict};
pub use selftest::{SelftestArgs, SelftestCommand, SelftestDiagnoseArgs};
pub use serve::ServeArgs;
pub use squeeze::SqueezeArgs;
pub use tryout::TryArgs;
pub use tune::{TuneArgs, TuneCommand};
pub use watch::{WatchArgs, WatchColumnOptions};

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use sysdyno_plan::options::{
    CapacityOptions, LoadOptions, NeedOptions, OriginOptions, ProbeOptions, ProveOptions, ReplayOptions,
    ServerOptions, SessionOptions, TargetOptions, WorkOptions, WorkloadOptions,
};

/// Measures how much load a Linux server can take, and names the bottleneck.
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
Numbers take a unit: 30s, 5k/s, 64KiB.
Options that show [env: NAME] can also be set in the environment, or in sysdyno.toml.
Precedence, highest first: command line, environment, ./sysdyno.toml,
~/.config/sysdyno/sysdyno.toml, /etc/sysdyno.toml.

Exit codes:
  0    done
  1    done, but a check failed: --fail-if, --fail-if-different, or a probed target never answered
  2    wrong usage, or cannot run
  3    done, but the results cannot be trusted, whatever the checks say
  6    a setting could not be made durable; nothing was changed
  7    a setting was not restored because somebody else changed it since
  130  interrupted";

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
    /// Run the whole loop against a built-in server with a planted bottleneck (about 90 seconds)
    Demo(DemoArgs),
    /// Find a server's capacity under a latency objective, and its bottleneck
    Run(Box<RunArgs>),
    /// Send load to a server and report the results
    #[command(after_help = habits::AFTER_HELP)]
    Load(Box<LoadArgs>),
    /// Try a reversible change on a live server and tell whether it helped
    Try(Box<TryArgs>),
    /// Take a little of each resource away and tell which ones the goodput of a server depends on
    Squeeze(Box<SqueezeArgs>),
    /// Tune a server by itself: measure, diagnose, try what fits, and keep what is proven
    Autotune(Box<AutotuneArgs>),
    /// Measure every combination of several factors, in blocks, and tell which ones differ
    Experiment(ExperimentArgs),
    /// Change kernel and service settings, with a guaranteed way back
    Tune(TuneArgs),
    /// Build a test bed of hosts, links, and real services, and tear it down again
    Lab(LabArgs),
    /// Send load from many hosts: agents that dial out to a broker
    Fleet(FleetArgs),
    /// Probe latency and loss from outside the load: several targets over HTTP, TCP, or ICMP
    Probe(ProbeArgs),
    /// Show where the CPU time goes, or what threads wait for, as a flame graph
    Profile(ProfileArgs),
    /// Watch what a host does: CPUs, interrupts, network, disks, memory
    Watch(WatchArgs),
    /// Compare runs: are they comparable, what differs, and by how much
    Compare(Box<CompareArgs>),
    /// Show hardware, kernel, and settings of a host, or what differs between two hosts
    Facts(FactsArgs),
    /// Show bonds and multipath routes, and predict which link carries the traffic of whom
    Links(LinksArgs),
    /// List recorded runs
    Runs(RunsArgs),
    /// Print a recorded run again
    Show(ShowArgs),
    /// Explain the bottleneck of a run, or what a diagnosis means
    Explain(ExplainArgs),
    /// Rebuild the HTML report of a recorded run
    Report(ReportArgs),
    /// Browse all runs, compare them, and watch one that is running, in a browser on this host
    Serve(ServeArgs),
    /// Plant a known fault in the services of a lab, to see whether it is noticed and named
    Inject(InjectArgs),
    /// Test sysdyno itself: plant known faults in real services, and check that each is named
    Selftest(SelftestArgs),
    /// Print shell completions
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
    /// Write man pages, shell completions, and the command reference to a folder
    #[command(hide = true)]
    Docs {
        /// Output folder, created if missing
        folder: PathBuf,
    },
    /// Serve requests to read this host (started by `--server`)
    #[command(hide = true)]
    Agent(AgentArgs),
    /// Burn CPU time by the orders on stdin, until it closes (started by `squeeze`)
    #[command(hide = true)]
    Burn {
        /// Do it in this process
        #[arg(long)]
        detached: bool,
    },
    /// Serve the built-in target until stdin closes
    #[command(hide = true)]
    Target(TargetArgs),
}

/// Arguments of `demo`.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Bottleneck to plant: accept-queue (drops connections; the demo then tries and proves the remedy), worker-pool (all
    /// workers are busy while the CPUs idle), or single-thread (one thread does all the work)
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
    /// An accept queue that is too short
    #[default]
    AcceptQueue,
    /// A worker pool that is too small
    WorkerPool,
    /// One thread that does all the work
    SingleThread,
}

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// Server to load: http[s]://HOST[:PORT]/PATH, unix:SOCKET[:/PATH], or memcached[s]://HOST[:PORT]
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
    /// After the search, send the highest load that met the objective again, and a fifth of it, each for 10s, and profile
    /// the server's host meanwhile; the report shows both flame graphs and what differs per response
    #[arg(long)]
    pub profile: bool,
    #[command(flatten)]
    pub prove: ProveOptions,
    /// State folder of --prove; journals of settings are in its 'tune' subfolder [default: /var/lib/sysdyno]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    #[command(flatten)]
    pub live: LiveOptions,
    #[command(flatten)]
    pub record: RecordOptions,
    /// Show no progress
    #[arg(long)]
    pub quiet: bool,
    /// Print the plan and the highest load that it can send, and exit
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub output: OutputOptions,
}

/// Arguments of `load`.
#[derive(Debug, clap::Args)]
pub struct LoadArgs {
    /// Server to load: http[s]://HOST[:PORT]/PATH, unix:SOCKET[:/PATH], or memcached[s]://HOST[:PORT]
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
    /// Send the load again after the measurement, for at most 10s, and profile the server's host meanwhile; the report shows a
    /// flame graph
    #[arg(long)]
    pub profile: bool,
    #[command(flatten)]
    pub live: LiveOptions,
    #[command(flatten)]
    pub record: RecordOptions,
    /// Show no progress
    #[arg(long)]
    pub quiet: bool,
    /// Print the plan and the highest load that it can send, and exit
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub output: OutputOptions,
}

/// How to print a result.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct OutputOptions {
    /// Output format [default: text]
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    pub output: Option<OutputForm>,
    /// Print the result as one JSON document (same as --output json)
    #[arg(long)]
    pub json: bool,
}

impl OutputOptions {
    /// The requested format.
    pub fn form(self) -> OutputForm {
        self.output.unwrap_or(if self.json { OutputForm::Json } else { OutputForm::Text })
    }
}

/// Output formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputForm {
    /// One screen of text
    #[default]
    Text,
    /// One JSON document
    Json,
    /// One line of JSON per second and per event, as they happen
    Jsonl,
    /// A header line, then one line per measured phase
    Csv,
    /// HdrHistogram's percentile text, for its plotters
    Hdr,
    /// ApacheBench's output, for scripts that parse it
    Ab,
}

impl OutputForm {
    /// The format for a command that has only `--json`.
    pub fn of_json(is_json: bool) -> OutputForm {
        if is_json { OutputForm::Json } else { OutputForm::Text }
    }
}

/// How to print a comparison.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ComparisonOutputOptions {
    /// Output format [default: text]
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    pub output: Option<ComparisonForm>,
    /// Print the result as one JSON document (same as --output json)
    #[arg(long)]
    pub json: bool,
}

impl ComparisonOutputOptions {
    /// The requested format.
    pub fn form(self) -> ComparisonForm {
        self.output.unwrap_or(ComparisonForm::of_json(self.json))
    }
}

/// Output formats of comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ComparisonForm {
    /// One screen of text
    #[default]
    Text,
    /// One JSON document
    Json,
    /// One line of JSON per second, event, trial, and pair, as they happen
    Jsonl,
}

impl ComparisonForm {
    /// The format for a command that has only `--json`.
    pub fn of_json(is_json: bool) -> ComparisonForm {
        if is_json { ComparisonForm::Json } else { ComparisonForm::Text }
    }
}

/// Arguments of `show`.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// Run: its folder, its name, or the end of its name; or a file with the lines of `sysdyno probe` [default: the newest run]
    pub run: Option<PathBuf>,
    #[command(flatten)]
    pub record: RecordOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    /// Also check every file against its digest
    #[arg(long)]
    pub verify: bool,
}

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// Run (its folder, its name, or the end of its name) or the number or name of a diagnosis, e.g. T01 [default: the newest run]
    #[arg(value_name = "RUN|ID")]
    pub what: Option<PathBuf>,
    /// List all diagnoses and checks
    #[arg(long, conflicts_with = "what")]
    pub list: bool,
    #[command(flatten)]
    pub record: RecordOptions,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// Run: its folder, its name, or the end of its name; or a file with the lines of `sysdyno probe` [default: the newest run]
    pub run: Option<PathBuf>,
    #[command(flatten)]
    pub record: RecordOptions,
    /// Write the report to this file instead of the run's folder
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of the built-in target.
#[derive(Debug, clap::Args)]
pub struct TargetArgs {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1:0")]
    pub listen: std::net::SocketAddr,
    /// Number of serving threads
    #[arg(long, default_value_t = 1)]
    pub threads: u32,
    /// Length of each response's body. Unit: bytes
    #[arg(long, default_value_t = 612)]
    pub body_bytes: u32,
    /// Use a pool of this many workers, each of which holds a request for --hold-ms
    #[arg(long, group = "bottleneck")]
    pub workers: Option<u32>,
    /// How long a worker holds a request. Unit: milliseconds
    #[arg(long, default_value_t = 5)]
    pub hold_ms: u64,
    /// Use one thread that works this long on each request. Unit: microseconds
    #[arg(long, group = "bottleneck")]
    pub work_us: Option<u64>,
    /// Use an accept queue of this length, and accept one connection every --accept-delay-ms
    #[arg(long, group = "bottleneck")]
    pub backlog: Option<u32>,
    /// Time between two accepts. Unit: milliseconds
    #[arg(long, default_value_t = 100)]
    pub accept_delay_ms: u64,
    /// Stall for --stall-for-ms once per this interval. Unit: milliseconds
    #[arg(long, group = "bottleneck")]
    pub stall_every_ms: Option<u64>,
    /// Length of a stall. Unit: milliseconds
    #[arg(long, default_value_t = 1000)]
    pub stall_for_ms: u64,
    /// Delay responses by these times, in turn. Unit: microseconds
    #[arg(long, value_delimiter = ',', group = "bottleneck")]
    pub delays_us: Vec<u32>,
}
