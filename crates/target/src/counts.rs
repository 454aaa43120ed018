//! Exact counts of what the target has served.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the target has served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetCounts {
    /// Complete requests that were received, but for those of the counts; each is answered unless its connection breaks.
    pub requests: u64,
    /// The same by event thread.
    pub requests_by_thread: Vec<u64>,
    /// Connections that were accepted, those of the counts included.
    pub connections: u64,
}

impl TargetCounts {
    /// The counts as a JSON object.
    pub fn json(&self) -> String {
        let threads: Vec<String> = self.requests_by_thread.iter().map(u64::to_string).collect();
        format!(
            "{{\"requests\":{},\"requests_by_thread\":[{}],\"connections\":{}}}\n",
            self.requests,
            threads.join(","),
            self.connections
        )
    }
}

/// Counters of one event thread, on a cache line of their own: written by that thread only, read by all.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct ThreadCounts {
    requests: AtomicU64,
    connections: AtomicU64,
}

impl ThreadCounts {
    pub(super) fn add_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_connection(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }
}

/// The counts of all threads together.
pub(super) fn sum(threads: &[ThreadCounts]) -> TargetCounts {
    let requests_by_thread: Vec<u64> =
        threads.iter().map(|thread| thread.requests.load(Ordering::Relaxed)).collect();
    TargetCounts {
        requests: requests_by_thread.iter().sum(),
        requests_by_thread,
        connections: threads.iter().map(|thread| thread.connections.load(Ordering::Relaxed)).sum(),
    }
}
