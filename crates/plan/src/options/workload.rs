//! Options that replace the single request.

use super::habits;
use super::typed::read_as_text;
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;
use std::str::FromStr;

/// A fixed set of requests instead of a single one.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Workload")]
pub struct WorkloadOptions {
    /// File with URLs of this server, one '[WEIGHT] [METHOD] URL' per line
    ///
    /// Each request picks a URL at random, by weight (1 if omitted). A URL may be just a path. Each URL is an operation with
    /// its own counts and latency. Headers, body, and expected responses are the same for all URLs and come from the
    /// options.
    #[arg(long, value_name = "FILE", env = "SYSDYNO_URLS")]
    pub urls: Option<PathBuf>,
    /// Access log (common or combined format) whose GET and HEAD requests are sent at random, in the same proportions
    #[arg(long, value_name = "LOG", conflicts_with = "urls", env = "SYSDYNO_MIX")]
    pub mix: Option<PathBuf>,
}

/// An access log as the load itself; only for `load`.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Workload")]
pub struct ReplayOptions {
    /// Access log (common or combined format) whose GET and HEAD requests are replayed with their original timing
    ///
    /// Logs have whole seconds; requests are spread at random within each second. Makes the load open.
    #[arg(long, value_name = "LOG", conflicts_with_all = ["urls", "mix", "rate", "steps", "requests", "warmup", "arrival"], env = "SYSDYNO_REPLAY")]
    pub replay: Option<PathBuf>,
    /// Replay speed, such as 2x or 0.5x [default: 1x]
    #[arg(long, value_name = "FACTOR", env = "SYSDYNO_SPEED")]
    pub speed: Option<SpeedOption>,
}

/// A factor as typed: `2x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedOption(pub f64);

/// Factors that can be typed.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.001..=100_000.0;

impl FromStr for SpeedOption {
    type Err = String;

    fn from_str(text: &str) -> Result<SpeedOption, String> {
        let hint = || format!("cannot read factor '{text}': write '2x' or '0.5x'");
        let number: f64 = text.trim().trim_end_matches(['x', '×']).parse().map_err(|_| hint())?;
        if SPEEDS.contains(&number) { Ok(SpeedOption(number)) } else { Err(hint()) }
    }
}

read_as_text!(SpeedOption);

/// Real traffic to compare the capacity with; only for `run`.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Workload")]
pub struct NeedOptions {
    /// Access log of real traffic (common or combined format); the capacity is also given as a multiple of its busiest minute
    #[arg(long, value_name = "LOG", env = "SYSDYNO_NEED")]
    pub need: Option<PathBuf>,
}

/// Users that move from operation to operation; only for `load`.
#[derive(Clone, Debug, Default, PartialEq, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Workload")]
pub struct SessionOptions {
    /// Simulate users: 'web20', or a TOML file with operations, transitions, and think times
    ///
    /// --users sets the number of concurrent users, or --rate the number of new sessions per second; --warmup is the ramp-up,
    /// --duration the measured time. Users share --connections [default: one each, up to 1024]. Exit code 1 if a rule of the
    /// session is not met. docs/reference/sessions.md describes the file.
    #[arg(long, value_name = "web20 | FILE", conflicts_with_all = ["urls", "mix", "replay", "steps", "requests", "arrival", "body_file"], env = "SYSDYNO_SESSION")]
    pub session: Option<String>,
    /// Number of concurrent users [default: set by the session]
    #[arg(long, value_name = "N", conflicts_with = "rate", value_parser = clap::value_parser!(u32).range(1..=2_000_000), env = "SYSDYNO_USERS")]
    pub users: Option<u32>,
    /// Skip embedded objects and uploads
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL", env = "SYSDYNO_PAGES_ONLY")]
    pub pages_only: Option<bool>,
}
