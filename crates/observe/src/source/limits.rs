//! `/proc/PID/limits`: of it, how many descriptors a process may have.
//!
//! Source: `fs/proc/base.c`, `proc_pid_limits`; getrlimit(2), `RLIMIT_NOFILE`.

use super::{Fields, decimal, lines};
use crate::error::ParseError;

/// A limit of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// There is none.
    Unlimited,
    /// It is this many.
    At(u64),
}

/// Soft and hard limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitPair {
    /// What the kernel enforces.
    pub soft: Limit,
    /// What the process may raise it to.
    pub hard: Limit,
}

/// Reads the limit of open files.
pub fn parse_open_files(text: &[u8]) -> Result<LimitPair, ParseError> {
    for (index, line) in lines(text).enumerate() {
        if let Some(rest) = line.strip_prefix(b"Max open files") {
            let mut fields = Fields::of(rest);
            let mut limit = || fields.next().and_then(parse_limit).ok_or(ParseError::at(index, "a limit"));
            return Ok(LimitPair { soft: limit()?, hard: limit()? });
        }
    }
    Err(ParseError::at(0, "a line 'Max open files'"))
}

fn parse_limit(field: &[u8]) -> Option<Limit> {
    if field == b"unlimited" { Some(Limit::Unlimited) } else { decimal(field).map(Limit::At) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_are_found() {
        let text = b"Limit    Soft Limit  Hard Limit  Units\nMax processes 1 2 processes\nMax open files   1024   unlimited   files\n";
        assert_eq!(parse_open_files(text), Ok(LimitPair { soft: Limit::At(1024), hard: Limit::Unlimited }));
        for wrong in ["", "Max open files\n", "Max open files 1 x files\n", "Max processes 1 2\n"] {
            assert!(parse_open_files(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
