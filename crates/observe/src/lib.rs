//! Reads the kernel: counters, tables and sockets of the host on which the target runs.
//!
//! Promise: this crate never writes to the system that it watches. It opens files for reading, queries the kernel by
//! netlink, and sends no packet and no signal. The BPF program that it loads where permitted ([`collect`]) only counts and
//! measures times; the kernel unloads it when this process ends.
//!
//! Constraints that shape the crate:
//! - the roots of `/proc` and `/sys` are parameters ([`Roots`]), so that every parser runs on recorded trees;
//! - parsers ([`source`]) are pure and reject what they do not understand; a reading that failed is `None` with its
//!   reason in the column, never zero;
//! - every row carries the window in which it was read, on `CLOCK_MONOTONIC` ([`clock`]);
//! - reading is cheap: files stay open, one buffer is reused, and what costs much is read less often
//!   (at most 0.35% of one core at 10 Hz, and 0.35% for tiers and their threads; `examples/sampler_cost.rs` measures it).
//!
//! The columns are specified in `docs/reference/formats/series.md`.

#![forbid(unsafe_code)]

mod busy;
pub mod clock;
mod collect;
mod courtesy;
mod diag;
mod discover;
mod error;
mod facts;
mod host_busy;
mod identity;
mod links;
mod logs;
mod roots;
mod route;
mod sampler;
mod sampling;
pub mod source;
#[cfg(test)]
mod testing;
mod threads;
mod turn;
mod waiting;
mod watch;

pub use busy::BusyThreads;
pub use collect::group_throttling;
pub use discover::{
    HostProcess, Listener, allowed_cpus, boot_id, cgroup_processes, cgroup_root, descendants,
    describe_process, find_all_listeners, find_listeners, find_target_processes, host_process,
    host_processes, is_file_of, is_looped, loop_file, network_namespace, network_namespace_name, own_cgroup,
    parent_pid, process_cpu_us, process_descriptor_limit, process_io, process_words, reaped_cpu_seconds,
};
pub use error::{ObserveError, ParseError};
pub use facts::{facts, sysctl};
pub use host_busy::HostBusy;
pub use identity::{Identity, identity};
pub use links::{HopRoute, NextHop, bonds, hop_routes, leads_over, neighbor_mac, next_hop, of_route};
pub use roots::Roots;
pub use route::{host_addresses, own_network, route};
pub use sampler::{Sampler, SamplerPlan};
pub use sampling::{Sampling, SamplingEnd};
pub use waiting::WatchedCommand;

/// The endpoint whose listening sockets are measured: that of the plan's target.
pub type ListenerFilter = sysdyno_record::plan::Endpoint;
