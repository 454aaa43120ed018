//! Options that several commands share. The same structures are read from `sysdyno.toml`, key for option.

use super::habits::{self, TimeoutOrType};
use super::{Allow, WireOptions};
use clap::Args;
use serde::Deserialize;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use sysdyno_analyze::fail_if::{FailIf, FailIfError};
use sysdyno_record::plan::{Arrival, IoChoice, Objective, SpinChoice, StampChoice};
use sysdyno_record::units::{Bytes, RateHz, SpanNs, UnitError};

/// A value that is typed as text with its unit, on the command line and in files alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Typed<T>(pub T);

impl<T: FromStr> FromStr for Typed<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        text.parse().map(Typed)
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Typed<T> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map(Typed).map_err(serde::de::Error::custom)
    }
}

/// What is sent and what must come back.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Request and response")]
pub struct TargetOptions {
    /// Request method [default: GET]
    #[arg(long, short = 'm', short_alias = 'X', alias = "request", value_name = "METHOD", value_parser = habits::method, env = "SYSDYNO_METHOD")]
    pub method: Option<String>,
    /// Request header; repeatable
    ///
    /// URL, headers, and body may contain values, which are filled in for each request: '{{counter:1..}}', '{{random:1..9}}',
    /// '{{csv:users.csv:name}}'. docs/reference/values.md lists them.
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE")]
    pub header: Vec<Field>,
    /// File with the request body
    #[arg(long, short = 'p', value_name = "FILE", env = "SYSDYNO_BODY_FILE")]
    pub body_file: Option<PathBuf>,
    /// Content type of the request body
    #[arg(long, value_name = "TYPE", env = "SYSDYNO_CONTENT_TYPE")]
    pub content_type: Option<String>,
    /// Accepted status codes [default: 200 to 399]
    #[arg(long, value_delimiter = ',', value_name = "CODE,…", env = "SYSDYNO_EXPECT_STATUS")]
    pub expect_status: Vec<u16>,
    /// Exact length of the response body, in bytes
    #[arg(long, value_name = "BYTES", env = "SYSDYNO_EXPECT_LENGTH")]
    pub expect_length: Option<u64>,
    /// Header that every response must have, with this value if given
    #[arg(long, value_name = "NAME[: VALUE]", env = "SYSDYNO_EXPECT_HEADER")]
    pub expect_header: Option<Field>,
    /// Text that every response body must contain
    #[arg(long, value_name = "TEXT", env = "SYSDYNO_EXPECT_BODY")]
    pub expect_body: Option<String>,
    /// Accept response bodies that differ from the first one (by default, they count as failures)
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL", conflicts_with = "same_body", env = "SYSDYNO_ANY_BODY")]
    pub any_body: Option<bool>,
    /// Count response bodies that differ from the first one as failures (the default)
    #[arg(long, hide = true)]
    #[serde(skip)]
    pub same_body: bool,
    /// Longest response body to read [default: 64MiB]
    #[arg(long, value_name = "SIZE", env = "SYSDYNO_MAX_BODY")]
    pub max_body: Option<Typed<Bytes>>,
    /// Time out a request this long after its intended send [default: 10s]
    #[arg(long, alias = "max-time", value_name = "DURATION", env = "SYSDYNO_TIMEOUT")]
    pub timeout: Option<Typed<SpanNs>>,
    /// Same as --timeout if a duration (as in wrk), or --content-type if it has a slash (as in ab)
    #[arg(short = 'T', value_name = "DURATION | TYPE", value_parser = habits::timeout_or_type, conflicts_with_all = ["timeout", "content_type"])]
    #[serde(skip)]
    pub timeout_or_type: Option<TimeoutOrType>,
    /// Time out a connection attempt after this long [default: 5s]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_CONNECT_TIMEOUT")]
    pub connect_timeout: Option<Typed<SpanNs>>,
    /// Time out a request when no data has arrived for this long [default: --timeout]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_IDLE_TIMEOUT")]
    pub idle_timeout: Option<Typed<SpanNs>>,
    /// Keep connections alive, as in ab and weighttp (the default here)
    #[arg(long, short = 'k', conflicts_with = "no_keepalive")]
    #[serde(skip)]
    pub keep_alive: bool,
    /// Open a new connection for each request, as ab does without -k
    #[arg(long, alias = "disable-keepalive", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL", conflicts_with = "requests_per_connection", env = "SYSDYNO_NO_KEEPALIVE")]
    pub no_keepalive: Option<bool>,
    /// Requests per connection [default: as many as the server allows]
    #[arg(long, value_name = "N", env = "SYSDYNO_REQUESTS_PER_CONNECTION")]
    pub requests_per_connection: Option<u32>,
    /// Generator threads [default: half the CPUs]
    #[arg(long, short = 't', value_name = "N", value_parser = habits::threads, env = "SYSDYNO_THREADS")]
    pub threads: Option<u32>,
    /// Kernel interface [default: io_uring where the kernel has and allows it, else epoll]
    #[arg(long, value_enum, env = "SYSDYNO_IO")]
    pub io: Option<IoOption>,
    /// Spin instead of sleep before each send of an open load [default: if the server runs on other CPUs]
    #[arg(long, value_enum, env = "SYSDYNO_SPIN")]
    pub spin: Option<SpinOption>,
    /// End of a latency: when the kernel received the response, or when the generator read it [default: kernel]
    #[arg(long, value_enum, env = "SYSDYNO_STAMPS")]
    pub stamps: Option<StampOption>,
    /// Random seed for arrivals and orders [default: random, and recorded]
    #[arg(long, value_name = "N", env = "SYSDYNO_SEED")]
    pub seed: Option<u64>,
    /// Also measure this process, such as an application server or a database; repeatable. Processes that hold the target's socket are always measured
    #[arg(long = "watch-pid", value_name = "PID")]
    pub watch_pid: Vec<u32>,
    /// The fence, which is set by files only.
    #[arg(skip)]
    pub allow: Allow,
    #[command(flatten)]
    pub wire: WireOptions,
}

