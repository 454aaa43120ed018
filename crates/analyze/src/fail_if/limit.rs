//! What a limit is measured in, how it is typed, and how a number of it is written.

use crate::format;
use sysdyno_record::units::{Bytes, RateHz};

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A length of time. Unit: nanoseconds.
    Time,
    /// A share of the requests. Unit: ratio, 0 to 1.
    Share,
    /// Requests per second.
    Rate,
    /// Bytes per second.
    Flow,
    /// A number of responses.
    Count,
}

/// Suffixes of times, with their length; a suffix that ends in another stands before it. Unit: nanoseconds.
const TIMES: [(&str, f64); 6] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("min", 60e9), ("s", 1e9)];

/// Suffixes of shares, with their size. Unit: ratio.
const SHARES: [(&str, f64); 1] = [("%", 0.01)];

impl Dimension {
    /// The unit of recorded numbers: `ns`, `ratio`, `hz`, `bytes_hz` or `count`.
    pub fn unit(self) -> &'static str {
        match self {
            Dimension::Time => "ns",
            Dimension::Share => "ratio",
            Dimension::Rate => "hz",
            Dimension::Flow => "bytes_hz",
            Dimension::Count => "count",
        }
    }

    /// A limit as it is typed.
    pub fn example(self) -> &'static str {
        match self {
            Dimension::Time => "20ms",
            Dimension::Share => "0.1%",
            Dimension::Rate => "5k/s",
            Dimension::Flow => "10MiB/s",
            Dimension::Count => "10",
        }
    }

    /// What a limit looks like.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Dimension::Time => "write a time with its unit (ns, us, ms, s, min), such as '20ms'",
            Dimension::Share => "write a percentage, such as '0.1%'",
            Dimension::Rate => "write a rate per second, such as '5k/s'",
            Dimension::Flow => "write a size per second, such as '10MiB/s'",
            Dimension::Count => "write a whole number, such as '10', or a percentage, such as '1%'",
        }
    }

    /// The limit as typed; 0 needs no unit.
    pub(super) fn parse(self, text: &str) -> Option<f64> {
        if text == "0" {
            return Some(0.0);
        }
        match self {
            Dimension::Time => scaled(text, &TIMES),
            Dimension::Share => scaled(text, &SHARES),
            Dimension::Rate => text.parse::<RateHz>().ok().map(|rate| rate.0),
            Dimension::Flow => {
                text.strip_suffix("/s")?.trim_end().parse::<Bytes>().ok().map(|size| size.0 as f64)
            }
            Dimension::Count => text.parse::<u64>().ok().map(|count| count as f64),
        }
    }

    /// A measured number as it is printed.
    pub(super) fn write(self, value: f64) -> String {
        match self {
            Dimension::Time => format::duration(value),
            Dimension::Share => format::percent(value),
            Dimension::Rate => format!("{} req/s", format::rate(value)),
            Dimension::Flow => format!("{}/s", format::bytes(value)),
            Dimension::Count => format::whole(value),
        }
    }

    /// A limit as it is printed: without digits that were not typed.
    pub(super) fn write_limit(self, value: f64) -> String {
        let (value, unit) = match self {
            Dimension::Rate | Dimension::Flow | Dimension::Count => return self.write(value),
            Dimension::Share => (value * 100.0, "%"),
            Dimension::Time if value < 1e3 => (value, " ns"),
            Dimension::Time if value < 1e6 => (value / 1e3, " µs"),
            Dimension::Time if value < 1e9 => (value / 1e6, " ms"),
            Dimension::Time => (value / 1e9, " s"),
        };
        // Scaling leaves errors in the last of 16 digits; nobody types twelve.
        let rounded: f64 = format!("{value:.11e}").parse().unwrap_or(value);
        format!("{rounded}{unit}")
    }
}

/// A decimal number with one of these suffixes; spaces may stand between them.
fn scaled(text: &str, suffixes: &[(&str, f64)]) -> Option<f64> {
    let (suffix, scale) = suffixes.iter().find(|(suffix, _)| text.ends_with(suffix))?;
    let number = text[..text.len() - suffix.len()].trim_end();
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = number.parse().ok().filter(|_| is_plain)?;
    Some(value * scale).filter(|value| value.is_finite())
}
