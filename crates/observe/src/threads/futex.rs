//! Threads that wait in a futex: where, and whether they do so for a moment only.
//!
//! A lock, a condition, and a sleep that can be interrupted are the same call. A wait that ends by itself within 0.3 s is a sleep:
//! whoever waits for a lock does so for long or without a limit (`innodb_lock_wait_timeout` is 50 s, the wait for a connection of a
//! pool 30 s), looks once a second whether to give up (MariaDB, `MDL_context::acquire_lock`), or asks for it every 5 ms (Python's
//! interpreter lock, `sys.getswitchinterval`). Source: futex(2); `include/uapi/linux/futex.h`.

use crate::clock;
use crate::discover::read_memory;
use crate::source::pid_syscall::Whereabouts;
use nix::libc;

/// A wait that ends by itself within this is a sleep. Unit: nanoseconds.
const SLEEP_NS: i128 = 300_000_000;

/// A wait that has less than this to go may be one for a lock, whose holder is asked again and again. Unit: nanoseconds.
const ASKING_NS: i128 = 5_000_000;

/// Of the operation: `FUTEX_CMD_MASK` without its flags, and that the time is of the wall clock.
const COMMAND: u64 = 0x7f;
const CLOCK_REALTIME: u64 = 256;
const WAIT: u64 = 0;
const WAIT_BITSET: u64 = 9;

/// The place in its memory at which a thread waits: the two words of a condition of glibc are one place. `None`: it waits in no futex.
pub(crate) fn futex_place(place: Whereabouts) -> Option<u64> {
    match place {
        Whereabouts::Call { number: libc::SYS_futex, arguments: [word, ..] } => Some(word & !7),
        _ => None,
    }
}

/// Whether a thread waits in a futex for a moment only, as it does that sleeps.
pub(crate) fn is_short_wait(pid: u32, place: Whereabouts) -> bool {
    let Whereabouts::Call { number: libc::SYS_futex, arguments: [_, operation, _, until @ 1..=u64::MAX] } =
        place
    else {
        return false;
    };
    let begin_ns = match operation & COMMAND {
        WAIT => 0,
        WAIT_BITSET if operation & CLOCK_REALTIME == 0 => clock::monotonic().0,
        WAIT_BITSET => clock::wall_ns(),
        _ => return false,
    };
    let left_ns = read_time(pid, until).map(|end_ns| end_ns - i128::from(begin_ns));
    left_ns.is_some_and(|left_ns| (ASKING_NS + 1..=SLEEP_NS).contains(&left_ns))
}

/// A `struct timespec` in the memory of a process. Unit: nanoseconds.
fn read_time(pid: u32, address: u64) -> Option<i128> {
    let mut bytes = [0; 16];
    if read_memory(pid, address, &mut bytes) != bytes.len() {
        return None;
    }
    let (seconds, rest) = bytes.split_at(8);
    let [seconds, rest] = [seconds, rest].map(|part| i64::from_ne_bytes(part.try_into().unwrap_or_default()));
    Some(i128::from(seconds) * 1_000_000_000 + i128::from(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roots::Roots;
    use crate::testing::eventually;
    use crate::threads::ThreadFiles;
    use std::sync::{Condvar, Mutex, PoisonError, mpsc};
    use std::time::Duration;

    /// Whether a thread that waits for a condition, at most for so long, is seen to sleep, and where it waits.
    fn seen(limit: Option<Duration>) -> (bool, Option<u64>) {
        let (sender, id) = mpsc::channel();
        let (gate, opened) = (Mutex::new(false), Condvar::new());
        std::thread::scope(|scope| {
            let wait = || {
                let id = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
                sender.send(id).expect("is awaited");
                let mut is_open = gate.lock().unwrap_or_else(PoisonError::into_inner);
                while !*is_open {
                    is_open = match limit {
                        Some(limit) => opened.wait_timeout(is_open, limit).expect("no panic").0,
                        None => opened.wait(is_open).expect("no panic"),
                    };
                }
            };
            scope.spawn(wait);
            let mut files =
                ThreadFiles::new(&Roots::host(), std::process::id(), id.recv().expect("it begins"));
            let place = || files.whereabouts(&mut Vec::new()).filter(|place| futex_place(*place).is_some());
            let place = eventually(place, Option::is_some).expect("it waits");
            let seen = (is_short_wait(std::process::id(), place), futex_place(place));
            *gate.lock().expect("no panic") = true;
            opened.notify_all();
            seen
        })
    }

    #[test]
    fn a_wait_that_ends_by_itself_soon_is_a_sleep_and_any_other_is_none() {
        // A look may come when its last 5 ms have begun; three in a row do not.
        assert!((0..3).any(|_| seen(Some(Duration::from_millis(200))).0));
        assert!(!seen(Some(Duration::from_secs(50))).0);
        assert!(!seen(Some(Duration::from_millis(5))).0, "it asks again and again");
        let (is_short, place) = seen(None);
        assert!(!is_short && place.is_some_and(|place| place % 8 == 0));
        assert!(!is_short_wait(1, Whereabouts::Running) && futex_place(Whereabouts::Outside).is_none());
    }
}
