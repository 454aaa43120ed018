//! Command-line arguments of `profile`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;
use sysdyno_plan::options::{BrokerOptions, SshOptions, Typed};
use sysdyno_record::place::HostPlace;
use sysdyno_record::profile::SampledEvent;
use sysdyno_record::units::SpanNs;

/// What the help of single options does not say.
const AFTER_HELP: &str = "\
Without -p, --tier, and --cgroup, all processes of the host are profiled, which needs root. Users can profile their own processes. \
Ctrl-C stops early and shows the samples so far. \
Do not profile during a measurement: sampling costs the server some CPU time.";

/// Arguments of `profile`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ProfileArgs {
    /// Profile this process and its children; repeatable
    #[arg(long = "pid", short = 'p', value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub pids: Vec<u32>,
    /// Profile processes whose name starts with this, such as php-fpm, and their children; repeatable
    #[arg(long = "tier", value_name = "NAME")]
    pub tiers: Vec<String>,
    /// Profile the processes in this control group, and their children; a path, or the beginning of the name of a unit or of
    /// a container's id; repeatable
    #[arg(long = "cgroup", value_name = "NAME")]
    pub cgroups: Vec<String>,
    /// Profile another host: netns:NAME, netns:/PATH, [USER@]HOST, ssh://[USER@]HOST[:PORT], or fleet:NAME, as for
    /// `load --server`
    #[arg(long, value_name = "HOST", env = "SYSDYNO_SERVER")]
    pub server: Option<Typed<HostPlace>>,
    /// Use `sudo -n` on that host
    #[arg(long, requires = "server")]
    pub server_sudo: bool,
    /// How ssh reaches it.
    #[command(flatten)]
    pub ssh: SshOptions,
    /// How the broker of a fleet is reached.
    #[command(flatten)]
    pub broker: BrokerOptions,
    /// Duration [default: 10s]
    #[arg(long, short = 'd', value_name = "DURATION")]
    pub duration: Option<Typed<SpanNs>>,
    /// Samples per second and CPU
    #[arg(long, short = 'F', value_name = "HZ", default_value_t = 99, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub frequency: u32,
    /// Sample at this event; the more of them in a function, the more samples. All but cpu-clock need hardware counters [default:
    /// cycles, or cpu-clock on a machine without counters]
    #[arg(long, value_name = "EVENT", conflicts_with = "off_cpu",
        value_parser = PossibleValuesParser::new(SampledEvent::ALL.map(SampledEvent::name)))]
    pub event: Option<String>,
    /// Show what threads wait for instead of where the CPU time goes; records every context switch
    #[arg(long)]
    pub off_cpu: bool,
    /// Print in this format [default: text]
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    pub output: Option<ProfileForm>,
    /// Write to this file; without --output, its ending names the format: .html, .folded, .pb.gz, .firefox.json, or .json
    #[arg(long = "file", short = 'o', value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Print the result as one JSON document (same as --output json)
    #[arg(long)]
    pub json: bool,
}

/// Formats of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ProfileForm {
    /// One screen of text
    Text,
    /// One HTML page with an interactive flame graph
    Html,
    /// Folded stacks, for FlameGraph, inferno, and speedscope
    Folded,
    /// pprof's compressed protocol buffer
    Pprof,
    /// JSON that the Firefox Profiler opens
    Firefox,
    /// One JSON document
    Json,
}

impl ProfileForm {
    /// The format that a file name's ending implies, if any.
    pub fn of_file(name: &str) -> Option<ProfileForm> {
        let endings = [
            (".html", ProfileForm::Html),
            (".folded", ProfileForm::Folded),
            (".pb.gz", ProfileForm::Pprof),
            (".firefox.json", ProfileForm::Firefox),
            (".json", ProfileForm::Json),
            (".txt", ProfileForm::Text),
        ];
        endings.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, form)| form)
    }
}
