//! The units in which values are stored, and the ways people type them.
//!
//! Invariants: instants on the monotonic clock ([`MonoNs`]) and on the wall clock ([`WallNs`]) are different types, so
//! that they cannot be subtracted from each other; typed values without a unit (`30s`, `5k/s`, `64KiB`) are refused.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// An instant of `CLOCK_MONOTONIC`.
///
/// Unit: nanoseconds since an arbitrary origin, the host's boot on Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MonoNs(pub u64);

impl MonoNs {
    /// Nanoseconds from `earlier` to `self`, zero if `earlier` is later.
    pub fn since(self, earlier: MonoNs) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The instant `duration` after this one.
    pub fn after(self, duration: Duration) -> MonoNs {
        MonoNs(self.0.saturating_add(nanoseconds(duration)))
    }

    /// Seconds from `earlier` to `self`, zero if `earlier` is later.
    pub fn seconds_since(self, earlier: MonoNs) -> f64 {
        self.since(earlier) as f64 / 1e9
    }
}

/// An instant of the wall clock, for labels only.
///
/// Unit: nanoseconds since 1970-01-01T00:00:00Z; a decimal string in JSON, since it exceeds 2^53.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallNs(pub u64);

impl WallNs {
    /// The instant as the system's clock type, for formatting.
    pub fn system_time(self) -> std::time::SystemTime {
        std::time::UNIX_EPOCH + Duration::from_nanos(self.0)
    }

    /// The instant of the system's clock type.
    ///
    /// Instants before 1970 become 0.
    pub fn from_system_time(at: std::time::SystemTime) -> WallNs {
        WallNs(at.duration_since(std::time::UNIX_EPOCH).map_or(0, nanoseconds))
    }
}

impl WallNs {
    /// The instant as RFC 3339 with milliseconds, for lines that follow each other quickly.
    pub fn rfc3339_millis(self) -> String {
        humantime::format_rfc3339_millis(self.system_time()).to_string()
    }
}

impl fmt::Display for WallNs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", humantime::format_rfc3339_seconds(self.system_time()))
    }
}

impl Serialize for WallNs {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for WallNs {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map(WallNs).map_err(serde::de::Error::custom)
    }
}

/// A length of time in a plan.
///
/// Typed as `250ms`, `30s`, `2m`; in JSON an integer of nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SpanNs(pub u64);

impl SpanNs {
    /// A span of whole seconds.
    pub const fn from_secs(seconds: u64) -> SpanNs {
        SpanNs(seconds * 1_000_000_000)
    }

    /// A span of whole milliseconds.
    pub const fn from_millis(milliseconds: u64) -> SpanNs {
        SpanNs(milliseconds * 1_000_000)
    }

    /// The span as the standard library's type.
    pub const fn duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// The span in seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl fmt::Display for SpanNs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", humantime::format_duration(self.duration()))
    }
}

impl FromStr for SpanNs {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let invalid = || {
            UnitError::new(
                "duration",
                text,
                "write a number with its unit, such as '250ms', '30s', or \
                                                 '2m'",
            )
        };
        let duration = humantime::parse_duration(text.trim()).map_err(|_| invalid())?;
        let span = u64::try_from(duration.as_nanos()).map_err(|_| invalid())?;
        if span == 0 || duration > MAX_SPAN { Err(invalid()) } else { Ok(SpanNs(span)) }
    }
}

/// The longest span that a plan may hold; longer ones are typing mistakes.
pub const MAX_SPAN: Duration = Duration::from_secs(30 * 24 * 3600);

/// A rate of arrivals or completions.
///
/// Unit: per second (Hz). Typed as `500`, `500/s`, `5k/s`, `1.5M/s`, `30/min`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RateHz(pub f64);

/// The highest rate that a plan may hold: one request per 10 ns.
pub const MAX_RATE_HZ: f64 = 1e8;

impl FromStr for RateHz {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let invalid = || {
            UnitError::new("rate", text, "write a number per second, such as '500/s', '5k/s', or '1.5M/s'")
        };
        let trimmed = text.trim();
        let (number, per_seconds) = match trimmed.split_once('/') {
            None => (trimmed, 1.0),
            Some((number, "s" | "sec" | "second")) => (number, 1.0),
            Some((number, "m" | "min" | "minute")) => (number, 60.0),
            Some((number, "h" | "hour")) => (number, 3600.0),
            Some(_) => return Err(invalid()),
        };
        let rate = parse_scaled(number, DECIMAL_SCALES).ok_or_else(invalid)? / per_seconds;
        if rate > 0.0 && rate <= MAX_RATE_HZ { Ok(RateHz(rate)) } else { Err(invalid()) }
    }
}

