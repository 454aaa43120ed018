//! Running processes and listeners: changed without a restart.

use super::{INT_MAX, Risk, Scope, Tunable, int};
use crate::setting::{Backlogs, CpuGroups, LOCKED_MEMORY, OPEN_FILES, PROCESSES, ProcessLimits};
use crate::value::ValueKind;

const fn limit(
    id: &'static str,
    limits: &'static ProcessLimits,
    unit: &'static str,
    does: &'static str,
) -> Tunable {
    Tunable::new(id, ValueKind::SoftLimit, unit, does).of(Scope::Process, "prlimit(2)").at(limits)
}

/// Settings of processes and listeners.
pub const TABLE: &[Tunable] = &[
    limit("process.*.nofile", &OPEN_FILES, "descriptors",
        "Maximum number of open descriptors of this process. It takes effect at the next open or accept; a \
         server that sized its tables at start has to be restarted to use more.")
        .risks(Risk::Medium),
    limit("process.*.nproc", &PROCESSES, "processes",
        "Processes and threads that the user of this process may have when it starts another one. Privileged processes are not bound by it.")
        .risks(Risk::Medium),
    limit("process.*.memlock", &LOCKED_MEMORY, "bytes",
        "Memory that this process may lock. Too little fails io_uring buffers, huge pages and real-time programs; lowering it frees nothing.")
        .risks(Risk::Medium),
    Tunable::new("process.*.cpus", ValueKind::CpuShare, "CPUs",
        "CPUs that this process, its children, and theirs may use together, by a control group that is made below theirs. The kernel stops all of them when the share of a period of 10 ms is used up, so that latency rises in steps; 'placed' is the same group without a limit, as a baseline.")
        .of(Scope::Process, "scheduler/sched-bwc.rst").risks(Risk::Medium).at(&CpuGroups),
    Tunable::new("listener.*.backlog", int(1, INT_MAX), "connections",
        "Backlog of the sockets that listen on a port or ADDRESS:PORT, changed while the server runs. It \
         cannot exceed net.core.somaxconn, and lasts until the server calls listen again.")
        .of(Scope::Listener, "listen(2)").at(&Backlogs),
];
