//! `/proc/PID/stat` and `/proc/PID/task/TID/stat`: state, CPU time and memory of a process or a thread.
//!
//! The command stands in parentheses and may itself hold parentheses, spaces and newlines: it ends at the *last* one.
//! Source: `fs/proc/array.c`, `do_task_stat`; proc(5).

use super::Fields;
use crate::error::ParseError;

/// What is taken of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PidStat<'a> {
    /// Process or thread id.
    pub pid: u32,
    /// Command name, up to 15 bytes. Untrusted: its owner chose it.
    pub command: &'a [u8],
    /// State letter: `R` running or ready, `S` sleeping, `D` uninterruptible, `Z` dead and not reaped, …
    pub state: u8,
    /// Parent process.
    pub parent_pid: u32,
    /// The process that its session is named after; 0 for those of the kernel.
    pub session_id: u32,
    /// Page faults that waited for a disk, of all threads when it is a process.
    pub major_faults_count: u64,
    /// Time in user mode, of all threads when it is a process. Unit: ticks of `USER_HZ`.
    pub user_ticks: u64,
    /// Time in the kernel. Unit: ticks of `USER_HZ`.
    pub system_ticks: u64,
    /// Both times of the children that it has waited for. Unit: ticks of `USER_HZ`.
    pub reaped_ticks: u64,
    /// Threads of the process.
    pub threads_count: u64,
    /// When it started. Unit: ticks of `USER_HZ` since boot.
    pub start_ticks: u64,
    /// Resident memory. Unit: pages.
    pub rss_pages: u64,
}

impl PidStat<'_> {
    /// Whether it has ended and only waits to be reaped.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// Reads the text.
pub fn parse(text: &[u8]) -> Result<PidStat<'_>, ParseError> {
    read(text).ok_or(ParseError::at(0, "the state of a process"))
}

fn read(text: &[u8]) -> Option<PidStat<'_>> {
    let (open, close) =
        (text.iter().position(|byte| *byte == b'(')?, text.iter().rposition(|byte| *byte == b')')?);
    let command = text.get(open + 1..close)?;
    let pid = u32::try_from(Fields::of(&text[..open]).decimal()?).ok()?;
    let mut fields = Fields::of(text[close + 1..].trim_ascii());
    let state = *fields.next()?.first()?;
    let parent_pid = u32::try_from(fields.decimal()?).ok()?;
    // Field 4 was the parent; `nth(n)` skips n fields.
    let session_id = u32::try_from(fields.nth(1).and_then(super::decimal)?).ok()?;
    let major_faults_count = fields.nth(5).and_then(super::decimal)?;
    let user_ticks = fields.nth(1).and_then(super::decimal)?;
    let system_ticks = fields.decimal()?;
    let (reaped_user, reaped_system) = (fields.decimal()?, fields.decimal()?);
    let threads_count = fields.nth(2).and_then(super::decimal)?;
    let start_ticks = fields.nth(1).and_then(super::decimal)?;
    let rss_pages = fields.nth(1).and_then(super::decimal)?;
    Some(PidStat {
        pid,
        command,
        state,
        parent_pid,
        session_id,
        major_faults_count,
        user_ticks,
        system_ticks,
        reaped_ticks: reaped_user.checked_add(reaped_system)?,
        threads_count,
        start_ticks,
        rss_pages,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_may_hold_what_it_likes() {
        let text = b"8633 (a) R 1\n (b)) S 8620 8620 5967 0 -1 4194304 104 0 9 0 12 34 5 6 20 0 3 0 121451 2998272 408 1\n";
        let expected = PidStat {
            pid: 8633,
            command: b"a) R 1\n (b)",
            state: b'S',
            parent_pid: 8620,
            session_id: 5967,
            major_faults_count: 9,
            user_ticks: 12,
            system_ticks: 34,
            reaped_ticks: 11,
            threads_count: 3,
            start_ticks: 121_451,
            rss_pages: 408,
        };
        assert_eq!(parse(text), Ok(expected));
    }

    #[test]
    fn garbage_is_refused() {
        for wrong in [
            "",
            "1 (a",
            "1 a) S 2",
            ")(",
            "1 (a) S 2 3 4",
            "x (a) S 1 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 3 0 1 2 3 4",
        ] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