impl TargetOptions {
    /// The timeout of `-T`; `None`: there is none, or it is a content type.
    pub fn typed_timeout(&self) -> Option<SpanNs> {
        self.timeout_or_type.as_ref().and_then(TimeoutOrType::timeout)
    }
}

/// How much is sent, and when.
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
    /// Objective for a ramp or steps; the result says where it was first missed [default: p99<50ms]
    #[arg(long, value_name = "pN<DURATION")]
    pub objective: Option<ObjectiveOption>,
    /// Arrival process of an open load [default: poisson]
    #[arg(long, value_enum, env = "SYSDYNO_ARRIVAL")]
    pub arrival: Option<ArrivalOption>,
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

/// How the capacity is looked for.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Search")]
pub struct CapacityOptions {
    /// Latency objective that a rate must meet, such as p99<20ms [default: p99<50ms]
    #[arg(long, value_name = "pN<DURATION", env = "SYSDYNO_OBJECTIVE")]
    pub objective: Option<ObjectiveOption>,
    /// How long the search may take: about 1, 4, or 15 minutes [default: standard]
    #[arg(long, value_enum, env = "SYSDYNO_EFFORT")]
    pub effort: Option<Effort>,
    /// Number of connections; a range (10..700) or a list measures the closed-loop curve instead [default: 256]
    #[arg(long, short = 'c', value_name = "N | A..B | N,…", env = "SYSDYNO_CONNECTIONS")]
    pub connections: Option<ConnectionsOption>,
    /// Highest rate to try
    #[arg(long, value_name = "RATE", env = "SYSDYNO_MAX_RATE")]
    pub max_rate: Option<Typed<RateHz>>,
    /// Arrival process [default: poisson]
    #[arg(long, value_enum, env = "SYSDYNO_ARRIVAL")]
    pub arrival: Option<ArrivalOption>,
    /// Length of each measured window [default: set by --effort]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_WINDOW")]
    pub window: Option<Typed<SpanNs>>,
    /// Fail with exit code 1 if this holds, such as 'p99>20ms', 'errors>0.1%', or 'goodput<5k/s'; repeatable
    ///
    /// METRIC is one of:
    /// p50, p90, p95, p99, p99.9, max, or mean of the response time (in a closed loop, of the service time), or of the
    /// time that a prefix names (response., service., slip., connect., handshake., first_byte.);
    /// capacity;
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

/// Where runs are kept.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Record")]
pub struct RecordOptions {
    /// Folder for runs [default: ~/.local/state/sysdyno/runs]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_RUNS_DIR")]
    pub runs_dir: Option<PathBuf>,
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

impl<'de> Deserialize<'de> for WarmupOption {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Open arrival processes, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalOption {
    /// Exponential gaps, as from many independent users
    Poisson,
    /// Equal gaps
    Constant,
}

impl From<ArrivalOption> for Arrival {
    fn from(option: ArrivalOption) -> Arrival {
        match option {
            ArrivalOption::Poisson => Arrival::Poisson,
            ArrivalOption::Constant => Arrival::Constant,
        }
    }
}

/// How the generator talks to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IoOption {
    /// io_uring if available, else epoll
    Auto,
    /// io_uring; fail if it is not available
    Uring,
    /// epoll
    Epoll,
}

impl From<IoOption> for IoChoice {
    fn from(option: IoOption) -> IoChoice {
        match option {
            IoOption::Auto => IoChoice::Auto,
            IoOption::Uring => IoChoice::Uring,
            IoOption::Epoll => IoChoice::Epoll,
        }
    }
}

/// Whether the generator spins before what is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpinOption {
    /// If the server runs on other CPUs
    Auto,
    /// Until something else is found running on the generator's CPUs
    On,
    /// Never
    Off,
}

impl From<SpinOption> for SpinChoice {
    fn from(option: SpinOption) -> SpinChoice {
        match option {
            SpinOption::Auto => SpinChoice::Auto,
            SpinOption::On => SpinChoice::On,
            SpinOption::Off => SpinChoice::Off,
        }
    }
}

/// Which instant ends a latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StampOption {
    /// When the kernel received the packet (TCP only)
    Kernel,
    /// When the generator read the response
    User,
}

