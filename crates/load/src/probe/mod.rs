//! The probe: single operations on their own schedule, to measure how long an outsider waits.
//!
//! ```text
//!   schedule ─► begin ─► prober (http | tcp | icmp) ─► received │ failed │ timed out ─► sink
//!      │                                                                      ▲
//!      └── its time was over before it could begin: unsent ───────────────────┘
//! ```
//! Several targets are probed at one time, each by a job with a thread; their instants are spread over the interval.
//! The instants are fixed before the first operation: begin + offset + n × interval. A slow reply delays no later operation, since
//! an operation opens a new connection when the kept one is busy; at most `timeout ÷ interval` are open. The sink gets
//! every due operation exactly once, whatever its outcome. One thread waits in `poll`; if the host has enough CPUs, it
//! keeps off those of the generator.

mod address;
mod driver;
mod http;
mod icmp;
mod job;
mod prober;
mod stream;
mod tcp;
mod way;

#[cfg(test)]
mod tests;

pub use address::{ProbeAddress, ProbeTarget};
pub use driver::Probe;
pub use job::ProbeJob;
pub use way::Way;

use sysdyno_record::probe::ProbeReply;
use sysdyno_record::units::SpanNs;

/// The shortest time between two operations: a probe is no load.
pub const MIN_INTERVAL: SpanNs = SpanNs::from_millis(10);

/// The shortest time between two operations that go to a public address: ten a second harm nobody.
pub const MIN_PUBLIC_INTERVAL: SpanNs = SpanNs::from_millis(100);

/// Most operations that may be open at one time, which is what `timeout ÷ interval` may be.
pub const MAX_OPEN_COUNT: u64 = 1_000;

/// Most targets that are probed at one time.
pub const MAX_TARGETS_COUNT: usize = 16;

/// Between two operations beside a load.
pub const BESIDE_INTERVAL: SpanNs = SpanNs::from_millis(100);

/// Between two operations of a probe on its own.
pub const ALONE_INTERVAL: SpanNs = SpanNs::from_secs(1);

/// When an operation is given up.
pub const TIMEOUT: SpanNs = SpanNs::from_secs(5);

/// Takes what a probe sees, and ends it.
pub trait ProbeSink {
    /// An operation is over.
    fn reply(&mut self, reply: ProbeReply);

    /// Is asked at least twenty times a second whether to go on.
    fn goes_on(&mut self) -> bool;
}
