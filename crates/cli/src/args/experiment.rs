//! What can be typed behind `try`.

use super::options::{ArrivalOption, TargetOptions, Typed};
use super::{FenceOptions, RecordOptions, WorkloadOptions, habits};
use clap::{Args, ValueEnum};
use serde::Deserialize;
use std::path::PathBuf;
use std::str::FromStr;
use sysdyno_record::effect::Comparison;
use sysdyno_record::experiment::Metric;
use sysdyno_record::units::{RateHz, SpanNs};

/// Arguments of `try`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct TryArgs {
    /// Settings and what B makes of them, as in net.core.somaxconn=4096; listener.backlog=N is that of the server's own port
    #[arg(value_name = "KEY=VALUE")]
    pub changes: Vec<String>,
    /// The server under load; of two, the second is B
    #[arg(last = true, value_name = "URL", num_args = 1..=2)]
    pub servers: Vec<String>,
    /// Command that is A; its time is the metric
    #[arg(long = "a", value_name = "COMMAND", requires = "command_b", conflicts_with_all = ["changes", "servers"])]
    pub command_a: Option<String>,
    /// Command that is B
    #[arg(long = "b", value_name = "COMMAND", requires = "command_a")]
    pub command_b: Option<String>,
    /// Hand commands to /bin/sh instead of starting their program
    #[arg(long)]
    pub shell: bool,
    /// File that says what A and B are, and any option
    #[arg(long, value_name = "FILE", conflicts_with_all = ["changes", "servers", "command_a"])]
    pub experiment: Option<PathBuf>,
    #[command(flatten)]
    pub options: TryOptions,
    #[command(flatten)]
    pub target: TargetOptions,
    #[command(flatten)]
    pub workload: WorkloadOptions,
    #[command(flatten)]
    pub fence: FenceOptions,
    #[command(flatten)]
    pub record: RecordOptions,
    /// State folder of settings; journals lie in 'tune' below it [default: /var/lib/sysdyno]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    /// Tree whose /proc, /sys and /etc are meant
    #[arg(long, value_name = "FOLDER", default_value = "/", hide = true)]
    pub root: PathBuf,
    /// Print the plan, with how long it may take, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
A is the host as it is, B the same with the change. Trials run in pairs, in an order that the seed
draws; measuring ends when the interval is narrower than the effect that matters, and never by what
it says. The word is better, worse, the same, or can't tell. Everything is undone at the end, however
it ends, unless --keep was given and B is better with every guardrail held.";

/// How an experiment goes.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Experiment")]
pub struct TryOptions {
    /// What decides: cpu (per request, at a fixed rate), goodput, p99, capacity, or time (of commands) [default: cpu, of
    /// commands time]
    #[arg(long, value_enum, env = "SYSDYNO_METRIC")]
    pub metric: Option<MetricOption>,
    /// The smallest effect that matters [default: 3% of cpu, goodput and time, 5% of capacity, 10% of p99]
    #[arg(long, value_name = "PERCENT", env = "SYSDYNO_EFFECT")]
    pub effect: Option<PercentOption>,
    /// How long it may take [default: 20m]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_BUDGET")]
    pub budget: Option<Typed<SpanNs>>,
    /// Most pairs of one comparison, at least 8 [default: 40]
    #[arg(long, value_name = "N", env = "SYSDYNO_PAIRS")]
    pub pairs: Option<u32>,
    /// Length of each measured window [default: 10s]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_WINDOW")]
    pub window: Option<Typed<SpanNs>>,
    /// Load before each window [default: what the pilot needs to settle]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_WARMUP")]
    pub warmup: Option<Typed<SpanNs>>,
    /// Connections; of a closed load, each is a client [default: 64]
    #[arg(long, short = 'c', value_name = "N", env = "SYSDYNO_CONNECTIONS")]
    pub connections: Option<u32>,
    /// Offered rate of each trial [default: a share of what the pilot finds; for goodput, as much as the connections take]
    #[arg(long, short = 'r', value_name = "RATE", env = "SYSDYNO_RATE", conflicts_with = "share")]
    pub rate: Option<Typed<RateHz>>,
    /// Offered rate as a share of what the weaker of A and B takes [default: 70%]
    #[arg(long, value_name = "PERCENT", env = "SYSDYNO_SHARE")]
    pub share: Option<PercentOption>,
    /// How requests of an open load arrive [default: poisson]
    #[arg(long, value_enum, env = "SYSDYNO_ARRIVAL")]
    pub arrival: Option<ArrivalOption>,
    /// Keep the change until the next boot if B is better and every guardrail held
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL")]
    pub keep: Option<bool>,
    /// Compare the host with itself, to learn what it can resolve; later verdicts quote it
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL")]
    pub calibrate: Option<bool>,
    /// Count pairs whatever others do on the host: the interval gets wider instead
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL")]
    pub noisy: Option<bool>,
    /// Fail (exit code 1) if this is the word
    #[arg(
        long = "fail-if",
        value_enum,
        value_delimiter = ',',
        value_name = "WORD",
        env = "SYSDYNO_TRY_FAIL_IF"
    )]
    pub fail_if: Vec<WordOption>,
}