impl From<StampOption> for StampChoice {
    fn from(option: StampOption) -> StampChoice {
        match option {
            StampOption::Kernel => StampChoice::Kernel,
            StampOption::User => StampChoice::User,
        }
    }
}

/// How long a search may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effort {
    /// About a minute, 75 s at most: short windows, one certification pass
    Quick,
    /// About four minutes
    #[default]
    Standard,
    /// About fifteen minutes: windows of 30 s, five certification passes
    Thorough,
}

/// A header field as typed: a name, and a value behind a colon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The value; `None` if there was no colon.
    pub value: Option<String>,
}

impl FromStr for Field {
    type Err = String;

    fn from_str(text: &str) -> Result<Field, String> {
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name.trim(), Some(value.trim().to_owned())),
            None => (text.trim(), None),
        };
        if name.is_empty() || text.contains(['\r', '\n', '\0']) {
            return Err("write it as 'Name: value' on one line".into());
        }
        Ok(Field { name: name.to_owned(), value })
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A check of the result as typed: `p99>20ms`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailIfOption(pub String);

impl FromStr for FailIfOption {
    type Err = FailIfError;

    fn from_str(text: &str) -> Result<FailIfOption, FailIfError> {
        text.parse::<FailIf>().map(|check| FailIfOption(check.text().to_owned()))
    }
}