/// An amount of memory or data.
///
/// Unit: bytes. Typed as `512`, `64KiB`, `1MiB`, `2kB`, `1GB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let invalid =
            || UnitError::new("size", text, "write bytes with a unit, such as '512B', '64KiB', or '10MiB'");
        let bytes = parse_scaled(text.trim(), BYTE_SCALES).ok_or_else(invalid)?;
        if bytes.fract() != 0.0 || bytes > 2f64.powi(53) { Err(invalid()) } else { Ok(Bytes(bytes as u64)) }
    }
}

const DECIMAL_SCALES: &[(&str, f64)] = &[("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9)];

const BYTE_SCALES: &[(&str, f64)] = &[
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("k", 1024.0),
    ("K", 1024.0),
    ("M", 1_048_576.0),
    ("B", 1.0),
];

/// A non-negative finite decimal number with an optional suffix of `scales`.
fn parse_scaled(text: &str, scales: &[(&str, f64)]) -> Option<f64> {
    let scale = scales.iter().find(|(suffix, _)| text.ends_with(suffix));
    let (number, factor) =
        scale.map_or((text, 1.0), |(suffix, factor)| (&text[..text.len() - suffix.len()], *factor));
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'_');
    let value: f64 = number.replace('_', "").parse().ok().filter(|_| plain)?;
    Some(value * factor).filter(|value| value.is_finite())
}

/// Something that a person typed and that is not a value of the unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {kind} '{text}': {hint}")]
pub struct UnitError {
    kind: &'static str,
    text: String,
    hint: &'static str,
}

impl UnitError {
    fn new(kind: &'static str, text: &str, hint: &'static str) -> UnitError {
        UnitError { kind, text: text.chars().take(60).collect(), hint }
    }
}

/// The power of ten that a number is rounded to, so that its last digit is worth about a tenth of `half_width`.
///
/// Never finer than four digits of `value`, never coarser than its first one.
pub fn rounding_step(value: f64, half_width: f64) -> f64 {
    let size = value.abs().max(1e-9);
    let finest = 10f64.powf((size / 1e4).log10().ceil());
    let step = if half_width > 0.0 { 10f64.powf((half_width / 10.0).log10().round()) } else { finest };
    step.max(finest).min(10f64.powf(size.log10().floor()))
}

/// Whole nanoseconds of a duration, saturating after 584 years.
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_with_their_unit() {
        let check = |text: &str, hz: f64| assert_eq!(text.parse(), Ok(RateHz(hz)), "{text}");
        check("500", 500.0);
        check("500/s", 500.0);
        check("5k/s", 5000.0);
        check("1.5M/s", 1.5e6);
        check("30/min", 0.5);
        for wrong in ["", "0", "-5", "5x", "1e3", "nan", "inf", "5/parsec", "1e30rps", "5 /s/s", "999G/s"] {
            assert!(wrong.parse::<RateHz>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn spans_need_a_unit() {
        assert_eq!("30s".parse(), Ok(SpanNs::from_secs(30)));
        assert_eq!("250ms".parse(), Ok(SpanNs::from_millis(250)));
        for wrong in ["10", "", "0s", "-1s", "1000years", "s"] {
            assert!(wrong.parse::<SpanNs>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_binary_unless_they_say_otherwise() {
        assert_eq!("64KiB".parse(), Ok(Bytes(65536)));
        assert_eq!("2kB".parse(), Ok(Bytes(2000)));
        assert_eq!("10".parse(), Ok(Bytes(10)));
        assert!("1.5B".parse::<Bytes>().is_err());
    }

    #[test]
    fn wall_clock_instants_survive_json() {
        let at = WallNs(1_795_179_000_123_456_789);
        let json = serde_json::to_string(&at).expect("serialises");
        assert_eq!(json, "\"1795179000123456789\"");
        assert_eq!(serde_json::from_str::<WallNs>(&json).expect("parses"), at);
    }
}
