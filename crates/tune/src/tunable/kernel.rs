//! Processes, scheduler, watchdogs and measuring.

use super::{EffectTime, FLAG, INT_MAX, Risk, Scope, Tunable, int};
use crate::value::ValueKind;

const fn kernel(id: &'static str, kind: ValueKind, unit: &'static str, does: &'static str) -> Tunable {
    Tunable::new(id, kind, unit, does).of(Scope::Host, "admin-guide/sysctl/kernel.rst")
}

/// The settings below `kernel.`.
pub const TABLE: &[Tunable] = &[
    kernel("kernel.pid_max", int(1024, 4_194_304), "process ids",
        "Upper bound of process and thread IDs, and so of their number. Above it, fork and clone fail with \
         EAGAIN.")
        .felt(EffectTime::NewProcesses).risks(Risk::High),
    kernel("kernel.threads-max", int(1024, 1_073_741_823), "threads",
        "Maximum number of threads on the host. Above it, clone fails with EAGAIN; servers with a thread per \
         connection hit it first.")
        .felt(EffectTime::NewProcesses).risks(Risk::High),
    kernel("kernel.sched_autogroup_enabled", FLAG, "switch",
        "Whether each login session gets an equal share of the CPUs. Meant for desktops: on a server it can put all workers of a service into one share."),
    kernel("kernel.sched_cfs_bandwidth_slice_us", int(1, 1_000_000), "microseconds",
        "How much of a control group's CPU quota a CPU takes at once. Smaller slices waste less of a small quota on idle CPUs; larger ones take the lock less often.")
        .risks(Risk::Medium),
    kernel("kernel.sched_rt_runtime_us", int(-1, 1_000_000), "microseconds",
        "How much of each sched_rt_period_us real-time tasks may run. -1 lifts the limit, and a busy real-time thread can then keep everything else from a CPU.")
        .risks(Risk::High),
    kernel("kernel.sched_schedstats", FLAG, "switch",
        "Whether the scheduler keeps its detailed statistics. They cost a little on each switch, and tell how long tasks wait."),
    kernel("kernel.timer_migration", FLAG, "switch",
        "Whether timers of an idle CPU move to a busy one. Off keeps timers where they were started, which costs sleep and helps latency."),
    kernel("kernel.numa_balancing", int(0, 3), "mode",
        "Whether pages move to the node that uses them (1), or to slower memory when cold (2). The scanning costs CPU and page faults, which hurts what is pinned already."),
    kernel("kernel.watchdog", FLAG, "switch",
        "Whether lockups of CPUs are looked for, soft and hard. It costs one timer per CPU, and without it a hung CPU stays unnoticed.")
        .risks(Risk::Medium),
    kernel("kernel.nmi_watchdog", FLAG, "switch",
        "Whether hard lockups are looked for by a performance counter. Off gives that counter back to profilers.")
        .risks(Risk::Medium),
    kernel("kernel.watchdog_thresh", int(1, 60), "seconds",
        "How long a CPU may be stuck before it is reported. Shorter times also mean more frequent timers."),
    kernel("kernel.hung_task_timeout_secs", int(0, INT_MAX), "seconds",
        "How long a task may wait without interruption before the kernel logs it. 0 turns the check off."),
    kernel("kernel.split_lock_mitigate", FLAG, "switch",
        "Whether programs whose atomic operations cross cache lines are slowed down on purpose. Off gives such programs their speed back at the cost of everybody's bus.")
        .risks(Risk::Medium).of(Scope::Host, "arch/x86/buslock.rst"),
    kernel("kernel.task_delayacct", FLAG, "switch",
        "Whether waits of tasks for CPU, disk and memory are accounted. Needed by tools such as iotop; costs a little on each wait.")
        .felt(EffectTime::NewProcesses),
    kernel("kernel.bpf_stats_enabled", FLAG, "switch",
        "Whether run time and runs of BPF programs are counted. It costs two clock readings per run of each program."),
    kernel("kernel.perf_event_paranoid", int(-1, 4), "level",
        "What unprivileged users may measure with performance events; lower is more. -1 lets them see everything, the kernel included.")
        .risks(Risk::Medium),
    kernel("kernel.perf_event_mlock_kb", int(4, 1_048_576), "KiB",
        "Memory for event buffers that an unprivileged user may lock per CPU. Too little of it keeps profilers from starting."),
    kernel("kernel.kptr_restrict", int(0, 2), "level",
        "Whether addresses of the kernel are hidden from users. Profilers need 0, or 1 with privileges, to name kernel functions.")
        .risks(Risk::Medium),
    kernel("kernel.io_uring_disabled", int(0, 2), "level",
        "Who may make io_uring instances: all (0), a group (1), nobody (2). Servers built on io_uring fall back to slower calls, or do not start.")
        .felt(EffectTime::NewProcesses).risks(Risk::Medium),
    kernel("kernel.printk_ratelimit_burst", int(0, INT_MAX), "messages",
        "Kernel messages that pass before rate limiting sets in. Many messages on a slow console hold up the CPU that prints them."),
];
