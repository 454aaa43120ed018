//! The load engine: sends what the schedule says and records what came back.
//!
//! Promise: it reads no kernel counters, adapts nothing silently, and drops no sample. Every scheduled request has exactly
//! one outcome, and the sum is asserted before a trial's summary leaves the crate.
//!
//! Two layers that do not know each other, and what joins them:
//! ```text
//!   engine                      when, to whom, what came of it
//!     │
//!   carrier                     one request on each slot
//!     ├──────────────┐
//!   transport      protocol     sockets, io_uring, epoll, TLS │ HTTP/1.1, HTTP/2, memcached: bytes in, responses out
//!     │
//!   sys
//! ```
//! Constraints that shape it:
//! - one pinned thread per generator core, each with its own event loop, connections, schedule and histograms; on the
//!   hot path nothing is shared and nothing is allocated;
//! - the schedule comes first: an open request has an intended send time before it has a connection;
//! - the event loop is shaped on completions (`transport`), so that readiness and completion back ends fit the same engine;
//! - every byte from a server is hostile: bounded, never interpreted beyond framing, never printed.
//!
//! The work of a thread is in `engine::worker`; `engine::run` starts the threads and merges what they measured.
#![deny(unsafe_code)]

mod carrier;
mod clock;
mod date;
mod engine;
pub mod error;
mod failure;
mod page;
pub mod probe;
pub mod protocol;
pub mod schedule;
mod sys;
pub mod target;
pub mod transport;
pub mod workload;

pub use engine::{
    Aside, Control, Generators, LoadOutcome, Part, PartOrder, Said, Sink, SpreadHost, generator_cpus, run,
    run_part, spread,
};
pub use error::LoadError;
