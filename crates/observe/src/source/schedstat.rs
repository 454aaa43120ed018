//! `/proc/PID/task/TID/schedstat`: what a thread got of the CPUs, and how long it waited for them.
//!
//! Source: `fs/proc/base.c`, `proc_pid_schedstat`; `Documentation/scheduler/sched-stats.rst`. It works without
//! `CONFIG_SCHEDSTATS`, with `CONFIG_SCHED_INFO`; read at `/proc/PID`, it is the first thread's alone.

use super::Fields;
use crate::error::ParseError;

/// Scheduling of one thread since it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedstat {
    /// Time on a CPU. Unit: nanoseconds.
    pub cpu_ns: u64,
    /// Time ready and waiting for a CPU. Unit: nanoseconds.
    pub run_delay_ns: u64,
    /// Times that it was put on a CPU.
    pub slices_count: u64,
}

/// Reads the text.
pub fn parse(text: &[u8]) -> Result<Schedstat, ParseError> {
    let read = || {
        let mut fields = Fields::of(text.trim_ascii());
        let (cpu_ns, run_delay_ns) = (fields.decimal()?, fields.decimal()?);
        Some(Schedstat { cpu_ns, run_delay_ns, slices_count: fields.decimal()? })
    };
    read().ok_or(ParseError::at(0, "three counts"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_counts_are_needed() {
        assert_eq!(parse(b"10 20 3\n"), Ok(Schedstat { cpu_ns: 10, run_delay_ns: 20, slices_count: 3 }));
        for wrong in ["", "10 20\n", "10 -20 3\n", "a b c\n"] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
