//! `cpu.stat` and the quota files of a control group, versions 1 and 2.
//!
//! Source: `kernel/sched/core.c`, `cpu_cfs_stat_show` (version 1, `throttled_time` in nanoseconds) and
//! `cpu_extra_stat_show` (version 2, `throttled_usec`); `Documentation/scheduler/sched-bwc.rst`.

use super::{Fields, decimal, lines};
use crate::error::ParseError;

/// Throttling of a control group since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttling {
    /// Periods in which the group wanted to run.
    pub periods_count: u64,
    /// Of these, those in which it used up its quota.
    pub throttled_count: u64,
    /// Time that its run queues were throttled, summed over CPUs. Unit: microseconds.
    pub throttled_us: u64,
}

/// Reads `cpu.stat`.
///
/// `Ok(None)`: the group has no throttling counters (the root, or the controller is not enabled).
pub fn parse(text: &[u8]) -> Result<Option<Throttling>, ParseError> {
    let (mut periods, mut throttled, mut time_us) = (None, None, None);
    for (index, line) in lines(text).enumerate() {
        let mut fields = Fields::of(line);
        let (Some(name), Some(value)) = (fields.next(), fields.decimal()) else {
            return Err(ParseError::at(index, "a name and a count"));
        };
        match name {
            b"nr_periods" => periods = Some(value),
            b"nr_throttled" => throttled = Some(value),
            b"throttled_usec" => time_us = Some(value),
            b"throttled_time" => time_us = Some(value / 1000),
            _ => {}
        }
    }
    let all = periods.zip(throttled).zip(time_us);
    Ok(all.map(|((periods_count, throttled_count), throttled_us)| Throttling {
        periods_count,
        throttled_count,
        throttled_us,
    }))
}

/// Reads `cpu.max` of version 2: `QUOTA PERIOD` or `max PERIOD`.
///
/// `Ok(None)`: there is no quota. Unit of the result: CPUs.
pub fn parse_max(text: &[u8]) -> Result<Option<f64>, ParseError> {
    let mut fields = Fields::of(text.trim_ascii());
    let error = ParseError::at(0, "a quota and a period");
    let quota = fields.next().ok_or(error)?;
    let period = fields.decimal().filter(|period| *period > 0).ok_or(error)?;
    if quota == b"max" {
        return Ok(None);
    }
    Ok(Some(decimal(quota).ok_or(error)? as f64 / period as f64))
}

/// Joins `cpu.cfs_quota_us` and `cpu.cfs_period_us` of version 1.
///
/// `Ok(None)`: there is no quota (-1). Unit of the result: CPUs.
pub fn parse_cfs(quota: &[u8], period: &[u8]) -> Result<Option<f64>, ParseError> {
    let error = ParseError::at(0, "a count of microseconds");
    let period = decimal(period.trim_ascii()).filter(|period| *period > 0).ok_or(error)?;
    match quota.trim_ascii() {
        b"-1" => Ok(None),
        quota => Ok(Some(decimal(quota).ok_or(error)? as f64 / period as f64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_end_in_microseconds() {
        let expected = Throttling { periods_count: 10, throttled_count: 3, throttled_us: 5000 };
        assert_eq!(parse(b"nr_periods 10\nnr_throttled 3\nthrottled_time 5000999\n"), Ok(Some(expected)));
        let unified = b"usage_usec 1\nnr_periods 10\nnr_throttled 3\nthrottled_usec 5000\nnr_bursts 0\n";
        assert_eq!(parse(unified), Ok(Some(expected)));
        assert_eq!(parse(b"usage_usec 1\nuser_usec 1\n"), Ok(None));
        assert!(parse(b"nr_periods x\n").is_err());
        assert!(parse(b"garbage\n").is_err());
    }

    #[test]
    fn quotas_are_cpus() {
        assert_eq!(parse_max(b"max 100000\n"), Ok(None));
        assert_eq!(parse_max(b"50000 100000\n"), Ok(Some(0.5)));
        assert_eq!(parse_cfs(b"-1\n", b"100000\n"), Ok(None));
        assert_eq!(parse_cfs(b"200000\n", b"100000\n"), Ok(Some(2.0)));
        for wrong in ["", "max\n", "max 0\n", "x 100000\n", "-1 100000\n"] {
            assert!(parse_max(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
        assert!(parse_cfs(b"-2\n", b"100000\n").is_err());
        assert!(parse_cfs(b"1\n", b"0\n").is_err());
    }
}
