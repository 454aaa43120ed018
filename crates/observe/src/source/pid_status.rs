//! `/proc/PID/status`: only how often a task gave up or lost its CPU.
//!
//! The counts are those of one thread: read at `/proc/PID`, of the first one. Source: `fs/proc/array.c`,
//! `task_context_switch_counts`.

use super::{Fields, lines};
use crate::error::ParseError;

/// Context switches of one thread since it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switches {
    /// It waited for something.
    pub voluntary_count: u64,
    /// Another task took the CPU.
    pub involuntary_count: u64,
}

/// Reads the two lines out of the text.
pub fn parse(text: &[u8]) -> Result<Switches, ParseError> {
    let (mut voluntary, mut involuntary) = (None, None);
    // They are the last lines; a name that its owner chose cannot come after them.
    for line in text.rsplit(|byte| *byte == b'\n').take(LAST_LINES) {
        let mut fields = Fields::of(line);
        let place = match fields.next() {
            Some(b"voluntary_ctxt_switches:") => &mut voluntary,
            Some(b"nonvoluntary_ctxt_switches:") => &mut involuntary,
            _ => continue,
        };
        *place = fields.decimal();
    }
    match (voluntary, involuntary) {
        (Some(voluntary_count), Some(involuntary_count)) => {
            Ok(Switches { voluntary_count, involuntary_count })
        }
        _ => Err(ParseError { line: lines(text).count().max(1), item: "counts of context switches" }),
    }
}

/// How far from the end the two lines may be: architectures append a few of their own.
const LAST_LINES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_counts_are_needed() {
        let text = b"Name:\tx\nThreads:\t1\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\nx86_Thread_features:\t\n";
        assert_eq!(parse(text), Ok(Switches { voluntary_count: 5, involuntary_count: 6 }));
        for wrong in [
            "",
            "voluntary_ctxt_switches: 5\n",
            "voluntary_ctxt_switches: 5\nnonvoluntary_ctxt_switches: x\n",
        ] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
