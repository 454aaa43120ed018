//! `/proc/loadavg`: how many tasks the host has.
//!
//! Source: `fs/proc/loadavg.c`. The averages are ignored: they are smoothed over a minute and more.

use super::{Fields, decimal};
use crate::error::ParseError;

/// Processes and threads of the host: the number after the slash.
pub fn parse(text: &[u8]) -> Result<u64, ParseError> {
    let tasks = Fields::of(text.trim_ascii()).nth(3).and_then(|field| {
        let slash = field.iter().position(|byte| *byte == b'/')?;
        decimal(field.get(slash + 1..)?)
    });
    tasks.ok_or(ParseError::at(0, "running and all tasks"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tasks_are_behind_the_slash() {
        assert_eq!(parse(b"3.02 3.92 2.90 3/91 2184\n"), Ok(91));
        for wrong in ["", "1 2 3\n", "1 2 3 4 5\n", "1 2 3 4/ 5\n", "1 2 3 4/x 5\n"] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
