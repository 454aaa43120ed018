//! Command-line arguments of `watch`.

use super::RecordOptions;
use clap::Args;
use sysdyno_plan::options::{BrokerOptions, SshOptions, Typed};
use sysdyno_record::place::HostPlace;
use sysdyno_record::units::SpanNs;

const AFTER_HELP: &str = "\
On a terminal, and without column options, a full screen opens; ? lists its keys. Elsewhere, \
the columns are -cdngy, as in dstat, unless you choose others. Rates are per second; for bytes, k is 1,024. \
A value that the kernel does not provide is '–', never 0. watch changes nothing on the host, and needs root \
for few of its values.";

/// Arguments of `watch`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct WatchArgs {
    /// Hosts to watch: netns:NAME, netns:/PATH, [USER@]HOST, ssh://[USER@]HOST[:PORT], or fleet:NAME, as for `load --server`
    /// [default: this one]
    #[arg(value_name = "HOST")]
    pub hosts: Vec<Typed<HostPlace>>,
    /// Use `sudo -n` on those hosts, to see processes of other users
    #[arg(long, requires = "hosts")]
    pub sudo: bool,
    /// How ssh reaches them.
    #[command(flatten)]
    pub ssh: SshOptions,
    /// How the broker of a fleet is reached.
    #[command(flatten)]
    pub broker: BrokerOptions,
    /// Interval between samples; at least 100ms [default: 1s]
    #[arg(long, short = 'i', value_name = "DURATION")]
    pub interval: Option<Typed<SpanNs>>,
    /// Stop after this many lines of each host [default: run until Ctrl-C]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Watch the server that listens on ADDRESS:PORT or a socket's path, and the tiers that it calls
    #[arg(long, value_name = "ADDRESS")]
    pub target: Option<String>,
    #[command(flatten)]
    pub columns: WatchColumnOptions,
    /// Print CSV: a header line, then a line per sample
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Print one JSON document per sample, on one line, with every value read
    #[arg(long)]
    pub json: bool,
    /// Also record the host, in a run folder that `show`, `report`, and `serve` open; one host only
    #[arg(long)]
    pub record: bool,
    #[command(flatten)]
    pub folder: RecordOptions,
}

/// Which columns to show.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
pub struct WatchColumnOptions {
    /// Time of day, in UTC
    #[arg(long, short = 't')]
    pub time: bool,
    /// CPU: user, system, idle, waiting for disks, interrupts, softirq, stolen
    #[arg(long, short = 'c')]
    pub cpu: bool,
    /// Show these CPUs separately, such as 0,1,total (implies --cpu)
    #[arg(long, short = 'C', value_name = "LIST", value_delimiter = ',')]
    pub cpus: Vec<String>,
    /// Disks: read, written
    #[arg(long, short = 'd')]
    pub disk: bool,
    /// Show these disks separately, such as sda,total (implies --disk)
    #[arg(long, short = 'D', value_name = "LIST", value_delimiter = ',')]
    pub disks: Vec<String>,
    /// Network: received, sent
    #[arg(long, short = 'n')]
    pub net: bool,
    /// Show these interfaces separately, such as eth0,lo (implies --net)
    #[arg(long, short = 'N', value_name = "LIST", value_delimiter = ',')]
    pub nets: Vec<String>,
    /// Paging: swapped in, swapped out
    #[arg(long, short = 'g')]
    pub paging: bool,
    /// Interrupts and context switches
    #[arg(long, short = 'y')]
    pub sys: bool,
    /// Memory: available, free, cached, dirty
    #[arg(long, short = 'm')]
    pub mem: bool,
    /// Tasks: runnable, new, all
    #[arg(long, short = 'p')]
    pub procs: bool,
    /// TCP: established, TIME_WAIT, accepted, retransmitted, dropped at a listener
    #[arg(long)]
    pub tcp: bool,
    /// Receive processing: packets, cut short, dropped
    #[arg(long)]
    pub softnet: bool,
    /// Pressure stalls of CPU, memory, and disks
    #[arg(long)]
    pub pressure: bool,
    /// Show these lines of /proc/interrupts, such as 24,LOC
    #[arg(long, short = 'I', value_name = "LIST", value_delimiter = ',')]
    pub irqs: Vec<String>,
    /// The process that uses the most CPU
    #[arg(long)]
    pub top: bool,
}
