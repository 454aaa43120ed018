//! Files, descriptors, watches and pipes.

use super::{EffectTime, FLAG, INT_MAX, LONG_MAX, Risk, Scope, Tunable, int};
use crate::value::ValueKind;

const fn fs(id: &'static str, kind: ValueKind, unit: &'static str, does: &'static str) -> Tunable {
    Tunable::new(id, kind, unit, does).of(Scope::Host, "admin-guide/sysctl/fs.rst")
}

/// The settings below `fs.`.
pub const TABLE: &[Tunable] = &[
    fs("fs.file-max", int(8192, LONG_MAX), "file handles",
        "Most files that may be open on the whole host at once. Beyond it open, socket and accept fail with ENFILE for all but privileged processes.")
        .risks(Risk::High),
    fs("fs.nr_open", int(1024, 1_073_741_816), "descriptors",
        "Highest limit of open files that a process can be given (RLIMIT_NOFILE). It does not raise any limit by itself; processes or their units have to ask.")
        .felt(EffectTime::NewProcesses).risks(Risk::Medium),
    fs("fs.aio-max-nr", int(1024, LONG_MAX), "requests",
        "Most asynchronous I/O requests that may be pending on the host. Databases that use libaio fail with EAGAIN from io_setup when it is used up."),
    fs("fs.inotify.max_user_instances", int(1, INT_MAX), "instances",
        "Most inotify instances of one user. Servers and containers that watch files fail with EMFILE beyond it."),
    fs("fs.inotify.max_user_watches", int(1, INT_MAX), "watches",
        "Most files that one user can watch. Each watch holds about a kilobyte of kernel memory."),
    fs("fs.inotify.max_queued_events", int(1, INT_MAX), "events",
        "Events that may wait on an inotify instance. Beyond it the kernel drops events and notifies the reader."),
    fs("fs.epoll.max_user_watches", int(1024, LONG_MAX), "descriptors",
        "Most descriptors that all epoll instances of one user can hold. A server with more connections gets ENOSPC from epoll_ctl.")
        .risks(Risk::Medium),
    fs("fs.pipe-max-size", ValueKind::PowerOfTwo { min: 4096, max: 1 << 30, has_zero: false }, "bytes",
        "Largest buffer that an unprivileged process can give a pipe. Larger pipes take fewer switches between writer and reader.")
        .felt(EffectTime::NewSockets),
    fs("fs.pipe-user-pages-soft", int(0, LONG_MAX), "pages",
        "Pages in pipes of one user beyond which new pipes get a single page. A proxy that splices through many pipes slows down beyond it; 0 means no limit.")
        .felt(EffectTime::NewSockets),
    fs("fs.pipe-user-pages-hard", int(0, LONG_MAX), "pages",
        "Pages in pipes of one user beyond which no pipe can be made. It is a protection of memory; 0 means no limit.")
        .felt(EffectTime::NewSockets).risks(Risk::Medium),
    fs("fs.lease-break-time", int(1, 3600), "seconds",
        "How long the holder of a file lease may take to give it up. File servers that hand out leases make others wait so long at most."),
    fs("fs.leases-enable", FLAG, "switch",
        "Whether leases on files can be taken. File servers use them to let clients cache; without them every open is cheaper.")
        .felt(EffectTime::NewSockets),
];
