//! Which threads have a request that they read and have not answered, as the BPF program sees it.
//!
//! A thread of a pool that waits for its next request looks like one that waits for a lock, and one that sleeps in the middle of
//! a request looks like one that does so for its own purposes. The program knows better, where each thread answers what it has read,
//! one request at a time. Where requests are handed from one thread to another (an event loop with helpers, goroutines), it
//! knows nothing of threads. Where only some of the connections are watched, a request stands for several.

use aya::maps::{Array, HashMap as BpfMap, Map, MapData, MapError};
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

/// Requests of a process that its threads answered themselves, at least, before one believes that they always do.
const MIN_ALONE: u64 = 10;

/// Of them, so many come to one that was handled otherwise, at least: a client may close before its answer.
const ALONE_PER_OTHER: u64 = 10;

/// `struct handling` in `bpf/requests.bpf.c`: alone, otherwise.
type Handling = [u64; 2];

/// `struct opened` there: since when in nanoseconds, and the turn in the half that comes first in memory.
type Opened = [u64; 2];

/// The program's notes of threads.
pub(crate) struct RequestHandling {
    open: BpfMap<MapData, u32, Opened>,
    last_turn: Array<MapData, u32>,
    processes: BpfMap<MapData, u32, Handling>,
    /// Of the connections, one of so many is watched; 0: none is.
    share: AtomicU32,
}

impl fmt::Debug for RequestHandling {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RequestHandling").field("share", &self.share).finish_non_exhaustive()
    }
}

impl RequestHandling {
    /// By the program's maps `open_requests`, `last_turn`, and `handling`.
    ///
    /// # Errors
    /// They are other maps.
    pub(crate) fn of([open, last_turn, processes]: [Map; 3]) -> Result<RequestHandling, MapError> {
        Ok(RequestHandling {
            open: open.try_into()?,
            last_turn: last_turn.try_into()?,
            processes: processes.try_into()?,
            share: AtomicU32::new(0),
        })
    }

    /// Takes note of how many connections are watched: one of so many; 0: none.
    pub(crate) fn set_share(&self, share: u32) {
        self.share.store(share, Ordering::Relaxed);
    }

    /// For how many requests one stands, if each thread of a process answers what it has read, one request at a time.
    pub(crate) fn share_of(&self, pid: u32) -> Option<u32> {
        let share = Some(self.share.load(Ordering::Relaxed)).filter(|share| *share > 0)?;
        self.processes.get(&pid, 0).is_ok_and(is_by_thread).then_some(share)
    }

    /// Since when a thread has had the request that it has; `None`: it has none. Unit: nanoseconds.
    pub(crate) fn open_ns(&self, thread: u32) -> Option<u64> {
        let [since_ns, turn] = self.open.get(&thread, 0).ok()?;
        let last_turn = self.last_turn.get(&0, 0).ok()?;
        (turn.to_ne_bytes()[..4] == last_turn.to_ne_bytes()).then_some(since_ns)
    }
}

fn is_by_thread([alone, otherwise]: Handling) -> bool {
    alone >= MIN_ALONE && alone >= otherwise.saturating_mul(ALONE_PER_OTHER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_hands_nothing_over_if_nearly_all_is_answered_by_who_read_it() {
        assert!(is_by_thread([10, 0]) && is_by_thread([1000, 100]));
        assert!(!is_by_thread([9, 0]), "who knows");
        assert!(!is_by_thread([1000, 101]));
    }
}
