//! `/proc/locks`: locks of files, who holds each, and who waits for it.
//!
//! Source: `fs/locks.c`, `lock_get_status`: a holder is followed by those that wait for it, with its number and `->`. A process id of
//! 0 or below belongs to another pid namespace, or to a lock of an open file, which has no process.

use super::{Fields, decimal, lines};

/// The process that holds a lock, and one that waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockWait {
    /// Who holds it.
    pub holder_pid: u32,
    /// Who waits.
    pub waiting_pid: u32,
}

/// All waits for locks whose holder is known. What is no line of a lock is skipped.
pub fn waits(text: &[u8]) -> Vec<LockWait> {
    let (mut waits, mut holder) = (Vec::new(), None);
    for line in lines(text) {
        let Some(lock) = Lock::of(line) else { continue };
        match (lock.is_waiting, holder) {
            (false, _) => holder = Some(lock),
            (true, Some(Lock { number, pid: Some(holder_pid), .. })) if number == lock.number => {
                waits.extend(lock.pid.map(|waiting_pid| LockWait { holder_pid, waiting_pid }));
            }
            (true, _) => {}
        }
    }
    waits
}

/// A line.
#[derive(Clone, Copy)]
struct Lock {
    number: u64,
    is_waiting: bool,
    pid: Option<u32>,
}

impl Lock {
    fn of(line: &[u8]) -> Option<Lock> {
        let mut fields = Fields::of(line);
        let number = decimal(fields.next()?.strip_suffix(b":")?)?;
        let mut kind = fields.next()?;
        let is_waiting = kind == b"->";
        if is_waiting {
            kind = fields.next()?;
        }
        // What follows is whether it is mandatory, and whether it is for reading.
        let pid = match kind {
            b"POSIX" | b"FLOCK" | b"OFDLCK" => fields.nth(2)?,
            _ => return None,
        };
        let pid = decimal(pid).and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0);
        Some(Lock { number, is_waiting, pid })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_whom_is_read() {
        let text = b"1: POSIX  ADVISORY  READ  41 08:01:11 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 77 fd:00:999 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 88 fd:00:999 0 EOF\n\
                     2:  -> FLOCK  ADVISORY  WRITE 89 fd:00:999 0 EOF\n\
                     3: OFDLCK ADVISORY  WRITE -1 fd:00:998 0 EOF\n\
                     3: -> OFDLCK ADVISORY  WRITE 90 fd:00:998 0 EOF\n";
        let wait = |waiting_pid| LockWait { holder_pid: 77, waiting_pid };
        assert_eq!(waits(text), [wait(88), wait(89)]);
    }

    #[test]
    fn what_is_no_lock_is_skipped() {
        for text in
            [&b""[..], b"x\n", b"1:\n", b"1: -> \n", b"1: FLOCK ADVISORY\n", b"-1: FLOCK A WRITE 7 x\n"]
        {
            assert_eq!(waits(text), [], "{}", String::from_utf8_lossy(text));
        }
        let orphan = b"1: FLOCK ADVISORY WRITE 7 x 0 EOF\n2: -> FLOCK ADVISORY WRITE 8 x 0 EOF\n";
        assert_eq!(waits(orphan), [], "another lock");
        let lease = b"1: FLOCK ADVISORY WRITE 7 x 0 EOF\n1: LEASE ACTIVE WRITE 7 x 0 EOF\n";
        assert_eq!(waits(lease), []);
    }
}
