//! Options of `try`, and its experiment file.

use super::habits;
use super::target::TargetOptions;
use super::typed::{Typed, read_as_text};
use super::words::Word;
use clap::Args;
use serde::Deserialize;
use std::str::FromStr;
use sysdyno_record::effect::Comparison;
use sysdyno_record::plan::Arrival;
use sysdyno_record::tryout::Metric;
use sysdyno_record::units::{RateHz, SpanNs};

/// How an experiment proceeds.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Experiment")]
pub struct TryOptions {
    /// Deciding metric: cpu (per request, at a fixed rate), goodput, p99, capacity, or, for commands, time or cpu-time
    /// [default: cpu, or time for commands]
    #[arg(long, value_enum, env = "SYSDYNO_METRIC")]
    pub metric: Option<Word<Metric>>,
    /// Smallest effect that matters [default: 3% for cpu, goodput, and time, 5% for capacity, 10% for p99]
    #[arg(long, value_name = "PERCENT", env = "SYSDYNO_EFFECT")]
    pub effect: Option<PercentOption>,
    /// Time budget for the whole experiment [default: 20m]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_BUDGET")]
    pub budget: Option<Typed<SpanNs>>,
    /// Maximum number of pairs per comparison, at least 8 [default: 40]
    #[arg(long, value_name = "N", env = "SYSDYNO_PAIRS")]
    pub pairs: Option<u32>,
    /// Length of each measured window [default: 10s]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_WINDOW")]
    pub window: Option<Typed<SpanNs>>,
    /// Warm-up before each window [default: as long as the pilot takes to settle]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_WARMUP")]
    pub warmup: Option<Typed<SpanNs>>,
    /// Number of connections; in a closed load, each one is a client [default: 64]
    #[arg(long, short = 'c', value_name = "N", env = "SYSDYNO_CONNECTIONS")]
    pub connections: Option<u32>,
    /// Offered rate of each trial [default: --share of the pilot's rate; for goodput, a closed load]
    #[arg(long, short = 'r', value_name = "RATE", env = "SYSDYNO_RATE", conflicts_with = "share")]
    pub rate: Option<Typed<RateHz>>,
    /// Offered rate as a share of what the weaker of A and B can take [default: 70%]
    #[arg(long, value_name = "PERCENT", env = "SYSDYNO_SHARE")]
    pub share: Option<PercentOption>,
    /// Arrival process of an open load [default: poisson]
    #[arg(long, value_enum, env = "SYSDYNO_ARRIVAL")]
    pub arrival: Option<Word<Arrival>>,
    /// Keep the change until the next boot if B is better and all guardrails held
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL")]
    pub keep: Option<bool>,
    /// Compare the host with itself to find the smallest effect that it can resolve; later verdicts quote it
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL")]
    pub calibrate: Option<bool>,
    /// Keep pairs that were disturbed by other activity on the host; the interval widens instead
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL")]
    pub noisy: Option<bool>,
    /// Fail with exit code 1 on this verdict
    #[arg(
        long = "fail-if",
        value_enum,
        value_delimiter = ',',
        value_name = "WORD",
        env = "SYSDYNO_TRY_FAIL_IF"
    )]
    pub fail_if: Vec<Word<Comparison>>,
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
            .ok_or_else(|| format!("cannot read '{text}': write a percentage, such as '3%'"))
    }
}

read_as_text!(PercentOption);

/// A file that defines what to compare.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TryFile {
    /// The server under load, unless A and B have their own.
    pub url: Option<String>,
    /// The command to time under A and B, instead of loading a server.
    pub command: Option<String>,
    /// The command to run before each of its runs, unmeasured.
    pub prepare: Option<String>,
    /// The command to run after each of its runs, unmeasured.
    pub clean: Option<String>,
    /// Side A; empty means the host as it is.
    pub a: SideTable,
    /// Side B.
    pub b: SideTable,
    /// How the experiment proceeds.
    #[serde(rename = "try")]
    pub options: TryOptions,
    /// The request and its response.
    pub target: TargetOptions,
}

/// One side of an experiment in a file; it sets at most one of these fields.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SideTable {
    /// Settings, as `KEY=VALUE`.
    pub settings: Vec<String>,
    /// The command to time.
    pub command: Option<String>,
    /// The command that switches the server to this side, before its trials.
    pub prepare: Option<String>,
    /// The server of this side.
    pub url: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every file in `experiments/` is valid for `try --experiment`, `experiment run`, or `autotune`.
    #[test]
    fn the_files_that_come_with_it_can_be_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
        let files = std::fs::read_dir(folder).expect("is there").map(|entry| entry.expect("is there").path());
        let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
        assert!(files.len() >= 3, "{files:?}");
        for file in files {
            let text = std::fs::read_to_string(&file).expect("is text");
            if text.contains("\nblocks = ") {
                toml::from_str::<crate::options::ExperimentFile>(&text)
                    .unwrap_or_else(|error| panic!("{file:?}: {error}"));
                continue;
            }
            if text.contains("\n[autotune]\n") {
                crate::autotune::read(&text).unwrap_or_else(|error| panic!("{file:?}: {error}"));
                continue;
            }
            let read: TryFile = toml::from_str(&text).unwrap_or_else(|error| panic!("{file:?}: {error}"));
            let is_empty = read.b.settings.is_empty() && read.b.command.is_none();
            assert!(!is_empty, "{file:?} says nothing of B");
        }
    }
}
