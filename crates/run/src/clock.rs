//! The clocks; the only place in this crate that reads one.

use rustix::thread::ClockId;
use rustix::time::clock_gettime;
use std::time::SystemTime;
use sysdyno_record::manifest::ClockPair;
use sysdyno_record::units::{MonoNs, WallNs};

/// Now, on `CLOCK_MONOTONIC`.
pub fn monotonic() -> MonoNs {
    let at = clock_gettime(ClockId::Monotonic);
    MonoNs(at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64)
}

/// Now, on the wall clock.
pub fn wall() -> WallNs {
    WallNs::from_system_time(SystemTime::now())
}

/// Now, on `CLOCK_BOOTTIME`, which advances while the host sleeps. Unit: nanoseconds.
pub fn boottime_ns() -> u64 {
    let at = clock_gettime(ClockId::Boottime);
    at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64
}

/// Both clocks, read together.
pub fn pair() -> ClockPair {
    ClockPair { mono_ns: monotonic(), unix_ns: wall() }
}
