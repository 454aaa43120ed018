//! Options of a load: how much to send, and when.

use super::habits;
use super::objective::ObjectiveOption;
use super::typed::{Typed, read_as_text};
use super::words::Word;
use clap::Args;
use serde::Deserialize;
use std::str::FromStr;
use sysdyno_analyze::fail_if::{FailIf, FailIfError};
use sysdyno_record::plan::Arrival;
use sysdyno_record::units::{RateHz, SpanNs, UnitError};

/// How much to send, and when.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Load")]
pub struct LoadOptions {
    /// Number of connections; without --rate, each one waits for a response before it sends again [default: 64]
    #[arg(long, short = 'c', alias = "vus", value_name = "N", env = "SYSDYNO_CONNECTIONS")]
    pub connections: Option<u32>,
    /// How long to send; a bare number is in seconds, as in wrk [default: 10s]
    #[arg(long, short = 'd', short_alias = 'z', value_name = "DURATION", value_parser = habits::duration, conflicts_with = "requests", env = "SYSDYNO_DURATION")]
    pub duration: Option<Typed<SpanNs>>,
    /// Stop after this many requests
    #[arg(long, short = 'n', alias = "iterations", value_name = "N", env = "SYSDYNO_REQUESTS")]
    pub requests: Option<u64>,
    /// Offered rate; makes the load open: requests are sent on schedule, even if the server falls behind
    #[arg(long, short = 'r', short_alias = 'R', aliases = ["rps", "qps"], value_name = "RATE", env = "SYSDYNO_RATE")]
    pub rate: Option<Typed<RateHz>>,
    /// Several rates in turn, each for --duration
    #[arg(long, value_name = "RATE,…", value_delimiter = ',', conflicts_with_all = ["rate", "requests"])]
    pub steps: Vec<Typed<RateHz>>,
    /// A rate or number of clients that changes over time: 100/s..5k/s:60s, steps:100/s..1k/s:10x30s, 10..200:60s, or a file
    ///
    /// 'A..B:TIME' is a straight line from one rate to another; join several with commas, and repeat them with '9x(…)'.
    /// 'steps:A..B:NxTIME' is N equal steps of TIME each. A CSV file with the columns 'time' (in seconds) and 'rate' (per
    /// second) is joined by straight lines. Without '/s', the values are numbers of clients in a closed load. Each line or
    /// step is a phase.
    #[arg(long, value_name = "RAMP | FILE", conflicts_with_all = ["rate", "steps", "requests", "duration"], env = "SYSDYNO_RAMP")]
    pub ramp: Option<String>,
    /// Objective of an open load [default: p99<50ms]
    ///
    /// Responses that take longer are what a bottleneck has to explain. Of a ramp or steps, the result says where it was first missed.
    #[arg(long, value_name = "pN<DURATION")]
    pub objective: Option<ObjectiveOption>,
    /// Arrival process of an open load [default: poisson]
    #[arg(long, value_enum, env = "SYSDYNO_ARRIVAL")]
    pub arrival: Option<Word<Arrival>>,
    /// Send this long before measuring starts [default: 0s]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_WARMUP")]
    pub warmup: Option<WarmupOption>,
    /// Fail with exit code 1 if this holds, such as 'p99>20ms', 'errors>0.1%', or 'goodput<5k/s'; repeatable
    ///
    /// METRIC is one of:
    /// p50, p90, p95, p99, p99.9, max, or mean of the response time (in a closed loop, of the service time), or of the
    /// time that a prefix names (response., service., slip., connect., handshake., first_byte.);
    /// errors or timeouts, as a share of sent requests;
    /// rate (completed requests per second) or goodput (completed and valid ones);
    /// bytes received per second;
    /// a status code or class (404, 5xx), as a count or a share of responses;
    /// cpu, the generator's CPU time per request.
    /// OP is >, >=, <, or <=. LIMIT has a unit: 20ms, 0.1%, 5k/s, 10MiB/s, or a plain 0.
    /// A check that cannot be decided, such as a percentile with too few samples, fails.
    #[arg(long = "fail-if", value_name = "METRIC OP LIMIT", value_delimiter = ',', env = "SYSDYNO_FAIL_IF")]
    pub fail_if: Vec<FailIfOption>,
}

/// A warm-up as typed: a duration, or none for `0s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarmupOption(pub Option<SpanNs>);

impl FromStr for WarmupOption {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<WarmupOption, UnitError> {
        let is_none = matches!(text.trim(), "0" | "0s" | "0ms");
        if is_none { Ok(WarmupOption(None)) } else { text.parse().map(|span| WarmupOption(Some(span))) }
    }
}

read_as_text!(WarmupOption);

/// A check of the result as typed: `p99>20ms`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailIfOption(pub String);

impl FromStr for FailIfOption {
    type Err = FailIfError;

    fn from_str(text: &str) -> Result<FailIfOption, FailIfError> {
        text.parse::<FailIf>().map(|check| FailIfOption(check.text().to_owned()))
    }
}

read_as_text!(FailIfOption);
