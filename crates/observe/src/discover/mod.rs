//! Finds the target: listening sockets of an endpoint, the processes that hold them, and their children.
//!
//! Several processes may hold a socket (a master and its workers), and a worker may hold none of the sockets (a child that
//! only computes). The target consists of all processes that hold the socket, and their descendants. This process and
//! process 1 are never part of it: process 1 holds sockets for others, and every process is its descendant.

mod connected;
mod entrances;
mod listeners;
mod namespaces;
mod processes;
mod table;
mod tiers;
mod tracer;
mod unit;
mod words;

pub use listeners::{Listener, find_all_listeners, find_listeners};
pub use processes::{
    allowed_cpus, describe_process, parent_pid, process_cpu_us, process_descriptor_limit, process_io,
    reaped_cpu_seconds,
};
pub use table::{
    HostProcess, boot_id, descendants, host_process, host_processes, is_looped, loop_file, network_namespace,
    network_namespace_name,
};
pub use unit::{cgroup_processes, cgroup_root, own_cgroup};
pub use words::{is_file_of, process_words};

pub(crate) use connected::ServedAddress;
pub(crate) use entrances::{Entrance, Entrances, Host};
pub(crate) use listeners::{families, find_inet, find_unix_sockets, is_local};
pub(crate) use namespaces::{Namespaces, in_namespace};
pub(crate) use processes::{
    DescriptorTarget, describe_target, find_owners, is_log_reader, list_children, list_tasks, polled,
    read_memory, target_of,
};
pub(crate) use tiers::{Connecting, ConnectionEnds, TierSearch, is_of_all_services};

use crate::error::ObserveError;
use crate::roots::Roots;
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::plan::Endpoint;

/// All processes of the target: those that hold a listening socket of the endpoint, and their descendants.
///
/// Never this process itself. Empty: the endpoint is another host's, nobody listens, or the owners are hidden from this
/// user.
pub fn find_target_processes(endpoint: &Endpoint) -> Result<Vec<WatchedProcess>, ObserveError> {
    let inodes: Vec<u64> = find_listeners(endpoint)?.iter().map(|listener| listener.inode).collect();
    Ok(find_owners(&Roots::host(), &inodes))
}
