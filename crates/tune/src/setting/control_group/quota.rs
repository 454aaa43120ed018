//! The quota of a group: what is written to its files for a number of CPUs, and read from them.
//!
//! A quota is stop-and-go: all threads of the group run until its time of a period is used up, and wait for the next
//! period. The period is short, so that each stop is. Source: `scheduler/sched-bwc.rst`.

use super::hierarchy::GroupVersion;
use super::kernel::GroupKernel;
use std::io;
use std::path::Path;

/// A group that nothing limits.
pub(super) const PLACED: &str = "placed";

/// No group of ours.
pub(super) const UNLIMITED: &str = "unlimited";

/// Thousandths of a CPU that may be typed; the kernel's shortest quota is 1 ms, which is 10 of them in the longest period.
const MILLI_CPUS: std::ops::RangeInclusive<u64> = 10..=1_024_000;

/// From so many thousandths of a CPU on, the period is the short one: below, its quota would be less than the kernel takes.
const SHORT_FROM_MILLI_CPUS: u64 = 100;
/// Periods. Unit: microseconds.
const SHORT_US: u64 = 10_000;
const LONG_US: u64 = 100_000;

/// The kernel's own share of version 1 for one task, and of version 2 for one group.
const SHARES: u64 = 1024;
const WEIGHT: u64 = 100;
/// Greatest weight of version 2.
const WEIGHT_MAX: u64 = 10_000;

/// The text of a number of CPUs, of `placed`, or of `unlimited`, as it was typed.
///
/// # Errors
/// Why it is none.
pub(crate) fn typed(typed: &str) -> Result<String, String> {
    if [PLACED, UNLIMITED].contains(&typed) {
        return Ok(typed.to_owned());
    }
    let milli = milli_cpus(typed).ok_or_else(|| format!("'{typed}' is not a number of CPUs, such as 0.9"))?;
    if !MILLI_CPUS.contains(&milli) {
        return Err(format!("{typed} is out of range (0.01 to 1024)"));
    }
    Ok(text(milli))
}

/// Thousandths of a CPU, of a text with at most three decimals.
fn milli_cpus(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(part) || part.len() > 3 || whole.len() > 6 {
        return None;
    }
    Some(whole.parse::<u64>().ok()? * 1000 + format!("{part:0<3}").parse::<u64>().ok()?)
}

fn text(milli: u64) -> String {
    let decimals = format!("{:03}", milli % 1000);
    let decimals = decimals.trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{}{point}{decimals}", milli / 1000)
}

/// What the quota of a group comes to.
///
/// # Errors
/// It cannot be read, or is none.
pub(super) fn read(kernel: &dyn GroupKernel, group: &Path, version: GroupVersion) -> io::Result<String> {
    let read = |name: &str| kernel.read(&group.join(name));
    let text = match version {
        GroupVersion::One => {
            format!("{} {}", read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?.trim())
        }
        GroupVersion::Two { .. } => read("cpu.max")?,
    };
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let mut words = text.split_whitespace();
    let (quota, period) = (words.next().ok_or_else(invalid)?, words.next().ok_or_else(invalid)?);
    if ["-1", "max"].contains(&quota) {
        return Ok(PLACED.into());
    }
    let (quota, period): (u64, u64) =
        (quota.parse().map_err(|_| invalid())?, period.parse().map_err(|_| invalid())?);
    Ok(self::text(quota.saturating_mul(1000).checked_div(period).ok_or_else(invalid)?))
}

/// Gives a group the quota of a text.
///
/// # Errors
/// It is none, or the kernel's error.
pub(super) fn write(
    kernel: &dyn GroupKernel,
    group: &Path,
    version: GroupVersion,
    text: &str,
) -> io::Result<()> {
    let write = |name: &str, value: &str| kernel.write(&group.join(name), value);
    let milli = match text {
        PLACED => None,
        text => Some(milli_cpus(text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?),
    };
    let period_us =
        if milli.is_some_and(|milli| milli >= SHORT_FROM_MILLI_CPUS) { SHORT_US } else { LONG_US };
    let quota_us = milli.map(|milli| milli * period_us / 1000);
    match (version, quota_us) {
        (GroupVersion::One, None) => write("cpu.cfs_quota_us", "-1"),
        (GroupVersion::One, Some(quota_us)) => {
            // Of two limits the kernel checks the old one with the new other one: none is always right.
            write("cpu.cfs_quota_us", "-1")?;
            write("cpu.cfs_period_us", &period_us.to_string())?;
            write("cpu.cfs_quota_us", &quota_us.to_string())
        }
        (GroupVersion::Two { .. }, None) => write("cpu.max", "max"),
        (GroupVersion::Two { .. }, Some(quota_us)) => write("cpu.max", &format!("{quota_us} {period_us}")),
    }
}

/// Gives a group the weight that its tasks had one by one, if each CPU has one of them.
///
/// # Errors
/// The kernel's.
pub(super) fn weigh(
    kernel: &dyn GroupKernel,
    group: &Path,
    version: GroupVersion,
    cpus: u64,
) -> io::Result<()> {
    let (name, value) = match version {
        GroupVersion::One => ("cpu.shares", SHARES.saturating_mul(cpus)),
        GroupVersion::Two { .. } => ("cpu.weight", WEIGHT.saturating_mul(cpus).min(WEIGHT_MAX)),
    };
    kernel.write(&group.join(name), &value.to_string())
}