/// Metrics that can decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricOption {
    /// CPU time of the server's processes per request
    Cpu,
    /// Completed and valid requests
    Goodput,
    /// 99th percentile of the latency
    P99,
    /// Highest rate that meets p99<50ms
    Capacity,
    /// How long a command takes
    Time,
    /// CPU time of a command
    CpuTime,
}

impl From<MetricOption> for Metric {
    fn from(option: MetricOption) -> Metric {
        match option {
            MetricOption::Cpu => Metric::Cpu,
            MetricOption::Goodput => Metric::Goodput,
            MetricOption::P99 => Metric::P99,
            MetricOption::Capacity => Metric::Capacity,
            MetricOption::Time => Metric::Time,
            MetricOption::CpuTime => Metric::CpuTime,
        }
    }
}

/// Words of a comparison, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WordOption {
    /// B is better
    Better,
    /// B is worse
    Worse,
    /// B is the same
    Same,
    /// It can't be told
    CannotTell,
}

impl From<WordOption> for Comparison {
    fn from(option: WordOption) -> Comparison {
        match option {
            WordOption::Better => Comparison::Better,
            WordOption::Worse => Comparison::Worse,
            WordOption::Same => Comparison::Same,
            WordOption::CannotTell => Comparison::CannotTell,
        }
    }
}

/// A share as typed: `3%`. Unit: ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PercentOption(pub f64);

impl FromStr for PercentOption {
    type Err = String;

    fn from_str(text: &str) -> Result<PercentOption, String> {
        let number = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        number
            .filter(|percent| *percent > 0.0 && *percent <= 1000.0)
            .map(|percent| PercentOption(percent / 100.0))
            .ok_or_else(|| format!("cannot read '{text}': write a percentage, as in '3%'"))
    }
}

impl<'de> Deserialize<'de> for PercentOption {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A file that says what is compared.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExperimentFile {
    /// The server under load, where A and B have none of their own.
    pub url: Option<String>,
    /// What A is; nothing is the host as it is.
    pub a: SideTable,
    /// What B is.
    pub b: SideTable,
    /// How it goes.
    #[serde(rename = "try")]
    pub options: TryOptions,
    /// The request and its response.
    pub target: TargetOptions,
}

/// One side of an experiment in a file; at most one of its fields is given.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SideTable {
    /// Settings, as `KEY=VALUE`.
    pub settings: Vec<String>,
    /// The command that is timed.
    pub command: Option<String>,
    /// The command that brings the server into this side, before its trials.
    pub prepare: Option<String>,
    /// The server of this side.
    pub url: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lies in `experiments/` is what `try --experiment` or `experiment run` takes.
    #[test]
    fn the_files_that_come_with_it_can_be_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
        let files = std::fs::read_dir(folder).expect("is there").map(|entry| entry.expect("is there").path());
        let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
        assert!(files.len() >= 3, "{files:?}");
        for file in files {
            let text = std::fs::read_to_string(&file).expect("is text");
            if text.contains("\nblocks = ") {
                toml::from_str::<crate::args::MatrixFile>(&text)
                    .unwrap_or_else(|error| panic!("{file:?}: {error}"));
                continue;
            }
            let read: ExperimentFile =
                toml::from_str(&text).unwrap_or_else(|error| panic!("{file:?}: {error}"));
            let is_empty = read.b.settings.is_empty() && read.b.command.is_none();
            assert!(!is_empty, "{file:?} says nothing of B");
        }
    }
}