impl<'de> Deserialize<'de> for FailIfOption {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// An objective as typed: `p99<20ms`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObjectiveOption(pub Objective);

/// Percentiles that every trial records, and that an objective may therefore limit.
const RECORDED_PERCENTS: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

impl FromStr for ObjectiveOption {
    type Err = String;

    fn from_str(text: &str) -> Result<ObjectiveOption, String> {
        let hint =
            || format!("cannot read objective '{text}': write a percentile and its limit, as in 'p99<20ms'");
        let (percentile, limit) = text.split_once('<').ok_or_else(hint)?;
        let percent: f64 =
            percentile.trim().strip_prefix('p').and_then(|p| p.parse().ok()).ok_or_else(hint)?;
        let limit = limit.trim_start_matches('=').trim().parse().map_err(|_| hint())?;
        if !RECORDED_PERCENTS.contains(&percent) {
            return Err(format!(
                "cannot judge by p{percent}: only p50, p90, p95, p99, and p99.9 are recorded"
            ));
        }
        Ok(ObjectiveOption(Objective { percentile_ratio: percent / 100.0, limit, ..Objective::default() }))
    }
}

impl<'de> Deserialize<'de> for ObjectiveOption {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Connections of a search, as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionsOption {
    /// A pool for offered rates.
    Pool(u32),
    /// The points of a closed-loop curve.
    Curve(Vec<u32>),
}

/// Points that a range `A..B` is measured at.
const CURVE_POINTS_COUNT: u32 = 8;

impl FromStr for ConnectionsOption {
    type Err = String;

    fn from_str(text: &str) -> Result<ConnectionsOption, String> {
        let hint = || format!("cannot read connections '{text}': write '256', '10..700', or '10,50,100'");
        let number = |text: &str| {
            text.trim().parse::<u32>().ok().filter(|n| (1..=1_000_000).contains(n)).ok_or_else(hint)
        };
        if let Some((first, last)) = text.split_once("..") {
            let (first, last) = (number(first)?, number(last.trim_start_matches('='))?);
            if first >= last {
                return Err(hint());
            }
            let ratio = (f64::from(last) / f64::from(first)).powf(1.0 / f64::from(CURVE_POINTS_COUNT - 1));
            let point = |index: u32| (f64::from(first) * ratio.powi(index as i32)).round() as u32;
            let mut points: Vec<u32> = (0..CURVE_POINTS_COUNT).map(point).collect();
            points.dedup();
            return Ok(ConnectionsOption::Curve(points));
        }
        if text.contains(',') {
            let mut points = text.split(',').map(number).collect::<Result<Vec<u32>, String>>()?;
            points.sort_unstable();
            points.dedup();
            return Ok(ConnectionsOption::Curve(points));
        }
        number(text).map(ConnectionsOption::Pool)
    }
}

impl<'de> Deserialize<'de> for ConnectionsOption {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_are_read_as_written() {
        let objective = "p99.9<20ms".parse::<ObjectiveOption>().expect("reads").0;
        assert!((objective.percentile_ratio - 0.999).abs() < 1e-12);
        assert_eq!(objective.limit, SpanNs::from_millis(20));
        for wrong in ["p99", "99<20ms", "p0<1s", "p100<1s", "p97<1s", "p99<20", "p99<", ""] {
            assert!(wrong.parse::<ObjectiveOption>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn connections_are_a_pool_or_a_curve() {
        assert_eq!("256".parse(), Ok(ConnectionsOption::Pool(256)));
        assert_eq!("50,10,10".parse(), Ok(ConnectionsOption::Curve(vec![10, 50])));
        let curve = "10..700".parse();
        assert!(
            matches!(&curve, Ok(ConnectionsOption::Curve(points)) if points.len() == 8 && points[0] == 10 && points[7] == 700)
        );
        for wrong in ["0", "700..10", "a", "1..", "", "5000000"] {
            assert!(wrong.parse::<ConnectionsOption>().is_err(), "{wrong}");
        }
    }
}
