//! Well-known log lines: what they mean, and what to change. The first entry whose words appear in a line applies.

use super::super::gateway::NOBODY_ASKED;

/// A line that says its cause.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Known {
    /// Words of the line, in any case.
    pub(in super::super) words: &'static str,
    /// What it means, as a sentence without its end.
    pub(in super::super) cause: &'static str,
    /// What could be changed.
    pub(in super::super) remedy: &'static str,
    /// Whether it only tells that another tier failed or was slow.
    pub(in super::super) is_symptom: bool,
    /// Whether it is written once a second at most, however often it happens.
    pub(in super::super) is_rationed: bool,
}

const fn cause(words: &'static str, cause: &'static str, remedy: &'static str) -> Known {
    Known { words, cause, remedy, is_symptom: false, is_rationed: false }
}

const fn rationed(words: &'static str, cause: &'static str, remedy: &'static str) -> Known {
    Known { words, cause, remedy, is_symptom: false, is_rationed: true }
}

const fn symptom(words: &'static str, cause: &'static str, remedy: &'static str) -> Known {
    Known { words, cause, remedy, is_symptom: true, is_rationed: false }
}

/// Lines of servers.
pub(in super::super) const OF_SERVERS: &[Known] = &[
    rationed(
        "worker_connections are not enough, reusing",
        "A worker of nginx has no connections left, and closes some to reuse them",
        "raise worker_connections, which counts connections to back ends, too, and worker_rlimit_nofile with it",
    ),
    cause(
        "worker_connections are not enough",
        "A worker of nginx has no connections left",
        "raise worker_connections, which counts connections to back ends, too, and worker_rlimit_nofile with it",
    ),
    cause(
        "limiting requests",
        "A limit on the rate of requests refuses some",
        "raise the rate or the burst of limit_req, or exempt the load from it",
    ),
    cause(
        "delaying request",
        "A limit on the rate of requests delays some",
        "raise the rate of limit_req, or exempt the load from it",
    ),
    rationed(
        "is down, reason: layer",
        "A proxy takes back ends out of service because health checks fail",
        "find out why health checks are slow or fail; give them more time (timeout check) and more attempts (fall)",
    ),
    cause(
        "limiting connections",
        "A limit on connections refuses some requests",
        "raise limit_conn, or exempt the load from it",
    ),
    cause(
        "too many open files",
        "A process ran out of file descriptors",
        "raise its limit (LimitNOFILE=, ulimit -n, worker_rlimit_nofile)",
    ),
    cause(
        "unable to fork",
        "The server cannot start more processes",
        "raise the limit on tasks (pids.max, TasksMax=, the container's --pids-limit, ulimit -u), or start fewer programs",
    ),
    cause(
        "no file descriptors available",
        "The host ran out of file descriptors",
        "raise fs.file-max, or find who holds them",
    ),
    cause(
        "too many connections",
        "The database refuses connections beyond its limit",
        "raise max_connections, or let the clients share connections (a pool)",
    ),
    cause(
        "max_children",
        "All workers of php-fpm are busy",
        "raise pm.max_children as far as memory allows, or shorten what the workers wait for",
    ),
    cause(
        "maxrequestworkers",
        "All workers of Apache are busy",
        "raise MaxRequestWorkers as far as memory allows, or shorten what the workers wait for",
    ),
    cause("no space left on device", "A file system is full", "free space or inodes, or move what fills it"),
    cause("disk quota exceeded", "A disk quota is used up", "raise the quota, or free space"),
    cause(
        "read-only file system",
        "A file system is read-only",
        "look for its errors in the kernel's log, then remount it",
    ),
    cause("input/output error", "A disk or file system fails", "look for its errors in the kernel's log"),
    cause(
        "permission denied",
        "The server may not read or write something that it needs",
        "correct owner and mode of the file or socket that the line names",
    ),
    cause(
        "allowed memory size",
        "PHP scripts reach their memory limit",
        "raise memory_limit, or make the script use less",
    ),
    cause(
        "maximum execution time",
        "PHP scripts reach their time limit",
        "find what the script waits for; then raise max_execution_time if it has to be",
    ),
    cause(
        "cannot allocate memory",
        "A process got no memory",
        "raise the limit of memory or of tasks, or use less",
    ),
    cause("out of memory", "A process got no memory", "raise its memory limit, or make it use less"),
    cause(
        "cannot assign requested address",
        "All ports to a back end are in use",
        "keep connections to the back end alive (keepalive), or widen net.ipv4.ip_local_port_range",
    ),
    cause(
        "resource temporarily unavailable",
        "The accept queue of a back end's socket is full",
        "make the back end accept faster (more workers), then raise its backlog (listen.backlog) and net.core.somaxconn",
    ),
    cause(
        "lock wait timeout",
        "Transactions wait for a row lock until they time out",
        "find the transaction that holds it, commit earlier, or change fewer rows at a time",
    ),
    cause(
        "deadlock found",
        "Transactions wait for each other's row locks",
        "lock rows in the same order everywhere, and keep transactions short",
    ),
    cause("table is full", "A table is full", "give the table or its file system more space"),
    cause("could not be resolved", "A host name cannot be resolved", "check the resolver and the name"),
    cause("name or service not known", "A host name cannot be resolved", "check the resolver and the name"),
    cause("temporary failure in name resolution", "A host name cannot be resolved", "check the resolver"),
    cause(
        "undefined array key",
        "The application lacks a value that it expects",
        "check its environment and configuration",
    ),
    cause("connection refused", "A back end is not there", "start the back end, or correct its address"),
    cause(
        NOBODY_ASKED,
        "A proxy has taken all back ends out of service, and asks nobody for a while (fail_timeout)",
        "see why the back ends failed; so that a short failure does not take all of them out, raise max_fails, shorten fail_timeout, or \
         let a backup server answer",
    ),
    cause(
        "no such file or directory",
        "A file or socket that the server needs is not there",
        "create it, or correct its path",
    ),
    symptom(
        "upstream timed out",
        "A back end answers too late",
        "find out what the back end waits for; if it needs that long, raise the proxy's timeout (proxy_read_timeout)",
    ),
    symptom("upstream prematurely closed", "A back end closes its connections", CLOSED),
    symptom("connection reset by peer", "A back end resets its connections", CLOSED),
    symptom("recv() failed", "A back end closes its connections", CLOSED),
    symptom(
        "broken pipe",
        "Somebody closes connections before the answer",
        "look into the log of the other side",
    ),
];

