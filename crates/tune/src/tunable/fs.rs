//! Files, descriptors, watches and pipes.

use super::{EffectTime, FLAG, INT_MAX, LONG_MAX, Risk, Scope, Tunable, int};
use crate::value::ValueKind;

const fn fs(id: &'static str, kind: ValueKind, unit: &'static str, does: &'static str) -> Tunable {
    Tunable::new(id, kind, unit, does).of(Scope::Host, "admin-guide/sysctl/fs.rst")
}

/// The settings below `fs.`.
pub const TABLE: &[Tunable] = &[
    fs(
        "fs.file-max",
        int(8192, LONG_MAX),
        "file handles",
        "Maximum number of open files on the whole host. Above it, open, socket, and accept fail with ENFILE \
         for all but privileged processes.",
    )
    .risks(Risk::High),
    fs(
        "fs.nr_open",
        int(1024, 1_073_741_816),
        "descriptors",
        "Upper bound for the open file limit of a process (RLIMIT_NOFILE). It does not raise any limit \
         itself; processes or their units have to ask for more.",
    )
    .felt(EffectTime::NewProcesses)
    .risks(Risk::Medium),
    fs(
        "fs.aio-max-nr",
        int(1024, LONG_MAX),
        "requests",
        "Maximum number of pending asynchronous I/O requests on the host. When it is used up, io_setup fails \
         with EAGAIN for databases that use libaio.",
    ),
    fs(
        "fs.inotify.max_user_instances",
        int(1, INT_MAX),
        "instances",
        "Maximum number of inotify instances per user. Above it, servers and containers that watch files \
         fail with EMFILE.",
    ),
    fs(
        "fs.inotify.max_user_watches",
        int(1, INT_MAX),
        "watches",
        "Maximum number of inotify watches per user. Each watch uses about a kilobyte of kernel memory.",
    ),
    fs(
        "fs.inotify.max_queued_events",
        int(1, INT_MAX),
        "events",
        "Maximum number of queued events per inotify instance. Above it, the kernel drops events and \
         notifies the reader.",
    ),
    fs(
        "fs.epoll.max_user_watches",
        int(1024, LONG_MAX),
        "descriptors",
        "Maximum number of descriptors in all epoll instances of a user. A server with more connections gets \
         ENOSPC from epoll_ctl.",
    )
    .risks(Risk::Medium),
    fs(
        "fs.pipe-max-size",
        ValueKind::PowerOfTwo { min: 4096, max: 1 << 30, has_zero: false },
        "bytes",
        "Maximum pipe buffer size for unprivileged processes. Larger pipes need fewer switches between \
         writer and reader.",
    )
    .felt(EffectTime::NewSockets),
    fs(
        "fs.pipe-user-pages-soft",
        int(0, LONG_MAX),
        "pages",
        "Pages in a user's pipes above which new pipes get a single page, which slows down proxies that \
         splice through many pipes; 0 means no limit.",
    )
    .felt(EffectTime::NewSockets),
    fs(
        "fs.pipe-user-pages-hard",
        int(0, LONG_MAX),
        "pages",
        "Pages in a user's pipes above which no pipe can be created. It protects memory; 0 means no limit.",
    )
    .felt(EffectTime::NewSockets)
    .risks(Risk::Medium),
    fs(
        "fs.lease-break-time",
        int(1, 3600),
        "seconds",
        "Maximum time to release a file lease. File servers that hand out leases make others wait this long \
         at most.",
    ),
    fs(
        "fs.leases-enable",
        FLAG,
        "switch",
        "Whether file leases are allowed. File servers use them to let clients cache; without them, every \
         open is cheaper.",
    )
    .felt(EffectTime::NewSockets),
];
