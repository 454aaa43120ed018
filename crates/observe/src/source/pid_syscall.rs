//! `/proc/PID/task/TID/syscall`: the system call that a thread is in, with its arguments.
//!
//! The content is `running` if the thread is on a CPU or ready; `-1 SP PC` if it is blocked outside a call; otherwise
//! `NUMBER ARGUMENT×6 SP PC`, with hexadecimal arguments. Reading it requires the right to trace the process. Source:
//! `fs/proc/base.c`, `proc_pid_syscall`.

use super::{Fields, hexadecimal};
use crate::error::ParseError;

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// On a CPU, or ready.
    Running,
    /// Blocked, but in no call: in a page fault.
    Outside,
    /// In a call.
    Call {
        /// Its number on this architecture.
        number: i64,
        /// What it was given first: descriptor or pointer, how many, and two more.
        arguments: [u64; 4],
    },
}

/// Reads the text.
pub fn parse(text: &[u8]) -> Result<Whereabouts, ParseError> {
    read(text).ok_or(ParseError::at(0, "a system call"))
}

fn read(text: &[u8]) -> Option<Whereabouts> {
    let mut fields = Fields::of(text.trim_ascii());
    match fields.next()? {
        b"running" => Some(Whereabouts::Running),
        b"-1" => Some(Whereabouts::Outside),
        number => {
            let number = i64::try_from(super::decimal(number)?).ok()?;
            let mut argument = || hexadecimal(fields.next()?.strip_prefix(b"0x")?);
            Some(Whereabouts::Call {
                number,
                arguments: [argument()?, argument()?, argument()?, argument()?],
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_read_with_its_first_arguments() {
        let call = b"7 0x7ffd5c 0x1 0x3e8 0x0 0x0 0x0 0x7ffd00 0x7f0e\n";
        assert_eq!(parse(call), Ok(Whereabouts::Call { number: 7, arguments: [0x7ffd5c, 1, 1000, 0] }));
        assert_eq!(parse(b"running\n"), Ok(Whereabouts::Running));
        assert_eq!(parse(b"-1 0x7ffd00 0x7f0e\n"), Ok(Whereabouts::Outside));
        for wrong in ["", "7", "7 0x1 0x2", "x 0x1 0x2 0x3 0x4", "7 1 2 3 4"] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