/// Responses, before what logs say.
pub(in super::super) const OF_RESPONSES: &[Known] = &[
    cause(
        "establishing a database connection",
        "The application gets no connection to its database",
        "see whether the database runs, and raise max_connections if it refuses some",
    ),
    cause(
        "remaining connection slots are reserved",
        "The database refuses connections beyond its limit",
        "raise max_connections, or let the clients share connections (a pool)",
    ),
];

/// What to do where a back end ends connections.
const CLOSED: &str = "check the back end's own log; if it closes idle connections, let the proxy close them first (keepalive_timeout, \
                      keepalive_requests of its upstream)";

/// Lines of the kernel.
pub(in super::super) const OF_KERNEL: &[Known] = &[
    cause(
        "possible syn flooding",
        "A SYN queue was full",
        "raise the listener's backlog and net.core.somaxconn",
    ),
    cause(
        "page allocation failure",
        "The kernel got no memory for packets or drivers",
        "raise vm.min_free_kbytes",
    ),
    cause(
        "out of memory",
        "The kernel killed a process for want of memory",
        "raise the memory limit, or use less",
    ),
    cause(
        "memory cgroup out of memory",
        "The kernel killed a process at its memory limit",
        "raise the memory limit, or use less",
    ),
    cause("file-max limit", "The host ran out of file descriptors", "raise fs.file-max"),
    cause(
        "table full, dropping packet",
        "The table of tracked connections is full",
        "raise net.netfilter.nf_conntrack_max, or do not track these connections",
    ),
    cause(
        "neighbor table overflow",
        "The table of neighbors is full",
        "raise net.ipv4.neigh.default.gc_thresh3",
    ),
    cause(
        "neighbour table overflow",
        "The table of neighbors is full",
        "raise net.ipv4.neigh.default.gc_thresh3",
    ),
    cause("tcp: out of memory", "TCP is short of memory", "raise net.ipv4.tcp_mem, or use fewer connections"),
    cause(
        "too many orphaned sockets",
        "Too many connections were closed by one side only",
        "raise net.ipv4.tcp_max_orphans, or close connections properly",
    ),
    cause("i/o error", "A disk fails", "replace the disk"),
    cause("ext4-fs error", "A file system has errors", "check the file system"),
    cause("transmit queue", "A network card does not send", "check card, cable, and driver"),
    cause("blocked for more than", "A task hung for minutes", "find what it waits for: usually storage"),
    cause(
        "soft lockup",
        "A CPU did not schedule for seconds",
        "look for a driver, or a host that is short of CPU",
    ),
    cause("clocksource", "The clock is not reliable", "choose another clock source"),
];

/// The entry whose words a line has.
pub(in super::super) fn find(line: &str, list: &'static [Known]) -> Option<&'static Known> {
    let line = line.to_lowercase();
    list.iter().find(|known| line.contains(known.words))
}
