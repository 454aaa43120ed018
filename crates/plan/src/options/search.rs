//! Options of the search for the capacity.

use super::load::FailIfOption;
use super::objective::ObjectiveOption;
use super::typed::{Typed, read_as_text};
use super::words::Word;
use clap::Args;
use serde::Deserialize;
use std::str::FromStr;
use sysdyno_record::plan::Arrival;
use sysdyno_record::units::{RateHz, SpanNs};

/// How to search for the capacity.
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
    pub arrival: Option<Word<Arrival>>,
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

/// Connections of a search, as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionsOption {
    /// A pool for offered rates.
    Pool(u32),
    /// The points of a closed-loop curve.
    Curve(Vec<u32>),
}

/// The number of points at which a range `A..B` is measured.
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

read_as_text!(ConnectionsOption);

#[cfg(test)]
mod tests {
    use super::*;

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
